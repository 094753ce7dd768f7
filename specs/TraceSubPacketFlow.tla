--------------------------- MODULE TraceSubPacketFlow ---------------------------
(***************************************************************************)
(* A trace of the simulator's routers as a behaviour of SubPacketFlow. The *)
(* log has a line for every step, in the order in which they happened: a   *)
(* packet takes a VC, a flit goes into a channel, an interface takes a     *)
(* flit, a credit is back. The specification must be able to do each, one  *)
(* after the other.                                                        *)
(*                                                                         *)
(* In the specification a head takes a VC in which it finds room and goes  *)
(* into it in one step, in the log in two: from the first on the VC is     *)
(* reserved. What must hold before a line can happen are properties, one   *)
(* for each rule, so that a wrong line says which rule it breaks.          *)
(***************************************************************************)
EXTENDS SubPacketFlow

CONSTANTS
  Log,   \* lines: event, worm, number of a flit, channel, vc; of a credit the worm is Nobody
  Reuse, \* "tail": a VC can be taken when the tail before has gone in; "empty": only when all its credits are back
  Left   \* the credits that are on their way in the end: <<channel, VC, number>>

VARIABLES
  line,    \* how many lines have happened
  reserved \* reserved[c][v]: the worm that has taken the VC and whose head has not gone in yet; Nobody otherwise

\* All of them.
traceVars == <<vars, line, reserved>>

\* The line that comes next.
Entry == Log[line + 1]

\* It is about a channel that its worm has on its route, or about no worm.
IsOnTheRoute == \A w \in Worms : w = Entry.worm => \E h \in DOMAIN Route[w] : Route[w][h] = Entry.channel

\* A line of this kind comes next, and its channel is on the route.
IsNext(event) == line + 1 \in DOMAIN Log /\ Entry.event = event /\ IsOnTheRoute

\* The hop at which the worm of the next line takes its channel, and the flit.
Hop == HopAt(Entry.worm, Entry.channel)
Flit == <<Entry.worm, Entry.flit>>

\* The flit is the oldest one in VC v of channel c.
IsFirstIn(c, v) == Flit \in Front(c, v)

\* A worm takes a VC: of a full one the specification knows, any other is reserved.
LoggedTake ==
  /\ IsNext("take")
  /\ IF credits[Entry.channel][Entry.vc] = 0
     THEN TakeFull(Entry.worm, Hop, Entry.vc) /\ UNCHANGED reserved
     ELSE reserved' = [reserved EXCEPT ![Entry.channel][Entry.vc] = Entry.worm] /\ UNCHANGED vars

\* A flit goes into a channel, from the source or from the channel before.
LoggedSend ==
  /\ IsNext("send")
  /\ IF Hop = 1 THEN Inject(Entry.worm)
     ELSE \E h \in DOMAIN Route[Entry.worm], u \in VCs :
            h + 1 = Hop /\ IsFirstIn(Route[Entry.worm][h], u) /\ Forward(Route[Entry.worm][h], u)
  /\ buffer'[Entry.channel][Entry.vc] = Append(buffer[Entry.channel][Entry.vc], Flit)
  /\ reserved' = IF Entry.flit = 1 THEN [reserved EXCEPT ![Entry.channel][Entry.vc] = Nobody] ELSE reserved

\* The interface at the end of the route takes a flit.
LoggedEject == IsNext("eject") /\ IsFirstIn(Entry.channel, Entry.vc) /\ Eject(Entry.channel, Entry.vc) /\ UNCHANGED reserved

\* A credit is back.
LoggedCredit == IsNext("credit") /\ Return(Entry.channel, Entry.vc) /\ UNCHANGED reserved

\* The log begins.
TraceInit == Init /\ line = 0 /\ reserved = [c \in Channels |-> [v \in VCs |-> Nobody]]

\* The next line happens; the end of the log is no deadlock.
TraceNext ==
  \/ line < Len(Log) /\ line' = line + 1 /\ (LoggedTake \/ LoggedSend \/ LoggedEject \/ LoggedCredit)
  \/ line = Len(Log) /\ UNCHANGED traceVars

\* The behaviour that the log tells.
TraceSpec == TraceInit /\ [][TraceNext]_traceVars

\* Each of its steps is one of the specification, or reserves a VC only.
IsBehaviour == [][Next]_vars

-------------------------------------------------------------------------------
(* What must hold before a line                                              *)

\* Worms keep to their routes.
StaysOnItsRoute ==
  line < Len(Log) /\ Entry.worm # Nobody => Entry.channel \in {Route[Entry.worm][h] : h \in DOMAIN Route[Entry.worm]}

\* A worm takes a VC that nobody else has.
TakesAFreeVC ==
  IsNext("take") => owner[Entry.channel][Entry.vc] = Nobody /\ reserved[Entry.channel][Entry.vc] \in {Nobody, Entry.worm}

\* It is one of those that it may take on this hop.
TakesAnAllowedVC == IsNext("take") => Entry.vc \in MayTake[Entry.worm][Hop]

\* The worm has no VC of this channel yet.
TakesOneVC == IsNext("take") => ~Holds(Entry.worm, Hop) /\ \A v \in VCs : reserved[Entry.channel][v] # Entry.worm

\* Its head is the next flit into the channel.
TakesWhenItsTurnComes == IsNext("take") => HeadWaits(Entry.worm, Hop)

\* There is room for what a head must find room for; with wormhole switching the VC may be full.
TakesWhatHasRoom ==
  IsNext("take") => Switching = "wormhole" \/ credits[Entry.channel][Entry.vc] >= RoomFor(Entry.worm, 1)

\* Where VCs are used again only when they are empty, all credits are back.
TakesWhatIsEmpty == IsNext("take") => Reuse = "tail" \/ credits[Entry.channel][Entry.vc] = Depth

\* Flits leave the source, and each channel, in their order.
LeavesInOrder ==
  IsNext("send") =>
    IF Hop = 1 THEN HasFlit(Entry.worm, sent[Entry.worm]) /\ Entry.flit = NextOf(Entry.worm, sent[Entry.worm])
    ELSE \E u \in VCs : IsFirstIn(Route[Entry.worm][Hop - 1], u)

\* A flit goes into the VC that its worm has taken.
EntersItsVC ==
  IsNext("send") => Entry.worm \in {owner[Entry.channel][Entry.vc], reserved[Entry.channel][Entry.vc]}

\* There is room for it.
EntersWhatHasRoom == IsNext("send") => credits[Entry.channel][Entry.vc] > 0

\* The interface takes what has arrived: the oldest flit in the last channel of its route.
TakenOnArrival == IsNext("eject") => Hop = Len(Route[Entry.worm]) /\ IsFirstIn(Entry.channel, Entry.vc)

\* A credit that comes back was on its way.
ReturnsOnce == IsNext("credit") => returning[Entry.channel][Entry.vc] > 0

-------------------------------------------------------------------------------
(* What must hold in the end                                                 *)

\* Every worm has arrived.
ArrivedInTheEnd == line = Len(Log) => arrived = Worms

\* The credits that are on their way are those that the log says.
BalancedInTheEnd ==
  line = Len(Log) => {<<c, v, returning[c][v]>> : <<c, v>> \in {e \in Channels \X VCs : returning[e[1]][e[2]] > 0}} = Left
================================================================================
