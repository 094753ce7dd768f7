---------------------------- MODULE InNetworkReduce ----------------------------
(***************************************************************************)
(* Switches that add: hosts at the leaves of a tree of aggregators send    *)
(* numbered packets up; each switch adds what its children send, passes    *)
(* the sum on, and multicasts the result that comes back (NetReduce,       *)
(* Appendix C: bitmaps of arrivals, one for each packet number in work).   *)
(*                                                                         *)
(* The network may lose, delay, reorder and duplicate packets. Hosts send  *)
(* again, at any time: nothing is assumed of time-outs. A result is the    *)
(* acknowledgement. A host sends only the Window packets that begin with   *)
(* its oldest missing result. A switch has Slots places, packet q is       *)
(* worked on in place q % Slots.                                           *)
(*                                                                         *)
(* Why 2 * Window places are enough, and one less is not: packet           *)
(* q + 2 * Window is sent by a host that has result q + Window; to that,   *)
(* every host has contributed, none of which lacked result q.              *)
(***************************************************************************)
EXTENDS Integers, Sequences

CONSTANTS
  Hosts,     \* the endpoints, leaves of the tree
  Switches,  \* the aggregators
  Root,      \* the switch where the sum is complete
  Parent,    \* for hosts and all other switches: the switch above
  Packets,   \* how many packets each host contributes, numbered from 0
  Window,    \* how many packets, from its oldest missing result on, a host may send
  Slots      \* places of a switch

\* The numbers of packets.
Numbers == 0..Packets - 1

\* Everything that has a place in the tree.
Nodes == Hosts \union Switches

\* What a switch waits for.
Children(s) == {n \in Nodes \ {Root} : Parent[n] = s}

ASSUME ConstantsAreSane ==
  /\ Root \in Switches /\ Hosts \intersect Switches = {}
  /\ Parent \in [Nodes \ {Root} -> Switches]
  /\ \A s \in Switches : Children(s) # {}
  /\ Window \in 1..Packets /\ Slots \in Nat \ {0}

VARIABLES
  got,    \* got[h][q]: <<>> until host h has the result of packet q, then <<sum>>
  slot,   \* slot[s][i]: what switch s works on in place i
  flying  \* the packets in the network

\* All of them.
vars == <<got, slot, flying>>

-------------------------------------------------------------------------------
(* Sums and packets                                                          *)

\* A sum says for each host which packets of it have been added.
Nothing == [h \in Hosts |-> <<>>]
One(h, q) == [Nothing EXCEPT ![h] = <<q>>]
Plus(a, b) == [h \in Hosts |-> a[h] \o b[h]]

\* The right result of packet q.
OnceEach(q) == [h \in Hosts |-> <<q>>]

\* A contribution in flight from node n to the switch above, a result in flight to node n from there.
Up(n, q, sum) == [way |-> "up", node |-> n, number |-> q, sum |-> sum]
Down(n, q, sum) == [way |-> "down", node |-> n, number |-> q, sum |-> sum]

\* A place that begins with packet q: which children have arrived, their sum, and the result once it is known.
Fresh(q) == [number |-> q, arrived |-> {}, sum |-> Nothing, result |-> <<>>]

-------------------------------------------------------------------------------
(* Hosts                                                                     *)

\* Host h may send packet q, for the first time or again: of all packets that are a window or more before it, it has the results.
MaySend(h, q) == got[h][q] = <<>> /\ \A p \in Numbers : p + Window <= q => got[h][p] # <<>>

\* It does.
Send(h, q) ==
  /\ MaySend(h, q)
  /\ flying' = flying \union {Up(h, q, One(h, q))}
  /\ UNCHANGED <<got, slot>>

-------------------------------------------------------------------------------
(* Switches                                                                  *)

\* The place for packet q.
PlaceOf(q) == q % Slots

\* Packet q belongs to what place x works on; it comes after it.
Same(q, x) == q = x.number
Newer(q, x) == q > x.number

\* The child's contribution is not yet in the sum.
IsNew(x, n) == n \notin x.arrived

\* All children have arrived.
Complete(s, x) == x.arrived = Children(s)

\* Place x of switch s once the contribution of packet p is in. Where the sum is complete it is the result.
Added(s, x, p) ==
  LET y == [x EXCEPT !.arrived = @ \union {p.node}, !.sum = Plus(@, p.sum)]
  IN  IF s = Root /\ Complete(s, y) THEN [y EXCEPT !.result = <<y.sum>>] ELSE y

\* Place x of switch s after packet p: what is older than its work does not count, what is newer takes the place.
After(s, x, p) ==
  LET y == IF Newer(p.number, x) THEN Fresh(p.number) ELSE x
  IN  IF (Newer(p.number, x) \/ Same(p.number, x)) /\ IsNew(y, p.node) THEN Added(s, y, p) ELSE y

\* The result for all children.
Multicast(s, q, sum) == {Down(n, q, sum) : n \in Children(s)}

\* What switch s sends when packet p has turned place x into y: the result to all when it has just become known, to the child that asks
\* again if it had been; the sum of a subtree up, and again whenever a child asks again.
Answer(s, x, y, p) ==
  IF ~Same(p.number, y) \/ ~Complete(s, y) THEN {}
  ELSE IF y.result = <<>> THEN {Up(s, y.number, y.sum)}
  ELSE IF Same(y.number, x) /\ x.result # <<>> THEN {Down(p.node, y.number, y.result[1])}
  ELSE Multicast(s, y.number, y.result[1])

\* Switch s takes a contribution.
Add(s, p) ==
  LET i == PlaceOf(p.number)
      y == After(s, slot[s][i], p)
  IN  /\ slot' = [slot EXCEPT ![s][i] = y]
      /\ flying' = flying \union Answer(s, slot[s][i], y, p)
      /\ UNCHANGED got

\* Switch s takes a result from above, keeps it for those who ask again, and passes it on.
Pass(s, p) ==
  LET i == PlaceOf(p.number)
      x == slot[s][i]
  IN  /\ IF Same(p.number, x) /\ Complete(s, x)
         THEN slot' = [slot EXCEPT ![s][i].result = <<p.sum>>] /\ flying' = flying \union Multicast(s, p.number, p.sum)
         ELSE UNCHANGED <<slot, flying>>
      /\ UNCHANGED got

\* Host h takes a result, once.
Take(h, p) ==
  /\ got' = IF got[h][p.number] = <<>> THEN [got EXCEPT ![h][p.number] = <<p.sum>>] ELSE got
  /\ UNCHANGED <<slot, flying>>

-------------------------------------------------------------------------------
(* The network                                                               *)

\* Packet p arrives. A copy of it may always remain in flight: it disappears when it is lost.
Deliver(p) == IF p.way = "up" THEN Add(Parent[p.node], p) ELSE IF p.node \in Hosts THEN Take(p.node, p) ELSE Pass(p.node, p)

\* Packet p, or the last copy of it, is lost.
Lose(p) == flying' = flying \ {p} /\ UNCHANGED <<got, slot>>

\* Some packet of number q arrives at this end of the link above node n.
Arrive(way, n, q) == \E p \in flying : p.way = way /\ p.node = n /\ p.number = q /\ Deliver(p)

\* Nothing has been sent; the places wait for the first packets.
Init ==
  /\ got = [h \in Hosts |-> [q \in Numbers |-> <<>>]]
  /\ slot = [s \in Switches |-> [i \in 0..Slots - 1 |-> Fresh(i)]]
  /\ flying = {}

\* Every host has every result.
AllFinished == \A h \in Hosts, q \in Numbers : got[h][q] # <<>>

\* The end is no deadlock.
Rest == AllFinished /\ UNCHANGED vars

\* A host sends, a packet arrives, or one is lost.
Next ==
  \/ \E h \in Hosts, q \in Numbers : Send(h, q)
  \/ \E p \in flying : Deliver(p) \/ Lose(p)
  \/ Rest

\* Hosts that lack a result ask again, and what is sent again and again arrives.
Fairness ==
  /\ \A h \in Hosts, q \in Numbers : WF_vars(Send(h, q))
  /\ \A n \in Nodes \ {Root}, q \in Numbers, way \in {"up", "down"} : SF_vars(Arrive(way, n, q))

\* The behaviours.
Spec == Init /\ [][Next]_vars /\ Fairness

-------------------------------------------------------------------------------
(* Properties                                                                *)

\* The values the variables range over. Only hosts take results, and a place is for every Slots-th packet.
TypeOK ==
  /\ DOMAIN got = Hosts /\ DOMAIN slot = Switches
  /\ \A h \in Hosts : DOMAIN got[h] = 0..Packets - 1 /\ \A q \in 0..Packets - 1 : got[h][q] = <<>> \/ got[h][q][1] \in [Hosts -> Seq(Nat)]
  /\ \A s \in Switches : 0..Slots - 1 \subseteq DOMAIN slot[s] /\ \A i \in 0..Slots - 1 :
       LET x == slot[s][i]
       IN  x.number % Slots = i /\ x.sum \in [Hosts -> Seq(Nat)] /\ \A n \in x.arrived : n # Root /\ Parent[n] = s

\* Nothing is under way at first, and each switch has its places, with nothing in them.
BeginsAtRest ==
  /\ flying = {} /\ \A h \in Hosts : \A q \in DOMAIN got[h] : got[h][q] = <<>>
  /\ \A s \in Switches : DOMAIN slot[s] = 0..Slots - 1 /\ \A i \in DOMAIN slot[s] :
       slot[s][i].arrived = {} /\ slot[s][i].result = <<>> /\ \A h \in Hosts : slot[s][i].sum[h] = <<>>

\* A switch that has sent a result has it for those who ask again, until the place is another packet's.
SentIsKept == \A p \in flying : p.way = "down" =>
  \A i \in 0..Slots - 1 : slot[Parent[p.node]][i].number = p.number => slot[Parent[p.node]][i].result # <<>>

\* A host asks for what it lacks.
AsksForMissing == [][\A p \in flying' \ flying : p.way = "up" /\ p.node \in Hosts => got[p.node][p.number] = <<>>]_vars

\* No contribution is added twice, or to the sum of another packet.
EachOnce == \A s \in Switches, i \in 0..Slots - 1 : \A h \in Hosts : slot[s][i].sum[h] \in {<<>>, <<slot[s][i].number>>}

\* What a host takes for a result is the sum of all contributions.
RightSum == \A h \in Hosts, q \in Numbers : got[h][q] \in {<<>>, <<OnceEach(q)>>}

\* A place is given to another packet only when every host has the result of the one before. Numbers beyond the last are no packets.
SafeReuse == [][\A s \in Switches, i \in 0..Slots - 1 :
  LET q == slot[s][i].number IN slot'[s][i].number # q /\ q < Packets => \A h \in Hosts : got[h][q] # <<>>]_vars

\* A switch sends on at once: a sum up when all its children are in it, a result to each child when it becomes known.
EveryoneIsTold == [][\A s \in Switches, i \in 0..Slots - 1 :
  LET x == slot[s][i]
      y == slot'[s][i]
      sends(way, n) == \E p \in flying' : p.way = way /\ p.node = n /\ p.number = y.number
  IN  /\ y.result # <<>> /\ (x.result = <<>> \/ x.number # y.number) => \A n \in Nodes \ {Root} : Parent[n] = s => sends("down", n)
      /\ s # Root /\ y.arrived # x.arrived /\ (\A n \in Nodes \ {Root} : Parent[n] = s => n \in y.arrived) => sends("up", s)]_vars

\* Every host gets every result.
EveryResultArrives == <>(\A h \in Hosts, q \in 0..Packets - 1 : got[h][q] # <<>>)

\* The network may lose any packet at any time.
AnyPacketCanBeLost == \A p \in flying : ENABLED (Next /\ flying' = flying \ {p} /\ UNCHANGED <<got, slot>>)

\* The sum of packet q as a bag of hosts; a contribution to another packet counts as twice its own.
Bag(q, sum) == [h \in Hosts |-> IF sum[h] = <<q>> THEN 1 ELSE 2 * Len(sum[h])]

\* What the promise of an all-reduce sees, one item for each number.
Due == Hosts \X Numbers
Shown == [due \in Due |-> IF got[due[1]][due[2]] = <<>> THEN <<>> ELSE <<Bag(due[2], got[due[1]][due[2]][1])>>]
AllHosts == [q \in Numbers |-> Hosts]
Collective == INSTANCE AllReduce WITH
  Ranks <- Hosts, Items <- Numbers, Contributors <- AllHosts, Promised <- AllHosts, result <- Shown

\* This module refines AllReduce: it begins and steps as the collective does (`Shown'[due] # Shown[due]` follows from Finish(due) and is
\* tested first for speed), and as a whole, with fairness.
BeginsWithThePromise == Collective!Init
NeverBreaksThePromise == [][\E due \in Due : Shown'[due] # Shown[due] /\ Collective!Finish(due)]_got
KeepsThePromise == Collective!Spec

\* As TLC checks for the networks of the models, with places for twice the window.
THEOREM Spec => KeepsThePromise
================================================================================
