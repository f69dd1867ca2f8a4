# SPDX-License-Identifier: Apache-2.0
"""Cells of a netlist of words, as Yosys defines them, made into gates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from resil.rtl_harness.engine.fast.gates.logic import ONE, ZERO, Logic, Net, Word

Pins = Mapping[str, list[Net]]
Parameters = Mapping[str, int]
Made = list[Net]
Bit = int | str

_SELECTING = {"$mux", "$bwmux", "$pmux"}
_BY_BIT = {"$and", "$or", "$xor", "$xnor", "$not", "$pos"}


def parts_of(
    kind: str, pins: Mapping[str, list[Bit]], p: Parameters
) -> Iterator[tuple[Mapping[str, list[Bit]], int]]:
    """Yield the inputs of the independent parts of a cell, and how many outputs each part has.

    A cell that works bit by bit is one part a bit: through one bit of it another may be fed.
    """
    width = len(pins["Y"])
    if kind in _SELECTING:
        selects = pins["S"]
        for i in range(width):
            chosen = [selects[i]] if kind == "$bwmux" else selects
            yield {"A": [pins["A"][i]], "B": pins["B"][i::width], "S": chosen}, 1
    elif kind in _BY_BIT:
        signed = bool(p["A_SIGNED"] and p.get("B_SIGNED", 1))
        words = {
            port: [*word[:width], *[word[-1] if signed else "0"] * (width - len(word))]
            for port in ("A", "B")
            if (word := pins.get(port))
        }
        for i in range(width):
            yield {port: [word[i]] for port, word in words.items()}, 1
    else:
        inputs = {port: word for port, word in pins.items() if port != "Y"}
        if kind == "$bmux":
            table = [pins["A"][i : i + width] for i in range(0, len(pins["A"]), width)]
            inputs["undefined"] = ["1" if "x" in word else "0" for word in table]
        yield inputs, width


def made_of(logic: Logic, kind: str, pins: Pins, parameters: Parameters) -> Made:
    """Return the nets of a cell's output, given those of its inputs.

    Args:
        logic: Takes the gates.
        kind: One of `KINDS`.
        pins: Nets of each input, least significant first.
        parameters: The cell's, as numbers.
    """
    return KINDS[kind](logic, pins, parameters)


def extended(word: Word, width: int, signed: bool) -> Made:
    """Return a word cut or filled up to `width` bits."""
    fill = word[-1] if signed and word else ZERO
    return [*word[:width], *[fill] * (width - len(word))]


def _shortest(word: Word) -> Made:
    """Return the shortest two's complement of the same value."""
    size = len(word)
    while size > 1 and word[size - 1] == word[size - 2]:
        size -= 1
    return list(word[:size])


def _both(pins: Pins, p: Parameters, width: int) -> tuple[Made, Made]:
    signed = bool(p["A_SIGNED"] and p["B_SIGNED"])
    return extended(pins["A"], width, signed), extended(pins["B"], width, signed)


def _own(pins: Pins, p: Parameters) -> Made:
    """The operand A, as long as the result."""
    return extended(pins["A"], p["Y_WIDTH"], bool(p["A_SIGNED"]))


def _bit(net: Net, p: Parameters) -> Made:
    return extended([net], p["Y_WIDTH"], False)


def _longest(pins: Pins) -> int:
    return max(len(pins["A"]), len(pins["B"]))


def _add(logic: Logic, pins: Pins, p: Parameters) -> Made:
    return logic.add(*_both(pins, p, p["Y_WIDTH"]))


def _sub(logic: Logic, pins: Pins, p: Parameters) -> Made:
    return logic.subtract(*_both(pins, p, p["Y_WIDTH"]))


def _neg(logic: Logic, pins: Pins, p: Parameters) -> Made:
    return logic.subtract([ZERO] * p["Y_WIDTH"], _own(pins, p))


def _mul(logic: Logic, pins: Pins, p: Parameters) -> Made:
    a, b = (_shortest(word) for word in _both(pins, p, p["Y_WIDTH"]))
    return extended(logic.multiply(a, b), p["Y_WIDTH"], True)


def _eq(logic: Logic, pins: Pins, p: Parameters) -> Net:
    a, b = _both(pins, p, _longest(pins))
    return logic.not_(logic.any_([logic.xor(x, y) for x, y in zip(a, b, strict=True)]))


def _lt(logic: Logic, pins: Pins, p: Parameters, first: str, second: str) -> Net:
    signed = bool(p["A_SIGNED"] and p["B_SIGNED"])
    a, b = (extended(pins[port], _longest(pins), signed) for port in (first, second))
    if signed:
        a[-1], b[-1] = logic.not_(a[-1]), logic.not_(b[-1])
    return logic.less(a, b)


def _of_two(operation: Callable[[Logic, Net, Net], Net]) -> Callable[[Logic, Pins, Parameters], Made]:
    return lambda logic, pins, p: [operation(logic, pins["A"][0], pins["B"][0])]


def _of_one(operation: Callable[[Logic, Net], Net]) -> Callable[[Logic, Pins, Parameters], Made]:
    return lambda logic, pins, p: [operation(logic, pins["A"][0])]


def _select(logic: Logic, pins: Pins, p: Parameters) -> Made:
    """One bit; of several selects the first that is 1 counts."""
    found = pins["A"][0]
    for select, chosen in reversed(list(zip(pins["S"], pins["B"], strict=True))):
        found = logic.mux(select, found, chosen)
    return [found]


def _bmux(logic: Logic, pins: Pins, p: Parameters) -> Made:
    logic.leave_open(_chosen(logic, pins["S"], pins["undefined"], 1)[0])
    return _chosen(logic, pins["S"], pins["A"], p["WIDTH"])


def _chosen(logic: Logic, selects: Word, words: Made, width: int) -> Made:
    for select in selects:
        parts = [words[i : i + width] for i in range(0, len(words), width)]
        chosen = (logic.choose(select, a, b) for a, b in zip(parts[::2], parts[1::2], strict=True))
        words = [bit for word in chosen for bit in word]
    return words


def _demux(logic: Logic, pins: Pins, p: Parameters) -> Made:
    places = [ONE]
    for select in pins["S"]:
        off = logic.not_(select)
        places = [logic.and_(place, chosen) for chosen in (off, select) for place in places]
    return [logic.and_(place, bit) for place in places for bit in pins["A"]]


def _left(logic: Logic, word: Made, amount: Word) -> Made:
    for place, select in enumerate(amount):
        distance = min(1 << place, len(word)) if place < 32 else len(word)
        word = logic.choose(select, word, [*[ZERO] * distance, *word[: len(word) - distance]])
    return word


def _right(logic: Logic, word: Made, amount: Word, fill: Net = ZERO) -> Made:
    for place, select in reversed(list(enumerate(amount))):
        distance = min(1 << place, len(word)) if place < 32 else len(word)
        word = logic.choose(select, word, [*word[distance:], *[fill] * distance])
    return word


def _shl(logic: Logic, pins: Pins, p: Parameters) -> Made:
    return _left(logic, _own(pins, p), pins["B"])


def _shr(logic: Logic, pins: Pins, p: Parameters) -> Made:
    width = max(len(pins["A"]), p["Y_WIDTH"])
    word = extended(pins["A"], width, bool(p["A_SIGNED"]))
    return _right(logic, word, pins["B"])[: p["Y_WIDTH"]]


def _sshr(logic: Logic, pins: Pins, p: Parameters) -> Made:
    width = max(len(pins["A"]), p["Y_WIDTH"])
    word = extended(pins["A"], width, bool(p["A_SIGNED"]))
    return _right(logic, word, pins["B"], word[-1] if p["A_SIGNED"] else ZERO)[: p["Y_WIDTH"]]


def _shift(logic: Logic, pins: Pins, p: Parameters) -> Made:
    """To the right; a negative amount goes to the left."""
    width = max(len(pins["A"]), p["Y_WIDTH"])
    word, amount = extended(pins["A"], width, bool(p["A_SIGNED"])), pins["B"]
    if not p["B_SIGNED"]:
        return _right(logic, word, amount)[: p["Y_WIDTH"]]
    amount = _shortest(amount)
    back = logic.subtract([ZERO] * len(amount), amount)
    right, left = _right(logic, word, amount[:-1]), _left(logic, word, back)
    return logic.choose(amount[-1], right, left)[: p["Y_WIDTH"]]


def _shiftx(logic: Logic, pins: Pins, p: Parameters) -> Made:
    """As `$shift`; beyond the operand's ends bits are undefined.

    One whose output is wider than its operand is a move to a place, and only what stands there is looked at.
    """
    last, amount = len(pins["A"]) - p["Y_WIDTH"], pins["B"]
    if 0 <= last < (1 << len(amount)) - 1:
        # As a number without sign a negative amount is beyond the last one, too.
        most = [ONE if last >> i & 1 else ZERO for i in range(len(amount))]
        logic.leave_open(logic.less(most, amount))
    return _shift(logic, pins, p)


KINDS: Mapping[str, Callable[[Logic, Pins, Parameters], Made]] = {
    "$add": _add,
    "$sub": _sub,
    "$neg": _neg,
    "$mul": _mul,
    "$and": _of_two(Logic.and_),
    "$or": _of_two(Logic.or_),
    "$xor": _of_two(Logic.xor),
    "$xnor": _of_two(lambda logic, a, b: logic.not_(logic.xor(a, b))),
    "$not": _of_one(Logic.not_),
    "$pos": _of_one(lambda logic, a: a),
    "$buf": lambda logic, pins, p: list(pins["A"]),
    "$logic_not": lambda logic, pins, p: _bit(logic.not_(logic.any_(pins["A"])), p),
    "$logic_and": lambda logic, pins, p: _bit(logic.and_(logic.any_(pins["A"]), logic.any_(pins["B"])), p),
    "$logic_or": lambda logic, pins, p: _bit(logic.or_(logic.any_(pins["A"]), logic.any_(pins["B"])), p),
    "$reduce_and": lambda logic, pins, p: _bit(logic.all_(pins["A"]), p),
    "$reduce_or": lambda logic, pins, p: _bit(logic.any_(pins["A"]), p),
    "$reduce_bool": lambda logic, pins, p: _bit(logic.any_(pins["A"]), p),
    "$reduce_xor": lambda logic, pins, p: _bit(logic.odd(pins["A"]), p),
    "$reduce_xnor": lambda logic, pins, p: _bit(logic.not_(logic.odd(pins["A"])), p),
    "$eq": lambda logic, pins, p: _bit(_eq(logic, pins, p), p),
    "$ne": lambda logic, pins, p: _bit(logic.not_(_eq(logic, pins, p)), p),
    "$lt": lambda logic, pins, p: _bit(_lt(logic, pins, p, "A", "B"), p),
    "$gt": lambda logic, pins, p: _bit(_lt(logic, pins, p, "B", "A"), p),
    "$le": lambda logic, pins, p: _bit(logic.not_(_lt(logic, pins, p, "B", "A")), p),
    "$ge": lambda logic, pins, p: _bit(logic.not_(_lt(logic, pins, p, "A", "B")), p),
    "$mux": _select,
    "$bwmux": _select,
    "$pmux": _select,
    "$bmux": _bmux,
    "$demux": _demux,
    "$shl": _shl,
    "$sshl": _shl,
    "$shr": _shr,
    "$sshr": _sshr,
    "$shift": _shift,
    "$shiftx": _shiftx,
    "$_BUF_": _of_one(lambda logic, a: a),
    "$_NOT_": _of_one(Logic.not_),
    "$_AND_": _of_two(Logic.and_),
    "$_NAND_": _of_two(lambda logic, a, b: logic.not_(logic.and_(a, b))),
    "$_OR_": _of_two(Logic.or_),
    "$_NOR_": _of_two(lambda logic, a, b: logic.not_(logic.or_(a, b))),
    "$_XOR_": _of_two(Logic.xor),
    "$_XNOR_": _of_two(lambda logic, a, b: logic.not_(logic.xor(a, b))),
    "$_ANDNOT_": _of_two(lambda logic, a, b: logic.and_(a, logic.not_(b))),
    "$_ORNOT_": _of_two(lambda logic, a, b: logic.or_(a, logic.not_(b))),
    "$_MUX_": _select,
    "$_NMUX_": lambda logic, pins, p: [logic.not_(_select(logic, pins, p)[0])],
}
"""What makes each kind of cell; of those that work bit by bit, of one bit."""
