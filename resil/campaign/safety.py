# SPDX-License-Identifier: Apache-2.0
"""The table `[safety]`: which rows of the verdict are claimed, against which targets, on what grounds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from resil.campaign.section import Section

CLAIMS = (
    *("spfm_transient", "spfm_in_use", "spfm_permanent", "lfm_permanent", "pmhf_share"),
    *("coverage", "coverage_permanent", "due_rate", "detection_time", "sensitivity"),
)
# ISO 26262-5:2018, tables 4, 5 and 6: SPFM, LFM, and the PMHF of an item in FIT.
ASIL_TARGETS = {"B": (0.90, 0.60, 100.0), "C": (0.97, 0.80, 100.0), "D": (0.99, 0.90, 10.0)}
PMHF_COVERS = ("all", "transient")


@dataclass(frozen=True)
class SafetyMechanism:
    """A safety mechanism that the design has.

    Attributes:
        alarm: Name of the alarm that reports a detection; "error" is the target's error status.
        coverage: Diagnostic coverage that is claimed, 0 to 1; None if none is.
        blocks: Blocks that it guards; empty for all.
        storage: Paths of its own storage; what begins with one of them belongs to it.
    """

    alarm: str
    coverage: float | None = None
    blocks: tuple[str, ...] = ()
    storage: tuple[str, ...] = ()


@dataclass(frozen=True)
class SafetySettings:
    """What the verdict is asked about.

    Attributes:
        claims: Names out of `CLAIMS`, in that order.
        asil: "B", "C" or "D"; None if targets are given one by one.
        spfm: Least SPFM, 0 to 1; None if not judged.
        lfm: Least LFM, 0 to 1; None if not judged.
        pmhf_fit: What the item's safety concept allots to this element, in FIT.
        pmhf_rationale: Where that comes from.
        pmhf_covers: "all" faults, or "transient" ones alone: permanent ones then have their own allotment.
        due_fit: Most detected failures in FIT that availability allows.
        due_rationale: Where that comes from.
        ftti_cycles: Fault-tolerant time in cycles of the target's clock.
        reaction_cycles: What the reaction to an alarm takes of it.
        clock_mhz: The clock at which seconds become cycles; None if not stated.
        mechanisms: Safety mechanisms.
        permanent: A finished campaign of permanent faults on the same target and network.
        logic: One of pulses in logic.
        permanent_logic: One of stuck pins of cells.
        mechanism_faults: Folder of what `resil mechanisms` found of the same design.
        derated: Rates of pulses are those that timing and attenuation leave.
        lifetime_hours: Operating time over which a mechanism may have failed unnoticed.
        left_out: Why storage that is not injected is no part of the claims; "" if there is no reason.
        watchdog: What detects a hang, if hangs do not count as hazardous; "" if they do.
    """

    claims: tuple[str, ...]
    asil: str | None = None
    spfm: float | None = None
    lfm: float | None = None
    pmhf_fit: float | None = None
    pmhf_rationale: str = ""
    pmhf_covers: str = "all"
    due_fit: float | None = None
    due_rationale: str = ""
    ftti_cycles: int | None = None
    reaction_cycles: int = 0
    clock_mhz: float | None = None
    mechanisms: tuple[SafetyMechanism, ...] = ()
    permanent: Path | None = None
    logic: Path | None = None
    permanent_logic: Path | None = None
    mechanism_faults: Path | None = None
    derated: bool = False
    lifetime_hours: float | None = None
    left_out: str = ""
    watchdog: str = ""

    @property
    def asks_of_detected(self) -> bool:
        """Whether it is asked what detected faults would have done, or what late alarms let through."""
        rows = {"coverage", "detection_time", "sensitivity"}
        return self.ftti_cycles is not None or bool(rows & set(self.claims))

    @property
    def detection_cycles(self) -> int | None:
        """Cycles within which an alarm has to come; None if no fault-tolerant time is given."""
        return None if self.ftti_cycles is None else self.ftti_cycles - self.reaction_cycles

    def seconds(self, cycles: float) -> float | None:
        """Return the time of some cycles; None if no clock is stated."""
        return None if self.clock_mhz is None else cycles / (1e6 * self.clock_mhz)


def read_safety(section: Section, hazardous: tuple[str, ...], budget_fit: float | None) -> SafetySettings:
    """Check the table.

    Args:
        section: The table.
        hazardous: Outcomes that count as failures.
        budget_fit: Of `[budget]`; None if there is none.

    Raises:
        CampaignError: a key is wrong, settings contradict each other, or a claimed row lacks what it takes.
    """
    claims = section.choices("claims")
    asil = section.choice("asil") if section.has("asil") else None
    spfm, lfm, item_fit = ASIL_TARGETS[asil] if asil else (None, None, None)
    pmhf_fit, pmhf_rationale = _allowance(section, "pmhf")
    due_fit, due_rationale = _allowance(section, "due")
    clock = _number(section, "clock_mhz")
    ftti, reaction = _cycles(section, "ftti", clock), _cycles(section, "reaction", clock)
    settings = SafetySettings(
        claims,
        asil,
        _target(section, "spfm", spfm, asil),
        _target(section, "lfm", lfm, asil),
        pmhf_fit,
        pmhf_rationale,
        section.choice("pmhf_covers"),
        due_fit,
        due_rationale,
        ftti,
        reaction or 0,
        clock,
        _mechanisms(section),
        _folder(section, "permanent"),
        _folder(section, "logic"),
        _folder(section, "permanent_logic"),
        _folder(section, "mechanism_faults"),
        section.flag("derated"),
        _number(section, "lifetime_hours"),
        section.text("left_out") if section.has("left_out") else "",
        section.text("watchdog") if section.has("watchdog") else "",
    )
    section.finish()
    _check_allocation(section, settings, item_fit, budget_fit)
    _check_hazards(section, settings, hazardous)
    _check_times(section, settings)
    _check_claims(section, settings)
    return settings


def _folder(section: Section, key: str) -> Path | None:
    return section.folder(key) if section.has(key) else None


def _number(section: Section, key: str) -> float | None:
    return section.number(key) if section.has(key) else None


def _target(section: Section, key: str, level: float | None, asil: str | None) -> float | None:
    if not section.has(key):
        return level
    found = section.number(key)
    if level is not None and found < level:
        raise section.fail(
            key,
            f"at least {level:g}, which ASIL {asil} asks for",
            f"{found:g}",
            "raise it, or leave asil out",
        )
    return found


def _allowance(section: Section, what: str) -> tuple[float | None, str]:
    key, why = f"{what}_fit", f"{what}_rationale"
    if not section.has(key) and not section.has(why):
        return None, ""
    remedy = f"give {key} in failures per 1e9 hours and say in {why} where the figure comes from"
    return section.number(key, remedy=remedy), section.text(why, remedy=remedy)


def _cycles(section: Section, what: str, clock_mhz: float | None) -> int | None:
    cycles, seconds = f"{what}_cycles", f"{what}_seconds"
    if section.has(cycles) and section.has(seconds):
        raise section.fail(cycles, f"either {cycles} or {seconds}", "both", "remove one")
    if section.has(cycles):
        return section.integer(cycles)
    if not section.has(seconds):
        return None
    found = section.number(seconds)
    if clock_mhz is None:
        raise section.fail(
            "clock_mhz", f"the clock at which {seconds} become cycles", "nothing", "add clock_mhz"
        )
    return max(1, int(found * clock_mhz * 1e6))


def _mechanisms(section: Section) -> tuple[SafetyMechanism, ...]:
    if not section.has("mechanism"):
        return ()
    found = []
    for table in section.tables("mechanism", "a list of tables, one for each safety mechanism"):
        alarm = table.text("alarm")
        coverage = table.number("coverage") if table.has("coverage") else None
        found.append(SafetyMechanism(alarm, coverage, table.texts("blocks"), table.texts("storage")))
        table.finish()
        if [m.alarm for m in found].count(alarm) > 1:
            raise table.fail("alarm", "each alarm once", f'"{alarm}" again', "join the two tables")
    return tuple(found)


def _check_allocation(
    section: Section, settings: SafetySettings, item_fit: float | None, budget_fit: float | None
) -> None:
    fit = settings.pmhf_fit
    if fit is not None and item_fit is not None and fit > item_fit:
        raise section.fail(
            "pmhf_fit",
            f"a share of the {item_fit:g} FIT that ASIL {settings.asil} allows the whole item",
            f"{fit:g}",
            "allot this element less than the item's target",
        )
    if fit is not None and budget_fit is not None and fit != budget_fit:
        raise section.fail(
            "pmhf_fit", f"the {budget_fit:g} FIT of [budget]", f"{fit:g}", "make them equal or remove one"
        )


def _check_hazards(section: Section, settings: SafetySettings, hazardous: tuple[str, ...]) -> None:
    shown = f"hazardous = {', '.join(hazardous)}"
    if "sdc_critical" not in hazardous:
        raise section.fail(
            "claims",
            "sdc_critical to count as hazardous, if safety is claimed",
            shown,
            "add it to [budget] hazardous",
        )
    if "hang" not in hazardous and not settings.watchdog:
        raise section.fail(
            "watchdog",
            "what detects a hang in time, as hangs do not count as hazardous",
            f"nothing, and {shown}",
            "name the watchdog, or count hangs as hazardous",
        )
    if "hang" in hazardous and settings.watchdog:
        raise section.fail(
            "watchdog",
            "none, as hangs count as hazardous",
            f'"{settings.watchdog}", and {shown}',
            "take hang out of [budget] hazardous if the watchdog is to be credited",
        )
    for claim in ("coverage", "coverage_permanent"):
        if "due" in hazardous and claim in settings.claims:
            raise section.fail(
                "claims",
                "no coverage to be claimed where detected failures are hazardous",
                shown,
                f"take due out of [budget] hazardous, or {claim} out of claims",
            )


def _check_times(section: Section, settings: SafetySettings) -> None:
    if settings.ftti_cycles is None and settings.reaction_cycles:
        raise section.fail(
            "reaction_cycles", "a fault-tolerant time with it", "none", "add ftti_cycles or ftti_seconds"
        )
    if settings.ftti_cycles is not None and settings.reaction_cycles >= settings.ftti_cycles:
        raise section.fail(
            "reaction_cycles",
            f"less than the {settings.ftti_cycles:,} cycles of the fault-tolerant time",
            f"{settings.reaction_cycles:,}",
            "no time is left for detection",
        )


def _check_claims(section: Section, settings: SafetySettings) -> None:
    """Refuse claims that nothing could ever decide, and runs of which nothing would be said."""
    if settings.permanent_logic is not None and settings.permanent is None:
        raise section.fail(
            "permanent_logic",
            "permanent with it, the run folder of a stuck-at campaign of storage",
            "none",
            "add it: the rows of permanent faults are about both",
        )
    if settings.mechanism_faults is not None and settings.permanent is None:
        raise section.fail(
            "mechanism_faults",
            "permanent with it, the run folder of a stuck-at campaign, whose rates it takes",
            "none",
            "add it, or remove the key",
        )
    if settings.derated and settings.logic is None:
        raise section.fail(
            "derated",
            "logic with it, the run folder of a campaign of pulses",
            "none",
            "add it, or remove the key",
        )
    covered = [m for m in settings.mechanisms if m.coverage is not None]
    needs = {
        "spfm_transient": (settings.spfm is not None, "asil, or spfm as the target"),
        "spfm_in_use": (settings.spfm is not None, "asil, or spfm as the target"),
        "spfm_permanent": (
            settings.spfm is not None and settings.permanent is not None,
            "asil or spfm, and permanent, the run folder of a stuck-at campaign",
        ),
        "lfm_permanent": (
            settings.lfm is not None
            and settings.permanent is not None
            and any(m.storage for m in settings.mechanisms),
            "asil or lfm, permanent, and a [[safety.mechanism]] with its storage",
        ),
        "pmhf_share": (
            settings.pmhf_fit is not None
            and (settings.permanent is not None or settings.pmhf_covers == "transient"),
            "pmhf_fit with pmhf_rationale (there is no default), and permanent, the run folder of a stuck-at "
            'campaign, or pmhf_covers = "transient"',
        ),
        "coverage": (bool(covered), "a [[safety.mechanism]] with alarm and coverage"),
        "coverage_permanent": (
            bool(covered) and settings.permanent is not None,
            "a [[safety.mechanism]] with alarm and coverage, and permanent, the run folder of a stuck-at "
            "campaign",
        ),
        "due_rate": (settings.due_fit is not None, "due_fit with due_rationale"),
        "detection_time": (
            settings.ftti_cycles is not None and bool(settings.mechanisms),
            "ftti_cycles or ftti_seconds, and a [[safety.mechanism]]",
        ),
    }
    for claim in settings.claims:
        given, needed = needs.get(claim, (True, ""))
        if not given:
            raise section.fail(
                "claims",
                f"what the claimed row {claim} takes: {needed}",
                "not all of it",
                f"add it, or take {claim} out of claims",
            )
    if settings.claims == ("sensitivity",):
        raise section.fail(
            "claims", "another row beside sensitivity", "none", "it judges the other rows again"
        )
