# SPDX-License-Identifier: Apache-2.0
"""Names in structural netlists: escaped instances get plain names, and registers theirs of the RTL."""

from __future__ import annotations

import re
from collections.abc import Iterable

_INSTANCE = re.compile(rb"(?<![\w$\\])([A-Za-z_][\w$]*)(\s+)\\(\S+)(\s+)(?=\()")
_WORD = re.compile(rb"[A-Za-z_][\w$]*")
_NO_CELLS = {b"module", b"function", b"task", b"macromodule"}
# How tools write the register, and the bits of it, in the name of a flip-flop.
_REGISTER = re.compile(r"(?P<name>.+?)_reg(?P<bits>(?:\[\d+\]|_\d+_)*)")
_BIT = re.compile(r"\[(\d+)\]|_(\d+)_")


def with_plain_instances(text: bytes) -> bytes:
    r"""Return a netlist in which no instance has an escaped name: front ends keep no hierarchy of such names.

    What no name may have becomes `_`, as tools write it: `\sum_q_reg[3] ` is `sum_q_reg_3_`. Lines stay where
    they are; names that would be there twice get a number.

    >>> with_plain_instances(rb"DFF \a.b_reg[3]  (.Q(\a.b [3]));")
    b'DFF a_b_reg_3_  (.Q(\\a.b [3]));'
    """
    taken = set(_WORD.findall(text))

    def plain(found: re.Match[bytes]) -> bytes:
        cell, before, name, after = found.groups()
        if cell in _NO_CELLS:
            return found[0]
        own = base = (
            re.sub(rb"\W", b"_", name) if not name[:1].isdigit() else b"_" + re.sub(rb"\W", b"_", name)
        )
        number = 0
        while own in taken:
            number += 1
            own = base + b"_%d" % number
        taken.add(own)
        return cell + before + own + after

    return _INSTANCE.sub(plain, text)


def register_of(name: str) -> str:
    """Return the register bit of the RTL that an instance of a flip-flop is called after; "" if it is not.

    >>> register_of("u_core.sum_q_reg_3_"), register_of("u_core.sum_q_reg[3]"), register_of("u_core._501_")
    ('u_core.sum_q[3]', 'u_core.sum_q[3]', '')
    """
    scope, dot, own = name.rpartition(".")
    found = _REGISTER.fullmatch(own)
    if found is None:
        return ""
    bits = "".join(f"[{one or other}]" for one, other in _BIT.findall(found["bits"]))
    return f"{scope}{dot}{found['name']}{bits}"


def register_behind(path: str) -> str:
    """Return what the RTL called a flip-flop of a netlist, by the path of its cell or of what that stores.

    >>> register_behind("u_core.sum_q_reg_3_.IQ"), register_behind("u_core.sum_q_reg_3_")
    ('u_core.sum_q[3]', 'u_core.sum_q[3]')
    """
    return register_of(path) or register_of(path.rpartition(".")[0])


def registers_of(names: Iterable[str]) -> dict[str, str]:
    """Return the flip-flop of each register bit that some are called after, by that bit."""
    return {register: name for name in names if (register := register_of(name))}
