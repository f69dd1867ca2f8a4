# SPDX-License-Identifier: Apache-2.0
"""The shared buffer over an inference: which data lie where, from when to when, without any RTL."""
