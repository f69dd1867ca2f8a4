# SPDX-License-Identifier: Apache-2.0
"""Which way three commands take through the code: what a reader who follows one has to open.

    python -m benchmarks.house.walks [--injections N] [--json]

A campaign on the small design of `examples/awkward`, a plan for its run, and a study of one cell. Each runs
once to build what it needs and to import its modules, and once again, counted: functions and files that are
entered; rooms, as the tables of ARCHITECTURE.md have them; crossings, which are pairs of functions in two
rooms of which one called the other; and climbs. A climb is a crossing to a room that the caller's room does
not import, not even through others: a callback, or a method behind an interface. Code of others in between
is passed over, and what runs in processes of workers is not seen.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import dis
import io
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import CodeType, FrameType

from resil.cli import main as command

ROOT = Path(__file__).resolve().parents[2]
AWKWARD = ROOT / "examples" / "awkward"
PARTS = ("resil", "rtl_harness", "networks", "stats", "reports")
# Exit codes of an answer, whatever it is: met, missed, inconclusive.
ANSWERED = {0, 1, 3}
STUDY = """
[study]
name = "one cell"
seed = 11
[[target]]
file = "{0}/target.toml"
[[workload]]
name = "two pages"
decision = "exact"
parameters = {{ SourceWords = 64 }}
images = [{{ memory = "source", files = ["{0}/source0.hex", "{0}/source1.hex"] }}]
output = {{ memory = "sink", offset = 0, shape = [12, 4], dtype = "uint64" }}
[faults]
kinds = ["ff", "sram"]
injections = {1}
[technology]
name = "finfet-16nm"
[budget]
fit = 1.0
rationale = "anything will do"
"""


@dataclass(frozen=True)
class Counts:
    """What a command enters.

    Attributes:
        functions: With a name: no lambda, no comprehension.
        files: In which they are.
        rooms: In which these are.
        crossings: Pairs of functions in two rooms of which one called the other.
        climbs: Those to a room that the caller's does not import.
    """

    functions: int
    files: int
    rooms: int
    crossings: int
    climbs: int


def room_of(file: Path) -> str:
    """Return the room of a source file, below the root of the project."""
    top, *inner = file.with_suffix("").parts
    if top not in ("resil", "rtl_harness"):
        return top
    if inner[0] == "engine":
        return ".".join((top, *inner[:-1]))
    return f"{top}.{inner[0]}"


def rooms_below() -> dict[str, set[str]]:
    """Return for each room those that it imports, itself or through others."""
    direct: dict[str, set[str]] = {}
    for part in PARTS:
        for file in (ROOT / part).rglob("*.py"):
            own = direct.setdefault(room_of(file.relative_to(ROOT)), set())
            own |= {room_of(found) for found in _imported(ast.parse(file.read_text(encoding="utf-8")))}
    found = {room: set(below) for room, below in direct.items()}
    while any(_widen(below, found) for below in found.values()):
        pass
    return found


def _widen(below: set[str], found: dict[str, set[str]]) -> bool:
    before = len(below)
    below.update(*(found[room] for room in below if room in found))
    return len(below) > before


def _imported(tree: ast.AST) -> Iterator[Path]:
    """Yield the source files that a module imports when it runs."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("resil"):
            place = _place(node.module or "")
            yield from (place / alias.name if (ROOT / place).is_dir() else place for alias in node.names)
        yield from _imported(node)


def _place(module: str) -> Path:
    names = module.split(".")
    return Path(*(names[1:] if len(names) > 1 and names[1] in PARTS else names))


class Walk:
    """Counts what is entered while it is in force, in the thread that starts it."""

    def __init__(self) -> None:
        self._rooms: dict[str, str | None] = {}
        self._functions: set[CodeType] = set()
        self._crossings: set[tuple[CodeType, CodeType]] = set()

    def __enter__(self) -> Walk:
        sys.setprofile(self._entered)
        return self

    def __exit__(self, *error: object) -> None:
        sys.setprofile(None)

    def counts(self, below: dict[str, set[str]]) -> Counts:
        """Return what was entered; `below` says which rooms each imports."""
        files = {code.co_filename for code in self._functions}
        climbs = [
            (caller, called)
            for caller, called in self._crossings
            if self._room(called) not in below.get(str(self._room(caller)), set())
        ]
        return Counts(
            len(self._functions),
            len(files),
            len({self._room(code) for code in self._functions}),
            len(self._crossings),
            len(climbs),
        )

    def _entered(self, frame: FrameType, event: str, _given: object) -> None:
        code = frame.f_code
        if event != "call" or self._room(code) is None or _goes_on(frame):
            return
        if not code.co_name.startswith("<"):
            self._functions.add(code)
        caller = frame.f_back
        while caller is not None and self._room(caller.f_code) is None:
            caller = caller.f_back
        if caller is not None and self._room(caller.f_code) != self._room(code):
            self._crossings.add((caller.f_code, code))

    def _room(self, code: CodeType) -> str | None:
        """Return the room of a function; None of code that is not of the package."""
        name = code.co_filename
        if name not in self._rooms:
            path = Path(name)
            inside = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in PARTS
            self._rooms[name] = room_of(path.relative_to(ROOT)) if inside else None
        return self._rooms[name]


def _goes_on(frame: FrameType) -> bool:
    """Whether a generator goes on behind a yield, and is not entered."""
    at = frame.f_lasti
    code = frame.f_code.co_code
    return at >= 0 and code[at] == dis.opmap["RESUME"] and code[at + 1] > 0


def _command(*words: object) -> Callable[[], None]:
    def run() -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            code = command([str(word) for word in words])
        if code not in ANSWERED:
            raise SystemExit(f"resil {' '.join(map(str, words))}: expected an answer, found exit code {code}")

    return run


def measure(injections: int) -> dict[str, Counts]:
    """Return what each of the three commands enters."""
    below = rooms_below()
    found: dict[str, Counts] = {}
    with tempfile.TemporaryDirectory() as name:
        for turn in ("first", "counted"):
            folder = Path(name) / turn
            folder.mkdir()
            (folder / "study.toml").write_text(STUDY.format(AWKWARD, injections), encoding="utf-8")
            run = folder / "run"
            size = ("--set", f"faults.injections={injections}", "--set", "execution.workers=1")
            commands = {
                "campaign": _command("run", AWKWARD / "campaign.toml", "--out", run, "--quiet", *size),
                "plan": _command("protect", run, "--budget-fit", "1e-4", "--quiet"),
                "study of one cell": _command(
                    "study", folder / "study.toml", "--out", folder / "study", "--quiet"
                ),
            }
            for what, action in commands.items():
                with Walk() as walk:
                    action()
                found[what] = walk.counts(below)
    return found


def main() -> None:
    """Print what each command enters."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--injections", type=int, default=400)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = measure(arguments.injections)
    if arguments.json:
        print(json.dumps({what: asdict(counts) for what, counts in found.items()}, indent=1))
        return
    print(f"{'':18}" + "".join(f"{name:>11}" for name in asdict(next(iter(found.values())))))
    for what, counts in found.items():
        print(f"{what:18}" + "".join(f"{value:11,}" for value in asdict(counts).values()))


if __name__ == "__main__":
    main()
