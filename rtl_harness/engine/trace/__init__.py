# SPDX-License-Identifier: Apache-2.0
"""How one fault spread: two runs whose storage is compared in every cycle, and the gates between."""
