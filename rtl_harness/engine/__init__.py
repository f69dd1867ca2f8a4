"""Simulation engines: faults in, injections out."""
