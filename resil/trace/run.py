# SPDX-License-Identifier: Apache-2.0
"""A finished run for Python, whose injections can be followed too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resil.results.run import FinishedRun

if TYPE_CHECKING:
    from resil.record.trace import Trace


class Run(FinishedRun):
    """A finished run.

    Attributes:
        path: The run folder.
        summary: The results, by the fields of `summary.json`; `docs/reference/files.md` explains these.

    Raises:
        StoreError: the folder is none of a run, is of another version, unfinished, damaged or altered, or is
            an estimate; the message says which, and what to do.
        ConsistencyError: the run has failed an audit: its results are void.

    Examples:
        Which operation of the network fails in which block, in FIT with limits:

        >>> from resil import Run
        >>> run = Run("run")
        >>> worst = run.fit(by=["operation", "block"])
        >>> list(worst.columns)
        ['operation', 'block', 'injections', 'events', 'fit', 'fit_lo', 'fit_hi']
        >>> bool((worst["fit_lo"] <= worst["fit"]).all())
        True

        The same by hand: each injection stands for the FIT in its column `weight`.

        >>> rows = run.injections()
        >>> hazardous = rows["outcome"].isin(run.summary.campaign.hazardous)
        >>> total = float((rows["weight"] * hazardous).sum())
        >>> abs(total - run.summary.total.fit) < 1e-12
        True
    """

    def trace(self, injection: int) -> Trace:
        """Return how the fault of an injection spread, by the fields of `resil trace --json`.

        It is simulated beside the run without a fault, so what made the run has to be there.

        Args:
            injection: Its number, as in the column `injection` of `injections`.

        Raises:
            ConsistencyError: something else came of it than is stored.
            HarnessError: it is a stuck bit, or one of two inferences.
            ResilError: it cannot be traced.
            StoreError: the run has no such injection, or was made with something else than what is here now.
        """
        from resil.trace.fault import trace_injection

        return trace_injection(self.path, injection)
