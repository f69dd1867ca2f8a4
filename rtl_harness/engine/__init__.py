# SPDX-License-Identifier: Apache-2.0
"""Simulation engines: faults in, injections out."""
