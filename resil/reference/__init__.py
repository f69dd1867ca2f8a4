# SPDX-License-Identifier: Apache-2.0
"""Pages of the reference, from declarations; `python -m resil.reference docs/reference` writes them."""
