# SPDX-License-Identifier: Apache-2.0
"""Keys of the table [workload] of a recording."""

from __future__ import annotations

from resil.campaign.declaration import ABSENT, Key, KeyTable
from resil.rtl_harness.replay.layout import SAMPLED

_STROBE = KeyTable(
    "workload.strobes",
    "Which outputs of a recording are compared when. Outputs that no row names are compared always, but for "
    "alarms; each output stands in one row at the most.",
    (
        Key("outputs", "list of strings", "Names of outputs, or patterns: `*` stands for anything."),
        Key("compared", "boolean", "`false`: they are compared never.", True),
        Key(
            "when",
            "list of strings",
            "Ports of one bit that must all be 1 in the recording, or 0 with `!` in front: a valid signal.",
            ABSENT,
        ),
        Key(
            "cycles",
            "list of integers or of pairs",
            "Cycles in which they are compared, counted from 0: `[3, [10, 20]]`. Without the key all.",
            ABSENT,
        ),
        Key(
            "stream",
            "boolean",
            "They are words that come in this order, whenever `when` holds in the simulation.",
            False,
        ),
        Key(
            "tolerance", "integer", "A difference of so much in an output's value is tolerable.", 0, 0, 2**31
        ),
        Key("signed", "boolean", "For `tolerance`: values are in two's complement.", False),
    ),
    repeated=True,
)

_CLOSED = KeyTable(
    "workload.closed",
    "A bus of a recorded design that one of the bench's memories answers, in place of the recording: wrong "
    "addresses and data come back to the design. Its content is given by `[[workload.images]]`.",
    (
        Key("bus", "string", "How the names of the bus' ports begin, as `mem_`."),
        Key(
            "kind",
            "string",
            "Of the bus, where the names of several begin so: `OBI`, `AXI4`, as `resil init` names it.",
            ABSENT,
        ),
        Key("memory", "string", "Name of its memory, for images. Without the key that of the bus.", ABSENT),
        Key("words", "integer", "Of the memory, each as wide as the bus.", low=1, high=2**24),
        Key(
            "parameters",
            "table of integers",
            "Parameters of the part, as `{ Latency = 2, Base = 4096 }`.",
            ABSENT,
        ),
        Key(
            "checked",
            "boolean",
            "The part has to answer as the recorded environment did, in the run without a fault.",
            True,
        ),
    ),
    repeated=True,
)

RECORDING = (
    Key(
        "waves",
        "path or list of paths",
        "A recording of the target in any testbench, `.vcd`, `.fst` or `.ghw`, or several, one for each "
        "input. The target file names the design alone: no `dut`, `done`, `memories`. [How "
        "to](../how-to/recordings.md).",
        ABSENT,
    ),
    Key(
        "instance", "string", "Path of the design in the recording, `tb.u_dut`. Needed with `waves`.", ABSENT
    ),
    Key(
        "from",
        "string",
        'Time at which the replay begins, as `"1200 ns"`. Without the key the first.',
        ABSENT,
    ),
    Key("to", "string", "Time at which it ends. Without the key the last.", ABSENT),
    Key(
        "sampled",
        "string",
        "Values of a cycle are those just `before` its clock edge, or those `at` it, for testbenches that "
        "change inputs together with the clock, as many C++ ones do. With `clocks` only `before`.",
        SAMPLED[0],
        choices=SAMPLED,
    ),
    Key(
        "at_edge",
        "list of strings",
        "Inputs that the testbench changes in the instant of a clock edge and ahead of the design, as a "
        "reset that is released by a blocking assignment: the design sees their new value at that edge.",
        ABSENT,
    ),
    Key(
        "clocks",
        "list of strings",
        "Clocks besides that of the target; with them, every edge of any is a cycle.",
        ABSENT,
    ),
    Key("strobes", "list of tables", "See `[[workload.strobes]]`.", ABSENT, table=_STROBE),
    Key("closed", "list of tables", "See `[[workload.closed]]`.", ABSENT, table=_CLOSED),
)
