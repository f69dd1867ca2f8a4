

+define+TARGET_RTL
+define+DEPTH=3
+define+LABEL=abc
+incdir+{root}//inc
{root}/rtl/a.sv

+define+TARGET_RTL
+define+DEPTH=3
+define+LABEL=abc
+incdir+{root}/inc
{root}/rtl/b.v
