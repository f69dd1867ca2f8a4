# SPDX-License-Identifier: Apache-2.0
"""What tests and benchmarks both need, and neither takes from the other: cases whose truth is known."""
