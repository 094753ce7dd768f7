----------------------------- MODULE SubPacketFlow -----------------------------
(***************************************************************************)
(* Flits through routers with virtual channels (VCs) and credits: messages *)
(* of a collective, cut into sub-messages, beside normal packets.          *)
(*                                                                         *)
(* A channel is one direction of a link; at its downstream end each of its *)
(* VCs has a buffer. A worm is a message or a packet: a head flit, data,   *)
(* and a tail. A message of a collective has one head for all of its       *)
(* sub-messages; each but the last ends in a sub-tail, which hands its     *)
(* sub-message over at the destination but, unlike the tail, keeps the     *)
(* route and the VCs: the next sub-message needs no head. Every worm knows *)
(* its route from the source (source routing); the VC of each hop is       *)
(* chosen by `MayTake`, where the dateline is.                             *)
(*                                                                         *)
(* Steps are atomic and untimed: a router moves one flit at a time, credits *)
(* travel back one at a time. Every interleaving of a clocked router is    *)
(* among the behaviours.                                                   *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
  Channels,   \* the channels, each one direction of a link
  VCs,        \* numbers of virtual channels: of every channel
  Worms,      \* messages and packets
  Route,      \* for every worm: the sequence of channels it takes
  Flits,      \* for every worm: the sequence of its flits' kinds
  MayTake,    \* for every worm: for every hop: the VCs it may take there
  Depth,      \* flits that the buffer of a VC holds
  Switching,  \* "cut-through": a head needs room for the whole worm (or sub-message); "wormhole": room for a flit
  Endless     \* worms that are sent again and again

\* What a flit can be.
Kinds == {"head", "body", "subtail", "tail"}

ASSUME ConstantsAreSane ==
  /\ \A w \in Worms : /\ Flits[w] \in Seq(Kinds) /\ Flits[w][1] = "head" /\ Flits[w][Len(Flits[w])] = "tail"
                      /\ Len(Route[w]) >= 1 /\ \A h \in DOMAIN Route[w] : Route[w][h] \in Channels /\ MayTake[w][h] \subseteq VCs
  /\ Depth \in Nat \ {0} /\ Switching \in {"cut-through", "wormhole"} /\ Endless \subseteq Worms

VARIABLES
  sent,     \* sent[w]: how many flits of the worm have left its source
  owner,    \* owner[c][v]: the worm that the VC is allocated to, from its head until its tail has been sent into it; Free if none
  buffer,   \* buffer[c][v]: the flits at the downstream end, as <<worm, number>>
  credits,  \* credits[c][v]: what the upstream end knows of room in the buffer
  returning,\* returning[c][v]: credits on their way back
  got,      \* got[w]: the numbers of the flits that have been ejected, in order
  handed    \* handed[w]: the sub-messages handed over: sequences of flit numbers

\* The whole state.
vars == <<sent, owner, buffer, credits, returning, got, handed>>

\* No worm.
Free == "free"

\* The slots of all buffers.
Slots == Channels \X VCs

\* The kind of flit number k of worm w.
Kind(w, k) == Flits[w][k]

\* The hop of a worm at which it takes channel c.
HopAt(w, c) == CHOOSE h \in DOMAIN Route[w] : Route[w][h] = c

\* The VC that worm w holds on channel c; defined while it holds one.
Held(w, c) == CHOOSE v \in VCs : owner[c][v] = w

\* Worm w holds a VC on channel c.
Holds(w, c) == \E v \in VCs : owner[c][v] = w

\* The room that a head must find: all that follows it up to the next sub-tail or tail, or itself.
RoomForHead(w) ==
  IF Switching = "wormhole" THEN 1
  ELSE CHOOSE k \in DOMAIN Flits[w] : Kind(w, k) \in {"subtail", "tail"} /\ \A j \in 1..k - 1 : Kind(w, j) \in {"head", "body"}

-------------------------------------------------------------------------------
(* Steps                                                                     *)

\* Nothing has been sent; all buffers are empty.
Init ==
  /\ sent = [w \in Worms |-> 0]
  /\ owner = [c \in Channels |-> [v \in VCs |-> Free]]
  /\ buffer = [c \in Channels |-> [v \in VCs |-> <<>>]]
  /\ credits = [c \in Channels |-> [v \in VCs |-> Depth]]
  /\ returning = [c \in Channels |-> [v \in VCs |-> 0]]
  /\ got = [w \in Worms |-> <<>>]
  /\ handed = [w \in Worms |-> <<>>]

\* Flit k of worm w can go into VC v of its hop h: heads allocate a free VC, others follow on the VC that their worm holds.
CanEnter(w, k, h, v) ==
  LET c == Route[w][h]
  IN  /\ VcIsIts::  IF Kind(w, k) = "head" THEN owner[c][v] = Free /\ v \in MayTake[w][h] /\ ~Holds(w, c) ELSE owner[c][v] = w
      /\ HasRoom::  credits[c][v] >= IF Kind(w, k) = "head" THEN RoomForHead(w) ELSE 1

\* The owner of the VC after flit k of w has gone into it: tails give it back, sub-tails do not.
OwnerAfter(w, k) == IF Kind(w, k) = "tail" THEN Free ELSE w

\* Owner, buffer and credits after flit k of w has entered VC v of hop h.
Entered(w, k, h, v) ==
  LET c == Route[w][h]
  IN  /\ owner' = [owner EXCEPT ![c][v] = OwnerAfter(w, k)]
      /\ credits' = [credits EXCEPT ![c][v] = @ - 1]

\* The source of worm w sends its next flit into VC v of the first hop.
Inject(w, v) ==
  LET k == sent[w] + 1
      c == Route[w][1]
  IN  /\ k <= Len(Flits[w])
      /\ CanEnter(w, k, 1, v)
      /\ Entered(w, k, 1, v)
      /\ buffer' = [buffer EXCEPT ![c][v] = Append(@, <<w, k>>)]
      /\ sent' = [sent EXCEPT ![w] = k]
      /\ UNCHANGED <<returning, got, handed>>

\* A router moves the first flit of VC u of channel c on to VC v of the next hop; its credit sets out.
Forward(c, u, v) ==
  /\ buffer[c][u] # <<>>
  /\ LET w == Head(buffer[c][u])[1]
         k == Head(buffer[c][u])[2]
         h == HopAt(w, c)
     IN  /\ h < Len(Route[w])
         /\ CanEnter(w, k, h + 1, v)
         /\ Entered(w, k, h + 1, v)
         /\ buffer' = [buffer EXCEPT ![c][u] = Tail(@), ![Route[w][h + 1]][v] = Append(@, <<w, k>>)]
         /\ returning' = [returning EXCEPT ![c][u] = @ + 1]
  /\ UNCHANGED <<sent, got, handed>>

\* The flits of the sub-message that flit k of worm w ends, by number: all data since the last one, without the head.
SubMessage(w, k) ==
  LET from == {j \in 1..k - 1 : Kind(w, j) \in {"head", "subtail"}}
      last == CHOOSE j \in from : \A other \in from : other <= j
  IN  [i \in 1..k - last |-> last + i]

\* What is handed over when flit k of worm w arrives: a sub-tail or tail hands over what has come since the last.
HandedBy(w, k) == IF Kind(w, k) \in {"subtail", "tail"} THEN <<Since(w)>> ELSE <<>>

\* The first flit of VC u of channel c has reached its destination: the NI takes it, its credit sets out.
Eject(c, u) ==
  /\ buffer[c][u] # <<>>
  /\ LET w == Head(buffer[c][u])[1]
         k == Head(buffer[c][u])[2]
     IN  /\ HopAt(w, c) = Len(Route[w])
         /\ TRUE
  /\ UNCHANGED <<sent, owner, credits>>
================================================================================
