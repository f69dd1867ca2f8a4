# SPDX-License-Identifier: Apache-2.0
"""One module a command; each puts the rooms before it together."""
