# SPDX-License-Identifier: Apache-2.0
"""A target without a bench, closed by recordings: the bench that replays them, and what it is given."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypedDict

from resil.rtl_harness.cache import cached_folder, content_key, write_atomically
from resil.rtl_harness.design.target import PACKAGE, Parameters, Replay, Target, TargetMemory
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.replay.bench import (
    BENCH,
    CLOCK,
    DONE,
    DRIVEN,
    DRIVEN_ARRAY,
    INSTANCE,
    RECORDING,
    RECORDING_ARRAY,
    RESET,
    RESULT,
    RESULT_ARRAY,
    bench_text,
    passed_on,
    plusarg,
    stream_name,
    words_parameter,
)
from resil.rtl_harness.replay.feedback import (
    Answered,
    answered_buses,
    check_rules,
    part_files,
    part_memories,
)
from resil.rtl_harness.replay.images import words_of_stream
from resil.rtl_harness.replay.layout import FLAGS, AnsweredBus, Level, ReplayLayout, WordStream
from resil.rtl_harness.replay.ports import TopPort, read_top
from resil.rtl_harness.replay.recording import Recording, Span, read_recording
from resil.rtl_harness.replay.split import split_sources
from resil.rtl_harness.replay.strobes import Ruled, Strobe, ruled

_MEMORY = PACKAGE / "bench" / "resil_replay_mem.sv"
# Memories are built in multiples of so many words, so that recordings of like lengths share a build.
_STEP = 64
# The path of the top itself in the block map of a target without a bench.
ITSELF = "."


@dataclass(frozen=True)
class ReplayRequest:
    """What is replayed, and what is compared.

    Attributes:
        spans: Of recordings, one for each input.
        strobes: Rows of the table of strobes.
        clocks: Clocks of the top besides the target's.
        sampled: "before" or "at" the edges.
        at_edge: Inputs whose values are those at the edges even so.
        parameters: Of the top, in place of the target's.
        closed: Buses that parts of the bench answer, in place of the recordings.
    """

    spans: tuple[Span, ...]
    strobes: tuple[Strobe, ...] = ()
    clocks: tuple[str, ...] = ()
    sampled: str = "before"
    at_edge: tuple[str, ...] = ()
    parameters: Parameters | None = None
    closed: tuple[Answered, ...] = ()


@dataclass(frozen=True)
class Closed:
    """A target that recordings close.

    Attributes:
        target: With the bench.
        layout: Of the bench and its memories.
        rules: What is compared when.
        recordings: One for each input.
        parameters: Of the bench: how many words its memories have.
    """

    target: Target
    layout: ReplayLayout
    rules: tuple[Ruled, ...]
    recordings: tuple[Recording, ...]
    parameters: Mapping[str, int]

    @property
    def run_cycles(self) -> tuple[int, ...]:
        """Edges of the clock in each run without a fault: those of the recording, and the one that ends it.

        Empty with several clocks, where a cycle of the run is none of a clock.
        """
        return () if self.layout.by_edges else tuple(own.cycles + 1 for own in self.recordings)


def close_by_recordings(target: Target, asked: ReplayRequest, file: Path) -> Closed:
    """Return a target with a bench that replays recordings.

    Args:
        target: Without a bench: its top is the design under test. Or one that recordings have closed, whose
            RTL may have been changed since, by protection for instance.
        asked: What is replayed and compared.
        file: Of the target.

    Raises:
        HarnessError: The target has a bench of its own, its ports are not those of the recording, or what is
            asked does not fit them.
    """
    bare, source = target, file
    if target.replay is not None:
        from resil.rtl_harness.design.target import load_target

        source = target.replay.of
        bare = load_target(source)
    elif not target.is_open:
        raise HarnessError(
            f"target {target.name}: expected the design alone where a recording drives it, found dut = "
            f'"{target.dut}"; name the design as top and leave out dut, done and memories',
            "dut",
        )
    parameters = {**bare.parameters, **(asked.parameters or {})}
    ports, values = read_top(bare, parameters)
    clocks = _clocks(bare, asked, ports)
    answered = answered_buses(ports, asked.closed)
    _require_free(answered, clocks)
    if answered and asked.sampled == "at":
        raise HarnessError(
            f'target {target.name}: sampled: expected "before" where a part of the bench answers a bus, '
            'found "at": inputs that change together with the clock leave open which values of the bus a '
            "part sees; let the testbench change them after the clock, and record again, or leave the bus to "
            "the recording",
            "sampled",
        )
    rules = ruled(asked.strobes, ports, {alarm.output for alarm in bare.alarms.values()})
    rules = (*rules, *check_rules(answered, _reset(bare, ports)))
    at_edge = _at_edge(bare, asked, ports, clocks)
    recordings = tuple(
        read_recording(s, ports, clocks, asked.sampled, _optional(ports, rules, answered), at_edge, values)
        for s in asked.spans
    )
    layout = _layout(ports, clocks, asked.sampled, rules, answered, _same_clocks(recordings))
    digest = content_key(json.dumps(_plain(layout)), f"{FLAGS} flags")
    words = _words(layout, recordings)
    if target.replay is None:
        with_bench = _with_bench(target, layout, parameters, Replay(source, digest))
        return Closed(with_bench, layout, rules, recordings, words)
    if target.replay.layout != digest:
        raise HarnessError(
            f"target {target.name}: replay: expected the recordings and strobes that its bench was made for, "
            "found others: the bench would compare other bits; take the campaign's own, or build it again",
            "replay.layout",
        )
    return Closed(target, layout, rules, recordings, words)


def _clocks(target: Target, asked: ReplayRequest, ports: Sequence[TopPort]) -> tuple[str, ...]:
    known = [port.name for port in ports if port.direction == "input" and port.width == 1]
    clocks = tuple(dict.fromkeys([target.clock, *asked.clocks]))
    for name in clocks:
        if name not in known:
            raise HarnessError(
                f"target {target.name}: clock: expected an input of one bit ({', '.join(known)}), found "
                f'"{name}"; correct the name',
                "clock",
            )
    return clocks


def _reset(target: Target, ports: Sequence[TopPort]) -> Level | None:
    found = [port for port in ports if port.name == target.reset]
    return Level(found[0], 0, not target.reset_active_low) if found else None


def _at_edge(
    target: Target, asked: ReplayRequest, ports: Sequence[TopPort], clocks: Sequence[str]
) -> tuple[str, ...]:
    known = [port.name for port in ports if port.direction == "input" and port.name not in clocks]
    for name in asked.at_edge:
        if name not in known:
            raise HarnessError(
                f"target {target.name}: at_edge: expected inputs that are no clocks ({', '.join(known)}), "
                f'found "{name}"; correct the name',
                "at_edge",
            )
    return asked.at_edge


def _plain(layout: ReplayLayout) -> dict[str, object]:
    """Return a layout as plain values; what it does not have is left out, as in older ones."""
    found = asdict(layout)
    same = all(port.holder is None for port, _ in layout.clock_ports)
    left_out = {"clock_ports"} if same else set()
    left_out |= set() if layout.answered else {"answered"}
    return {key: _without_holders(value) for key, value in found.items() if key not in left_out}


def _without_holders(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        plain = {"holder": None, "is_union": False}
        return {k: _without_holders(v) for k, v in value.items() if k not in plain or v != plain[k]}
    return [_without_holders(own) for own in value] if isinstance(value, list | tuple) else value


def _same_clocks(recordings: Sequence[Recording]) -> dict[str, int]:
    """Return inputs of interfaces that are one of the clocks in all recordings, and which."""
    found = [own.same_clocks for own in recordings]
    return {
        name: number for name, number in found[0].items() if all(own.get(name) == number for own in found)
    }


def _require_free(answered: Sequence[AnsweredBus], clocks: Sequence[str]) -> None:
    memories = {RECORDING, RESULT, DRIVEN}
    for own in answered:
        taken = [port.name for port in own.answers if port.name in clocks]
        if (
            taken
            or own.memory in memories
            or own.memory.startswith("stream")
            or not own.memory.isidentifier()
        ):
            raise HarnessError(
                f"closed: expected a memory with a name of its own (letters, digits, _; not {RECORDING}, "
                f"{RESULT}, {DRIVEN}, stream...) at a bus without clocks, found "
                f"{own.memory} at {own.title}; rename it",
                "closed.memory",
            )


def _optional(ports: Sequence[TopPort], rules: Sequence[Ruled], answered: Sequence[AnsweredBus]) -> list[str]:
    """Return the outputs, and answers of parts, whose recorded values nothing needs."""
    free = {port.name for own in answered for port in own.answers}
    needed = {own.port.name for rule in rules for own in rule.outputs}
    needed |= {own.port.name for rule in rules for own in rule.when}
    needed |= {port.name for rule in rules if rule.reads for port in rule.reads.ports}
    optional = [port.name for port in ports if port.direction == "output" or port.name in free]
    return [name for name in optional if name not in needed]


def _layout(
    ports: Sequence[TopPort],
    clocks: Sequence[str],
    sampled: str,
    rules: Sequence[Ruled],
    answered: tuple[AnsweredBus, ...],
    same: Mapping[str, int],
) -> ReplayLayout:
    numbers = {**same, **{name: number for number, name in enumerate(clocks)}}
    taken = {*numbers, *(port.name for own in answered for port in own.answers)}
    return ReplayLayout(
        tuple(clocks),
        sampled,
        tuple(port for port in ports if port.is_driven and port.name not in taken),
        tuple(port for port in ports if port.drives),
        tuple(own for rule in rules if not rule.strobe.stream for own in rule.outputs),
        tuple(WordStream(rule.when, rule.outputs) for rule in rules if rule.strobe.stream),
        answered,
        tuple((port, numbers[port.name]) for port in ports if port.name in numbers),
    )


def _words(layout: ReplayLayout, recordings: Sequence[Recording]) -> dict[str, int]:
    """Return the parameters of the bench that say how many words its memories have."""
    needed = {RECORDING: max(own.cycles for own in recordings)}
    if layout.inouts:
        needed[DRIVEN] = needed[RECORDING]
    for number, stream in enumerate(layout.streams):
        needed[stream_name(number)] = 1 + max(len(words_of_stream(own, stream.when)) for own in recordings)
    return {words_parameter(name): -(-words // _STEP) * _STEP for name, words in needed.items()}


def _with_bench(target: Target, layout: ReplayLayout, parameters: Parameters, replay: Replay) -> Target:
    named = {key: value for key, value in target.outputs.items() if key != "done"}
    known = {port.name for port in layout.outputs if not port.is_driven}
    for key, output in named.items():
        if output not in known:
            raise HarnessError(
                f"target {target.name}: {key}: expected an output of {target.top} "
                f'({", ".join(sorted(known))}), found "{output}"; correct the name',
                key,
            )
    inputs = {port.name for port in layout.inputs if port.width == 1 and not port.drives}
    if target.reset and target.reset not in inputs:
        raise HarnessError(
            f"target {target.name}: reset: expected an input of one bit of {target.top}, found "
            f'"{target.reset}"; correct the name, or leave it out: the recording drives it',
            "reset",
        )
    resets = {target.reset: target.reset_active_low} if target.reset else {}
    text = bench_text(layout, target.top, parameters, sorted(set(named.values())), resets)

    target, folder = with_files(target, {f"{BENCH}.sv": text}, [port.name for port in layout.inouts])
    return replace(
        target,
        top=BENCH,
        sources=tuple(
            dict.fromkeys((*target.sources, _MEMORY, *part_files(layout.answered), folder / f"{BENCH}.sv"))
        ),
        parameters={},
        clock=CLOCK,
        reset=RESET,
        reset_active_low=True,
        reset_cycles=0,
        dut=INSTANCE,
        done=DONE,
        **below_instance(target),
        alarms={name: replace(own, output=passed_on(own.output)) for name, own in target.alarms.items()},
        status=passed_on(target.status) if target.status else "",
        operation=passed_on(target.operation) if target.operation else "",
        memories=_memories(layout),
        replay=replay,
        snapshot=None,
    )


def with_files(target: Target, texts: Mapping[str, str], inouts: Sequence[str]) -> tuple[Target, Path]:
    """Return a target whose ports in both directions are split, and a folder with further files.

    Args:
        target: The design alone.
        texts: Of the files, by name.
        inouts: Ports of its top in both directions.

    Raises:
        HarnessError: As `split_sources`.
    """
    changed = split_sources(target.top, target.sources, target.defines, inouts) if inouts else {}
    names = {file: f"split{number}/{file.name}" for number, file in enumerate(changed)}
    files = {name: text.encode() for name, text in texts.items()}
    files |= {names[file]: content for file, content in changed.items()}

    def build(folder: Path) -> None:
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(folder / name, content)

    key = content_key(*texts.values()) if not changed else content_key(*map(repr, sorted(files.items())))
    folder = cached_folder("replay", key, build)
    if not changed:
        return target, folder
    # What a file includes or reads beside itself stays where it was.
    beside = tuple(dict.fromkeys(file.parent for file in changed))
    return (
        replace(
            target,
            sources=tuple(folder / names[own] if own in names else own for own in target.sources),
            include_dirs=tuple(dict.fromkeys((*target.include_dirs, *beside))),
            data_dirs=tuple(dict.fromkeys((*target.data_dirs, *beside))),
        ),
        folder,
    )


class _Below(TypedDict):
    blocks: dict[str, tuple[str, ...]]
    macros: tuple[str, ...]
    keep: tuple[str, ...]
    exclude: tuple[str, ...]
    storage: dict[str, tuple[str, ...]]


def below_instance(target: Target) -> _Below:
    """Return the paths of a design alone as those of the instance that it becomes."""
    return {
        "blocks": {block: tuple(map(_below, paths)) for block, paths in target.blocks.items()},
        "macros": tuple(map(_below, target.macros)),
        "keep": tuple(map(_below, target.keep)),
        "exclude": tuple(map(_below, target.exclude)),
        "storage": {kind: tuple(map(_below, own)) for kind, own in target.storage.items()},
    }


def _below(path: str) -> str:
    return INSTANCE if path == ITSELF else f"{INSTANCE}.{path}"


def _memories(layout: ReplayLayout) -> dict[str, TargetMemory]:
    sizes = {RECORDING: layout.word_bytes}
    sizes |= {stream_name(i): layout.stream_bytes(own) for i, own in enumerate(layout.streams)}
    sizes |= {DRIVEN: layout.noted_bytes} if layout.inouts else {}
    arrays = {RECORDING: RECORDING_ARRAY, DRIVEN: DRIVEN_ARRAY}
    found = {
        name: TargetMemory(arrays.get(name, f"u_{name}.mem_q"), size, plusarg(name), observed=False)
        for name, size in sizes.items()
    }
    found |= part_memories(layout.answered)
    found[RESULT] = TargetMemory(RESULT_ARRAY, layout.result_bytes, plusarg(RESULT), observed=False)
    return found
