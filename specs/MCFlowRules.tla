------------------------------ MODULE MCFlowRules ------------------------------
(***************************************************************************)
(* Small networks for the rules of FlowRules, and one fault at a time that *)
(* no other property finds.                                                *)
(***************************************************************************)
EXTENDS MCSubPacketFlow, FlowRules

\* Two packets over one channel and on, and one that uses the second channel only; each has a VC there that is not for the others.
TwoHops ==
  {Worm("p", <<0, 1>>, Packet, <<{0}, {0}>>), Worm("q", <<0, 1>>, Packet, <<{0}, {1}>>), Worm("r", <<1>>, Packet, <<{0}>>)}

\* Two messages of two sub-messages over one channel.
TwoMessages == {Worm(name, <<0>>, Short, <<{0}>>) : name \in {"a", "b"}}

\* In place of TakeFull: a head takes a full VC that is not for it; a VC with room; or a full one though heads must find room.
TakesFull(w, h, v) ==
  /\ HeadWaits(w, h) /\ owner[Route[w][h]][v] = Nobody /\ ~Holds(w, h)
  /\ owner' = [owner EXCEPT ![Route[w][h]][v] = w]
  /\ UNCHANGED <<sent, last, buffer, credits, returning, ejected, partial, handed, arrived>>
TakesFullOfOthers(w, h, v) == Switching = "wormhole" /\ credits[Route[w][h]][v] = 0 /\ TakesFull(w, h, v)
TakesWithRoom(w, h, v) == Switching = "wormhole" /\ v \in MayTake[w][h] /\ TakesFull(w, h, v)
TakesInCutThrough(w, h, v) == credits[Route[w][h]][v] = 0 /\ v \in MayTake[w][h] /\ TakesFull(w, h, v)

\* In place of Init: a place more is known than there is.
InitWithMore ==
  /\ sent = [w \in Worms |-> 0] /\ ejected = [w \in Worms |-> 0] /\ arrived = {}
  /\ owner = [c \in Channels |-> [v \in VCs |-> Nobody]] /\ last = [c \in Channels |-> [v \in VCs |-> <<>>]]
  /\ buffer = [c \in Channels |-> [v \in VCs |-> <<>>]] /\ credits = [c \in Channels |-> [v \in VCs |-> Depth + 1]]
  /\ returning = [c \in Channels |-> [v \in VCs |-> 0]] /\ partial = [w \in Worms |-> <<>>] /\ handed = [w \in Worms |-> <<>>]

\* In place of Enters: the flit is not noted as the last one.
EntersUnnoted(w, k, h, v) ==
  /\ VcIsIts(w, k, h, v) /\ HasRoom(w, k, h, v)
  /\ owner' = [owner EXCEPT ![Route[w][h]][v] = OwnerAfter(w, k)]
  /\ credits' = [credits EXCEPT ![Route[w][h]][v] = @ - 1]
  /\ UNCHANGED last

\* In place of HeadWaits: a head at its source takes VCs further on.
WaitsEverywhere(w, h) == sent[w] = 0 \/ \E g \in DOMAIN Route[w], u \in VCs : g + 1 = h /\ <<w, 1>> \in Front(Route[w][g], u)

\* In place of RoomFor: all flits look for the room of the first sub-message.
RoomForAll(w, k) == IF Switching = "cut-through" THEN Cardinality(FirstPart(w)) ELSE 1

\* In place of AllArrived: a run may end with credits under way.
ArrivedOnly == arrived = Worms
================================================================================
