# SPDX-License-Identifier: Apache-2.0
"""All mutants that there are, of both engines."""

from __future__ import annotations

from benchmarks.engine.mutants.fast_engine import FAST_ENGINE
from benchmarks.engine.mutants.logic_engine import LOGIC_ENGINE

MUTANTS = (*FAST_ENGINE, *LOGIC_ENGINE)
