"""Targets, elaboration and fault-injection engines for register-transfer-level designs."""
