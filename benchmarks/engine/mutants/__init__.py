"""Mutants of the fast engine, and what notices them."""
