# SPDX-License-Identifier: Apache-2.0
"""A recorded waveform as what closes a design: its inputs replayed, its outputs compared."""
