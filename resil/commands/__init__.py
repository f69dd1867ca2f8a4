# SPDX-License-Identifier: Apache-2.0
"""One module a command: its arguments and the order of its steps."""
