# SPDX-License-Identifier: Apache-2.0
"""Made plans, and what was built and confirmed of them, whole in every field."""

from resil.files import write_text
from resil.folder.kept_plans import keep_in_build
from resil.folder.looks import FINISHED, LEDGER, REGISTERED, Judge, LedgerEntry, ProtectionLook
from resil.protection.likeness import network_population
from resil.record.protection import Protection
from resil.record.protection_build import AreaMeasured, AreaPredicted, BitExact, Build
from resil.record.protection_confirmation import (
    Confirmation,
    LookNumber,
    MeasuredRates,
    Predicted,
    RedundantStorage,
)
from resil.record.protection_parts import BlockChoice, JudgedNetwork, NpuMechanism, PlanBasis, ProtectedGroup

EXACT = BitExact(networks=("made",), inputs=1, equal=True)
FIELDS = {
    "schema": Protection.SCHEMA,
    "name": "made",
    "basis": PlanBasis(summary="0" * 64, injections=10),
    "from_estimate": False,
    "golden": (),
    "granularity": "group",
    "result": "optimal",
    "reason": "",
    "area_unprotected": 100.0,
    "area_added": 10.0,
    "area_overhead": 0.1,
    "fit": 0.01,
    "fit_hi": 1.0,
    "fit_hi_unprotected": 4.0,
    "fit_raw_before": 4.0,
    "budget_fit": 1.0,
    **dict.fromkeys(("spfm_target", "fit_share_target", "due_fit_target", "reserve", "bound", "gap")),
    **dict.fromkeys(("area_overhead_lockstep", "fit_raw_after", "spfm_before", "spfm_lo_before", "build")),
    **dict.fromkeys(("spfm", "spfm_lo", "due", "due_hi")),
    **dict.fromkeys(("based_on", "models", "waived", "choices", "groups", "mechanisms", "networks"), ()),
    "logic": None,
    **dict.fromkeys(("permanent_fit_target", "permanent_spfm_target")),
    **dict.fromkeys(("hold_out", "pareto", "assumptions"), ()),
}


def plan_of(**changes):
    """Return a plan with these fields."""
    return Protection.model_validate({**FIELDS, **changes})


def judged(fit, network="made"):
    """Return what is left on a network."""
    none = dict.fromkeys(("spfm", "spfm_lo", "due", "due_hi", "unaided_hi"))
    none |= dict.fromkeys(("corner_unaided_hi", "corner_spfm_lo"))
    return JudgedNetwork(
        network=network,
        population="the network made; this input alone (0)",
        injections=10,
        inputs=1,
        fit_before=1.0,
        fit=fit,
        fit_hi=2.0 * fit,
        corner="",
        corner_fit_hi=2.0 * fit,
        logic_fit=None,
        logic_fit_hi=None,
        permanent=None,
        missed=(),
        **none,
    )


def block_choice(block, by_kind, due=None, due_added=0.0):
    """Return what is left of each kind of storage in a block."""
    fit = sum(by_kind.values())
    return BlockChoice(
        block=block,
        option="made",
        option_title="made",
        area=1.0,
        area_added=0.1,
        fit_before=fit,
        fit_after=fit,
        fit_after_by_kind=by_kind,
        due_after_by_kind=due,
        due_added=due_added,
        fit_hi_before=fit,
        fit_hi_after=fit,
        base_factor=1.0,
        coverage=0.0,
        fit_raw_after=1.0,
        source="made",
        status="assumed",
    )


def group(unit, option, parts=None):
    """Return a unit that is protected."""
    return ProtectedGroup(
        unit=unit,
        parts=(unit,) if parts is None else parts,
        block=unit,
        bits=8,
        option=option,
        option_title=option,
        area_added=1.0,
    )


def watchdog(limit):
    """Return a watchdog that was chosen."""
    text = {"option": "watchdog", "option_title": "watchdog", "source": "made"}
    return NpuMechanism(**text, area_added=1.0, limit=limit, watched=("made",))


def build(plan, overhead=0.25, **changes):
    """Return what a folder records in which a plan was built."""
    area = {"added": 1.0, "overhead": overhead, "unit": "GE"}
    whole = Build(
        schema=Build.SCHEMA,
        plan=plan.name,
        choice=plan.choice_digest,
        rtl_digest="rtl",
        bits={"triplicate": 8},
        netlists={},
        left_out=(),
        hardened=(),
        watchdog=None,
        proofs=1,
        bit_exact=EXACT,
        redundant=(),
        area_predicted=AreaPredicted(**area, in_rtl=1.0),
        area_measured=AreaMeasured(**area, hardened_included=None, blocks={}),
        commands=("resil protect run --build made",),
    )
    return whole.changed(**changes)


def confirmation(plan, confirmed=True, reasons=("it does not hold",), **changes):
    """Return what injections into that have said."""
    rates = dict.fromkeys(("fit", "fit_lo", "fit_hi"), 0.0) | dict.fromkeys(("spfm", "spfm_lo"), 1.0)
    predicted = Predicted(fit=0.0, fit_lo=0.0, fit_hi=0.0, spfm=1.0, spfm_lo=1.0, injections=9)
    whole = Confirmation(
        schema=Confirmation.SCHEMA,
        confirmed=confirmed,
        reasons=() if confirmed else reasons,
        predicted=predicted,
        measured=MeasuredRates(**rates, injections=9, network="other"),
        networks=(),
        passed=(),
        copies=RedundantStorage(injections=0, hazardous=0, mechanisms=(), harmless_lo=0.0, confidence=0.95),
        plan=plan.name,
        choice=plan.choice_digest,
        rtl_digest="rtl",
        look=LookNumber(number=1, confidence=0.95),
        population=network_population({"other": {}}, {}, ["other"] if confirmed else [], 0.95),
        seed=8,
        seed_of_choice=7,
        golden_of_choice=(),
        latent=None,
        hardened_not_confirmed=(),
        watchdog=None,
        bit_exact=EXACT,
        area_predicted=AreaPredicted(added=1.0, overhead=0.1, unit="GE", in_rtl=1.0),
        area_measured=AreaMeasured(added=1.0, overhead=0.1, unit="GE", hardened_included=None, blocks={}),
        commands=(),
    )
    return whole.changed(**changes)


def keep_looked_at(folder, found, *later):
    """Keep a confirmation in a build with its look in the ledger there, and results of later looks."""
    text, previous = "", ""
    results = (found.confirmed, *later)
    for sequence in range(2 * len(results)):
        number, ended = divmod(sequence, 2)
        if ended and results[number] is None:
            break
        entry = LedgerEntry(
            sequence=sequence,
            previous=previous,
            kind=FINISHED if ended else REGISTERED,
            look=ProtectionLook(
                rtl=found.rtl_digest,
                folder="made",
                runs=("run",),
                asked="asked",
                number=number + found.look.number,
                confidence=0.95,
                seed=found.seed + number,
                judges=(Judge(name="other", network="n", content="c", injections=9),),
            ),
            confirmed=results[number] if ended else None,
        ).sealed()
        text, previous = text + entry.model_dump_json(by_alias=True) + "\n", entry.digest
    write_text(folder / LEDGER, text)
    keep_in_build(folder, found)
