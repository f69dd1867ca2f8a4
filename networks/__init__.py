"""Quantised networks: reading, writing, training, the integer reference and compilation with Vela."""
