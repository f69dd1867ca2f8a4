# SPDX-License-Identifier: Apache-2.0
"""Storage that synthesis takes for no hardware must decide nothing in the simulation either."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence

from resil.rtl_harness.design.sites import Absent, Hardware, SiteTable
from resil.rtl_harness.engine.fast.native.library import ModelInstance, Stop
from resil.rtl_harness.engine.fast.state_map import StateMap
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import RunEnd

# Times, spread over the golden run, at which what is said to be read by nothing gets other values.
_SCRAMBLES = 16

_SAYS = {
    Hardware.CONSTANT: "constant",
    Hardware.UNUSED: "read by nothing that matters",
    Hardware.DUPLICATE: "equal to another register",
    Hardware.LATCH: "a latch that no hardware needs",
}


class AbsentStorage:
    """Tries the golden run with other values in the sites that are no hardware.

    In the first cycle constants get the value that synthesis found, which the simulation need not begin with
    where nothing sets it, and duplicates that of the bit which stands for them. What is said to be unused
    gets random values, then and again while the run goes on.

    Args:
        sites: The site table.
        state_map: Where the sites lie.
        start: Makes an instance just out of reset.
        finish: Takes an instance to its end.
        expected: End of the golden run.
        seed: Of the random values.
    """

    def __init__(
        self,
        sites: SiteTable,
        state_map: StateMap,
        start: Callable[[], ModelInstance],
        finish: Callable[[ModelInstance, Stop], RunEnd],
        expected: RunEnd,
        seed: int = 0,
    ) -> None:
        self._sites = sites
        self._map = state_map
        self._start = start
        self._finish = finish
        self._expected = expected
        self._seed = seed

    def check(self, where: str) -> None:
        """Raise HarnessError, naming a register, if the run ends otherwise."""
        wrong: Sequence[Absent] = self._sites.absent
        if not wrong or self._harmless(wrong):
            return
        while len(wrong) > 1:
            half = wrong[: len(wrong) // 2]
            wrong = wrong[len(wrong) // 2 :] if self._harmless(half) else half
        site = self._sites[wrong[0].first]
        raise HarnessError(
            f"{where}: synthesis takes {site.name} for {_SAYS[wrong[0].hardware]}, but in the simulation its "
            "value decides the result, so hardware would do something else than what is simulated; give the "
            "register a reset, or assign it in all cases",
            site.name,
        )

    def _harmless(self, runs: Iterable[Absent]) -> bool:
        end, noise = self._expected.end_cycle, random.Random(self._seed)
        free = [run for run in runs if run.hardware in {Hardware.UNUSED, Hardware.LATCH}]
        with self._start() as instance:
            for run in runs:
                self._settle_as_claimed(instance, run)
            for step in range(_SCRAMBLES):
                if step:
                    instance.run_to(step * end // _SCRAMBLES)
                for run in free:
                    self._set(instance, run, [noise.getrandbits(1) for _ in range(run.bits)])
                instance.settle()
            return self._finish(instance, instance.run(2 * end)) == self._expected

    def _settle_as_claimed(self, instance: ModelInstance, run: Absent) -> None:
        if run.value is not None:
            self._set(instance, run, [run.value] * run.bits)
        elif run.same_as is not None:
            own = range(run.same_as, run.same_as + run.bits)
            self._set(instance, run, [self._value(instance, site) for site in own])

    def _set(self, instance: ModelInstance, run: Absent, values: Sequence[int]) -> None:
        for site, value in zip(range(run.first, run.end), values, strict=True):
            if self._value(instance, site) != value:
                bit = self._map.flip(site)
                instance.flip(bit.storage, bit.bit, bit.word)

    def _value(self, instance: ModelInstance, site: int) -> int:
        bit = self._map.flip(site)
        return instance.read(bit.storage, bit.word) >> bit.bit & 1
