# SPDX-License-Identifier: Apache-2.0
"""Storage that synthesis takes for no hardware must decide nothing in the simulation either."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence

from resil.rtl_harness.design.sites import Absent, Hardware, SiteTable
from resil.rtl_harness.engine.fast.claims import Claims
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
    where nothing sets it, and duplicates that of the bit which stands for them. From then on they have to
    stay so, in every cycle. What is said to be unused gets random values, then and again while the run goes
    on.

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
        """Raise HarnessError, naming a register, if it does not stay as is said or the run ends otherwise."""
        wrong: Sequence[Absent] = self._sites.absent
        if not wrong:
            return
        harmless, refuted = self._tried(wrong)
        # What is scrambled might have moved a bit: that alone refutes nothing that is said of it.
        if refuted is not None and (refuted := self._tried(wrong, scrambles=0)[1]) is not None:
            raise self._refuted(where, refuted)
        if harmless:
            return
        while len(wrong) > 1:
            half = wrong[: len(wrong) // 2]
            wrong = wrong[len(wrong) // 2 :] if self._tried(half)[0] else half
        site = self._sites[wrong[0].first]
        raise HarnessError(
            f"{where}: synthesis takes {site.name} for {_SAYS[wrong[0].hardware]}, but in the simulation its "
            "value decides the result, so hardware would do something else than what is simulated; give the "
            "register a reset, or assign it in all cases",
            site.name,
        )

    def _tried(self, runs: Sequence[Absent], scrambles: int = _SCRAMBLES) -> tuple[bool, int | None]:
        """Return whether the run ends as expected, and after how many edges a bit was not as is said."""
        end, noise = self._expected.end_cycle, random.Random(self._seed)
        free = [run for run in runs if run.hardware in {Hardware.UNUSED, Hardware.LATCH}]
        with self._start() as instance:
            claims, refuted = self._begun(instance, runs), None
            for step in range(scrambles):
                if step:
                    edges = step * end // scrambles
                    if claims and refuted is None:
                        refuted = claims.refuted(instance, edges, until_done=False)
                    instance.run_to(edges)
                for run in free:
                    self._set(instance, run, [noise.getrandbits(1) for _ in range(run.bits)])
                instance.settle()
            if claims and refuted is None:
                refuted = claims.refuted(instance, end, until_done=True)
            return self._finish(instance, instance.run(2 * end)) == self._expected, refuted

    def _begun(self, instance: ModelInstance, runs: Iterable[Absent]) -> Claims:
        """Let all be as is said in the first cycle."""
        for run in runs:
            if run.value is not None:
                self._set(instance, run, [run.value] * run.bits)
            elif run.same_as is not None:
                own = range(run.same_as, run.same_as + run.bits)
                self._set(instance, run, [self._value(instance, site) for site in own])
        instance.settle()
        return Claims(runs, self._map, instance)

    def _refuted(self, where: str, edges: int) -> HarnessError:
        """Say of the first bit that is not as is said after so many edges what it is said to be."""
        with self._start() as instance:
            self._begun(instance, self._sites.absent)
            said = {site: self._value(instance, site) for site, same_as in self._bits() if same_as is None}
            instance.run_to(edges)
            for site, same_as in self._bits():
                wanted = said[site] if same_as is None else self._value(instance, same_as)
                if self._value(instance, site) != wanted:
                    break
        name = self._sites[site].name
        claim = f"constant, {wanted}" if same_as is None else f"equal to {self._sites[same_as].name}"
        return HarnessError(
            f"{where}: synthesis takes {name} for {claim}, but in the simulation it has another value after "
            f"cycle {edges - 1}; look for a net with several drivers or a value that the source leaves "
            "undefined before the register, and leave one driver or define it",
            name,
        )

    def _bits(self) -> Iterator[tuple[int, int | None]]:
        """Yield each site that is said to be constant or equal to another, in their order, and that other."""
        for run in self._sites.absent:
            if run.hardware in {Hardware.CONSTANT, Hardware.DUPLICATE}:
                for step in range(run.bits):
                    yield run.first + step, None if run.same_as is None else run.same_as + step

    def _set(self, instance: ModelInstance, run: Absent, values: Sequence[int]) -> None:
        for site, value in zip(range(run.first, run.end), values, strict=True):
            if self._value(instance, site) != value:
                bit = self._map.flip(site)
                instance.flip(bit.storage, bit.bit, bit.word)

    def _value(self, instance: ModelInstance, site: int) -> int:
        bit = self._map.flip(site)
        return instance.read(bit.storage, bit.word) >> bit.bit & 1
