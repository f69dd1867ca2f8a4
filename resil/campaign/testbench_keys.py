# SPDX-License-Identifier: Apache-2.0
"""Keys of the table [workload] of a cocotb test."""

from __future__ import annotations

from resil.campaign.declaration import ABSENT, Key

TESTBENCH = (
    Key(
        "cocotb",
        "string",
        'A test of cocotb that drives the target, `"module:test"`. The target file names the design alone, '
        "as with `waves`. [How to](../how-to/testbenches.md).",
        ABSENT,
    ),
    Key(
        "record",
        "boolean",
        "The test runs once, without a fault, and what it drove is replayed. Without the key it runs with "
        "each fault where the engine can do so (`cocotb`), and is recorded for every other.",
        ABSENT,
    ),
    Key(
        "python_path",
        "list of paths",
        "Folders in which the test's modules are found. Without the key that of the campaign file.",
        ABSENT,
    ),
    Key("plusargs", "list of strings", "Plusargs of the simulator, with or without their `+`.", ABSENT),
    Key("env", "table of strings", "Variables of the test's environment.", ABSENT),
    Key(
        "files",
        "list of paths",
        "What the test reads beside Python modules. It finds them at the same relative paths, and results "
        "are kept apart if their content changes.",
        ABSENT,
    ),
    Key(
        "failures",
        "list of strings",
        "Names of exceptions that count as a failed test beside failed assertions, as `IndexError`. Any "
        "other one says nothing of the design and ends the campaign.",
        ABSENT,
    ),
)
