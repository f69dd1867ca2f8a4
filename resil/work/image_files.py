# SPDX-License-Identifier: Apache-2.0
"""Files that hold initial contents of memories: raw bytes, arrays, `$readmemh` text."""

from __future__ import annotations

import re
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import numpy.typing as npt

from resil.errors import CampaignError

# Of a `$readmemh` file: what lies beyond is a slip, and would be allocated.
_MOST_WORDS = 2**28
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def read_image(path: Path, word_bytes: int) -> bytes:
    """Return the bytes that a file puts into a memory.

    Args:
        path: A `.bin` file of raw bytes; a `.npy` array, laid out in C order, little endian; or a `.hex` file
            as `$readmemh` reads it, a word each, whose byte 0 is the least significant.
        word_bytes: Bytes of one word of the memory, for `.hex`.

    Raises:
        CampaignError: the file cannot be read or is not of that form.
    """
    match path.suffix:
        case ".npy":
            return array_bytes(read_array(path))
        case ".hex":
            return _readmemh(path, word_bytes)
    try:
        return path.read_bytes()
    except OSError as error:
        raise CampaignError(
            f"{path}: cannot be read ({error.strerror}); give a readable file", "file"
        ) from None


def read_array(path: Path) -> npt.NDArray[Any]:
    """Return the array of numbers in a `.npy` file; CampaignError if it holds none."""
    array, found = load_npy(path, "numbers")
    if array is None or array.dtype.kind not in "biuf" or not array.size:
        raise CampaignError(
            f"{path}: expected an array of numbers, found {found}; save one with numpy.save", "numbers"
        )
    return array


def load_npy(path: Path, wanted: str) -> tuple[npt.NDArray[Any] | None, str]:
    """Return the array in a `.npy` file, None if it holds several, and what was found in it, for messages.

    Raises:
        CampaignError: it is none; the message asks for one of `wanted`.
    """
    try:
        # Mapped first: a header that claims more than the file holds is refused, not allocated.
        with np.errstate(over="raise"):
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        if isinstance(array, np.memmap):
            array = np.array(array)
    except (OSError, ValueError, EOFError, ArithmeticError, MemoryError, SyntaxError, TokenError) as error:
        raise CampaignError(
            f"{path}: expected a .npy file of {wanted}, found: {error}; save one with numpy.save", "content"
        ) from None
    if not isinstance(array, np.ndarray):
        return None, "several arrays"
    return array, f"{array.dtype} {array.shape}"


def array_bytes(array: npt.NDArray[Any]) -> bytes:
    """Return an array's elements in C order, little endian."""
    return np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def _readmemh(path: Path, word_bytes: int) -> bytes:
    try:
        text = path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise CampaignError(
            f"{path}: cannot be read as text: {error}; give a $readmemh file", "text"
        ) from None
    words: dict[int, bytes] = {}
    address = 0
    for token in _COMMENT.sub(" ", text).split():
        digits = token.removeprefix("@").replace("_", "")
        if not re.fullmatch(r"[0-9a-fA-F]+", digits):
            raise CampaignError(
                f"{path}: expected hexadecimal digits, found {token[:40]!r}; unknown bits (x, z) have no "
                "value here, write 0",
                "digits",
            )
        value = int(digits, 16)
        if token.startswith("@"):
            address = value
            continue
        if value >> 8 * word_bytes:
            raise CampaignError(
                f"{path}: expected words of at most {2 * word_bytes} digits, found {token[:40]!r}; the "
                f"memory has words of {word_bytes} bytes",
                "word",
            )
        if address >= _MOST_WORDS:
            raise CampaignError(
                f"{path}: expected addresses below {_MOST_WORDS:#x}, found @{address:x}; correct it",
                "address",
            )
        words[address] = value.to_bytes(word_bytes, "little")
        address += 1
    image = bytearray((max(words, default=-1) + 1) * word_bytes)
    for place, word in words.items():
        image[place * word_bytes : (place + 1) * word_bytes] = word
    return bytes(image)
