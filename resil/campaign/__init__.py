# SPDX-License-Identifier: Apache-2.0
"""The campaign file: strict reading of each table, and the resolved copy."""
