# SPDX-License-Identifier: Apache-2.0
"""The names that campaigns and options may use, as `resil list` shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from resil.campaign.engines import engines
from resil.networks import zoo
from resil.protection.options import load_options
from resil.record.typed import Count, Typed
from resil.reports.table import Column, Table
from resil.rtl_harness.design.target import load_target, shipped_targets
from resil.rtl_harness.engine.declaration import Ability


class ListedNetwork(Typed):
    """A network of the zoo."""

    path: str
    """As a campaign names it."""
    input: tuple[Count, ...]
    """Shape of its input."""
    decision: str
    """What its output decides."""
    inputs: Count
    """How many held-out inputs there are."""
    that_ship: Count
    """How many of them come with the package."""


class ListedTarget(Typed):
    """A target that comes with the package."""

    name: str
    """As a campaign names it."""
    top: str
    """Its top module."""
    blocks: tuple[str, ...]
    """Its blocks."""
    alarms: tuple[str, ...]
    """Its alarms."""


class ListedOption(Typed):
    """An option of protection."""

    name: str
    """As files of options name it."""
    title: str
    """In words."""
    units: tuple[str, ...]
    """What it may be chosen for."""
    protects: tuple[str, ...]
    """Kinds of storage."""
    rtl: str
    """The mechanism that `--build` writes; `none` if it writes none."""
    status: str
    """How its figures are known."""


class ListedEngine(Typed):
    """An engine."""

    name: str
    """As a campaign names it."""
    can: tuple[str, ...]
    """What it is able to do."""
    options: tuple[str, ...]
    """Keys of its table."""
    waves: str
    """Whether it writes waveforms: `yes` or `no`."""


@dataclass(frozen=True)
class Listing:
    """One thing that can be listed.

    Attributes:
        title: Of its table.
        entries: Returns a row each.
    """

    title: str
    entries: Callable[[], Sequence[Typed]]


def listing_text(title: str, entries: Sequence[Typed], width: int | None = None) -> str:
    """Return entries of one class as a table; `width` as of `Table.text`."""
    heads = tuple(type(entries[0]).model_fields)
    rows = [tuple(getattr(entry, head) for head in heads) for entry in entries]
    numbers = {head for head, *values in zip(heads, *rows, strict=True) if isinstance(values[0], int)}
    columns = tuple(Column(head.replace("_", " "), numeric=head in numbers) for head in heads)
    return Table(title, columns, tuple(tuple(map(_cell, row)) for row in rows)).text(width)


def _cell(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def _networks() -> list[ListedNetwork]:
    return [
        ListedNetwork(
            path=f"zoo:{network.name}",
            input=tuple(network.input.shape),
            decision=network.decision,
            inputs=network.heldout_count,
            that_ship=len(network.shipped.indices),
        )
        for network in map(zoo.load, zoo.names())
    ]


def _targets() -> list[ListedTarget]:
    known = [load_target(name) for name in shipped_targets()]
    return [
        ListedTarget(name=own.name, top=own.top, blocks=tuple(own.blocks), alarms=tuple(own.alarms))
        for own in known
    ]


def _options() -> list[ListedOption]:
    return [
        ListedOption(
            name=option.name,
            title=option.title,
            units=tuple(option.units),
            protects=tuple(option.protects),
            rtl=option.builds or "none",
            status=option.status,
        )
        for option in load_options().options.values()
    ]


def _engines() -> list[ListedEngine]:
    return [
        ListedEngine(
            name=engine.name,
            can=tuple(ability.name.lower() for ability in Ability if ability in engine.abilities),
            options=tuple(option.name for option in engine.options),
            waves="yes" if engine.check_waves else "no",
        )
        for engine in engines()
    ]


LISTINGS: Mapping[str, Listing] = {
    "networks": Listing("Networks: [network] path, and inputs by their number", _networks),
    "targets": Listing("Targets: [target] name", _targets),
    "options": Listing("Options of protection; your own are added by --options FILE", _options),
    "engines": Listing("Engines: [execution] engine, options in [engine.NAME]", _engines),
}
