---------------------------- MODULE MCSubPacketFlow ----------------------------
(***************************************************************************)
(* Small networks of routers for SubPacketFlow, and one thing wrong with   *)
(* the routers at a time.                                                  *)
(***************************************************************************)
EXTENDS SubPacketFlow

\* A message of two sub-messages, and a packet.
Message == <<"head", "body", "subtail", "body", "tail">>
Packet == <<"head", "tail">>

\* A message that never ends, in sub-messages of two flits.
Stream == <<"head", "body", "subtail">>

\* A worm, its route, its flits, and the VCs that it may take on each hop.
Worm(name, route, flits, vcs) == [name |-> name, route |-> route, flits |-> flits, vcs |-> vcs]

-------------------------------------------------------------------------------
(* Traffic. Channel k of a ring leads from node k to node k + 1.             *)

\* One-hop messages of a collective, all in VC 0: two share channel 0.
OneHop == {Worm("a", <<0>>, Message, <<{0}>>), Worm("b", <<0>>, Message, <<{0}>>), Worm("c", <<1>>, Message, <<{0}>>)}

\* One of them, alone.
OneMessage == {Worm("a", <<0>>, Message, <<{0}>>)}

\* The same on two VCs: each takes the one that is free.
OneHopTwoVCs == {Worm("a", <<0>>, Message, <<{0, 1}>>), Worm("b", <<0>>, Message, <<{0, 1}>>)}

\* Packets over two hops of a ring of three, all in VC 1.
Around == {Worm("p", <<0, 1>>, Packet, <<{1}, {1}>>), Worm("q", <<1, 2>>, Packet, <<{1}, {1}>>), Worm("r", <<2, 0>>, Packet, <<{1}, {1}>>)}

\* The same with a dateline at channel 0: who crosses it takes VC 2 from there on.
AroundDateline == (Around \ {Worm("r", <<2, 0>>, Packet, <<{1}, {1}>>)}) \union {Worm("r", <<2, 0>>, Packet, <<{1}, {2}>>)}

\* Messages of two sub-messages in place of the packets, with the dateline and without.
Short == <<"head", "subtail", "tail">>
AroundMessages == {[worm EXCEPT !.flits = Short] : worm \in AroundDateline}
AroundMessagesOneVC == {[worm EXCEPT !.flits = Short] : worm \in Around}

\* A message whose second sub-message is longer than the buffer, and a packet on its last channel.
LongLater == {Worm("a", <<0, 1>>, <<"head", "subtail", "body", "body", "tail">>, <<{0}, {0}>>), Worm("p", <<1>>, Packet, <<{0}>>)}

\* Three packets that share two VCs.
ThreePackets == {Worm(name, <<0>>, Packet, <<{0, 1}>>) : name \in {"p", "q", "r"}}

\* An additional message in VC 0.
Beside == {Worm("a", <<0>>, <<"head", "subtail", "tail">>, <<{0}>>)}
RingDateline == AroundDateline \union Beside

\* mesh:2x2, nodes 0 1 above 2 3: packets between opposite corners, first along the row, then along the column; one VC.
MeshXY ==
  {Worm("p", <<"01", "13">>, Packet, <<{0}, {0}>>), Worm("q", <<"10", "02">>, Packet, <<{0}, {0}>>),
   Worm("r", <<"23", "31">>, Packet, <<{0}, {0}>>), Worm("s", <<"32", "20">>, Packet, <<{0}, {0}>>)}

\* Three of them.
MeshThree == {worm \in MeshXY : worm.name # "s"}

\* The same without an order of dimensions: clockwise, so that they can wait for each other in a circle.
MeshClockwise ==
  {Worm("p", <<"01", "13">>, Packet, <<{0}, {0}>>), Worm("q", <<"13", "32">>, Packet, <<{0}, {0}>>),
   Worm("r", <<"32", "20">>, Packet, <<{0}, {0}>>), Worm("s", <<"20", "01">>, Packet, <<{0}, {0}>>)}

\* An endless message and a packet over one channel, each in a VC of its own, and both in one.
Separate == {Worm("a", <<0>>, Stream, <<{0}>>), Worm("p", <<0>>, Packet, <<{1}>>)}
Together == {Worm("a", <<0>>, Stream, <<{0}>>), Worm("p", <<0>>, Packet, <<{0}>>)}

\* Two endless messages that share a VC, and a packet in the other.
TwoStreams == {Worm("a", <<0>>, Stream, <<{0}>>), Worm("b", <<0>>, Stream, <<{0}>>), Worm("p", <<0>>, Packet, <<{1}>>)}

\* Packets over three hops of a ring of four, with a dateline at channel 0.
AroundFourFarther ==
  {Worm("p", <<0, 1, 2>>, Packet, <<{1}, {1}, {1}>>), Worm("q", <<1, 2, 3>>, Packet, <<{1}, {1}, {1}>>),
   Worm("r", <<2, 3, 0>>, Packet, <<{1}, {1}, {2}>>), Worm("s", <<3, 0, 1>>, Packet, <<{1}, {2}, {2}>>)}

\* An additional message, as long as in OneHop, in VC 0 of the channel at the dateline.
RingOfFour == AroundFourFarther \union {Worm("a", <<0>>, Message, <<{0}>>)}

\* mesh:2x3, nodes 0 1 2 above 3 4 5: packets that share channels, along the row first, and a message in the middle; VC 0 is for
\* messages.
MeshTwoByThree ==
  {Worm("p", <<"01", "12", "25">>, Packet, <<{1}, {1}, {1}>>), Worm("q", <<"12", "25">>, Packet, <<{1}, {1}>>),
   Worm("r", <<"34", "41">>, Packet, <<{1}, {1}>>), Worm("a", <<"12">>, <<"head", "subtail", "tail">>, <<{0}>>)}

\* mesh:3x3, rows 012 345 678: eight packets between opposite nodes, rows first, and messages out of the middle.
MeshThreeByThree ==
  {Worm("p08", <<"01", "12", "25", "58">>, Packet, <<{1}, {1}, {1}, {1}>>), Worm("p80", <<"87", "76", "63", "30">>, Packet, <<{1}, {1}, {1}, {1}>>),
   Worm("p26", <<"21", "10", "03", "36">>, Packet, <<{1}, {1}, {1}, {1}>>), Worm("p62", <<"67", "78", "85", "52">>, Packet, <<{1}, {1}, {1}, {1}>>),
   Worm("p17", <<"14", "47">>, Packet, <<{1}, {1}>>), Worm("p71", <<"74", "41">>, Packet, <<{1}, {1}>>),
   Worm("p35", <<"34", "45">>, Packet, <<{1}, {1}>>), Worm("p53", <<"54", "43">>, Packet, <<{1}, {1}>>),
   Worm("a1", <<"41">>, Message, <<{0}>>), Worm("a3", <<"43">>, Message, <<{0}>>),
   Worm("a5", <<"45">>, Message, <<{0}>>), Worm("a7", <<"47">>, Message, <<{0}>>)}

CONSTANT
  Traffic  \* the worms

\* What the constants of SubPacketFlow stand for.
Of(name) == CHOOSE worm \in Traffic : worm.name = name
GivenWorms == {worm.name : worm \in Traffic}
GivenRoute == [name \in GivenWorms |-> Of(name).route]
GivenFlits == [name \in GivenWorms |-> Of(name).flits]
GivenMayTake == [name \in GivenWorms |-> Of(name).vcs]
GivenEndless == {name \in GivenWorms : Of(name).flits = Stream}
MCWorms == GivenWorms
MCRoute == GivenRoute
MCFlits == GivenFlits
MCMayTake == GivenMayTake
MCEndless == GivenEndless

-------------------------------------------------------------------------------
(* Wrong routers                                                             *)

\* In place of OwnerAfter: a sub-tail gives the VC back as a tail does.
SubtailReleases(w, k) == IF Flits[w][k] \in {"subtail", "tail"} THEN Nobody ELSE w

\* In place of OwnerAfter: the tail does not give the VC back.
TailKeeps(w, k) == w

\* In place of VcIsIts: a head takes a VC that is held.
TakesHeld(w, k, h, v) == IF k = 1 /\ ~Holds(w, h) THEN v \in MayTake[w][h] ELSE owner[Route[w][h]][v] = w

\* In place of VcIsIts: a head takes any VC that is free, those of others too.
TakesAnyFree(w, k, h, v) == owner[Route[w][h]][v] = IF k = 1 /\ ~Holds(w, h) THEN Nobody ELSE w

\* In place of RoomFor: a head looks for room for itself only.
RoomForHead(w, k) == 1

\* In place of RoomFor: every sub-message must find room for all of it.
RoomForEach(w, k) ==
  LET ends == {j \in DOMAIN Flits[w] : Flits[w][j] \in {"subtail", "tail"}}
  IN  IF Switching = "cut-through" /\ (k = 1 \/ k - 1 \in ends) THEN Cardinality({j \in k..Len(Flits[w]) : ends \intersect k..j - 1 = {}}) ELSE 1

\* In place of HeadWaits: heads take full VCs at their source only.
WaitsAtTheSource(w, h) == h = 1 /\ sent[w] = 0

\* In place of TakeFull: a head that has a VC takes another one.
TakesSecond(w, h, v) ==
  /\ Switching = "wormhole" /\ credits[Route[w][h]][v] = 0
  /\ HeadWaits(w, h)
  /\ owner[Route[w][h]][v] = Nobody /\ v \in MayTake[w][h]
  /\ owner' = [owner EXCEPT ![Route[w][h]][v] = w]
  /\ UNCHANGED <<sent, last, buffer, credits, returning, ejected, partial, handed, arrived>>

\* In place of VcIsIts: what follows a head goes into any VC that the head might have taken.
FollowsAnywhere(w, k, h, v) == v \in MayTake[w][h] /\ (k = 1 /\ ~Holds(w, h) => owner[Route[w][h]][v] = Nobody)

\* In place of HasRoom: no check of the credits.
NeverLooks(w, k, h, v) == TRUE

\* In place of HasRoom: one credit too many is taken for granted.
OneTooMany(w, k, h, v) == credits[Route[w][h]][v] + 1 >= RoomFor(w, k)

\* In place of Released: the credit is lost.
LosesCredit(c, u) == returning

\* In place of Released: two credits return for one flit.
DoublesCredit(c, u) == [returning EXCEPT ![c][u] = @ + 2]

\* In place of Return: a credit returns that no channel has given back.
ReturnsOneMore(c, v) ==
  /\ returning[c][v] >= 0
  /\ returning' = [returning EXCEPT ![c][v] = @ - 1]
  /\ credits' = [credits EXCEPT ![c][v] = @ + 1]
  /\ UNCHANGED <<sent, owner, last, buffer, ejected, partial, handed, arrived>>

\* In place of HandsOver: only the tail hands over.
OnlyTail(w, k) == Flits[w][k] = "tail"

\* In place of HandsOver: a body flit hands over too.
EveryFlit(w, k) == k > 1

\* In place of Eject: what has come is gone when it should be handed over.
HandOverVanishes(c, u) ==
  /\ buffer[c][u] # <<>>
  /\ LET w == Head(buffer[c][u])[1]
         k == Head(buffer[c][u])[2]
     IN  /\ HopAt(w, c) = Len(Route[w])
         /\ ejected' = [ejected EXCEPT ![w] = k]
         /\ partial' = [partial EXCEPT ![w] = IF HandsOver(w, k) THEN <<>> ELSE @ \o Data(w, k)]
         /\ arrived' = IF Flits[w][k] = "tail" THEN arrived \union {w} ELSE arrived
  /\ buffer' = [buffer EXCEPT ![c][u] = Tail(@)]
  /\ returning' = Released(c, u)
  /\ UNCHANGED <<sent, owner, last, credits, handed>>

\* In place of Eject: a router on the way takes a worm out, from its head to its tail, that has not gone on.
TakesOnTheWay(c, u) ==
  /\ \E flit \in Front(c, u) :
     LET w == flit[1]
         k == flit[2]
         whole == partial[w] \o Data(w, k)
     IN  /\ HopAt(w, c) < Len(Route[w]) => ~Holds(w, HopAt(w, c) + 1)
         /\ ejected' = [ejected EXCEPT ![w] = k]
         /\ partial' = [partial EXCEPT ![w] = IF HandsOver(w, k) THEN <<>> ELSE whole]
         /\ handed' = IF HandsOver(w, k) THEN [handed EXCEPT ![w] = whole] ELSE handed
         /\ arrived' = IF Flits[w][k] = "tail" THEN arrived \union {w} ELSE arrived
  /\ buffer' = [buffer EXCEPT ![c][u] = Tail(@)]
  /\ returning' = Released(c, u)
  /\ UNCHANGED <<sent, owner, last, credits>>

\* In place of Data: the flit that ends a sub-message is not part of it.
WithoutEnd(w, k) == IF k = 1 \/ Flits[w][k] \in {"subtail", "tail"} THEN <<>> ELSE <<k>>

\* In place of NextOf: the last flit of the first sub-message is skipped.
SkipsFlit(w, k) == IF k = 2 THEN 4 ELSE k + 1

\* In place of Spec: routers need not be fair.
UnfairSpec == Init /\ [][Next]_vars
================================================================================
