{root}/rtl/a.sv
{root}/rtl/b.v
