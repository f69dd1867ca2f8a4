# SPDX-License-Identifier: Apache-2.0
"""Makes the results that come with the package, above all that makes them."""
