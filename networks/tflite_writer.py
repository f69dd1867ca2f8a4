# SPDX-License-Identifier: Apache-2.0
"""`Graph` in, TensorFlow Lite flatbuffer out: the same graph always gives the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import flatbuffers  # type: ignore[import-untyped]
import numpy as np
import numpy.typing as npt
import tflite

from resil.networks import schema
from resil.networks.files import write_atomically
from resil.networks.graph import Graph, Operator, OptionValue, Quantisation, Tensor
from resil.networks.tflite_reader import CLAMPS_METADATA, IDENTIFIER, SCHEMA_VERSION

_BUFFER_ALIGNMENT = 16
_LAST_DEPRECATED_CODE = 127


def write_network(graph: Graph, path: Path | str) -> None:
    """Write the graph as a .tflite file, replacing an existing one in one step."""
    write_atomically(Path(path), serialise_network(graph))


def serialise_network(graph: Graph) -> bytes:
    """Return the bytes of a .tflite file that holds the graph."""
    return _Writer(graph).model()


class _Writer:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.builder: Any = flatbuffers.Builder(1024)
        self.graphs = (graph, *graph.subgraphs)
        codes = {_code_of(operator): None for own in self.graphs for operator in own.operators}
        self.codes = {code: index for index, code in enumerate(codes)}

    def model(self) -> bytes:
        numbers = count(1)
        subgraphs = self._offsets([self._subgraph(graph, numbers) for graph in self.graphs])
        constants = [t.data for graph in self.graphs for t in graph.tensors if t.data is not None]
        clamps = [(i, *t.clamp) for i, t in enumerate(self.graph.tensors) if t.clamp is not None]
        if clamps:
            constants.append(np.array(clamps, np.int32))
        buffers = self._offsets([self._buffer(None), *(self._buffer(d) for d in constants)])
        metadata = self._offsets([self._metadata(CLAMPS_METADATA, len(constants))]) if clamps else None
        codes = self._offsets([self._operator_code(*code) for code in self.codes])
        description = self.builder.CreateString(self.graph.description)
        tflite.ModelStart(self.builder)
        tflite.ModelAddVersion(self.builder, SCHEMA_VERSION)
        tflite.ModelAddOperatorCodes(self.builder, codes)
        tflite.ModelAddSubgraphs(self.builder, subgraphs)
        tflite.ModelAddDescription(self.builder, description)
        tflite.ModelAddBuffers(self.builder, buffers)
        if metadata is not None:
            tflite.ModelAddMetadata(self.builder, metadata)
        self.builder.Finish(tflite.ModelEnd(self.builder), file_identifier=IDENTIFIER)
        return bytes(self.builder.Output())

    def _metadata(self, name: str, buffer: int) -> int:
        text = self.builder.CreateString(name)
        tflite.MetadataStart(self.builder)
        tflite.MetadataAddName(self.builder, text)
        tflite.MetadataAddBuffer(self.builder, buffer)
        return int(tflite.MetadataEnd(self.builder))

    def _subgraph(self, graph: Graph, numbers: Iterator[int]) -> int:
        buffers = [0 if tensor.data is None else next(numbers) for tensor in graph.tensors]
        tensors = self._offsets([self._tensor(t, b) for t, b in zip(graph.tensors, buffers, strict=True)])
        operators = self._offsets([self._operator(operator) for operator in graph.operators])
        inputs = self._numbers(graph.inputs, np.int32)
        outputs = self._numbers(graph.outputs, np.int32)
        name = self.builder.CreateString(graph.name)
        tflite.SubGraphStart(self.builder)
        tflite.SubGraphAddTensors(self.builder, tensors)
        tflite.SubGraphAddInputs(self.builder, inputs)
        tflite.SubGraphAddOutputs(self.builder, outputs)
        tflite.SubGraphAddOperators(self.builder, operators)
        tflite.SubGraphAddName(self.builder, name)
        return int(tflite.SubGraphEnd(self.builder))

    def _tensor(self, tensor: Tensor, buffer: int) -> int:
        name = self.builder.CreateString(tensor.name)
        shape = self._numbers(tensor.shape, np.int32)
        signature = (
            None if tensor.shape_signature is None else self._numbers(tensor.shape_signature, np.int32)
        )
        quantisation = None if tensor.quantisation is None else self._quantisation(tensor.quantisation)
        tflite.TensorStart(self.builder)
        tflite.TensorAddShape(self.builder, shape)
        tflite.TensorAddType(self.builder, (schema.TENSOR_TYPES | schema.HANDLE_TYPES)[tensor.dtype])
        tflite.TensorAddBuffer(self.builder, buffer)
        tflite.TensorAddName(self.builder, name)
        if quantisation is not None:
            tflite.TensorAddQuantization(self.builder, quantisation)
        tflite.TensorAddIsVariable(self.builder, tensor.is_variable)
        if signature is not None:
            tflite.TensorAddShapeSignature(self.builder, signature)
        return int(tflite.TensorEnd(self.builder))

    def _quantisation(self, quantisation: Quantisation) -> int:
        scale = self._numbers(quantisation.scale, np.float32)
        zero_point = self._numbers(quantisation.zero_point, np.int64)
        tflite.QuantizationParametersStart(self.builder)
        tflite.QuantizationParametersAddScale(self.builder, scale)
        tflite.QuantizationParametersAddZeroPoint(self.builder, zero_point)
        tflite.QuantizationParametersAddQuantizedDimension(self.builder, quantisation.axis)
        return int(tflite.QuantizationParametersEnd(self.builder))

    def _buffer(self, data: npt.NDArray[np.generic] | None) -> int:
        vector = None
        if data is not None:
            raw = np.ascontiguousarray(data).astype(data.dtype.newbyteorder("<")).tobytes()
            self.builder.StartVector(1, len(raw), _BUFFER_ALIGNMENT)
            self.builder.head = self.builder.Head() - len(raw)
            self.builder.Bytes[self.builder.Head() : self.builder.Head() + len(raw)] = raw
            vector = self.builder.EndVector()
        tflite.BufferStart(self.builder)
        if vector is not None:
            tflite.BufferAddData(self.builder, vector)
        return int(tflite.BufferEnd(self.builder))

    def _operator_code(self, kind: str, version: int, custom_code: str) -> int:
        custom = self.builder.CreateString(custom_code) if custom_code else None
        number = schema.OPERATOR_CODES[kind]
        tflite.OperatorCodeStart(self.builder)
        tflite.OperatorCodeAddDeprecatedBuiltinCode(self.builder, min(number, _LAST_DEPRECATED_CODE))
        tflite.OperatorCodeAddBuiltinCode(self.builder, number)
        tflite.OperatorCodeAddVersion(self.builder, version)
        if custom is not None:
            tflite.OperatorCodeAddCustomCode(self.builder, custom)
        return int(tflite.OperatorCodeEnd(self.builder))

    def _operator(self, operator: Operator) -> int:
        inputs = self._numbers(operator.inputs, np.int32)
        outputs = self._numbers(operator.outputs, np.int32)
        options = self._options(operator) if operator.options_table else None
        custom = self.builder.CreateByteVector(operator.custom_options) if operator.custom_options else None
        tflite.OperatorStart(self.builder)
        tflite.OperatorAddOpcodeIndex(self.builder, self.codes[_code_of(operator)])
        tflite.OperatorAddInputs(self.builder, inputs)
        tflite.OperatorAddOutputs(self.builder, outputs)
        if options is not None:
            tflite.OperatorAddBuiltinOptionsType(self.builder, schema.OPTIONS_TABLES[operator.options_table])
            tflite.OperatorAddBuiltinOptions(self.builder, options)
        if custom is not None:
            tflite.OperatorAddCustomOptions(self.builder, custom)
        return int(tflite.OperatorEnd(self.builder))

    def _options(self, operator: Operator) -> int:
        table = schema.options_table(operator.options_table)
        unknown = set(operator.options) - {field.name for field in table.fields}
        if unknown:
            raise ValueError(f"{operator.kind}: {table.name} has no option {', '.join(sorted(unknown))}")
        values: list[tuple[schema.OptionField, OptionValue]] = []
        for field in table.fields:
            if field.name not in operator.options:
                continue
            value = operator.options[field.name]
            if isinstance(value, tuple):
                dtype = np.float32 if any(isinstance(v, float) for v in value) else np.int32
                value = self._numbers(value, dtype)
            elif isinstance(value, str):
                names = schema.NAMED_FIELDS.get(field.name)
                value = self.builder.CreateString(value) if names is None else names[value]
            values.append((field, value))
        getattr(table.module, f"{table.name}Start")(self.builder)
        for field, value in values:
            getattr(table.module, f"{table.name}Add{field.accessor}")(self.builder, value)
        return int(getattr(table.module, f"{table.name}End")(self.builder))

    def _numbers(self, values: tuple[int, ...] | tuple[float, ...], dtype: npt.DTypeLike) -> int:
        return int(self.builder.CreateNumpyVector(np.asarray(values, dtype=dtype)))

    def _offsets(self, offsets: list[int]) -> int:
        self.builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self.builder.PrependUOffsetTRelative(offset)
        return int(self.builder.EndVector())


def _code_of(operator: Operator) -> tuple[str, int, str]:
    return operator.kind, operator.version, operator.custom_code
