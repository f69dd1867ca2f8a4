# SPDX-License-Identifier: Apache-2.0
"""What a campaign injects into, whatever made it: sites, engines, area, and the identity of it all."""
