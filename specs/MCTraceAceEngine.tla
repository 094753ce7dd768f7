---------------------------- MODULE MCTraceAceEngine ----------------------------
(***************************************************************************)
(* Logs of two engines and one chunk, and one thing wrong with them at a   *)
(* time.                                                                   *)
(***************************************************************************)
EXTENDS TraceAceEngine

\* One phase of two messages from each node to the other, by the port of that node; one state machine; the only order.
MCPlan == [c \in Chunks |-> <<1>>]
MCMachine == [c \in Chunks |-> <<1>>]
MCOrder == [n \in Nodes |-> <<1>>]
MCSends == [c \in Chunks |-> <<[n \in Nodes |-> <<
  [to |-> 1 - n, port |-> 1 - n, needs |-> {}], [to |-> 1 - n, port |-> 1 - n, needs |-> {<<1 - n, 1>>}]>>]>>]
MCDepth == [n \in Nodes |-> 2]
MCSize == <<1, 1>>
MCRoom == <<1, 1>>

\* A line about the chunk, and the messages of it.
Line(node, move) == [node |-> node, chunk |-> 1, move |-> move, to |-> 1 - node,
  sends |-> IF move = "send" THEN 1 ELSE 2, takes |-> <<1 - node, IF move = "pass on" THEN 1 ELSE 2>>]

\* A ring all-reduce of two.
RightLog == <<
  Line(0, "load"), Line(1, "load"), Line(0, "send"), Line(1, "send"),
  Line(1, "pass on"), Line(0, "pass on"), Line(0, "take"), Line(1, "take"),
  Line(0, "go on"), Line(1, "go on"), Line(1, "write back"), Line(0, "write back")>>

\* The log; in which node 1 passes on what has not come; which ends before the last step; in which node 0 takes what it has taken,
\* and node 1 sends what comes after.
MCLog == RightLog
MCTooEarly == <<RightLog[1], RightLog[2], RightLog[4], RightLog[5]>>
MCCutShort == SubSeq(RightLog, 1, Len(RightLog) - 1)
MCTakesAgain == [RightLog EXCEPT ![7].takes = <<1, 1>>]
MCSendsAnother == [RightLog EXCEPT ![4].sends = 2]
================================================================================
