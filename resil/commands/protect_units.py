"""`resil protect` over units and several runs: read, choose, keep a plan in every run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from reports import parse_protection
from resil.folder.plans import basis_of, check_name, keep_plan
from resil.folder.run import EVENLY, Run
from resil.folder.store import SITES
from resil.folder.whole import Finished, finished_run, require_single, require_upsets
from resil.progress import Progress
from resil.protection.blocks import read_blocks
from resil.protection.group_choice import choose
from resil.protection.group_menu import Design
from resil.protection.group_plan import unit_plan
from resil.protection.judging import Targets
from resil.protection.options import OptionSet, ProtectionError, load_options
from resil.protection.risks import HANG, HARMFUL, TOLD, Network
from resil.protection.units import Granularity, Storage, cells_of, units_of
from resil.results.render import Results
from rtl_harness.sites import Hardware
from stats.rates import OUTCOMES

_WHY = "a choice of protection is about upsets of one inference"
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Basis:
    """Finished runs on one target, as the choice takes them.

    Attributes:
        found: The runs.
        storage: That all of them injected into.
        networks: What was injected, in the same order.
    """

    found: Sequence[Finished]
    storage: Storage
    networks: Sequence[Network]

    def design(self, options: OptionSet, granularity: Granularity, *, buildable: bool = False) -> Design:
        """Return what is chosen for.

        Raises:
            ProtectionError: The summary lacks what is needed.
        """
        summary = self.found[0].summary
        cells = cells_of(self.storage)
        names = set(cells.block)
        blocks = {block.name: block for block in read_blocks(summary, options) if block.name in names}
        bits = {
            (str(row["block"]), kind): int(row[f"{kind}_bits"])
            for row in summary["blocks"]
            for kind in ("ff", "sram")
        }
        return Design(
            cells,
            units_of(self.storage, cells, granularity),
            blocks,
            bits,
            str(summary["total"]["area_unit"]),
            float(summary["total"]["area"]),
            options,
            buildable,
        )


def protect_units(
    run_dirs: Sequence[Path],
    *,
    granularity: Granularity,
    targets: Targets,
    options: Path | None = None,
    name: str | None = None,
    buildable: bool = False,
) -> Results:
    """Choose protections for all runs at once, keep the plan in each, and write their reports again.

    Args:
        run_dirs: Finished runs on one target, a network each.
        granularity: What is chosen for.
        targets: What is asked; without any the budget of the campaigns.
        options: Options of the user's own, over those that ship.
        name: Of the plan; None for one made of what is asked.
        buildable: Offer only what can be built.

    Returns:
        The results of the first run, with this plan.

    Raises:
        StoreError, ConsistencyError: A folder is none of a finished run of upsets.
        ProtectionError: The runs are not of one target, or contradict each other; there is no target; an
            option has no area.
    """
    known = load_options(options)
    basis = read_basis(run_dirs)
    asked = asked_of(basis, targets)
    named = check_name(name or _name(asked, granularity, options))
    design = basis.design(known, granularity, buildable=buildable)
    Progress().stage(
        f"choosing among {len(design.units):,} units for {len(basis.networks)} networks, "
        f"{sum(len(n.bit) for n in basis.networks):,} injections"
    )
    plans = unit_plan(design, basis.networks, asked, choose(design, basis.networks, asked), granularity)
    rests_on = [
        {"run": network.name, **basis_of(f)} for network, f in zip(basis.networks, basis.found, strict=True)
    ]
    for plan in plans:
        parse_protection(plan)
    for found, plan in zip(basis.found, plans, strict=True):
        accepted = keep_plan(found, named, {**plan, "based_on": rests_on})
        Results(found.summary, accepted).write(found.path)
    first = basis.found[0]
    plan = {**plans[0], "based_on": rests_on, "name": named, "basis": basis_of(first)}
    return Results(first.summary, plan)


def asked_of(basis: Basis, targets: Targets) -> Targets:
    """Return the targets, with the campaigns' budget if none is given.

    Raises:
        ProtectionError: One is out of range, they contradict each other or the campaigns, or there is none.
    """
    for value, text, most in (
        (targets.budget_fit, "a budget is a number of FIT >= 0", np.inf),
        (targets.due_fit, "a budget of detected failures is a number of FIT >= 0", np.inf),
        (targets.spfm, "an SPFM target is from 0 to 1 (0.99 for ASIL D)", 1.0),
        (targets.fit_share, "a share of the FIT is from 0 to 1", 1.0),
    ):
        if value is not None and not (0.0 <= value <= most and value < np.inf):
            raise ProtectionError(f"{text}, found {value}: correct it")
    if targets.due_fit is not None and "due" in basis.networks[0].hazardous:
        raise ProtectionError(
            "targets contradict: these campaigns count detected failures as hazardous ([budget] hazardous "
            "has due), so a budget of their own cannot be kept apart; leave --due-budget out"
        )
    if targets != Targets():
        return targets
    budgets = {found.summary["verdict"]["budget_fit"] for found in basis.found}
    if len(budgets) > 1:
        told = ", ".join("none" if b is None else f"{b:g}" for b in sorted(budgets, key=lambda b: b or 0.0))
        raise ProtectionError(f"targets contradict: the campaigns' budgets are {told} FIT; give --budget-fit")
    (budget,) = budgets
    if budget is None:
        raise ProtectionError(
            "protection needs a target: give --budget-fit, --spfm-target, --fit-share or --due-budget"
        )
    return Targets(budget_fit=budget)


def read_basis(run_dirs: Sequence[Path]) -> Basis:
    """Read runs on one target.

    Raises:
        StoreError, ConsistencyError: A folder is none of a finished run of upsets of single inferences.
        ProtectionError: The runs are not of one target, or spread injections unevenly.
    """
    found = [finished_run(path) for path in run_dirs]
    for one in found:
        require_upsets(one, _WHY)
        require_single(one, _WHY)
        if one.summary["sampling"]["plan"] not in EVENLY:
            raise ProtectionError(
                f"{one.path}: expected a run whose injections are spread evenly over each block (plan "
                f'{" or ".join(EVENLY)}), found plan = "{one.summary["sampling"]["plan"]}": risks of groups '
                "cannot be counted from it"
            )
    _require_alike(found)
    tables = [_kept(one) for one in found]
    for one, table in zip(found[1:], tables[1:], strict=True):
        if not table.equals(tables[0]):
            raise ProtectionError(
                f"{one.path}: has other storage than {found[0].path}: runs on one target are needed"
            )
    columns = {key: tables[0][key].to_numpy(zero_copy_only=False) for key in tables[0].column_names}
    keys = ("path", "bit", "kind", "block", "register_class")
    storage = Storage(**{key: columns[key] for key in keys}, declared=_declared(found[0]))
    names = _names(found)
    networks = [_network(one, name, columns["site"]) for one, name in zip(found, names, strict=True)]
    return Basis(found, storage, networks)


def _require_alike(found: Sequence[Finished]) -> None:
    def facts(one: Finished) -> Mapping[str, Any]:
        summary = one.summary
        return {
            "target": summary["target"]["name"],
            "parameters of the target": dict(summary["target"]["parameters"]),
            "kinds of storage": sorted(summary["campaign"]["kinds"]),
            "hazardous outcomes": sorted(summary["campaign"]["hazardous"]),
            "confidence": summary["campaign"]["confidence"],
            "raw rates": [[e["quantity"], e["value"], e["unit"]] for e in summary["technology"]["entries"]],
            "unit of area": summary["total"]["area_unit"],
        }

    first = facts(found[0])
    for one in found[1:]:
        for what, value in facts(one).items():
            if value != first[what]:
                raise ProtectionError(
                    f"runs contradict each other: {what}: {value} in {one.path}, {first[what]} in "
                    f"{found[0].path}; choose for runs of one target with equal settings"
                )


def _names(found: Sequence[Finished]) -> list[str]:
    names = [str(one.summary["network"]["name"]) for one in found]
    again = [name for name in names if names.count(name) > 1]
    return [f"{n} ({one.path.name})" if n in again else n for n, one in zip(names, found, strict=True)]


def _kept(one: Finished) -> pa.Table:
    table = pq.read_table(one.path / SITES, memory_map=False).replace_schema_metadata(None)
    kinds = pa.array(one.summary["campaign"]["kinds"], pa.string())
    injected = {"ff": ["ff", "macro"], "sram": ["sram"]}
    wanted = pa.array([k for kind in kinds.to_pylist() for k in injected.get(kind, [kind])], pa.string())
    plain = {
        name: table[name].cast(pa.string())
        for name in ("path", "kind", "block", "register_class", "hardware")
    }
    whole = pa.table({**plain, "bit": table["bit"].cast(pa.int64()), "site": table["site"].cast(pa.int64())})
    kept = pc.and_(
        pc.equal(whole["hardware"], Hardware.KEPT.value), pc.is_in(whole["kind"], value_set=wanted)
    )
    return whole.filter(kept).drop_columns(["hardware"]).combine_chunks()


def _declared(one: Finished) -> dict[str, int]:
    paths = pq.read_table(one.path / SITES, columns=["path"], memory_map=False)["path"].cast(pa.string())
    counted = pc.value_counts(paths).to_pylist()
    return {str(entry["values"]): int(entry["counts"]) for entry in counted}


def _network(one: Finished, name: str, sites: IntArray) -> Network:
    summary = one.summary
    rows = Run(one.path).injections()
    hazardous = tuple(summary["campaign"]["hazardous"])
    place = np.full(int(max(sites.max(initial=-1), rows["site"].max())) + 1, -1, dtype=np.int64)
    place[sites] = np.arange(len(sites))
    bit = place[rows["site"].to_numpy()]
    if (bit < 0).any():
        lost = rows["name"].to_numpy()[bit < 0][0]
        raise ProtectionError(f"{one.path}: an injection struck {lost}, which is no storage that remains")
    limits = [entry for entry in summary["limits"] if entry["bits"]]
    return Network(
        name,
        bit,
        _fates(rows["outcome"].to_numpy(), rows["seen"].to_numpy().astype(str), hazardous),
        rows["injection"].to_numpy().astype(np.int64),
        {(str(e["block"]), str(e["kind"])): float(e["fit_raw"]) / int(e["bits"]) for e in limits},
        float(summary["campaign"]["confidence"]),
        hazardous,
    )


def _fates(outcome: npt.NDArray[Any], seen: npt.NDArray[Any], hazardous: Sequence[str]) -> IntArray:
    """Return what came of injections, as protection asks; where detection is hazardous it helps nothing."""
    told = outcome == "due"
    fate = np.zeros(len(outcome), dtype=np.int64)
    for name in OUTCOMES:
        if name in hazardous and name != "due":
            fate[seen == name] = HANG if name == "hang" else HARMFUL
    if "due" in hazardous:
        fate[told] = HARMFUL
        return fate
    return np.where(told, np.where(fate > 0, fate + 2, TOLD), fate)


def _name(targets: Targets, granularity: Granularity, options: Path | None) -> str:
    asked = {
        "fit": targets.budget_fit,
        "spfm": targets.spfm,
        "share": targets.fit_share,
        "due": targets.due_fit,
    }
    own = [] if options is None else ["".join(c if c.isalnum() or c in ".+-" else "-" for c in options.stem)]
    parts = [f"{key}-{value!r}" for key, value in asked.items() if value is not None]
    return "_".join([f"by-{granularity}", *parts, *own])[:64]


def units_text(plan: Mapping[str, Any]) -> str:
    """Return what was chosen over units, and what it leaves on each network, as lines for a person."""
    lines = []
    for own in plan["networks"]:
        share = f" of {own['fit_before']:.3g}" if own["fit_before"] else ""
        spfm = "" if own["spfm_lo"] is None else f", SPFM at least {own['spfm_lo']:.3%}"
        missed = f": MISSED: {'; '.join(own['missed'])}" if own["missed"] else ""
        lines.append(
            f"{own['network']}: {own['fit']:.3g} FIT, at most {own['fit_hi']:.3g}{share}{spfm}; detected at "
            f"most {own['due_hi']:.3g} FIT (judged by {own['injections']:,} injections){missed}"
        )
    if plan["result"] == "infeasible":
        return "\n".join([*lines, f"NOT REACHED: {plan['reason']}"])
    bits: dict[str, list[int]] = {}
    for group in plan["groups"]:
        own = bits.setdefault(group["option_title"], [0, 0])
        own[0] += group["bits"]
        own[1] += 1
    lines += [f"{title}: {count:,} bits in {units:,} units" for title, (count, units) in bits.items()]
    lines += [f"{own['option_title']}: the whole NPU" for own in plan["mechanisms"]]
    return "\n".join(lines)
