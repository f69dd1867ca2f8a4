# SPDX-License-Identifier: Apache-2.0
"""Networks of real size, trained on pictures, with campaign files: MobileNetV2 and a single-shot detector.

    python -m benchmarks.npu.picture_networks FOLDER mobile --width 0.35 --side 96
    python -m benchmarks.npu.picture_networks FOLDER detector --side 128

FOLDER gets NAME.tflite, a held-out picture as input, NAME.json of how it was made, and NAME-256.toml and the
like, a campaign for each size of the NPU. `mobile` is MobileNetV2 (arXiv 1801.04381) and reads the digit on a
photograph. It is trained at 96 x 96; at another size it has the same weights and another last pool, with
batch normalisation made anew. `detector` finds one to three digits: a backbone of the same kind down to a
sixteenth of the picture, and for each cell a box and scores of ten classes, as in SSD (arXiv 1512.02325).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.npu.pictures import Images, Scene, labelled_pictures, scenes
from resil.networks import oracle, reference
from resil.networks.architecture import Architecture, ArchitectureLayer, conv, dense, depthwise, pool
from resil.networks.datasets import Dataset
from resil.networks.float_network import FloatNetwork
from resil.networks.quantise import quantise
from resil.networks.tflite_writer import serialise_network
from resil.networks.torch_model import Torch, TorchModel, import_torch
from resil.networks.train import quantise_inputs

TRAINED_SIDE = 96
CLASSES = 10
# Expansion, channels, blocks and stride of the first of MobileNetV2's stages.
STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
LAST = 1280
STEM = 32
# The detector ends at a sixteenth of the picture.
DETECTOR_STAGES = 5
HEAD = 96
# Of the box that a cell corrects, as a share of the picture.
ANCHOR = 0.35
SCALES = (10.0, 10.0, 5.0, 5.0)
SIZES = (32, 64, 128, 256)
CALIBRATION, SHIPPED = 4, 1


def channels(wanted: int, width: float) -> int:
    """Return channels at a width: multiples of eight, and no tenth less than asked for."""
    found = max(8, int(wanted * width + 4) // 8 * 8)
    return found + 8 if found < 0.9 * wanted * width else found


def backbone(width: float, stages: int) -> tuple[list[ArchitectureLayer], str]:
    """Return the blocks of the first stages, and the name of the last."""
    blocks = [conv("stem", channels(STEM, width), stride=2, relu6=True, normalise=True)]
    source, have, number = "stem", channels(STEM, width), 0
    for expansion, wanted, repeats, first in STAGES[:stages]:
        filters = channels(wanted, width)
        for repeat in range(repeats):
            number += 1
            stride = first if repeat == 0 else 1
            if expansion > 1:
                wide = conv(
                    f"expand{number}", have * expansion, size=1, relu6=True, normalise=True, sources=(source,)
                )
                blocks.append(wide)
            blocks.append(depthwise(f"depthwise{number}", stride, relu6=True))
            blocks.append(conv(f"project{number}", filters, size=1, relu=False, normalise=True))
            around = source
            source = f"project{number}"
            if stride == 1 and have == filters:
                blocks.append(ArchitectureLayer(f"sum{number}", "ADD", sources=(source, around)))
                source = f"sum{number}"
            have = filters
    return blocks, source


def mobile(width: float, side: int) -> Architecture:
    """Return MobileNetV2 with ten classes."""
    blocks, source = backbone(width, len(STAGES))
    last = max(LAST, channels(LAST, width))
    blocks += [
        conv("last", last, size=1, relu6=True, normalise=True, sources=(source,)),
        pool("mean", "AVERAGE", -(-side // 32)),
        ArchitectureLayer("flatten", "FLATTEN"),
        dense("logits", CLASSES),
    ]
    return Architecture(f"mobilenetv2-{width:g}-{side}", (side, side, 3), tuple(blocks))


def detector(width: float, side: int) -> Architecture:
    """Return a single-shot detector: outputs `boxes` (cells, cells, 4) and `scores` (cells, cells, 10)."""
    blocks, source = backbone(width, DETECTOR_STAGES)
    blocks += [
        conv("widen", HEAD, size=1, relu6=True, normalise=True, sources=(source,)),
        depthwise("look", relu6=True),
        conv("head", HEAD, size=1, relu6=True, normalise=True),
        conv("boxes", 4, size=1, relu=False, sources=("head",)),
        conv("scores", CLASSES, size=1, relu=False, sources=("head",)),
    ]
    name = f"detector-{width:g}-{side}"
    return Architecture(name, (side, side, 3), tuple(blocks), ("boxes", "scores"))


def anchors(cells: int) -> npt.NDArray[np.float32]:
    """Return the box that each cell corrects, (cells * cells, 4): middle y, x, height, width, as shares."""
    middle = (np.arange(cells, dtype=np.float32) + 0.5) / cells
    y, x = np.meshgrid(middle, middle, indexing="ij")
    size = np.full_like(y, ANCHOR)
    return np.stack([y, x, size, size], axis=-1).reshape(-1, 4)


def targets(found: Sequence[Scene], cells: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return what boxes (N, 4, cells, cells), nan without an object, and scores (N, 10, ...) should be."""
    place = anchors(cells).reshape(cells, cells, 4)
    boxes = np.full((len(found), 4, cells, cells), np.nan, np.float32)
    scores = np.zeros((len(found), CLASSES, cells, cells), np.float32)
    for number, scene in enumerate(found):
        for box, label in zip(scene.boxes, scene.labels, strict=True):
            size = box[2:] - box[:2]
            middle = (box[:2] + box[2:]) / 2
            y, x = np.minimum((middle * cells).astype(int), cells - 1)
            anchor = place[y, x]
            shift = (middle - anchor[:2]) / anchor[2:] * SCALES[:2]
            boxes[number, :, y, x] = np.concatenate([shift, np.log(size / anchor[2:]) * SCALES[2:]])
            scores[number, label, y, x] = 1.0
    return boxes, scores


class _Trainer:
    """Steps of AdamW with one cycle of the learning rate."""

    def __init__(self, architecture: Architecture, steps: int, seed: int) -> None:
        self.torch: Torch = import_torch()
        self.torch.manual_seed(seed)
        self.torch.set_num_threads(1)
        self.model = TorchModel(self.torch, architecture)
        for norm in self.model.norms.values():
            norm.momentum = 0.05
        parameters = self.model.modules.parameters()
        self.optimiser = self.torch.optim.AdamW(parameters, lr=3e-3, weight_decay=1e-2)
        self.schedule = self.torch.optim.lr_scheduler.OneCycleLR(
            self.optimiser, 3e-3, total_steps=max(steps, 1)
        )

    def tensor(self, images: Images) -> Torch:
        return self.torch.from_numpy(np.ascontiguousarray(images.transpose(0, 3, 1, 2)))

    def step(self, loss: Torch) -> None:
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        self.schedule.step()

    def settle(self, images: Images) -> None:
        """Let batch normalisation have the statistics of these pictures, with the weights as they are."""
        with self.torch.no_grad():
            for norm in self.model.norms.values():
                norm.reset_running_stats()
                norm.momentum = None
            for start in range(0, len(images), 16):
                self.model(self.tensor(images[start : start + 16]))

    def export(self) -> FloatNetwork:
        self.model.modules.eval()
        return self.model.export()


def trained_mobile(width: float, side: int, data: Dataset, epochs: int, seed: int) -> FloatNetwork:
    """Train at 96 pixels; at another size take the weights, and make batch normalisation anew on `data`."""
    small = data if side == TRAINED_SIDE else labelled_pictures(TRAINED_SIDE, len(data.train_inputs), 1, seed)
    batch = 32
    steps = epochs * (len(small.train_inputs) // batch)
    own = _Trainer(mobile(width, TRAINED_SIDE), steps, seed)
    labels = own.torch.from_numpy(small.train_labels)
    for _ in range(epochs):
        for some in own.torch.randperm(len(small.train_inputs)).split(batch):
            if len(some) < batch:
                continue
            outputs = own.model(own.tensor(small.train_inputs[some.numpy()]))
            own.step(own.torch.nn.functional.cross_entropy(outputs, labels[some], label_smoothing=0.05))
    if side == TRAINED_SIDE:
        own.settle(data.train_inputs[:256])
        return own.export()
    large = _Trainer(mobile(width, side), 1, seed)
    large.model.modules.load_state_dict(own.model.modules.state_dict())
    large.settle(data.train_inputs[:64])
    return large.export()


def trained_detector(
    width: float, side: int, images: Images, found: Sequence[Scene], epochs: int, seed: int
) -> FloatNetwork:
    """Train a detector on scenes: focal loss of scores, absolute error of boxes where there is an object."""
    batch = 32
    own = _Trainer(detector(width, side), epochs * (len(images) // batch), seed)
    functional = own.torch.nn.functional
    boxes, scores = (own.torch.from_numpy(part) for part in targets(found, side // 16))
    own.torch.nn.init.constant_(own.model.weights["scores"].bias, -3.0)
    for _ in range(epochs):
        for some in own.torch.randperm(len(images)).split(batch):
            if len(some) < batch:
                continue
            drawn, said = own.model(own.tensor(images[some.numpy()]))
            wanted = scores[some]
            each = functional.binary_cross_entropy_with_logits(said, wanted, reduction="none")
            right = own.torch.exp(-each)
            weight = (0.25 + 0.5 * wanted) * (1 - right) ** 2
            objects = wanted.sum().clamp(min=1.0)
            there = ~own.torch.isnan(boxes[some])
            apart = functional.smooth_l1_loss(drawn[there], boxes[some][there], reduction="sum")
            own.step(4 * (weight * each).sum() / objects + 0.2 * apart / objects)
    own.settle(images[:256])
    return own.export()


def campaign_text(network: str, macs: int, decision: str, seed: int) -> str:
    """Return a campaign of upsets of flip-flops on one size."""
    return f"""[campaign]
name = "{network}-{macs}"
seed = {seed}

[network]
path = "{network}.tflite"
inputs = "{network}.npy"
{decision}
[target]
name = "ethos-u55-{macs}"

[faults]
kinds = ["ff"]
injections = 10000

[execution]
recall = false

[technology]
name = "finfet-16nm"
"""


DETECTION = """decision = "detection"

[network.detection]
boxes = "boxes"
scores = "scores"
activation = "sigmoid"
anchors = "{network}-anchors.npy"
scales = [10.0, 10.0, 5.0, 5.0]
threshold = 0.4
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Make one network."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("what", choices=("mobile", "detector"))
    parser.add_argument("--width", type=float, default=0.35, help="of channels")
    parser.add_argument("--side", type=int, default=96, help="pixels; of a detector a multiple of 16")
    parser.add_argument("--train", type=int, default=4000, help="pictures")
    parser.add_argument("--judged", type=int, default=200, help="held-out pictures")
    parser.add_argument("--epochs", type=int, default=10, help="0 leaves random weights, normalised")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    given.folder.mkdir(parents=True, exist_ok=True)
    began = time.process_time()
    if given.what == "mobile":
        data = labelled_pictures(given.side, given.train, given.judged, given.seed)
        network = trained_mobile(given.width, given.side, data, given.epochs, given.seed)
        train, held_out = data.train_inputs, data.heldout_inputs
    else:
        train, found = scenes(given.side, given.train, held_out=False, seed=given.seed)
        held_out, truth = scenes(given.side, given.judged, held_out=True, seed=given.seed)
        network = trained_detector(given.width, given.side, train, found, given.epochs, given.seed)
    graph = quantise(network, train[:CALIBRATION])
    model = serialise_network(graph)
    path = given.folder / f"{network.name}.tflite"
    path.write_bytes(model)
    record: dict[str, object] = {
        "command": "python -m benchmarks.npu.picture_networks " + " ".join(sys.argv[1:]),
        "bytes": len(model),
        "parameters": sum(own.weights.size for own in network.layers if own.weights is not None),
        "training_processor_seconds": round(time.process_time() - began, 1),
    }
    levels = quantise_inputs(graph, held_out)
    outputs = oracle.run_all(model, [levels[:, None]])
    decision = ""
    if given.what == "mobile":
        right = (outputs[0].reshape(len(levels), -1).argmax(1) == data.heldout_labels).mean()
        record["heldout_accuracy_int8"] = float(right)
    else:
        np.save(given.folder / f"{network.name}-anchors.npy", anchors(given.side // 16))
        np.savez(
            given.folder / f"{network.name}-truth.npz",
            *[np.c_[s.boxes, s.labels] for s in truth],
            boxes=outputs[0],
            scores=outputs[1],
        )
        decision = DETECTION.format(network=network.name)
    few = reference.run(graph, levels[:2]) if given.what == "mobile" else None
    if few is not None:
        record["elements_unlike_the_reference"] = int((few.reshape(-1) != outputs[0][:2].reshape(-1)).sum())
    np.save(given.folder / f"{network.name}.npy", levels[:SHIPPED])
    for macs in SIZES:
        text = campaign_text(network.name, macs, decision, given.seed)
        (given.folder / f"{network.name}-{macs}.toml").write_text(text, encoding="utf-8")
    (given.folder / f"{network.name}.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=2))


if __name__ == "__main__":
    main()
