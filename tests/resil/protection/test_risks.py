# SPDX-License-Identifier: Apache-2.0
"""Halves and folds that risks are chosen and judged by."""

import numpy as np

from resil.protection.risks import Network, _fold


def test_no_order_of_strata_puts_one_into_one_half():
    """Injections of strata take turns by number: each stratum is in all halves and folds."""
    number = np.arange(4000)
    for strata in (1, 2, 3, 4, 8, 10, 16):
        network = Network("made", number % strata, np.zeros(4000, int), number, {}, 0.95, ("hang",))
        for half in network.halves():
            for fold in (0, 1):
                found = np.bincount(half.where(_fold(half) == fold).bit, minlength=strata)
                expected = 4000 / strata / 4
                assert np.abs(found - expected).max() < 5 * np.sqrt(expected)
