# SPDX-License-Identifier: Apache-2.0
"""Mutants of the fast engine, and what notices them."""
