------------------------------ MODULE TraceNIUses ------------------------------
(***************************************************************************)
(* A trace of the simulator's interfaces with endpoints (`certree simulate *)
(* --endpoint --trace`) as a behaviour of NIUses. The log has a line for   *)
(* each row that fires and for each message that counts, in the order in   *)
(* which they did; the specification must be able to do each, one after    *)
(* the other. When each happens is the endpoint's affair, of which nothing *)
(* is known here: an interface may keep a message for as long as it likes. *)
(*                                                                         *)
(* Rows that name what they wait for have no uses to keep in order; their  *)
(* lines are compared with NIPaced.                                        *)
(***************************************************************************)
EXTENDS NIUses

CONSTANT
  Log  \* lines: move, and the row that fires, <<node, row, iteration>>, or whose message counts, and the node that it goes `to`

VARIABLE
  line  \* how many lines have happened

\* All that changes.
traceVars == <<vars, line>>

\* The line that comes next, and what it says.
Told == Log[line + 1]

\* In place of CanCountUntimed: an endpoint may take a message before one of an earlier iteration. Where both have one counter, it
\* counts later: KeepsOrder asks that no fewer messages have been taken than all that come before the iteration.
InAnyTurn(m) == TRUE

\* The interface does that.
Logged ==
  CASE Told.move = "fire" ->
         LET n == Told.row[1]
         IN  HasNext(n) /\ <<n, Upcoming(n).row, Upcoming(n).item[2]>> = Told.row /\ FireUntimed(n)
    [] Told.move = "count" -> \E m \in flying :
         <<m.src, m.row, m.item[2]>> = Told.row /\ m.dst = Told.to /\ (IsCounted => KeepsOrder(m)) /\ CountUntimed(m)

\* The log begins.
TraceInit == Init /\ line = 0

\* The next line happens; the end of the log is no deadlock.
TraceNext ==
  \/ line < Len(Log) /\ line' = line + 1 /\ Logged
  \/ line = Len(Log) /\ UNCHANGED traceVars

\* The behaviour that the log tells.
TraceSpec == TraceInit /\ [][TraceNext]_traceVars

\* When the log ends, all rows have fired, and all messages have counted.
DoneInTheEnd == line = Len(Log) => AllDone
================================================================================
