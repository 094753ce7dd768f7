----------------------------- MODULE MCAceEngine -----------------------------
(***************************************************************************)
(* A few engines in rings, behind a switch or in a 2x2 torus, and a few    *)
(* chunks; and engines that hang: too little room, phases in a circle,     *)
(* chunks in another order, ports that are too shallow or shared.          *)
(***************************************************************************)
EXTENDS AceEngine

CONSTANTS
  Kind,     \* "ring": in every phase a ring of all nodes; "torus": rings of two along the rows, then the columns, of 2x2;
            \* "direct": everybody to everybody, behind a switch; "sums": so twice, first the parts, then the sum of all parts;
            \* "chain": from each node to the next one, what it gets from the one before
  Plans,    \* "linear": phases in order; "circle": every second chunk goes through them backwards
  Loading,  \* "same": chunks in order at all nodes; "opposite": node 1 in reverse
  Ways,     \* 1: all chunks go around in the same direction; 2: every second one backwards
  PerPhase, \* state machines for each phase, taken by the chunks in turn
  Apart,    \* a port for each sender and state machine, or one for each link: from the neighbour, or from the switch
  Shared,   \* the phases whose links are the same, if they are not apart
  Spare,    \* messages that a port of a ring holds beyond those that are sent before any is taken
  Steps     \* messages that a chunk sends in a ring

\* How many nodes there are.
Count == Cardinality(Nodes)

\* Each chunk's phases.
GivenPlan == [c \in Chunks |-> [k \in 1..Phases |-> IF Plans = "circle" /\ c % 2 = 0 THEN Phases + 1 - k ELSE k]]

\* State machine i of phase p.
GivenMachine == [c \in Chunks |-> [k \in 1..Phases |-> <<GivenPlan[c][k], c % PerPhase>>]]

\* Each node's order of loading.
GivenOrder == [n \in Nodes |-> [i \in 1..Cardinality(Chunks) |-> IF Loading = "opposite" /\ n = 1 THEN Cardinality(Chunks) + 1 - i ELSE i]]

\* Chunk c goes backwards; the next node round the ring of phase p, and the one before.
IsBackward(c) == Ways = 2 /\ c % 2 = 0
RoundFrom(p, n, forward) ==
  CASE Kind = "torus" -> IF p % 2 = 1 THEN (IF n % 2 = 0 THEN n + 1 ELSE n - 1) ELSE (n + 2) % 4
    [] OTHER -> IF forward THEN (n + 1) % Count ELSE (n + Count - 1) % Count
NextOf(c, p, n) == RoundFrom(p, n, ~IsBackward(c))
BeforeOf(c, p, n) == RoundFrom(p, n, IsBackward(c))

\* The port at node m of what chunk c sends from node n in the k-th of its phases.
PortOf(c, k, n, m) ==
  LET p == GivenPlan[c][k]
      link == <<IF p \in Shared THEN 0 ELSE p, IF Kind \in {"direct", "sums"} THEN "switch" ELSE IF IsBackward(c) THEN "backwards" ELSE "forwards">>
  IN  IF Apart THEN <<m, p, n, GivenMachine[c][k]>> ELSE <<m, link>>

\* A ring, in which each message but the first waits for the one before; or a message to each other node, at once; or two, of which the
\* second waits for the first of everybody else, which have other numbers as they go to other nodes; or one along a chain.
Part(n, i) == [to |-> (n + i) % Count, needs |-> {}]
Sum(n, i) == [to |-> (n + i) % Count, needs |-> {<<(n + Count - j) % Count, j>> : j \in 1..Count - 1}]
Link(n) == IF n = Count - 1 THEN <<>> ELSE << [to |-> n + 1, needs |-> IF n = 0 THEN {} ELSE {<<n - 1, 1>>}] >>
Ported(c, k, n, message) == [to |-> message.to, port |-> PortOf(c, k, n, message.to), needs |-> message.needs]
GivenSends == [c \in Chunks |-> [k \in 1..Phases |-> [n \in Nodes |->
  IF Kind = "direct" THEN [i \in 1..Count - 1 |-> Ported(c, k, n, Part(n, i))]
  ELSE IF Kind = "chain" THEN [i \in DOMAIN Link(n) |-> Ported(c, k, n, Link(n)[i])]
  ELSE IF Kind = "sums"
  THEN [i \in 1..2 * (Count - 1) |-> Ported(c, k, n, IF i < Count THEN Part(n, i) ELSE Sum(n, i - Count + 1))]
  ELSE LET next == NextOf(c, GivenPlan[c][k], n) IN [i \in 1..Steps |->
         [to |-> next, port |-> PortOf(c, k, n, next),
          needs |-> IF i = 1 THEN {} ELSE {<<BeforeOf(c, GivenPlan[c][k], n), i - 1>>}]]]]]

\* What comes by each port before any of it is taken: a message of each sender and state machine; and in a ring what is spare.
Comes == UNION {UNION {UNION {{<<GivenSends[c][k][n][i].port, n, GivenMachine[c][k]>> : i \in DOMAIN GivenSends[c][k][n]}
  : n \in Nodes} : k \in 1..Phases} : c \in Chunks}
GivenDepth == [x \in {way[1] : way \in Comes} |-> Cardinality({way \in Comes : way[1] = x}) + IF Kind \in {"direct", "sums"} THEN 0 ELSE Spare]

\* Chunks halve from the first phase to the second and are whole again at the end, as in reduce-scatter, all-reduce, all-gather.
GivenSize == [p \in 1..Phases + 1 |-> IF p = 1 \/ p = Phases + 1 THEN 2 ELSE 1]

\* TLC evaluates these once, and what a configuration puts in the place of a constant whenever it meets it.
MCPlan == GivenPlan
MCMachine == GivenMachine
MCOrder == GivenOrder
MCSends == GivenSends
MCDepth == GivenDepth
MCSize == GivenSize

\* Room for two chunks in each partition; for one; for two in the first and one in the others; for less than one in the second.
RoomForTwo == [p \in 1..Phases + 1 |-> 2 * GivenSize[p]]
RoomForOne == GivenSize
RoomForTwoFirst == [GivenSize EXCEPT ![1] = 2 * @]
RoomForLess == [GivenSize EXCEPT ![2] = 0]

-------------------------------------------------------------------------------
(* Wrong engines                                                             *)

\* In place of AtWork: the state machine works on any of its chunks; in place of Dequeued: that one leaves the queue.
AnyOfTheQueue(n, c) == InPhase(n, c)
DequeuedAnywhere(n, c) == [queue EXCEPT ![n][MachineOf(n, c)] = SelectSeq(@, LAMBDA other : other # c)]

\* In place of Dequeued: the chunk stays in the queue.
StaysQueued(n, c) == queue

\* In place of Fits: no check for room.
AlwaysFits(n, p) == TRUE

\* In place of Turn: chunks are loaded in order, but enter the later partitions as they come.
AsTheyCome(n, c, k) == k > 1 \/ \A i, j \in DOMAIN Order[n] : Order[n][i] = c /\ j < i => place[n][Order[n][j]] > 0

\* In place of Turn: a chunk waits until all that are loaded before it have left the place that it is to take.
WaitsTooLong(n, c, k) == \A i, j \in DOMAIN Order[n] : Order[n][i] = c /\ j < i => place[n][Order[n][j]] > k

\* In place of HasRoom: no check whether the port is full.
NeverLooks(n, c) == TRUE

\* In place of Lacks: messages go out before those that they need have come; or when one of these has.
LacksNothing(n, c) == {}
LacksAllButOne(n, c) == IF Following(n, c).needs \intersect taken[n][c] # {} THEN {} ELSE Following(n, c).needs

\* In place of Enqueued: a chunk that is handed over stands in no queue, and is never at work again.
Vanishes(queues, n, c, k) == IF k = 1 THEN [queues EXCEPT ![n][Machine[c][k]] = Append(@, c)] ELSE queues

\* In place of WithSent: what goes out never comes to a port.
LosesSent(ports, n, c) == ports

\* In place of WithoutTaken: a message that has been taken stays at the port.
NotTaken(ports, x) == ports

\* In place of WriteBack: results are never written back.
NeverBack(n, c) == FALSE

\* In place of WriteBack: the same result is written back twice.
BackAgain(n, c) ==
  /\ place[n][c] \in {Last(c), Back(c)}
  /\ place' = [place EXCEPT ![n][c] = @ + 1]
  /\ UNCHANGED <<queue, sent, taken, port>>

\* In place of Take: a message comes in, and the next one, which waits for it alone, goes out later.
TakesAlone(n, c, x) ==
  /\ AtWork(n, c) /\ HasCome(n, c, x)
  /\ taken' = [taken EXCEPT ![n][c] = @ \cup {Waiting(x)}]
  /\ port' = WithoutTaken(port, x)
  /\ UNCHANGED <<place, queue, sent>>

\* In place of Spec: nothing has to happen, even when it can.
UnfairSpec == Init /\ [][Next]_vars
================================================================================
