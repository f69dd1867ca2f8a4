# SPDX-License-Identifier: Apache-2.0
"""The campaign file, table by table: each key with its type, range, default and meaning."""

from __future__ import annotations

from resil.campaign.clusters import DECLARED, LARGEST, SHARES
from resil.campaign.data_set import DATA_SET
from resil.campaign.declaration import ABSENT, Key, KeyTable
from resil.campaign.detection_settings import DETECTION, DETECTION_KEYS
from resil.campaign.execution_keys import engine_tables
from resil.campaign.fault_settings import KINDS, MODELS, UPSET
from resil.campaign.network_settings import RECONSTRUCTION
from resil.campaign.placement_settings import PLACEMENT
from resil.campaign.recording_keys import RECORDING
from resil.campaign.rules import (
    BETWEEN,
    HAZARDOUS_CHOICES,
    HAZARDOUS_DEFAULT,
    MOST_INFERENCES,
    NO_CONFIDENCE,
)
from resil.campaign.safety_keys import SAFETY
from resil.campaign.sampling_settings import INPUTS, PLANS
from resil.campaign.technology_settings import BY
from resil.campaign.testbench_keys import TESTBENCH
from resil.campaign.workload_settings import DECISIONS, DTYPES

_OFFSET = Key("offset", "integer", "Where the part begins.", 0, 0, 2**40, unit="bytes")

CAMPAIGN = KeyTable(
    "campaign",
    "The name, the seed, and what one injection is.",
    (
        Key("name", "string", "Label for people. The run folder is named after it."),
        Key(
            "seed",
            "integer",
            "Seed of the sampling: the same seed draws the same faults.",
            low=0,
            high=2**63 - 1,
        ),
        Key("confidence", "number", "Confidence of all intervals.", 0.95, 0.5, NO_CONFIDENCE),
        Key(
            "inferences",
            "integer",
            "Inferences in one injection. 2 of the same input: faults strike in the first, the second shows "
            "what latent state does. Of a network with variables any number, of inputs one after another: "
            "faults strike in each.",
            1,
            1,
            MOST_INFERENCES,
        ),
        Key(
            "between",
            "string",
            "What the host does before a later inference: write all registers again, or reset the NPU "
            "too, as networks with variables need. Only with several `inferences` and a `[network]`.",
            BETWEEN[0],
            choices=BETWEEN,
        ),
    ),
    required=True,
)

NETWORK = KeyTable(
    "network",
    "What is inferred, for targets that run compiled networks. Either this table or `[workload]`.",
    (
        Key("path", "string", "`zoo:NAME`, or the path of an int8 `.tflite` file."),
        Key(
            "inputs",
            "list of integers, path or table",
            "Indices into the held-out split of a zoo network, or a `.npy` file of shape (N, H, W, C), or a "
            "`.npz` file of one array for each input tensor; or see `[network.inputs]`.",
            table=DATA_SET,
        ),
        Key(
            "decision",
            "string",
            'What counts as another answer. `"top1"`: another index of the largest element. `"exact"`: any '
            'difference. `"reconstruction"`: the mean squared difference of input and output crosses '
            '`threshold`. `"detection"`: a box that a detector keeps is lost, comes new, changes class or '
            'moves away. Without the key a zoo network uses its own rule, others `"top1"`.',
            ABSENT,
            choices=(*DECISIONS, RECONSTRUCTION, DETECTION),
        ),
        Key(
            "detection",
            "table",
            'Of `decision = "detection"`, how boxes are read: `[network.detection]`.',
            ABSENT,
            table=DETECTION_KEYS,
        ),
        Key(
            "threshold",
            "number",
            'Of `decision = "reconstruction"`, in real values. Without the key that of the zoo network.',
            ABSENT,
            low=0.0,
        ),
        Key(
            "output",
            "string or integer",
            "Name or number (from 0) of the output that the decision is read from. Needed where there are "
            "several.",
            ABSENT,
        ),
        Key(
            "accept_golden",
            "boolean",
            "Go on although the output without a fault is not what an independent reference computes of the "
            "network. Every verdict then says so.",
            False,
        ),
    ),
)

_IMAGE = KeyTable(
    "workload.images",
    "What a memory of the target holds at the start. All else is zero. One of `file`, `files` and `inputs`.",
    (
        Key("memory", "string", "Name of one of the target's memories."),
        _OFFSET,
        Key("file", "path", "One file for all inputs: `.bin`, `.hex` (for `$readmemh`) or `.npy`.", ABSENT),
        Key("files", "list of paths", "One file for each input.", ABSENT),
        Key("inputs", "path", "One `.npy` file whose first axis counts the inputs.", ABSENT),
    ),
    repeated=True,
)

_OUTPUT = KeyTable(
    "workload.output",
    "Where the output tensor lies at the end.",
    (
        Key("shape", "list of integers", "Shape of the tensor."),
        Key("memory", "string", "Name of one of the target's memories."),
        _OFFSET,
        Key("dtype", "string", "Type of its elements, little endian.", choices=DTYPES),
        Key(
            "expected",
            "path",
            "`.npy` file of what the run without a fault must give, inputs on the first axis. Without the "
            "key there is no such check.",
            ABSENT,
        ),
    ),
)

WORKLOAD = KeyTable(
    "workload",
    "What runs on any other target: memory images of your own, a recording (`waves`) or a test (`cocotb`). "
    "Either this table or `[network]`.",
    (
        Key(
            "images",
            "list of tables",
            "See `[[workload.images]]`. Needed without `waves` and `cocotb`.",
            ABSENT,
            table=_IMAGE,
        ),
        Key("name", "string", "Label for people. Without the key that of the campaign.", ABSENT),
        Key(
            "output",
            "table",
            "See `[workload.output]`. Needed without `waves` and `cocotb`.",
            ABSENT,
            table=_OUTPUT,
        ),
        Key(
            "decision",
            "string",
            '`"exact"`: any difference of the output is another answer. `"top1"`: only another index of the '
            "largest element.",
            DECISIONS[0],
            choices=DECISIONS,
        ),
        Key("operations", "list of strings", "Names of the operations in their order, for reports.", ABSENT),
        Key(
            "parameters",
            "table of integers",
            "Parameters of the top that replace those of the target.",
            ABSENT,
        ),
        *RECORDING,
        *TESTBENCH,
    ),
)

TARGET = KeyTable(
    "target",
    "The RTL. Either `name` or `file`.",
    (
        Key(
            "name", "string", "Name of a target that ships: `ethos-u55-32`, `-64`, `-128` or `-256`.", ABSENT
        ),
        Key("file", "path", "A [target file](target-file.md) of your own.", ABSENT),
    ),
    required=True,
)

_CLUSTERS = KeyTable(
    "faults.clusters",
    "Shares of the sizes of an upset; they sum to 1.",
    tuple(
        Key(
            str(size),
            "number",
            f"Share of the upsets that flip {size} adjacent bit{'s'[: size - 1]} of a word.",
            0.0,
            low=0.0,
        )
        for size in range(1, LARGEST + 1)
    ),
)

FAULTS = KeyTable(
    "faults",
    "Which faults, in which storage, how many.",
    (
        Key(
            "kinds",
            "list of strings",
            'Kinds of storage. `"ff"` takes `"macro"` with it: flip-flops inside SRAM macros upset like '
            'others. `"weights"` and `"activations"` lie in memory outside the NPU and stand alone. '
            '`"logic"` are cells of the synthesised netlist: the outputs of those between registers with '
            '`model = "set"`, all pins of all of them with `model = "stuck_at"`, where storage may stand '
            'beside it, their inputs with `model = "open"`, nets with `model = "bridge"`.',
            ("ff",),
            choices=KINDS,
        ),
        Key(
            "injections",
            "integer",
            "Number of injections; with a plan that stops early, the most.",
            low=1,
            high=10**9,
        ),
        Key(
            "minimum_per_block", "integer", "Least number in each kind of storage of each block.", 0, 0, 10**9
        ),
        Key(
            "minimum_in",
            "table",
            "Least number in some blocks, `{ cc = 500 }`, or by kind, `{ cc = { ff = 500 } }`, in place of "
            "`minimum_per_block`. Only with the plan `proportional`.",
            ABSENT,
        ),
        Key(
            "clusters",
            "table",
            "See `[faults.clusters]`. Without the key every upset flips one bit.",
            ABSENT,
            table=_CLUSTERS,
        ),
        Key(
            "cluster_shares",
            "string",
            'What is met holds for the shares of cluster sizes as they are `"declared"`, or for `"any"` '
            "shares of these sizes: the worst of all upsets having one of them decides.",
            DECLARED,
            choices=SHARES,
        ),
        *PLACEMENT,
        Key(
            "model",
            "string",
            '`"upset"`: a bit is inverted once. `"stuck_at"`: a bit, or a pin of a cell, is held at 0 or 1 '
            'from reset on. `"open"`: an input of a cell is open (stuck-open), so that the cell keeps what '
            'it had where that input decides; `"bridge"`: two nets of the list `bridges` are shorted, both '
            'with `kinds = ["logic"]`, as is '
            '`"set"`: a pulse at the output of a cell in one cycle.',
            UPSET,
            choices=MODELS,
        ),
        Key(
            "bridges",
            "path",
            "Pairs of nets that are bridged, `.csv` with `first`, `second`, and perhaps `type` and `weight`. "
            '[How to](../how-to/logic.md#bridges). Needed with `model = "bridge"`, refused otherwise.',
            ABSENT,
        ),
    ),
    required=True,
)

SAMPLING = KeyTable(
    "sampling",
    "How the faults are chosen, and when enough were injected.",
    (
        Key(
            "plan",
            "string",
            "The sampling plan; [which to take](../how-to/sampling-plans.md).",
            PLANS[0],
            choices=PLANS,
        ),
        Key(
            "margin",
            "number",
            "Half width of the interval of the total FIT, as part of the estimate, at which the campaign "
            "stops. Only with plans that go by results.",
            ABSENT,
            0.0,
            1.0,
        ),
        Key(
            "until_decided",
            "boolean",
            "Stop when the verdict on the budget is settled. Only with plans that go by results; `adaptive` "
            "does so by default.",
            False,
        ),
        Key(
            "inputs",
            "string",
            "What the intervals are about: these inputs, or inputs like these, with the differences between "
            'inputs in them. Without the key `"like these"` of inputs that are drawn, else `"these"`.',
            ABSENT,
            choices=INPUTS,
        ),
        Key(
            "model",
            "path",
            "Sensitivity model of the plan `predicted`. Without the key the one that ships.",
            ABSENT,
        ),
    ),
)

_RATE = "Outside 1e-9 to 1e-2 FIT a bit it is refused as a wrong unit."

TECHNOLOGY = KeyTable(
    "technology",
    "Raw upset rates: an entry of the technology data, and figures of your own in its place.",
    (
        Key("name", "string", "Name of an entry of `stats/data/technology.toml`."),
        Key("flip_flop_fit", "number", f"Raw rate of one flip-flop. {_RATE}", ABSENT, low=0.0, unit="FIT"),
        Key("flip_flop_range", "list of 2 numbers", "Lowest and highest that it may be.", ABSENT, unit="FIT"),
        Key(
            "sram_fit_per_mbit", "number", f"Raw rate of 10^6 SRAM bits. {_RATE}", ABSENT, low=0.0, unit="FIT"
        ),
        Key("sram_range", "list of 2 numbers", "Lowest and highest that it may be.", ABSENT, unit="FIT"),
        Key(
            "permanent_flip_flop_fit",
            "number",
            "Rate of permanent faults of one flip-flop.",
            ABSENT,
            low=0.0,
            unit="FIT",
        ),
        Key(
            "permanent_logic_fit",
            "number",
            "Rate at which one pin of a cell gets stuck, at 0 or at 1; of open inputs that of one input.",
            ABSENT,
            low=0.0,
            unit="FIT",
        ),
        Key(
            "permanent_bridge_fit",
            "number",
            "Rate at which a pair of nets of weight 1 is bridged; its faults share it.",
            ABSENT,
            low=0.0,
            unit="FIT",
        ),
        Key(
            "logic_by",
            "string",
            'What faults of cells come by: `"site"`, each as often as another; `"area"`, cells by their area '
            'in the library, which their sites share, with the same mean; `"weights"`, by `logic_weights`.',
            BY[0],
            choices=BY,
        ),
        Key(
            "logic_weights",
            "path",
            'Weights of cells, `.csv` with `type` and `weight`; needed with `logic_by = "weights"`.',
            ABSENT,
        ),
        Key(
            "permanent_sram_fit_per_mbit",
            "number",
            "Rate of permanent faults of 10^6 SRAM bits.",
            ABSENT,
            low=0.0,
            unit="FIT",
        ),
        Key(
            "logic_fit",
            "number",
            "Rate at which pulses begin at the output of one cell, before anything masks them.",
            ABSENT,
            low=0.0,
            unit="FIT",
        ),
        Key(
            "logic_range",
            "list of two numbers",
            "Lowest and highest `logic_fit`.",
            ABSENT,
            low=0.0,
            unit="FIT",
        ),
        Key(
            "clock_mhz",
            "number",
            "Clock of the design, for the part of pulses that a register takes.",
            ABSENT,
            low=0.0,
            unit="MHz",
        ),
        Key("pulse_ps", "number", "Width of a pulse in logic.", ABSENT, low=0.0, unit="ps"),
        Key("window_ps", "number", "Setup and hold of a flip-flop together.", ABSENT, low=0.0, unit="ps"),
        Key(
            "survival",
            "number",
            "Part of the pulses in logic that gates on the way do not attenuate, at most 1.",
            ABSENT,
            low=0.0,
        ),
    ),
    required=True,
)

BUDGET = KeyTable(
    "budget",
    "The target's share of the item's allowance. Without this table there is no verdict on FIT.",
    (
        Key("fit", "number", "Allowed failures per 10^9 hours.", low=0.0, unit="FIT"),
        Key("rationale", "string", "Where the figure comes from. Mandatory, as no default is right."),
        Key(
            "hazardous",
            "list of strings",
            "Outcomes that count as failures.",
            HAZARDOUS_DEFAULT,
            choices=HAZARDOUS_CHOICES,
        ),
    ),
)

AREA = KeyTable(
    "area",
    "Where areas come from.",
    (Key("liberty", "path", "A Liberty file. Without the key built-in gate equivalents are used.", ABSENT),),
)

# All but what runs on which target: what campaign and study files have in common.
RULE_TABLES = {
    **{table.name: table for table in (FAULTS, SAMPLING)},
    **engine_tables(),
    **{table.name: table for table in (TECHNOLOGY, BUDGET, SAFETY, AREA)},
}
TABLES = {table.name: table for table in (CAMPAIGN, NETWORK, WORKLOAD, TARGET)} | RULE_TABLES
