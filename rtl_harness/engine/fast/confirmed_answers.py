# SPDX-License-Identifier: Apache-2.0
"""Answers against what another way to find them gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from resil.rtl_harness.engine.fast.golden import GoldenPass
from resil.rtl_harness.engine.fast.model import CompiledModel
from resil.rtl_harness.errors import AuditError
from resil.rtl_harness.faults import Injection, Seen, digest


def confirmed(
    answers: Iterable[Injection],
    found: Iterable[Injection],
    way: str,
    model: CompiledModel,
    golden: GoldenPass,
) -> Iterator[Injection]:
    """Yield what was found of each of these answers, if it is the same.

    The output that a corruption leads to which goes with an answer has to be that of the run, too.

    Args:
        answers: Of different faults.
        found: The same faults, in any order.
        way: How it was found, in words that go before "gives".
        model: The compiled design.
        golden: Its golden run.

    Raises:
        AuditError: If one differs.
    """
    expected = {answer.fault: answer for answer in answers}
    for one in found:
        answer = expected[one.fault]
        if one != answer:
            raise _refuted(model, answer, f"{way} gives {one}")
        if (output := _output_of(answer, model, golden)) not in (None, one.output_hash):
            raise _refuted(
                model, answer, f"the memory that it is said to have corrupted gives output {output}"
            )
        yield one


def _output_of(injection: Injection, model: CompiledModel, golden: GoldenPass) -> str | None:
    """Return the digest of the output that a run ends with which has this corruption; None if unknown."""
    exits, corruption = golden.exits, injection.corruption
    if exits is None or corruption is None or corruption.truncated or injection.seen is Seen.DUE:
        return None
    image = exits.finished(corruption)
    if image is None:
        return None
    return digest(exits.output(image, model.workload.outputs, golden.run.end.output))


def _refuted(model: CompiledModel, answer: Injection, why: str) -> AuditError:
    return AuditError(
        f"audit of early stops: {model.describe(answer.fault)} was taken for {answer}, {why}; "
        "what this engine answered cannot be trusted",
        answer.fault,
        "early stops",
    )
