# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite flatbuffers in, `Graph` out.

A file is not trusted: every offset, index, length and size is checked before it is used, and whatever is
wrong with it is a NetworkError that names the file and the place.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import tflite

from resil.networks import schema
from resil.networks.errors import NetworkError
from resil.networks.graph import Graph, Operator, OptionValue, Quantisation, Tensor

T = TypeVar("T")

IDENTIFIER = b"TFL3"
SCHEMA_VERSION = 3
CLAMPS_METADATA = "resil_clamps"
"""Metadata of a file whose activations are clamped: little-endian int32 tensor, low, high for each."""
_BUDGET_PER_BYTE = 16
_TABLE_COST = 512
_DAMAGE = (
    struct.error,
    ValueError,
    IndexError,
    KeyError,
    OverflowError,
    TypeError,
    AttributeError,
    MemoryError,
)


def read_network(path: Path | str) -> Graph:
    """Read a .tflite file.

    Raises:
        NetworkError: The file cannot be read, is no TensorFlow Lite model, is damaged, or has something this
            package does not handle (control flow, sparse or string tensors, external buffers).
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise NetworkError(
            f"{path}: cannot be read ({error.strerror or error}); give the path of a .tflite file", "file"
        ) from error
    return parse_network(data, str(path))


def parse_network(data: bytes, where: str = "network") -> Graph:
    """Return the graph in the bytes of a .tflite file; `where` names them in messages.

    Raises:
        NetworkError: As `read_network`.
    """
    if len(data) < 8 or data[4:8] != IDENTIFIER:
        found = f"{data[4:8]!r}" if len(data) >= 8 else f"a file of {len(data)} bytes"
        raise NetworkError(
            f"{where}: expected a TensorFlow Lite model (identifier {IDENTIFIER!r} at byte 4), "
            f"found {found}; export the network as an int8 .tflite file",
            "identifier",
        )
    try:
        return _TfliteReader(data, where).graph()
    except _DAMAGE as error:
        raise NetworkError(
            f"{where}: the TensorFlow Lite model is damaged ({type(error).__name__}: {error}); "
            "export or copy it again",
            "content",
        ) from error


class _TfliteReader:
    def __init__(self, data: bytes, where: str) -> None:
        self.data = data
        self.where = where
        self.budget = _BUDGET_PER_BYTE * len(data)
        self.model: schema.Generated = tflite.Model.GetRootAs(data, 0)

    def graph(self) -> Graph:
        if self.model.Version() != SCHEMA_VERSION:
            self._refuse(f"expected schema version {SCHEMA_VERSION}, found {self.model.Version()}")
        model, count = self.model, self.model.SubgraphsLength()
        if not count:
            self._refuse("expected a subgraph, found none; export the network again")
        codes = self._each(
            "operator code", model.OperatorCodesLength(), lambda i: self._code(model.OperatorCodes(i))
        )
        main, *others = (self._subgraph(model.Subgraphs(i), codes) for i in range(count))
        called = {o.options.get("init_subgraph_index") for o in main.operators if o.kind == "CALL_ONCE"}
        if unknown := set(range(1, count)) - called:
            self._refuse(
                f"expected one subgraph, and others that set variables by CALL_ONCE, found {count}, of which "
                f"{len(unknown)} are not such; networks with control flow are not supported"
            )
        clamps = self._clamps(len(main.tensors))
        tensors = tuple(replace(tensor, clamp=clamps.get(i)) for i, tensor in enumerate(main.tensors))
        return replace(main, tensors=tensors, subgraphs=tuple(others))

    def _subgraph(self, subgraph: schema.Generated, codes: tuple[tuple[str, int, str], ...]) -> Graph:
        tensors = self._each("tensor", subgraph.TensorsLength(), lambda i: self._tensor(subgraph.Tensors(i)))
        operators = self._each(
            "operator", subgraph.OperatorsLength(), lambda i: self._operator(subgraph.Operators(i), codes)
        )
        return Graph(
            tensors,
            operators,
            self._ints(subgraph, "Inputs"),
            self._ints(subgraph, "Outputs"),
            self._text(subgraph.Name()),
            self._text(self.model.Description()),
        )

    def _refuse(self, message: str) -> None:
        raise NetworkError(f"{self.where}: {message}", "content")

    def _each(self, what: str, count: int, read: Callable[[int], T]) -> tuple[T, ...]:
        results = []
        for index in range(count):
            try:
                self._spend(_TABLE_COST)
                results.append(read(index))
            except _DAMAGE as error:
                raise ValueError(f"{what} {index}: {error}") from error
        return tuple(results)

    def _spend(self, cost: int) -> None:
        """Account for work in bytes; a file whose parts overlap cannot make us do much more than its size."""
        self.budget -= cost
        if self.budget < 0:
            raise ValueError(
                f"its parts overlap: they are more than {_BUDGET_PER_BYTE} times as large as the file"
            )

    def _text(self, value: bytes | None) -> str:
        self._spend(len(value or b""))
        return "" if value is None else bytes(value).decode("utf-8", errors="replace")

    def _vector(self, table: schema.Generated, name: str) -> npt.NDArray[np.generic] | None:
        if getattr(table, f"{name}IsNone")():
            return None
        values: npt.NDArray[np.generic] = getattr(table, f"{name}AsNumpy")()
        self._spend(values.nbytes)
        return values

    def _ints(self, table: schema.Generated, name: str) -> tuple[int, ...]:
        values = self._vector(table, name)
        return () if values is None else tuple(int(v) for v in values.tolist())

    def _floats(self, table: schema.Generated, name: str) -> tuple[float, ...]:
        values = self._vector(table, name)
        return () if values is None else tuple(float(v) for v in values.tolist())

    def _tensor(self, table: schema.Generated) -> Tensor:
        name = self._text(table.Name())
        if table.Sparsity() is not None:
            self._refuse(f"tensor {name!r} is sparse; convert the network without sparse weights")
        types = {code: dtype for dtype, code in (schema.TENSOR_TYPES | schema.HANDLE_TYPES).items()}
        if table.Type() not in types:
            self._refuse(
                f"tensor {name!r} has type {_type_name(table.Type())}; "
                f"supported are {', '.join(schema.TENSOR_TYPES)}"
            )
        dtype = types[table.Type()]
        shape = self._ints(table, "Shape")
        if any(size < 0 for size in shape):
            raise ValueError(f"{name!r} has the shape {list(shape)}")
        data = self._data(table.Buffer(), shape, dtype)
        signature = self._ints(table, "ShapeSignature") or None
        return Tensor(name, shape, dtype, self._quantisation(table), data, table.IsVariable(), signature)

    def _data(self, index: int, shape: tuple[int, ...], dtype: str) -> npt.NDArray[np.generic] | None:
        count = self.model.BuffersLength()
        if not 0 <= index < count:
            raise ValueError(f"buffer {index} does not exist, there are {count}")
        buffer = self.model.Buffers(index)
        if buffer.Offset() > 1 or buffer.Size() > 1:
            self._refuse("weights are stored behind the model (over 2 GB); such files are not supported")
        if buffer.DataIsNone() or buffer.DataLength() == 0:
            return None
        self._spend(buffer.DataLength())
        raw = buffer.DataAsNumpy().tobytes()
        expected = np.dtype(dtype).itemsize
        for size in shape:
            expected *= size
        if len(raw) != expected:
            raise ValueError(f"{dtype}{list(shape)} needs {expected} bytes, buffer {index} has {len(raw)}")
        return np.frombuffer(raw, dtype=np.dtype(dtype).newbyteorder("<")).astype(dtype).reshape(shape)

    def _clamps(self, tensors: int) -> Mapping[int, tuple[int, int]]:
        """Return the clamps that the file's metadata gives to tensors, by their index."""
        count = 0 if self.model.MetadataIsNone() else self.model.MetadataLength()
        entries = [self.model.Metadata(i) for i in range(count)]
        found = [entry for entry in entries if self._text(entry.Name()) == CLAMPS_METADATA]
        if not found:
            return {}
        index = found[0].Buffer()
        if len(found) > 1 or not 0 <= index < self.model.BuffersLength():
            raise ValueError(f"metadata {CLAMPS_METADATA} stands {len(found)} times, in buffer {index}")
        buffer = self.model.Buffers(index)
        self._spend(buffer.DataLength())
        raw = b"" if buffer.DataIsNone() else buffer.DataAsNumpy().tobytes()
        rows = np.frombuffer(raw, dtype="<i4").reshape(-1, 3).tolist()
        clamps = {int(tensor): (int(low), int(high)) for tensor, low, high in rows}
        if len(clamps) != len(rows) or not all(0 <= tensor < tensors for tensor in clamps):
            raise ValueError(f"metadata {CLAMPS_METADATA} names tensors {sorted(clamps)} of {tensors}")
        return clamps

    def _quantisation(self, table: schema.Generated) -> Quantisation | None:
        quantisation = table.Quantization()
        if quantisation is None:
            return None
        scale = self._floats(quantisation, "Scale")
        if not scale:
            return None
        zero_point = self._ints(quantisation, "ZeroPoint") or (0,) * len(scale)
        if len(zero_point) == 1:
            zero_point *= len(scale)
        shape, axis = self._ints(table, "Shape"), quantisation.QuantizedDimension()
        if len(scale) > 1 and (not 0 <= axis < len(shape) or shape[axis] != len(scale)):
            raise ValueError(f"{len(scale)} scales along dimension {axis} of the shape {list(shape)}")
        if not all(np.isfinite(s) and s > 0 for s in scale):
            raise ValueError("a scale is not a positive number")
        return Quantisation(scale, zero_point, axis)

    def _code(self, table: schema.Generated) -> tuple[str, int, str]:
        number = max(table.BuiltinCode(), table.DeprecatedBuiltinCode())
        if number not in schema.OPERATOR_NAMES:
            raise ValueError(f"builtin operator {number} is unknown to the schema")
        return schema.OPERATOR_NAMES[number], table.Version(), self._text(table.CustomCode())

    def _operator(self, table: schema.Generated, codes: tuple[tuple[str, int, str], ...]) -> Operator:
        index = table.OpcodeIndex()
        if not 0 <= index < len(codes):
            raise ValueError(f"operator code {index} does not exist, there are {len(codes)}")
        kind, version, custom_code = codes[index]
        if table.BuiltinOptions2Type():
            self._refuse(f"operator {kind} uses the second options union (StableHLO); it is not supported")
        options_table, options = self._options(table)
        custom = self._vector(table, "CustomOptions")
        return Operator(
            kind,
            self._ints(table, "Inputs"),
            self._ints(table, "Outputs"),
            options,
            options_table,
            version,
            custom_code,
            b"" if custom is None else custom.tobytes(),
        )

    def _options(self, table: schema.Generated) -> tuple[str, dict[str, OptionValue]]:
        number = table.BuiltinOptionsType()
        union = table.BuiltinOptions()
        if number == 0 or union is None:
            return "", {}
        names = {code: name for name, code in schema.OPTIONS_TABLES.items()}
        if number not in names:
            raise ValueError(f"options table {number} is unknown to the schema")
        description = schema.options_table(names[number])
        reader = description.reader()
        reader.Init(union.Bytes, union.Pos)
        return description.name, {
            field.name: self._option(reader, field)
            for field in description.fields
            if self._present(reader, field)
        }

    def _present(self, reader: schema.Generated, field: schema.OptionField) -> bool:
        if field.is_vector:
            return not getattr(reader, f"{field.accessor}IsNone")()
        return getattr(reader, field.accessor)() is not None

    def _option(self, reader: schema.Generated, field: schema.OptionField) -> OptionValue:
        if field.is_vector:
            values = self._vector(reader, field.accessor)
            return () if values is None else tuple(values.tolist())
        value: bool | int | float | str | bytes = getattr(reader, field.accessor)()
        if isinstance(value, bytes):
            return self._text(value)
        if not isinstance(value, bool | int | float):
            raise ValueError(f"option {field.name} is {value!r}, expected a number")
        if field.name in schema.NAMED_FIELDS:
            names = {code: name for name, code in schema.NAMED_FIELDS[field.name].items()}
            if value not in names:
                raise ValueError(f"option {field.name} is {value}, expected one of {names}")
            return names[int(value)]
        return value


def _type_name(code: int) -> str:
    names = {value: name for name, value in vars(tflite.TensorType).items() if isinstance(value, int)}
    return str(names.get(code, f"number {code}"))
