# SPDX-License-Identifier: Apache-2.0
"""A finished run for Python: its injections, registers and blocks as data frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from resil.campaign.sampling_settings import EVENLY
from resil.errors import StoreError
from resil.files import read_parquet
from resil.folder.contents import content_of
from resil.folder.finished import finished_run
from resil.folder.store import INJECTIONS, SITES
from resil.rtl_harness.design.sites import EXTERNAL_KINDS, Hardware
from resil.stats.intervals import clopper_pearson_limits
from resil.stats.rates import OUTCOMES, StratumCounts, estimate_blocks

if TYPE_CHECKING:
    import pandas as pd


class Run:
    """A finished run.

    Attributes:
        path: The run folder.
        summary: Content of `summary.json`; `docs/files.md` explains its keys.

    Raises:
        StoreError: the folder is none of a run, is of another version, unfinished, damaged or altered, or is
            an estimate; the message says which, and what to do.
        ConsistencyError: the run has failed an audit: its results are void.
    """

    def __init__(self, path: str | Path) -> None:
        found = finished_run(Path(path))
        self.path: Path = found.path
        self.summary: Mapping[str, Any] = found.summary

    def __repr__(self) -> str:
        verdict, injections = self.summary["verdict"]["result"], self.summary["campaign"]["injections"]
        return f"Run({str(self.path)!r}: {injections:,} injections, verdict {verdict})"

    def injections(self) -> pd.DataFrame:
        """Return a row for each injection, in the order of their numbers.

        Columns are those of the part files (`docs/files.md`), and of the site that was hit: `register` (its
        path), `register_class`, `name` (register, word of a memory, and bit, as the source would write it).
        `outcome` is judged as the run's results are: an alarm beyond the fault-tolerant time of `[safety]` is
        none.
        """
        parts = sorted((self.path / INJECTIONS).glob("part-*.parquet"))
        rows = pa.concat_tables([_plain(read_parquet(part)) for part in parts])
        judged = content_of(rows).within(self.summary["campaign"]["detection_cycles"]).outcomes
        names = pa.array(OUTCOMES, pa.string()).take(pa.array(judged))
        rows = rows.set_column(rows.schema.get_field_index("outcome"), "outcome", names)
        classes = pc.cast(self._sites()["register_class"], pa.string())
        rows = rows.append_column("register_class", classes.take(rows["site"]))
        frame: pd.DataFrame = rows.sort_by("injection").to_pandas()
        frame = frame.rename(columns={"path": "register"})
        word = np.where(
            frame["kind"].isin(("sram", *EXTERNAL_KINDS)), "[" + frame["word"].astype(str) + "]", ""
        )
        frame["name"] = frame["register"] + word + "[" + frame["bit"].astype(str) + "]"
        return frame

    def counted(self) -> pd.DataFrame:
        """Return the rows of `injections` that the run's figures rest on.

        A pilot decided how many injections each kind of storage of each block gets; counted with them, where
        it found nothing would be sampled less and keep that luck. A pilot is the first draws of each stratum,
        what counts are those after it; what earlier results of this folder needed beyond these does not.

        Raises:
            StoreError: the folder holds other injections than the plan asked for, and the run was made before
                runs said where their pilot went, so which count is not known.
        """
        rows = self.injections()
        sampling = self.summary["sampling"]
        pilot: int = sampling["pilot"]
        if not pilot:
            return rows
        counted = _by_place(
            (own["block"], own["kind"], sum(own["counts"].values())) for own in self.summary["strata"]
        )
        groups = rows.groupby(["block", "kind"], sort=False)
        if "pilots" in sampling:
            before = _by_place((own["block"], own["kind"], own["injections"]) for own in sampling["pilots"])
        else:
            before = {place: len(found) - counted.get(place, 0) for place, found in groups}
        places = list(zip(rows["block"], rows["kind"], strict=True))
        first = np.array([before.get(place, 0) for place in places])
        last = first + np.array([counted.get(place, 0) for place in places])
        draw = groups.cumcount().to_numpy()
        found = rows[(draw >= first) & (draw < last)]
        if sum(before.values()) != pilot or len(found) != sum(counted.values()):
            raise StoreError(
                f"{self.path}: expected {sum(counted.values()) + pilot:,} injections, {pilot:,} of them of a "
                f"pilot, found {len(rows):,}: which are of the pilot is not known; run the campaign in a new "
                "folder"
            )
        return found.reset_index(drop=True)

    @property
    def confidence(self) -> float:
        """Of one interval from the rows of `counted`: looks at the results have used up some of the error."""
        return float(self.summary["sampling"]["looks"][-1]["confidence"])

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
            `hazardous` (how many injections), `p`, `p_lo`, `p_hi`, `fit_raw`, `fit`, `fit_lo`, `fit_hi`.

        Raises:
            StoreError: the run's plan does not spread injections evenly.
        """
        import pandas as pd

        keys = ["block", "path", "register_class", "kind"]
        found = self._storage(keys, "registers")
        found = found.rename(columns={"path": "register"})
        rows = self.counted()
        counts = pd.crosstab([rows["block"], rows["register"]], rows["outcome"])
        counts = counts.reindex(columns=list(OUTCOMES), fill_value=0)
        found = found.merge(counts.reset_index(), how="left", on=["block", "register"])
        found[list(OUTCOMES)] = found[list(OUTCOMES)].fillna(0).astype(int)
        found.insert(5, "injections", found[list(OUTCOMES)].sum(axis=1))
        found["hazardous"] = found[self.summary["campaign"]["hazardous"]].sum(axis=1)
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
        hazardous = self.summary["campaign"]["hazardous"]
        found, _ = estimate_blocks(strata, rates, hazardous, self.confidence)
        kept = ("injections", "avf", "avf_lo", "avf_hi")
        told = [
            {"register_class": one.block, "bits": sum(one.bits.values())}
            | {key: one.as_row()[key] for key in kept}
            for one in sorted(found, key=lambda one: one.block)
        ]
        return pd.DataFrame(told)

    def blocks(self) -> pd.DataFrame:
        """Return a row for each block and the total, with the figures of `blocks.csv`."""
        import pandas as pd

        rows = [*self.summary["blocks"], self.summary["total"]]
        return pd.DataFrame([{key: value for key, value in row.items() if key != "rates"} for row in rows])

    def _storage(self, keys: list[str], what: str) -> pd.DataFrame:
        """Return the bits that were injected into by these columns; StoreError if the plan was not even."""
        plan = self.summary["sampling"]["plan"]
        if plan not in EVENLY:
            raise StoreError(
                f"{self.path}: expected a run whose injections are spread evenly over each block (plan "
                f'{" or ".join(EVENLY)}), found plan = "{plan}", which injects more where it '
                f"tells more about blocks: rates of {what} cannot be counted from it"
            )
        table = self._sites()
        real = pc.equal(table["hardware"].cast(pa.string()), Hardware.KEPT.value)
        sites = table.filter(real).select(list({*keys, "kind"})).to_pandas().astype(str)
        kinds = self.summary["campaign"]["kinds"]
        bits = sites[sites["kind"].isin(kinds)].groupby(keys, sort=False).size()
        return bits.rename("bits").reset_index()

    def _sites(self) -> pa.Table:
        return read_parquet(self.path / SITES)

    def _judge(self, registers: pd.DataFrame) -> None:
        events, trials = registers["hazardous"].to_numpy(), registers["injections"].to_numpy()
        lo, hi = clopper_pearson_limits(events, trials, self.confidence)
        registers["p"] = np.divide(events, trials, out=np.full(len(events), np.nan), where=trials > 0)
        registers["p_lo"], registers["p_hi"] = lo, hi
        rates = self._raw_fit_per_bit()
        owners = zip(registers["block"], registers["kind"], strict=True)
        registers["fit_raw"] = registers["bits"] * np.array([rates[owner] for owner in owners])
        for name in ("", "_lo", "_hi"):
            registers[f"fit{name}"] = registers["fit_raw"] * registers[f"p{name}"]

    def _raw_fit_per_bit(self) -> dict[tuple[str, str], float]:
        """Raw rate of one bit, by block and kind of storage."""
        strata = self.summary["strata"]
        sums: dict[tuple[str, str], float] = {}
        for stratum in strata:
            owner = (stratum["block"], stratum["kind"])
            sums[owner] = sums.get(owner, 0.0) + stratum["fit_raw"]
        return {(s["block"], s["kind"]): sums[s["block"], s["kind"]] / s["bits"] for s in strata}


def _by_place(numbers: Iterable[tuple[str, str, int]]) -> dict[tuple[str, str], int]:
    """Return sums by block and kind of storage."""
    sums: dict[tuple[str, str], int] = {}
    for block, kind, number in numbers:
        sums[block, kind] = sums.get((block, kind), 0) + number
    return sums


def _plain(table: pa.Table) -> pa.Table:
    return table.replace_schema_metadata(None)
