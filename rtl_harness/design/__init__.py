"""A design as it is before any fault: target, fault sites, netlist, synthesis and area."""
