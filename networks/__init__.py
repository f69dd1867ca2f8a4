# SPDX-License-Identifier: Apache-2.0
"""Quantised networks: reading, writing, training, the integer reference and compilation with Vela."""
