# SPDX-License-Identifier: Apache-2.0
"""Injections into estimates, metrics and a verdict, and these into files and onto the screen."""
