# SPDX-License-Identifier: Apache-2.0
"""The cheapest protection that meets a target: options with their sources, exact choice, area-FIT front."""
