----------------------------- MODULE MCAceEngine -----------------------------
(***************************************************************************)
(* Two engines, or four of a 2x2 torus, and a few chunks; and engines that *)
(* hang: too little room, phases in a circle, chunks in another order,     *)
(* phases that share a port.                                               *)
(***************************************************************************)
EXTENDS AceEngine

CONSTANTS
  Plans,   \* "linear": phases in order; "circle": every second chunk goes through them backwards
  Loading, \* "same": chunks in order at all nodes; "opposite": node 1 the other way round
  Shared,  \* the phases that share port 1; every other has its own
  PerPhase \* state machines for each phase, taken by the chunks in turn

\* Phase p between the two nodes, or along the rows and columns of the torus: odd phases change the last bit, even ones the first.
MCTo == [p \in 1..Phases |-> [n \in Nodes |->
  IF Nodes = {0, 1} THEN 1 - n ELSE IF p % 2 = 1 THEN (IF n % 2 = 0 THEN n + 1 ELSE n - 1) ELSE (n + 2) % 4]]

\* Each chunk's phases.
MCPlan == [c \in Chunks |-> [k \in 1..Phases |-> IF Plans = "circle" /\ c % 2 = 0 THEN Phases + 1 - k ELSE k]]

\* State machine i of phase p.
MCMachine == [c \in Chunks |-> [k \in 1..Phases |-> <<MCPlan[c][k], c % PerPhase>>]]

\* Each node's order of loading.
MCOrder == [n \in Nodes |-> [i \in 1..Cardinality(Chunks) |-> IF Loading = "opposite" /\ n = 1 THEN Cardinality(Chunks) + 1 - i ELSE i]]

\* A port for each phase, but for those that share one.
MCPort == [p \in 1..Phases |-> IF p \in Shared THEN 1 ELSE p]

\* A ring all-reduce of two nodes has two steps.
MCSteps == [p \in 1..Phases |-> 2]

\* Chunks halve from the first phase to the second and are whole again at the end, as in reduce-scatter, all-reduce, all-gather.
MCSize == [p \in 1..Phases + 1 |-> IF p = 1 \/ p = Phases + 1 THEN 2 ELSE 1]

\* Room for two chunks in each partition; for one; for less than one in the second.
RoomForTwo == [p \in 1..Phases + 1 |-> 2 * MCSize[p]]
RoomForOne == MCSize
RoomForLess == [MCSize EXCEPT ![2] = 0]

-------------------------------------------------------------------------------
(* Wrong engines                                                             *)

\* In place of IsFirst: the state machine works on any of its chunks; in place of Dequeued: that one leaves the queue.
AnyOfTheQueue(n, c) == TRUE
DequeuedAnywhere(n, c) == [queue EXCEPT ![n][MachineOf(n, c)] = SelectSeq(@, LAMBDA other : other # c)]

\* In place of Dequeued: the chunk stays in the queue.
StaysQueued(n, c) == queue

\* In place of Fits: nobody looks whether there is room.
AlwaysFits(n, p) == TRUE

\* In place of Turn: chunks are loaded in order, but enter the later partitions as they come.
AsTheyCome(n, c, k) == k > 1 \/ \A i, j \in DOMAIN Order[n] : Order[n][i] = c /\ j < i => place[n][Order[n][j]] > 0

\* In place of HasRoom: nobody looks whether the port is full.
NeverLooks(n, c) == TRUE

\* In place of WithoutTaken: a message that has been taken stays at the port.
NotTaken(ports, n, c) == ports

\* In place of WriteBack: results are never written back.
NeverBack(n, c) == FALSE

\* In place of WriteBack: the same result is written back twice.
BackAgain(n, c) ==
  /\ place[n][c] \in {Last(c), Back(c)}
  /\ place' = [place EXCEPT ![n][c] = @ + 1]
  /\ UNCHANGED <<queue, sent, taken, port>>

\* In place of Spec: nothing has to happen, even when it can.
UnfairSpec == Init /\ [][Next]_vars
================================================================================
