# SPDX-License-Identifier: Apache-2.0
"""What a target runs: a compiled network or memory images of the user's own, and what its output decides."""
