------------------------------- MODULE FlowRules -------------------------------
(***************************************************************************)
(* What routers and sources may do, when they can, and how a run begins,   *)
(* in other words than the steps of SubPacketFlow: from the state alone,   *)
(* and nothing that a step is made of is used. So a guard, an update or a  *)
(* first value that is wrong in the steps alone breaks one of these, also  *)
(* where all flits arrive in the end.                                      *)
(***************************************************************************)
EXTENDS SubPacketFlow

\* A run begins with empty buffers, all room known, and nothing sent, held or taken.
AllIsEmpty ==
  /\ \A w \in Worms : <<sent[w], ejected[w], partial[w], handed[w]>> = <<0, 0, <<>>, <<>>>>
  /\ \A c \in Channels, v \in VCs : <<last[c][v], buffer[c][v], owner[c][v], credits[c][v], returning[c][v]>> = <<<<>>, <<>>, Nobody, Depth, 0>>
BeginsEmpty == <<AllIsEmpty, arrived>> = <<TRUE, {}>>

\* The flit that comes next to hop h of worm w, if there is one: of the first hop at the source, of others at the front of a buffer.
Coming(w, h) ==
  IF h = 1 THEN LET count == Len(Flits[w]) IN IF sent[w] < count THEN {sent[w] + 1} ELSE IF w \in Endless THEN {2} ELSE {}
  ELSE {buffer[Route[w][h - 1]][u][1][2] : u \in {x \in VCs : LET waits == buffer[Route[w][h - 1]][x] IN waits # <<>> /\ waits[1][1] = w}}

\* The VCs of hop h that worm w holds.
Held(w, h) == {v \in VCs : owner[Route[w][h]][v] = w}

\* The flits from the head to the first sub-tail or tail.
First(w) == CHOOSE k \in DOMAIN Flits[w] : Flits[w][k] \in {"subtail", "tail"} /\ \A j \in 1..k - 1 : Flits[w][j] \in {"head", "body"}

\* Flit k of worm w may go into VC v of hop h: its own, or for a head a free one that is for it; and there is room.
MayGo(w, k, h, v) ==
  LET c == Route[w][h]
  IN  /\ k \in Coming(w, h)
      /\ IF Held(w, h) # {} THEN v \in Held(w, h) ELSE k = 1 /\ owner[c][v] = Nobody /\ v \in MayTake[w][h]
      /\ credits[c][v] >= IF k = 1 /\ Switching = "cut-through" THEN First(w) ELSE 1

\* A flit goes into a VC when it may; then it is the last one there, takes a place, and only a tail gives the VC back.
GoesInByTheRules ==
  [][\A c \in Channels, v \in VCs : Len(buffer'[c][v]) > Len(buffer[c][v]) =>
       LET flit == buffer'[c][v][Len(buffer'[c][v])]
           w == flit[1]
       IN  /\ \E h \in DOMAIN Route[w] : Route[w][h] = c /\ MayGo(w, flit[2], h, v)
           /\ last'[c][v] = flit /\ credits'[c][v] = credits[c][v] - 1
           /\ owner'[c][v] = IF Flits[w][flit[2]] = "tail" THEN Nobody ELSE w]_buffer

\* A VC is taken with its head, or full, with wormhole switching, by a head that comes to it next: it is free and for the worm, which has
\* no other there.
TakesByTheRules ==
  [][\A c \in Channels, v \in VCs : owner'[c][v] \notin {owner[c][v], Nobody} =>
       LET w == owner'[c][v]
       IN  /\ owner[c][v] = Nobody
           /\ \E h \in DOMAIN Route[w] : Route[w][h] = c /\ 1 \in Coming(w, h) /\ v \in MayTake[w][h] /\ Held(w, h) = {}
           /\ buffer'[c][v] = buffer[c][v] => Switching = "wormhole" /\ credits[c][v] = 0]_owner

\* Nothing that may happen is held up: flits that may go on can, credits can return, and a run rests at its end only.
NothingIsHeldUp ==
  /\ \A w \in Worms : \A h \in DOMAIN Route[w], v \in VCs : \A k \in Coming(w, h) :
       MayGo(w, k, h, v) => ENABLED (Next /\ last'[Route[w][h]][v] = <<w, k>>)
  /\ \A c \in Channels, v \in VCs : returning[c][v] > 0 => ENABLED Return(c, v)
  /\ (ENABLED Rest) <=> arrived = Worms /\ \A c \in Channels, v \in VCs : credits[c][v] = Depth
================================================================================
