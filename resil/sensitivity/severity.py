# SPDX-License-Identifier: Apache-2.0
"""How readily damaged data change a network's decision: drawn corruptions beside those of other networks.

Corruptions that were recorded are milder than those that were not, so the share of drawn ones that change the
decision is too low. But it is too low for every network alike, and where it is higher for one network than
for others, so is the true share. That difference, on the scale of log odds, is what counts; how far it is
trusted is learnt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from resil.stats.intervals import clopper_pearson
from resil.stats.rates import OUTCOMES

FloatArray = npt.NDArray[np.float64]
Part = tuple[str, str]
Drawn = tuple[int, int]

SDC = slice(OUTCOMES.index("sdc_tolerable"), OUTCOMES.index("sdc_critical") + 1)
_PRIOR_DRAWS = 3.0
# Of seven networks the one with the fewest critical draws lies 0.5 below their mean, in log odds.
_LEAST = 0.5


@dataclass(frozen=True)
class Severity:
    """What is known of other networks' drawn corruptions.

    Attributes:
        trust: By kind of storage: part of a difference in log odds that is believed; none where it is absent.
        reference: By block and kind of storage: log odds of the share of drawn corruptions that change the
            decision, the mean over networks.
    """

    trust: Mapping[str, float]
    reference: Mapping[Part, float]

    def beyond(self, drawn: Mapping[Part, Drawn]) -> float:
        """Return by how much the log odds of all draws together are surely below those of networks known.

        A network whose decision is far from its threshold hardly ever changes it, whatever is corrupted.
        Within the range of the networks learnt from, a difference is believed as far as it was found to hold
        there; what is surely beyond that range says that the margin is of another sort, and is believed.

        Args:
            drawn: Of every part of one network.

        Returns:
            At most 0.

        Examples:
            >>> severity = Severity({"ff": 0.4}, {("ao", "ff"): log_odds(0.2)})
            >>> severity.beyond({("ao", "ff"): (150, 1000)})
            0.0
            >>> round(severity.beyond({("ao", "ff"): (0, 1000)}), 2)
            -3.71
        """
        known = {part: own for part, own in drawn.items() if part in self.reference and own[1]}
        if not known:
            return 0.0
        seen = sum(n for _, n in known.values())
        most = clopper_pearson(sum(x for x, _ in known.values()), seen).hi * seen

        def excess(shift: float) -> float:
            return (
                sum(n * shifted(0.5, self.reference[part] + shift) for part, (_, n) in known.items()) - most
            )

        if excess(-_LEAST) <= 0.0:
            return 0.0
        return _LEAST + float(brentq(excess, -30.0, -_LEAST))

    def share(self, part: Part, learnt: float, drawn: Drawn, beyond: float = 0.0) -> float:
        """Return the share of critical ones among data corruptions.

        Args:
            part: Block and kind of storage.
            learnt: The share in other networks' campaigns.
            drawn: Drawn corruptions of this network that change the decision, and all that change the output.
            beyond: From `beyond`, as far as it is believed.

        Examples:
            >>> severity = Severity({"ff": 0.5}, {("ao", "ff"): log_odds(0.1)})
            >>> round(severity.share(("ao", "ff"), 0.2, (100, 1000)), 3)
            0.2
            >>> round(severity.share(("ao", "ff"), 0.2, (300, 1000)), 3)
            0.329
        """
        around = self.reference.get(part)
        if around is None:
            return learnt
        trust = self.trust.get(part[1], 0.0)
        difference = drawn_log_odds(drawn, around) - around
        return shifted(learnt, trust * difference + (1.0 - trust) * beyond)


def references(drawn: Mapping[str, Sequence[Mapping[Part, Drawn]]]) -> dict[Part, float]:
    """Return the mean of each part's log odds over networks.

    Args:
        drawn: For each network, of each of its runs, the draws of each part.
    """
    found: dict[Part, float] = {}
    for part in sorted({part for runs in drawn.values() for run in runs for part in run}):
        of_networks = [[run[part] for run in runs if run.get(part, (0, 0))[1]] for runs in drawn.values()]
        known = [own for own in of_networks if own]
        critical, seen = (sum(draw[i] for own in known for draw in own) for i in (0, 1))
        if not seen:
            continue
        around = log_odds(critical / seen)
        means = [np.mean([drawn_log_odds(draw, around) for draw in own]) for own in known]
        found[part] = float(np.mean(means))
    return found


def drawn_log_odds(drawn: Drawn, around: float) -> float:
    """Return the log odds of a drawn share; few draws are drawn towards `around`."""
    critical, seen = drawn
    return log_odds((critical + _PRIOR_DRAWS * shifted(0.5, around)) / (seen + _PRIOR_DRAWS))


def critical_share(outcomes: FloatArray) -> float:
    """Return the share of critical ones among data corruptions, given P(outcome)."""
    tolerable, critical = outcomes[SDC]
    return float(critical / (tolerable + critical)) if critical else 0.0


def with_critical(outcomes: FloatArray, share: float) -> FloatArray:
    """Return P(outcome) with another share of critical ones among data corruptions.

    >>> with_critical(np.array([0.6, 0.1, 0.15, 0.05, 0.05, 0.05]), 0.5).round(3).tolist()
    [0.6, 0.1, 0.1, 0.1, 0.05, 0.05]
    """
    found = outcomes.copy()
    found[SDC] = outcomes[SDC].sum() * np.array([1.0 - share, share])
    return found


def shifted(share: float, by: float) -> float:
    """Return a share whose log odds are larger by `by`."""
    return float(1.0 / (1.0 + np.exp(-log_odds(share) - by)))


def log_odds(share: float) -> float:
    """Return the logarithm of the odds, of shares near 0 or 1 that of 0.0001 or 0.9999."""
    bounded = min(max(share, 1e-4), 1.0 - 1e-4)
    return float(np.log(bounded / (1.0 - bounded)))
