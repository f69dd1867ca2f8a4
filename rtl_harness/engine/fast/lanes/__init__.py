# SPDX-License-Identifier: Apache-2.0
"""Lane models: a design as C++ in which each statement works on 32 faulty machines.

`decoders` makes masks of the places where arrays are written; `words` divides the word-level netlist;
`expressions`, `cells` and `wide_cells` write operands and cells as C++; `enables` and `guards` find when
registers change and where results matter; `design` puts them together; `storage` and `emit` write the
source, `build` compiles it. `lanes.h` has the vector words, `machine.h` the C interface that
`rtl_harness/engine/fast/native/lane_calls.h` declares.
"""
