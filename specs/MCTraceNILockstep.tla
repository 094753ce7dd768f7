--------------------------- MODULE MCTraceNILockstep ---------------------------
(***************************************************************************)
(* Logs of two nodes, and one thing wrong with them at a time: what each   *)
(* property of TraceNILockstep is for. `certree model-check trace` makes   *)
(* the log from a trace of the simulator instead.                          *)
(***************************************************************************)
EXTENDS MCNILockstep, TraceNILockstep

\* A line of the log.
Times(left, entered, arrived, usable) == [fired |-> left, entered |-> entered, arrived |-> arrived, usable |-> usable]

\* PairAllReduce, slotted: slots of 4 ticks, a message is there after 2, a sum usable 1 tick later. Keys: node, row, iteration,
\* destination.
SlottedLog ==
  (<<0, 1, 0, 1>> :> Times(0, 0, 2, 3)) @@ (<<1, 1, 0, 0>> :> Times(0, 0, 2, 3)) @@
  (<<0, 2, 0, 1>> :> Times(4, 4, 6, 6)) @@ (<<1, 2, 0, 0>> :> Times(4, 4, 6, 6))

\* PairInTurn, paced by the estimate: the second message waits a tick for its port.
BusyLog == (<<0, 1, 0, 1>> :> Times(0, 0, 6, 6)) @@ (<<0, 2, 0, 1>> :> Times(2, 4, 10, 10))

\* Three nodes in a line: both sums come to the middle in one tick, and both nodes get the result.
LineMeet == {Reduce(0, 0, 1, 0), Reduce(0, 2, 1, 0), Gather(0, 1, 0, 1), Gather(0, 1, 2, 1)}

\* LineMeet, slotted: slots of 5 ticks; the unit can take a sum a tick after it has arrived, and takes one tick for each.
UnitLog ==
  (<<0, 1, 0, 1>> :> Times(0, 0, 2, 4)) @@ (<<2, 1, 0, 1>> :> Times(0, 0, 2, 5)) @@
  (<<1, 1, 0, 0>> :> Times(5, 5, 7, 7)) @@ (<<1, 1, 0, 2>> :> Times(5, 5, 7, 7))

\* PairDelay2, slotted: slots of 5 ticks. The clock of node 0 is fast by 1/3: slot 2 opens after 6 2/3 ticks. That of node 1 starts a
\* tick later and is slow by 1/7: 11 3/7 ticks.
DriftLog ==
  (<<0, 1, 0, 1>> :> Times(0, 0, 2, 3)) @@ (<<1, 1, 0, 0>> :> Times(1, 1, 3, 4)) @@
  (<<0, 2, 0, 1>> :> Times(7, 7, 9, 9)) @@ (<<1, 2, 0, 0>> :> Times(13, 13, 15, 15))

\* PairInTurn, paced: a NOP of 3 ticks lasts 4 1/2 by the clock of node 0, which starts a tick late and is slow by one half.
SlowLog == (<<0, 1, 0, 1>> :> Times(1, 1, 7, 7)) @@ (<<0, 2, 0, 1>> :> Times(7, 7, 13, 13))

-------------------------------------------------------------------------------
(* Wrong logs                                                                *)

\* A row fires a tick late.
FiredLate == [SlottedLog EXCEPT ![<<0, 1, 0, 1>>].fired = 1]

\* A message enters its port while another one is in it.
EnteredEarly == [BusyLog EXCEPT ![<<0, 2, 0, 1>>].entered = 3]

\* A message arrives before it can.
ArrivedEarly == [SlottedLog EXCEPT ![<<1, 2, 0, 0>>].arrived = 5]

\* A sum is usable in no time.
UsableAtOnce == [SlottedLog EXCEPT ![<<1, 1, 0, 0>>].usable = 2]

\* A sum takes longer than the unit needs for all of them.
UsableLate == [SlottedLog EXCEPT ![<<1, 1, 0, 0>>].usable = 5]

\* The unit takes the sums the other way round, both at a time, or a tick more for the second.
SumsSwapped == [UnitLog EXCEPT ![<<0, 1, 0, 1>>].usable = 5, ![<<2, 1, 0, 1>>].usable = 4]
SumsAtOnce == [UnitLog EXCEPT ![<<2, 1, 0, 1>>].usable = 4]
SumsSlower == [UnitLog EXCEPT ![<<2, 1, 0, 1>>].usable = 6]

\* A message is missing.
LostLine == [key \in DOMAIN SlottedLog \ {<<0, 2, 0, 1>>} |-> SlottedLog[key]]

\* A message too many.
OneLineMore == SlottedLog @@ (<<1, 3, 0, 0>> :> Times(8, 8, 10, 10))

\* A slot of a clock that drifts opens when its time is rounded down.
OpenedEarly == [DriftLog EXCEPT ![<<0, 2, 0, 1>>] = Times(6, 6, 8, 8)]

-------------------------------------------------------------------------------
(* A wrong reading of the log                                                *)

\* In place of MustFollow: only what counts holds the time up, not what can fire.
FollowsMessages(n) == \E m \in flying : m.dst = n /\ IsLogged(m) /\ now = Log[KeyOf(m)].usable

\* In place of Lasting: rounded down. In place of GivenOpensAt: each slot rounded up by itself.
RoundedDown(n, c) == c + (c * Drift[n][1]) \div Drift[n][2]
OpensBySlots(n, s) == start[n] + s * Lasting(n, SlotTicks)

\* In place of TraceInit: all clocks start at once.
StartsAtOnce == start = [n \in Nodes |-> 0] /\ Init

\* In place of GivenLoadedFor: the down-counter runs by the common clock.
LoadedByCommonClock(n, step, entries, t) ==
  LET isNop == entries < Len(Program[n]) /\ Program[n][entries + 1].slot > step
  IN  [step |-> step, until |-> IF isNop THEN t + StepTicks ELSE t]

\* As constants, see MCNILockstep.
MCTogether == [n \in Nodes |-> 0]
MCTrue == [n \in Nodes |-> <<0, 1>>]
MCLaterOne == [n \in Nodes |-> n]
MCLaterZero == [n \in Nodes |-> 1 - n]
MCFastAndSlow == [n \in Nodes |-> IF n = 0 THEN <<-1, 3>> ELSE <<1, 7>>]
MCSlowOne == [n \in Nodes |-> IF n = 0 THEN <<1, 2>> ELSE <<0, 1>>]
MCSlottedLog == SlottedLog
MCDriftLog == DriftLog
MCSlowLog == SlowLog
MCOpenedEarly == OpenedEarly
MCBusyLog == BusyLog
MCUnitLog == UnitLog
MCSumsSwapped == SumsSwapped
MCSumsAtOnce == SumsAtOnce
MCSumsSlower == SumsSlower
MCFiredLate == FiredLate
MCEnteredEarly == EnteredEarly
MCArrivedEarly == ArrivedEarly
MCUsableAtOnce == UsableAtOnce
MCUsableLate == UsableLate
MCLostLine == LostLine
MCOneLineMore == OneLineMore
================================================================================
