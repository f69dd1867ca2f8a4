"""A campaign as TOML text: every default filled in, every path absolute."""

from __future__ import annotations

import json
from pathlib import Path

from resil.campaign import Campaign

Value = str | int | float | list[str] | list[int]


def campaign_text(campaign: Campaign) -> str:
    """Return the campaign as text that `load_campaign` reads back as an equal campaign."""
    return "\n".join(_table(name, values) for name, values in campaign_tables(campaign).items())


def campaign_tables(campaign: Campaign) -> dict[str, dict[str, Value]]:
    """Return the campaign's tables; keys that are not set are left out."""
    inputs = campaign.network.inputs
    target = campaign.target
    faults, execution, technology = campaign.faults, campaign.execution, campaign.technology
    tables: dict[str, dict[str, Value | None]] = {
        "campaign": {"name": campaign.name, "seed": campaign.seed, "confidence": campaign.confidence},
        "network": {
            "path": campaign.network.path,
            "inputs": str(inputs) if isinstance(inputs, Path) else list(inputs),
        },
        "target": {"file": str(target)} if isinstance(target, Path) else {"name": target},
        "faults": {
            "kinds": list(faults.kinds),
            "injections": faults.injections,
            "minimum_per_block": faults.minimum_per_block,
        },
        "execution": {
            "engine": execution.engine,
            "workers": execution.workers,
            "timeout_factor": execution.timeout_factor,
        },
        "technology": {
            "name": technology.name,
            "flip_flop_fit": technology.flip_flop_fit,
            "sram_fit_per_mbit": technology.sram_fit_per_mbit,
        },
        "budget": _budget(campaign),
        "area": {"liberty": str(campaign.liberty) if campaign.liberty else None},
    }
    set_keys = {name: {k: v for k, v in values.items() if v is not None} for name, values in tables.items()}
    return {name: values for name, values in set_keys.items() if values}


def _budget(campaign: Campaign) -> dict[str, Value | None]:
    if campaign.budget is None:
        return {}
    return {
        "fit": campaign.budget.fit,
        "rationale": campaign.budget.rationale,
        "hazardous": list(campaign.hazardous),
    }


def _table(name: str, values: dict[str, Value]) -> str:
    return "".join([f"[{name}]\n", *(f"{key} = {_literal(value)}\n" for key, value in values.items())])


def _literal(value: Value) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(_literal(item) for item in value)}]"
    return repr(value)
