# SPDX-License-Identifier: Apache-2.0
"""A design as it is before any fault: target, fault sites, netlist, synthesis and area."""
