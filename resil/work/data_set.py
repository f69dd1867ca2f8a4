# SPDX-License-Identifier: Apache-2.0
"""Inputs out of a data set: drawn at random, or searched for with the functional model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from resil.campaign.campaign import Campaign
from resil.campaign.data_set import DataSet
from resil.campaign.network_settings import ZOO_PREFIX, NetworkSettings
from resil.errors import CampaignError
from resil.networks import zoo
from resil.networks.errors import NetworkError
from resil.networks.parts import Network, PartedNetwork
from resil.rtl_harness.npu.infer import infer
from resil.rtl_harness.npu.stretches import PartedModel
from resil.stats.sampling import draw
from resil.work.decisions import NetworkDecision, margins, network_decision
from resil.work.image_folder import image_folder
from resil.work.tensor_files import arrays_in, load_levels

Inputs = tuple[npt.NDArray[np.generic], ...]
IntArray = npt.NDArray[np.int64]

# Inputs of a pilot that is to say how many are drawn.
PILOT_INPUTS = 8


def data_set_inputs(
    campaign: Campaign, settings: NetworkSettings, data_set: DataSet, compiled: Network
) -> tuple[tuple[int, ...], tuple[Inputs, ...]]:
    """Return place in the data set and tensors of each input that is drawn, or searched for.

    Where a pilot is to say how many are drawn, and has not, they are those of the pilot.

    Raises:
        CampaignError: the data set cannot be read, does not fit the network, or holds fewer.
        NetworkError: the inputs of a zoo network neither ship nor come with what is installed.
    """
    known = None if data_set.source else zoo.load(settings.path.removeprefix(ZOO_PREFIX))
    levels = _levels(compiled, data_set) if known is None else ()
    size = len(levels[0]) if known is None else known.heldout_count
    count = data_set.hardest or (PILOT_INPUTS if data_set.draw is None else data_set.draw)
    if count > size:
        raise CampaignError(
            f"{campaign.file}: [network.inputs] {'hardest' if data_set.hardest else 'draw'}: expected at "
            f"most {size:,}, the inputs of {data_set.title}, found {count:,}; change the value",
            f"network.inputs.{'hardest' if data_set.hardest else 'draw'}",
        )
    if data_set.hardest:
        everything = levels if known is None else (known.heldout_inputs,)
        decision = network_decision(campaign, settings, compiled)
        labels = _closest(campaign, compiled, decision, everything, count)
    else:
        labels = draw(data_set.seed, "inputs", size, count)
    own = tuple(labels.tolist())
    if known is not None:
        return own, tuple((tensor,) for tensor in known.heldout_at(own))
    return own, tuple(tuple(values[label] for values in levels) for label in own)


def data_set_size(settings: NetworkSettings, data_set: DataSet) -> int:
    """Return how many inputs a data set has.

    Raises:
        CampaignError: it cannot be read.
        NetworkError: the zoo's record cannot be read.
    """
    source = data_set.source
    if source is None:
        return zoo.load(settings.path.removeprefix(ZOO_PREFIX)).heldout_count
    if source.is_dir():
        return len(data_set.files)
    return len(arrays_in(source)[0])


def _levels(compiled: Network, data_set: DataSet) -> Inputs:
    source = data_set.source or Path()
    if not source.is_dir():
        return load_levels(compiled, [source])
    try:
        return compiled.ends.levels([image_folder(data_set)])
    except NetworkError as error:
        raise CampaignError(f"{source}: {error}", error.field) from error


def _outputs(compiled: Network, levels: Inputs) -> Inputs:
    """Return the outputs of all inferences on the functional model, (N, ...) each."""
    if isinstance(compiled, PartedNetwork):
        model = PartedModel(compiled)
        found = [model.outputs(given) for given in zip(*levels, strict=True)]
        return tuple(np.stack(own) for own in zip(*found, strict=True))
    return infer(compiled, levels if len(levels) > 1 else levels[0], "functional").outputs


def _closest(
    campaign: Campaign, compiled: Network, decision: NetworkDecision, levels: Inputs, count: int
) -> IntArray:
    """Return the places of the inputs whose decisions are closest, the closest first."""
    found = margins(decision, levels, _outputs(compiled, levels)[decision.output])
    if found is None:
        raise CampaignError(
            f"{campaign.file}: [network.inputs] hardest: expected a decision that can be close, found the "
            f'rule "{decision.name}"; draw inputs instead',
            "network.inputs.hardest",
        )
    return np.argsort(found, kind="stable")[:count].astype(np.int64)
