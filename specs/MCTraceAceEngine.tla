---------------------------- MODULE MCTraceAceEngine ----------------------------
(***************************************************************************)
(* Logs of two engines and one chunk, and one thing wrong with them at a   *)
(* time.                                                                   *)
(***************************************************************************)
EXTENDS TraceAceEngine

\* One phase, from each node to the other, by one port; one state machine; the only order.
MCPlan == [c \in Chunks |-> <<1>>]
MCMachine == [c \in Chunks |-> <<1>>]
MCOrder == [n \in Nodes |-> <<1>>]
MCTo == <<[n \in Nodes |-> 1 - n]>>
MCPort == <<1>>
MCSteps == <<2>>
MCSize == <<1, 1>>
MCRoom == <<1, 1>>

\* A line about the chunk.
Line(node, move) == [node |-> node, chunk |-> 1, move |-> move]

\* A ring all-reduce of two.
RightLog == <<
  Line(0, "load"), Line(1, "load"), Line(0, "send"), Line(1, "send"),
  Line(1, "pass on"), Line(0, "pass on"), Line(0, "take"), Line(1, "take"),
  Line(0, "go on"), Line(1, "go on"), Line(1, "write back"), Line(0, "write back")>>

\* The log; in which node 1 passes on what has not come; which ends before the last step.
MCLog == RightLog
MCTooEarly == <<RightLog[1], RightLog[2], RightLog[4], RightLog[5]>>
MCCutShort == SubSeq(RightLog, 1, Len(RightLog) - 1)
================================================================================
