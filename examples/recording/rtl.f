rtl/smooth_taps.sv
rtl/smooth_queue.sv
rtl/smooth.sv
