------------------------------- MODULE NITables -------------------------------
(***************************************************************************)
(* Schedule tables and what the counters make of them: constants, rows,    *)
(* and the program of each NI. The field names are those of the contract.  *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

\* For TLCEval, the identity: TLC then keeps the values of a function instead of computing one at each use.
LOCAL INSTANCE TLC

CONSTANTS
  Nodes,           \* the endpoints, by topology id
  Flows,           \* the chunks of one iteration
  Contributors,    \* for every flow: the nodes whose contribution belongs to the sum
  Promised,        \* for every flow: the nodes at which the sum is due
  Table,           \* for every node: its rows, in order of step
  Arrivals,        \* for every node: the set of <<op, flow, peer>> it expects once an iteration, or of <<flow, buffer, number>>
  Path,            \* for every <<from, to, route>> of a message, route Nil between neighbours: its links, each <<from, to>>
  Capacity,        \* for every link: how many messages it carries at once
  Profile,         \* what the rows say: "trees", where they name peers, or "blocks" or "buffers", where they wait for numbers of arrivals
  Buffers,         \* the buffers of each node and chunk; 0 has the data
  InFlight,        \* the iterations that can touch a cell at a time: its counters
  Period,          \* slots from one iteration to the next
  Repeats          \* number of iterations

\* The empty parent or route of a row.
Nil == -1

\* What the opcodes of a table say: add to what the destination holds, or replace it. NOPs are implicit in a slotted table.
Ops == {"REDUCE", "GATHER"}

\* A row: REDUCE sends to `parent` and waits for `children`; GATHER waits for `parent` and sends to `children`.
\* Its destinations may be wrong: that is for the properties to find. `route` names a source route, where there is one.
\* Where rows wait for numbers, both send to `children`: they read `from` and wait for `wait` arrivals there; their messages are for
\* the buffer `into`. A destination that is the node itself is one of its own buffers.
RowType ==
  IF Profile = "trees" THEN [op : Ops, flow : Flows, parent : Int, children : SUBSET Int, step : Nat, route : Int]
  ELSE [op : Ops, flow : Flows, wait : Nat, from : Buffers, into : Buffers, children : SUBSET Int, step : Nat, route : Int]

ASSUME TablesAreSane ==
  /\ Profile \in {"trees", "blocks", "buffers"} /\ 0 \in Buffers /\ InFlight \in Nat \ {0}
  /\ \A n \in Nodes : \A r \in DOMAIN Table[n] : Table[n][r] \in RowType
  /\ \A n \in Nodes : Arrivals[n] \subseteq IF Profile = "trees" THEN Ops \X Flows \X Int ELSE Flows \X Buffers \X Nat
  /\ Period \in Nat \ {0} /\ Repeats \in Nat \ {0}
  /\ \A way \in DOMAIN Path : Path[way] # <<>> /\ \A k \in DOMAIN Path[way] : Path[way][k] \in DOMAIN Capacity

-------------------------------------------------------------------------------
(* Rows and programs: the entries that table and slot counter give a node.   *)

\* The tables. TLC computes a constant that a model states by its name at each use; this one it keeps.
Rows == TLCEval([n \in Nodes |-> TLCEval(Table[n])])

\* Whether rows wait for numbers of arrivals.
IsCounted == Profile # "trees"

\* The arrivals that row r of node n waits for: all REDUCEs of its flow, if it is the root's GATHER. A number of arrivals is one
\* thing to wait for.
Dependencies(n, r) ==
  LET row == Rows[n][r]
      all == {arrival \in Arrivals[n] : arrival[1] = "REDUCE" /\ arrival[2] = row.flow}
  IN  IF IsCounted THEN IF row.wait = 0 THEN {} ELSE {<<row.flow, row.from, row.wait>>}
      ELSE IF row.op = "REDUCE" THEN {<<"REDUCE", row.flow, peer>> : peer \in row.children}
      ELSE IF row.parent = Nil THEN all ELSE {<<"GATHER", row.flow, row.parent>>}

\* The nodes that row r of node n sends to.
Destinations(n, r) ==
  LET row == Rows[n][r]
  IN  IF row.op = "REDUCE" /\ ~IsCounted THEN {row.parent} ELSE row.children

\* An item is one chunk of one iteration.
Items == Flows \X (0..Repeats - 1)

\* What a node can hold: an item in each of its buffers.
Place(item, buffer) == IF Profile = "buffers" THEN item \o <<buffer>> ELSE item
Places == {Place(item, buffer) : item \in Items, buffer \in Buffers}

\* The buffer that row r of node n reads, and the one that its messages are for.
Reads(n, r) == IF IsCounted THEN Rows[n][r].from ELSE 0
Writes(n, r) == IF IsCounted THEN Rows[n][r].into ELSE 0

\* How many messages a cell of node n gets in an iteration.
Brought(n, flow, buffer) ==
  LET lines == {line \in Arrivals[n] : line[1] = flow /\ line[2] = buffer} IN IF lines = {} THEN 0 ELSE (CHOOSE line \in lines : TRUE)[3]

\* The counters of node n: for each arrival, or for each cell and iteration modulo InFlight.
Counters(n) ==
  IF ~IsCounted THEN Arrivals[n] ELSE {<<line[1], line[2], turn>> : line \in Arrivals[n], turn \in 0..InFlight - 1}

\* The counter of an arrival in an iteration, and what it must have reached for that arrival.
CounterOf(arrival, iteration) == IF IsCounted THEN <<arrival[1], arrival[2], iteration % InFlight>> ELSE arrival
Least(n, arrival, iteration) ==
  IF IsCounted THEN (iteration \div InFlight) * Brought(n, arrival[1], arrival[2]) + arrival[3] ELSE iteration + 1

\* The iteration that row r of node n serves in slot s: period of the slot less stage of the row.
IterationIn(n, r, s) == (s \div Period) - (Rows[n][r].step \div Period)

\* Row r is executed in slot s: its place in the period has come, and neither prologue nor epilogue switches it off.
IsLive(n, r, s) ==
  /\ s % Period = Rows[n][r].step % Period
  /\ IterationIn(n, r, s) \in 0..Repeats - 1

\* The last slot in which anything of node n is live.
LastSlot(n) ==
  LET steps == {Rows[n][r].step : r \in DOMAIN Rows[n]}
  IN  (CHOOSE last \in steps : \A step \in steps : step <= last) + (Repeats - 1) * Period

\* Row r of node n, executed in slot s.
Entry(n, r, s) ==
  [row |-> r, slot |-> s, item |-> <<Rows[n][r].flow, IterationIn(n, r, s)>>, op |-> Rows[n][r].op,
   awaits |-> Dependencies(n, r), to |-> Destinations(n, r), route |-> Rows[n][r].route]

\* The entries of node n in slot s, in the order of its rows.
InSlot(n, s) ==
  LET live == SelectSeq([r \in DOMAIN Rows[n] |-> r], LAMBDA r : IsLive(n, r, s))
  IN  [k \in DOMAIN live |-> Entry(n, live[k], s)]

\* The program of every node, from first to last entry.
Program == [n \in Nodes |->
  IF Rows[n] = <<>> THEN <<>>
  ELSE LET from[s \in 0..LastSlot(n) + 1] == IF s > LastSlot(n) THEN <<>> ELSE InSlot(n, s) \o from[s + 1] IN from[0]]

\* For every node and item: the place in its program of the last row that serves the item, 0 if none does.
LastPlace == TLCEval([n \in Nodes |-> TLCEval([item \in Items |->
  LET places == {k \in DOMAIN Program[n] : Program[n][k].item = item}
  IN  IF places = {} THEN 0 ELSE CHOOSE k \in places : \A other \in places : other <= k])])

\* For every node and flow: the arrivals it expects.
ArrivalsOfFlow == [n \in Nodes |-> [flow \in Flows |-> {arrival \in Arrivals[n] : arrival[IF IsCounted THEN 1 ELSE 2] = flow}]]

\* The bag in which each of `nodes` counts once.
OnceEach(nodes) == [n \in Nodes |-> IF n \in nodes THEN 1 ELSE 0]

\* The sum of two bags.
Plus(a, b) == [n \in Nodes |-> a[n] + b[n]]

\* What a bag is: how often each node's contribution was added.
Bags == [Nodes -> 0..Cardinality(Nodes)]

\* For every item: the nodes whose contribution belongs to the sum.
ItemContributors == [item \in Items |-> Contributors[item[1]]]

\* For every item: the nodes at which the sum is due.
ItemPromised == [item \in Items |-> Promised[item[1]]]

\* What the program commands, as the transfers of a schedule. The row tells twins apart that equal rows send.
Commanded == UNION UNION {{
  {[op |-> Program[n][k].op, item |-> Program[n][k].item, src |-> n, dst |-> peer, slot |-> Program[n][k].slot,
    row |-> Program[n][k].row] : peer \in Program[n][k].to} : k \in DOMAIN Program[n]} : n \in Nodes}
===============================================================================
