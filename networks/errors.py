# SPDX-License-Identifier: Apache-2.0
"""Errors that a user of a network can act on."""


class NetworkError(Exception):
    """A network, a tool or a request about networks that the user can put right.

    The message says what was expected, what was found, where, and what to do.

    Attributes:
        field: The way to what is wrong: in the network (`operators[7].outputs`, `clamps.conv1`), in what it
            is given (`inputs.image.shape`), an argument (`accelerator`), or the `file` itself; "" if it is
            not one thing.
    """

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class LeftToCpuError(NetworkError):
    """A compiler would leave operators to a CPU.

    Attributes:
        outputs: Name of the first output of each of them.
        reasons: What the compiler says of each, in words.
    """

    def __init__(self, message: str, outputs: tuple[str, ...], reasons: tuple[str, ...]) -> None:
        super().__init__(message, "operators")
        self.outputs = outputs
        self.reasons = reasons
