// One source for simulation and proof: a concurrent assertion for simulators, an immediate one for Yosys.
`ifdef FORMAL
`define CERTREE_PROPERTY(label, condition) always @(posedge clk) if (was_reset && !rst) label: assert (condition);
`else
`define CERTREE_PROPERTY(label, condition) label: assert property (@(posedge clk) disable iff (rst || !was_reset) condition);
`endif
