# SPDX-License-Identifier: Apache-2.0
"""The structure of a network without its weights: what is trained, exported and recorded."""

from __future__ import annotations

from dataclasses import dataclass

from resil.networks.float_network import INPUT
from resil.networks.geometry import Window, elements

Shape = tuple[int, ...]


@dataclass(frozen=True)
class ArchitectureLayer:
    """A layer to be trained.

    Attributes:
        name: Name of its output.
        kind: As `resil.networks.float_network.FloatLayer`.
        filters: Output channels of CONV_2D and FULLY_CONNECTED.
        window: For convolutions and pools.
        relu: A RELU follows.
        relu6: A RELU6 follows.
        normalise: Trained with batch normalisation after the weights, which the export folds into them.
        sources: As `FloatLayer.sources`.
    """

    name: str
    kind: str
    filters: int = 0
    window: Window | None = None
    relu: bool = False
    normalise: bool = False
    relu6: bool = False
    sources: tuple[str, ...] = ()

    def output_shape(self, source: Shape) -> Shape:
        """Return the shape of its output, batch excluded."""
        if self.kind == "FLATTEN":
            return (elements(source),)
        if self.kind == "FULLY_CONNECTED":
            return (self.filters,)
        if self.window is None:
            return source
        channels = self.filters if self.kind == "CONV_2D" else source[2]
        return (*self.window.output_shape(source[0], source[1]), channels)


@dataclass(frozen=True)
class Architecture:
    """Blocks in the order in which they run, from one input to the outputs, as `FloatNetwork` has them."""

    name: str
    input_shape: Shape
    blocks: tuple[ArchitectureLayer, ...]
    outputs: tuple[str, ...] = ()

    def sources(self, index: int) -> tuple[str, ...]:
        """Return the names of what block `index` takes."""
        before = self.blocks[index - 1].name if index else INPUT
        return self.blocks[index].sources or (before,)

    def shapes(self) -> dict[str, Shape]:
        """Return the shape of the input and of every block's output, batch excluded."""
        shapes = {INPUT: self.input_shape}
        for index, block in enumerate(self.blocks):
            shapes[block.name] = block.output_shape(shapes[self.sources(index)[0]])
        return shapes


def conv(
    name: str,
    filters: int,
    size: int = 3,
    stride: int = 1,
    padding: str = "SAME",
    **more: bool | tuple[str, ...],
) -> ArchitectureLayer:
    """Return a square CONV_2D with RELU, or with `relu6`; `more` are further fields of the block."""
    return _windowed(name, "CONV_2D", filters, Window((size, size), (stride, stride), padding), more)


def depthwise(name: str, stride: int = 1, size: int = 3, **more: bool | tuple[str, ...]) -> ArchitectureLayer:
    """Return a square DEPTHWISE_CONV_2D with SAME padding, RELU and normalisation; `more` as of `conv`."""
    window = Window((size, size), (stride, stride), "SAME")
    return _windowed(name, "DEPTHWISE_CONV_2D", 0, window, {"normalise": True, **more})


def pool(name: str, kind: str, size: int) -> ArchitectureLayer:
    """Return a square pool, "MAX" or "AVERAGE", whose windows do not overlap."""
    return ArchitectureLayer(name, f"{kind}_POOL_2D", window=Window((size, size), (size, size)))


def dense(name: str, filters: int, relu: bool = False) -> ArchitectureLayer:
    """Return a FULLY_CONNECTED block."""
    return ArchitectureLayer(name, "FULLY_CONNECTED", filters, relu=relu)


def _windowed(
    name: str, kind: str, filters: int, window: Window, more: dict[str, bool | tuple[str, ...]]
) -> ArchitectureLayer:
    fields: dict[str, object] = {"relu": not more.get("relu6", False), **more}
    return ArchitectureLayer(name, kind, filters, window, **fields)  # type: ignore[arg-type]
