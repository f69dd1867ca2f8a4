# SPDX-License-Identifier: Apache-2.0
"""What a run leaves behind: part files that are verified when read, and the injections that fill them."""
