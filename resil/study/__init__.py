# SPDX-License-Identifier: Apache-2.0
"""A study: targets by networks, one verdict matrix; its file, its folder, and what its cells say together."""
