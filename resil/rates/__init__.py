# SPDX-License-Identifier: Apache-2.0
"""Base rates of a mission: where and when a target is in use, into a table [technology]."""
