# SPDX-License-Identifier: Apache-2.0
"""What tests and benchmarks both need, and neither takes from the other. It is not installed."""
