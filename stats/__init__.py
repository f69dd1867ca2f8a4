# SPDX-License-Identifier: Apache-2.0
"""Statistics of fault injection: intervals, sampling, rates, safety metrics. Pure functions.

Start with `stats.plans.next_step` (what to inject next), `stats.weighted.weighted_sum` (an interval for a
total), `stats.rates.estimate_blocks` (FIT per block), `stats.clusters.weighted_sum_over_inputs` (for inputs
like those that were run) and `stats.technology.load_technology` (raw upset rates).
docs/explanation/statistics.md says what the numbers mean.
"""
