# SPDX-License-Identifier: Apache-2.0
"""All faults of a campaign, divided and numbered, and which of them are injected next."""
