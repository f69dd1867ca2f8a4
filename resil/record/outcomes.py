# SPDX-License-Identifier: Apache-2.0
"""The six outcomes of an injection as reports name and explain them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OutcomeText:
    """How one outcome is presented.

    Attributes:
        key: Its name in files.
        title: Its name in tables and figures.
        short: Its name where space is scarce.
        meaning: One sentence for the reader.
        failure_mode: Its name as a failure mode in an FMEDA.
    """

    key: str
    title: str
    short: str
    meaning: str
    failure_mode: str

    @property
    def phrase(self) -> str:
        """Its name within a sentence: "critical SDC"."""
        first, _, rest = self.title.partition(", ")
        return f"{rest} {first}" if rest else first


OUTCOMES = (
    OutcomeText(
        "masked", "masked", "masked", "Outputs and final state equal the fault-free run's.", "No effect"
    ),
    OutcomeText(
        "latent",
        "latent state",
        "latent state",
        "Outputs equal the fault-free run's; the final state of the hardware does not. This is "
        "not ISO 26262's latent fault.",
        "Latent state: altered storage, correct result",
    ),
    OutcomeText(
        "sdc_tolerable",
        "SDC, tolerable",
        "SDC tol.",
        "Outputs differ silently; the network's decision is the same.",
        "Silently altered output, decision unchanged",
    ),
    OutcomeText(
        "sdc_critical",
        "SDC, critical",
        "SDC crit.",
        "Outputs differ silently, and so does the network's decision.",
        "Silently wrong decision",
    ),
    OutcomeText(
        "due",
        "detected (DUE)",
        "DUE",
        "The hardware itself reported an error: detected, not corrected.",
        "Detected error, no valid result",
    ),
    OutcomeText(
        "hang", "hang", "hang", "The inference did not end within its time-out.", "No end of inference"
    ),
)

# What fails silently: hazardous unless a campaign says otherwise.
HAZARDOUS = ("sdc_critical", "hang")
OUTCOME_KEYS = tuple(outcome.key for outcome in OUTCOMES)
