# SPDX-License-Identifier: Apache-2.0
"""The gates of a design as the fast engine walks them."""
