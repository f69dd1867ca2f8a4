# SPDX-License-Identifier: Apache-2.0
"""What the NPU would not take of a compiled network, from its command stream alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from resil.networks.compile import CONSTANTS_REGION, CompiledNetwork, CompiledOperation
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.npu.model.config import npu_config
from resil.rtl_harness.npu.model.program import refused_commands

_NAMED = 3


@dataclass(frozen=True)
class Refusal:
    """A command that would set the NPU's cmd_error.

    Attributes:
        operation: The operation that it starts, or the one that it comes before; None behind the last one.
        reason: What the NPU does not accept, of which register.
    """

    operation: CompiledOperation | None
    reason: str

    def __str__(self) -> str:
        if self.operation is None:
            return f"behind the last operation: {self.reason}"
        layer = f"{self.operation.operator or self.operation.kind} (output {self.operation.name!r})"
        return f"operation {self.operation.index}, {layer}: {self.reason}"


def refusals(compiled: CompiledNetwork) -> tuple[Refusal, ...]:
    """Return what the NPU would refuse of `compiled`, in the stream's order; empty if it takes all."""
    found = []
    refused = refused_commands(
        compiled.commands, npu_config(compiled.accelerator), read_only=frozenset({CONSTANTS_REGION})
    )
    for word, reason in refused:
        operation = next((one for one in compiled.operations if one.word >= word), None)
        found.append(Refusal(operation, reason))
    return tuple(found)


@lru_cache(maxsize=16)
def check_taken(compiled: CompiledNetwork) -> None:
    """Raise a HarnessError that names the operators if the NPU does not take all of `compiled`."""
    found = refusals(compiled)
    if not found:
        return
    named = "; ".join(str(one) for one in found[:_NAMED])
    more = f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    raise HarnessError(
        f"{compiled.name}: the NPU does not take {len(found)} of the commands that Vela made for "
        f"{compiled.accelerator}: {named}{more}. Quantise these layers to int8, or leave them out",
        "commands" if found[0].operation is None else f"operations[{found[0].operation.index}]",
    )
