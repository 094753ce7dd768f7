--------------------------- MODULE MCInNetworkReduce ---------------------------
(***************************************************************************)
(* One switch with two hosts, and a tree of two switches; one thing wrong  *)
(* with the switches or the hosts at a time.                               *)
(***************************************************************************)
EXTENDS InNetworkReduce, FiniteSets

\* All hosts below the one switch.
MCStar == [h \in Hosts |-> Root]

\* Switch "t" with hosts "a" and "b" below the root, host "c" at the root itself.
MCTree == [n \in Nodes \ {Root} |-> IF n \in {"a", "b"} THEN "t" ELSE Root]

\* Limits on the packets under way.
ThreeUnderWay == Cardinality(flying) <= 3
FourUnderWay == Cardinality(flying) <= 4

-------------------------------------------------------------------------------
(* Wrong switches                                                            *)

\* In place of PlaceOf: the same place for all packets.
OnePlace(q) == 0

\* In place of IsNew: the bitmap is not looked at, what a host sends twice is added twice.
AddsAgain(x, n) == n \notin x.arrived \/ (n \in Hosts /\ Len(x.sum[n]) < 2)

\* In place of Complete: a counter of arrivals instead of the bitmap; with AddsAgain, what comes twice counts twice.
CountsArrivals(s, x) ==
  LET added[hosts \in SUBSET Hosts] == IF hosts = {} THEN 0 ELSE LET h == CHOOSE h \in hosts : TRUE IN Len(x.sum[h]) + added[hosts \ {h}]
  IN  added[Hosts] >= Cardinality(Children(s))

\* In place of Same and Newer: no number is kept, a place is anybody's and begins again when its sum is complete.
SamePlace(q, x) == TRUE
Finished(q, x) == x.result # <<>>

\* In place of Same and Newer: of the number only one bit above the place is kept, so that a late packet looks like a new one (ABA).
Version(q) == (q \div Slots) % 2
SameVersion(q, x) == Version(q) = Version(x.number)
OtherVersion(q, x) == Version(q) # Version(x.number)

\* In place of Answer: who asks again when the result is known gets no answer.
NoAnswer(s, x, y, p) ==
  IF ~Same(p.number, y) \/ ~Complete(s, y) \/ (Same(y.number, x) /\ x.result # <<>>) THEN {}
  ELSE IF y.result = <<>> THEN {Up(s, y.number, y.sum)} ELSE Multicast(s, y.number, y.result[1])

\* In place of Answer: a switch below the root passes its sum on once, however often its children ask.
PassesOnce(s, x, y, p) ==
  IF ~Same(p.number, y) \/ ~Complete(s, y) THEN {}
  ELSE IF y.result = <<>> THEN (IF IsNew(x, p.node) THEN {Up(s, y.number, y.sum)} ELSE {})
  ELSE IF Same(y.number, x) /\ x.result # <<>> THEN {Down(p.node, y.number, y.result[1])} ELSE Multicast(s, y.number, y.result[1])

\* In place of Pass: a switch takes a result from above for whatever its place works on.
PassesAny(s, p) ==
  /\ slot' = [slot EXCEPT ![s][PlaceOf(p.number)].result = <<p.sum>>]
  /\ flying' = flying \union Multicast(s, p.number, p.sum)
  /\ UNCHANGED got

\* In place of Pass: a switch keeps a result, and who needs it must ask.
KeepsToItself(s, p) ==
  LET i == PlaceOf(p.number)
      x == slot[s][i]
  IN  IF Same(p.number, x) /\ Complete(s, x) THEN slot' = [slot EXCEPT ![s][i].result = <<p.sum>>] /\ UNCHANGED <<got, flying>>
      ELSE UNCHANGED vars

\* In place of Added: a place that has its sum sends it and begins again at once.
Forgets(s, x, p) ==
  LET y == [x EXCEPT !.arrived = @ \union {p.node}, !.sum = Plus(@, p.sum)]
  IN  IF Complete(s, y) THEN Fresh(x.number) ELSE y

-------------------------------------------------------------------------------
(* Wrong hosts, a wrong network                                              *)

\* In place of MaySend: the window is not looked at.
NoWindow(h, q) == got[h][q] = <<>>

\* In place of Take: a result that comes again is taken back.
TakesBack(h, p) ==
  /\ got' = [got EXCEPT ![h][p.number] = IF @ = <<>> THEN <<p.sum>> ELSE <<>>]
  /\ UNCHANGED <<slot, flying>>

\* In place of Lose: the network loses nothing.
LosesNothing(p) == FALSE

\* In place of Init: a host begins with a result, its own contribution.
EarlyInit ==
  /\ got = [h \in Hosts |-> [q \in Numbers |-> IF q = 0 /\ h = "a" THEN <<One(h, q)>> ELSE <<>>]]
  /\ slot = [s \in Switches |-> [i \in 0..Slots - 1 |-> Fresh(i)]]
  /\ flying = {}

\* In place of MaySend: a host asks for what it has.
AsksOnAndOn(h, q) == \A p \in Numbers : p + Window <= q => got[h][p] # <<>>

\* In place of Pass: a switch passes a result on and does not keep it.
KeepsNothing(s, p) ==
  /\ flying' = IF Same(p.number, slot[s][PlaceOf(p.number)]) THEN flying \union Multicast(s, p.number, p.sum) ELSE flying
  /\ UNCHANGED <<got, slot>>

\* In place of Init: contributions are under way.
UnderWayInit ==
  /\ got = [h \in Hosts |-> [q \in Numbers |-> <<>>]]
  /\ slot = [s \in Switches |-> [i \in 0..Slots - 1 |-> Fresh(i)]]
  /\ flying = {Up(h, 0, One(h, 0)) : h \in Hosts}

\* In place of Spec: nothing has to happen, even when it can.
UnfairSpec == Init /\ [][Next]_vars
================================================================================
