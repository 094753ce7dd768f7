------------------------------- MODULE MCNIRules -------------------------------
(***************************************************************************)
(* Small tables for the rules of NIRules, with nodes in any order, and one *)
(* fault at a time that no other property finds.                           *)
(***************************************************************************)
EXTENDS MCNILockstep, NIRules

\* In place of InTurn, where another model has an order: nodes act in any order within a tick.
AnyOrder(n) == TRUE

\* ring:4, two copies over two links each, by which they come in one tick: from 0 by 3 to 2, from 1 by 2 to 3.
CrossingCopies == {Gather(0, 0, 2, 0), Gather(1, 1, 3, 0)}
CrossingPaths == [way \in {<<0, 2, 0>>, <<1, 3, 0>>} |-> IF way[1] = 0 THEN << <<0, 3>>, <<3, 2>> >> ELSE << <<1, 2>>, <<2, 3>> >>]
CrossingEnds == [f \in 0..1 |-> {f, f + 2}]
MCCrossingPath == CrossingPaths
MCCrossingEnds == CrossingEnds

\* Three nodes: node 0 adds up chunk 0, what comes from node 1 by a scratch buffer, and chunk 1 of node 1, and sends both back.
NumbersRow(op, flow, wait, from, into, to, step) ==
  [op |-> op, flow |-> flow, wait |-> wait, from |-> from, into |-> into, children |-> to, step |-> step, route |-> Nil]
NumbersTable == [n \in 0..2 |->
  CASE n = 0 -> <<NumbersRow("REDUCE", 0, 1, 1, 0, {0}, 1), NumbersRow("GATHER", 0, 2, 0, 0, {1, 2}, 2), NumbersRow("GATHER", 1, 1, 0, 0, {1}, 3)>>
    [] n = 1 -> <<NumbersRow("GATHER", 0, 0, 0, 1, {0}, 0), NumbersRow("REDUCE", 1, 0, 0, 0, {0}, 1)>>
    [] n = 2 -> <<NumbersRow("REDUCE", 0, 0, 0, 0, {0}, 0)>>]
NumbersArrivals == [n \in 0..2 |->
  CASE n = 0 -> {<<0, 0, 2>>, <<0, 1, 1>>, <<1, 0, 1>>} [] n = 1 -> {<<0, 0, 1>>, <<1, 0, 1>>} [] n = 2 -> {<<0, 0, 1>>}]
NumbersEnds == [f \in 0..1 |-> IF f = 0 THEN {0, 1, 2} ELSE {0, 1}]
NumbersLinks == [link \in {<<0, 0>>, <<0, 1>>, <<0, 2>>, <<1, 0>>, <<2, 0>>} |-> 1]
MCNumbersTable == NumbersTable
MCNumbersArrivals == NumbersArrivals
MCNumbersEnds == NumbersEnds
MCNumbersLinks == NumbersLinks
MCNumbersPath == [way \in {<<link[1], link[2], Nil>> : link \in DOMAIN NumbersLinks} |-> << <<way[1], way[2]>> >>]

\* In place of Fire: the counter may advance in the tick in which the row fires.
FiresAndGoesOn(n) ==
  /\ CanFire(n)
  /\ flying' = flying \union {MessageTo(n, peer) : peer \in Upcoming(n).to}
  /\ fired' = [fired EXCEPT ![n] = @ + 1]
  /\ UNCHANGED <<now, start, drift, counter, held, count>>

\* In place of IsDue: paced rows fire before the clock has started.
IsDueBefore(n) == \E entry \in Coming(n) :
  IF Run = "slotted" THEN now >= OpensAt(n, entry.slot) ELSE counter[n].step = entry.slot

\* In place of LoadedFor: the down-counter is loaded in every step.
LoadedAlways(n, step, entries, t) == [step |-> step, until |-> IF Run = "paced" THEN t + StepTicks ELSE t]

\* In place of IsIdle: the reduction unit may be at work.
IsIdleAtPorts(n) == \A t \in LeavingPorts(n) : t - BufferTicks <= now

\* In place of CanAdvance: counters of slotted NIs advance, too.
AdvancesInSlots(n) ==
  /\ \E entry \in Coming(n) : counter[n].step < entry.slot
  /\ now >= counter[n].until /\ IsIdle(n)

\* In place of TimeCanPass: time passes although a counter can advance.
PassesCounters ==
  /\ \A m \in flying : ~HasCome(m) /\ now < Latest(m)
  /\ \A n \in Nodes : ~CanFire(n)

\* In place of Rest: a run may rest at any time, so that no deadlock is seen.
RestsAnywhere == UNCHANGED vars

\* In place of IsFirstInUnit: sums wait for those of other nodes.
IsFirstOfAll(m) == m.op = "REDUCE" => \A other \in flying : other.op = "REDUCE" => ArrivesAt(m) <= ArrivesAt(other)

\* In place of Act: rows fire before the messages that come to their ports in the same tick.
ActsFirst(n) == Fire(n) \/ Advance(n)
===============================================================================
