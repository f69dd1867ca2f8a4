# SPDX-License-Identifier: Apache-2.0
"""The reference engine: every injection to its end under cocotb."""
