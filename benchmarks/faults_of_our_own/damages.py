# SPDX-License-Identifier: Apache-2.0
"""Ways to damage bytes, TOML texts, JSON texts and command lines; each is a function of its generator."""

from __future__ import annotations

import json
import random
import re
from typing import Any

_NUMBERS = (
    "0", "-1", "1", "2", "1e400", "-0.0", "nan", "inf", "-inf", "9223372036854775807", "9223372036854775808",
    "-9223372036854775809", "1" * 400, "1" * 5000, "0x7fffffff", "1e-320", "0.999999999999", "2024-01-01",
)  # fmt: skip
_TEXTS = (
    '""', '" "', '"\\u0000"', '"\\uFFFF"', '"../../.."', '"/dev/zero"', '"/"', '"~nobody/x"', '"zoo:"',
    '"zoo:../digits"', '"' + "x" * 5000 + '"', "'''a\nb'''", '"\N{SNOWMAN}"', '"ff"', '"sram"', '"total"',
    '"/dev/null"', '"tcp://:1"', '"verilator"', '"adaptive"', '"%s%n"', '"-1"', '"."',
)  # fmt: skip
_OTHERS = (
    "true", "false", "[]", "{}", "[[]]", "[1, 'a']", "{a = 1}", "[" * 90 + "]" * 90, "[0, 0]", "[1e400]",
    "{ 1 = 0.5, 2 = 0.5 }", "[{}]", "[" * 3000 + "]" * 3000, "[0.5, 0.5, 0.5]", '["ff", "ff"]',
)  # fmt: skip
_JSON = (
    None, True, 0, -1, 1e308, 10**30, "", "x" * 5000, [], {}, [None], {"a": 1}, "\x00", [[]], -(2**63), 0.5,
)  # fmt: skip


def damaged_bytes(data: bytes, chance: random.Random) -> bytes:
    """Return bytes with one to four damages."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(data) + 1)
        some = chance.randrange(1, 64)
        match chance.randrange(8):
            case 0:
                data = data[:at]
            case 1 | 2:
                bits = bytearray(data)
                if bits:
                    bits[min(at, len(bits) - 1)] ^= 1 << chance.randrange(8)
                data = bytes(bits)
            case 3:
                data = data[:at] + chance.randbytes(some) + data[at:]
            case 4:
                data = data[:at] + chance.randbytes(some) + data[at + some :]
            case 5:
                data = data[:at] + data[at + some :]
            case 6:
                word = chance.choice((0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFF)).to_bytes(4, "little")
                data = data[: at & ~3] + word + data[(at & ~3) + 4 :]
            case 7:
                data = data[:at] + data[max(at - some, 0) : at] * chance.choice((1, 3, 200)) + data[at:]
    return data


def damaged_toml(text: str, chance: random.Random) -> bytes:
    """Return a TOML text with one to three damages, most of them still TOML."""
    for _ in range(chance.choice((1, 1, 2, 3))):
        lines = text.split("\n")
        at = chance.randrange(len(lines))
        keys = [i for i, line in enumerate(lines) if re.match(r"\s*[\w-]+\s*=", line)]
        match chance.randrange(8):
            case 0 | 1 | 2 if keys:
                at = chance.choice(keys)
                value = chance.choice(chance.choice((_NUMBERS, _TEXTS, _OTHERS)))
                lines[at] = f"{lines[at].split('=')[0]}= {value}"
            case 3:
                del lines[at]
            case 4:
                lines.insert(at, chance.choice(lines))
            case 5 if keys:
                at = chance.choice(keys)
                name = lines[at].split("=")[0].strip()
                i = chance.randrange(len(name))
                lines[at] = lines[at].replace(name, name[:i] + chance.choice("_xa-. ") + name[i + 1 :], 1)
            case 6:
                headers = [line for line in lines if line.startswith("[")] or ["[x]"]
                lines.insert(at, chance.choice((chance.choice(headers), "[x]", "[[x]]", "[a.b.c]", "[")))
            case _:
                return damaged_bytes("\n".join(lines).encode(), chance)
        text = "\n".join(lines)
    return text.encode("utf-8", "surrogatepass")


def damaged_json(text: str, chance: random.Random) -> bytes:
    """Return a JSON text with one to three damages, most of them still JSON."""
    if chance.random() < 0.2:
        return damaged_bytes(text.encode(), chance)
    value = json.loads(text)
    for _ in range(chance.choice((1, 1, 2, 3))):
        owner, key = chance.choice(list(_places(value)))
        match chance.randrange(4):
            case 0:
                del owner[key]
            case 1 if isinstance(owner, dict):
                owner[f"{key}x"] = owner.pop(key)
            case _:
                owner[key] = chance.choice(_JSON)
        if not list(_places(value)):
            break
    return json.dumps(value).encode("utf-8", "surrogatepass")


def damaged_words(words: list[str], chance: random.Random, known: list[str]) -> list[str]:
    """Return a command line with one to three damages."""
    words = list(words)
    for _ in range(chance.choice((1, 1, 2, 3))):
        at = chance.randrange(len(words) + 1)
        odd = chance.choice((*_NUMBERS, *(text.strip("\"'") for text in _TEXTS), "--", "-", "--x=1", "@", ""))
        match chance.randrange(5):
            case 0:
                words.insert(at, odd)
            case 1:
                words.insert(at, chance.choice(known))
            case 2:
                words[at : at + 1] = [odd]
            case 3:
                del words[at : at + 1]
            case _:
                words += [chance.choice(known), odd]
    return [word.replace("\x00", "") for word in words]


def _places(value: Any) -> list[tuple[Any, Any]]:  # noqa: ANN401
    """All places of a JSON value, as what holds them and under what."""
    found: list[tuple[Any, Any]] = []
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        found.append((value, key))
        found += _places(item)
    return found
