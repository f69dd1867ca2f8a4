# SPDX-License-Identifier: Apache-2.0
"""What a register is for, known from how the netlist fills and reads it: see docs/register-classes.md."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from resil.rtl_harness.design.elaboration.dataflow import Bit, Dataflow, Pass, Step, Stored

MEMORY, MACRO = "memory", "macro"
CONFIGURATION, CONTROL, COUNTER = "configuration", "control", "counter"
ADDRESS, ACCUMULATOR, BUFFER, DATA = "address", "accumulator", "buffer", "data"
CLASSES = (MEMORY, MACRO, CONFIGURATION, CONTROL, COUNTER, ADDRESS, ACCUMULATOR, BUFFER, DATA)

# A register that is loaded whole and then read by so many others is configuration; fewer are enough if its
# load comes from a bus, that is from nets which so many registers load.
CONFIGURATION_READERS = 8
BUS_READERS = 3
BUS = 4

# Of so many bits at most one may be computed if a register is to count as loaded.
LOADED = 10

_INDEX = re.compile(r"\[[^\]]*\]")


@dataclass(frozen=True)
class Held:
    """A register, or a memory array that counts as registers.

    Attributes:
        path: Name of the variable.
        outputs: Nets that show its value.
        inputs: Nets that become its value.
        memory: Name of the memory in the netlist; "" for flip-flops.
    """

    path: str
    outputs: tuple[Bit, ...]
    inputs: tuple[Bit, ...]
    memory: str = ""


@dataclass(frozen=True)
class Traits:
    """How a register is filled and read.

    Attributes:
        width: Bits of it that are in use as values.
        holds: Its own value is one that it may take again.
        steps: Its own value, plus or minus something, is one that it may take.
        sums: What is added is a value, not only a constant or a condition.
        decided: All it ever takes are constants and conditions, apart from its own value, and bits of these.
        loads: Nearly all that it ever takes, apart from its own value, is taken as it is.
        bus: Most variables, this one included, that one of the nets it takes goes into as it is.
        selects: Bits that it, or a condition on it, chooses or enables.
        indexes: It is, after additions at most, an address, an index or a shift amount.
        reached: As `indexes`, after any arithmetic.
        picked: Parts of it are picked by an index.
        readers: Other variables whose next value depends on its value or on a condition on it, array and
            generate indices left out.
    """

    width: int
    holds: bool
    steps: bool
    sums: bool
    decided: bool
    loads: bool
    bus: int
    selects: int
    indexes: bool
    reached: bool
    picked: bool
    readers: int


def classify(traits: Traits) -> str:
    """Return the class of a register; see docs/register-classes.md for the reasons."""
    if traits.steps:
        if traits.reached:
            return ADDRESS
        return ACCUMULATOR if traits.sums and traits.selects <= traits.width else COUNTER
    if traits.decided or traits.width == 1:
        return CONTROL
    if traits.holds and traits.loads and _widely_read(traits):
        return CONFIGURATION
    if traits.picked:
        return BUFFER
    return ADDRESS if traits.indexes else DATA


def _widely_read(traits: Traits) -> bool:
    return traits.readers >= CONFIGURATION_READERS or (traits.bus >= BUS and traits.readers >= BUS_READERS)


def register_classes(flow: Dataflow, registers: Sequence[Held]) -> dict[str, str]:
    """Return the class of each register by its path.

    Registers whose paths differ in array and generate indices only have one class, that of the middle one.
    """
    alike: defaultdict[str, list[Held]] = defaultdict(list)
    for register in registers:
        alike[_variable(register)].append(register)
    middle = [found[len(found) // 2] for found in alike.values()]
    traits = traits_of(flow, middle)
    classes = {_variable(r): classify(t) for r, t in zip(middle, traits, strict=True)}
    return {register.path: classes[_variable(register)] for register in registers}


def traits_of(flow: Dataflow, registers: Sequence[Held]) -> list[Traits]:
    """Return the traits of each register."""
    owners: dict[Bit, str] = {}
    for register in registers:
        owners |= dict.fromkeys(register.outputs, _variable(register))
        if register.memory:
            owners[register.memory] = _variable(register)
    sources = [flow.origins(register.inputs, Step.MOVED) for register in registers]
    takers: defaultdict[Bit, set[str]] = defaultdict(set)
    for register, nets in zip(registers, sources, strict=True):
        for net in nets:
            if isinstance(net, int):
                takers[net].add(_variable(register))
    return [
        _traits(flow, register, nets, owners, takers)
        for register, nets in zip(registers, sources, strict=True)
    ]


def _variable(register: Held) -> str:
    return _INDEX.sub("", register.path)


def _traits(
    flow: Dataflow,
    register: Held,
    sources: set[Bit],
    owners: Mapping[Bit, str],
    takers: Mapping[Bit, set[str]],
) -> Traits:
    own: set[Bit] = {net for net in register.outputs if isinstance(net, int)}
    walk = _Walk(flow, own)
    steps, sums = _steps(flow, own, sources)
    others: set[Bit] = {net for net in sources - own if isinstance(net, int)}
    computed = {net for net in others if net in flow.drivers}
    readers = {owners[place] for place in walk.stored if place in owners}
    return Traits(
        width=len(register.inputs),
        holds=bool(register.memory) or bool(own & (sources | flow.enabled)),
        steps=steps,
        sums=sums,
        decided=_decided(flow, own, others),
        loads=LOADED * len(computed) <= len(register.inputs),
        bus=max((len(takers[net]) for net in others - computed), default=0),
        selects=sum(walk.selects.values()),
        indexes=walk.index <= Step.ADDED,
        reached=walk.index <= Step.COMPUTED,
        picked=walk.picked or register.memory in flow.indexed,
        readers=len(readers - {_variable(register)}),
    )


def _decided(flow: Dataflow, own: set[Bit], others: set[Bit]) -> bool:
    if any(net not in flow.drivers for net in others):
        return False
    origins = flow.origins(others, Step.COMPUTED) - own
    return all(isinstance(net, str) or net in flow.drivers for net in origins)


def _steps(flow: Dataflow, own: set[Bit], sources: Iterable[Bit]) -> tuple[bool, bool]:
    """Return whether something is added to the register's own value, and whether that is a value itself."""
    operands: set[Bit] = set()
    for net in sources:
        driver = flow.drivers.get(net)
        if driver is not None and driver[1] == Step.ADDED:
            operands |= flow.origins(driver[2], Step.ADDED)
    if not own & operands:
        return False, False
    values = {net for net in operands - own if isinstance(net, int)}
    return True, any(net not in flow.drivers or flow.drivers[net][1] == Step.COMPUTED for net in values)


class _Walk:
    """Everything that the nets `own` go into before the next clock edge, each place on the shortest way."""

    def __init__(self, flow: Dataflow, own: Iterable[Bit]) -> None:
        self.selects: dict[str, int] = {}
        self.index = len(Step)
        self.picked = False
        self.stored: set[Bit | str] = set()
        self._flow = flow
        self._seen: set[Bit] = set()
        self._cells: set[tuple[str, Bit]] = set()
        self._waiting: list[list[Bit]] = [[] for _ in Step]
        self._waiting[Step.MOVED] = list(own)
        for step in Step:
            self._go(step)

    def _go(self, step: Step) -> None:
        stack = self._waiting[step]
        while stack:
            net = stack.pop()
            if net in self._seen:
                continue
            self._seen.add(net)
            for reader in self._flow.readers.get(net, ()):
                if isinstance(reader, Pass):
                    self._through(reader, step)
                elif isinstance(reader, Stored):
                    self.stored.add(reader.memory or reader.output)
                elif reader.role == "index" and step < Step.COMPARED:
                    self.index = min(self.index, step)
                else:
                    self.selects[reader.cell] = reader.width

    def _through(self, way: Pass, step: Step) -> None:
        key = (way.cell, way.outputs[0])
        if key in self._cells and len(way.outputs) > 1:
            return
        self._cells.add(key)
        self.picked |= way.picked and step == Step.MOVED
        self._waiting[max(step, way.step)] += way.outputs
