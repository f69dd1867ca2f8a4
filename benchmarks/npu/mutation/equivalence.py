# SPDX-License-Identifier: Apache-2.0
"""Whether a mutant's module is equal to the original one: Yosys' equivalence checker, with induction.

The module is taken alone, with every set of parameters that it has in the NPU: its inputs are free and its
registers may have any value, so that "equal" holds in any surroundings, while "differs" may need inputs that
never occur in the NPU. Of a function in a package, all modules that call it are compared.
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

from testkit.npu.mutation.schemata import one_mutant
from testkit.npu.mutation.sites import Mutation

EQUAL, DIFFERS, OPEN = "equal", "differs", "open"
TIME_S = 20
_MODULE = re.compile(r"^module (\w+)", re.MULTILINE)
_FUNCTION = re.compile(r"^ +function automatic [^(]*?(\w+)\(.*?endfunction", re.MULTILINE | re.DOTALL)
_TOP = "npu"
_SCRIPT = """
read_slang {gold} --top {top} {parameters} --ignore-initial --no-synthesis-define
proc; flatten; memory; async2sync; opt_expr; opt_clean; {hide}; rename -top gold; design -stash gold
read_slang {gate} --top {top} {parameters} --ignore-initial --no-synthesis-define
proc; flatten; memory; async2sync; opt_expr; opt_clean; {hide}; rename -top gate; design -stash gate
design -copy-from gold -as gold gold; design -copy-from gate -as gate gate
equiv_make gold gate equiv; hierarchy -top equiv; opt -share_all; opt_clean
equiv_simple -undef; {induct}; equiv_status -assert
"""
# Signals of one name are compared, which helps where they are equal. Where they differ though registers and
# outputs do not, they must be hidden.
_SHOWN = "select -clear"
_HIDDEN = "rename -hide w:* t:$*ff* %co1:+[Q] w:* %i %d"
_INDUCT = "equiv_induct -undef -seq 2"
_SIDE = Path(__file__).parents[3] / "rtl_harness" / "design" / "elaboration" / "yosys_side.py"
_UNPROVEN = "unproven $equiv cells"


def equivalence(mutation: Mutation, sources: Sequence[Path], macs: int) -> str:
    """Return EQUAL, DIFFERS or OPEN; OPEN: in no module or function, or not decided in time."""
    there = instances(tuple(sources), macs)
    for module in _modules(mutation, sources):
        for parameters in there.get(module, ()):
            result = _compare(module, parameters, mutation, sources)
            if result != EQUAL:
                return result
    return EQUAL if set(_modules(mutation, sources)) & set(there) else OPEN


def _modules(mutation: Mutation, sources: Sequence[Path]) -> list[str]:
    """Return the names of the modules whose function the mutation can change."""
    text = mutation.file.read_text(encoding="ascii")
    found = _MODULE.search(text)
    if found is not None:
        return [found[1]]
    functions = [(m[1], m.start(), m.end()) for m in _FUNCTION.finditer(text)]
    changed = [name for name, start, end in functions if start <= mutation.start < end]
    for name in changed:
        used = re.compile(rf"\b{name}\s*\(")
        changed += [n for n, start, end in functions if n not in changed and used.search(text, start, end)]
    texts = [source.read_text(encoding="ascii") for source in sources]
    return [
        module[1]
        for other in texts
        if (module := _MODULE.search(other)) is not None
        and any(re.search(rf"\b{name}\b", other) for name in changed)
    ]


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
    shown = _run(top, parameters, mutation, sources, _SHOWN, "")
    if shown != DIFFERS:
        return shown
    hidden = _run(top, parameters, mutation, sources, _HIDDEN, _INDUCT)
    return DIFFERS if hidden == OPEN else hidden


def _run(
    top: str,
    parameters: tuple[tuple[str, str], ...],
    mutation: Mutation,
    sources: Sequence[Path],
    hide: str,
    induct: str,
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
            hide=hide,
            induct=induct,
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
