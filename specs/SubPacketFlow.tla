----------------------------- MODULE SubPacketFlow -----------------------------
(***************************************************************************)
(* Flits through routers with virtual channels (VCs) and credits: messages *)
(* of a collective, cut into sub-messages, next to normal packets.         *)
(*                                                                         *)
(* A channel is one direction of a link; at its downstream end each of its *)
(* VCs has a buffer. A worm is a message or a packet. A message of a       *)
(* collective has one head for all of its sub-messages; each but the last  *)
(* ends in a sub-tail, which hands its sub-message over at the destination *)
(* but, unlike the tail, keeps route and VCs: what follows needs no head.  *)
(* Every worm has its route from the source; the VCs that it may take on   *)
(* each hop are given: that is where datelines and separate VCs are.       *)
(*                                                                         *)
(* Steps are untimed: one flit moves, or one credit returns, or a head     *)
(* takes a full VC (wormhole) and waits for room. Whatever a clocked       *)
(* router does in a cycle is some order of these steps: a head that finds  *)
(* room takes its VC and moves, since nobody else can use the room.        *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
  Channels,  \* one for each direction of a link
  VCs,       \* the virtual channels of every channel
  Worms,     \* messages and packets
  Route,     \* for every worm: the channels it takes, no channel twice
  Flits,     \* for every worm: the kinds of its flits
  MayTake,   \* for every worm: for every hop the VCs that it may take there
  Depth,     \* flits that the buffer of a VC holds
  Switching, \* "cut-through": a head must find room for all up to the first sub-tail or tail; other flits, and "wormhole": for one
  Endless    \* messages without an end: after their last flit, a sub-tail, the second comes again

\* What a flit can be.
Kinds == {"head", "body", "subtail", "tail"}

ASSUME ConstantsAreSane ==
  /\ \A w \in Worms : Flits[w] \in Seq(Kinds) /\ Flits[w][1] = "head"
  /\ \A w \in Worms : Flits[w][Len(Flits[w])] = IF w \in Endless THEN "subtail" ELSE "tail"
  /\ \A w \in Worms : \A h \in DOMAIN Route[w] : Route[w][h] \in Channels /\ MayTake[w][h] \subseteq VCs
  /\ Depth \in Nat \ {0} /\ Switching \in {"cut-through", "wormhole"}

VARIABLES
  sent,       \* sent[w]: the number of the flit that left the source last
  owner,      \* owner[c][v]: the worm that holds the VC, from its head until its tail has gone in; Nobody otherwise
  last,       \* last[c][v]: the flit that went into the VC last, <<worm, number>>
  buffer,     \* buffer[c][v]: the flits at the downstream end, oldest first
  credits,    \* credits[c][v]: the room in the buffer that the upstream end knows of
  returning,  \* returning[c][v]: returning credits
  ejected,    \* ejected[w]: the number of the flit that the destination took last
  partial,    \* partial[w]: the flits taken since the last hand-over
  handed,     \* handed[w]: the sub-message that was handed over last
  arrived     \* the worms whose tail has arrived

\* The whole state.
vars == <<sent, owner, last, buffer, credits, returning, ejected, partial, handed, arrived>>

\* No worm.
Nobody == "nobody"

\* The number after flit k of worm w.
NextOf(w, k) == IF w \in Endless /\ k = Len(Flits[w]) THEN 2 ELSE k + 1

\* The worm has another flit after number k.
HasFlit(w, k) == w \in Endless \/ k < Len(Flits[w])

\* The hop at which worm w takes channel c.
HopAt(w, c) == CHOOSE h \in DOMAIN Route[w] : Route[w][h] = c

\* The flits of worm w up to its first sub-tail or tail, the head included.
FirstPart(w) == {k \in DOMAIN Flits[w] : \A j \in DOMAIN Flits[w] : j < k => Flits[w][j] \notin {"subtail", "tail"}}

\* The room that flit k of worm w must find: a head for the first sub-message, whose flits then need not wait; any other for itself.
RoomFor(w, k) == IF Switching = "cut-through" /\ k = 1 THEN Cardinality(FirstPart(w)) ELSE 1

-------------------------------------------------------------------------------
(* Steps                                                                     *)

\* Nothing has been sent, all buffers are empty.
Init ==
  /\ sent = [w \in Worms |-> 0]
  /\ owner = [c \in Channels |-> [v \in VCs |-> Nobody]]
  /\ last = [c \in Channels |-> [v \in VCs |-> <<>>]]
  /\ buffer = [c \in Channels |-> [v \in VCs |-> <<>>]]
  /\ credits = [c \in Channels |-> [v \in VCs |-> Depth]]
  /\ returning = [c \in Channels |-> [v \in VCs |-> 0]]
  /\ ejected = [w \in Worms |-> 0]
  /\ partial = [w \in Worms |-> <<>>]
  /\ handed = [w \in Worms |-> <<>>]
  /\ arrived = {}

\* Worm w holds a VC of its hop h.
Holds(w, h) == \E v \in VCs : owner[Route[w][h]][v] = w

\* The VC is available for flit k of worm w: a head takes a free VC unless it has one; the other flits follow on that of their worm.
VcIsIts(w, k, h, v) ==
  IF k = 1 /\ ~Holds(w, h)
  THEN /\ IsFree::    owner[Route[w][h]][v] = Nobody
       /\ IsAllowed:: v \in MayTake[w][h]
  ELSE /\ IsHeld::    owner[Route[w][h]][v] = w

\* The upstream end knows of enough room.
HasRoom(w, k, h, v) == credits[Route[w][h]][v] >= RoomFor(w, k)

\* Who holds the VC when flit k of worm w has gone in: only the tail gives it back.
OwnerAfter(w, k) == IF Flits[w][k] = "tail" THEN Nobody ELSE w

\* Flit k of worm w goes into VC v of its hop h.
Enters(w, k, h, v) ==
  /\ VcIsIts(w, k, h, v)
  /\ ThereIsRoom:: HasRoom(w, k, h, v)
  /\ owner' = [owner EXCEPT ![Route[w][h]][v] = OwnerAfter(w, k)]
  /\ last' = [last EXCEPT ![Route[w][h]][v] = <<w, k>>]
  /\ credits' = [credits EXCEPT ![Route[w][h]][v] = @ - 1]

\* The oldest flit of VC u of channel c, if there is one.
Front(c, u) == {buffer[c][u][i] : i \in {1} \intersect DOMAIN buffer[c][u]}

\* The head of worm w is the next flit into its hop h.
HeadWaits(w, h) ==
  \/ h = 1 /\ sent[w] = 0
  \/ \E g \in DOMAIN Route[w], u \in VCs : g + 1 = h /\ <<w, 1>> \in Front(Route[w][g], u)

\* A head takes a full VC of its hop h, and waits for room there: others take it when its tail has gone in.
TakeFull(w, h, v) ==
  /\ Switching = "wormhole" /\ credits[Route[w][h]][v] = 0
  /\ HeadWaits(w, h)
  /\ owner[Route[w][h]][v] = Nobody /\ v \in MayTake[w][h]
  /\ HasNone:: ~Holds(w, h)
  /\ owner' = [owner EXCEPT ![Route[w][h]][v] = w]
  /\ UNCHANGED <<sent, last, buffer, credits, returning, ejected, partial, handed, arrived>>

\* What returns when a flit has left VC u of channel c.
Released(c, u) == [returning EXCEPT ![c][u] = @ + 1]

\* The source of worm w sends its next flit.
Inject(w) ==
  /\ HasFlit(w, sent[w])
  /\ \E v \in VCs :
       /\ Enters(w, NextOf(w, sent[w]), 1, v)
       /\ buffer' = [buffer EXCEPT ![Route[w][1]][v] = Append(@, <<w, NextOf(w, sent[w])>>)]
  /\ sent' = [sent EXCEPT ![w] = NextOf(w, @)]
  /\ UNCHANGED <<returning, ejected, partial, handed, arrived>>

\* A router sends the oldest flit of VC u of channel c on; its credit sets out.
Forward(c, u) ==
  /\ \E flit \in Front(c, u) :
     LET w == flit[1]
         h == HopAt(w, c) + 1
     IN  /\ h <= Len(Route[w])
         /\ \E v \in VCs :
              /\ Enters(w, flit[2], h, v)
              /\ buffer' = [buffer EXCEPT ![c][u] = Tail(@), ![Route[w][h]][v] = Append(@, flit)]
  /\ returning' = Released(c, u)
  /\ UNCHANGED <<sent, ejected, partial, handed, arrived>>

\* What the destination keeps of a flit: heads carry no data.
Data(w, k) == IF k = 1 THEN <<>> ELSE <<k>>

\* The flit ends a sub-message: a sub-tail or the tail.
HandsOver(w, k) == Flits[w][k] \in {"subtail", "tail"}

\* The destination takes the oldest flit of VC u of channel c; a sub-tail or tail hands over what has come since the last.
Eject(c, u) ==
  /\ \E flit \in Front(c, u) :
     LET w == flit[1]
         k == flit[2]
         whole == partial[w] \o Data(w, k)
     IN  /\ HopAt(w, c) = Len(Route[w])
         /\ ejected' = [ejected EXCEPT ![w] = k]
         /\ partial' = [partial EXCEPT ![w] = IF HandsOver(w, k) THEN <<>> ELSE whole]
         /\ handed' = IF HandsOver(w, k) THEN [handed EXCEPT ![w] = whole] ELSE handed
         /\ arrived' = IF Flits[w][k] = "tail" THEN arrived \union {w} ELSE arrived
  /\ buffer' = [buffer EXCEPT ![c][u] = Tail(@)]
  /\ returning' = Released(c, u)
  /\ UNCHANGED <<sent, owner, last, credits>>

\* A credit arrives at the upstream end.
Return(c, v) ==
  /\ IsOnItsWay:: returning[c][v] > 0
  /\ returning' = [returning EXCEPT ![c][v] = @ - 1]
  /\ credits' = [credits EXCEPT ![c][v] = @ + 1]
  /\ UNCHANGED <<sent, owner, last, buffer, ejected, partial, handed, arrived>>

\* Everything with an end has arrived, and all credits are back.
AllArrived == arrived = Worms /\ \A c \in Channels, v \in VCs : returning[c][v] = 0

\* The end is no deadlock.
Rest == AllArrived /\ UNCHANGED vars

\* The flit at the front of VC u of channel c goes on.
Move(c, u) == Forward(c, u) \/ Eject(c, u)

\* A flit moves, a credit returns, or a head takes a full VC.
Next ==
  \/ \E w \in Worms : Inject(w) \/ \E h \in DOMAIN Route[w], v \in VCs : TakeFull(w, h, v)
  \/ \E c \in Channels, v \in VCs : Move(c, v) \/ Return(c, v)
  \/ Rest

\* Routers are fair: what can go on for ever goes on, and a worm that can begin again and again begins.
Fairness ==
  /\ \A w \in Worms : SF_vars(Inject(w))
  /\ \A c \in Channels, v \in VCs : SF_vars(Move(c, v)) /\ WF_vars(Return(c, v))

\* The behaviours.
Spec == Init /\ [][Next]_vars /\ Fairness

-------------------------------------------------------------------------------
(* Properties                                                                *)

\* The values the variables range over.
TypeOK ==
  /\ sent \in [Worms -> Nat] /\ ejected \in [Worms -> Nat] /\ arrived \subseteq Worms
  /\ \A c \in Channels, v \in VCs : owner[c][v] \in Worms \union {Nobody} /\ credits[c][v] \in Nat /\ returning[c][v] \in Nat

\* No buffer overflows.
NoOverflow == \A c \in Channels, v \in VCs : Len(buffer[c][v]) <= Depth

\* Credits are neither lost nor made: each place of a buffer is taken, known to be free, or about to be.
CreditsConserved == \A c \in Channels, v \in VCs : credits[c][v] + returning[c][v] + Len(buffer[c][v]) = Depth

\* A worm holds one VC of each channel at most.
OneVcEach == \A c \in Channels : \A u, v \in VCs : u # v /\ owner[c][u] = owner[c][v] => owner[c][u] = Nobody

\* Behind a head the first sub-message of a worm with an end finds room: of its flits, those that have not gone in have their places.
FirstHasRoom ==
  Switching = "cut-through" =>
    \A c \in Channels, v \in VCs : last[c][v] # <<>> /\ last[c][v][1] \notin Endless =>
      LET kinds == Flits[last[c][v][1]]
          ended == {k \in 1..last[c][v][2] : kinds[k] \in {"subtail", "tail"}}
          left == {k \in last[c][v][2] + 1..Len(kinds) : \A j \in 1..k - 1 : kinds[j] \notin {"subtail", "tail"}}
      IN  ended = {} => Cardinality(left) <= credits[c][v]

\* The flits of a worm in flight, oldest first; its VCs on one channel follow each other.
OnTheWay(w) ==
  LET here(h) == LET of(v) == SelectSeq(buffer[Route[w][h]][v], LAMBDA flit : flit[1] = w)
                     used == {v \in VCs : of(v) # <<>>}
                 IN  IF used = {} THEN <<>> ELSE of(CHOOSE v \in used : TRUE)
      back[h \in 0..Len(Route[w])] == IF h = 0 THEN <<>> ELSE here(h) \o back[h - 1]
  IN  back[Len(Route[w])]

\* With wormhole switching a worm whose head is the oldest flit of a buffer, or has not left its source, can take each VC of its next
\* channel that is for it and that nobody holds, whether there is room or not.
FreeVcsCanBeTaken ==
  Switching = "wormhole" =>
    \A w \in Worms : \A h \in DOMAIN Route[w] :
      LET next == Route[w][h]
          stands == IF h = 1 THEN ejected[w] = 0 /\ OnTheWay(w) = <<>>
                    ELSE \E u \in VCs : LET waits == buffer[Route[w][h - 1]][u] IN waits # <<>> /\ waits[1] = <<w, 1>>
      IN  stands /\ (\A u \in VCs : owner[next][u] # w) =>
            \A v \in MayTake[w][h] : owner[next][v] = Nobody => ENABLED (Next /\ owner'[next][v] = w)

\* Flits are neither lost nor made nor reordered: between what has been sent and what has been taken they are all there, in order.
FlitsConserved ==
  \A w \in Worms \ Endless :
    /\ Len(OnTheWay(w)) = sent[w] - ejected[w]
    /\ \A i \in DOMAIN OnTheWay(w) : OnTheWay(w)[i][2] = ejected[w] + i

\* Flit b may come after flit a in a VC: the next of the same worm, or a head behind a tail.
Follows(a, b) ==
  IF a = <<>> THEN b[2] = 1
  ELSE \/ a[1] = b[1] /\ Flits[a[1]][a[2]] # "tail" /\ b[2] = (IF a[2] < Len(Flits[a[1]]) THEN a[2] + 1 ELSE 2)
       \/ Flits[a[1]][a[2]] = "tail" /\ b[2] = 1

\* No worm comes between the flits of another in a VC.
NoInterleaving == [][\A c \in Channels, v \in VCs : last'[c][v] # last[c][v] => Follows(last[c][v], last'[c][v])]_last

\* The destination takes flits, and nobody on the way: what it takes was the oldest of a VC of the last channel of its worm.
TakenAtTheEnd == [][\A w \in Worms : ejected'[w] # ejected[w] =>
  \E v \in VCs : LET waits == buffer[Route[w][Len(Route[w])]][v] IN waits # <<>> /\ waits[1] = <<w, ejected'[w]>>]_ejected

\* The sub-message that flit k of worm w ends: the flits behind the one before that ended something, or behind the head.
SubMessage(w, k) ==
  LET before == {1} \union {e \in 1..k - 1 : Flits[w][e] \in {"subtail", "tail"}}
      behind == CHOOSE e \in before : \A other \in before : other <= e
  IN  [i \in 1..k - behind |-> behind + i]

\* What a sub-tail or tail hands over is its sub-message: nothing missing, nothing of another.
HandsOverExactly ==
  \A w \in Worms : handed[w] = <<>> \/ \E k \in DOMAIN Flits[w] :
    Flits[w][k] \in {"subtail", "tail"} /\ handed[w] = SubMessage(w, k)

\* Every sub-message whose end has come has been handed over, the last of them last.
HandsOverEach ==
  \A w \in Worms \ Endless :
    LET ends == {k \in 1..ejected[w] : Flits[w][k] \in {"subtail", "tail"}}
    IN  handed[w] = IF ends = {} THEN <<>> ELSE SubMessage(w, CHOOSE e \in ends : \A k \in ends : k <= e)

\* Sub-messages are handed over as their last flit arrives, not later.
HandsOverAtOnce == \A w \in Worms : \A i \in DOMAIN partial[w] : Flits[w][partial[w][i]] \notin {"subtail", "tail"}

\* Every worm with an end arrives: no deadlock, no starvation.
EveryWormArrives == \A w \in Worms \ Endless : <>(w \in arrived)
================================================================================
