# SPDX-License-Identifier: Apache-2.0
"""Options in file lists that say nothing of the design, and those that no list here may have.

A name counts with one dash and with two. What no table has is not known; whoever reads the list says so.
"""

from __future__ import annotations

import re

# Options that leave the design as it is, whose next word is their value, even if it looks like an option, a
# file or a folder.
WITH_VALUE = frozenset(
    """
    Mdir CFLAGS LDFLAGS MAKEFLAGS prefix mod-prefix o x-assign x-initial timescale timescale-override
    l log logfile work L lib makelib sv_lib sv_root sv_liblist access cflags ccflags ldflags
    xmlibdirname xmlibdirpath cdslib hdlvar uvmhome cm_dir covworkdir dpiheader
    """.split()  # noqa: SIM905
)

# Others that leave the design as it is: what is built and where, messages, waveforms, coverage, delays,
# speed, and the language, which is the newest here.
_HARMLESS = re.compile(
    r"""
    --?(?: endlib|exe
      |cc|sc|binary|build|build-jobs|verilate-jobs|lint-only|main|main-top-name|xml-only|json-only|dpi-hdr-only|E|j\d*|threads
      |compiler|xmlibdir\w+|lib-create
      |(?:no-)?(?:timing|assert|assert-case|savable|decoration|verilate|trace\S*|coverage\S*|skip-identical)
      |x-initial-edge|pins-\S+|public\S*|vpi|flatten|hierarchical|structs-packed|stats\S*
      |prof-\S+|O\w*|fno-\S+|output-\S+|unroll-\S+|converge-limit|bbox-sys|bbox-unsup|autoflush|runtime-debug
      |relative-includes|override_timescale|default-language|language|std
      |sv|sverilog|v2k|sv\d\d|vlog\d\dcompat|g(?:2\d\d\d|199\d)\S*|gspecify|gno-\S+|gstrict-\S+
      |W\S*|wd|wn|we|q|quiet\S*|nologo|nocopyright|notice|nowarn|suppress|error-limit|errormax|lint|permissive
      |full64|64(?:bit)?|kdb|lca|R|gui|debug\S*|nodebug|linedebug|incr|elaborate|update|mfcu|single-unit
      |allow-use-before-declare|cm\w*|cov\w+|fsdb|uvm|ntb_opts|nospecify|notimingchecks?|no_notifier|svseed
      |seed|s[dv]f\w*
      )
    | \+(?: timescale|libverbose|librescan|lint|warn|acc|access|nospecify|notimingchecks?|no_notifier
      |nowarn\w*|delay_mode_\w+|(?:max|min|typ)delays|vpi|vcs|v2k|rad|fsdb|cover|plusarg_save|systemverilogext|verilog2001ext
      |verilog1995ext|1800-\d+ext|1364-\d+ext
      )
    """,
    re.VERBOSE,
)

# Options that make another design of the same files, and what a person does instead.
REFUSED = {
    option: "all sources are one unit here, so that macros of one file hold in those after it; remove the "
    "option, and see that no file counts on the macros of others being gone"
    for option in ("-u", "-sfcu", "--separate-units")
}
REFUSED["-vhdl"] = "no front end here reads VHDL; convert the files (ghdl synth --out=verilog does)"

# Files that simulators read, compile or link beside the RTL.
NO_RTL = (".c", ".cc", ".cpp", ".cxx", ".hpp", ".o", ".a", ".so", ".vlt", ".tcl", ".sdc", ".xdc")
# Of files that are meant for RTL, so that one that is missing is no value of the option before it.
RTL = (".v", ".sv", ".vh", ".svh", ".vp", ".svp", ".inc", ".h")


def is_harmless(option: str) -> bool:
    """Return whether an option is known, and leaves the design as it is.

    >>> is_harmless("--Mdir"), is_harmless("+define+X"), is_harmless("--frobnicate")
    (True, False, False)
    """
    name = option.partition("=")[0]
    if name.startswith("+"):
        name = f"+{name[1:].partition('+')[0]}"
    with_value = name.startswith("-") and name[1:].removeprefix("-") in WITH_VALUE
    return with_value or _HARMLESS.fullmatch(name) is not None
