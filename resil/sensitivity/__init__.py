# SPDX-License-Identifier: Apache-2.0
"""Statistical mode: sensitivity learnt from campaigns, applied to networks that were never simulated."""
