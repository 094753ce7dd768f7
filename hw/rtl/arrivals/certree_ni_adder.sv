// The data path of the reduction unit: adds integers of ELEMENT_BITS, element by element.
(* keep_hierarchy *)
module certree_ni_adder #(
    parameter int unsigned BITS = 8,
    parameter int unsigned ELEMENT_BITS = certree_ni_pkg::ELEMENT_BITS
) (
    input  logic [BITS-1:0] one,
    input  logic [BITS-1:0] other,
    output logic [BITS-1:0] sum
);
  for (genvar element = 0; element < BITS / ELEMENT_BITS; element++) begin : g_elements
    assign sum[element*ELEMENT_BITS+:ELEMENT_BITS] = one[element*ELEMENT_BITS+:ELEMENT_BITS] + other[element*ELEMENT_BITS+:ELEMENT_BITS];
  end
endmodule
