# SPDX-License-Identifier: Apache-2.0
"""Where the packages lie: each top-level folder below is one of `resil`, so that nothing else is installed.

All other metadata stands in pyproject.toml.
"""

from setuptools import find_namespace_packages, setup

FOLDERS = ("networks", "stats", "rtl_harness", "reports")


def _packages(folder: str) -> list[str]:
    return find_namespace_packages(include=[folder, f"{folder}.*"], exclude=["*__pycache__*"])


setup(
    package_dir={"resil": "resil"} | {f"resil.{folder}": folder for folder in FOLDERS},
    packages=[*_packages("resil"), *(f"resil.{name}" for folder in FOLDERS for name in _packages(folder))],
)
