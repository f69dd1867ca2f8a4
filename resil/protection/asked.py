# SPDX-License-Identifier: Apache-2.0
"""What can be asked of a protection: one declaration for `resil protect`, the study file and messages."""

from __future__ import annotations

from resil.campaign.declaration import ABSENT, INFINITE, Key
from resil.protection.units import Granularity

GRANULARITY = Key(
    "granularity",
    "string",
    "What is protected as one: a block, a register, or a group of at most 8 bits of one.",
    Granularity.REGISTER.value,
    choices=tuple(own.value for own in Granularity),
)
BUDGET_FIT = Key(
    "budget_fit",
    "number",
    "Most hazardous FIT that the protected design may have, in place of the campaign's budget.",
    ABSENT,
    0.0,
    INFINITE,
)
SPFM_TARGET = Key(
    "spfm_target",
    "number",
    "Least SPFM of transient faults, as 0.99, beside the campaign's budget.",
    ABSENT,
    0.0,
    1.0,
)
FIT_SHARE = Key(
    "fit_share",
    "number",
    "Most hazardous FIT on each network, as a share of that without protection, as 0.1.",
    ABSENT,
    0.0,
    1.0,
)
DUE_BUDGET = Key("due_budget", "number", "Most FIT of detected failures.", ABSENT, 0.0, INFINITE)
PERMANENT_FIT = Key(
    "permanent_fit",
    "number",
    "Most hazardous FIT of permanent faults, of storage and, if a run of them is named, of logic. The runs "
    "have to name one of stuck bits (`[safety] permanent`).",
    ABSENT,
    0.0,
    INFINITE,
)
PERMANENT_SPFM = Key(
    "permanent_spfm",
    "number",
    "Least SPFM of permanent faults, likewise.",
    ABSENT,
    0.0,
    1.0,
)
# What the protected design has to keep.
LIMITS = (BUDGET_FIT, SPFM_TARGET, FIT_SHARE, DUE_BUDGET, PERMANENT_FIT, PERMANENT_SPFM)
WAIVE = Key(
    "waive",
    "list of strings",
    "Limits of the campaigns that need not be kept: `budget`; of what `[safety]` claims `spfm`, "
    "`spfm_permanent` and `due`. It is said, and kept in the plan.",
    (),
)
OPTIONS = Key("options", "path", "An [options file](options-file.md) of your own.", ABSENT)
VERIFY_NETWORKS = Key(
    "verify_networks",
    "list of strings",
    "Hold-out networks that confirm the choice: names of the zoo, or campaign files, whose network or "
    "workload is taken.",
    (),
)


def flag(key: Key) -> str:
    """Return the option of the command line that a key is: one of a list is named once for each."""
    name = key.name.removesuffix("s") if key.name == VERIFY_NETWORKS.name else key.name
    return f"--{name.replace('_', '-')}"
