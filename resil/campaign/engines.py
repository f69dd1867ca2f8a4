# SPDX-License-Identifier: Apache-2.0
"""The engines that there are, by what they declare."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from importlib.metadata import entry_points

from resil.campaign.section import Section
from resil.errors import ResilError
from resil.rtl_harness.engine.cxxrtl.declaration import DECLARATION as _CXXRTL
from resil.rtl_harness.engine.declaration import Ability, EngineDeclaration, EngineOption, OptionValue
from resil.rtl_harness.engine.fast.declaration import DECLARATION as _FAST
from resil.rtl_harness.engine.plain.declaration import DECLARATION as _PLAIN
from resil.rtl_harness.engine.reference.declaration import DECLARATION as _REFERENCE
from resil.rtl_harness.npu.declaration import DECLARATION as _MODEL

# Other packages name declarations of theirs as entry points of this group.
GROUP = "resil.engines"
_BUILT_IN = (_FAST, _REFERENCE, _PLAIN, _CXXRTL, _MODEL)
_registered: list[EngineDeclaration] = []


def register(declaration: EngineDeclaration) -> None:
    """Let campaigns ask for an engine of one's own, in this process.

    For a package that is installed an entry point does so in every process, those of a farm included:
    `[project.entry-points."resil.engines"] NAME = "MODULE:DECLARATION"`.

    Raises:
        ResilError: there is one of that name already.
    """
    if declaration.name in (known.name for known in engines()):
        raise ResilError(
            f"expected an engine of a new name, found another {declaration.name!r}; rename one", "name"
        )
    _registered.append(declaration)


def engines() -> tuple[EngineDeclaration, ...]:
    """Return all engines, those that ship first; a campaign takes the first that can do what it asks."""
    return (*_BUILT_IN, *_installed(), *_registered)


def engine_named(name: str) -> EngineDeclaration:
    """Return an engine by its name; ResilError if there is none."""
    for declaration in engines():
        if declaration.name == name:
            return declaration
    names = ", ".join(declaration.name for declaration in engines())
    raise ResilError(
        f"expected the name of an engine ({names}), found {name!r}; change it", "execution.engine"
    )


def able(needed: Collection[Ability]) -> tuple[EngineDeclaration, ...]:
    """Return the engines that can do all of this."""
    return tuple(own for own in engines() if own.abilities >= set(needed))


def chosen_engine(section: Section, needed: Mapping[Ability, str]) -> EngineDeclaration:
    """Return the engine that the key `engine` names, or without it the first that can do what is asked.

    If no engine can do all that is asked, or not the one that is named, that is noted as wrong.

    Args:
        section: The table [execution].
        needed: What is asked of it, and by what of the campaign.
    """
    fit = able(needed)
    named = section.choice("engine") if section.has("engine") else None
    if not section.sound("engine"):
        return engines()[0]
    if not fit:
        asked = " and ".join(f"{ability} ({by})" for ability, by in needed.items())
        section.wrong("engine", f"an engine that can {asked}", "none", "leave one of these out")
        return engines()[0]
    engine = fit[0] if named is None else engine_named(named)
    if missing := [ability for ability in needed if ability not in engine.abilities]:
        names = " or ".join(f'"{own.name}"' for own in fit)
        by = ", ".join(needed[ability] for ability in missing)
        expected = f"an engine that can {' and '.join(missing)}, as {by} asks: {names}"
        section.wrong("engine", expected, f'"{named}"', "change the value or remove the key")
    return engine


def read_options(section: Section, chosen: str) -> dict[str, OptionValue]:
    """Check the table [engine], which has a table for each engine; return the options of the one chosen."""
    options: dict[str, OptionValue] = {}
    for engine in engines():
        if not engine.options or not section.has(engine.name):
            continue
        if not section.is_table(engine.name):
            found = repr(section.raw(engine.name, "a table"))
            section.wrong(engine.name, "a table of options", found, f"write [engine.{engine.name}]")
            continue
        own = section.table(engine.name, "a table of options")
        given = {option.name: _read(own, option) for option in engine.options}
        own.finish()
        if engine.name == chosen:
            options = given
    section.finish()
    return engine_named(chosen).values(options)


def _read(section: Section, option: EngineOption) -> OptionValue:
    match option.type:
        case "integer":
            return section.integer(option.name)
        case "number":
            return section.number(option.name)
        case "boolean":
            return section.flag(option.name, default=bool(option.default))
    return section.choice(option.name) if option.choices else section.text(option.name)


@cache
def _installed() -> tuple[EngineDeclaration, ...]:
    found = []
    for point in entry_points(group=GROUP):
        try:
            declaration = point.load()
        except Exception as error:
            raise ResilError(
                f"engine {point.name} of the package {point.dist and point.dist.name}: cannot be loaded "
                f"({type(error).__name__}: {error}); repair or remove the package",
                f"engines.{point.name}",
            ) from error
        if not isinstance(declaration, EngineDeclaration):
            raise ResilError(
                f"engine {point.name}: expected an EngineDeclaration, found {declaration!r}; correct "
                "the package",
                f"engines.{point.name}",
            )
        found.append(declaration)
    return tuple(found)
