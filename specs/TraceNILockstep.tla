---------------------------- MODULE TraceNILockstep ----------------------------
(***************************************************************************)
(* A trace of the simulator as a behaviour of NILockstep. The log says of  *)
(* every message when it was fired, when it entered its port, when it had  *)
(* arrived, and when it was usable. The specification must be able to do   *)
(* each of these in that tick, and must have done all of them in the end.  *)
(*                                                                         *)
(* Rows and ports follow from tables and clocks alone: the specification   *)
(* fires them by itself, and the log is compared. Only the reduction unit  *)
(* is free within its window; there the log chooses, and is compared with  *)
(* the order and the speed of the unit.                                    *)
(*                                                                         *)
(* Clocks are those of the run: each starts with its skew, the first one   *)
(* at once, and drifts by a rational; what it counts is rounded up to      *)
(* whole ticks as a whole. With `OpensAt` and `LoadedFor` in their own     *)
(* words below, the drift of NILockstep, whole ticks for each slot, is 0.  *)
(***************************************************************************)
EXTENDS CheckNILockstep

CONSTANTS
  Log,         \* for every message <<node, row, iteration, destination>>: fired, entered, arrived, usable
  ReadyTicks,  \* from the arrival of a sum until the reduction unit can take it
  UnitTicks,   \* how long a sum occupies the unit
  Skew,        \* for every node: the tick at which its counters start
  Drift        \* for every node <<p, q>>: c ticks by its counters last c + c * p / q, rounded up

ASSUME ClocksAreSane ==
  /\ Skew \in [Nodes -> 0..MaxSkewTicks] /\ (\E n \in Nodes : Skew[n] = 0) /\ MaxDriftTicks = 0
  /\ \A n \in Nodes : Drift[n][1] \in Int /\ Drift[n][2] \in Nat \ {0} /\ Drift[n][1] + Drift[n][2] > 0

\* How long c ticks by the counters of node n last: whole multiples of q exactly, and the rest rounded up.
Lasting(n, c) ==
  LET p == Drift[n][1]
      q == Drift[n][2]
  IN  c + (c \div q) * p - ((-(c % q) * p) \div q)

\* In place of OpensAt and LoadedFor: slots and the down-counter by these clocks.
GivenOpensAt(n, s) == start[n] + Lasting(n, s * SlotTicks)
GivenLoadedFor(n, step, entries, t) ==
  LET isNop == entries < Len(Program[n]) /\ Program[n][entries + 1].slot > step
  IN  [step |-> step, until |-> IF Run = "paced" /\ isNop THEN t + Lasting(n, StepTicks) ELSE t]

\* The message's place in the log.
KeyOf(m) == <<m.src, m.row, m.item[2], m.dst>>

\* The log has the message.
IsLogged(m) == KeyOf(m) \in DOMAIN Log

\* In place of Count: when the log says.
LoggedCount(m) == IsLogged(m) /\ now = Log[KeyOf(m)].usable /\ Count(m)

\* The sums in flight whose last link is known, and the ticks at which they arrive.
Sums == {m \in flying : m.op = "REDUCE" /\ Ahead(m) = {}}
Arriving == {ArrivesAt(m) : m \in Sums}

\* In place of Events: the times of the log, and the arrivals of sums, as well.
LoggedEvents == Events \union Arriving \union {Log[KeyOf(m)].usable : m \in {k \in flying : IsLogged(k)}}

\* Nothing has to happen at node n any more: a message counts when the log says, which is no later than it must.
MustFollow(n) == CanFire(n) \/ CanAdvance(n) \/ \E m \in flying : m.dst = n /\ IsLogged(m) /\ now = Log[KeyOf(m)].usable

\* Nodes act in order of their ids, when all under way has taken its turn, see CheckNILockstep.
Follows(n) == (\A m \in flying : ~HasCome(m)) /\ \A k \in Nodes : k < n => ~MustFollow(k)

\* Time goes on to the next event of specification or log.
LoggedTick ==
  /\ \A n \in Nodes : ~MustFollow(n)
  /\ \A m \in flying : ~HasCome(m)
  /\ \A m \in flying : now < Latest(m)
  /\ \E t \in LoggedEvents :
       /\ t > now
       /\ \A other \in LoggedEvents : other > now => t <= other
       /\ now' = t
  /\ UNCHANGED <<start, drift, counter, fired, flying, held, count>>

\* The end of the trace.
TraceRest == AllDone /\ UNCHANGED vars

\* A step of the specification that the log allows.
TraceNext ==
  \/ \E m \in flying : Cross(m)
  \/ \E n \in Nodes : Follows(n) /\ Act(n)
  \/ \E m \in flying : Follows(m.dst) /\ LoggedCount(m)
  \/ LoggedTick
  \/ TraceRest

\* The start, with the skews of the run.
TraceInit == start = Skew /\ Init

\* The behaviours that agree with the log.
TraceSpec == TraceInit /\ [][TraceNext]_vars

\* They are behaviours of the specification: each step is one of its, with time that may stop more often.
IsBehaviour == [][\/ \E m \in flying : Cross(m) \/ Count(m)
                  \/ \E n \in Nodes : Act(n)
                  \/ /\ now' > now
                     /\ \A m \in flying : ~HasCome(m)
                     /\ \A n \in Nodes : ~CanFire(n) /\ ~CanAdvance(n)]_vars

\* What is fired is in the log.
EveryMessageLogged == \A m \in flying : IsLogged(m)

\* It was fired in that tick.
FiredAsLogged == \A m \in flying : IsLogged(m) => m.sent = Log[KeyOf(m)].fired

\* It entered its port in that tick.
EnteredAsLogged == \A m \in flying : IsLogged(m) => m.enters[1] = Log[KeyOf(m)].entered

\* It had arrived in that tick; with links before it that is not known yet.
ArrivedAsLogged == \A m \in flying : IsLogged(m) /\ Ahead(m) = {} => ArrivesAt(m) = Log[KeyOf(m)].arrived

\* It was usable no sooner and no later than the reduction unit allows, or, without reduction, at once.
UsableAsLogged == \A m \in flying : IsLogged(m) /\ Ahead(m) = {} => Log[KeyOf(m)].usable \in Earliest(m)..Latest(m)

\* The unit takes one sum before another: that which arrived first; of those of one tick the node's own, then by the last link's source,
\* then by lane.
TakesFirst(other, m) ==
  LET key(sum) == <<ArrivesAt(sum), IF sum.src = sum.dst THEN 0 ELSE 1, sum.links[Hop(sum)][1], sum.lanes[Hop(sum)]>>
  IN  \E k \in 1..4 : key(other)[k] < key(m)[k] /\ \A j \in 1..k - 1 : key(other)[j] = key(m)[j]

\* A sum is usable when the unit has taken those before it and then this one, in its time for each; told when it arrives.
ReducedAsLogged ==
  \A m \in Sums : now = ArrivesAt(m) /\ IsLogged(m) =>
    LET ahead == {other \in Sums : other.dst = m.dst /\ IsLogged(other) /\ TakesFirst(other, m)}
        free == {now + ReadyTicks} \union {Log[KeyOf(other)].usable : other \in ahead}
    IN  \E begin \in free : (\A t \in free : t <= begin) /\ Log[KeyOf(m)].usable = begin + UnitTicks

\* In the end everything in the log has happened.
NothingElseLogged == AllDone => Cardinality(DOMAIN Log) = Cardinality(Commanded)
===============================================================================
