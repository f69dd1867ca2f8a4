"""All exceptions that mean: the user can put this right."""

from networks.errors import NetworkError
from reports.errors import ReportError
from resil.errors import ResilError
from rtl_harness.errors import HarnessError
from stats.errors import StatsError

USER_ERRORS: tuple[type[Exception], ...] = (ResilError, HarnessError, NetworkError, ReportError, StatsError)
