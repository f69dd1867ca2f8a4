# SPDX-License-Identifier: Apache-2.0
"""The study file, table by table: what it has beside the tables of a campaign file."""

from __future__ import annotations

from dataclasses import replace

from resil.campaign.declaration import ABSENT, Key, KeyTable
from resil.campaign.fault_settings import PERMANENT_PLANS
from resil.campaign.keys import CAMPAIGN, FAULTS, NETWORK, RULE_TABLES, TARGET, WORKLOAD
from resil.campaign.safety_keys import SAFETY
from resil.protection.asked import GRANULARITY, LIMITS, OPTIONS, VERIFY_NETWORKS, WAIVE

FIRST = "study"
_ON = Key(
    "targets",
    "list of strings",
    "Targets that it runs on, as tables call them. Without the key all.",
    ABSENT,
)
_ESTIMATE = Key("estimate", "boolean", "Cells are estimated by a sensitivity model, not injected.", False)

_TARGETS = replace(TARGET, meaning="A target of the study.", keys=(*TARGET.keys, _ESTIMATE), repeated=True)
_NETWORKS = replace(
    NETWORK,
    meaning="A network of the study; `zoo:*` for all of the zoo. These tables, `[[workload]]`, or both.",
    keys=(
        _ESTIMATE,
        _ON,
        Key(
            "name", "string", "What tables and folders call it. Without the key the name of its file.", ABSENT
        ),
        *NETWORK.keys,
    ),
    repeated=True,
)
_WORKLOADS = replace(
    WORKLOAD,
    meaning="A workload of the study, with a `name`. These tables, `[[network]]`, or both.",
    keys=(_ON, *WORKLOAD.keys),
    repeated=True,
)
# Keys of [faults] that stuck bits have no use for.
NOT_PERMANENT = ("model", "clusters", "placement", "reach_um")
_PERMANENT = KeyTable(
    "permanent",
    "Stuck-at faults that each cell injects too, for the rows of `[safety]` on permanent faults.",
    (
        Key("plan", "string", "The sampling plan.", PERMANENT_PLANS[0], choices=PERMANENT_PLANS),
        *(replace(key, refused=key.name in NOT_PERMANENT) for key in FAULTS.keys),
    ),
)
_PROTECTION = KeyTable(
    "protection",
    "Protection that is chosen for each target, over all its networks at once.",
    (
        Key("wanted", "boolean", "Choose. True if the table is there.", False),
        GRANULARITY,
        *LIMITS,
        WAIVE,
        OPTIONS,
        VERIFY_NETWORKS,
    ),
)
_ESTIMATES = KeyTable(
    "estimate",
    "What cells with `estimate = true` go by.",
    (Key("model", "path", "A sensitivity model. Without the key the one that ships.", ABSENT),),
)

NAMED_RUNS = ("permanent", "logic", "permanent_logic")
_SAFETY = replace(SAFETY, keys=tuple(replace(key, refused=key.name in NAMED_RUNS) for key in SAFETY.keys))

TABLES = {
    FIRST: replace(CAMPAIGN, name=FIRST, meaning="The name, the seed, and what one injection is."),
    **{table.name: table for table in (_TARGETS, _NETWORKS, _WORKLOADS)},
    **RULE_TABLES,
    "safety": _SAFETY,
    **{table.name: table for table in (_PERMANENT, _ESTIMATES, _PROTECTION)},
}
