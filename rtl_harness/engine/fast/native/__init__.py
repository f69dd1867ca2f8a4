# SPDX-License-Identifier: Apache-2.0
"""A closed design compiled by Verilator into a shared library and run inside this process."""
