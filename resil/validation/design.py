# SPDX-License-Identifier: Apache-2.0
"""The small design of the validation as a campaign, and every fault of it with its true answer."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resil.bench.bench import Bench
from resil.campaign.campaign import Campaign, load_campaign
from resil.errors import ConsistencyError
from resil.prepare.bench import prepare
from resil.progress import Progress
from resil.rtl_harness.design.sites import Site
from resil.rtl_harness.faults import Fault, Injection
from resil.validation.model import SOURCE, ModelAnswer, RestartModel, bits

# Engines with the shortcuts that are always taken; those of a small design would else pay for nothing.
ENGINES: dict[str, tuple[str, tuple[str, ...]]] = {
    "verilator": ("verilator", ()),
    "sweeps": ("verilator", ("sweep",)),
    "lanes": ("verilator", ("sweep", "lanes")),
    "plain": ("plain", ()),
    "cxxrtl": ("cxxrtl", ()),
}
_FOLDER = "tally"
_DUT = "u_dut."
_CAMPAIGN = """[campaign]
name = "tally"
seed = {seed}
[target]
file = "tally/target.toml"
[workload]
name = "tally"
decision = "top1"
[[workload.images]]
memory = "source"
file = "source.hex"
[workload.output]
memory = "sink"
offset = 0
shape = [4]
dtype = "uint16"
[faults]
kinds = ["ff", "sram"]
injections = {injections}
minimum_per_block = 2
[sampling]
plan = "{plan}"
[execution]
engine = "{engine}"
{options}
[technology]
name = "finfet-16nm"
"""


def write_design(folder: Path) -> None:
    """Copy the RTL of the small design, its target file and its input into a folder."""
    own = folder / _FOLDER
    own.mkdir(parents=True, exist_ok=True)
    for file in files("resil.validation").joinpath(_FOLDER).iterdir():
        if file.name.endswith((".sv", ".toml")):
            (own / file.name).write_bytes(file.read_bytes())
    (folder / "source.hex").write_text("".join(f"{word:04x}\n" for word in SOURCE), encoding="ascii")


def design_digest() -> str:
    """Return the SHA-256 of RTL, target file and model."""
    digest = sha256()
    package = files("resil.validation")
    places = [*package.joinpath(_FOLDER).iterdir(), package.joinpath("model.py")]
    for file in sorted(places, key=lambda place: place.name):
        if file.name.endswith((".sv", ".toml", ".py")):
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def write_tally(
    folder: Path,
    *,
    injections: int = 400,
    plan: str = "proportional",
    engine: str = "verilator",
    seed: int = 1,
) -> Path:
    """Write a campaign on the small design, whose RTL is in `folder`; return its file.

    Args:
        folder: Where it goes.
        injections: How many.
        plan: `[sampling] plan`.
        engine: Name of the engine, one of `ENGINES`.
        seed: Of the campaign.
    """
    name, options = ENGINES.get(engine, (engine, ()))
    file = folder / f"{engine}-{plan}-{injections}-{seed}.toml"
    keys = "\n".join(f'{key} = "always"' for key in options)
    table = f"[engine.{name}]\n{keys}" if options else ""
    text = _CAMPAIGN.format(injections=injections, plan=plan, engine=name, options=table, seed=seed)
    file.write_text(text, encoding="utf-8")
    return file


def tally_bench(folder: Path, engine: str, progress: Progress) -> tuple[Campaign, Bench]:
    """Return a campaign on the small design and its bench."""
    campaign = load_campaign(write_tally(folder, engine=engine))
    return campaign, prepare(campaign, progress, simulates=1)


@dataclass(frozen=True, eq=False)
class Truth:
    """What becomes of every fault of the small design, by the model of it.

    Attributes:
        golden: The run without a fault.
        answers: Of each site of the bench in each cycle, by `site * cycles + cycle`.
    """

    golden: ModelAnswer
    answers: tuple[ModelAnswer, ...]

    @staticmethod
    def of(bench: Bench) -> Truth:
        """Run the model once for each fault.

        Raises:
            ConsistencyError: the storage that was found in the RTL is not that of the model.
        """
        model = RestartModel()
        places = [_place(bench.sites[site]) for site in range(bench.sites.size)]
        if sorted(places) != sorted(bits()) or bench.sites.absent:
            raise ConsistencyError(
                f"expected the {len([*bits()])} bits of the model in the RTL of the small design, all of "
                f"them hardware, found {len(places)}, {len(bench.sites.absent)} runs of them absent"
            )
        cycles = range(model.golden.end_cycle)
        return Truth(model.golden, tuple(model.answer(*place, cycle) for place in places for cycle in cycles))

    @staticmethod
    def load(file: Path) -> Truth:
        """Return what `save` has written."""
        with np.load(file) as table:
            columns = [table[name].tolist() for name in ModelAnswer.__annotations__]
        golden, *answers = (ModelAnswer(*row) for row in zip(*columns, strict=True))
        return Truth(golden, tuple(answers))

    def save(self, file: Path) -> None:
        """Write all answers, those of the run without a fault first."""
        rows = (self.golden, *self.answers)
        columns = {
            name: np.array([getattr(row, name) for row in rows]) for name in ModelAnswer.__annotations__
        }
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, column in columns.items():
                with archive.open(f"{name}.npy", "w") as member:
                    np.lib.format.write_array(member, column, allow_pickle=False)

    @property
    def cycles(self) -> int:
        """Of the run without a fault."""
        return self.golden.end_cycle

    @property
    def faults(self) -> list[Fault]:
        """All of them, in the order of `answers`."""
        return [Fault(*divmod(at, self.cycles)) for at in range(len(self.answers))]

    def of_fault(self, fault: Fault) -> ModelAnswer:
        """Return the true answer."""
        return self.answers[fault.site * self.cycles + fault.cycle]

    def outcome(self, fault: Fault) -> str:
        """Return the true outcome."""
        return outcome_of(self.of_fault(fault))

    def hazardous(self, outcomes: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return of each fault whether its outcome is one of these, in the order of `answers`."""
        return np.array([outcome_of(answer) in outcomes for answer in self.answers])


def outcome_of(answer: ModelAnswer) -> str:
    """Return both axes in one word."""
    return "due" if answer.detected >= 0 else answer.seen


def answered(injection: Injection) -> ModelAnswer:
    """Return what an engine says, as the model says it."""
    detected, corrected = (
        -1 if rise is None else rise.cycle for rise in (injection.detected, injection.corrected)
    )
    return ModelAnswer(
        injection.seen.value,
        injection.end_cycle,
        injection.status,
        injection.output_hash,
        detected,
        corrected,
    )


def differing(
    bench: Bench, truth: Truth, faults: Sequence[Fault], workers: int
) -> Iterator[tuple[Fault, ModelAnswer, ModelAnswer]]:
    """Yield each fault whose answer is not the true one, with that and the engine's.

    Raises:
        ConsistencyError: the run without a fault is not the model's, or the engine has not answered for each
            fault once.
    """
    with bench.engine(0) as engine:
        end = engine.golden().end
        if (end.end_cycle, end.status, end.output_hash) != (
            truth.golden.end_cycle,
            truth.golden.status,
            truth.golden.output_hash,
        ):
            raise ConsistencyError(f"expected the run without a fault {truth.golden}, found {end}")
        seen = set[Fault]()
        for injection in engine.run(faults, workers):
            seen.add(injection.fault)
            expected, found = truth.of_fault(injection.fault), answered(injection)
            if found != expected:
                yield injection.fault, expected, found
        if seen != set(faults):
            raise ConsistencyError(f"expected answers for {len(faults)} faults, found {len(seen)}")


def described(bench: Bench, fault: Fault, expected: ModelAnswer, found: ModelAnswer) -> str:
    """Return a difference in words."""
    return f"{bench.sites[fault.site].name}, cycle {fault.cycle}: expected {expected}, found {found}"


def _place(site: Site) -> tuple[str, int, int]:
    """Return register, word and bit of a site, as the model names them."""
    name, _, index = site.element.path.removeprefix(_DUT).rstrip("]").partition("[")
    return name, int(index) if index else site.word, site.bit
