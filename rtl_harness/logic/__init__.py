# SPDX-License-Identifier: Apache-2.0
"""The logic between registers: the synthesised netlist, its fault sites, and what a pulse in it does."""
