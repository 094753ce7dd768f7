// Network interfaces around a network model execute the tables of this folder. What their pins show is compared, event by event and
// cycle by cycle, with the golden trace; then the data of every node are checked.
//
// Plusargs: +trace=FILE, the golden trace (trace.csv); +skew=FILE, hex cycles of each interface; +steps=FILE, in lockstep, those of a
// step without rows, by clocks of other speeds, for tables without an epoch; +late=N, late rows that it expects;
// +untimed, compares data only, of interfaces that start late by slots; +waves, writes waves.vcd.
// verilator lint_off BLKSEQ
// verilator lint_off UNUSEDSIGNAL
// verilator lint_off PROCASSINIT
module certree_ni_tb;
  localparam int NIS = certree_ni_pkg::NIS;
  localparam int TX = certree_ni_pkg::TX_LANES;
  localparam int WRITES = certree_ni_pkg::WRITE_PORTS;
  localparam int WINDOW = certree_ni_pkg::WINDOW_ROWS;
  localparam int ROW_INDEX_BITS = certree_ni_pkg::ROW_INDEX_BITS;
  localparam int ITERATION_BITS = certree_ni_pkg::ITERATION_BITS;
  localparam int LINE_BITS = certree_ni_pkg::LINE_BITS;
  localparam int COUNT_BITS = certree_ni_pkg::COUNT_BITS;
  localparam int READY_LIMIT = 1000;  // cycles after which an access fails
  localparam int ENTRY_BITS = 32 * certree_ni_pkg::WINDOW_WORDS;

  logic clk = 0, rst = 1, is_starting = 0;
  longint now;
  always #5 clk = !clk;

  logic penable = 0, pwrite = 0;
  logic [NIS-1:0] psel = '0, pslverr, pready;
  logic [23:0] paddr = '0;
  logic [31:0] pwdata[NIS], prdata[NIS];

  logic [TX-1:0] tx_first[NIS], tx_last[NIS];
  logic [NIS-1:0] is_done, has_error, was_done, is_said;
  logic [WINDOW-1:0] fired[NIS], fired_from[NIS];
  logic [WINDOW*ROW_INDEX_BITS-1:0] fired_row[NIS];
  logic [WINDOW*ITERATION_BITS-1:0] fired_iteration[NIS];
  logic [WRITES:0] counted[NIS], was_counted[NIS];
  logic [(WRITES+1)*LINE_BITS-1:0] counted_line[NIS], was_line[NIS];
  logic [(WRITES+1)*COUNT_BITS-1:0] counted_to[NIS], was_to[NIS];
  logic is_checking = 0;
  logic [NIS-1:0] has_wrong;
  int faults;

  certree_nodes nodes (
      .clk, .rst, .is_starting, .now, .penable, .pwrite, .psel, .paddr, .pwdata, .prdata, .pready, .pslverr, .tx_first, .tx_last,
      .fired, .fired_from, .fired_row, .fired_iteration, .counted, .counted_line, .counted_to, .is_done, .has_error, .faults,
      .is_checking, .has_wrong
  );

  // The golden trace: lines of `cycle,node,event,number,iteration`.
  int trace, events = 0, differences = 0;
  bit is_untimed = 0;
  string expected;
  function automatic void event_line(string found);
    events = events + 1;
    if (is_untimed) return;
    expected = "";
    void'($fgets(expected, trace));
    if (found != expected) begin
      differences = differences + 1;
      if (differences <= 5) $display("cycle %0d: expected %sfound    %s", now, expected == "" ? "nothing\n" : expected, found);
    end
  endfunction

  always @(posedge clk) begin
    if (now > 0) begin
      for (int n = 0; n < NIS; n++) begin
        automatic int node = certree_tb_pkg::NODE_OF[n];
        automatic int from = 0;
        for (int w = 0; w < WINDOW; w++) if (fired_from[n][w]) from = w;
        for (int age = 0; age < WINDOW; age++) begin
          automatic int w = (from + age) % WINDOW;
          if (fired[n][w]) event_line($sformatf("%0d,%0d,fire,%0d,%0d\n", now - 1, node,
              fired_row[n][w*ROW_INDEX_BITS+:ROW_INDEX_BITS], fired_iteration[n][w*ITERATION_BITS+:ITERATION_BITS]));
        end
        for (int l = 0; l < TX; l++) begin
          if (tx_first[n][l]) event_line($sformatf("%0d,%0d,first,%0d,\n", now - 1, node, l));
        end
        for (int l = 0; l < TX; l++) begin
          if (tx_last[n][l]) event_line($sformatf("%0d,%0d,last,%0d,\n", now - 1, node, l));
        end
        for (int line = 0; line < certree_ni_pkg::ARRIVALS; line++) begin
          for (int p = 0; p <= WRITES; p++) begin
            if (was_counted[n][p] && int'(was_line[n][p*LINE_BITS+:LINE_BITS]) == line) begin
              event_line($sformatf("%0d,%0d,count,%0d,%0d\n", now - 1, node, line, was_to[n][p*COUNT_BITS+:COUNT_BITS] - 1'b1));
            end
          end
        end
        if (was_done[n] && !is_said[n]) begin
          event_line($sformatf("%0d,%0d,done,,\n", now - 1, node));
          is_said[n] <= 1'b1;
        end
      end
    end else begin
      is_said <= '0;
    end
    was_counted <= counted;
    was_line <= counted_line;
    was_to <= counted_to;
    was_done <= now >= 0 ? is_done : '0;
  end

  // Loading by the APB ports, all interfaces at once.
  logic [ENTRY_BITS-1:0] rows[NIS*certree_ni_pkg::ROWS];
  logic [ENTRY_BITS-1:0] arrivals[NIS*certree_ni_pkg::ARRIVALS];
  logic [ENTRY_BITS-1:0] routes[certree_ni_pkg::ROUTES];
  logic [31:0] skew[NIS], steps[NIS], header[certree_tb_pkg::HEADER_WORDS+1];
  int refused = 0, waited;

  task automatic access(logic [23:0] address, logic [NIS-1:0] selected, logic is_write);
    @(negedge clk);
    paddr = address;
    psel = selected;
    pwrite = is_write;
    penable = 0;
    @(negedge clk);
    penable = 1;
    waited = 0;
    #1 while ((pready & selected) != selected) begin
      if (waited == READY_LIMIT) $fatal(1, "address %h: not ready after %0d cycles", address, waited);
      @(negedge clk) #1 waited = waited + 1;
    end
    if (|pslverr) refused = refused + 1;
    @(posedge clk);
    #1 psel = '0;
    penable = 0;
  endtask

  task automatic control(logic [31:0] value);
    for (int n = 0; n < NIS; n++) pwdata[n] = value;
    access(24'h4, '1, 1);
  endtask

  task automatic load(logic [23:0] base, int depth, int kind);
    logic [NIS-1:0] selected;
    logic [ENTRY_BITS-1:0] entry;
    for (int index = 0; index < depth; index++) begin
      for (int word = 0; word < certree_ni_pkg::WINDOW_WORDS; word++) begin
        for (int n = 0; n < NIS; n++) begin
          entry = kind == 0 ? rows[n*certree_ni_pkg::ROWS+index] : kind == 1 ? arrivals[n*certree_ni_pkg::ARRIVALS+index] : routes[index];
          pwdata[n] = entry[word*32+:32];
          selected[n] = index < (kind == 0 ? certree_tb_pkg::ROWS_OF[n] : kind == 1 ? certree_tb_pkg::ARRIVALS_OF[n] : depth);
        end
        access(base + 24'((index * certree_ni_pkg::WINDOW_WORDS + word) * 4), selected, 1);
      end
    end
  endtask

  string file;
  int late = 0, late_rows = 0, errors = 0;
  initial begin
    if ($test$plusargs("waves")) begin
      $dumpfile("waves.vcd");
      $dumpvars(0, certree_ni_tb);
    end
    if (!$value$plusargs("trace=%s", file)) file = "trace.csv";
    trace = $fopen(file, "r");
    if (trace == 0) $fatal(1, "cannot read %s", file);
    void'($fgets(expected, trace));  // the names of the columns
    void'($value$plusargs("late=%d", late));
    is_untimed = $test$plusargs("untimed") != 0;
    for (int n = 0; n < NIS; n++) begin
      skew[n] = 0;
      $readmemh($sformatf("slots_%04d.hex", certree_tb_pkg::NODE_OF[n]), rows, n * certree_ni_pkg::ROWS);
      $readmemh($sformatf("arrivals_%04d.hex", certree_tb_pkg::NODE_OF[n]), arrivals, n * certree_ni_pkg::ARRIVALS);
    end
    if (certree_tb_pkg::HAS_ROUTES != 0) $readmemh("routes.hex", routes);
    if ($value$plusargs("skew=%s", file)) $readmemh(file, skew);
    if (certree_tb_pkg::HAS_EPOCH != 0 && $test$plusargs("steps=") != 0)
      $fatal(1, "+steps: SLOT_CYCLES of images with an epoch is under their CRC; export the tables without --epoch");
    repeat (4) @(posedge clk);
    @(negedge clk) rst = 0;
    if (certree_tb_pkg::HAS_EPOCH != 0) control(8);  // load
    for (int word = 0; word < certree_tb_pkg::HEADER_WORDS; word++) begin
      for (int n = 0; n < NIS; n++) pwdata[n] = certree_tb_pkg::HEADER_OF[n*certree_tb_pkg::HEADER_WORDS+word];
      access(24'h40 + 24'(word * 4), '1, 1);
    end
    load(24'h100000, certree_ni_pkg::ROWS, 0);
    load(24'h200000, certree_ni_pkg::ARRIVALS, 1);
    if (certree_tb_pkg::HAS_ROUTES != 0) load(24'h300000, certree_tb_pkg::ROUTES_USED, 2);
    if (certree_tb_pkg::HAS_EPOCH != 0) begin
      for (int n = 0; n < NIS; n++) begin
        $readmemh($sformatf("slots_header_%04d.hex", certree_tb_pkg::NODE_OF[n]), header);
        pwdata[n] = header[certree_tb_pkg::HEADER_WORDS];
      end
      access(24'h68, '1, 1);
    end
    for (int l = 0; l < TX; l++) begin
      for (int n = 0; n < NIS; n++) pwdata[n] = certree_tb_pkg::LANE_PEER[n*TX+l];
      access(24'h100 + 24'(l * 4), '1, 1);
    end
    for (int n = 0; n < NIS; n++) pwdata[n] = skew[n] + certree_ni_pkg::START_CYCLES;
    access(24'h10, '1, 1);
    for (int n = 0; n < NIS; n++) pwdata[n] = certree_tb_pkg::NODE_OF[n];
    access(24'h14, '1, 1);
    if ($value$plusargs("steps=%s", file)) begin
      $readmemh(file, steps);
      for (int n = 0; n < NIS; n++) pwdata[n] = steps[n];
      access(24'h54, '1, 1);
    end
    control(4);  // arm
    repeat (certree_tb_pkg::ARM_CYCLES) @(posedge clk);
    fork
      control(1);  // start
      begin
        @(negedge clk);
        @(negedge clk) is_starting = 1;
        @(posedge clk) #1 is_starting = 0;
      end
    join
    while (now < longint'(certree_tb_pkg::TIME_LIMIT) && !(&is_said)) @(posedge clk);
    repeat (4) @(posedge clk);
    if (!is_untimed && $fgets(expected, trace) != 0) differences = differences + 1;
    is_checking = 1;
    access(24'h18, '1, 0);
    for (int n = 0; n < NIS; n++) begin
      late_rows = late_rows + prdata[n];
    end
    access(24'h0c, '1, 0);
    for (int n = 0; n < NIS; n++) if ((prdata[n] & (late > 0 || is_untimed ? 32'hfffffffe : 32'hffffffff)) != 0) errors = errors + 1;
    $display("%0d events, %0d differences; %0d cycles; %0d late rows; %0d nodes with errors, %0d with wrong data; %0d faults, %0d refused",
        events, differences, now, late_rows, errors, $countones(has_wrong), faults, refused);
    if (&is_said && differences == 0 && (is_untimed || late_rows == late) && errors == 0 && (late > 0 || is_untimed || has_error == 0) && has_wrong == 0 && faults == 0 && refused == 0) begin
      $display("PASS");
      $finish;
    end else begin
      $display("FAIL%s", &is_said ? "" : ": not every interface was done");
      $fatal(1);
    end
  end
endmodule
