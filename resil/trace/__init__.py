# SPDX-License-Identifier: Apache-2.0
"""Why a fault became what it became: how one spread, and what many have in common."""
