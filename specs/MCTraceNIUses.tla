----------------------------- MODULE MCTraceNIUses -----------------------------
(***************************************************************************)
(* Logs of two nodes that send each other what they add to, and of tables  *)
(* with a buffer, right ones and wrong ones.                               *)
(***************************************************************************)
EXTENDS MCNIUses, TraceNIUses

\* A row of node n fires; its message to node `to` counts.
Fires(n, row, i) == [move |-> "fire", row |-> <<n, row, i>>]
Counts(n, row, i, to) == [move |-> "count", row |-> <<n, row, i>>, to |-> to]

\* Both send before either adds.
PairLog == <<Fires(0, 1, 0), Fires(1, 1, 0), Counts(0, 1, 0, 1), Counts(1, 1, 0, 0)>>

\* The sum of node 0 counts at node 1, which has not sent yet.
AddedEarly == <<Fires(0, 1, 0), Counts(0, 1, 0, 1), Fires(1, 1, 0), Counts(1, 1, 0, 0)>>

\* The last message is missing.
CutShort == SubSeq(PairLog, 1, 3)

\* Two iterations with a counter each, of which the second is added first, before the interface has sent again.
TurnedLog ==
  <<Fires(0, 1, 0), Fires(1, 1, 0), Fires(0, 1, 1), Fires(1, 1, 1), Counts(0, 1, 1, 1), Counts(0, 1, 0, 1), Counts(1, 1, 0, 0),
    Counts(1, 1, 1, 0)>>

\* A copy into the buffer, a sum there, and the row that reads both.
BufferLog == <<Fires(1, 1, 0), Fires(0, 1, 0), Counts(0, 1, 0, 2), Counts(1, 1, 0, 2), Fires(2, 1, 0), Counts(2, 1, 0, 2)>>

\* The sum before the copy.
SumBeforeCopy == <<Fires(1, 1, 0), Fires(0, 1, 0), Counts(1, 1, 0, 2), Counts(0, 1, 0, 2), Fires(2, 1, 0), Counts(2, 1, 0, 2)>>

\* The row before the sum that it waits for.
ReadEarly == <<Fires(1, 1, 0), Fires(0, 1, 0), Counts(0, 1, 0, 2), Fires(2, 1, 0), Counts(1, 1, 0, 2), Counts(2, 1, 0, 2)>>

\* A row that node 0 does not have in place of its own.
OtherRow == <<Fires(0, 2, 0)>> \o SubSeq(PairLog, 2, 4)

\* Node 0 sends a copy to two nodes; its messages in any order.
ForkTable == FromZero(<< <<UsesRow("GATHER", 0, 0, 0, {1, 2}, 0)>>, <<>>, <<>> >>)
ForkArrivals == FromZero(<<{}, {<<0, 0, 1>>}, {<<0, 0, 1>>}>>)
ForkLog == <<Fires(0, 1, 0), Counts(0, 1, 0, 2), Counts(0, 1, 0, 1)>>

\* The message to node 1 twice, and none to node 2.
SameTarget == <<Fires(0, 1, 0), Counts(0, 1, 0, 1), Counts(0, 1, 0, 1)>>

\* As constants.
OnlyNode0 == [flow \in Flows |-> {0}]
MCOtherRow == OtherRow
MCFork == ForkTable
MCForkArrivals == ForkArrivals
MCForkLog == ForkLog
MCSameTarget == SameTarget
MCPairLog == PairLog
MCAddedEarly == AddedEarly
MCCutShort == CutShort
MCTurnedLog == TurnedLog
MCBufferLog == BufferLog
MCSumBeforeCopy == SumBeforeCopy
MCReadEarly == ReadEarly
================================================================================
