# SPDX-License-Identifier: Apache-2.0
"""Where netlists go: the innermost instances with what is protected whose surroundings can be edited."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from resil.rtl_harness.design.target import Target
from resil.rtl_harness.redundancy.groups import GroupError
from resil.rtl_harness.redundancy.modules import ModuleInstance
from resil.rtl_harness.redundancy.source_text import NotEditableError, SourceText
from resil.rtl_harness.redundancy.watchdog import DONE, INSTANCE, OPERATION

MINOR, MAJOR = "alert_minor_o", "alert_major_o"
# Names that edits add to a module of the source; none may be there.
OWN = (MINOR, MAJOR, "resil_minor", "resil_major", "u_resil_alert", OPERATION, DONE, INSTANCE)


@dataclass
class SourceDesign:
    """A design as its source code has it.

    Attributes:
        target: Of it.
        instances: By path below the top.
        texts: Of the sources.
        filled: Paths of storage that begins with content which is neither zeros nor one constant.
    """

    target: Target
    instances: Mapping[str, ModuleInstance]
    texts: Mapping[Path, SourceText]
    filled: Collection[str] = ()

    def file_of(self, module: str) -> Path:
        """Return the source that defines a module; NotEditableError unless it is one."""
        found = [path for path, text in self.texts.items() if module in text.modules()]
        if len(found) != 1:
            raise NotEditableError(f"module {module} is defined in {len(found)} of the sources")
        return found[0]

    def parent(self, path: str) -> str:
        """Return the path of the instance around one."""
        while path:
            path = path.rpartition(".")[0]
            if path in self.instances:
                break
        return path

    def chain(self, path: str) -> list[str]:
        """Return the instances around one, the top last."""
        found = []
        while path:
            path = self.parent(path)
            found.append(path)
        return found


def netlist_instances(design: SourceDesign, wanted: Iterable[tuple[str, str]]) -> list[str]:
    """Return the instances in whose place netlists go, none inside another.

    A netlist replaces the instance that holds a protected register, so that all else stays source code. Where
    that is impossible (it lies in a loop or an array of instances, its module is used several times, its
    ports need types that a netlist has not, ...) the next one around it is taken, as far as the design.

    Args:
        design: Of which.
        wanted: Instances that hold protected registers, each with the group that asks for it.

    Raises:
        GroupError: Neither an instance nor one around it can be replaced.
    """
    chosen = {_replaceable(design, path, group) for path, group in wanted}
    return sorted(p for p in chosen if not any(p != other and _inside(p, other) for other in chosen))


def check_editable(design: SourceDesign) -> None:
    """Raise GroupError unless the design under test and what is around it can be edited for a watchdog."""
    dut = design.target.dut
    why = _around(design, dut, [dut, *design.chain(dut)])
    if why:
        raise GroupError("watchdog", f"cannot be put into {dut}: {why}")


def _inside(path: str, other: str) -> bool:
    return path.startswith((f"{other}.", f"{other}["))


def _replaceable(design: SourceDesign, path: str, group: str) -> str:
    dut = design.target.dut
    reasons = []
    if not (path == dut or _inside(path, dut)):
        raise GroupError(group, f"lies in {path or 'the top'}, outside the design under test {dut}")
    while True:
        why = _obstacle(design, path)
        if not why:
            return path
        reasons.append(f"{path}: {why}")
        if path == dut:
            break
        path = design.parent(path)
    raise GroupError(
        group, f"no netlist can take the place of an instance that holds it ({'; '.join(reasons)})"
    )


def _obstacle(design: SourceDesign, path: str) -> str:
    instance = design.instances[path]
    if instance.obstacles:
        return instance.obstacles[0]
    if found := next((own for own in sorted(design.filled) if _inside(own, path)), ""):
        return f"{found} begins with content that is no single constant, which a netlist would lose"
    filled = [m.path for m in design.target.memories.values() if _inside(m.path, path)]
    if filled:
        return f"the memory {filled[0]} in it is filled by the workload"
    return _around(design, path, design.chain(path))


def obstacle_around(design: SourceDesign, path: str) -> str:
    """Say what keeps the modules around an instance from being edited, and another from being put beside it.

    The text of the instance itself stays as it is.
    """
    holder = design.parent(path)
    if "[" in path.removeprefix(holder):
        return f"{path} is one of a loop or an array"
    return _around(design, holder, [holder, *design.chain(holder)])


def _around(design: SourceDesign, path: str, chain: Iterable[str]) -> str:
    """Say what keeps modules from being given ports; "" if nothing does.

    Args:
        design: Of which.
        path: An instance.
        chain: Those around it, the top last; itself first, if it is to stay source code.
    """
    uses = Counter(i.module for i in design.instances.values())
    below_path = path
    for around in chain:
        holder, inner = design.instances[around], design.instances[below_path]
        if "[" in below_path.removeprefix(around):
            return f"{below_path} is one of a loop or an array"
        if around and uses[holder.module] > 1:
            return f"module {holder.module} is used {uses[holder.module]} times"
        try:
            text = design.texts[design.file_of(holder.module)]
            text.check_module(holder.module)
            if around != path:
                text.check_instance(holder.module, inner.module, inner.name)
            for word in OWN:
                if text.uses(holder.module, word):
                    return f"module {holder.module} already has {word}, which would be its alarm's name"
        except NotEditableError as error:
            return str(error)
        below_path = around
    return ""
