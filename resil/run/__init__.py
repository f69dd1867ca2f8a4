"""A campaign carried out, and what it would take."""
