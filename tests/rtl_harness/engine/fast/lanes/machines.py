# SPDX-License-Identifier: Apache-2.0
"""The library of a lane model, called from Python."""

import ctypes

MACHINES = 32
POINTER, NUMBER, WORD = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int32


class Watch(ctypes.Structure):
    _fields_ = (("busy", ctypes.c_uint32), ("alarms", ctypes.c_uint32 * 64))


SIGNATURES = {
    "create": (POINTER, []),
    "destroy": (None, [POINTER]),
    "places": (None, [POINTER, POINTER, NUMBER]),
    "load_row": (None, [POINTER, WORD, POINTER]),
    "store_row": (None, [POINTER, WORD, POINTER]),
    "load_memory": (None, [POINTER, WORD, WORD, POINTER, NUMBER, NUMBER]),
    "store_memory": (None, [POINTER, WORD, WORD, POINTER, NUMBER, NUMBER]),
    "hold": (None, [POINTER, WORD, POINTER, NUMBER]),
    "run": (NUMBER, [POINTER, NUMBER, POINTER, POINTER]),
    "operation": (NUMBER, [POINTER, WORD]),
}


class Machines:
    """Faulty machines, whose storage is exchanged as arrays of bytes with the places of `PLACE` in them."""

    def __init__(self, library, places):
        self._library = ctypes.CDLL(str(library))
        self._library.lanes_calls.restype = POINTER
        calls = ctypes.cast(self._library.lanes_calls(), ctypes.POINTER(POINTER * len(SIGNATURES))).contents
        for (name, (result, given)), call in zip(SIGNATURES.items(), calls, strict=True):
            setattr(self, f"_{name}", ctypes.CFUNCTYPE(result, *given)(call))
        self._handle = self._create()
        self._places(self._handle, places.ctypes.data, places.size)

    def load(self, machine, row, memories=()):
        self._load_row(self._handle, machine, row.ctypes.data)
        self._each(self._load_memory, machine, row, memories)

    def store(self, machine, row, memories=()):
        self._store_row(self._handle, machine, row.ctypes.data)
        self._each(self._store_memory, machine, row, memories)

    def _each(self, call, machine, row, memories):
        for number, m in enumerate(memories):
            call(self._handle, machine, number, row.ctypes.data + m.offset, m.entry_bytes, m.words)

    def run(self, cycles):
        watch, seen = Watch(), (ctypes.c_uint32 * 66)()
        return self._run(self._handle, cycles, ctypes.byref(watch), ctypes.byref(seen))

    def close(self):
        self._destroy(self._handle)
