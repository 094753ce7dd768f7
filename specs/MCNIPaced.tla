------------------------------- MODULE MCNIPaced -------------------------------
(***************************************************************************)
(* Small tables for NIPaced: those of MCNILockstep, and one fault at a     *)
(* time.                                                                   *)
(***************************************************************************)
EXTENDS MCNILockstep, CheckNIPaced

\* Two nodes that send each other what they add to, at once: only slots keep sent and received apart.
AtOnceTable == [n \in 0..1 |-> <<
  [op |-> "REDUCE", flow |-> 0, wait |-> 0, from |-> 0, into |-> 0, children |-> {1 - n}, step |-> 0, route |-> Nil]>>]
AtOnceArrivals == [n \in 0..1 |-> {<<0, 0, 1>>}]
MCAtOnceTable == AtOnceTable
MCAtOnceArrivals == AtOnceArrivals

\* Nodes 1 and 2 send what they have to node 0, which sends the sum back; rows wait for numbers of arrivals.
SharedRow(op, wait, to, step) == [op |-> op, flow |-> 0, wait |-> wait, from |-> 0, into |-> 0, children |-> to, step |-> step, route |-> Nil]
SharedTable == [n \in 0..2 |-> IF n = 0 THEN <<SharedRow("GATHER", 2, {1, 2}, 1)>> ELSE <<SharedRow("REDUCE", 0, {0}, 0)>>]
SharedArrivals == [n \in 0..2 |-> {<<0, 0, IF n = 0 THEN 2 ELSE 1>>}]
SharedLinks == [link \in {<<0, 1>>, <<0, 2>>, <<1, 0>>, <<2, 0>>} |-> 1]
MCSharedTable == SharedTable
MCSharedArrivals == SharedArrivals
MCSharedLinks == SharedLinks
MCSharedPath == [way \in {<<link[1], link[2], Nil>> : link \in DOMAIN SharedLinks} |-> << <<way[1], way[2]>> >>]

\* Two nodes, two sums, of which one is left out.
PairLeftOut == {Reduce(0, 1, 0, 0), Gather(0, 0, 1, 1)}

\* Node 0 sends its first sum to itself, where no link leads.
AstrayTable == [ScheduleTable EXCEPT ![0] = [@ EXCEPT ![1] = [@ EXCEPT !.parent = 0]]]
MCAstrayTable == AstrayTable

\* Rows that add what they do not wait for.
CarelessTable == [n \in 0..1 |-> [CountedTable[n] EXCEPT ![2] = [@ EXCEPT !.wait = 0]]]
MCCarelessTable == CarelessTable

\* In place of DependenciesHold: rows do not wait; or a bit for each arrival takes the place of the counter.
FiresAtOnce(n) == TRUE
BitForArrival(n) == \A arrival \in Upcoming(n).awaits : HasCounted(n, arrival, 0)

\* In place of CanCountUntimed: messages of one row overtake each other; sums are never ready.
CountsInAnyOrder(m) == TRUE
CountsOutOfTurn(m) ==
  \A other \in flying : <<other.src, other.row, other.dst>> = <<m.src, m.row, m.dst>> => m.item[2] <= other.item[2]
CopiesOnly(m) == m.op = "GATHER"

\* In place of CountUntimed: a message is added twice, or lost.
CountsTwice(m) ==
  /\ flying' = flying \ {m}
  /\ held' = [held EXCEPT ![m.dst][m.item] = IF m.op = "REDUCE" THEN Plus(Plus(@, m.load), m.load) ELSE m.load]
  /\ count' = Counted(m, count)
  /\ UNCHANGED <<now, start, drift, counter, fired>>
IsLost(m) == flying' = flying \ {m} /\ UNCHANGED <<now, start, drift, counter, fired, held, count>>

\* In place of Counted: the counter counts two.
CountedByTwo(m, counted) == [counted EXCEPT ![m.dst][CounterOfMessage(m)] = @ + 2]

\* In place of UntimedTo: what is sent is what the node had in the beginning.
SendsItsOwn(n, peer) ==
  [op |-> Upcoming(n).op, item |-> Upcoming(n).item, src |-> n, dst |-> peer, row |-> Upcoming(n).row,
   load |-> OnceEach({n} \intersect Contributors[Upcoming(n).item[1]])]

\* In place of FireUntimed: that the row has fired is not noted.
FiresAndStays(n) ==
  /\ CanFireUntimed(n)
  /\ flying' = flying \union {UntimedTo(n, peer) : peer \in Upcoming(n).to}
  /\ UNCHANGED <<now, start, drift, counter, fired, held, count>>

\* In place of UntimedSpec: without fairness.
UnfairUntimed == Init /\ [][NextUntimed]_vars

\* In place of CanFire, of NILockstep: rows fire when their step has come, whatever has arrived.
FiresWhenDue(n) == IsDue(n) /\ \A peer \in Upcoming(n).to : WayTo(n, peer) \in DOMAIN Path

\* In place of Init, of NILockstep: no node has a contribution.
BeginsEmpty ==
  /\ now = 0 /\ start = [n \in Nodes |-> 0] /\ drift = [n \in Nodes |-> 0] /\ counter = [n \in Nodes |-> LoadedFor(n, 0, 0, 0)]
  /\ fired = [n \in Nodes |-> 0] /\ flying = {} /\ held = [n \in Nodes |-> [item \in Items |-> OnceEach({})]]
  /\ count = [n \in Nodes |-> [arrival \in Arrivals[n] |-> 0]]

-------------------------------------------------------------------------------
(* The timed machine keeps to it                                             *)

\* A message without its times and lanes.
Bare(m) == [op |-> m.op, item |-> m.item, src |-> m.src, dst |-> m.dst, row |-> m.row, load |-> m.load]

\* What NILockstep does, without time.
Untimed == INSTANCE NIPaced WITH
  now <- 0, start <- [n \in Nodes |-> 0], drift <- [n \in Nodes |-> 0], counter <- [n \in Nodes |-> [step |-> 0, until |-> 0]],
  flying <- {Bare(m) : m \in flying}, MaxSkewTicks <- 0, MaxDriftTicks <- 0, StepTicks <- 0

\* Every paced run of NILockstep is one of NIPaced: it begins and steps as that does.
BeginsUntimed == Untimed!Init
StepsUntimed == [][Untimed!NextUntimed]_<<fired, {Bare(m) : m \in flying}, held, count>>

\* Of paced runs.
THEOREM Spec => BeginsUntimed /\ StepsUntimed
================================================================================
