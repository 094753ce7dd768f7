-------------------------- MODULE MCNILockstepFaults --------------------------
(***************************************************************************)
(* NILockstep with one thing wrong at a time: what each property is for.   *)
(* Every cfg of this module must fail; the manifest says how.              *)
(***************************************************************************)
EXTENDS MCNILockstep

-------------------------------------------------------------------------------
(* A wrong NI                                                                *)

\* In place of DependenciesHold: rows fire when their slot opens, whatever has arrived.
NeverWaits(n) == TRUE

\* In place of DependenciesHold: a bit for each arrival instead of a counter, so an early iteration vouches for all later ones.
ArrivalBit(n) == \A arrival \in Upcoming(n).awaits : HasCounted(n, arrival, 0)

\* In place of Dependencies: the root gathers as soon as one child has reported.
RootWaitsForOneChild(n, r) ==
  LET row == Table[n][r]
      reduces == {arrival \in Arrivals[n] : arrival[1] = "REDUCE" /\ arrival[2] = row.flow}
  IN  CASE row.op = "REDUCE" -> {<<"REDUCE", row.flow, peer>> : peer \in row.children}
        [] row.op = "GATHER" /\ row.parent # Nil -> {<<"GATHER", row.flow, row.parent>>}
        [] OTHER -> IF reduces = {} THEN {} ELSE {CHOOSE arrival \in reduces : TRUE}

\* In place of Spec: nothing has to happen, even when it can.
UnfairSpec == Init /\ [][Next]_vars

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

\* As constants, see MCNILockstep.
MCWrongParentTable == WrongParentTable
MCMissingLinkTable == MissingLinkTable
MCDroppedDependencyTable == DroppedDependencyTable

-------------------------------------------------------------------------------
(* Wrong schedules for ring:4                                                *)

\* Node 0 sends flows 0 and 3 to node 1 in slot 3.
TwoRowsOnOneLink == (RingAllReduce \ {Gather(0, 0, 1, 2)}) \union {Gather(0, 0, 1, 3)}

\* All-gather in which nobody brings flow 0 to node 2, which so has nothing to wait for.
NeverBrought == RingAllGather \ {Gather(0, 1, 2, 1)}

\* Node 0 sends flow 0 to node 3 twice.
SentTwice == RingAllReduce \union {Gather(0, 0, 3, 3)}

\* The contribution of node 2 to flow 0 goes nowhere.
MissingContribution == RingAllReduce \ {Reduce(0, 2, 1, 0)}

\* The contribution of node 2 to flow 0 reaches the root over node 1 and over node 3.
ContributionTwice ==
  (RingUp \ {Reduce(0, 3, 0, 0)}) \union {Reduce(0, 2, 3, 1), Reduce(0, 3, 0, 2)} \union RingDown(3)
===============================================================================
