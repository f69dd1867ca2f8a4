# SPDX-License-Identifier: Apache-2.0
"""What an assessor gets of a run: manual, confidence in the tool, evidence, dependent failures, history."""
