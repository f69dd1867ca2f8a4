"""Injections simulated by workers elsewhere: numbers go out, rows come back, and one process writes them."""
