# SPDX-License-Identifier: Apache-2.0
"""A finished run for Python: its injections, registers and blocks as data frames."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from resil.campaign.clusters import cluster_sizes
from resil.campaign.sampling_settings import EVENLY
from resil.errors import StoreError
from resil.files import read_parquet
from resil.folder.contents import content_of
from resil.folder.finished import Finished, finished_run
from resil.folder.store import INJECTIONS, SITES, STRATA
from resil.folder.strata_file import Drawn, read_strata
from resil.record.detail import Detail
from resil.record.evidence import SamplingRecord
from resil.record.summary import Summary
from resil.reports import summary_html
from resil.results.detail import detail_of
from resil.results.domains import Question, fit_of_domains, weights_of
from resil.results.plots import RunPlots
from resil.rtl_harness.design.sites import EXTERNAL_KINDS, Hardware
from resil.stats.intervals import Interval, clopper_pearson_limits
from resil.stats.rates import OUTCOMES, StratumCounts, estimate_blocks

if TYPE_CHECKING:
    import pandas as pd

_THESE = "these"


class FinishedRun:
    """A finished run; `resil.Run` is one whose injections can be traced too.

    Attributes:
        found: The folder, as it was found to be usable.
        path: The run folder.
        summary: The results, by the fields of `summary.json`.

    Raises:
        StoreError: the folder is none of a run, is of another version, unfinished, damaged or altered, or is
            an estimate; the message says which, and what to do.
        ConsistencyError: the run has failed an audit: its results are void.
    """

    def __init__(self, path: str | Path) -> None:
        found = finished_run(Path(path))
        self.found: Finished = found
        self.path: Path = found.path
        self.summary: Summary = found.summary

    def __repr__(self) -> str:
        verdict, injections = self.summary.verdict.result, self.summary.campaign.injections
        return f"Run({str(self.path)!r}: {injections:,} injections, verdict {verdict})"

    def _repr_html_(self) -> str:
        """Verdict, population and FIT by block, as notebooks show them."""
        return summary_html(self.summary)

    @property
    def plot(self) -> RunPlots:
        """Pictures: `run.plot.blocks()`, `.registers()`, `.timeline()`, `.front()`; needs matplotlib."""
        return RunPlots(self)

    @cached_property
    def detail(self) -> Detail:
        """Injections summed up by register, time, operation and address, as the report shows them.

        Raises:
            StoreError: no injection counts.
        """
        found = detail_of(self.path, self.summary)
        if found is None:
            raise StoreError(f"{self.path}: expected injections that count, found none", "injections/")
        return found

    def injections(self) -> pd.DataFrame:
        """Return a row for each injection, in the order of their numbers.

        Columns are those of the part files (`docs/reference/files.md`), and of the site that was hit:
        `register` (its path), `register_class`, `name` (register, word of a memory, and bit, as the source
        would write it).
        `outcome` is judged as the run's results are: an alarm beyond the fault-tolerant time of `[safety]` is
        none.

        `weight` is the FIT that an injection stands for: the raw rate of what it was drawn from over the
        number of injections into that. It is 0 of those that the run's figures do not rest on (`counted`).

        Warning:
            Most plans inject more in some places than in others. A plain mean over rows, such as
            `hazardous.mean()`, is then no rate, and times the raw FIT no FIT; nor is the part of rows that
            lie in a block its share of the FIT. Sum `weight`, or ask `fit`, which has intervals too.
        """
        parts = sorted((self.path / INJECTIONS).glob("part-*.parquet"))
        rows = pa.concat_tables([_plain(read_parquet(part)) for part in parts])
        judged = content_of(rows).within(self.summary.campaign.detection_cycles).outcomes
        names = pa.array(OUTCOMES, pa.string()).take(pa.array(judged))
        rows = rows.set_column(rows.schema.get_field_index("outcome"), "outcome", names)
        sites = self._sites()
        for name in ("register_class", *sorted({"pin", "rtl_register"} & {*sites.column_names})):
            rows = rows.append_column(name, pc.cast(sites[name], pa.string()).take(rows["site"]))
        frame: pd.DataFrame = rows.sort_by("injection").to_pandas()
        frame = frame.rename(columns={"path": "register"})
        frame["name"] = site_names(frame)
        frame["weight"] = weights_of(self.drawn, frame["injection"].to_numpy())
        return frame

    def counted(self) -> pd.DataFrame:
        """Return the rows of `injections` that the run's figures rest on.

        A pilot decided how many injections each kind of storage of each block gets; counted with them, where
        it found nothing would be sampled less and keep that luck. A pilot is the first draws of each stratum,
        what counts are those after it; what earlier results of this folder needed beyond these does not.
        """
        rows = self.injections()
        return rows[self.drawn.count(rows["injection"].to_numpy())].reset_index(drop=True)

    def drawn_sizes(self, rows: pd.DataFrame) -> npt.NDArray[np.int64]:
        """Return the cluster size that each injection was drawn with, shape (rows,).

        At the end of a word fewer bits flip than that. Given its size, an injection is a plain draw of its
        stratum.

        Args:
            rows: Of `injections`, or some of them.
        """
        campaign, sizes = self.summary.campaign, np.ones(len(rows), dtype=np.int64)
        draws = rows["injection"].to_numpy() // len(self.drawn.strata)
        for name, own in rows.groupby("stratum", observed=True).indices.items():
            sizes[own] = cluster_sizes(campaign.seed, str(name), campaign.clusters, draws[own])
        return sizes

    def fit(self, by: Sequence[str] = (), outcomes: Collection[str] | None = None) -> pd.DataFrame:
        """Return the hazardous FIT of each part of the injections, the highest first.

        Every plan is allowed for: a row adds its `weight` (`injections`), and intervals are made as those of
        `summary.json`, whose total (`by` nothing), blocks, kinds of storage and register classes come out
        the same here. With `[sampling] inputs = "like these"` intervals are for inputs like those that were
        run, unless `by` divides inputs.

        Each interval holds by itself at `confidence`. What leads a ranking of many was chosen for what was
        found in it, and its estimate is on the high side.

        Args:
            by: Columns of `injections`: "block", "kind", "operation", "register", "register_class", "input",
                "outcome", "alarm" or any other. Nothing stands for the total.
            outcomes: Which outcomes count; None for those that the campaign calls hazardous.

        Returns:
            The columns `by`, `injections` and `events` (how many of these count), `fit`, `fit_lo`, `fit_hi`.
            A combination of values that no injection hit has no row, unless all of `by` say what storage was
            hit: then all storage is there.

        Raises:
            ValueError: there is no such column or outcome.

        Examples:
            >>> from resil import Run
            >>> run = Run("run")
            >>> abs(float(run.fit()["fit"][0]) - run.summary.total.fit) < 1e-12
            True
            >>> sorted(run.fit(by=["block"], outcomes=["due"])["block"])
            ['(no block)', 'cc', 'mac', 'sb']
        """
        asked = tuple(outcomes if outcomes is not None else self.summary.campaign.hazardous)
        columns = (by,) if isinstance(by, str) else tuple(by)
        if unknown := sorted(set(asked) - set(OUTCOMES)):
            raise ValueError(f"outcomes: expected some of {', '.join(OUTCOMES)}, found {', '.join(unknown)}")
        rows = self.counted()
        if unknown := sorted(set(columns) - set(rows)):
            raise ValueError(
                f"by: expected columns of injections, {', '.join(rows)}; found {', '.join(unknown)}"
            )
        question = Question.of(self._sampling, columns, asked)
        plan = self._sampling.plan
        return fit_of_domains(rows, self.drawn, self._injected(question.storage), question, plan)

    def fit_of(self, injections: Collection[int]) -> Interval:
        """Return the FIT that some injections stand for, whatever they have in common, with limits.

        As `fit` of a column that sets them apart: the limits are those of the part of all faults
        that are like them, if what they have in common was not chosen for how often it was found.

        Args:
            injections: Numbers of counted injections.

        Examples:
            >>> from resil import Run
            >>> run = Run("run")
            >>> rows = run.counted()
            >>> hazardous = rows[rows["outcome"].isin(run.summary.campaign.hazardous)]
            >>> abs(run.fit_of(hazardous["injection"]).estimate - run.summary.total.fit) < 1e-12
            True
        """
        rows = self.counted()
        own = rows["injection"].isin(list(injections))
        rows["outcome"] = np.where(own, _THESE, "")
        question = Question.of(self._sampling, (), (_THESE,))
        plan = self._sampling.plan
        row = fit_of_domains(rows, self.drawn, self._injected([]), question, plan).iloc[0]
        return Interval(float(row["fit"]), float(row["fit_lo"]), float(row["fit_hi"]), question.confidence)

    @property
    def confidence(self) -> float:
        """Of one interval from the rows of `counted`: looks at the results have used up some of the error."""
        return self._sampling.looks[-1].confidence

    @property
    def _sampling(self) -> SamplingRecord:
        sampling = self.summary.sampling
        if sampling is None:
            raise StoreError(f"{self.path}: expected a run, found results without injections", "injections/")
        return sampling

    def registers(self) -> pd.DataFrame:
        """Return a row for each register or memory, those of the largest hazardous FIT first.

        Injections are spread evenly over the bits and moments of a kind of storage in a block, so those into
        one register are a sample of its own faults: `p` is the hazardous part of them, with its exact
        (Clopper-Pearson) interval at `confidence`, and `fit` is that times `fit_raw`, the raw
        rate of its bits. Intervals hold for each register by itself; the one that leads a ranking of many was
        chosen for what was found in it, and its estimate is on the high side. A register without injections
        has no estimate (NaN), and an interval from 0 to `fit_raw`.

        Returns:
            Columns `block`, `register`, `register_class`, `kind`, `bits`, `injections`, one for each outcome,
            `hazardous` (how many injections), `p`, `p_lo`, `p_hi`, `fit_raw`, `fit`, `fit_lo`, `fit_hi`; of a
            netlist `rtl_register`, the register of the RTL that it is called after, "" if none.

        Raises:
            StoreError: the run's plan does not spread injections evenly.
        """
        import pandas as pd

        named = ["rtl_register"] if "rtl_register" in self._sites().column_names else []
        found = self._storage(["block", "register", "register_class", "kind", *named], "registers")
        rows = self.counted()
        counts = pd.crosstab([rows["block"], rows["register"]], rows["outcome"])
        counts = counts.reindex(columns=list(OUTCOMES), fill_value=0)
        found = found.merge(counts.reset_index(), how="left", on=["block", "register"])
        found[list(OUTCOMES)] = found[list(OUTCOMES)].fillna(0).astype(int)
        found.insert(found.columns.get_loc("bits") + 1, "injections", found[list(OUTCOMES)].sum(axis=1))
        found["hazardous"] = found[list(self.summary.campaign.hazardous)].sum(axis=1)
        self._judge(found)
        ranked = found.sort_values(["fit", "fit_hi", "register"], ascending=[False, False, True])
        return ranked.reset_index(drop=True)

    def classes(self) -> pd.DataFrame:
        """Return a row for each register class with its AVF, over all blocks and kinds of storage.

        What falls on a class in a kind of storage of a block is a sample of that class there, however much it
        is (post-stratification: W. G. Cochran, Sampling Techniques, 3rd ed., 1977, section 5A.9). A class is
        the weighted sum over these, by bits; where nothing fell on it, its rate there may be 1.

        Returns:
            Columns `register_class`, `bits`, `injections`, `avf`, `avf_lo`, `avf_hi`, as `classes` in
            `summary.json` has for plans that divide faults by class.

        Raises:
            StoreError: the run's plan does not spread injections evenly.
        """
        import pandas as pd

        keys = ["block", "kind", "register_class"]
        rows = self.counted()
        counted = pd.crosstab([rows[key] for key in keys], rows["outcome"]).to_dict("index")
        strata = [
            StratumCounts(name, kind, bits, counted.get((block, kind, name), {}))
            for block, kind, name, bits in self._storage(keys, "classes").itertuples(index=False)
        ]
        rates = {kind: rate for (_, kind), rate in self._raw_fit_per_bit().items()}
        hazardous = self.summary.campaign.hazardous
        found, _ = estimate_blocks(strata, rates, hazardous, self.confidence)
        rows_of_classes = [
            {
                "register_class": one.block,
                "bits": sum(one.bits.values()),
                "injections": one.injections,
                "avf": one.avf.estimate,
                "avf_lo": one.avf.lo,
                "avf_hi": one.avf.hi,
            }
            for one in sorted(found, key=lambda one: one.block)
        ]
        return pd.DataFrame(rows_of_classes)

    def blocks(self) -> pd.DataFrame:
        """Return a row for each block and the total, with the figures of `blocks.csv`."""
        import pandas as pd

        rows = (*self.summary.blocks, self.summary.total)
        return pd.DataFrame([row.model_dump(by_alias=True, exclude={"rates"}) for row in rows])

    def _storage(self, keys: list[str], what: str) -> pd.DataFrame:
        """Return the bits that were injected into by these columns; StoreError if the plan was not even."""
        plan = self._sampling.plan
        if plan not in EVENLY:
            raise StoreError(
                f"{self.path}: expected a run whose injections are spread evenly over each block (plan "
                f'{" or ".join(EVENLY)}), found plan = "{plan}", which injects more where it '
                f"says more about blocks: rates of {what} cannot be counted from it",
                "sampling.plan",
            )
        sites = self._injected(keys)[list({*keys, "kind"})].astype(str)
        return sites.groupby(keys, sort=False).size().rename("bits").reset_index()

    def _injected(self, columns: Sequence[str]) -> pd.DataFrame:
        """Return the bits that were injected into, with these columns, block, kind and register class."""
        names = {*columns, "block", "kind", "register_class"}
        stored = {"path" if name == "register" else name for name in names} - {"name"}
        table = self._sites()
        if "name" in names:
            stored |= {"path", "word", "bit", *({"pin"} & {*table.column_names})}
        real = pc.equal(table["hardware"].cast(pa.string()), Hardware.KEPT.value)
        frame: pd.DataFrame = _plain(table.filter(real).select(sorted(stored))).to_pandas()
        frame = frame[frame["kind"].isin(self.summary.campaign.kinds)].rename(columns={"path": "register"})
        texts = frame.columns.intersection(["block", "kind", "register", "register_class"])
        frame[texts] = frame[texts].astype(str)
        if "name" in names:
            frame["name"] = site_names(frame)
        return frame

    @cached_property
    def drawn(self) -> Drawn:
        """How injections were drawn, and which of them count."""
        return read_strata(self.path / STRATA)

    def _sites(self) -> pa.Table:
        return read_parquet(self.path / SITES)

    def _judge(self, registers: pd.DataFrame) -> None:
        events, trials = registers["hazardous"].to_numpy(), registers["injections"].to_numpy()
        lo, hi = clopper_pearson_limits(events, trials, self.confidence)
        registers["p"] = np.divide(events, trials, out=np.full(len(events), np.nan), where=trials > 0)
        registers["p_lo"], registers["p_hi"] = lo, hi
        if self.drawn.rated:
            raise StoreError(
                f"{self.path}: expected faults that come equally often within a block, found classes with "
                'rates of their own; ask fit(by=["register"])',
                "strata.parquet",
            )
        rates = self._raw_fit_per_bit()
        owners = zip(registers["block"], registers["kind"], strict=True)
        registers["fit_raw"] = registers["bits"] * np.array([rates[owner] for owner in owners])
        for name in ("", "_lo", "_hi"):
            registers[f"fit{name}"] = registers["fit_raw"] * registers[f"p{name}"]

    def _raw_fit_per_bit(self) -> dict[tuple[str, str], float]:
        """Raw rate of one bit, by block and kind of storage."""
        strata = self.summary.strata
        sums: dict[tuple[str, str], float] = {}
        for stratum in strata:
            owner = (stratum.block, stratum.kind)
            sums[owner] = sums.get(owner, 0.0) + stratum.fit_raw
        return {(s.block, s.kind): sums[s.block, s.kind] / s.bits for s in strata}


def site_names(frame: pd.DataFrame) -> pd.Series[str]:
    """Return bits as the source would write them: register, word of a memory, bit; of a cell its pin."""
    memory = frame["kind"].isin(("sram", *EXTERNAL_KINDS))
    word = np.where(memory, "[" + frame["word"].astype(str) + "]", "")
    names: pd.Series[str] = frame["register"].astype(str) + word + "[" + frame["bit"].astype(str) + "]"
    if "pin" not in frame:
        return names
    pins: pd.Series[str] = frame["register"].astype(str) + "/" + frame["pin"].astype(str)
    return names.where(frame["pin"].isna(), pins)


def _plain(table: pa.Table) -> pa.Table:
    return table.replace_schema_metadata(None)
