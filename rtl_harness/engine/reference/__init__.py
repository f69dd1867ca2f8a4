"""The reference engine: every injection to its end under cocotb."""
