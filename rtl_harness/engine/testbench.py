# SPDX-License-Identifier: Apache-2.0
"""A cocotb test of the user's, as what drives a design: the test itself decides what came of a run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from resil.rtl_harness.design.target import Parameters, Target

# What a run of a test leaves: one byte, 1 if it has passed.
PASSED, FAILED = b"\x01", b"\x00"


@dataclass(frozen=True)
class CocotbTest:
    """A test, and what a Makefile would say beside toplevel and sources.

    Attributes:
        module: Python module, with dots.
        name: Of the test in it, as cocotb names it.
        seed: Of cocotb's random numbers, `COCOTB_RANDOM_SEED`.
        python_path: Folders in which modules are found.
        plusargs: Arguments of the simulator.
        environment: Variables of its environment.
        failures: Names of exceptions that count as a failed test beside assertions.
        files: What the test reads, by the path in the folder that it runs in.
    """

    module: str
    name: str
    seed: int
    python_path: tuple[Path, ...] = ()
    plusargs: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    failures: tuple[str, ...] = ()
    files: Mapping[str, Path] = field(default_factory=dict)

    @property
    def arguments(self) -> list[str]:
        """Plusargs as the simulator takes them."""
        return [f"+{argument.removeprefix('+')}" for argument in self.plusargs]

    @property
    def pattern(self) -> str:
        """The regular expression of its full name, as cocotb filters tests."""
        return f"^{re.escape(f'{self.module}.{self.name}')}$"

    @property
    def label(self) -> str:
        """Module and test."""
        return f"{self.module}:{self.name}"


@dataclass(frozen=True)
class Driven:
    """A design that a test drives.

    Attributes:
        test: The test.
        design: The design alone, as the simulator has it: what the test calls its toplevel.
        parameters: Of its top.
        instance: What the design is in the target of the workload, where paths begin.
    """

    test: CocotbTest
    design: Target
    parameters: Parameters
    instance: str
