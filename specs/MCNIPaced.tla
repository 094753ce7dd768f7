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
(* One order of events                                                       *)

\* A row of tables that name peers.
PeerRow(op, flow, parent, children, step) ==
  [op |-> op, flow |-> flow, parent |-> parent, children |-> children, step |-> step, route |-> Nil]

\* Node 2 passes on what node 0 adds, whatever else has come by then: a sum of node 1 and a copy of node 0.
PassesOnTable == <<
  <<PeerRow("REDUCE", 0, 2, {}, 0), PeerRow("GATHER", 0, Nil, {2}, 1)>>,
  <<PeerRow("REDUCE", 0, 2, {}, 0)>>,
  <<PeerRow("REDUCE", 0, 1, {0}, 2)>> >>
PassesOnArrivals == <<{}, {<<"REDUCE", 0, 2>>}, {<<"GATHER", 0, 0>>, <<"REDUCE", 0, 0>>, <<"REDUCE", 0, 1>>}>>

\* Node 0 waits for a sum of node 1 before its second row, which is for node 1; node 2, for which the first is, sends a copy to node 0.
TwoWaysTable == <<
  <<PeerRow("REDUCE", 0, 2, {}, 0), PeerRow("REDUCE", 0, 1, {1}, 1)>>,
  <<PeerRow("REDUCE", 0, 0, {}, 0)>>,
  <<PeerRow("GATHER", 0, Nil, {0}, 2)>> >>
TwoWaysArrivals == <<{<<"REDUCE", 0, 1>>, <<"GATHER", 0, 2>>}, {<<"REDUCE", 0, 0>>}, {<<"REDUCE", 0, 0>>}>>

\* The same of two chunks: both rows of node 0 are for node 2, which waits for the first chunk only before it sends the copy.
TwoChunksTable == <<
  <<PeerRow("REDUCE", 0, 2, {}, 0), PeerRow("REDUCE", 1, 2, {1}, 1)>>,
  <<PeerRow("REDUCE", 1, 0, {}, 0), PeerRow("GATHER", 1, Nil, {2}, 1)>>,
  <<PeerRow("REDUCE", 0, 1, {0}, 2), PeerRow("GATHER", 1, 1, {0}, 3)>> >>
TwoChunksArrivals == <<
  {<<"REDUCE", 1, 1>>, <<"GATHER", 1, 2>>}, {<<"REDUCE", 0, 2>>}, {<<"REDUCE", 0, 0>>, <<"REDUCE", 1, 0>>, <<"GATHER", 1, 1>>}>>

\* Node 2 waits for one of two sums, which may be the one that was sent last, and sends what it has to node 0, which reads there.
EitherTable == <<
  <<SharedRow("REDUCE", 0, {2}, 0)>>, <<SharedRow("REDUCE", 0, {2}, 1)>>, <<SharedRow("REDUCE", 1, {0}, 2)>> >>
EitherArrivals == <<{<<0, 0, 1>>}, {}, {<<0, 0, 2>>}>>

\* Node 0 sends node 1 a second sum when it has the first one back; node 1 waits for the first only, and sends twice.
TwiceTable == <<
  <<SharedRow("REDUCE", 0, {1}, 0), SharedRow("REDUCE", 1, {1}, 2)>>, <<SharedRow("REDUCE", 1, {0}, 1), SharedRow("REDUCE", 0, {2}, 3)>>,
  <<>> >>
TwiceArrivals == <<{<<0, 0, 1>>}, {<<0, 0, 2>>}, {<<0, 0, 1>>}>>

\* Node 0 sends a sum to node 1, whose first row does not wait for it, and whose second row does.
WaitsLaterTable == <<
  <<PeerRow("REDUCE", 0, 1, {}, 0)>>, <<PeerRow("REDUCE", 0, 0, {}, 2), PeerRow("GATHER", 0, Nil, {0}, 4)>> >>
WaitsLaterArrivals == <<{<<"REDUCE", 0, 1>>, <<"GATHER", 0, 1>>}, {<<"REDUCE", 0, 0>>}>>

\* Nodes 1 and 2 send copies to node 0 in one slot: which of them stays there depends on the order.
TwoCopiesTable == <<
  <<>>, <<PeerRow("GATHER", 0, Nil, {0, 2}, 3)>>, <<PeerRow("GATHER", 0, Nil, {0}, 3), PeerRow("REDUCE", 0, 0, {}, 4)>> >>
TwoCopiesArrivals == <<{<<"GATHER", 0, 1>>, <<"GATHER", 0, 2>>, <<"REDUCE", 0, 2>>}, {}, {<<"GATHER", 0, 1>>}>>

\* Node 2 waits for three messages, and either of two of one slot may be the third.
SameSlotTable == <<
  <<SharedRow("REDUCE", 0, {1}, 1), SharedRow("REDUCE", 0, {2}, 3), SharedRow("GATHER", 0, {2}, 3)>>,
  <<SharedRow("REDUCE", 1, {2}, 0), SharedRow("REDUCE", 0, {0, 2}, 1)>>, <<SharedRow("REDUCE", 3, {0}, 1)>> >>
SameSlotArrivals == <<{<<0, 0, 2>>}, {<<0, 0, 1>>}, {<<0, 0, 4>>}>>

\* Iterations overlap: the copy of the first one leaves node 0 in slot 4, when node 2 has sent its sums of both.
TwoIterationsTable == << <<PeerRow("REDUCE", 0, 1, {}, 2), PeerRow("GATHER", 0, Nil, {2}, 4)>>, <<>>, <<PeerRow("REDUCE", 0, 0, {}, 0)>> >>
TwoIterationsArrivals == <<{<<"REDUCE", 0, 2>>}, {<<"REDUCE", 0, 0>>}, {<<"GATHER", 0, 0>>}>>

\* A right table: node 0 waits for the sum of node 1 before it adds to it, and for what comes back before it passes that on.
FirstOfTwoTable == <<
  <<SharedRow("REDUCE", 1, {2}, 1), SharedRow("GATHER", 2, {1}, 3)>>, <<SharedRow("REDUCE", 0, {0}, 0)>>,
  <<SharedRow("GATHER", 1, {0}, 2)>> >>
FirstOfTwoArrivals == <<{<<0, 0, 2>>}, {<<0, 0, 1>>}, {<<0, 0, 1>>}>>

\* As constants: tables by node, from 0 on.
FromZero(list) == [n \in 0..Len(list) - 1 |-> list[n + 1]]
AllLinks == [link \in {<<a, b>> : a, b \in Nodes} |-> 1]
MCAllLinks == AllLinks
MCPassesOnTable == FromZero(PassesOnTable)
MCPassesOnArrivals == FromZero(PassesOnArrivals)
MCTwoWaysTable == FromZero(TwoWaysTable)
MCTwoWaysArrivals == FromZero(TwoWaysArrivals)
MCTwoChunksTable == FromZero(TwoChunksTable)
MCTwoChunksArrivals == FromZero(TwoChunksArrivals)
MCEitherTable == FromZero(EitherTable)
MCEitherArrivals == FromZero(EitherArrivals)
MCTwiceTable == FromZero(TwiceTable)
MCTwiceArrivals == FromZero(TwiceArrivals)
MCWaitsLaterTable == FromZero(WaitsLaterTable)
MCWaitsLaterArrivals == FromZero(WaitsLaterArrivals)
MCTwoCopiesTable == FromZero(TwoCopiesTable)
MCTwoCopiesArrivals == FromZero(TwoCopiesArrivals)
MCSameSlotTable == FromZero(SameSlotTable)
MCSameSlotArrivals == FromZero(SameSlotArrivals)
MCTwoIterationsTable == FromZero(TwoIterationsTable)
MCTwoIterationsArrivals == FromZero(TwoIterationsArrivals)
MCFirstOfTwoTable == FromZero(FirstOfTwoTable)
MCFirstOfTwoArrivals == FromZero(FirstOfTwoArrivals)

\* One chunk, five nodes: node 3 sends node 4 a sum and gets it back as a copy; nodes 2 and 3 get a copy by one row, and pass it on.
BothWays ==
  {Reduce(0, 3, 4, 0), Reduce(0, 0, 2, 0), Reduce(0, 4, 2, 1), Reduce(0, 2, 1, 2), Gather(0, 1, 2, 3), Gather(0, 1, 3, 3),
   Gather(0, 3, 4, 4), Gather(0, 2, 0, 4)}
FromNode1 == [f \in Flows |-> 1]

\* What memories hold when message m has counted, and `memory` is what they held.
With(m, memory) ==
  [memory EXCEPT ![m.dst][Place(m.item, Writes(m.src, m.row))] = IF m.op = "REDUCE" THEN Plus(@, m.load) ELSE m.load]

\* Message m can still be taken alone after this step, and memories and messages are the same if it comes before the step.
Commutes(m) ==
  /\ m \in MessagesAlone'
  /\ \A other \in flying \ flying' : With(m, With(other, held)) = With(other, With(m, held))
  /\ \A new \in flying' \ flying : new.load = With(m, held)[new.src][Place(new.item, Reads(new.src, new.row))]

\* So can the next row of node n, and it sends the same before the step.
SendsTheSame(n) == n \in NodesAlone' /\ \A peer \in Upcoming(n).to : UntimedTo(n, peer)' = UntimedTo(n, peer)

\* What can be taken alone stays so until it is taken, and no step before it makes a difference to it.
StaysAlone == [][
  /\ \A m \in MessagesAlone : m \in flying' => Commutes(m)
  /\ \A n \in NodesAlone : fired'[n] = fired[n] => SendsTheSame(n)]_vars

\* Of tables that are right at any timing: each message that can count and each row that can fire can do so alone, and no other.
OneOrder ==
  /\ MessagesAlone = {m \in flying : CanCountUntimed(m)}
  /\ NodesAlone = {n \in Nodes : CanFireUntimed(n)}

\* In one order: each step is one that can be taken alone, where there is any.
SomethingAlone == MessagesAlone # {} \/ NodesAlone # {}
StepsAlone == [][SomethingAlone =>
  \/ \E m \in MessagesAlone : flying' = flying \ {m}
  \/ \E n \in NodesAlone : fired' = [fired EXCEPT ![n] = @ + 1]]_vars

\* Where there is none, each step that is possible can be taken; as far as there are any, one can.
AllOrders ==
  /\ ~SomethingAlone => /\ \A m \in flying : CanCountUntimed(m) => ENABLED (NextUntimed /\ flying' = flying \ {m})
                        /\ \A n \in Nodes : CanFireUntimed(n) => ENABLED (NextUntimed /\ fired' = [fired EXCEPT ![n] = @ + 1])
  /\ SomethingAlone => ENABLED NextUntimed

\* In place of NextAlone: a message is taken that cannot be taken alone, or a row fires that cannot; only rows fire, or messages count,
\* where nothing can be taken alone.
TakesAnyMessage == IF MessagesAlone # {} THEN \E m \in flying : CountUntimed(m) ELSE NextAlone
FiresAnyRow == IF MessagesAlone = {} /\ NodesAlone # {} THEN \E n \in Nodes : FireUntimed(n) ELSE NextAlone
RowsOnly == IF SomethingAlone THEN NextAlone ELSE Rest \/ \E n \in Nodes : FireUntimed(n)
MessagesOnly == IF SomethingAlone THEN NextAlone ELSE Rest \/ \E m \in flying : CountUntimed(m)

\* In place of CountsAlone, FiresAlone and AreFirst: whatever can be taken is taken alone; nothing is known of who comes first.
TakenAtOnce(m) == CanCountUntimed(m)
FiredAtOnce(n) == CanFireUntimed(n)
NothingIsKnown == FALSE

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
