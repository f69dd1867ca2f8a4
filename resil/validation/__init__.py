# SPDX-License-Identifier: Apache-2.0
"""Evidence that this installation does what it says: one command, one document."""
