# SPDX-License-Identifier: Apache-2.0
"""The table [safety] of a campaign file: its keys, declared."""

from __future__ import annotations

from resil.campaign.declaration import ABSENT, Key, KeyTable
from resil.campaign.safety import ASIL_TARGETS, CLAIMS, PMHF_COVERS

_MECHANISM = KeyTable(
    "safety.mechanism",
    "A safety mechanism that the design has.",
    (
        Key("alarm", "string", 'Name of the alarm that reports a detection; `"error"` is the error status.'),
        Key("coverage", "number", "Diagnostic coverage that is claimed.", ABSENT, 0.0, 1.0),
        Key("blocks", "list of strings", "Blocks that it guards; all without the key.", ()),
        Key(
            "storage",
            "list of strings",
            "Paths of what it consists of: storage, or blocks of the target file. What lies at or below one "
            "of them belongs to it, cells too. A comparator that stores nothing is named as a block.",
            (),
        ),
    ),
    repeated=True,
)


def _time(what: str, meaning: str) -> tuple[Key, Key]:
    """Return the keys of a time, in cycles or in seconds."""
    return (
        Key(f"{what}_cycles", "integer", meaning, ABSENT, 1, 10**15, unit="cycles"),
        Key(
            f"{what}_seconds",
            "number",
            "The same in seconds; it takes `clock_mhz`.",
            ABSENT,
            0.0,
            1e6,
            unit="s",
        ),
    )


SAFETY = KeyTable(
    "safety",
    "Which rows of the [safety verdict](../explanation/safety.md) are claimed, against which targets.",
    (
        Key("claims", "list of strings", "Rows of the verdict that are claimed.", choices=CLAIMS),
        Key(
            "asil",
            "string",
            "Level whose targets of SPFM, LFM and PMHF (ISO 26262-5:2018) hold.",
            ABSENT,
            choices=tuple(ASIL_TARGETS),
        ),
        Key(
            "pmhf_fit",
            "number",
            "What the item's safety concept allots to this element.",
            ABSENT,
            low=0.0,
            unit="FIT",
        ),
        Key("pmhf_rationale", "string", "Where that comes from. Mandatory with `pmhf_fit`.", ABSENT),
        Key(
            "due_fit",
            "number",
            "Most detected failures that availability allows.",
            ABSENT,
            low=0.0,
            unit="FIT",
        ),
        Key("due_rationale", "string", "Where that comes from. Mandatory with `due_fit`.", ABSENT),
        Key("clock_mhz", "number", "The clock at which seconds become cycles.", ABSENT, 0.0, 1e6, unit="MHz"),
        *_time("ftti", "Fault-tolerant time interval, in cycles of the target's clock."),
        *_time("reaction", "What the reaction to an alarm takes of it."),
        Key(
            "spfm",
            "number",
            "Least single-point fault metric; without the key that of `asil`.",
            ABSENT,
            0.0,
            1.0,
        ),
        Key("lfm", "number", "Least latent-fault metric; without the key that of `asil`.", ABSENT, 0.0, 1.0),
        Key(
            "pmhf_covers",
            "string",
            "Faults that `pmhf_fit` allots for; permanent ones may have an allotment of their own.",
            PMHF_COVERS[0],
            choices=PMHF_COVERS,
        ),
        Key("mechanism", "list of tables", "See `[[safety.mechanism]]`.", ABSENT, table=_MECHANISM),
        Key(
            "permanent",
            "path",
            "Folder of a finished stuck-at campaign on the same target and network.",
            ABSENT,
        ),
        Key(
            "logic",
            "path",
            'Folder of a finished campaign of pulses in logic (`model = "set"`) on the same target, network '
            "and inputs. The rows of transient faults then take storage and logic.",
            ABSENT,
        ),
        Key(
            "permanent_logic",
            "path",
            'Folder of one of stuck pins (`model = "stuck_at"`, `kinds = ["logic"]`) on the same; it takes '
            "`permanent`. The rows of permanent faults then take both.",
            ABSENT,
        ),
        Key(
            "mechanism_faults",
            "path",
            "Folder of what `resil mechanisms` found of this design and input; it takes a run of stuck pins. "
            "In `lfm_permanent` faults in gates of mechanisms then count as latent by pairs of faults.",
            ABSENT,
        ),
        Key(
            "derated",
            "boolean",
            "Take rates of pulses as timing and attenuation leave them. Without the key each counts as if it "
            "lasted the whole cycle; the lowest corner is derated all the same.",
            False,
        ),
        Key(
            "lifetime_hours",
            "number",
            "Operating time over which a mechanism may have failed unnoticed.",
            ABSENT,
            0.0,
            1e7,
            unit="h",
        ),
        Key("left_out", "string", "Why storage that is not injected is no part of the claims.", ABSENT),
        Key(
            "watchdog",
            "string",
            "What detects a hang in time, where hangs do not count as hazardous.",
            ABSENT,
        ),
    ),
)
