# SPDX-License-Identifier: Apache-2.0
"""The study of the Ethos-U55 as its page has it, with networks and images that do not come with resil."""
