# SPDX-License-Identifier: Apache-2.0
"""Permanent faults of logic: many faulty machines at once along the gates, from reset to their ends."""
