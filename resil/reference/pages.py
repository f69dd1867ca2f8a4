# SPDX-License-Identifier: Apache-2.0
"""The generated pages, by the name of their file."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from resil.campaign import keys
from resil.campaign.declaration import KeyTable
from resil.protection.options import CellArea, ProtectionOption
from resil.reference.commands import commands_text
from resil.reference.markdown import class_text, entry, paragraph, table_text
from resil.reference.python_page import python_text
from resil.rtl_harness.design.black_boxes import BlackBox, MemoryPort
from resil.rtl_harness.design.target import Target, TargetAlarm, TargetMemory
from resil.study import study_keys

_MADE = "This page is generated from the code: `python -m resil.reference docs/reference`."


def _page(title: str, *parts: str) -> str:
    return "\n\n".join([f"# {title}", _MADE, *parts]) + "\n"


def _tables(tables: Mapping[str, KeyTable]) -> list[str]:
    return [table_text(table) for table in tables.values()]


def campaign_page() -> str:
    """Return the page of the campaign file."""
    lead = """A campaign file is TOML. Unknown tables and keys are refused with a near name. All that
        is wrong is said at once, with line and column. Paths are relative to the file.
        `examples/digits.toml` is one with comments."""
    return _page("The campaign file", paragraph(lead), *_tables(keys.TABLES))


def study_page() -> str:
    """Return the page of the study file."""
    lead = """A study file has the tables of a [campaign file](campaign-file.md) but `[campaign]`,
        `[network]`, `[workload]` and `[target]`. In their place stand `[study]`, a list of
        targets, and a list of networks or workloads. `examples/ethos-u55.toml` is one with
        comments."""
    own = {name: table for name, table in study_keys.TABLES.items() if name not in keys.RULE_TABLES}
    others = ", ".join(f"`[{name}]`" for name in keys.RULE_TABLES)
    rest = f"""The tables {others} are those of a campaign file and hold for every cell.
        `permanent` of `[safety]` is refused."""
    return _page("The study file", paragraph(lead), *_tables(own), "## Other tables", paragraph(rest))


def target_page() -> str:
    """Return the page of the target file."""
    lead = """A target file describes a closed design: RTL and bench whose only inputs are clock and
        reset. Paths are relative to the file; one that begins with `resil:` is relative to the
        package. Sources may be patterns. [The tutorial](../tutorials/own-rtl.md) writes one.
        Without `dut`, `done` and `memories` it describes the design alone, for a recording to drive
        ([tutorial](../tutorials/recording.md)): then `reset` and `blocks` may be left out too, and paths
        are those below `top`, `"."` that itself."""
    alarms = """An alarm of the table `[alarms]`, by its name. It has risen in the first cycle in which
        its output, sampled where `done` is, is not zero. It may fall again at once. Of several
        bits any counts. The first that detected and the first that corrected are kept, with
        their cycles."""
    short = [
        entry(
            name,
            ["string", "optional"],
            f"Output that is an alarm of the name `{name}` and reports a detection.",
        )
        for name in ("error", "protection")
    ]
    storage = """Lists of patterns by what the arrays that they name count as, whatever their size and
        ports: `ff`, `sram`, `sram_ecc`. A pattern is as in `exclude`: an array, or an instance around some,
        with "*" for anything but a dot. Of `sram_ecc`, SRAM behind a code that is not in the RTL, the raw
        rate is that of SRAM; [what is credited](../how-to/close-a-design.md#what-a-memory-counts-as) stands
        in the verdict. What `exclude` names is not assessed, and the verdict says so."""
    boxes = """A macro whose source is not there, by the name of its module, as
        [the guide](../how-to/close-a-design.md#macros-whose-source-is-not-there) has it. A pin that is active
        at 0 has "!" before its name."""
    return _page(
        "The target file",
        paragraph(lead),
        "## Keys",
        "\n".join([class_text(Target, ("alarms", "replay", "snapshot"), ("blocks", "memories")), *short]),
        "## [alarms.NAME]",
        paragraph(alarms),
        class_text(TargetAlarm, (), ("reports",)),
        "## [memories.NAME]",
        class_text(TargetMemory),
        "## [storage]",
        paragraph(storage),
        "## [black_boxes.MODULE]",
        paragraph(boxes),
        class_text(BlackBox),
        "## [[black_boxes.MODULE.ports]]",
        class_text(MemoryPort),
    )


def options_page() -> str:
    """Return the page of the options file."""
    lead = """`resil protect --options FILE` takes a file of options. What it names replaces or
        extends the options and cells that ship in `resil/protection/options.toml`."""
    lists = [
        entry("exclude", ["list of strings", "optional"], "Options that are not offered."),
        entry(
            "leave_out",
            ["list of strings", "optional"],
            "Registers, memories or blocks that are offered nothing.",
        ),
    ]
    return _page(
        "The options file",
        paragraph(lead),
        "## Keys of the file",
        "\n".join(lists),
        "## [[option]]",
        paragraph("Areas are multiples; factors and coverage are shares from 0 to 1."),
        class_text(ProtectionOption, leave_out=("ways",)),
        "## [[cell]]",
        class_text(CellArea),
    )


def commands_page() -> str:
    """Return the page of the command line."""
    lead = """Data go to stdout; progress and messages go to stderr. `--json` prints for scripts.
        `resil --install-completion` sets up completion for your shell."""
    return _page("The command line", paragraph(lead), commands_text())


def python_page() -> str:
    """Return the page of the Python interface."""
    lead = """A campaign from a script, and a finished run as data frames. Examples are run by a test, in a
        folder with a small campaign file. `examples/registers.ipynb` shows a whole campaign."""
    return _page("The Python interface", paragraph(lead), python_text())


PAGES: dict[str, Callable[[], str]] = {
    "campaign-file.md": campaign_page,
    "study-file.md": study_page,
    "target-file.md": target_page,
    "options-file.md": options_page,
    "cli.md": commands_page,
    "python.md": python_page,
}
