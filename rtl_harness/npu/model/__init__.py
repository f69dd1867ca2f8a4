# SPDX-License-Identifier: Apache-2.0
"""Functional model of the NPU: the same command streams on the same memory images, bit for bit."""
