"""Whether a mutant's module is equal to the original one: Yosys' equivalence checker, with induction.

The module is taken alone, with every set of parameters that it has in the NPU: its inputs are free and its
registers may have any value, so that "equal" holds in any surroundings, while "differs" may need inputs that
never occur in the NPU.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from pyslang import Bag, ast, syntax

from benchmarks.npu.mutation.schemata import one_mutant
from benchmarks.npu.mutation.sites import Mutation

EQUAL, DIFFERS, OPEN = "equal", "differs", "open"
TIME_S = 30
_MODULE = re.compile(r"^module (\w+)", re.MULTILINE)
_TOP = "npu"
_SCRIPT = """
read_slang {gold} --top {top} {parameters} --ignore-initial --no-synthesis-define
proc; flatten; memory; opt_clean; rename -top gold; design -stash gold
read_slang {gate} --top {top} {parameters} --ignore-initial --no-synthesis-define
proc; flatten; memory; opt_clean; rename -top gate; design -stash gate
design -copy-from gold -as gold gold; design -copy-from gate -as gate gate
equiv_make gold gate equiv; hierarchy -top equiv; opt -share_all; opt_clean
equiv_simple -undef; equiv_induct -undef -seq 2; equiv_status -assert
"""
_SIDE = Path(__file__).parents[3] / "rtl_harness" / "elaboration" / "yosys_side.py"
_UNPROVEN = "unproven $equiv cells"


def equivalence(mutation: Mutation, sources: Sequence[Path], macs: int) -> str:
    """Return EQUAL, DIFFERS or OPEN; OPEN: of a package, or not decided within half a minute."""
    found = _MODULE.search(mutation.file.read_text(encoding="ascii"))
    if found is None:
        return OPEN
    results = {
        _compare(found[1], parameters, mutation, sources)
        for parameters in instances(tuple(sources), macs).get(found[1], ())
    }
    return next((result for result in (DIFFERS, OPEN) if result in results), EQUAL if results else OPEN)


@cache
def instances(sources: tuple[Path, ...], macs: int) -> dict[str, set[tuple[tuple[str, str], ...]]]:
    """Return each module of the NPU with the sets of parameters that its instances have."""
    options = ast.CompilationOptions()
    options.topModules = {_TOP}
    options.paramOverrides = [f"Macs={macs}"]
    bag = Bag()
    bag.compilationOptions = options
    compilation = ast.Compilation(bag)
    for source in sources:
        compilation.addSyntaxTree(syntax.SyntaxTree.fromFile(str(source)))
    found: dict[str, set[tuple[tuple[str, str], ...]]] = {}

    def visit(node: object) -> None:
        if isinstance(node, ast.InstanceSymbol):
            given = tuple(
                (parameter.name, str(parameter.value))
                for parameter in node.body.parameters
                if not parameter.isLocalParam
            )
            found.setdefault(node.definition.name, set()).add(given)

    compilation.getRoot().visit(visit)
    return found


def _compare(
    top: str, parameters: tuple[tuple[str, str], ...], mutation: Mutation, sources: Sequence[Path]
) -> str:
    with tempfile.TemporaryDirectory(prefix="resil-equivalence-") as name:
        folder = Path(name)
        mutant = folder / mutation.file.name
        mutant.write_text(one_mutant(mutation), encoding="ascii")
        own = mutation.file.resolve()
        gate = [mutant if source.resolve() == own else source for source in sources]
        script = _SCRIPT.format(
            gold=" ".join(map(str, sources)),
            gate=" ".join(map(str, gate)),
            top=top,
            parameters=" ".join(f"-G {key}={value}" for key, value in parameters),
        )
        (folder / "script.ys").write_text(script.replace("; ", "\n"), encoding="ascii")
        try:
            done = subprocess.run(
                [sys.executable, str(_SIDE), "script.ys"],
                cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIME_S,
                check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return OPEN
    if done.returncode == 0:
        return EQUAL
    return DIFFERS if _UNPROVEN in done.stdout + done.stderr else OPEN
