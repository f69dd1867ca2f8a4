"""The campaign file: strict reading of each table, and the resolved copy."""
