"""A closed design compiled by Verilator into a shared library and run inside this process."""
