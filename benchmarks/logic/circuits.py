# SPDX-License-Identifier: Apache-2.0
"""Every fault of small circuits of the textbooks, by campaigns and by a judge of their own.

Called as `python -m benchmarks.logic.circuits [CIRCUIT ...]`. Each circuit is a netlist target, and campaigns
of `resil run` inject all that there is: every pin of every cell held at 0 and at 1, every input open at
either, and a pulse at every gate in every cycle. Circuits without flip-flops of their own are given all
vectors. The judge evaluates all cells anew for each fault; it shares no code with the engines. Prints how
many faults there are and of how many outcome or outputs were others, how many classes of equivalent faults,
in the textbooks' way of counting too, and which part of the stuck-at faults the outputs show. Ends with 1 if
anything differs, or if a number of the textbooks does not come out.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np

from resil import Run
from resil.cli import main as resil_main
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.logic.collapse import collapsed_pins
from resil.rtl_harness.logic.synthesis import logic_netlist
from testkit.circuits import (
    MODELS,
    STORES,
    Answer,
    CellFault,
    Circuit,
    circuits,
    core_of,
    faults_of,
    judged,
    textbook_classes,
    write_campaigns,
)

# Classes of equivalent stuck-at faults, and the part of them that some input shows, as print has them.
TEXTBOOKS = {"c17": (22, 1.0), "s27": (32, 1.0)}
CONTROLS = "CR"


@dataclass(frozen=True)
class Compared:
    """What campaigns and the judge say of a circuit.

    Attributes:
        faults: By model.
        different: In words, of each model.
        outcomes: By model.
        classes: Of stuck pins of the textbooks' part of it, clocks and resets aside.
        coverage: The part of these pins, held at either value, that the outputs show.
    """

    faults: Mapping[str, int]
    different: Mapping[str, list[str]]
    outcomes: Mapping[str, Counter[str]]
    classes: int
    coverage: float


def compared(circuit: Circuit, folder: Path, models: tuple[str, ...] = tuple(MODELS)) -> Compared:
    """Inject all faults of a circuit by campaigns in a folder, and judge them.

    Raises:
        RuntimeError: If a campaign fails.
    """
    files = write_campaigns(circuit, folder)
    numbers, different, outcomes, shown = {}, {}, {}, list[bool]()
    core = {cell.name for cell in core_of(circuit)}
    for model in models:
        out = folder / f"out_{model}"
        with redirect_stdout(StringIO()) as said:
            code = resil_main(["run", str(files[model]), "--out", str(out), "--quiet"])
        if code:
            raise RuntimeError(
                f"{files[model]}: expected a run that succeeds, found {code}: {said.getvalue()}"
            )
        truth = judged(circuit, [*faults_of(circuit, MODELS[model])])
        found = _found(out, MODELS[model])
        every = sorted(truth.keys() | found.keys(), key=str)
        different[model] = [
            f"{fault}: {found.get(fault, 'not injected')} by the campaign, {truth.get(fault, 'no fault')}"
            for fault in every
            if found.get(fault) != truth.get(fault)
        ]
        numbers[model], outcomes[model] = len(found), Counter(outcome for outcome, _ in found.values())
        if MODELS[model] == "stuck":
            own = [fault for fault in found if fault.cell in core and fault.pin not in CONTROLS]
            shown = [found[fault][0] == "sdc_critical" for fault in own]
    return Compared(numbers, different, outcomes, classes_here(folder, core), float(np.mean(shown)))


def _found(out: Path, kind: str) -> dict[CellFault, Answer]:
    """Return what comes of each fault that a campaign has injected."""
    rows = Run(out).injections()
    found = {}
    for row in rows.itertuples():
        at = row.cycle if kind == "pulse" else int(row.fault[-1])
        fault = CellFault(kind, row.register.rpartition(".")[2], row.pin, at)
        found[fault] = str(row.outcome), str(row.output_hash)
    return found


def classes_here(folder: Path, core: set[str]) -> int:
    """Return the classes of equivalent stuck pins of some cells, clocks and resets aside."""
    target = load_target(folder / "target.toml")
    netlist = logic_netlist(target, with_hardware(target, elaborate(target)))
    representative = collapsed_pins(netlist).representative.tolist()
    pins = [
        pin
        for pin, row in enumerate(netlist.pins.tolist())
        if netlist.names[row[0]].rpartition(".")[2] in core and netlist.pin_names[row[1]] not in CONTROLS
    ]
    return len({representative[2 * pin + value] for pin in pins for value in (0, 1)})


def wrong(circuit: Circuit, found: Compared) -> list[str]:
    """Return what is not as it should be, in words."""
    said = [f"{model}: {text}" for model, own in found.different.items() for text in own]
    stored = sum(cell.type == STORES for cell in core_of(circuit))
    # What a flip-flop gives is another class here than what alone takes it: what it stores counts by itself.
    if found.classes != textbook_classes(circuit) + 2 * stored:
        said.append(f"expected {textbook_classes(circuit)} classes and 2 a flip-flop, found {found.classes}")
    if circuit.name in TEXTBOOKS:
        known = textbook_classes(circuit), found.coverage
        if known != TEXTBOOKS[circuit.name]:
            said.append(f"expected classes and coverage {TEXTBOOKS[circuit.name]}, found {known}")
    return said


def main() -> int:
    """Print a row for each circuit; return 1 if anything is wrong."""
    every = circuits()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("circuits", nargs="*", default=[*every], help=", ".join(every))
    heads = ("circuit", "cells", "vectors", "stuck pins", "open inputs", "pulses", "different")
    heads += ("classes of the textbooks", "classes here", "stuck-at coverage")
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    failed = False
    for name in parser.parse_args().circuits:
        with tempfile.TemporaryDirectory() as folder:
            found = compared(every[name], Path(folder))
        numbers = (*found.faults.values(), sum(map(len, found.different.values())))
        counts = (len(every[name].cells), len(every[name].vectors), *numbers)
        counts = (*counts, textbook_classes(every[name]), found.classes)
        row = " | ".join(f"{count:,}" for count in counts)
        print(f"| {name} | {row} | {100 * found.coverage:.1f} % |", flush=True)
        said = wrong(every[name], found)
        for text in said[:20]:
            print(f"  {name}: {text}", file=sys.stderr)
        failed |= bool(said)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
