# SPDX-License-Identifier: Apache-2.0
"""Fault lists from elsewhere, and outcomes that other tools found."""
