# SPDX-License-Identifier: Apache-2.0
"""Bench parts against verification components of others (cocotbext), and where there is none a checker here.

Run by cocotb inside a simulator; see test_bench_parts.py.
"""

import itertools
import random
import warnings

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, with_timeout

warnings.simplefilter("ignore")
from cocotbext.ahb import AHBBus, AHBLiteMaster  # noqa: E402
from cocotbext.axi import AxiBus, AxiMaster, AxiStreamBus, AxiStreamSink, AxiStreamSource  # noqa: E402
from cocotbext.obi import ObiBus, ObiHost  # noqa: E402
from cocotbext.wishbone.driver import WBOp, WishboneMaster  # noqa: E402

BASE, WORDS = 0x1000, 64
INPUTS = ("arvalid", "awvalid", "wvalid", "rready", "bready")


async def started(dut):
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start(start_high=False))
    for name in ("obi_req", "wb_cyc", "wb_stb", "wp_cyc", "wp_stb", "tl_a_valid", "ram_req", "con_valid"):
        getattr(dut, name).value = 0
    for name in (*(f"p{i}_{own}" for i in (0, 1) for own in INPUTS), "snk_tvalid", "src_tready"):
        getattr(dut, name).value = 0
    dut.ahb_htrans.value = 0
    dut.obi_rready.value = 1
    dut.tl_d_ready.value = 0
    dut.rst_n.value = 0
    await ClockCycles(dut.clk, 4)
    await FallingEdge(dut.clk)
    dut.rst_n.value = 1
    await RisingEdge(dut.clk)


def content(memory, words, width=4):
    return b"".join(int(memory.mem_q[i].value).to_bytes(width, "little") for i in range(words))


@cocotb.test()
async def two_ports_of_axi(dut):
    """Random bursts of both ports at once, each in its own half, and into what the other has written."""
    await started(dut)
    masters = [
        AxiMaster(AxiBus.from_prefix(dut, f"p{i}"), dut.clk, dut.rst_n, reset_active_level=False)
        for i in (0, 1)
    ]
    model = bytearray(256 * 8)

    async def traffic(number):
        draw = random.Random(number)
        low = number * 1024
        for _ in range(40):
            start = draw.randrange(1000)
            length = draw.randrange(1, min(120, 1024 - start))
            place = low + start
            if draw.random() < 0.5:
                data = draw.randbytes(length)
                await masters[number].write(BASE + place, data, size=draw.choice([0, 2, 3]))
                model[place : place + length] = data
            else:
                found = await masters[number].read(BASE + place, length)
                assert found.data == bytes(model[place : place + length])

    tasks = [cocotb.start_soon(traffic(i)) for i in (0, 1)]
    for task in tasks:
        await with_timeout(task, 2, "ms")
    assert content(dut.u_axi, 256, 8) == bytes(model)
    other = await masters[1].read(BASE, 512)
    assert other.data == bytes(model[:512])
    outside = await masters[0].read(BASE + 256 * 8, 8)
    assert outside.resp.name == "SLVERR"


@cocotb.test()
async def a_port_that_never_ends_its_burst(dut):
    """Its wlast never comes: its own write fails, and no word of the other port's is taken for its."""
    await started(dut)
    other = AxiMaster(AxiBus.from_prefix(dut, "p1"), dut.clk, dut.rst_n, reset_active_level=False)
    dut.p0_awvalid.value, dut.p0_awaddr.value, dut.p0_awlen.value = 1, BASE, 1
    dut.p0_awsize.value, dut.p0_awburst.value, dut.p0_awid.value = 3, 1, 5
    while True:
        await FallingEdge(dut.clk)
        taken = dut.p0_awready.value == 1
        await RisingEdge(dut.clk)
        if taken:
            break
    dut.p0_awvalid.value, dut.p0_wvalid.value, dut.p0_wstrb.value = 0, 1, 255
    dut.p0_wlast.value, dut.p0_bready.value = 0, 1
    write = cocotb.start_soon(other.write(BASE + 1024, bytes(range(64))))
    beats = 0
    while beats < 2:
        await FallingEdge(dut.clk)
        beats += int(dut.p0_wready.value)
        await RisingEdge(dut.clk)
    dut.p0_wvalid.value = 0
    await with_timeout(write, 50, "us")
    assert content(dut.u_axi, 136, 8)[1024:] == bytes(range(64))


@cocotb.test()
async def streams(dut):
    """What lies in the source's memory comes out; what goes into the sink lies in its memory."""
    sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "src"), dut.clk, dut.rst_n, reset_active_level=False)
    sink.set_pause_generator(itertools.cycle([True, False, False]))
    source = AxiStreamSource(
        AxiStreamBus.from_prefix(dut, "snk"), dut.clk, dut.rst_n, reset_active_level=False
    )
    await started(dut)
    frames = [bytes(random.Random(i).randbytes(n)) for i, n in enumerate((7, 4, 16, 1))]
    for frame in frames:
        await source.send(frame)
    await with_timeout(source.wait(), 20, "us")
    await ClockCycles(dut.clk, 4)
    assert int(dut.snk_packets.value) == 4
    assert int(dut.snk_words.value) == 2 + 1 + 4 + 1
    words = [int(dut.u_sink.u_words.mem_q[i].value) for i in range(9)]
    found, frame = [], b""
    for word in words[:8]:
        assert word >> 37 & 1
        keep = word >> 32 & 15
        frame += bytes(word >> 8 * i & 255 for i in range(4) if keep >> i & 1)
        if word >> 36 & 1:
            found.append(frame)
            frame = b""
    assert found == frames
    assert words[8] == 0
    assert dut.snk_overflow.value == 0
    got = [await with_timeout(sink.recv(), 20, "us") for _ in range(2)]
    assert [bytes(own.tdata) for own in got] == [bytes(range(1, 7)), bytes([9, 8, 7, 6])]
    await ClockCycles(dut.clk, 4)
    assert dut.src_done.value == 1
    for _ in range(8):
        await source.send(bytes(16))
    await with_timeout(source.wait(), 20, "us")
    await ClockCycles(dut.clk, 4)
    assert dut.snk_overflow.value == 1
    assert int(dut.snk_words.value) == 40


def accesses(seed, count):
    draw = random.Random(seed)
    for _ in range(count):
        size = draw.choice([1, 2, 4])
        address = draw.randrange(0, WORDS * 4, size)
        yield draw.random() < 0.5, address, size, draw.getrandbits(8 * size)


async def two_cycles_of_errors(dut):
    """An ERROR response is first not ready, then ready; the component of others does not look."""
    before = (0, 1)
    while True:
        await FallingEdge(dut.clk)
        now = (int(dut.ahb_hresp.value), int(dut.ahb_hready.value))
        assert now != (1, 1) or before == (1, 0)
        before = now


@cocotb.test()
async def ahb_lite(dut):
    await started(dut)
    cocotb.start_soon(two_cycles_of_errors(dut))
    master = AHBLiteMaster(AHBBus.from_prefix(dut, "ahb"), dut.clk, dut.rst_n)
    model = bytearray(WORDS * 4)
    for write, address, size, value in accesses(3, 120):
        if write:
            answer = await master.write(BASE + address, value << 8 * (address & 3), size)
            model[address : address + size] = value.to_bytes(size, "little")
            assert int(answer[0]["resp"]) == 0
        else:
            answer = await master.read(BASE + address, size)
            found = int(answer[0]["data"], 16) >> 8 * (address & 3) & (1 << 8 * size) - 1
            assert found == int.from_bytes(model[address : address + size], "little")
    await RisingEdge(dut.clk)
    assert content(dut.u_ahb.u_words, WORDS) == bytes(model)
    # Pipelined: the address of one beside the data of another.
    addresses = [BASE + 4 * i for i in range(16)]
    await master.write(addresses, [i * 0x01010101 for i in range(16)], pip=True)
    found = await master.read(addresses, pip=True)
    assert [int(own["data"], 16) for own in found] == [i * 0x01010101 for i in range(16)]
    for address in (BASE + WORDS * 4, 0):
        answer = await master.write(address, 1, 4)
        assert int(answer[0]["resp"]) == 1
    assert content(dut.u_ahb.u_words, 16) == b"".join(
        (i * 0x01010101).to_bytes(4, "little") for i in range(16)
    )


@cocotb.test()
async def obi(dut):
    await started(dut)
    host = ObiHost(ObiBus.from_prefix(dut, "obi"), dut.clk)
    model = bytearray(WORDS * 4)
    for write, address, _, value in accesses(4, 80):
        place = address & ~3
        if write:
            await host.write(BASE + place, value, length=4)
            model[place : place + 4] = value.to_bytes(4, "little")
        else:
            found = await host.read(BASE + place, length=4)
            assert bytes(found)[:4] == bytes(model[place : place + 4])
    await ClockCycles(dut.clk, 8)
    assert content(dut.u_obi.u_words, WORDS) == bytes(model)
    await host.read(BASE + WORDS * 4, length=4, error_expected=True)


@cocotb.test()
async def wishbone(dut):
    """Classic and pipelined, by the driver of others; and a cycle that is given up has no answer later."""
    await started(dut)
    for name, memory in (("wb", dut.u_wb), ("wp", dut.u_wp)):
        signals = {own: own for own in ("cyc", "stb", "we", "adr", "datwr", "datrd", "ack", "sel", "err")}
        signals |= {"stall": "stall"} if name == "wp" else {}
        master = WishboneMaster(dut, name, dut.clk, width=32, timeout=50, signals_dict=signals)
        model = bytearray(WORDS * 4)
        for _ in range(6):
            steps = [*accesses(random.random(), 10)]
            answers = await master.send_cycle(
                [WBOp(BASE + (a & ~3), value if write else None, sel=15) for write, a, _, value in steps]
            )
            for (write, address, _, value), answer in zip(steps, answers, strict=True):
                place = address & ~3
                if write:
                    model[place : place + 4] = value.to_bytes(4, "little")
                else:
                    assert int(answer.datrd) == int.from_bytes(model[place : place + 4], "little"), name
        assert content(memory.u_words, WORDS) == bytes(model)
    dut.wp_cyc.value, dut.wp_stb.value, dut.wp_we.value, dut.wp_adr.value = 1, 1, 0, BASE
    await RisingEdge(dut.clk)
    await RisingEdge(dut.clk)
    dut.wp_cyc.value, dut.wp_stb.value = 0, 0
    await RisingEdge(dut.clk)
    dut.wp_cyc.value = 1
    for _ in range(8):
        await FallingEdge(dut.clk)
        assert dut.wp_ack.value == 0
        assert dut.wp_err.value == 0


GET, PUT, PARTIAL = 4, 0, 1


@cocotb.test()
async def tilelink_ul(dut):
    """Each request is answered once, in order, with its source and size, by what the specification says."""
    await started(dut)
    draw = random.Random(9)
    model = bytearray(WORDS * 4)
    expected = []
    answered = 0

    async def answers():
        nonlocal answered
        held = None
        while True:
            dut.tl_d_ready.value = ready = int(draw.random() < 0.6)
            await FallingEdge(dut.clk)
            names = ("opcode", "size", "source", "data", "denied", "corrupt")
            now = tuple(int(getattr(dut, f"tl_d_{own}").value) for own in names)
            valid = dut.tl_d_valid.value == 1
            # What is valid stays as it is until it is taken.
            assert held is None or (valid and now == held)
            held = now if valid and not ready else None
            if valid and ready:
                assert now == expected[answered]
                answered += 1
            await RisingEdge(dut.clk)

    cocotb.start_soon(answers())
    for number in range(300):
        size = draw.choice([0, 1, 2, 2])
        address = draw.randrange(0, WORDS * 4, 1 << size)
        opcode, source = draw.choice([GET, PUT, PARTIAL]), number % 8
        mask = ((1 << (1 << size)) - 1) << (address & 3)
        if opcode == PARTIAL:
            mask &= draw.getrandbits(4)
        data = draw.getrandbits(32)
        odd = draw.random()
        place = BASE + address
        if odd < 0.04:
            place = BASE + WORDS * 4 + address
        elif odd < 0.08:
            opcode = 2
        elif odd < 0.12:
            size, place = 2, BASE + address | 1
        elif odd < 0.15:
            size = 3
        offset = place - BASE
        denied = odd < 0.15
        word = offset & ~3
        if opcode == GET:
            value = 0 if denied else int.from_bytes(model[word : word + 4], "little")
            expected.append((1, size, source, value, int(denied), int(denied)))
        else:
            expected.append((0, size, source, 0, int(denied), 0))
            if not denied:
                for i in range(4):
                    if mask >> i & 1:
                        model[word + i] = data >> 8 * i & 255
        dut.tl_a_valid.value, dut.tl_a_opcode.value, dut.tl_a_size.value = 1, opcode, size
        dut.tl_a_source.value, dut.tl_a_address.value = source, place
        dut.tl_a_mask.value, dut.tl_a_data.value = mask, data
        taken = False
        while not taken:
            await FallingEdge(dut.clk)
            taken = dut.tl_a_ready.value == 1
            await RisingEdge(dut.clk)
        dut.tl_a_valid.value = 0
        if draw.random() < 0.3:
            await ClockCycles(dut.clk, draw.randrange(1, 4))
    await ClockCycles(dut.clk, 60)
    assert answered == len(expected) == 300
    assert content(dut.u_tl.u_words, WORDS) == bytes(model)


@cocotb.test()
async def sram_and_console(dut):
    await started(dut)
    draw = random.Random(2)
    model, pending, last = bytearray(WORDS * 4), [], 0
    for _ in range(200):
        request, write, address = draw.random() < 0.8, draw.random() < 0.5, draw.randrange(WORDS + 8)
        strobe, data = draw.getrandbits(4), draw.getrandbits(32)
        dut.ram_req.value, dut.ram_we.value, dut.ram_addr.value = request, write, address
        dut.ram_be.value, dut.ram_wdata.value = strobe, data
        found = int.from_bytes(model[4 * address : 4 * address + 4], "little") if address < WORDS else 0
        pending.append(found if request and not write else None)
        if request and write and address < WORDS:
            for i in range(4):
                if strobe >> i & 1:
                    model[4 * address + i] = data >> 8 * i & 255
        await RisingEdge(dut.clk)
        await FallingEdge(dut.clk)
        if len(pending) >= 2:
            wanted = pending.pop(0)
            assert int(dut.ram_rvalid.value) == (wanted is not None)
            last = last if wanted is None else wanted
            assert int(dut.ram_rdata.value) == last
    assert content(dut.u_ram.u_words, WORDS) == bytes(model)
    for character in b"resil\x04":
        assert dut.con_done.value == 0
        dut.con_valid.value, dut.con_char.value = 1, character
        await RisingEdge(dut.clk)
        await FallingEdge(dut.clk)
    assert dut.con_done.value == 1
    assert dut.con_overflow.value == 0
    await ClockCycles(dut.clk, 3)
    await FallingEdge(dut.clk)
    assert dut.con_overflow.value == 1
    assert int(dut.con_count.value) == 9
    assert bytes(int(dut.u_console.u_words.mem_q[i].value) for i in range(8)) == b"resil\x04\x04\x04"
