-------------------------------- MODULE NILanes --------------------------------
(***************************************************************************)
(* Messages in flight. A message over several links takes a lane of each,  *)
(* one after the other, and each for as long as it is (virtual cut-through,*)
(* with room in every router for what waits there). A lane serves messages *)
(* in the order in which they came to stand before it; of those that come  *)
(* in one tick the ones under way go before those of the node's own NI.    *)
(*                                                                         *)
(* `links` and `travel` of a message are its entries of Path and           *)
(* TravelTicks; `lanes` and `enters` say of each link that it has come to  *)
(* which lane it takes there, and when it enters that.                     *)
(***************************************************************************)
EXTENDS NITables

CONSTANTS
  SerTicks,        \* how long a message occupies its port
  TravelTicks,     \* for every entry of `Path`: for each link, from entering it until the whole message has arrived
  MinReduceTicks,  \* least time from arrival of a REDUCE message until it is reduced and usable
  MaxReduceTicks   \* most time from arrival of a REDUCE message until it is reduced and usable

VARIABLES
  now,      \* the tick; a fiction of the model, no NI can read it
  flying    \* messages that have been fired and have not counted yet

\* The last link that message m has come to, and the next one, if there is one.
Hop(m) == Len(m.enters)
Ahead(m) == {k \in DOMAIN m.links : k = Hop(m) + 1}

\* The tick in which message m stood before its link k; the next one: in which it will.
Came(m, k) == IF k = 1 THEN m.sent ELSE m.enters[k - 1] + m.travel[k - 1] - m.travel[k]

\* The tick from which message m no longer occupies its lane of link k.
Leaves(m, k) == m.enters[k] + SerTicks

\* The tick at which all of message m is at its destination; with links before it, if nothing blocks it.
ArrivesAt(m) == m.enters[Hop(m)] + m.travel[Hop(m)]

\* The first tick at which message m can count.
Earliest(m) == ArrivesAt(m) + IF m.op = "REDUCE" THEN MinReduceTicks ELSE 0

\* The last tick at which message m can count.
Latest(m) == ArrivesAt(m) + IF m.op = "REDUCE" THEN MaxReduceTicks ELSE 0

\* The ticks, later than now, at which a message leaves this lane: it takes them one after the other.
Leavings(link, lane) ==
  UNION {{Leaves(m, k) : k \in {j \in 1..Hop(m) : m.links[j] = link /\ m.lanes[j] = lane /\ Leaves(m, j) > now}} : m \in flying}

\* When a message that comes to the link now may enter this lane: behind those that came before.
EntersAt(link, lane) ==
  LET times == Leavings(link, lane) \union {now} IN CHOOSE t \in times : \A other \in times : other <= t

\* The lanes of the link with the least to send, the lowest numbered of equals: one.
FreestOf(link) ==
  {lane \in 1..Capacity[link] : \A other \in 1..Capacity[link] :
     EntersAt(link, lane) < EntersAt(link, other) \/ (EntersAt(link, lane) = EntersAt(link, other) /\ lane <= other)}

\* The turn of a message that comes to the link now, on that lane.
TurnAt(link) ==
  LET lane == CHOOSE freest \in FreestOf(link) : TRUE IN [lane |-> lane, enters |-> EntersAt(link, lane)]

-------------------------------------------------------------------------------
(* The next link, and the end of the last.                                   *)

\* Message m stands before its next link.
HasCome(m) == \E k \in Ahead(m) : now >= Came(m, k)

\* The lane by which message m comes is before that of another: links are pairs of nodes.
ComesBefore(m, other) ==
  LET key(msg) == msg.links[Hop(msg)] \o <<msg.lanes[Hop(msg)]>>
  IN  \E k \in DOMAIN key(m) : key(m)[k] < key(other)[k] /\ \A j \in 1..k - 1 : key(m)[j] = key(other)[j]

\* Message m can take its turn at its next link.
CanCross(m) ==
  /\ IsThere::   HasCome(m)
  /\ InOrder::   \A other \in flying : HasCome(other) => ~ComesBefore(other, m)

\* The reduction unit of a node takes messages in the order of their arrival.
IsFirstInUnit(m) ==
  m.op = "REDUCE" => \A other \in flying : other.op = "REDUCE" /\ other.dst = m.dst => ArrivesAt(m) <= ArrivesAt(other)

\* Message m can count.
CanCount(m) ==
  /\ InItsWindow:: now \in Earliest(m)..Latest(m)
  /\ InOrder::     IsFirstInUnit(m)

\* The ticks at which message m changes by itself: it stands before its next link, or it may or must count; and it leaves its lanes.
MessageEvents(m) ==
  {Leaves(m, k) : k \in 1..Hop(m)} \union {Came(m, k) : k \in Ahead(m)} \union IF Ahead(m) = {} THEN {Earliest(m), Latest(m)} ELSE {}

===============================================================================
