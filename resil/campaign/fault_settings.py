# SPDX-License-Identifier: Apache-2.0
"""The table [faults] of a campaign file: which faults, in which storage, how many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from resil.campaign.clusters import ANY, clusters_text, read_clusters
from resil.campaign.placement_settings import PlacementSettings, read_placement
from resil.campaign.sampling_settings import SamplingSettings
from resil.campaign.section import Section

EXTERNAL_KINDS = ("weights", "activations")
LOGIC = "logic"
KINDS = ("ff", "macro", "sram", *EXTERNAL_KINDS, LOGIC)
UPSET, STUCK_AT, MEMORY_UPSET, PULSE = "upset", "stuck_at", "memory_upset", "set"
OPEN, BRIDGE = "open", "bridge"
MODELS = (UPSET, STUCK_AT, OPEN, BRIDGE, PULSE)
PERMANENT_MODELS = (STUCK_AT, OPEN, BRIDGE)
PERMANENT_PLANS = ("proportional", "uniform")
EXTERNAL_PLANS = ("proportional", "uniform")
LOGIC_PLANS = ("proportional", "uniform")
_FEWEST_PREDICTED = 100
_FEWEST_SIZES = 2


@dataclass(frozen=True)
class FaultSettings:
    """How many faults, and of what sort.

    Attributes:
        kinds: Kinds of storage, out of `KINDS` and in that order. Who asks for "ff" gets "macro" too:
            flip-flops inside SRAM macros upset like others, only what protects them is another thing.
        injections: Number; the most, if the plan is adaptive.
        minimum_per_block: Least number in each kind of storage of each block.
        clusters: Part of the upsets that flip 1, 2, ... adjacent bits of a word; they sum to 1.
        model: "upset": bits inverted once, transient faults; "stuck_at": a bit, or a pin of a cell, held at 0
            or 1 from reset on, permanent faults; "set": a pulse at the output of a cell, which strikes logic
            alone. "open": an input of a cell that does not drive it any more where it decides, and "bridge":
            two nets that are shorted, permanent faults of logic alone. "memory_upset" follows from kinds
            outside the NPU: bits of memory inverted.
        minimum_in: Least number in each kind of storage of some blocks, or by kind, in place of
            `minimum_per_block`.
        placement: Where the cells lie; None where upsets of several bits flip the next bits of the word.
        any_shares: Verdicts hold whatever the shares of the sizes in `clusters` are.
        bridges: List of the pairs of nets that are bridged; None of other faults.
    """

    kinds: tuple[str, ...]
    injections: int
    minimum_per_block: int
    clusters: tuple[float, ...] = (1.0,)
    model: str = UPSET
    minimum_in: Mapping[str, int | Mapping[str, int]] = field(default_factory=dict)
    any_shares: bool = False
    placement: PlacementSettings | None = None
    bridges: Path | None = None

    @property
    def permanent(self) -> bool:
        """Whether the faults are there from reset on."""
        return self.model in PERMANENT_MODELS

    @property
    def values_each(self) -> int:
        """Permanent faults at each site: a bit, a pin or an input has two values, a bridge is there."""
        return 1 if self.model == BRIDGE else 2

    @property
    def logic(self) -> bool:
        """Whether some of them strike the logic between registers."""
        return LOGIC in self.kinds

    @property
    def pulses(self) -> bool:
        """Whether they are pulses in logic."""
        return self.model == PULSE

    def minimum(self, block: str, kind: str) -> int:
        """Return the least number in a kind of storage of a block."""
        own = self.minimum_in.get(block, self.minimum_per_block)
        return own if isinstance(own, int) else own.get(kind, self.minimum_per_block)

    @property
    def clusters_text(self) -> str:
        """What upsets there are, in words."""
        return clusters_text(self.clusters, self.any_shares, self.placement is not None)

    @property
    def external(self) -> bool:
        """Whether they strike memory outside the NPU."""
        return self.model == MEMORY_UPSET


def read_faults(section: Section) -> FaultSettings:
    """Check the table."""
    asked = section.choices("kinds")
    kinds = tuple(kind for kind in KINDS if kind in asked or (kind == "macro" and "ff" in asked))
    injections = section.integer("injections")
    minimum = section.integer("minimum_per_block")
    if minimum > injections and section.sound("injections"):
        expected = f"at most the {injections:,} injections"
        section.wrong("minimum_per_block", expected, f"{minimum:,}", "lower it or ask for more injections")
    minima = _minima(section, injections)
    clusters = read_clusters(section)
    placement = read_placement(section, len(clusters))
    any_shares = section.choice("cluster_shares") == ANY
    if any_shares and section.sound("clusters") and sum(share > 0.0 for share in clusters) < _FEWEST_SIZES:
        expected = "two sizes or more in [faults.clusters], each with some of the injections"
        section.wrong("cluster_shares", expected, "one", "declare them, or remove the key")
    model = section.choice("model")
    bridges = _bridges(section, model)
    if set(kinds) & set(EXTERNAL_KINDS) and section.sound("kinds"):
        model = _external_model(section, kinds, model)
    if section.sound("kinds") and section.sound("model"):
        _check_logic(section, kinds, model, clusters)
    section.finish()
    if placement is not None and model != UPSET and section.sound("placement"):
        section.wrong("placement", f'the key with model = "{UPSET}" only', f'"{model}"', "remove it")
    return FaultSettings(kinds, injections, minimum, clusters, model, minima, any_shares, placement, bridges)


def _bridges(section: Section, model: str) -> Path | None:
    """Take the list of pairs; it is there with bridges, and with nothing else."""
    if not section.has("bridges"):
        if model == BRIDGE and section.sound("model"):
            remedy = 'write bridges = "pairs.csv"'
            section.wrong("bridges", "a list of pairs of nets with bridges", "none", remedy)
        return None
    file = section.path("bridges", "a list of pairs of nets, .csv")
    if model != BRIDGE and section.sound("model"):
        section.wrong("bridges", f'the key with model = "{BRIDGE}" only', f'"{model}"', "remove one")
    return file


def _external_model(section: Section, kinds: tuple[str, ...], model: str) -> str:
    """Return the model of faults outside the NPU; CampaignError if others are asked for beside them."""
    if len(kinds) > 1:
        names = " or ".join(f'["{kind}"]' for kind in EXTERNAL_KINDS)
        expected = f"memory outside the NPU by itself, {names}"
        remedy = "its failures are not the NPU's and are not added to them: make a campaign for each"
        section.wrong("kinds", expected, ", ".join(kinds), remedy)
    if model != UPSET:
        expected = f'"{UPSET}" for memory outside the NPU'
        section.wrong("model", expected, f'"{model}"', "remove the key")
    return MEMORY_UPSET


_PLACES = {
    PULSE: "a pulse is at the output of a cell",
    OPEN: "an open input is one of a cell",
    BRIDGE: "a bridge is between nets of cells",
}


def _check_logic(section: Section, kinds: tuple[str, ...], model: str, clusters: tuple[float, ...]) -> None:
    """Note what is wrong with logic: it has pulses, by themselves, or stuck pins, also beside stuck bits."""
    if LOGIC not in kinds:
        if model in (PULSE, OPEN, BRIDGE):
            expected, found = f'kinds = ["{LOGIC}"] with it', ", ".join(kinds)
            section.wrong("model", expected, found, f"change one: {_PLACES[model]}")
        return
    if model not in (PULSE, *PERMANENT_MODELS):
        others = ", ".join(f'"{own}"' for own in PERMANENT_MODELS)
        remedy = f'write model = "{PULSE}" for transients, {others} for permanent faults'
        section.wrong("model", f'"{PULSE}", {others} for logic', f'"{model}"', remedy)
    elif len(kinds) > 1 and model != STUCK_AT:
        remedy = "make a campaign for each: their rates are of different sorts"
        section.wrong("kinds", f'logic by itself, ["{LOGIC}"]', ", ".join(kinds), remedy)
    if clusters != (1.0,):
        section.wrong("clusters", "the key for storage only", f'kinds = ["{LOGIC}"]', "remove it")


def _minima(section: Section, injections: int) -> dict[str, int | dict[str, int]]:
    """Take the least numbers of injections in some blocks."""
    if not section.has("minimum_in"):
        return {}
    expected = "a table of blocks and numbers, { cc = 500 }, or of numbers by kind, { cc = { ff = 500 } }"
    value = section.raw("minimum_in", expected)
    if not isinstance(value, dict) or not all(map(_is_minimum, value.values())):
        section.wrong("minimum_in", expected, repr(value), "correct it")
        return {}
    least = sum(sum(own.values()) if isinstance(own, dict) else own for own in value.values())
    if least > injections and section.sound("injections"):
        found = f"{least:,}"
        section.wrong(
            "minimum_in", f"at most the {injections:,} injections", found, "ask for more injections"
        )
    return value


def _is_minimum(value: object) -> bool:
    if isinstance(value, dict):
        return set(value) <= set(KINDS) and all(type(n) is int and n >= 0 for n in value.values())
    return type(value) is int and value >= 0


def check_plan(section: Section, faults: FaultSettings, sampling: SamplingSettings, safety: bool) -> None:
    """Raise CampaignError unless the plan can choose such faults, and what else is asked is about them.

    Args:
        section: The table [faults].
        faults: What it says.
        sampling: The plan.
        safety: There is a table [safety].
    """
    if faults.permanent:
        if safety:
            expected = "upsets where there is a table [safety], whose key permanent names this one's run"
            raise section.fail(
                "model", expected, f'model = "{faults.model}"', "move the table to that campaign"
            )
        if faults.clusters != (1.0,):
            found = f'model = "{faults.model}", whose bits are single'
            raise section.fail("clusters", 'the key with model = "upset" only', found, "remove it")
        if sampling.plan not in PERMANENT_PLANS:
            expected = f"a plan for faults that are there from reset on ({', '.join(PERMANENT_PLANS)})"
            by = "results" if sampling.goes_by_results else "the operation that is running"
            found = f'plan = "{sampling.plan}", which goes by {by}'
            raise section.fail("model", expected, found, "change the plan")
    if faults.external:
        if safety:
            expected = "storage of the NPU where there is a table [safety]"
            found = ", ".join(faults.kinds)
            raise section.fail(
                "kinds", expected, found, "remove the table: memory outside has its own figures"
            )
        if sampling.plan not in EXTERNAL_PLANS:
            expected = f"a plan for memory outside the NPU ({', '.join(EXTERNAL_PLANS)})"
            raise section.fail("kinds", expected, f'plan = "{sampling.plan}"', "change the plan")
    if faults.logic:
        if safety:
            expected = "upsets where there is a table [safety], whose key logic names this one's run"
            remedy = "move the table to that campaign"
            raise section.fail("kinds", expected, ", ".join(faults.kinds), remedy)
        if sampling.plan not in LOGIC_PLANS:
            expected = f"a plan for logic ({', '.join(LOGIC_PLANS)})"
            raise section.fail("kinds", expected, f'plan = "{sampling.plan}"', "change the plan")
    if faults.minimum_in and sampling.plan != "proportional":
        found = f'plan = "{sampling.plan}"'
        raise section.fail(
            "minimum_in", 'the plan "proportional"', found, "change the plan, or remove the key"
        )
    if sampling.plan != "predicted":
        return
    for key, wrong in (
        ("minimum_per_block", faults.minimum_per_block > 0),
        ("clusters", faults.clusters != (1.0,)),
        ("injections", faults.injections < _FEWEST_PREDICTED),
    ):
        if wrong:
            raise section.fail(
                key,
                f"at least {_FEWEST_PREDICTED} injections of single bits, and no minimum",
                'the plan "predicted", which goes by predictions for single bits',
                "change the key or the plan",
            )
