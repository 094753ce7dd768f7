----------------------------- MODULE MCNILockstep -----------------------------
(***************************************************************************)
(* Small tables for NILockstep. A cfg chooses a schedule (a set of         *)
(* transfers) and the times; the tables follow from the schedule.          *)
(*                                                                         *)
(* TLC evaluates a definition without parameters once, but evaluates the   *)
(* right side of `Constant <- Definition` at every use. So each constant   *)
(* is given a definition that only names the one that does the work.       *)
(***************************************************************************)
EXTENDS CheckNILockstep

CONSTANTS
  Schedule,  \* the transfers of one iteration: records of op, flow, src, dst, step
  Root       \* for every flow: the node its trees are rooted at

-------------------------------------------------------------------------------
(* Schedules                                                                 *)

\* Chunk `flow` is sent from src to dst in slot `step` and added there.
Reduce(flow, src, dst, step) == [op |-> "REDUCE", flow |-> flow, src |-> src, dst |-> dst, step |-> step]

\* Chunk `flow` is sent from src to dst in slot `step` and replaces what is there.
Gather(flow, src, dst, step) == [op |-> "GATHER", flow |-> flow, src |-> src, dst |-> dst, step |-> step]

\* ring:4, one tree per root: both neighbours, then the node opposite behind the next one. Two slots up.
RingUp == UNION {{Reduce(f, (f + 2) % 4, (f + 1) % 4, 0), Reduce(f, (f + 3) % 4, f, 0), Reduce(f, (f + 1) % 4, f, 1)} : f \in 0..3}

\* The same trees from `first` on, two slots down.
RingDown(first) ==
  UNION {{Gather(f, f, (f + 1) % 4, first), Gather(f, f, (f + 3) % 4, first), Gather(f, (f + 1) % 4, (f + 2) % 4, first + 1)} : f \in 0..3}

\* ring:4: reduce-scatter, all-gather and all-reduce.
RingReduceScatter == RingUp
RingAllGather == RingDown(0)
RingAllReduce == RingUp \union RingDown(2)

\* The root of flow f in these schedules and the next.
SameAsFlow == [f \in 0..3 |-> f]

\* Two nodes, two chunks.
PairAllReduce == UNION {{Reduce(f, 1 - f, f, 0), Gather(f, f, 1 - f, 1)} : f \in 0..1}

\* The same for delay 2: the sums have a slot more to be ready in.
PairDelay2 == UNION {{Reduce(f, 1 - f, f, 0), Gather(f, f, 1 - f, 2)} : f \in 0..1}

\* All-gather of two chunks over one link, in steps 0 and 2; step 1 has no rows.
PairInTurn == {Gather(0, 0, 1, 0), Gather(1, 0, 1, 2)}

\* The same in steps 0 and 1.
PairBackToBack == {Gather(0, 0, 1, 0), Gather(1, 0, 1, 1)}

\* The root of all chunks.
FromNode0 == [f \in Flows |-> 0]

\* Two nodes, all chunks at once: over a link that carries one message at a time they queue.
PairAtOnce == {Gather(f, 0, 1, 0) : f \in Flows}

\* Two nodes, two chunks for each link in a slot; the root of every second chunk is node 0.
PairTwice == UNION {{Reduce(f, (f + 1) % 2, f % 2, 0), Gather(f, f % 2, (f + 1) % 2, 1)} : f \in 0..3}
InTurns == [f \in 0..3 |-> f % 2]

\* Two chunks with the same root: the second is summed while the first is sent back.
PairOverlapping == {Reduce(0, 1, 0, 0), Gather(0, 0, 1, 1), Reduce(1, 1, 0, 1), Gather(1, 0, 1, 2)}

\* mesh:2x2 is a cycle of four nodes; its k-th.
Around(k) == <<0, 1, 3, 2>>[(k % 4) + 1]

\* mesh:2x2, optimal packing: flow f runs along the path that leaves out one side of the square. Four chunks in a period of 3
\* slots, every link busy in every slot; `step` spreads six transfers over the slots.
MeshPaths(step) ==
  UNION {{Reduce(f, Around(f + 3), Around(f + 2), step[1]), Reduce(f, Around(f + 2), Around(f + 1), step[2]),
          Reduce(f, Around(f), Around(f + 1), step[3]), Gather(f, Around(f + 1), Around(f), step[4]),
          Gather(f, Around(f + 1), Around(f + 2), step[5]), Gather(f, Around(f + 2), Around(f + 3), step[6])} : f \in 0..3}

\* The packing for delay 1: four slots deep.
MeshDelay1 == MeshPaths(<<0, 1, 1, 2, 2, 3>>)

\* The packing for delay 2: seven slots deep, so that three iterations are in flight at once.
MeshDelay2 == MeshPaths(<<0, 2, 2, 4, 4, 6>>)

\* The root of flow f in these schedules.
SecondOnPath == [f \in 0..3 |-> Around(f + 1)]

\* switch:3, one tree per root, straight to the root and back: in each slot every node sends to another one.
StarAllReduce ==
  UNION {{Reduce(f, (f + 1) % 3, f, 0), Reduce(f, (f + 2) % 3, f, 1), Gather(f, f, (f + 1) % 3, 2), Gather(f, f, (f + 2) % 3, 3)} : f \in 0..2}

\* The same in two slots: messages meet at the ports and at the links out of the switch.
StarCrowded ==
  UNION {{Reduce(f, (f + 1) % 3, f, 0), Reduce(f, (f + 2) % 3, f, 0), Gather(f, f, (f + 1) % 3, 1), Gather(f, f, (f + 2) % 3, 1)} : f \in 0..2}

\* Three nodes in a line, a chunk of node 0 for both others and one of node 1: what goes from 0 to 2 comes to the link from 1 to 2 in
\* the tick in which node 1 sends over it.
LineAllGather == {Gather(0, 0, 2, 0), Gather(0, 0, 1, 1), Gather(1, 1, 0, 1), Gather(1, 1, 2, 1)}

\* The same nodes, one sum: what comes from node 2 arrives after what node 1 sends, and may be reduced in the same time.
LineSums == {Reduce(0, 1, 0, 0), Reduce(0, 2, 0, 0)}

-------------------------------------------------------------------------------
(* Tables that execute a schedule                                            *)

\* The transfers of one op and flow.
Of(op, flow) == {t \in Schedule : t.op = op /\ t.flow = flow}

\* Where the sender of a GATHER has the chunk from.
Source(flow, node) == LET from == {t.src : t \in {u \in Of("GATHER", flow) : u.dst = node}}
                      IN  IF from = {} THEN Nil ELSE CHOOSE peer \in from : TRUE

\* The source route from one node to another; there is one for each pair that are no neighbours.
RouteOf(src, dst) == IF <<src, dst>> \in DOMAIN Capacity THEN Nil ELSE 0

\* The row in which transfer t is commanded; GATHERs of one node, flow and slot to its neighbours share a row.
RowOf(t) ==
  IF t.op = "REDUCE"
  THEN [op |-> "REDUCE", flow |-> t.flow, step |-> t.step, parent |-> t.dst, route |-> RouteOf(t.src, t.dst),
        children |-> {u.src : u \in {v \in Of("REDUCE", t.flow) : v.dst = t.src}}]
  ELSE [op |-> "GATHER", flow |-> t.flow, step |-> t.step, parent |-> Source(t.flow, t.src), route |-> RouteOf(t.src, t.dst),
        children |-> IF RouteOf(t.src, t.dst) # Nil THEN {t.dst}
                     ELSE {u.dst : u \in {v \in Of("GATHER", t.flow) : v.src = t.src /\ v.step = t.step /\ RouteOf(v.src, v.dst) = Nil}}]

\* Rows are sorted by step, op, flow and first destination.
Before(a, b) ==
  LET to(row) == IF row.op = "REDUCE" THEN row.parent ELSE CHOOSE peer \in row.children : \A other \in row.children : peer <= other
      key(row) == <<row.step, IF row.op = "REDUCE" THEN 1 ELSE 2, row.flow, to(row)>>
  IN  \E k \in 1..4 : key(a)[k] < key(b)[k] /\ \A j \in 1..k - 1 : key(a)[j] = key(b)[j]

\* A set of rows as a table.
Sorted(rows) == [k \in 1..Cardinality(rows) |-> CHOOSE row \in rows : Cardinality({other \in rows : Before(other, row)}) = k - 1]

\* What the constants of NILockstep stand for.
ScheduleTable == [n \in Nodes |-> Sorted({RowOf(t) : t \in {u \in Schedule : u.src = n}})]
ScheduleArrivals == [n \in Nodes |-> {<<t.op, t.flow, t.src>> : t \in {u \in Schedule : u.dst = n}}]
SquareLinks == UNION {{<<Around(k), Around(k + 1)>>, <<Around(k + 1), Around(k)>>} : k \in 0..3}
RingLinks == UNION {{<<k, (k + 1) % 4>>, <<(k + 1) % 4, k>>} : k \in 0..3}
StarLinks == UNION {{<<n, 3>>, <<3, n>>} : n \in 0..2}
LineLinks == {<<0, 1>>, <<1, 0>>, <<1, 2>>, <<2, 1>>}
LinkPaths == [way \in {<<link[1], link[2], Nil>> : link \in DOMAIN Capacity} |-> << <<way[1], way[2]>> >>]
StarPaths == [way \in {<<a, b, 0>> : a, b \in 0..2} \ {<<n, n, 0>> : n \in 0..2} |-> << <<way[1], 3>>, <<3, way[2]>> >>]
LinePaths == [way \in {<<link[1], link[2], Nil>> : link \in LineLinks} \union {<<0, 2, 0>>} |->
  IF way[3] = Nil THEN << <<way[1], way[2]>> >> ELSE << <<0, 1>>, <<1, 2>> >>]
BackPaths == [way \in {<<link[1], link[2], Nil>> : link \in LineLinks} \union {<<2, 0, 0>>} |->
  IF way[3] = Nil THEN << <<way[1], way[2]>> >> ELSE << <<2, 1>>, <<1, 0>> >>]

-------------------------------------------------------------------------------
(* Tables whose rows wait for numbers of arrivals                            *)

\* Two nodes, one chunk: each sends its original to a scratch buffer of the other one and then adds, by its copy unit, what it got.
CountedTable == [n \in 0..1 |-> <<
  [op |-> "GATHER", flow |-> 0, wait |-> 0, from |-> 0, into |-> 1, children |-> {1 - n}, step |-> 0, route |-> Nil],
  [op |-> "REDUCE", flow |-> 0, wait |-> 1, from |-> 1, into |-> 0, children |-> {n}, step |-> 1, route |-> Nil]>>]
CountedArrivals == [n \in 0..1 |-> {<<0, 0, 1>>, <<0, 1, 1>>}]
CountedPaths == [way \in {<<a, b, Nil>> : a, b \in 0..1} |-> << <<way[1], way[2]>> >>]
CountedLinks == [link \in (0..1) \X (0..1) |-> 1]

\* Four nodes, one chunk: an exchange with the first neighbour, then of sums with the second.
BlocksTable == [n \in 0..3 |->
  LET first == IF n % 2 = 0 THEN n + 1 ELSE n - 1
      row(peer, wait, step) ==
        [op |-> "REDUCE", flow |-> 0, wait |-> wait, from |-> 0, into |-> 0, children |-> {peer}, step |-> step, route |-> Nil]
  IN  <<row(first, 0, 0), row((n + 2) % 4, 1, 1)>>]
BlocksArrivals == [n \in 0..3 |-> {<<0, 0, 2>>}]

-------------------------------------------------------------------------------
(* The constants                                                             *)

\* As the constants of NILockstep, from left to right: tables, links, times, promises.
MCTable == ScheduleTable
MCArrivals == ScheduleArrivals
MCSquare == [link \in SquareLinks |-> 1]
MCPair == [link \in {<<0, 1>>, <<1, 0>>} |-> 1]
MCPairOfTwo == [link \in {<<0, 1>>, <<1, 0>>} |-> 2]
MCRing == [link \in RingLinks |-> 1]
MCStar == [link \in StarLinks |-> 1]
MCLine == [link \in LineLinks |-> 1]
MCPath == LinkPaths
MCStarPath == StarPaths
MCLinePath == LinePaths
MCBackPath == BackPaths
MCCountedTable == CountedTable
MCCountedArrivals == CountedArrivals
MCCountedPath == CountedPaths
MCCountedLinks == CountedLinks
MCBlocksTable == BlocksTable
MCBlocksArrivals == BlocksArrivals
MCTravel == [way \in DOMAIN Path |-> <<2>>]
MCTravelLong == [way \in DOMAIN Path |-> <<6>>]
MCTravelRouted == [way \in DOMAIN Path |-> IF Len(Path[way]) = 1 THEN <<3>> ELSE <<5, 3>>]
MCAll == [f \in Flows |-> Nodes]
MCRoot == [f \in Flows |-> {Root[f]}]
===============================================================================
