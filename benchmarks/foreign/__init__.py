# SPDX-License-Identifier: Apache-2.0
"""Designs of others, as they are: what resil makes of a folder of them."""
