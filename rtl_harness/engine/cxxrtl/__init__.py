# SPDX-License-Identifier: Apache-2.0
"""A second simulator: the design as Yosys writes it in C++, which shares nothing with Verilator."""
