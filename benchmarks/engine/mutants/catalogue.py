# SPDX-License-Identifier: Apache-2.0
"""All mutants that there are: of both engines, and of what goes with that of logic."""

from __future__ import annotations

from benchmarks.engine.mutants.fast_engine import FAST_ENGINE
from benchmarks.engine.mutants.logic_engine import LOGIC_ENGINE
from benchmarks.engine.mutants.logic_netlist import LOGIC_NETLIST

MUTANTS = (*FAST_ENGINE, *LOGIC_ENGINE, *LOGIC_NETLIST)
