"""Statistics of fault injection: intervals, sampling, rates, safety metrics. Pure functions.

Start with `stats.weighted.weighted_sum` (an interval for a total), `stats.rates.estimate_blocks` (FIT per
block), `stats.sampling.draw` (which faults to inject) and `stats.technology.load_technology` (raw upset
rates).
"""
