# SPDX-License-Identifier: Apache-2.0
"""Strobes: which outputs are compared when."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.replay.layout import ComparedOutput, Condition, ReadAnswers
from resil.rtl_harness.replay.ports import TopPort


@dataclass(frozen=True)
class Strobe:
    """A row of the table of strobes.

    Attributes:
        outputs: Names or patterns of outputs; "*" stands for anything.
        compared: Whether they are at all.
        when: Ports of one bit that must all be high in the recording, or low if "!" stands in front.
        cycles: First and last cycle of each span in which they are compared; empty for all.
        stream: They are compared as words in their order, whenever `when` holds in the simulation.
        tolerance: A difference of so much of the value of an output is tolerable.
        signed: Values are in two's complement.
    """

    outputs: tuple[str, ...]
    compared: bool = True
    when: tuple[str, ...] = ()
    cycles: tuple[tuple[int, int], ...] = ()
    stream: bool = False
    tolerance: int = 0
    signed: bool = False


@dataclass(frozen=True)
class Ruled:
    """Outputs that one strobe rules, as ports.

    Attributes:
        strobe: The row.
        outputs: How each is compared.
        when: Its conditions.
        answer: They are what a part of the bench answers: compared only where no fault is.
        reads: They count in answers to reads alone.
    """

    strobe: Strobe
    outputs: tuple[ComparedOutput, ...]
    when: tuple[Condition, ...]
    answer: bool = False
    reads: ReadAnswers | None = None


def ruled(strobes: Sequence[Strobe], ports: Sequence[TopPort], alarms: Collection[str]) -> tuple[Ruled, ...]:
    """Return what is compared: by the rows, and always what no row names and is no alarm.

    Raises:
        HarnessError: A row names no output, one that another row names, or a condition that is none.
    """
    outputs = {port.name: port for port in ports if port.drives}
    owner: dict[str, int] = {}
    found: list[Ruled] = []
    for number, strobe in enumerate(strobes):
        names = _named(strobe, number, outputs)
        for name in names:
            if name in owner:
                raise HarnessError(
                    f"strobes[{number}]: {name} is in strobes[{owner[name]}] too; name each output once",
                    f"strobes[{number}].outputs",
                )
            owner[name] = number
        when = tuple(_condition(text, number, ports) for text in strobe.when)
        if strobe.compared:
            own = _compared([outputs[name] for name in names], strobe.tolerance, signed=strobe.signed)
            found.append(Ruled(strobe, own, when))
    rest = [port for name, port in outputs.items() if name not in owner and name not in alarms]
    if rest:
        found.append(Ruled(Strobe(tuple(p.name for p in rest)), _compared(rest), ()))
    if not found:
        raise HarnessError(
            "strobes: expected at least one output that is compared, found none; nothing could be seen then",
            "strobes",
        )
    return tuple(found)


def _compared(
    ports: Sequence[TopPort], tolerance: int = 0, *, signed: bool = False
) -> tuple[ComparedOutput, ...]:
    """Return how outputs are compared; of a port in both directions also whether it is driven."""
    found = []
    for port in ports:
        found.append(ComparedOutput(port, tolerance, signed))
        if port.is_driven:
            found.append(ComparedOutput(port.enable))
    return tuple(found)


def _named(strobe: Strobe, number: int, outputs: Collection[str]) -> list[str]:
    names: dict[str, None] = {}
    for pattern in strobe.outputs:
        own = [name for name in outputs if fnmatchcase(name, pattern)]
        if not own:
            raise HarnessError(
                f"strobes[{number}] outputs: expected outputs of the top ({', '.join(outputs)}), found "
                f'"{pattern}", which none is; correct the name',
                f"strobes[{number}].outputs",
            )
        names.update(dict.fromkeys(own))
    return [*names]


def _condition(text: str, number: int, ports: Sequence[TopPort]) -> Condition:
    name = text.removeprefix("!")
    port = next((own for own in ports if own.name == name and own.width == 1), None)
    if port is None:
        raise HarnessError(
            f'strobes[{number}] when: expected a port of one bit, found "{name}", which is none; correct it',
            f"strobes[{number}].when",
        )
    return Condition(port, not text.startswith("!"))
