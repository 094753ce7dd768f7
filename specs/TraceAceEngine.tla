----------------------------- MODULE TraceAceEngine -----------------------------
(***************************************************************************)
(* A trace of the simulator's engines (`certree endpoints --trace`) as a   *)
(* behaviour of AceEngine. The log has a line for every step, in the order *)
(* in which they happened; the specification must be able to do each, one  *)
(* after the other. It is about phases in which every node sends to one    *)
(* other, a message a step, and ports that state machines share.           *)
(***************************************************************************)
EXTENDS AceEngine

CONSTANT
  Log  \* lines: node, chunk, move

VARIABLE
  line  \* how many lines have happened

\* The line that comes next, and what it says.
Entry == Log[line + 1]

\* The engine does that.
Logged ==
  CASE Entry.move = "load"       -> Load(Entry.node, Entry.chunk)
    [] Entry.move = "send"       -> Begin(Entry.node, Entry.chunk)
    [] Entry.move = "pass on"    -> PassOn(Entry.node, Entry.chunk)
    [] Entry.move = "take"       -> TakeLast(Entry.node, Entry.chunk)
    [] Entry.move = "go on"      -> GoOn(Entry.node, Entry.chunk)
    [] Entry.move = "write back" -> WriteBack(Entry.node, Entry.chunk)

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
