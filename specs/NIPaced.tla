-------------------------------- MODULE NIPaced --------------------------------
(***************************************************************************)
(* Paced NIs at any timing: how long a message takes, when a reduction     *)
(* unit adds it and when a timestep counter advances is left open. A row   *)
(* fires when those before it have and all that it waits for has counted.  *)
(* The counter is not kept: whatever its down-counter is loaded with, it   *)
(* shows a step from that of the last row that fired on, and not beyond    *)
(* that of the next one. So what holds here holds for every run of         *)
(* NILockstep that is paced (`StepsUntimed` of MCNIPaced), and for every   *)
(* other length of links, load of the down-counter and clock.              *)
(*                                                                         *)
(* Of two messages of one row the one of the earlier iteration counts      *)
(* first: they take the same links, which keep the order. Where iterations *)
(* share a counter, an arrival counts when all of the earlier iteration    *)
(* have (rule A11 of the contract).                                        *)
(***************************************************************************)
EXTENDS NIProof

\* The message that node n sends to peer when it fires its next row.
UntimedTo(n, peer) ==
  [op |-> Upcoming(n).op, item |-> Upcoming(n).item, src |-> n, dst |-> peer, row |-> Upcoming(n).row,
   load |-> held[n][Place(Upcoming(n).item, Reads(n, Upcoming(n).row))]]

\* Node n can fire its next row.
CanFireUntimed(n) == HasNext(n) /\ DependenciesHold(n)

\* Node n fires its next row.
FireUntimed(n) ==
  /\ CanFireUntimed(n)
  /\ flying' = flying \union {UntimedTo(n, peer) : peer \in Upcoming(n).to}
  /\ fired' = [fired EXCEPT ![n] = @ + 1]
  /\ UNCHANGED <<now, start, drift, counter, held, count>>

\* Message m can count.
CanCountUntimed(m) ==
  /\ InOrder::  \A other \in flying : <<other.src, other.row, other.dst>> = <<m.src, m.row, m.dst>> => m.item[2] <= other.item[2]
  /\ InItsTurn:: IsCounted /\ CounterOfMessage(m) \in Counters(m.dst) =>
       count[m.dst][CounterOfMessage(m)] >= (m.item[2] \div InFlight) * Brought(m.dst, m.item[1], Writes(m.src, m.row))

\* Message m counts.
CountUntimed(m) ==
  /\ CanCountUntimed(m)
  /\ flying' = flying \ {m}
  /\ held' = [held EXCEPT ![m.dst][Place(m.item, Writes(m.src, m.row))] = IF m.op = "REDUCE" THEN Plus(@, m.load) ELSE m.load]
  /\ count' = IF CounterOfMessage(m) \in Counters(m.dst) THEN Counted(m, count) ELSE count
  /\ UNCHANGED <<now, start, drift, counter, fired>>

\* One row fires, one message counts, or the run is over. Models may take some of these steps only, see CheckNIPaced.
AnyStep ==
  \/ \E n \in Nodes : FireUntimed(n)
  \/ \E m \in flying : CountUntimed(m)
  \/ Rest
NextUntimed == AnyStep

\* Every step brings a run nearer to its end.
UntimedSpec == Init /\ [][NextUntimed]_vars /\ WF_vars(NextUntimed)

-------------------------------------------------------------------------------
(* Properties                                                                *)

\* Each row finds a link to each destination.
SendsOverLinks == \A n \in Nodes : HasNext(n) => \A peer \in Upcoming(n).to : WayTo(n, peer) \in DOMAIN Path

\* The least and the greatest step that the timestep counter of node n can show, which has entries left to execute.
LeastStep(n) == IF fired[n] = 0 THEN 0 ELSE Program[n][fired[n]].slot
GreatestStep(n) == Upcoming(n).slot

\* The counters of neighbours with entries left to execute are never further apart than the stated bound.
CountersApart ==
  \A way \in DOMAIN Path : HasNext(way[1]) /\ HasNext(way[2]) =>
    GreatestStep(way[1]) - LeastStep(way[2]) <= MaxStepsApart /\ GreatestStep(way[2]) - LeastStep(way[1]) <= MaxStepsApart

\* Where rows name what they wait for: what has been fired is in flight or has counted, and nothing else has.
CountedOrFlyingUntimed ==
  \A n \in Nodes : \A arrival \in Arrivals[n] : ~IsCounted =>
    count[n][arrival] + Cardinality({m \in flying : m.dst = n /\ <<m.op, m.item[1], m.src>> = arrival}) = FiredOf(n, arrival)

\* A part of the invariant that `certree model-check symbolic --run paced` proves for tables of any size.
PacedInvariant == CountedOrFlyingUntimed /\ NothingMissing

\* Of tables whose data are right at any timing.
THEOREM UntimedSpec => BeginsWithThePromise /\ NeverBreaksThePromise /\ EveryRunEnds
===============================================================================
