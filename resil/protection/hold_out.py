# SPDX-License-Identifier: Apache-2.0
"""What a choice leaves on networks that took no part in it: each network of the choice is left out in turn.

A set that is chosen for some networks is judged by them too, so its figures are those of these networks. What
it does on another one can be seen of those that there are: without one of them, a set of the same reserve is
chosen for the others, and all injections of the one that was left out judge it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from resil.protection.choose import Chooser, judged_on, stuck_risks
from resil.protection.items import ProtectableDesign
from resil.protection.judge import JudgedSet
from resil.protection.risks import Network, shrunk_risks
from resil.protection.targets import Targets

FloatArray = npt.NDArray[np.float64]


def on_hold_out(
    design: ProtectableDesign,
    networks: Sequence[Network],
    targets: Targets,
    reserve: float,
    seconds: float,
    prior: FloatArray | None = None,
) -> list[JudgedSet]:
    """Return what sets of a reserve, chosen without a network, leave on it.

    Args:
        design: What is chosen for.
        networks: Runs on it; of a single one nothing can be said.
        targets: What is asked.
        reserve: Share of what the targets allow that the set uses by the injections that choose.
        seconds: Time for each choice.
        prior: As for `choose`.

    Returns:
        One for each network whose others can be protected so; all of its injections judge.
    """
    found = []
    for number, left_out in enumerate(networks):
        others = [network.halves()[0] for place, network in enumerate(networks) if place != number]
        if not others:
            continue
        risks = shrunk_risks(others, design.cells, prior)
        chooser = Chooser(design, others, risks, targets, stuck_risks(others, design))
        candidate = chooser.least(reserve, seconds)
        if candidate is not None:
            found.append(judged_on(design, left_out, candidate))
    return found
