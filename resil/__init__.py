"""The application: campaigns of fault injection, from a configuration file to a verdict.

Public surface: `load_campaign` reads a campaign file, `run_campaign` carries it out, and
`main` is the command line.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("resil")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"
