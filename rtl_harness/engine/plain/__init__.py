# SPDX-License-Identifier: Apache-2.0
"""The plain engine: shares with the others what the faults are, the network, and Verilator."""
