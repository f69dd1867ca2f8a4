# SPDX-License-Identifier: Apache-2.0
"""`resil init`: what a design of one's own looks like from its ports, and the files that say so."""
