# SPDX-License-Identifier: Apache-2.0
"""Pictures of a finished run for a notebook, as axes of matplotlib, which can be changed and saved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from resil.errors import StoreError
from resil.folder.finished import finished_run
from resil.folder.kept_plans import accepted_plan
from resil.record import numbers
from resil.record.interval import RecordedInterval
from resil.reports import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from resil.results.run import FinishedRun

_LEAST = 1e-12  # a FIT that no axis shows


class RunPlots:
    """Pictures of a run: `run.plot.blocks()`, `.registers()`, `.timeline()`, `.front()`.

    Each takes the axes to draw into, or makes a figure of its own, and returns the axes.

    Args:
        run: The run.

    Raises:
        ReportError: matplotlib is not installed; `pip install 'resil[notebook]'` brings it.

    Examples:
        >>> from resil import Run
        >>> axes = Run("run").plot.blocks()
        >>> axes.get_xscale()
        'log'
    """

    def __init__(self, run: FinishedRun) -> None:
        self._run = run

    def blocks(self, axes: Axes | None = None) -> Axes:
        """Draw the FIT of each block and of the total with intervals, against the budget.

        A block without a hazardous outcome has an upper limit and no dot; one that was not injected into is
        named so.
        """
        summary = self._run.summary
        rows = [
            (
                own.name if own.sampled else f"{own.name}: not injected",
                own.fit_interval if own.sampled else None,
            )
            for own in sorted(summary.blocks, key=lambda own: own.fit or 0.0)
        ]
        rows.insert(0, ("total", summary.total.fit_interval))
        sure = numbers.confidence(summary.campaign.confidence)
        drawn = self._intervals(rows, axes, f"hazardous failures in FIT, {sure} intervals")
        if summary.verdict.budget_fit:
            drawn.axvline(summary.verdict.budget_fit, color="black", linestyle="--", linewidth=1.0)
        drawn.set_title(f"FIT by block: {summary.campaign.name}")
        return drawn

    def registers(self, most: int = 15, axes: Axes | None = None) -> Axes:
        """Draw the registers of the largest FIT with intervals, each of its register by itself.

        Args:
            most: How many.
            axes: To draw into.
        """
        detail = self._run.detail
        rows = [(own.path, own.fit_interval if own.injections else None) for own in detail.registers[:most]][
            ::-1
        ]
        sure = numbers.confidence(detail.confidence)
        drawn = self._intervals(rows, axes, f"hazardous failures in FIT, {sure} intervals")
        drawn.set_title("Registers of the largest FIT")
        return drawn

    def timeline(self, axes: Axes | None = None) -> Axes:
        """Draw the hazardous FIT of each block by the cycle of the fault, with the starts of operations.

        Raises:
            StoreError: faults were held from reset on, so that they have no cycle.
        """
        detail = self._run.detail
        time = detail.timeline
        if time is None:
            raise StoreError(
                f"{self._run.path}: expected upsets, which strike in a cycle, found faults that are "
                "held; give a run of upsets",
                "faults.model",
            )
        names = [own for own in detail.blocks if any(row.block == own for row in detail.registers)]
        grid = np.full((len(names), time.bins), np.nan)
        each = [row.fit_raw / row.injections if row.injections else 0.0 for row in detail.registers]
        rates = time.fit or [k * each[row] for row, k in zip(time.row, time.hazardous, strict=True)]
        for row, at, rate in zip(time.row, time.time, rates, strict=True):
            line = names.index(detail.registers[row].block)
            grid[line, at] = rate + (0.0 if np.isnan(grid[line, at]) else grid[line, at])
        drawn = axes or _new_axes(0.5 + 0.4 * len(names))
        image = drawn.imshow(
            grid, aspect="auto", cmap="Oranges", extent=(0.0, float(time.cycles), len(names) - 0.5, -0.5)
        )
        drawn.set_yticks(range(len(names)), names)
        for own in time.operations[1:]:
            drawn.axvline(own.start, color="black", linewidth=0.7)
        drawn.set_xlabel("cycle of the fault; lines: starts of operations")
        drawn.figure.colorbar(image, ax=drawn, label="hazardous FIT")
        drawn.set_title("When a fault does harm (white: nothing injected)")
        return drawn

    def front(self, axes: Axes | None = None) -> Axes:
        """Draw the front of protection, area against the upper limit of FIT that is left, and the chosen set.

        All of it is predicted but what new injections have confirmed, which the title says.

        Raises:
            StoreError: no protection is planned for these results.
        """
        found = accepted_plan(self._run.path, finished_run(self._run.path).digest)
        if found is None or not found.plan.pareto:
            raise StoreError(
                f"{self._run.path}: expected a plan of protection, found none for these results; make "
                f"one with: resil protect {self._run.path}",
                "protection.json",
            )
        plan, drawn = found.plan, axes or _new_axes(4.0)
        drawn.step(
            [100.0 * own.area_overhead for own in plan.pareto], [own.fit_hi for own in plan.pareto],
            where="post", marker=".",
        )  # fmt: skip
        drawn.set_yscale("log")
        if plan.budget_fit:
            drawn.axhline(plan.budget_fit, color="black", linestyle="--", linewidth=1.0)
        if plan.fit_hi is not None and found.area_overhead is not None:
            drawn.plot([100.0 * found.area_overhead], [plan.fit_hi], marker="D", linestyle="none")
        drawn.set_xlabel("added area, % of the unprotected design")
        drawn.set_ylabel("upper limit of FIT that is left")
        state = "confirmed by injection" if found.confirmed else "predicted, not confirmed"
        drawn.set_title(f"Protection: the chosen set is {state}")
        return drawn

    def _intervals(
        self, rows: Sequence[tuple[str, RecordedInterval | None]], axes: Axes | None, label: str
    ) -> Axes:
        drawn = axes or _new_axes(1.2 + 0.3 * len(rows))
        drawn.set_xscale("log")
        lows = [own.lo for _, own in rows if own is not None and own.lo > _LEAST]
        left = min(lows, default=min((own.hi for _, own in rows if own is not None), default=1.0)) / 2.0
        for place, (_, own) in enumerate(rows):
            if own is None or own.hi <= 0.0:
                continue
            drawn.plot([max(own.lo, left), own.hi], [place, place], color="tab:orange", marker="|")
            if own.estimate:
                drawn.plot([own.estimate], [place], color="tab:orange", marker="o")
            if own.lo <= _LEAST:
                drawn.plot([left], [place], color="tab:orange", marker="<")
        drawn.set_yticks(range(len(rows)), [name for name, _ in rows])
        drawn.set_xlabel(label)
        return drawn


def _new_axes(height: float) -> Axes:
    require_matplotlib("a picture of a run")
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(figsize=(7.0, height), layout="constrained")
    return axes
