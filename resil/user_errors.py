# SPDX-License-Identifier: Apache-2.0
"""All exceptions that mean: the user can put this right."""

from resil.errors import ResilError
from resil.networks.errors import NetworkError
from resil.record.errors import ReportError
from resil.rtl_harness.errors import HarnessError
from resil.stats.errors import StatsError

USER_ERRORS: tuple[type[Exception], ...] = (ResilError, HarnessError, NetworkError, ReportError, StatsError)
