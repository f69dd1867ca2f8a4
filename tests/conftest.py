"""Shared by all tests: one cache of compiled networks and simulators, kept between sessions."""

from __future__ import annotations

import os

import pytest


def pytest_configure(config: pytest.Config) -> None:
    if "RESIL_CACHE" not in os.environ and config.cache is not None:
        os.environ["RESIL_CACHE"] = str(config.cache.mkdir("resil"))


@pytest.fixture(scope="session")
def repository(request: pytest.FixtureRequest):
    """The root of the source tree."""
    return request.config.rootpath
