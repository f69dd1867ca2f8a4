# SPDX-License-Identifier: Apache-2.0
"""A campaign as TOML text: every default filled in, every path absolute."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from resil.campaign.campaign import Campaign
from resil.campaign.clusters import ANY
from resil.campaign.data_set import DataSet
from resil.campaign.farm_settings import FarmSettings
from resil.campaign.fault_settings import UPSET
from resil.campaign.network_settings import NetworkSettings
from resil.campaign.recording_settings import RecordingSettings
from resil.campaign.safety import SafetyMechanism
from resil.campaign.technology_settings import BY
from resil.campaign.testbench_settings import TestbenchSettings
from resil.campaign.workload_settings import ImageSettings
from resil.rtl_harness.replay.feedback import Answered
from resil.rtl_harness.replay.strobes import Strobe

Value = str | int | float | Sequence["Value"] | Mapping[str, "Value"]


# What a campaign's text begins with where the command line gave keys in place of the file's.
GIVEN = "# Given on the command line, in place of what the file says: "


def resolved_text(campaign: Campaign) -> str:
    """Return the campaign as a folder of results keeps it: with what the command line has changed in it."""
    if not campaign.options:
        return campaign_text(campaign)
    given = " ".join(shlex.join(campaign.options).split())
    return f"{GIVEN}{given}\n{campaign_text(campaign)}"


def campaign_text(campaign: Campaign) -> str:
    """Return the campaign as text that `load_campaign` reads back as an equal campaign."""
    return "\n".join(_table(name, values) for name, values in campaign_tables(campaign).items())


def campaign_tables(campaign: Campaign) -> dict[str, dict[str, Value]]:
    """Return the campaign's tables; keys that are not set are left out."""
    target = campaign.target
    faults, execution, technology = campaign.faults, campaign.execution, campaign.technology
    tables: dict[str, dict[str, Value | None]] = {
        "campaign": {
            "name": campaign.name,
            "seed": campaign.seed,
            "confidence": campaign.confidence,
            **_several(campaign),
        },
        **_work(campaign),
        "target": {"file": str(target)} if isinstance(target, Path) else {"name": target},
        "faults": {
            "model": UPSET if faults.external else faults.model,
            "kinds": list(faults.kinds),
            "injections": faults.injections,
            "minimum_per_block": faults.minimum_per_block,
            "minimum_in": dict(faults.minimum_in) or None,
            "clusters": {str(i): share for i, share in enumerate(faults.clusters, start=1) if share},
            "cluster_shares": ANY if faults.any_shares else None,
            "placement": str(faults.placement.file) if faults.placement else None,
            "reach_um": faults.placement.reach_um if faults.placement else None,
            "bridges": str(faults.bridges) if faults.bridges else None,
        },
        "sampling": _sampling(campaign),
        "execution": {
            "engine": execution.engine,
            "workers": execution.workers,
            "timeout": execution.timeout,
            "until": execution.until,
            "recall": execution.recall or None,
            "timeout_factor": execution.timeout_factor,
        },
        "execution.dask": _farm(execution.farm),
        "engine": {execution.engine: dict(execution.options) or None},
        "technology": {
            "name": technology.name,
            "flip_flop_fit": technology.flip_flop_fit,
            "flip_flop_range": technology.flip_flop_range,
            "sram_fit_per_mbit": technology.sram_fit_per_mbit,
            "sram_range": technology.sram_range,
            "permanent_flip_flop_fit": technology.permanent_flip_flop_fit,
            "permanent_sram_fit_per_mbit": technology.permanent_sram_fit_per_mbit,
            "logic_fit": technology.logic_fit,
            "logic_range": technology.logic_range,
            **technology.logic_factors,
            "permanent_logic_fit": technology.permanent_logic_fit,
            "permanent_bridge_fit": technology.permanent_bridge_fit,
            "logic_by": technology.logic_by if technology.logic_by != BY[0] else None,
            "logic_weights": str(technology.logic_weights) if technology.logic_weights else None,
        },
        "budget": _budget(campaign),
        "safety": _safety(campaign),
        "area": {"liberty": str(campaign.liberty) if campaign.liberty else None},
    }
    set_keys = {name: {k: v for k, v in values.items() if v is not None} for name, values in tables.items()}
    return {name: values for name, values in set_keys.items() if values}


def _work(campaign: Campaign) -> dict[str, dict[str, Value | None]]:
    work = campaign.work
    if isinstance(work, NetworkSettings):
        inputs = _inputs(work.inputs)
        rule = {"decision": work.decision, "threshold": work.threshold, "output": work.output}
        rule |= {"accept_golden": work.accept_golden or None}
        tables: dict[str, dict[str, Value | None]] = {
            "network": {"path": work.path, "inputs": inputs, **rule}
        }
        if work.detection is not None:
            tables["network.detection"] = {**work.detection.as_table()}
        return tables
    if isinstance(work, RecordingSettings):
        given = {"waves": [str(file) for file in work.waves], "instance": work.instance}
        return {"workload": {"name": work.name, **given, **_recording(work)}}
    if isinstance(work, TestbenchSettings):
        return {
            "workload": {"name": work.name, **_testbench(work, campaign.replays), **_recording(work.replay)}
        }
    output = work.output
    return {
        "workload": {
            "name": work.name,
            "decision": work.decision,
            "operations": list(work.operations) or None,
            "parameters": dict(work.parameters) or None,
            "images": [_image(image) for image in work.images],
        },
        "workload.output": {
            "memory": output.memory,
            "offset": output.offset,
            "shape": list(output.shape),
            "dtype": output.dtype,
            "expected": str(output.expected) if output.expected else None,
        },
    }


def _recording(work: RecordingSettings) -> dict[str, Value | None]:
    return {
        "from": work.begin or None,
        "to": work.end or None,
        "sampled": work.sampled,
        "at_edge": list(work.at_edge) or None,
        "clocks": list(work.clocks) or None,
        "parameters": dict(work.parameters) or None,
        "strobes": [_strobe(strobe) for strobe in work.strobes] or None,
        "closed": [_closed(own) for own in work.closed] or None,
        "images": [_image(image) for image in work.images] or None,
    }


def _testbench(work: TestbenchSettings, replays: bool) -> dict[str, Value | None]:
    # What a run did stays so, whichever engine looks at it afterwards.
    return {
        "cocotb": work.label,
        "record": replays,
        "python_path": [str(folder) for folder in work.python_path],
        "plusargs": list(work.plusargs) or None,
        "env": dict(work.environment) or None,
        "files": list(work.files) or None,
        "failures": list(work.failures) or None,
    }


def _closed(own: Answered) -> dict[str, Value]:
    values: dict[str, Value] = {"bus": own.bus, "memory": own.memory, "words": own.words}
    values |= {"kind": own.kind} if own.kind else {}
    values |= {"parameters": dict(own.parameters)} if own.parameters else {}
    return values | {"checked": own.checked}


def _strobe(strobe: Strobe) -> dict[str, Value]:
    values: dict[str, Value] = {"outputs": list(strobe.outputs), "compared": strobe.compared}
    if strobe.when:
        values["when"] = list(strobe.when)
    if strobe.cycles:
        values["cycles"] = [list(span) for span in strobe.cycles]
    return values | {"stream": strobe.stream, "tolerance": strobe.tolerance, "signed": strobe.signed}


def _inputs(inputs: tuple[int, ...] | Path | DataSet) -> Value:
    if isinstance(inputs, DataSet):
        return inputs.as_table()
    return str(inputs) if isinstance(inputs, Path) else list(inputs)


def _image(image: ImageSettings) -> dict[str, Value]:
    files = [str(file) for file in image.files]
    return {
        "memory": image.memory,
        "offset": image.offset,
        image.way: files if image.way == "files" else files[0],
    }


def _several(campaign: Campaign) -> dict[str, Value | None]:
    if campaign.inferences == 1:
        return {}
    own = not isinstance(campaign.work, NetworkSettings)
    return {"inferences": campaign.inferences, "between": None if own else campaign.between}


def _sampling(campaign: Campaign) -> dict[str, Value | None]:
    sampling = campaign.sampling
    values: dict[str, Value | None] = {"plan": sampling.plan, "inputs": sampling.inputs}
    if sampling.plan == "predicted":
        values["model"] = str(sampling.model) if sampling.model else None
    if not sampling.goes_by_results:
        return values
    return values | {"margin": sampling.margin, "until_decided": sampling.until_decided}


def _farm(farm: FarmSettings | None) -> dict[str, Value | None]:
    return {} if farm is None else {name: value for name, value in asdict(farm).items() if value}


def _budget(campaign: Campaign) -> dict[str, Value | None]:
    if campaign.budget is None:
        return {}
    return {
        "fit": campaign.budget.fit,
        "rationale": campaign.budget.rationale,
        "hazardous": list(campaign.hazardous),
    }


def _safety(campaign: Campaign) -> dict[str, Value | None]:
    safety = campaign.safety
    if safety is None:
        return {}
    return {
        "claims": list(safety.claims),
        "asil": safety.asil,
        "spfm": safety.spfm,
        "lfm": safety.lfm,
        "pmhf_fit": safety.pmhf_fit,
        "pmhf_rationale": safety.pmhf_rationale or None,
        "pmhf_covers": safety.pmhf_covers,
        "due_fit": safety.due_fit,
        "due_rationale": safety.due_rationale or None,
        "clock_mhz": safety.clock_mhz,
        "ftti_cycles": safety.ftti_cycles,
        "reaction_cycles": safety.reaction_cycles or None,
        "permanent": str(safety.permanent) if safety.permanent else None,
        "logic": str(safety.logic) if safety.logic else None,
        "permanent_logic": str(safety.permanent_logic) if safety.permanent_logic else None,
        "mechanism_faults": str(safety.mechanism_faults) if safety.mechanism_faults else None,
        "derated": safety.derated or None,
        "lifetime_hours": safety.lifetime_hours,
        "left_out": safety.left_out or None,
        "watchdog": safety.watchdog or None,
        "mechanism": [_mechanism(mechanism) for mechanism in safety.mechanisms] or None,
    }


def _mechanism(mechanism: SafetyMechanism) -> dict[str, Value]:
    values: dict[str, Value] = {"alarm": mechanism.alarm}
    if mechanism.coverage is not None:
        values["coverage"] = mechanism.coverage
    return values | {"blocks": list(mechanism.blocks), "storage": list(mechanism.storage)}


def _table(name: str, values: dict[str, Value]) -> str:
    return "".join([f"[{name}]\n", *(f"{key} = {_literal(value)}\n" for key, value in values.items())])


def _key(text: str) -> str:
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else _literal(text)


def _literal(value: Value) -> str:
    if isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(key)} = {_literal(item)}' for key, item in value.items())} }}"
    if isinstance(value, Sequence):
        return f"[{', '.join(_literal(item) for item in value)}]"
    return repr(value)
