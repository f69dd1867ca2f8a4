# SPDX-License-Identifier: Apache-2.0
"""A campaign carried out, and what it would take."""
