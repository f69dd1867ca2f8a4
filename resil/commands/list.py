# SPDX-License-Identifier: Apache-2.0
"""`resil list`: the names that campaigns and options may use."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from resil.commands.arguments import Json, Quiet, Verbose
from resil.output import show, width

What = Literal["networks", "targets", "options", "engines"]


def list_(
    what: Annotated[What, typer.Argument(help="What to list.")],
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """List the networks, targets, protection options or engines that there are."""
    from resil.reports.table import Column, Table

    title, rows = _LISTS[what]()

    def text() -> None:
        heads = tuple(rows[0])
        numbers = {head for head in heads if all(isinstance(row[head], int | float) for row in rows)}
        columns = tuple(Column(head.replace("_", " "), numeric=head in numbers) for head in heads)
        cells = tuple(tuple(_cell(value) for value in row.values()) for row in rows)
        print(Table(title, columns, cells).text(width()), end="")

    show({what: rows}, json_, text)


def _cell(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,g}" if isinstance(value, int | float) else str(value)


def _networks() -> tuple[str, list[dict[str, Any]]]:
    from resil.networks import zoo

    known = [zoo.load(name) for name in zoo.names()]
    rows = [
        {
            "path": f"zoo:{network.name}",
            "input": list(network.input.shape),
            "decision": network.decision,
            "inputs": network.heldout_count,
            "that_ship": len(network.shipped.indices),
        }
        for network in known
    ]
    return "Networks: [network] path, and inputs by their number", rows


def _targets() -> tuple[str, list[dict[str, Any]]]:
    from resil.rtl_harness.design.target import load_target, shipped_targets

    known = [load_target(name) for name in shipped_targets()]
    rows = [
        {"name": target.name, "top": target.top, "blocks": list(target.blocks), "alarms": list(target.alarms)}
        for target in known
    ]
    return "Targets: [target] name", rows


def _options() -> tuple[str, list[dict[str, Any]]]:
    from resil.protection.options import load_options

    rows = [
        {
            "name": option.name,
            "title": option.title,
            "units": list(option.units),
            "protects": list(option.protects),
            "rtl": option.builds or "none",
            "status": option.status,
        }
        for option in load_options().options.values()
    ]
    return "Options of protection; your own are added by --options FILE", rows


def _engines() -> tuple[str, list[dict[str, Any]]]:
    from resil.campaign.engines import engines
    from resil.rtl_harness.engine.declaration import Ability

    rows = [
        {
            "name": engine.name,
            "can": [ability.name.lower() for ability in Ability if ability in engine.abilities],
            "options": [option.name for option in engine.options],
            "waves": "yes" if engine.check_waves else "no",
        }
        for engine in engines()
    ]
    return "Engines: [execution] engine, options in [engine.NAME]", rows


_LISTS = {"networks": _networks, "targets": _targets, "options": _options, "engines": _engines}
