-------------------------- MODULE MCNILockstepFaults --------------------------
(***************************************************************************)
(* NILockstep with one thing wrong at a time: what each property is for.   *)
(* Every model of this module must fail; models.toml says how.             *)
(***************************************************************************)
EXTENDS MCNILockstep

-------------------------------------------------------------------------------
(* A wrong NI                                                                *)

\* In place of DependenciesHold: rows fire when their slot opens, whatever has arrived.
NeverWaits(n) == TRUE

\* In place of DependenciesHold: a bit for each arrival instead of a counter, so an early iteration vouches for all later ones.
ArrivalBit(n) == \A arrival \in Upcoming(n).awaits : HasCounted(n, arrival, 0)

\* In place of Least: where rows wait for numbers, those of the first iteration are enough for all.
LeastOfFirst(n, arrival, iteration) == arrival[3]

\* In place of Dependencies: the root gathers as soon as one child has reported.
RootWaitsForOneChild(n, r) ==
  LET row == Table[n][r]
      reduces == {arrival \in Arrivals[n] : arrival[1] = "REDUCE" /\ arrival[2] = row.flow}
  IN  CASE row.op = "REDUCE" -> {<<"REDUCE", row.flow, peer>> : peer \in row.children}
        [] row.op = "GATHER" /\ row.parent # Nil -> {<<"GATHER", row.flow, row.parent>>}
        [] OTHER -> IF reduces = {} THEN {} ELSE {CHOOSE arrival \in reduces : TRUE}

\* In place of Dependencies: the root gathers when its children have reported for all flows.
RootWaitsForAllFlows(n, r) ==
  LET row == Table[n][r]
  IN  CASE row.op = "REDUCE" -> {<<"REDUCE", row.flow, peer>> : peer \in row.children}
        [] row.op = "GATHER" /\ row.parent # Nil -> {<<"GATHER", row.flow, row.parent>>}
        [] OTHER -> {arrival \in Arrivals[n] : arrival[1] = "REDUCE"}

\* In place of EntersAt: of the messages on a lane only the first to leave is waited for.
EntersBehindFirst(link, lane) ==
  LET leavings == Leavings(link, lane)
  IN  IF leavings = {} THEN now ELSE CHOOSE t \in leavings : \A other \in leavings : t <= other

\* In place of TurnAt: all take the first lane; or the one with the most to send.
FirstLane(link) == [lane |-> 1, enters |-> EntersAt(link, 1)]
FullestLane(link) ==
  LET lane == CHOOSE best \in 1..Capacity[link] : \A other \in 1..Capacity[link] : EntersAt(link, other) <= EntersAt(link, best)
  IN  [lane |-> lane, enters |-> EntersAt(link, lane)]

\* In place of FreestOf: all lanes with the least to send.
AnyFreest(link) ==
  {lane \in 1..Capacity[link] : \A other \in 1..Capacity[link] : EntersAt(link, lane) <= EntersAt(link, other)}

\* In place of EntersAt: messages enter a lane that is still sending.
EntersAtOnce(link, lane) == now

\* In place of Init: no node has a contribution.
EmptyHanded ==
  /\ now = 0 /\ start = [n \in Nodes |-> 0] /\ drift = [n \in Nodes |-> 0]
  /\ counter = [n \in Nodes |-> LoadedFor(n, 0, 0, 0)]
  /\ fired = [n \in Nodes |-> 0] /\ flying = {}
  /\ held = [n \in Nodes |-> [item \in Items |-> OnceEach({})]]
  /\ count = [n \in Nodes |-> [arrival \in Arrivals[n] |-> 0]]

\* In place of HasCounted: the counter is compared with the iteration less one.
CountedOneTooFew(n, arrival, iteration) == arrival \in DOMAIN count[n] /\ count[n][arrival] >= iteration

\* In place of HasCounted: the counter is compared with the iteration plus one.
CountedOneTooMany(n, arrival, iteration) == arrival \in DOMAIN count[n] /\ count[n][arrival] >= iteration + 2

\* In place of IsFirstInUnit: the reduction unit takes messages in any order.
AnyOrder(m) == TRUE

\* In place of Plus: a sum replaces what was there.
Overwrites(a, b) == b

\* In place of OpensAt: slots open a tick early.
OpensEarly(n, s) == start[n] + s * (SlotTicks + drift[n]) - (IF s > 0 THEN 1 ELSE 0)

\* In place of IterationIn: the stage of a row is forgotten, so that rows of later periods serve the wrong iteration.
NoStage(n, r, s) == s \div Period

\* In place of IsIdle, paced: the counter does not look at the units.
NeverBusy(n) == TRUE

\* In place of IsIdle, paced: the reduction unit never comes to rest.
NeverIdle(n) == FALSE

\* In place of Counted: the copies that arrive at node 0 do not count.
LosesArrival(m, counted) == IF m.dst = 0 /\ m.op = "GATHER" THEN counted ELSE [counted EXCEPT ![m.dst][<<m.op, m.item[1], m.src>>] = @ + 1]

\* In place of Counted: an arrival counts twice.
CountsTwice(m, counted) == [counted EXCEPT ![m.dst][<<m.op, m.item[1], m.src>>] = @ + 2]

\* In place of Spec: nothing has to happen, even when it can.
UnfairSpec == Init /\ [][Next]_vars

-------------------------------------------------------------------------------
(* An NI, or time itself, that forgets one of its guards                     *)

\* In place of CanFire: rows do not wait for their slot.
FiresAnyTime(n) == HasNext(n) /\ DependenciesHold(n) /\ \A peer \in Upcoming(n).to : WayTo(n, peer) \in DOMAIN Path

\* In place of CanAdvance: the timestep counter passes a step whose rows have not been issued.
AdvancesPastRows(n) == Run = "paced" /\ HasNext(n) /\ counter[n].step <= Upcoming(n).slot /\ now >= counter[n].until /\ IsIdle(n)

\* In place of CanAdvance: the down-counter is not waited for.
AdvancesBeforeZero(n) == Run = "paced" /\ HasNext(n) /\ counter[n].step < Upcoming(n).slot /\ IsIdle(n)

\* In place of Earliest: sums count like copies; in place of Latest: they may take a tick longer than the most.
EarliestOfCopies(m) == ArrivesAt(m)
LatestAndMore(m) == ArrivesAt(m) + IF m.op = "REDUCE" THEN MaxReduceTicks + 1 ELSE 0

\* In place of CanCount: messages count from the moment in which they are sent.
CountsWhenSent(m) == now <= Latest(m) /\ IsFirstInUnit(m)

\* In place of CanCross: messages take their turn at the next link before they are there.
CrossesEarly(m) == Ahead(m) # {}

\* In place of CanCross: of those that come in one tick anyone is first.
AnyoneFirst(m) == HasCome(m)

\* In place of Act: an NI does not give precedence to messages under way.
OwnFirst(n) == Fire(n) \/ Advance(n)

\* In place of TimeCanPass: time passes although a message stands before its next link.
PassesRouters == (\A n \in Nodes : ~CanFire(n) /\ ~CanAdvance(n)) /\ \A m \in flying : now < Latest(m)

\* In place of TimeCanPass: time passes although a row can fire.
PassesRows == \A m \in flying : ~HasCome(m) /\ now < Latest(m)

\* In place of TimeCanPass: time passes although a message must count.
PassesMessages == (\A m \in flying : ~HasCome(m)) /\ \A n \in Nodes : ~CanFire(n) /\ ~CanAdvance(n)

\* In place of IsNextEvent: time passes over what could happen.
JumpsOver(t) == t > now

-------------------------------------------------------------------------------
(* Wrong tables for ring:4                                                   *)

\* The row of node n that sends `flow` by `op`.
RowNumber(n, op, flow) == CHOOSE r \in DOMAIN ScheduleTable[n] : ScheduleTable[n][r].op = op /\ ScheduleTable[n][r].flow = flow

\* Node 2 reduces flow 0 into node 3; node 1 waits for it.
WrongParentTable == [ScheduleTable EXCEPT ![2][RowNumber(2, "REDUCE", 0)].parent = 3]

\* Node 2 reduces flow 0 into node 0, to which it has no link.
MissingLinkTable == [ScheduleTable EXCEPT ![2][RowNumber(2, "REDUCE", 0)].parent = 0]

\* Node 1 passes flow 0 on without waiting for node 2.
DroppedDependencyTable == [ScheduleTable EXCEPT ![1][RowNumber(1, "REDUCE", 0)].children = {}]

\* Two nodes with scratch buffers: the sum does not wait for the original of the other node.
CarelessTable == [n \in 0..1 |-> <<CountedTable[n][1], [CountedTable[n][2] EXCEPT !.wait = 0]>>]

\* As constants, see MCNILockstep.
MCCarelessTable == CarelessTable
MCWrongParentTable == WrongParentTable
MCMissingLinkTable == MissingLinkTable
MCDroppedDependencyTable == DroppedDependencyTable

-------------------------------------------------------------------------------
(* A schedule with few states                                                *)

\* ring:4, reduce-scatter of one chunk: two sums for node 0.
OneSum == {t \in RingReduceScatter : t.flow = 0}

-------------------------------------------------------------------------------
(* Wrong schedules for ring:4                                                *)

\* Node 0 sends flows 0 and 3 to node 1 in slot 3.
TwoRowsOnOneLink == (RingAllReduce \ {Gather(0, 0, 1, 2)}) \union {Gather(0, 0, 1, 3)}

\* All-gather in which no row brings flow 0 to node 2, which therefore has nothing to wait for.
NeverBrought == RingAllGather \ {Gather(0, 1, 2, 1)}

\* Node 0 sends flow 0 to node 3 twice.
SentTwice == RingAllReduce \union {Gather(0, 0, 3, 3)}

\* The contribution of node 2 to flow 0 goes nowhere.
MissingContribution == RingAllReduce \ {Reduce(0, 2, 1, 0)}

\* The contribution of node 2 to flow 0 reaches the root over node 1 and over node 3.
ContributionTwice ==
  (RingUp \ {Reduce(0, 3, 0, 0)}) \union {Reduce(0, 2, 3, 1), Reduce(0, 3, 0, 2)} \union RingDown(3)
===============================================================================
