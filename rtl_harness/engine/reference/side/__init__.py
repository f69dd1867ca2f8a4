# SPDX-License-Identifier: Apache-2.0
"""The part of the cocotb engine that runs inside the simulator."""

CONFIG_VARIABLE = "RESIL_COCOTB_CONFIG"
SOCKET_VARIABLE = "RESIL_COCOTB_SOCKET"
# What cocotb imports: the module that answers requests by itself, or the one that goes with a user's test.
SERVER = f"{__name__}.server"
TESTBENCH = f"{__name__}.testbench"
