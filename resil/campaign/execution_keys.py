# SPDX-License-Identifier: Apache-2.0
"""The tables [execution] and [engine] of a campaign file: their keys, declared."""

from __future__ import annotations

from dataclasses import replace

from resil.campaign.declaration import ABSENT, Key, KeyTable
from resil.campaign.engines import engines
from resil.campaign.farm_settings import JOBS, LOCAL
from resil.campaign.rules import TIMEOUTS, UNTIL
from resil.rtl_harness.engine.declaration import EngineOption

_DASK = KeyTable(
    "execution.dask",
    "Workers elsewhere, by dask. Either `scheduler`, or `cluster` with `workers`.",
    (
        Key(
            "audit",
            "number",
            "Share of the injections that another worker simulates once more, to compare. 1.0 has all "
            "simulated twice.",
            0.005,
            0.0,
            1.000001,
        ),
        Key(
            "scheduler",
            "string",
            'Address of a scheduler that is there already, as `"tls://HOST:8786"`.',
            ABSENT,
        ),
        Key(
            "ca",
            "path",
            "With `scheduler`: the authority by which scheduler and workers are known (PEM). Without "
            "the key, `certificate` and `key` those that dask is configured with.",
            ABSENT,
        ),
        Key("certificate", "path", "With `ca`: what this process shows.", ABSENT),
        Key("key", "path", "With `ca`: the private key of it.", ABSENT),
        Key(
            "unprotected",
            "boolean",
            "Let connections need no certificate though they leave this machine. Who reaches the scheduler "
            "then can run code in it, in its workers and here.",
            False,
        ),
        Key(
            "cluster",
            "string",
            "What starts workers: processes on this machine, or jobs of a batch system.",
            ABSENT,
            choices=(LOCAL, *JOBS),
        ),
        Key("workers", "integer", "Worker processes, each of one simulator.", ABSENT, 1, 10_000),
        Key("memory", "string", 'Memory of a job: a number and a unit, as `"4GB"`.', "4GB"),
        Key(
            "walltime",
            "string",
            'Longest time of a job, as `"04:00:00"`. Without the key the system\'s own.',
            ABSENT,
        ),
        Key("queue", "string", "Queue or partition. Without the key the system's own.", ABSENT),
        Key("account", "string", "What jobs are charged to.", ABSENT),
        Key(
            "interface",
            "string",
            "Network interface of scheduler and workers. Without the key it is found.",
            ABSENT,
        ),
        Key(
            "python",
            "string",
            "Command that starts Python in a job. Without the key the one that runs now.",
            ABSENT,
        ),
        Key("prologue", "list of strings", "Lines of a job before its worker starts.", ()),
        Key(
            "directives", "list of strings", "Further options of a job, as the batch system writes them.", ()
        ),
    ),
)

_EXECUTION = KeyTable(
    "execution",
    "How injections are simulated.",
    (
        Key(
            "engine",
            "string",
            "The engine. All give the same outcomes. Without the key the first that can do what is asked.",
            ABSENT,
        ),
        Key(
            "workers",
            "integer",
            "Simulator processes. Without the key one for each processor.",
            ABSENT,
            1,
            1024,
        ),
        Key(
            "timeout_factor",
            "number",
            "What takes longer than this times what it takes in the golden run is a hang.",
            2.0,
            1.0,
            1000.0,
        ),
        Key(
            "timeout",
            "string",
            'What has a time-out: the inference, or with `"operation"` each operation too.',
            TIMEOUTS[0],
            choices=TIMEOUTS,
        ),
        Key(
            "until",
            "string",
            "How far an injection goes: to its end, or to the first alarm that detects. What would have "
            "come after that alarm is then not known.",
            UNTIL[0],
            choices=UNTIL,
        ),
        Key(
            "recall",
            "boolean",
            "Take outcomes that earlier campaigns with this key have found of the same faults in the same "
            "thing, and keep those of this one, in the cache. RTL, tools, sources of resil, images and the "
            "run without a fault must be the same; seed, plan, budget and number need not. Some are "
            "simulated again.",
            False,
        ),
        Key(
            "dask",
            "string or table",
            'Workers elsewhere: the address of a dask scheduler, as `"tls://HOST:8786"`, or a table '
            "`[execution.dask]`.",
            ABSENT,
            table=_DASK,
        ),
    ),
)


def engine_tables() -> dict[str, KeyTable]:
    """Return the tables that depend on which engines there are: [execution] and [engine]."""
    names = tuple(engine.name for engine in engines())
    keys = tuple(replace(key, choices=names) if key.name == "engine" else key for key in _EXECUTION.keys)
    options = tuple(
        Key(
            engine.name,
            "table",
            engine.help,
            ABSENT,
            table=KeyTable(f"engine.{engine.name}", engine.help, tuple(map(_key, engine.options))),
        )
        for engine in engines()
        if engine.options
    )
    return {
        "execution": replace(_EXECUTION, keys=keys),
        "engine": KeyTable("engine", "Options of engines; only those of the one used count.", options),
    }


def _key(option: EngineOption) -> Key:
    return Key(option.name, option.type, option.help, option.default, option.low, option.high, option.choices)
