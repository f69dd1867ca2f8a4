+incdir+{root}/inc
+define+TARGET_RTL
+define+DEPTH=3
+define+LABEL=abc
// Package(some) Target(*)
{root}/rtl/a.sv
{root}/rtl/b.v
