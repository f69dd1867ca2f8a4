# SPDX-License-Identifier: Apache-2.0
"""Where macros that are described by their ports lie in a design, and whether what they need is connected."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from resil.rtl_harness.design.black_boxes import BlackBox
from resil.rtl_harness.design.slang import SlangDesign
from resil.rtl_harness.errors import HarnessError


def macro_instances(
    name: str, design: SlangDesign, boxes: Mapping[str, BlackBox], origins: Mapping[Path, Path]
) -> dict[str, str]:
    """Return the module of each instance of a macro, by path below the top.

    Args:
        name: Of the target, for messages.
        design: As slang reads it.
        boxes: Descriptions, by module.
        origins: Of what each file is a copy.

    Raises:
        HarnessError: An input that decides something is not connected, or a macro has no instance.
    """
    from pyslang import ast

    found: dict[str, str] = {}
    manager = design.keeps[0].sourceManager

    def look(node: Any) -> Any:  # noqa: ANN401
        if type(node).__name__ == "InstanceSymbol" and node.definition.name in boxes:
            module = str(node.definition.name)
            path = str(node.hierarchicalPath).partition(".")[2]
            found[path] = module
            given = {str(own.port.name): own.expression for own in node.portConnections}
            if open_pins := [pin for pin in boxes[module].needed if given.get(pin) is None]:
                file = Path(str(manager.getFullPath(node.location.buffer)))
                raise HarnessError(
                    f"{origins.get(file, file)}:{manager.getLineNumber(node.location)}: expected a net at "
                    f"each input of {path}, a {module}, that decides something, found none at "
                    f"{', '.join(open_pins)}; connect it, or correct black_boxes.{module}",
                    f"black_boxes.{module}",
                )
        return ast.VisitAction.Advance

    design.top.visit(look)
    if missing := [module for module in boxes if module not in found.values()]:
        raise HarnessError(
            f"target {name}: black_boxes.{missing[0]}: expected a module that the design has an instance of, "
            "found none; correct the name, or leave it out",
            f"black_boxes.{missing[0]}",
        )
    return found
