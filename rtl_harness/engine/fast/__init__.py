# SPDX-License-Identifier: Apache-2.0
"""The fast engine: all injections of a campaign as differences from one golden run."""
