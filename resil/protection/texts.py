# SPDX-License-Identifier: Apache-2.0
"""What lies behind the answer of a protection: each network, each mechanism, the build, what was injected.

The answer itself is one statement, `resil.reports.tables.protection_line`; nothing here repeats it.
"""

from __future__ import annotations

from resil.record.protection import INFEASIBLE, Protection
from resil.record.protection_build import AREA_DIFFERS, AreaMeasured, AreaPredicted, Build
from resil.record.protection_confirmation import (
    Confirmation,
    ConfirmingNetwork,
    NetworkPopulation,
    WatchdogRecord,
)
from resil.record.protection_parts import JudgedNetwork

LIMIT_NAMES = {
    "fit": "the FIT budget",
    "spfm": "the limit of SPFM",
    "fit_share": "the share of its FIT",
    "due": "the limit of detected failures",
}


def plan_text(plan: Protection) -> str:
    """Return what was chosen, and what it leaves on each network, as lines for a person."""
    lines = [*plan.golden, *(f"WAIVED: {text}" for text in plan.waived)]
    for own in plan.networks:
        share = f" of {own.fit_before:.3g}" if own.fit_before else ""
        place = logic = ""
        if own.logic_fit is not None and own.logic_fit_hi is not None:
            place = " in storage"
            logic = f"; {own.logic_fit:.3g} FIT in logic, at most {own.logic_fit_hi:.3g} where that decides"
        spfm = "" if own.spfm_lo is None else f", SPFM at least {own.spfm_lo:.3%}"
        due = "" if own.due_hi is None else f"; detected at most {own.due_hi:.3g} FIT"
        due += _unaided(own)
        missed = f": MISSED: {'; '.join(own.missed)}" if own.missed else ""
        lines.append(
            f"{own.network}: {own.fit:.3g} FIT{place}, at most {own.fit_hi:.3g}{share}{logic}{spfm}{due} "
            f"(judged by {own.injections:,} injections of {own.inputs:,} inputs){missed}; about "
            f"{own.population}"
        )
        if own.permanent is not None:
            lines.append(f"{own.network}: {own.permanent.text}; about {own.permanent.population}")
    if plan.result == INFEASIBLE:
        return "\n".join(lines)
    if plan.hold_out:
        left = ", ".join(f"{own.fit:.3g} on {own.network}" for own in plan.hold_out)
        lines.append(f"chosen without one of them, on that one: {left} FIT")
    elif len(plan.networks) == 1 and plan.groups:
        lines.append("what it leaves on other networks one run does not show: give runs of several")
    bits: dict[str, list[int]] = {}
    for group in plan.groups:
        counted = bits.setdefault(group.option_title, [0, 0])
        counted[0] += group.bits
        counted[1] += 1
    lines += [f"{title}: {count:,} bits in {units:,} units" for title, (count, units) in bits.items()]
    for mechanism in plan.mechanisms:
        limit = "" if mechanism.limit is None else f", limit {mechanism.limit:,} cycles"
        lines.append(f"{mechanism.option_title}: the whole design{limit}")
    return "\n".join(lines)


def build_text(record: Build, folder: str) -> str:
    """Return what was built in a folder as lines for a person."""
    predicted, measured = record.area_predicted, record.area_measured
    bits = ", ".join(f"{count:,} bits by {name}" for name, count in record.bits.items())
    lines = [
        f"built: {folder}: {bits}",
        f"area added: {measured.added:,.0f} {measured.unit} ({measured.overhead:+.1%}) measured"
        f"{_without_hardened(record)}, {predicted.added:,.0f} ({predicted.overhead:+.1%}) by the "
        "options' figures",
    ]
    lines += _other_area(predicted, measured)
    if dog := record.watchdog:
        lines.append(
            f"watchdog: limit {dog.limit:,} cycles; the longest operation of this network takes "
            f"{dog.longest_operation:,}; one as long as the limit raises a false alarm"
        )
    if left := sum(found.bits for found in record.left_out):
        lines.append(f"NOT PROTECTED though in a protected block: {left:,} bits, listed in README.md there")
    exact = record.bit_exact
    lines.append(
        f"without a fault the same outputs in the same cycles, no alarm ({', '.join(exact.networks)}, "
        f"inputs: {exact.inputs}); proofs of mechanisms: {record.proofs}"
    )
    return "\n".join(lines)


def _unaided(own: JudgedNetwork) -> str:
    """Say what is left at the worst corner, and where nobody reacts to alarms."""
    said = ""
    if own.corner:
        spfm = "" if own.corner_spfm_lo is None else f", SPFM at least {own.corner_spfm_lo:.3%}"
        said += f"; at the {own.corner} at most {own.corner_fit_hi:.3g} FIT{spfm}"
    if own.corner_unaided_hi is not None:
        place = "" if own.logic_fit is None else " in storage"
        said += f"; unaided, with nobody to react to alarms, at most {own.corner_unaided_hi:.3g} FIT{place}"
    return said


def _other_area(predicted: AreaPredicted, measured: AreaMeasured) -> list[str]:
    """Say that measured area is not what was planned with, if it is not."""
    if not measured.differs(predicted):
        return []
    share = "" if predicted.in_rtl <= 0.0 else f", {measured.added / predicted.in_rtl - 1.0:+.0%}"
    return [
        f"AREA IS NOT AS PLANNED: {measured.added:,.0f} {measured.unit} measured, {predicted.in_rtl:,.0f} "
        f"planned for the same{share}: by more than {AREA_DIFFERS:.0%}. The set may not be the one of least "
        "area: give figures of this design in a file for --options"
    ]


def _without_hardened(record: Build) -> str:
    if record.area_measured.whole:
        return ""
    return f" without {record.bits['hardened']:,} hardened cells, which are a constraint"


def confirmation_text(found: Confirmation) -> str:
    """Return what injections have found as lines for a person; areas are in what `build_text` returns."""
    lines = [
        f"{row.network}: {row.fit:.3g} [{row.fit_lo:.3g}, {row.fit_hi:.3g}] FIT, SPFM at least "
        f"{row.spfm_lo:.3%}; {row.hazardous} of {row.injections:,} upsets hazardous"
        + (
            f"; at the {row.corner} at most {row.corner_fit_hi:.3g} FIT, SPFM at least "
            f"{row.corner_spfm_lo:.3%}"
            if row.corner
            else ""
        )
        + f"; unaided, with nobody to react to alarms, at most {row.corner_unaided_hi:.3g} FIT"
        + (
            f"; {row.logic_fit:.3g} FIT in logic, at most {row.logic_fit_hi:.3g} where that decides"
            if row.logic_fit is not None and row.logic_fit_hi is not None
            else ""
        )
        + f"; without protection it misses {_missed(row)}; about {row.population}"
        for row in found.networks
    ]
    lines += [f"{row.network}: {row.golden.remark}" for row in found.networks if row.golden.remark]
    lines += found.golden_of_choice
    lines += _population(found.population)
    copies, latent = found.copies, found.latent
    if copies.injections:
        lines.append(
            f"redundant storage: {copies.hazardous} of {copies.injections:,} upsets hazardous: at "
            f"least {copies.harmless_lo:.3%} harmless ({copies.confidence:.0%} confidence)"
        )
    if latent is not None:
        lines.append(
            f"stuck bits of mechanisms: {latent.reported} of {latent.injections} reported, at least "
            f"{latent.coverage_lo:.1%}"
        )
    if found.watchdog is not None:
        lines += _watchdog(found, found.watchdog)
    if left := found.hardened_not_confirmed:
        lines.append(f"hardened cells cannot be confirmed in RTL: {', '.join(left)}; their range is in it")
    return "\n".join(lines)


def _population(found: NetworkPopulation) -> list[str]:
    """Say which networks are one, and which could not be set apart by what they run."""
    lines = [
        f"{own.network} runs almost what {own.other} runs"
        + (", which chose" if own.chose else ": both count as one")
        + f" ({own.distance:.1%} of the cycles go elsewhere)"
        for own in found.alike
    ]
    if found.unknown:
        lines.append(f"set apart by content alone, not by operations: {', '.join(found.unknown)}")
    return lines


def _missed(row: ConfirmingNetwork) -> str:
    """Return the limits by which a network could refuse a set."""
    return " and ".join(LIMIT_NAMES[name] for name in row.missed_unprotected) or "no limit"


def _watchdog(found: Confirmation, dog: WatchdogRecord) -> list[str]:
    reported = ", ".join(f"{row.hangs_reported} of {row.hangs} on {row.network}" for row in found.networks)
    lines = [f"watchdog of {dog.limit:,} cycles: hangs reported {reported}"]
    if dog.false_alarms:
        lines.append(
            f"NOT FOR {', '.join(dog.false_alarms)}: operations longer than the watchdog waits, each run a "
            "false alarm"
        )
    return lines
