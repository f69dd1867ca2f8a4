# SPDX-License-Identifier: Apache-2.0
"""Replay what faults in the RTL did to tensors on a network in PyTorch, and compare with the RTL.

    resil run examples/digits.toml --out runs/digits --set "network.inputs=[0, 1, 2, 3, 4, 5, 6, 7]"
    resil patterns runs/digits --input 0 --input 1 --input 2 --input 3 -o learnt.json
    resil patterns runs/digits --input 4 --input 5 --input 6 --input 7 -o held.json
    python examples/patterns_torch.py learnt.json --network zoo:digits --inputs 4-7 --against held.json

An injector in software, as PyTorchFI or MRFI are, hooks a layer and changes its output. Most flip a bit
there. This one draws what a fault in the RTL did: a pattern, in proportion to the FIT that it stands for,
laid into the output of a layer of its kind. It needs `pip install 'resil[train]'`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch

from resil.networks import reference, zoo
from resil.networks.graph import Graph, Operator, without_trailing_softmax
from resil.networks.tflite_reader import read_network
from resil.record.patterns import ErrorPattern, ErrorPatterns
from resil.work.patterns import Pattern, redraw

Hook = Callable[[torch.nn.Module, object, torch.Tensor], torch.Tensor]
KINDS = {
    "CONV_2D": "conv",
    "DEPTHWISE_CONV_2D": "depthwise",
    "FULLY_CONNECTED": "dense",
    "MAX_POOL_2D": "pool",
    "AVERAGE_POOL_2D": "pool",
    "ADD": "elementwise",
}


class Int8Layer(torch.nn.Module):
    """An operator on int8 levels, (N, H, W, C), which are held as whole numbers in float64 tensors."""

    def __init__(self, graph: Graph, operator: Operator) -> None:
        super().__init__()
        self.operator = operator
        self.kind = KINDS.get(operator.kind, "")
        self.inputs = [graph.tensors[i] for i in operator.inputs if i >= 0]
        self.output = graph.tensors[operator.outputs[0]]
        self.name = self.output.name
        options = operator.options
        self.stride = int(options.get("stride_h", 1)), int(options.get("stride_w", 1))
        self.same = options.get("padding") == "SAME"
        relu = options.get("fused_activation_function") == "RELU"
        self.low = max(-128, self.output.zero_point) if relu else -128
        if self.kind in ("conv", "depthwise", "dense"):
            kernel, bias = (torch.tensor(np.asarray(t.data, np.float64)) for t in self.inputs[1:])
            if self.kind != "dense":
                kernel = kernel.permute(0, 3, 1, 2) if self.kind == "conv" else kernel.permute(3, 0, 1, 2)
            scale = np.array(self.inputs[1].quantisation.scale) * self.inputs[0].scale / self.output.scale
            self.kernel, self.bias, self.scale = kernel, bias, torch.tensor(scale)
        #: Multiplications of an inference: an operation's time on the NPU goes with them.
        taps = self.inputs[1].data[0].size if self.kind in ("conv", "dense") else 9  # 3 x 3, of each element
        self.work = int(np.prod(self.output.shape)) * taps

    def forward(self, *levels: torch.Tensor) -> torch.Tensor:
        """Return the output's levels, as TensorFlow Lite's integer kernels do but for roundings of ties."""
        source = self.inputs[0]
        if self.kind == "elementwise":
            pairs = zip(levels, self.inputs, strict=True)
            real = sum((value - tensor.zero_point) * tensor.scale for value, tensor in pairs)
            return self._stored(real / self.output.scale)
        value = levels[0]
        if self.kind == "dense":
            sums = (value.reshape(len(value), -1) - source.zero_point) @ self.kernel.T + self.bias
            return self._stored(sums * self.scale)
        if self.kind == "":
            return value.reshape(len(value), *self.output.shape[1:])
        pooled = self.kind == "pool"
        size = self._pool_size() if pooled else self.kernel.shape[2:]
        outside = -128.0 if self.operator.kind == "MAX_POOL_2D" else float(source.zero_point)
        padded = torch.nn.functional.pad(value.permute(0, 3, 1, 2), self._padding(size), value=outside)
        if self.operator.kind == "MAX_POOL_2D":
            return torch.nn.functional.max_pool2d(padded, size, self.stride).permute(0, 2, 3, 1)
        if pooled:
            mean = torch.nn.functional.avg_pool2d(padded, size, self.stride)
            return nearest(mean).permute(0, 2, 3, 1)
        groups = source.shape[-1] if self.kind == "depthwise" else 1
        sums = torch.nn.functional.conv2d(
            padded - source.zero_point, self.kernel, self.bias, self.stride, groups=groups
        )
        return self._stored(sums.permute(0, 2, 3, 1) * self.scale)

    def _stored(self, values: torch.Tensor) -> torch.Tensor:
        return torch.clamp(nearest(values) + self.output.zero_point, self.low, 127)

    def _pool_size(self) -> tuple[int, int]:
        return int(self.operator.options["filter_height"]), int(self.operator.options["filter_width"])

    def _padding(self, size: Sequence[int]) -> list[int]:
        """Return left, right, top, bottom, as TensorFlow has SAME."""
        if not self.same:
            return [0, 0, 0, 0]
        found = []
        for length, taps, step in zip(
            self.inputs[0].shape[2:0:-1], size[::-1], self.stride[::-1], strict=True
        ):
            missing = max((-(-length // step) - 1) * step + taps - length, 0)
            found += [missing // 2, missing - missing // 2]
        return found


def nearest(values: torch.Tensor) -> torch.Tensor:
    """Round, halves away from zero; what floats leave of an exact half counts as one."""
    return torch.sign(values) * torch.floor(values.abs() + (0.5 + 1e-9))


class Int8Network(torch.nn.Module):
    """A quantised network whose layers can be hooked."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph
        self.layers = torch.nn.ModuleList(Int8Layer(graph, operator) for operator in graph.operators)

    def forward(self, levels: torch.Tensor) -> torch.Tensor:
        """Return the levels of the output for those of the input."""
        values = {self.graph.inputs[0]: levels}
        for layer in self.layers:
            own = [values[i] for i in layer.operator.inputs if i in values]
            values[layer.operator.outputs[0]] = layer(*own)
        return values[self.graph.outputs[0]]


def layers_for(network: Int8Network, pattern: ErrorPattern, kept: Pattern) -> list[Int8Layer]:
    """Return the layers that may take a pattern: its own, if the network has it, else those of its kind."""
    of_kind = [layer for layer in network.layers if layer.kind == pattern.operation_kind]
    own = [layer for layer in of_kind if map_shape(layer) == kept.shape and layer.name == pattern.operation]
    return own or of_kind


def map_shape(layer: Int8Layer) -> tuple[int, ...]:
    """Return height, width and channels of a layer's output."""
    return (1, 1, 1, *layer.output.shape[1:])[-3:]


def replay(
    network: Int8Network,
    patterns: Sequence[ErrorPattern],
    inputs: torch.Tensor,
    times: int,
    seed: int,
    single_bits: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Lay each pattern into the network `times` times; or, in its layers, one bit of one element instead.

    Returns:
        For each pattern the part of the inferences whose output changed, and whose decision changed; NaN if
        no layer is of its kind.
    """
    generator = np.random.default_rng(seed)
    golden = network(inputs)
    decided = golden.argmax(dim=1)
    changed, critical = (np.full(len(patterns), np.nan) for _ in range(2))
    for number, one in enumerate(patterns):
        learnt = Pattern.from_text(one.pattern)
        layers = layers_for(network, one, learnt)
        if not layers:
            continue
        work = np.array([layer.work for layer in layers], np.float64)
        outcomes = []
        for layer in generator.choice(len(layers), times, p=work / work.sum()):
            at = int(generator.integers(len(inputs)))
            laid = one_bit(int(generator.integers(8))) if single_bits else learnt
            hook = layers[layer].register_forward_hook(corruption(laid, map_shape(layers[layer]), generator))
            result = network(inputs[at : at + 1])[0]
            hook.remove()
            outcomes.append((bool((result != golden[at]).any()), bool(result.argmax() != decided[at])))
        changed[number], critical[number] = np.mean(outcomes, axis=0)
    return changed, critical


def corruption(laid: Pattern, shape: tuple[int, ...], generator: np.random.Generator) -> Hook:
    """Return a hook that lays a pattern into the output of a layer."""

    def hook(_layer: torch.nn.Module, _inputs: object, output: torch.Tensor) -> torch.Tensor:
        levels = output[0].numpy().astype(np.int8).reshape(shape)
        return torch.tensor(redraw(laid, levels, generator).astype(np.float64)).reshape(output.shape)

    return hook


def one_bit(bit: int) -> Pattern:
    """Return the pattern of one bit of one element: `redraw` puts it anywhere."""
    return Pattern(0, (2, 2, 2), 1, 1, (0,) * 6, ((0, 0, 0, 1 << bit, 0, 0),), 0)


def shares(weights: np.ndarray, changed: np.ndarray, critical: np.ndarray, seed: int) -> np.ndarray:
    """Return critical of changed outputs, and critical of upsets, for 2,001 resamples of patterns.

    The first is of the patterns as they are; the others, drawn with replacement, say how far that may be off.

    Args:
        weights: Share of all upsets that each pattern stands for.
        changed: Part of its inferences with another output.
        critical: With another decision.
        seed: Of the resamples.
    """
    generator = np.random.default_rng(seed)
    counts = [np.ones(len(weights))]
    for _ in range(2000):
        drawn = generator.integers(len(weights), size=len(weights))
        counts.append(np.bincount(drawn, minlength=len(weights)))
    weighted = np.array(counts) * weights
    return np.stack([weighted @ critical / (weighted @ changed), weighted @ critical])


def said(name: str, values: np.ndarray, unit: float = 100.0) -> str:
    """Return an estimate with its 95 % interval, in per cent."""
    low, high = np.quantile(values[1:], [0.025, 0.975])
    return f"{name:44} {unit * values[0]:7.3f} % [{unit * low:.3f}, {unit * high:.3f}]"


def main() -> None:
    """Replay a library of patterns; with `--against`, compare with what the RTL did."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("patterns", type=Path, nargs="+", help="what `resil patterns` wrote, of any networks")
    parser.add_argument("--network", required=True, help="zoo:NAME, of the networks that decide by top-1")
    parser.add_argument("--inputs", default="0-9", help="of its held-out inputs, FIRST-LAST")
    parser.add_argument("--against", type=Path, help="patterns of the RTL that took no part in the others")
    parser.add_argument("--times", type=int, default=10, help="replays of each pattern")
    parser.add_argument("--seed", type=int, default=1)
    settings = parser.parse_args()
    torch.set_num_threads(1)  # tensors are small
    libraries = [ErrorPatterns.read(file.read_bytes(), str(file)) for file in settings.patterns]
    patterns = [one for library in libraries for one in library.patterns]
    weights = np.array(
        [one.fit / library.fit_raw / len(libraries) for library in libraries for one in library.patterns]
    )
    known = zoo.load(settings.network.removeprefix("zoo:"))
    graph = without_trailing_softmax(read_network(known.path))
    network = Int8Network(graph)
    first, last = map(int, settings.inputs.split("-"))
    levels = known.heldout_at(range(first, last + 1))
    inputs = torch.tensor(levels.astype(np.float64))
    with torch.no_grad():
        apart = np.abs(network(inputs).numpy() - reference.run(graph, levels).reshape(len(levels), -1))
        print(f"{settings.network} in PyTorch: outputs at most {apart.max():g} steps from the reference's")
        laid = replay(network, patterns, inputs, settings.times, settings.seed)
        bits = replay(network, patterns, inputs, settings.times, settings.seed, single_bits=True)
    usable = ~np.isnan(laid[0])
    part = 100 * weights[usable].sum() / weights.sum()
    print(f"{usable.sum()} of {len(usable)} patterns have a layer of their kind, {part:.1f} % of their FIT")
    own = shares(weights[usable], *(values[usable] for values in laid), settings.seed)
    flips = shares(weights[usable], *(values[usable] for values in bits), settings.seed)
    print(said("replay: critical of changed outputs", own[0]))
    print(said("single bits: critical of changed outputs", flips[0]))
    if settings.against is None:
        return
    other = ErrorPatterns.read(settings.against.read_bytes(), str(settings.against))
    sdc = np.array([one.outcome.startswith("sdc") for one in other.patterns], np.float64)
    worst = np.array([one.outcome == "sdc_critical" for one in other.patterns], np.float64)
    real = shares(
        np.array([one.fit / other.fit_raw for one in other.patterns]), sdc, worst, settings.seed + 1
    )
    print(said("RTL: critical of changed outputs", real[0]))
    print(compared("critical of changed outputs", own[0] - real[0]))
    print(compared("with single bits", flips[0] - real[0]))
    missing = sum(one.fit - one.described_fit for one in other.outcomes if one.outcome == "sdc_critical")
    if all(library.network_sha256 == other.network_sha256 for library in libraries):
        # Of another network operations take other times, so that as many upsets damage other shares of them.
        print(said("replay: critical SDC of upsets", own[1]))
        print(said("RTL: critical SDC of upsets", real[1]))
        print(compared("critical SDC of upsets", own[1] - real[1]))
    print(f"{'RTL: critical SDC without a pattern, of upsets':44} {100 * missing / other.fit_raw:7.3f} %")


def compared(name: str, apart: np.ndarray) -> str:
    """Return whether a difference may be nothing."""
    low, high = np.quantile(apart[1:], [0.025, 0.975])
    verdict = "meets the RTL" if low <= 0.0 <= high else "does not meet the RTL"
    return f"{name}: {verdict}, {100 * apart[0]:+.3f} points [{100 * low:+.3f}, {100 * high:+.3f}]"


if __name__ == "__main__":
    main()
