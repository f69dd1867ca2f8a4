# SPDX-License-Identifier: Apache-2.0
"""The part of the cocotb engine that runs inside the simulator."""

CONFIG_VARIABLE = "RESIL_COCOTB_CONFIG"
SOCKET_VARIABLE = "RESIL_COCOTB_SOCKET"
