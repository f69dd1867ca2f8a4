# SPDX-License-Identifier: Apache-2.0
"""The clients of the DMA controller: each drives its requests at random and checks what it gets."""

from __future__ import annotations

import random
from dataclasses import dataclass

from testkit.npu.blocks.axi import Memory
from testkit.npu.blocks.block import UH, Values
from testkit.npu.blocks.feature_maps import FeatureMap, piece_word, place

Words = dict[tuple[int, int], int]
FIRST_COPY_BANK = 40


@dataclass(frozen=True)
class Region:
    port: int
    base: int
    size: int
    memory: Memory

    def read(self, offset: int, size: int) -> bytes:
        return self.memory.read(self.base + offset, size)


class Client:
    """Something with `jobs` to do; `drive` before and `observe` after each cycle."""

    def __init__(self, rng: random.Random, jobs: int) -> None:
        self.rng, self.jobs = rng, jobs

    @property
    def done(self) -> bool:
        return self.jobs == 0

    def drive(self, inputs: Values) -> None:
        raise NotImplementedError

    def observe(self, inputs: Values, out: Values) -> None:
        raise NotImplementedError


class StreamClient(Client):
    """Reads a byte stream; those that may be broken off are started anew, or stopped, in the middle."""

    def __init__(self, rng: random.Random, jobs: int, name: str, region: Region, breaks: bool) -> None:
        super().__init__(rng, jobs)
        self.name, self.region, self.breaks = name, region, breaks
        self.fixed: tuple[int, int] | None = None
        self.expected: list[bytes] = []
        self.leave = 0
        self.running = False
        self.waits_for_idle = False

    def _request(self) -> Values:
        offset, length = self.fixed or (8 * self.rng.randrange(150), self.rng.randrange(4, 900, 4))
        beats = -(-length // 8)
        data = self.region.read(offset, 8 * beats)
        self.expected = [data[8 * i : 8 * i + 8] for i in range(beats)]
        self.leave = self.rng.randrange(beats) if self.breaks and self.rng.random() < 0.5 else 0
        if self.name == "fetch":
            port, address = self.region.port, self.region.base + offset
            return {"fetch_req": {"port": port, "addr": address, "length": length}}
        return {"scale_offset": offset, "scale_length": length} if self.name == "scale" else {}

    def drive(self, inputs: Values) -> None:
        n = self.name
        inputs[f"{n}_start"] = inputs[f"{n}_ready"] = 0
        if n != "scale":
            inputs[f"{n}_stop"] = 0
        if self.running and len(self.expected) == self.leave:
            self.running = False
            self.jobs -= 1
            self.waits_for_idle = not self.breaks or (self.done and not self.expected)
            if self.breaks and (self.done or self.rng.random() < 0.5):
                inputs[f"{n}_stop"] = 1
                self.expected = []
                return
        if not self.running and not self.done and not self.waits_for_idle and self.rng.random() < 0.3:
            inputs.update(self._request())
            inputs[f"{n}_start"] = 1
            self.running = True
            return
        inputs[f"{n}_ready"] = self.running and self.rng.random() < 0.7

    def observe(self, inputs: Values, out: Values) -> None:
        n = self.name
        if out.get(f"{n}_idle"):
            self.waits_for_idle = False
        if not (inputs[f"{n}_ready"] and out[f"{n}_valid"]):
            return
        assert self.expected, f"{n}: a beat after the last"
        wanted = self.expected.pop(0)
        found = out[f"{n}_data"].to_bytes(8, "little")
        assert found == wanted, f"{n}: expected {wanted.hex()}, found {found.hex()}"
        if n == "weight":
            assert out["weight_last"] == (not self.expected), "the last beat must be marked, and no other"


class CopyClient(Client):
    """Copies from memory to memory or to the shared buffer."""

    def __init__(self, rng: random.Random, jobs: int, src: Region, dst: Region, words: Words) -> None:
        super().__init__(rng, jobs)
        self.src, self.dst, self.words = src, dst, words
        self.busy = 0
        self.written = bytearray(dst.read(0, dst.size))
        self.request: Values = {}

    def drive(self, inputs: Values) -> None:
        inputs["copy_start"] = 0
        if self.busy or self.done or self.rng.random() < 0.8:
            return
        length = 16 * self.rng.choice([0, 1, 2, self.rng.randrange(60)])
        source = 16 * self.rng.randrange((self.src.size - length) // 16)
        internal = self.rng.getrandbits(1)
        room = 8 * 1024 if internal else self.dst.size
        target = 16 * self.rng.randrange((room - length) // 16)
        base = FIRST_COPY_BANK * 1024 if internal else self.dst.base
        inputs["copy_start"] = 1
        inputs["copy"] = {
            "src": {"port": self.src.port, "addr": self.src.base + source, "length": length},
            "internal": internal, "dst": base + target,
        }  # fmt: skip
        self.request = {"data": self.src.read(source, length), "internal": internal, "at": target}
        self.busy = 1

    def observe(self, inputs: Values, out: Values) -> None:
        if self.busy == 2 and not out["copy_busy"]:
            self._check()
            self.busy = 0
            self.jobs -= 1
        elif self.busy == 1:
            self.busy = 2

    def _check(self) -> None:
        data, at = self.request["data"], self.request["at"]
        if self.request["internal"]:
            wanted = {
                place(FIRST_COPY_BANK, 0, 1, at // 8 + i): int.from_bytes(data[8 * i : 8 * i + 8], "little")
                for i in range(len(data) // 8)
            }
            found = {key: word for key, word in self.words.items() if key[0] >= FIRST_COPY_BANK}
            assert found == wanted, f"copy to the shared buffer at {at:#x}, {len(data)} bytes"
            for key in found:
                del self.words[key]
        else:
            self.written[at : at + len(data)] = data
        assert self.dst.read(0, self.dst.size) == self.written, f"copy to {at:#x}, {len(data)} bytes"


class PieceClient(Client):
    """Fetches pieces of two feature maps into the shared buffer."""

    def __init__(
        self, rng: random.Random, jobs: int, maps: list[tuple[FeatureMap, Region, tuple[int, int, int]]],
        lanes: int, words: Words,
    ) -> None:  # fmt: skip
        super().__init__(rng, jobs)
        self.maps, self.lanes, self.words = maps, lanes, words
        # Chosen before the first cycle: what is covered is the same, however long the block takes.
        choices = [rng.randrange(2) for _ in range(jobs)]
        self.pieces = [(second, self._piece(*maps[second])) for second in choices]
        self.leaves = False
        self.zero_segments = 0
        self.piece: Values | None = None
        self.second = 0

    def drive(self, inputs: Values) -> None:
        if self.piece is None and not self.done and self.rng.random() < 0.7:
            self.second, self.piece = self.pieces[-self.jobs]
        inputs["piece_valid"] = self.piece is not None
        inputs["piece"] = self.piece or self.rng.getrandbits(126)
        inputs["piece_second"] = self.second if self.piece else self.rng.getrandbits(1)

    def _piece(self, fmap: FeatureMap, _: Region, size: tuple[int, int, int]) -> Values:
        width, height, depth = size
        rng = self.rng
        z0 = 16 * rng.randrange(-(-depth // 16)) if fmap.brick else rng.randrange(depth)
        channels = rng.choice([min(depth - z0, 128), rng.randint(1, min(depth - z0, 128))])
        words = -(-channels * fmap.element_bytes // 8)
        spread = rng.getrandbits(1) and words <= 16
        w, h = rng.randint(1, 7), rng.randint(1, 5)
        one_row = bool(UH == 2 and spread and rng.getrandbits(1))
        if one_row:
            w, h = rng.randint(1, 19), 1
        while w * h * words > 500:
            w, h = max(1, w - 1), max(1, h - 1)
        return {
            "x0": rng.randint(-3, width - 1), "y0": rng.randint(-3, height - 1), "z0": z0, "w": w, "h": h,
            "c": channels, "limit_x": width, "limit_y": height, "spread": spread, "one_row": one_row,
            "stride_x": rng.randint(1, 3), "stride_y": rng.randint(1, 3), "bank": rng.randrange(2, 16),
        }  # fmt: skip

    def observe(self, inputs: Values, out: Values) -> None:
        if self.piece is None or not out["piece_done"]:
            return
        fmap, region, _ = self.maps[self.second]
        wanted = self._expected(fmap, region, self.piece)
        found = {key: word for key, word in self.words.items() if key[0] < FIRST_COPY_BANK}
        assert found.keys() == wanted.keys(), (
            f"{fmap}: {self.piece}: words {sorted(wanted.keys() - found.keys())[:9]} are missing, "
            f"{sorted(found.keys() - wanted.keys())[:9]} are too many"
        )
        for key, data in wanted.items():
            word = found[key].to_bytes(8, "little")[: len(data)]
            assert word == data, (
                f"{fmap}: {self.piece}: word {key}: expected {data.hex()}, found {word.hex()}"
            )
        for key in found:
            del self.words[key]
        self.piece = None
        self.jobs -= 1

    def _expected(self, fmap: FeatureMap, region: Region, p: Values) -> dict[tuple[int, int], bytes]:
        """What the piece must write: by bank and word, the bytes that have a meaning."""
        wanted: dict[tuple[int, int], bytes] = {}
        total = p["c"] * fmap.element_bytes
        words = -(-total // 8)
        strides = (p["stride_x"], p["stride_y"]) if p["spread"] else None
        for y in range(p["h"]):
            for x in range(p["w"]):
                ax, ay = p["x0"] + x, p["y0"] + y
                if not (0 <= ax < p["limit_x"] and 0 <= ay < p["limit_y"]):
                    continue
                data = b""
                for start in range(0, total, fmap.longest):
                    size = min(fmap.longest, total - start)
                    at = fmap.offset(ax, ay, p["z0"] + start // fmap.element_bytes)
                    leaves = at + size > region.size
                    self.leaves |= leaves
                    self.zero_segments += leaves
                    data += bytes(size) if leaves else region.read(at, size)
                bank, word = piece_word(x, y, p["w"], words, strides, 0, p["one_row"])
                lanes = self.lanes if strides else 1
                lane, first = bank % lanes, bank // lanes * 128 + word
                for i in range(words):
                    wanted[place(p["bank"], lane, lanes, first + i)] = data[8 * i : 8 * i + 8]
        return wanted


class OfmClient(Client):
    """Writes blocks of the OFM from rows that come into the staging area at their own pace."""

    def __init__(
        self, rng: random.Random, jobs: int, fmap: FeatureMap, region: Region, size: tuple[int, int, int]
    ) -> None:
        super().__init__(rng, jobs)
        self.fmap, self.region = fmap, region
        self.leaves = False
        self.image = bytearray(region.read(0, region.size))
        self.steps = [self._step(*size) for _ in range(jobs)]
        self.rows = [row for step in self.steps for row in self._rows(step)]
        self.stage = [0] * 128
        self.tail = 0
        self.answer = 0
        self.full = False

    def _step(self, width: int, height: int, depth: int) -> Values:
        rng = self.rng
        oz0 = 16 * rng.randrange(-(-depth // 16))
        ox0, oy0 = rng.randrange(width), rng.randrange(height)
        return {
            "ox0": ox0, "oy0": oy0, "oz0": oz0, "bw": rng.randint(1, min(6, width - ox0)),
            "bh": rng.randint(1, min(4, height - oy0)), "bd": rng.randint(1, min(70, depth - oz0)),
        }  # fmt: skip

    def _rows(self, step: Values) -> list[bytes]:
        """The rows of a block; notes in the image what they write."""
        rows = []
        size = self.fmap.element_bytes
        for first in range(0, step["bd"], 16):
            group = min(16, step["bd"] - first) * size
            for y in range(step["bh"]):
                for x in range(step["bw"]):
                    for start in range(0, group, 16):
                        data = self.rng.randbytes(16)
                        rows.append(data)
                        channel = step["oz0"] + first + start // size
                        at = self.fmap.offset(step["ox0"] + x, step["oy0"] + y, channel)
                        used = min(16, group - start)
                        if at + used > self.region.size:
                            self.leaves = True
                        else:
                            self.image[at : at + used] = data[:used]
        return rows

    def drive(self, inputs: Values) -> None:
        inputs["ofm_valid"] = bool(self.steps)
        inputs["ofm_step"] = self.steps[0] if self.steps else self.rng.getrandbits(160)
        put = bool(self.rows) and not self.full and self.rng.random() < 0.6
        inputs["stage_put"] = put
        if put:
            self.stage[self.tail] = int.from_bytes(self.rows.pop(0), "little")
            self.tail = (self.tail + 1) % 128
        inputs["stage_rd_data"] = self.answer

    def observe(self, inputs: Values, out: Values) -> None:
        self.full = bool(out["stage_full"])
        if out["stage_rd"]:
            self.answer = self.stage[out["stage_rd_addr"]]
        if self.steps and out["ofm_done"]:
            self.steps.pop(0)
            self.jobs -= 1
