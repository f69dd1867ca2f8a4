# SPDX-License-Identifier: Apache-2.0
"""Target and campaign file of a design, with comments where a person decides."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from resil.proposal.design import OwnDesign
from resil.rtl_harness.replay.parts import memory_of

# How many lines a list of remarks has.
_NAMED = 12


def target_text(design: OwnDesign, folder: Path, bench: Mapping[str, str] | None = None) -> str:
    """Return the target file.

    Args:
        design: What was read.
        folder: Where the file will lie.
        bench: Keys of the bench, as TOML, where one was written; None for the design alone.
    """
    lines = [f"# {design.top}, proposed by resil init from its ports: look through the comments."]
    for bus in design.buses:
        lines.append(f"# bus: {bus.title}")
    lines += [f"# {remark}" for remark in design.remarks]
    top = {"top": _text(design.top)} if bench is None else {}
    lines += [f"{key} = {value}" for key, value in {"name": _text(design.top), **top}.items()]
    files = [*design.files, *([] if bench is None else [folder / "rtl" / f"{design.top}_bench.sv"])]
    lines += ["sources = [", *(f"  {_text(_beside(file, folder))}," for file in files)]
    lines += ["]"] if bench is None else ['  "resil:bench/*.sv",', "]"]
    if design.listed.include_dirs:
        lines.append(f"include_dirs = {_texts(_beside(d, folder) for d in design.listed.include_dirs)}")
    lines += _clock_lines(design) if bench is None else [f"{key} = {value}" for key, value in bench.items()]
    if design.listed.defines:
        lines += ["", "[defines]", *(f"{key} = {_text(v)}" for key, v in design.listed.defines.items())]
    if design.parameters and bench is None:
        values = {key: _text(v) if isinstance(v, str) else str(v) for key, v in design.parameters.items()}
        lines += ["", "[parameters]", *(f"{key} = {value}" for key, value in values.items())]
    lines += ["", *_block_lines(design, "" if bench is None else "u_dut")]
    lines += _alarm_lines(design, bench is not None)
    return "\n".join(lines) + "\n"


def _clock_lines(design: OwnDesign) -> list[str]:
    lines = [f"clock = {_text(design.clocks[0].name)}"]
    for reset in design.resets[:1]:
        by = "by the recording" if reset.known else "by its name: a person decides"
        lines.append(f"reset = {_text(reset.port.name)}   # {by}; the recording drives it")
        said = f"   # a person decides: {reset.doubt}" if reset.doubt else ""
        lines.append(f"reset_active_low = {str(reset.active_low).lower()}{said}")
    for reset in design.resets[1:]:
        level = "low" if reset.active_low else "high"
        by = reset.doubt or ("in the recording" if reset.known else "by its name")
        lines.append(f"# reset: {reset.port.name}, active {level} {by}; the recording drives it")
    return lines


def _block_lines(design: OwnDesign, dut: str) -> list[str]:
    lines = ["[blocks]                        # the unit of every table: paths, the longest match wins"]
    if not dut:
        lines[0] += '; "." is the top itself'
    lines.append(f"top = {_text(dut or '.')}")
    for block, path in design.blocks.items():
        name = block if block != "top" else "top_instance"
        lines.append(f"{_key(name)} = {_text(f'{dut}.{path}' if dut else path)}")
    for array in design.arrays[:_NAMED]:
        size = f"{array.words:,} words of {array.width} bits"
        lines.append(f"# memory: {array.path}, {size}: counted as SRAM (kinds) if it has few ports")
    return lines


def _alarm_lines(design: OwnDesign, in_bench: bool) -> list[str]:
    if not design.alarms:
        return [
            "",
            "# No output looks like an alarm. [alarms] names outputs by which the design reports faults.",
        ]
    lines = ["", "[alarms]                        # a person decides: proposed by their names alone"]
    for alarm in design.alarms:
        name = alarm.port.symbol if in_bench else alarm.port.name
        own = f"{{ output = {_text(name)}, reports = {_text(alarm.reports)} }}"
        if alarm.port.name in design.usual:
            lines.append(f"# {_key(alarm.port.name)} = {own}   # rises in the recording, where no fault is")
        else:
            lines.append(f"{_key(alarm.port.name)} = {own}")
    return lines


def campaign_text(design: OwnDesign, work: Sequence[str]) -> str:
    """Return the campaign file; `work` is its table [workload], in lines."""
    kinds = '["ff", "sram"]' if design.arrays else '["ff"]'
    return "\n".join(
        [
            f"# A campaign on {design.top}: resil check, then resil run, then resil report.",
            "",
            "[campaign]",
            f"name = {_text(design.top)}",
            "seed = 1",
            "",
            "[target]",
            'file = "target.toml"',
            "",
            *work,
            "",
            "[faults]",
            f"kinds = {kinds}",
            "injections = 1000",
            "",
            "[technology]",
            'name = "finfet-16nm"            # a person decides: raw rates are those of the process',
            "",
            "# [budget]                      # without it there are rates, and no verdict",
            "# fit = 1.0",
            '# rationale = "the share that the item\'s safety concept allots to this design"',
            "",
        ]
    )


def recording_lines(design: OwnDesign, waves: Path, instance: str, folder: Path) -> list[str]:
    """Return the table [workload] of a recording, with strobes by the buses that were found."""
    lines = ["[workload]", f"waves = {_text(_beside(waves, folder))}", f"instance = {_text(instance)}"]
    if len(design.clocks) > 1:
        lines.append(f"clocks = {_texts(clock.name for clock in design.clocks[1:])}")
    for bus in design.buses:
        for when, outputs in bus.conditions().items():
            lines += ["", f"[[workload.strobes]]            # {bus.title}"]
            lines += [f"outputs = {_texts(outputs)}", f"when = {_texts(when)}"]
    for bus in design.buses:
        if memory_of(bus) is not None:
            prefix = bus.prefix
            lines += [
                "",
                "# [[workload.closed]]            # a person decides: a memory answers in place of the",
            ]
            lines += [
                f"# bus = {_text(prefix)}   # recording, so that what is asked for by a fault comes back"
            ]
            lines += ["# words = 1024", "# [[workload.images]]", f"# memory = {_text(prefix.rstrip('_.'))}"]
            lines += ['# file = "memory.bin"']
    return lines


def _beside(path: Path, folder: Path) -> str:
    return os.path.relpath(path.resolve(), folder.resolve())


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else _text(name)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _texts(values: object) -> str:
    return json.dumps(list(values), ensure_ascii=False)  # type: ignore[call-overload]
