----------------------------- MODULE TraceAceEngine -----------------------------
(***************************************************************************)
(* A trace of the simulator's engines (`certree endpoints --trace`) as a   *)
(* behaviour of AceEngine. The log has a line for every step, in the order *)
(* in which they happened; the specification must be able to do each, one  *)
(* after the other, with the messages that the line names.                 *)
(***************************************************************************)
EXTENDS AceEngine

CONSTANT
  Log  \* lines: node, chunk, move; the message that it takes, as <<sender, number>>, and the number of the one that it sends, `to` whom

VARIABLE
  line  \* how many lines have happened

\* The line that comes next, and what it says.
Entry == Log[line + 1]

\* The message that goes out, and the one that comes in by port x, are those of the line.
SendsAsLogged(n, c) == Entry.sends = sent[n][c] + 1 /\ IsLeft(n, c) /\ Entry.to = Following(n, c).to
TakesAsLogged(n, c, x) == HasCome(n, c, x) /\ Entry.takes = Waiting(x)

\* The engine does that.
Logged ==
  LET n == Entry.node
      c == Entry.chunk
  IN  CASE Entry.move = "load"       -> Load(n, c)
        [] Entry.move = "send"       -> InPhase(n, c) /\ SendsAsLogged(n, c) /\ Send(n, c)
        [] Entry.move = "pass on"    -> InPhase(n, c) /\ SendsAsLogged(n, c) /\ \E x \in Inputs[n] :
                                          TakesAsLogged(n, c, x) /\ PassOn(n, c, x)
        [] Entry.move = "take"       -> InPhase(n, c) /\ \E x \in Inputs[n] :
                                          TakesAsLogged(n, c, x) /\ Take(n, c, x)
        [] Entry.move = "go on"      -> GoOn(n, c)
        [] Entry.move = "write back" -> WriteBack(n, c)

\* The log begins.
TraceInit == Init /\ line = 0

\* The next line happens; the end of the log is no deadlock.
TraceNext ==
  \/ line < Len(Log) /\ line' = line + 1 /\ Logged
  \/ line = Len(Log) /\ UNCHANGED <<vars, line>>

\* The behaviour that the log tells.
TraceSpec == TraceInit /\ [][TraceNext]_<<vars, line>>

\* When the log ends, every chunk is back everywhere.
BackInTheEnd == line = Len(Log) => AllBack
================================================================================
