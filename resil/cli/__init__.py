"""The command line: arguments in, exit code out; data to stdout, progress and messages to stderr."""

from resil.cli import campaigns, runs, tools
from resil.cli.entry import main

__all__ = ["campaigns", "main", "runs", "tools"]
