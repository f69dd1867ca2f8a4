// SPDX-License-Identifier: Apache-2.0
`define SCALER_W 8
