# SPDX-License-Identifier: Apache-2.0
"""Which values the parameters of a design have: by lists, the command line, and a recording of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from resil.rtl_harness.design.file_list import FileList
from resil.rtl_harness.design.parameter_values import ParameterValue, TopParameter
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.replay.waves import Waves


def listed_values(listed: FileList, top: str) -> tuple[dict[str, ParameterValue], dict[str, str]]:
    """Return the values that lists give the top's parameters, and what they give others, by the name.

    Where a list names no module it means the one that it calls its top: a testbench, often.
    """
    own: dict[str, ParameterValue] = {}
    others: dict[str, str] = {}
    for name, value in listed.parameters.items():
        module, _, parameter = name.rpartition(".")
        module = module or (listed.tops[-1] if listed.tops else top)
        if module == top:
            own[parameter] = value
        else:
            others[parameter] = f"{module}.{parameter} = {value}"
    return own, others


def recorded_values(
    waves: Waves, instance: str, own: Sequence[TopParameter], given: Mapping[str, ParameterValue]
) -> dict[str, ParameterValue]:
    """Return the parameters that have other values in the recording than in the design that was read.

    Args:
        waves: The recording.
        instance: The design in it.
        own: Parameters of the design's top, as it was read.
        given: Those among them that a list or the command line gives.

    Raises:
        HarnessError: One of these has another value in the recording.
    """
    recorded = waves.constants(instance, [parameter.name for parameter in own])
    found: dict[str, ParameterValue] = {}
    for parameter in own:
        name = parameter.name
        if name in recorded and not parameter.is_recorded(*recorded[name]):
            found[name] = parameter.literal_of(*recorded[name])
            if name in given:
                raise HarnessError(
                    f"{waves.file}: expected {instance} with the parameters that are given, {name} = "
                    f"{given[name]}, found {name} = {found[name]}: the recording is of another design; give "
                    "this value (-G), or record the design that is meant",
                    "-G",
                )
    return found


def require_decided(
    top: str, own: Sequence[str], decided: Collection[str], others: Mapping[str, str]
) -> None:
    """Require that what a list gives another module says nothing of the top.

    Args:
        top: Module that is the design.
        own: Names of its parameters.
        decided: Those whose values the command line or a recording says.
        others: What lists give other modules, by the name of the parameter.

    Raises:
        HarnessError: It may be handed on to a parameter of the top that has the same name.
    """
    for name, text in others.items():
        if name in own and name not in decided:
            raise HarnessError(
                f"-f: expected the value that {top} has for its parameter {name}, found {text}: whether that "
                f"is handed on is not known; give the value of {top} itself, -G {name}=VALUE",
                f"-G.{name}",
            )
