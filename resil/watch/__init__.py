# SPDX-License-Identifier: Apache-2.0
"""A page that follows a run while it injects, on the loopback address of this machine alone."""
