# SPDX-License-Identifier: Apache-2.0
"""Permanent faults in gates of a protected design: what mechanisms detect, and what their own faults do."""
