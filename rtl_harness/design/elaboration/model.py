# SPDX-License-Identifier: Apache-2.0
"""What elaboration finds: the storage of a design, where each bit lies and how it is clocked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from resil.rtl_harness.design.sites import SiteTable, StorageElement


@dataclass(frozen=True, slots=True)
class Location:
    """Where a storage element lies in the source code: a variable, or a part of one.

    Attributes:
        scope: Hierarchical path of the instance or generate block that declares the variable.
        module: Name of the module, as defined, in which it is declared.
        variable: Name of the variable.
        indices: Declared indices of the unpacked dimensions that are fixed; those of a memory exclude the
            word, which comes last.
        low: Position of the element's bit 0 in the packed variable, counted from its least
            significant bit.
        packed_width: Bits of the packed variable (of one word of it, if it is an array).
        port: The variable is an output of its module, which a simulator may keep elsewhere.
        net: Name of the net, or of the memory, that holds it in the netlist.
        net_low: Position of the element's bit 0 in that net.
    """

    scope: str
    module: str
    variable: str
    indices: tuple[int, ...] = ()
    low: int = 0
    packed_width: int = 1
    port: bool = False
    net: str = ""
    net_low: int = 0

    @property
    def path(self) -> str:
        """Hierarchical path of the variable."""
        return f"{self.scope}.{self.variable}" if self.scope else self.variable


@dataclass(frozen=True, slots=True)
class Clocking:
    """How an element is clocked and reset.

    Attributes:
        clock: Hierarchical name of the signal at the root of its clock network, or of a latch's enable; "" if
            there is none.
        rising: The active edge is the rising one; a latch is open while the signal is 1.
        reset: Root of its asynchronous reset or load; "" if it has none.
        fully_reset: Every bit of it has that reset.
        latch: It is made of latches: a flip does not outlast the settling of the design where one is open.
    """

    clock: str
    rising: bool = True
    reset: str = ""
    fully_reset: bool = False
    latch: bool = False


@dataclass(frozen=True)
class Elaboration:
    """The storage of a target.

    Attributes:
        sites: Every storage element of the design under test.
        bench_elements: State outside it: memories and registers of the bench.
        locations: Where each element of either lies, by path.
        clocking: How each element of either is clocked, by path.
        unmapped: What stores bits but could not become fault sites, each with the reason.
        warnings: Remarks for people.
        parameters: Parameters of the top that the design was elaborated with.
        initial: Values that registers are declared to begin with, in binary, by path.
        kept: Paths of elements that synthesis neither removes nor merges, as the target says.
        excluded: Bits of the design that have no fault sites, as the target says.
        passing: Paths of variables of functions and tasks that hold nothing from call to call.
        coded: Paths of memories behind a code that is not in the RTL, as the target says.
    """

    sites: SiteTable
    bench_elements: tuple[StorageElement, ...]
    locations: Mapping[str, Location]
    clocking: Mapping[str, Clocking]
    unmapped: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    parameters: Mapping[str, int] = field(default_factory=dict)
    initial: Mapping[str, str] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    excluded: int = 0
    passing: tuple[str, ...] = ()
    coded: tuple[str, ...] = ()

    @property
    def unassigned(self) -> tuple[StorageElement, ...]:
        """Elements of the design under test that no entry of the block map covers."""
        return tuple(e for e in self.sites.elements if not e.block)

    def is_latch(self, path: str) -> bool:
        """Whether an element is made of latches."""
        clocking = self.clocking.get(path)
        return clocking is not None and clocking.latch

    def bench_element(self, path: str) -> StorageElement:
        """Return the element of the bench named `path`; raise KeyError if there is none."""
        for element in self.bench_elements:
            if element.path == path:
                return element
        raise KeyError(path)
