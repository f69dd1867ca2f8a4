# SPDX-License-Identifier: Apache-2.0
"""Targets, elaboration and fault-injection engines for register-transfer-level designs."""
