"""What operations have in common: accelerator sizes, tensors and streams, checked and typed."""

from __future__ import annotations

from dataclasses import dataclass

from rtl_harness.errors import HarnessError
from rtl_harness.npu.model.commands import CommandError, Register, Registers


@dataclass(frozen=True)
class NpuConfig:
    """The sizes of an accelerator configuration that its results or its limits depend on.

    Attributes:
        name: As the compiler spells it.
        macs: Multiplications a cycle.
        ofm_ublock_depth: OFM channels of a weight vector.
        ifm_ublock_depth: IFM channels of a weight vector.
        sb_banks: Banks of the shared buffer.
    """

    name: str
    macs: int
    ofm_ublock_depth: int
    sb_banks: int
    ifm_ublock_depth: int = 8

    @property
    def vector_weights(self) -> int:
        """Weights of a weight vector."""
        return self.ofm_ublock_depth * self.ifm_ublock_depth

    def accumulator_rows(self, ab_start: int) -> int:
        """Rows of accumulators, one OFM micro-block depth each, from bank `ab_start` to the last."""
        return 128 * ((self.sb_banks - ab_start) // 4)

    def ifm_buffer_rows(self, ib_end: int) -> int:
        """Rows of IFM elements, one IFM micro-block depth each, below bank `ib_end`."""
        return 128 * ((ib_end - 2) // 2)


ETHOS_U55_32 = NpuConfig("ethos-u55-32", macs=32, ofm_ublock_depth=4, sb_banks=16)
_CONFIGS = {config.name: config for config in (ETHOS_U55_32,)}

STAGING_BYTES = 2048
MAX_DIMENSION = 1 << 13


def npu_config(name: str) -> NpuConfig:
    """Return the accelerator configuration of that name; raise HarnessError if there is none."""
    if name not in _CONFIGS:
        raise HarnessError(f"expected an accelerator among {', '.join(_CONFIGS)}, found {name!r}")
    return _CONFIGS[name]


@dataclass(frozen=True)
class FeatureMap:
    """A tensor in memory.

    Attributes:
        region: Region number.
        base: Byte offset of element (0, 0, 0).
        stride_y: Bytes from row to row, modulo 2^32; so are the other strides.
        stride_x: Bytes from column to column, NHWC only.
        stride_c: Bytes from one 16 channels to the next, NHCWB16 only.
        height: Rows.
        width: Columns.
        depth: Channels.
        bricks: Format: True for NHCWB16, False for NHWC.
        signed: Elements are int8, else uint8.
        zero_point: What stands for zero.
    """

    region: int
    base: int
    stride_y: int
    stride_x: int
    stride_c: int
    height: int
    width: int
    depth: int
    bricks: bool
    signed: bool
    zero_point: int


@dataclass(frozen=True)
class Stream:
    """A byte stream in memory: region number, offset and length in bytes."""

    region: int
    base: int
    length: int


def check_bits(registers: Registers, register: Register, allowed: int) -> int:
    """Return a register's value; raise CommandError if bits outside the mask `allowed` are set."""
    value = registers[register]
    if value & ~allowed:
        raise CommandError(f"{register.name} is {value:#x}, bits outside {allowed:#x} must be zero")
    return value


def check_below(registers: Registers, register: Register, limit: int) -> int:
    """Return a register's value; raise CommandError if it is not below `limit`."""
    value = registers[register]
    if value >= limit:
        raise CommandError(f"{register.name} is {value}, expected less than {limit}")
    return value


def region_number(registers: Registers, register: Register) -> int:
    """Return the region number that a register holds; raise CommandError if other bits are set."""
    return check_bits(registers, register, 7)


def stream_at(registers: Registers, kind: str) -> Stream:
    """Return the stream whose registers begin with `kind`, WEIGHT or SCALE.

    Raises:
        CommandError: If its length is zero or its base is not aligned.
    """
    base, length = Register[f"{kind}_BASE"], Register[f"{kind}_LENGTH"]
    if registers[base] % 16:
        raise CommandError(f"{base.name} is {registers[base]:#x}, expected a multiple of 16")
    if not registers[length]:
        raise CommandError(f"{length.name} is zero")
    return Stream(region_number(registers, Register[f"{kind}_REGION"]), registers[base], registers[length])


def feature_map(registers: Registers, prefix: str, precision: int, height: int, width: int) -> FeatureMap:
    """Return the tensor that the registers beginning with `prefix` (IFM or OFM) describe.

    Args:
        registers: The register file.
        prefix: "IFM" or "OFM".
        precision: Checked value of the tensor's PRECISION register.
        height: Rows that the operation uses.
        width: Columns that the operation uses.

    Raises:
        CommandError: If the tensor is empty or reaches beyond its first tile.
    """

    def get(name: str) -> int:
        return registers[Register[f"{prefix}_{name}"]]

    tile_height = min(get("HEIGHT0_M1"), get("HEIGHT1_M1")) + 1
    tile_width = get("WIDTH0_M1") + 1
    if not (1 <= height <= tile_height and 1 <= width <= tile_width):
        raise CommandError(f"the {prefix} is {height} x {width}, its first tile {tile_height} x {tile_width}")
    zero_point = Register[f"{prefix}_ZERO_POINT"]
    return FeatureMap(
        region=region_number(registers, Register[f"{prefix}_REGION"]),
        base=get("BASE0"),
        stride_y=get("STRIDE_Y"),
        stride_x=get("STRIDE_X"),
        stride_c=get("STRIDE_C"),
        height=height,
        width=width,
        depth=check_below(registers, Register[f"{prefix}_DEPTH_M1"], MAX_DIMENSION) + 1,
        bricks=_bricks(Register[f"{prefix}_PRECISION"], precision),
        signed=bool(precision & 1),
        zero_point=registers.signed(zero_point, 9 if prefix == "IFM" else 16),
    )


def _bricks(register: Register, precision: int) -> bool:
    layout = precision >> 6 & 3
    if layout > 1:
        raise CommandError(f"{register.name} has format {layout}, expected 0 (NHWC) or 1 (NHCWB16)")
    return layout == 1
