# SPDX-License-Identifier: Apache-2.0
"""Documents that commands write and read: one class each, at the ground of the application."""
