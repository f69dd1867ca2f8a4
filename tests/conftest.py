"""Shared by all tests: one cache of compiled networks and simulators, kept between sessions."""

from __future__ import annotations

import os
import signal

import pytest


def pytest_configure(config: pytest.Config) -> None:
    # A shell starts its background jobs with interrupts ignored, and their children inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if "RESIL_CACHE" not in os.environ and config.cache is not None:
        os.environ["RESIL_CACHE"] = str(config.cache.mkdir("resil"))


@pytest.fixture(scope="session")
def repository(request: pytest.FixtureRequest):
    """The root of the source tree."""
    return request.config.rootpath
