# SPDX-License-Identifier: Apache-2.0
"""From a campaign to what is injected into: target, what runs on it, engine."""
