"""Errors that a user of the harness can act on."""


class HarnessError(Exception):
    """Something the user can put right: a file, a tool or a setting.

    The message says what was expected, what was found, where, and what to do.
    """


class ToolMissingError(HarnessError):
    """A program that the harness needs (C++ compiler, make, simulator) is not on this machine."""


class UnmappedSiteError(HarnessError):
    """A fault site of the netlist has no counterpart in the simulator."""


class SimulationError(HarnessError):
    """The simulator failed to build, to start or to answer."""
