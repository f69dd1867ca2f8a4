# SPDX-License-Identifier: Apache-2.0
"""Permanent faults in the gates of mechanisms that are built, on a block in lockstep and on the NPU.

Called as `python -m benchmarks.protection.mechanism_faults [DESIGN...] [--function N] [--own N] [--seconds N]
[--seed N]`. Builds the protection into examples/awkward (control in lockstep) and into the NPU of 32 MACs,
which runs `digits` (`NPU_GROUPS`). Then does what `resil mechanisms` does, and prints it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from resil.campaign.campaign import load_campaign
from resil.mechanisms.measure import MechanismSizes, measure_mechanisms
from resil.mechanisms.text import mechanism_faults_text
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.redundancy import Mechanism, ProtectionGroup, build_protection

ROOT = Path(__file__).parents[2]
LOCKSTEP_GROUPS = (("control", Mechanism.LOCKSTEP),)
NPU_GROUPS = (
    ("cpm", Mechanism.TRIPLICATION),
    ("u_npu.u_cc.u_apb.qbase_q", Mechanism.DUPLICATION),
    ("u_npu.u_cc.u_apb.base_q", Mechanism.PARITY),
    ("u_npu.u_sb.gen_bank[0].u_bank.mem_q", Mechanism.SECDED),
)
_AWKWARD = """
[campaign]
name = "awkward-lockstep"
seed = 20261126
[target]
file = "{target}"
[workload]
name = "source0"
decision = "exact"
[[workload.images]]
memory = "source"
files = ["{source}"]
[workload.output]
memory = "sink"
offset = 0
shape = [12, 4]
dtype = "uint64"
[faults]
kinds = ["ff"]
injections = 1000
[technology]
name = "finfet-16nm"
[budget]
fit = 0.1
rationale = "a benchmark"
"""


def awkward(folder: Path) -> Path:
    """Build two blocks in lockstep; return the campaign on them."""
    example = ROOT / "examples" / "awkward"
    _build(example / "target.toml", LOCKSTEP_GROUPS, folder)
    text = _AWKWARD.format(target=folder / "out" / "target.toml", source=example / "source0.hex")
    (folder / "campaign.toml").write_text(text, encoding="utf-8")
    return folder / "campaign.toml"


def npu(folder: Path) -> Path:
    """Build some groups into the NPU; return the campaign of digits on it."""
    _build("ethos-u55-32", NPU_GROUPS, folder)
    text = (ROOT / "examples" / "digits.toml").read_text(encoding="utf-8")
    text = text.replace('name = "ethos-u55-32" ', f'file = "{folder / "out" / "target.toml"}" ')
    (folder / "campaign.toml").write_text(text, encoding="utf-8")
    return folder / "campaign.toml"


def _build(name: str | Path, wanted: Sequence[tuple[str, Mechanism]], folder: Path) -> None:
    target = load_target(name)
    elaboration = with_hardware(target, elaborate(target))
    build_protection(target, elaboration, [ProtectionGroup(*own) for own in wanted], folder / "out")


DESIGNS: dict[str, Callable[[Path], Path]] = {"awkward": awkward, "npu": npu}


def main() -> int:
    """Build, simulate, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("designs", nargs="*", choices=tuple(DESIGNS), help="which; all by default")
    sizes = MechanismSizes()
    parser.add_argument("--function", type=int, default=sizes.function, help="faults outside mechanisms")
    parser.add_argument("--own", type=int, default=sizes.mechanisms, help="faults in mechanisms")
    parser.add_argument("--seconds", type=int, default=sizes.seconds, help="of each sort after a quiet one")
    parser.add_argument("--seed", type=int, default=20261126, help="of the draws")
    asked = parser.parse_args()
    sizes = MechanismSizes(asked.function, asked.own, asked.seconds)
    for name in asked.designs or DESIGNS:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            campaign = load_campaign(DESIGNS[name](Path(folder)))
            found = measure_mechanisms(campaign, Path(folder) / "faults", sizes, asked.seed)
        print(f"{mechanism_faults_text(found, None)}{time.monotonic() - began:.0f} s\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
