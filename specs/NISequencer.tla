------------------------------ MODULE NISequencer ------------------------------
(***************************************************************************)
(* The sequencer of an NI: which row is next, whether its time has come,   *)
(* what it waits for; and the timestep counter of paced runs.              *)
(***************************************************************************)
EXTENDS NILanes

CONSTANTS
  Run,             \* how the NIs take their rows: "slotted" by the clock, "paced" by the timestep counter
  SlotTicks,       \* slotted: length of a slot by a clock that does not drift
  BufferTicks,     \* paced: how much of a message's time at the port its injection buffer holds
  StepTicks        \* paced: what the lockstep down-counter is loaded with in a step without rows

VARIABLES
  start,    \* start[n]: the tick at which node n's clock started
  drift,    \* drift[n]: by how much each slot of node n is longer than SlotTicks
  counter,  \* counter[n]: paced: the timestep counter, and the tick before which it must not advance
  fired,    \* fired[n]: how many entries of its program node n has fired
  count     \* count[n][arrival]: how many messages of that kind have counted at node n

\* Node n has entries left to execute.
HasNext(n) == fired[n] < Len(Program[n])

\* The next entry of node n, if it has one.
Coming(n) == {Program[n][k] : k \in {fired[n] + 1} \intersect DOMAIN Program[n]}

\* The next entry of node n: row, slot and iteration.
Upcoming(n) == Program[n][fired[n] + 1]

\* The entry of Path from node n to a destination of that row.
WayTo(n, peer) == <<n, peer, Upcoming(n).route>>

\* The tick at which node n's slot counter reaches s.
OpensAt(n, s) == start[n] + s * (SlotTicks + drift[n])

\* The time of node n's next row has come: its slot has opened, or the timestep counter has its step.
IsDue(n) == \E entry \in Coming(n) :
  IF Run = "slotted" THEN now >= OpensAt(n, entry.slot) ELSE now >= start[n] /\ counter[n].step = entry.slot

-------------------------------------------------------------------------------
(* What a row finds when its slot opens.                                     *)

\* The arrival has counted often enough for the iteration: a counter, for several iterations are in flight.
HasCounted(n, arrival, iteration) ==
  LET of == CounterOf(arrival, iteration) IN of \in DOMAIN count[n] /\ count[n][of] >= Least(n, arrival, iteration)

\* Node n has all that its next row waits for.
DependenciesHold(n) == \A arrival \in Upcoming(n).awaits : HasCounted(n, arrival, Upcoming(n).item[2])

-------------------------------------------------------------------------------
(* The timestep counter.                                                     *)

\* The timestep counter of node n that reaches `step` at tick t, with `entries` entries executed. A step without rows is a NOP, which
\* loads the down-counter. Slotted NIs do without.
LoadedFor(n, step, entries, t) ==
  LET isNop == \E k \in DOMAIN Program[n] : k = entries + 1 /\ Program[n][k].slot > step
  IN  [step |-> step, until |-> IF Run = "paced" /\ isNop THEN t + StepTicks ELSE t]

\* The ticks at which messages have left the ports of node n, those that pass through it included: ports are lanes out of it.
LeavingPorts(n) == UNION {{Leaves(m, k) : k \in {j \in 1..Hop(m) : m.links[j][1] = n}} : m \in flying}

\* Paced: no flit waits outside the injection buffers of node n, and its reduction unit has nothing to do.
IsIdle(n) ==
  /\ \A t \in LeavingPorts(n) : t - BufferTicks <= now
  /\ \A m \in flying : m.op = "REDUCE" /\ m.dst = n => now < ArrivesAt(m)

\* Paced: node n's timestep counter can advance: the rows of its step are issued, the down-counter is at zero, the units are idle.
CanAdvance(n) ==
  /\ IsPaced::      Run = "paced"
  /\ StepIsIssued:: \E entry \in Coming(n) : counter[n].step < entry.slot
  /\ CountedDown::  now >= counter[n].until
  /\ UnitsAreIdle:: IsIdle(n)

\* The ticks at which the sequencer of node n changes by itself.
SequencerEvents(n) ==
  IF Run = "slotted" THEN {OpensAt(n, entry.slot) : entry \in Coming(n)}
  ELSE IF Coming(n) = {} THEN {}
  ELSE {start[n], counter[n].until} \union {t - BufferTicks : t \in LeavingPorts(n)}

===============================================================================
