# SPDX-License-Identifier: Apache-2.0
"""Injections simulated by workers elsewhere: numbers go out, rows come back, and one process writes them."""
