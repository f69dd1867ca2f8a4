# SPDX-License-Identifier: Apache-2.0
"""Faults in logic: what is said of them against restarts on the netlist, and how many sites there are."""
