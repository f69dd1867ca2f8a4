# SPDX-License-Identifier: Apache-2.0
"""Gates that simplify themselves while they are made: constants are folded, equal gates are one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

NOT, AND, OR, XOR, MUX, READ = 1, 2, 4, 6, 10, 12
ZERO, ONE = 0, 1

Net = int
Word = Sequence[Net]
Gate = tuple[int, int, int, int, int]


class Logic:
    """Gates in an order in which each comes after what it depends on.

    Nets are numbers; 0 and 1 are the constants.

    Attributes:
        gates: Operation and nets (a, b, s, y) of each.
        undefined: Nets that are 1 where a word is undefined: what the gates say of it is not what a simulator
            computes.
    """

    def __init__(self) -> None:
        self.gates: list[Gate] = []
        self.undefined: list[Net] = []
        self._made: dict[tuple[int, int, int, int], Net] = {}
        self._of: dict[Net, tuple[int, int, int, int]] = {}
        self._inverse: dict[Net, Net] = {ZERO: ONE, ONE: ZERO}
        self._nets = 2

    @property
    def nets(self) -> int:
        """Number of nets so far."""
        return self._nets

    def net(self) -> Net:
        """Return a new net, which something else drives."""
        self._nets += 1
        return self._nets - 1

    def leave_open(self, undefined: Net) -> None:
        """Note that a word is undefined where this net is 1."""
        if undefined != ZERO and undefined not in self.undefined:
            self.undefined.append(undefined)

    def not_(self, a: Net) -> Net:
        """Return the inverse."""
        if a not in self._inverse:
            y = self._gate(NOT, a)
            self._inverse[a], self._inverse[y] = y, a
        return self._inverse[a]

    def and_(self, a: Net, b: Net) -> Net:
        """Return whether both are 1."""
        if a == b or b == ONE:
            return a
        if a == ONE:
            return b
        if a == ZERO or b == ZERO or self._inverse.get(a) == b:
            return ZERO
        for one, other in ((a, b), (b, a)):
            if (lesser := self._beside(one, other)) != other:
                return self.and_(one, lesser)
        return self._gate(AND, *((a, b) if a < b else (b, a)))

    def or_(self, a: Net, b: Net) -> Net:
        """Return whether one of them is 1."""
        if a == b or b == ZERO:
            return a
        if a == ZERO:
            return b
        if a == ONE or b == ONE or self._inverse.get(a) == b:
            return ONE
        return self._gate(OR, *((a, b) if a < b else (b, a)))

    def xor(self, a: Net, b: Net) -> Net:
        """Return whether they differ."""
        if a > b:
            a, b = b, a
        if a == b:
            return ZERO
        if a == ZERO:
            return b
        if a == ONE:
            return self.not_(b)
        if self._inverse.get(a) == b:
            return ONE
        return self._gate(XOR, a, b)

    def mux(self, select: Net, a: Net, b: Net) -> Net:
        """Return `b` if `select` is 1, else `a`."""
        if a == b or select == ZERO:
            return a
        if select == ONE:
            return b
        if a == ZERO:
            return self.and_(select, b)
        if b == ONE:
            return self.or_(select, a)
        if b == ZERO:
            return self.and_(self.not_(select), a)
        if a == ONE:
            return self.or_(self.not_(select), b)
        return self._gate(MUX, a, b, select)

    def any_(self, word: Word) -> Net:
        """Return whether a bit is 1."""
        found = ZERO
        for bit in word:
            found = self.or_(found, bit)
        return found

    def all_(self, word: Word) -> Net:
        """Return whether all bits are 1."""
        found = ONE
        for bit in word:
            found = self.and_(found, bit)
        return found

    def odd(self, word: Word) -> Net:
        """Return whether the number of ones is odd."""
        found = ZERO
        for bit in word:
            found = self.xor(found, bit)
        return found

    def choose(self, select: Net, a: Word, b: Word) -> list[Net]:
        """Return word `b` if `select` is 1, else word `a`."""
        return [self.mux(select, x, y) for x, y in zip(a, b, strict=True)]

    def read(self, number: int) -> None:
        """Add read port `number` of a memory, which drives its data."""
        self.gates.append((READ, number, ZERO, ZERO, ZERO))

    def add(self, a: Word, b: Word, carry: Net = ZERO) -> list[Net]:
        """Return the sum of words of the same length."""
        total = []
        for x, y in zip(a, b, strict=True):
            differ = self.xor(x, y)
            total.append(self.xor(differ, carry))
            carry = self.mux(differ, x, carry)
        return total

    def subtract(self, a: Word, b: Word) -> list[Net]:
        """Return the difference of words of the same length."""
        return self.add(a, [self.not_(bit) for bit in b], ONE)

    def less(self, a: Word, b: Word) -> Net:
        """Return whether the number `a` is below `b`, of the same length, both without sign."""
        below = ZERO
        for x, y in zip(a, b, strict=True):
            below = self.mux(self.xor(x, y), below, y)
        return below

    def multiply(self, a: Word, b: Word) -> list[Net]:
        """Return the product of two numbers in two's complement, as long as both together.

        Partial products of a sign are inverted and constants added instead of extending each row (Baugh and
        Wooley, IEEE Transactions on Computers 22(12), 1973).
        """
        size = len(a) + len(b)
        columns: list[list[Net]] = [[] for _ in range(size)]
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                product = self.and_(x, y)
                inverted = (i == len(a) - 1) != (j == len(b) - 1)
                columns[i + j].append(self.not_(product) if inverted else product)
        for place in (len(a) - 1, len(b) - 1, size - 1):
            columns[place].append(ONE)
        return self._summed(columns)

    def _summed(self, columns: list[list[Net]]) -> list[Net]:
        """Return the sum of bits, each of which counts by its column."""
        total = []
        for place, column in enumerate(columns):
            waiting, ones = [bit for bit in column if bit > ONE], column.count(ONE)
            while ones > 1 and place + 1 < len(columns):
                columns[place + 1].append(ONE)
                ones -= 2
            waiting = [ONE] * (ones % 2) + waiting
            taken = 0
            while len(waiting) - taken > 1:
                x, y, *rest = waiting[taken : taken + 3]
                carry = rest[0] if rest else ZERO
                taken += 2 + len(rest)
                differ = self.xor(x, y)
                waiting.append(self.xor(differ, carry))
                if place + 1 < len(columns):
                    columns[place + 1].append(self.mux(differ, x, carry))
            total.append(waiting[taken] if taken < len(waiting) else ZERO)
        return total

    def needed(self, nets: Iterable[Net]) -> tuple[list[Gate], list[Net]]:
        """Return the gates that these nets depend on, and the numbers that nets have when no others are left.

        Read ports all stay; the nets of their addresses and data are to be among these.
        """
        kept = bytearray(self._nets)
        for net in (ZERO, ONE, *nets):
            kept[net] = 1
        gates = []
        for gate in reversed(self.gates):
            if gate[0] == READ:
                gates.append(gate)
            elif kept[gate[4]]:
                gates.append(gate)
                for net in gate[1:4]:
                    kept[net] = 1
        numbers = list(accumulate(kept, initial=0))

        def renumbered(gate: Gate) -> Gate:
            operation, a, b, select, y = gate
            if operation == READ:
                return gate
            return (operation, numbers[a], numbers[b], numbers[select], numbers[y])

        return [renumbered(gate) for gate in reversed(gates)], numbers

    def _beside(self, one: Net, other: Net) -> Net:
        """Return what `other` is when `one` is 1, as far as its own gate shows."""
        operation, a, b, select = self._of.get(other, (READ, ZERO, ZERO, ZERO))
        inverse = self._inverse.get(one)
        if operation == MUX and select in {one, inverse}:
            return b if select == one else a
        if operation == AND and inverse in {a, b}:
            return ZERO
        return other

    def _gate(self, operation: int, a: Net, b: Net = ZERO, s: Net = ZERO) -> Net:
        key = (operation, a, b, s)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self.net()
            self._of[found] = key
            self.gates.append((*key, found))
        return found
