# SPDX-License-Identifier: Apache-2.0
"""The plain engine: shares with the others nothing but the design, the network and the faults."""
