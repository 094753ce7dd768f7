------------------------------ MODULE NILockstep ------------------------------
(***************************************************************************)
(* Network interfaces (NIs) that execute schedule tables, slotted or paced.*)
(* The truth that exporter, simulator and RTL implement.                   *)
(*                                                                         *)
(* Time is a whole number of ticks. `now` jumps from one event to the      *)
(* next: guards compare `now` only with the times collected in `Events`,   *)
(* so between two of them nothing can become possible or impossible. As    *)
(* long as no row is late the jump loses no behaviour. Once one is, it     *)
(* fires when what it waits for counts, and a reduction unit whose times   *)
(* vary then counts at the ends of its window only, not in between. Hence  *)
(* ticks may be as fine as one likes: small numbers in the models kept     *)
(* here, cycles in a model that is generated from a real table.            *)
(*                                                                         *)
(* What happens at different nodes in one tick is in any order: nothing is *)
(* assumed, except that an arrival that counts in the tick in which a      *)
(* slot opens is in time for it.                                           *)
(*                                                                         *)
(* A message over several links takes a lane of each, one after the other, *)
(* and each for as long as it is (virtual cut-through, with room in every  *)
(* router for what waits there). A lane serves messages in the order in    *)
(* which they came to stand before it; of those that come in one tick the  *)
(* ones under way go before those of the node's own NI.                    *)
(***************************************************************************)
EXTENDS NITables

CONSTANTS
  Delay,           \* what is sent in slot s can be used from slot s + Delay on
  Run,             \* how the NIs take their rows: "slotted" by the clock, "paced" by the timestep counter
  SlotTicks,       \* slotted: length of a slot by a clock that does not drift
  SerTicks,        \* how long a message occupies its port
  TravelTicks,     \* for every entry of `Path`: for each link, from entering it until the whole message has arrived
  MinReduceTicks,  \* least time from arrival of a REDUCE message until it is reduced and usable
  MaxReduceTicks,  \* most time from arrival of a REDUCE message until it is reduced and usable
  MaxSkewTicks,    \* no NI starts its clock more than this after the first one
  MaxDriftTicks,   \* slotted: a slot of an NI is at most this much longer or shorter than SlotTicks
  BufferTicks,     \* paced: how much of a message's time at the port its injection buffer holds
  StepTicks,       \* paced: what the lockstep down-counter is loaded with in a step without rows
  MaxStepsApart    \* NIs joined by a link are never further apart in steps than this

ASSUME ConstantsAreSane ==
  /\ Delay \in Nat \ {0} /\ Run \in {"slotted", "paced"} /\ Run = "paced" => Repeats = 1 /\ MaxDriftTicks = 0
  /\ SlotTicks \in Nat \ {0} /\ SerTicks \in Nat \ {0}
  /\ DOMAIN TravelTicks = DOMAIN Path
  /\ \A way \in DOMAIN Path : LET travel == TravelTicks[way] IN
       /\ Len(travel) = Len(Path[way]) /\ travel[Len(travel)] >= SerTicks
       /\ \A k \in 2..Len(travel) : travel[k] < travel[k - 1]
  /\ MinReduceTicks \in 0..MaxReduceTicks
  /\ MaxSkewTicks \in Nat /\ MaxDriftTicks \in 0..SlotTicks - 1
  /\ BufferTicks \in Nat /\ StepTicks \in Nat /\ MaxStepsApart \in Nat

VARIABLES
  now,      \* the tick; a fiction of the model, no NI can read it
  start,    \* start[n]: the tick at which node n's clock started
  drift,    \* drift[n]: by how much each slot of node n is longer than SlotTicks
  counter,  \* counter[n]: paced: the timestep counter, and the tick before which it must not advance
  played,   \* played[n]: how many entries of its program node n has fired
  flying,   \* messages that have been fired and have not counted yet
  held,     \* held[n][item]: the bag of contributions in node n's memory
  count     \* count[n][arrival]: how many messages of that kind have counted at node n

\* The whole state.
vars == <<now, start, drift, counter, played, flying, held, count>>

-------------------------------------------------------------------------------
(* The sequencer: which row is next, and whether its time has come.          *)

\* Node n has entries left to execute.
HasNext(n) == played[n] < Len(Program[n])

\* The next entry of node n: row, slot and iteration.
Upcoming(n) == Program[n][played[n] + 1]

\* The entry of Path from node n to a destination of that row.
WayTo(n, peer) == <<n, peer, Upcoming(n).route>>

\* The tick at which node n's slot counter reaches s.
OpensAt(n, s) == start[n] + s * (SlotTicks + drift[n])

\* The time of node n's next row has come: its slot has opened, or the timestep counter has its step.
IsDue(n) ==
  /\ HasNext(n)
  /\ IF Run = "slotted" THEN now >= OpensAt(n, Upcoming(n).slot) ELSE now >= start[n] /\ counter[n].step = Upcoming(n).slot

-------------------------------------------------------------------------------
(* What a row finds when its slot opens.                                     *)

\* The arrival has counted often enough for the iteration: a counter, for several iterations are in flight.
HasCounted(n, arrival, iteration) ==
  LET of == CounterOf(arrival, iteration) IN of \in DOMAIN count[n] /\ count[n][of] >= Least(n, arrival, iteration)

\* Node n has all that its next row waits for.
DependenciesHold(n) == \A arrival \in Upcoming(n).awaits : HasCounted(n, arrival, Upcoming(n).item[2])

-------------------------------------------------------------------------------
(* Messages in flight.    `links` and `travel` are its entries of Path and   *)
(* TravelTicks; `lanes` and `enters` say of each link that it has come to    *)
(* which lane it takes there, and when it enters that.                       *)

\* The last link that message m has come to, and whether there are more behind it.
Hop(m) == Len(m.enters)
GoesFarther(m) == Hop(m) < Len(m.links)

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
  LET leavings == Leavings(link, lane)
  IN  IF leavings = {} THEN now ELSE CHOOSE t \in leavings : \A other \in leavings : other <= t

\* The turn of a message that comes to the link now: on the lane with the least to send, the lowest numbered of equals.
TurnAt(link) ==
  LET lane == CHOOSE best \in 1..Capacity[link] : \A other \in 1..Capacity[link] :
                EntersAt(link, best) < EntersAt(link, other) \/ (EntersAt(link, best) = EntersAt(link, other) /\ best <= other)
  IN  [lane |-> lane, enters |-> EntersAt(link, lane)]

-------------------------------------------------------------------------------
(* Steps                                                                     *)

\* The timestep counter of node n that reaches `step` at tick t, with `fired` entries executed. A step without rows is a NOP, which
\* loads the down-counter. Slotted NIs do without.
LoadedFor(n, step, fired, t) ==
  LET isNop == fired < Len(Program[n]) /\ Program[n][fired + 1].slot > step
  IN  [step |-> step, until |-> IF Run = "paced" /\ isNop THEN t + StepTicks ELSE t]

\* Clocks start, each with its skew; no entry has been executed; each node holds its own contribution where one is asked for.
Init ==
  /\ now = 0
  /\ start \in {s \in [Nodes -> 0..MaxSkewTicks] : \E n \in Nodes : s[n] = 0}
  /\ drift \in [Nodes -> -MaxDriftTicks..MaxDriftTicks]
  /\ counter = [n \in Nodes |-> LoadedFor(n, 0, 0, start[n])]
  /\ played = [n \in Nodes |-> 0]
  /\ flying = {}
  /\ held = [n \in Nodes |-> [place \in Places |->
       OnceEach(IF Len(place) = 3 /\ place[3] # 0 THEN {} ELSE {n} \intersect Contributors[place[1]])]]
  /\ count = [n \in Nodes |-> [of \in Counters(n) |-> 0]]

\* Message m stands before its next link.
HasCome(m) == GoesFarther(m) /\ now >= Came(m, Hop(m) + 1)

\* The lane by which message m comes is before that of another: links are pairs of nodes.
ComesBefore(m, other) ==
  LET key(msg) == msg.links[Hop(msg)] \o <<msg.lanes[Hop(msg)]>>
  IN  \E k \in 1..3 : key(m)[k] < key(other)[k] /\ \A j \in 1..k - 1 : key(m)[j] = key(other)[j]

\* Message m can take its turn at its next link.
CanCross(m) ==
  /\ IsThere::   HasCome(m)
  /\ InOrder::   \A other \in flying : HasCome(other) => ~ComesBefore(other, m)

\* Message m goes on: it takes its turn at its next link.
Cross(m) ==
  /\ CanCross(m)
  /\ LET turn == TurnAt(m.links[Hop(m) + 1])
     IN  flying' = (flying \ {m}) \union {[m EXCEPT !.lanes = Append(@, turn.lane), !.enters = Append(@, turn.enters)]}
  /\ UNCHANGED <<now, start, drift, counter, played, held, count>>

\* Node n can fire its next row: rows fire in order, so a row that lacks something stalls those after it. A busy port does not
\* hold a row back: its messages queue there.
CanFire(n) ==
  /\ ItsTimeHasCome::   IsDue(n)
  /\ HasWhatItNeeds::   DependenciesHold(n)
  /\ HasLinks::         \A peer \in Upcoming(n).to : WayTo(n, peer) \in DOMAIN Path

\* The message that node n sends to peer when it fires its next row. The row tells twins apart that equal rows send at once.
MessageTo(n, peer) ==
  LET way == WayTo(n, peer)
      turn == TurnAt(Path[way][1])
  IN  [op |-> Upcoming(n).op, item |-> Upcoming(n).item, src |-> n, dst |-> peer, sent |-> now,
       row |-> Upcoming(n).row, load |-> held[n][Place(Upcoming(n).item, Reads(n, Upcoming(n).row))],
       links |-> Path[way], travel |-> TravelTicks[way], lanes |-> <<turn.lane>>, enters |-> <<turn.enters>>]

\* Whether it is node n's turn to act within a tick: always. Models may order the nodes here, see MCNILockstep.
InTurn(n) == TRUE

\* Node n fires its next row: one message to each destination, with what it holds now.
Fire(n) ==
  /\ CanFire(n)
  /\ flying' = flying \union {MessageTo(n, peer) : peer \in Upcoming(n).to}
  /\ played' = [played EXCEPT ![n] = @ + 1]
  /\ counter' = IF Run = "paced" THEN [counter EXCEPT ![n].until = now + 1] ELSE counter
  /\ UNCHANGED <<now, start, drift, held, count>>

\* The ticks at which messages have left the ports of node n, those that pass through it included: ports are lanes out of it.
LeavingPorts(n) == UNION {{Leaves(m, k) : k \in {j \in 1..Hop(m) : m.links[j][1] = n}} : m \in flying}

\* Paced: no flit waits outside the injection buffers of node n, and its reduction unit has nothing to do.
IsIdle(n) ==
  /\ \A t \in LeavingPorts(n) : t - BufferTicks <= now
  /\ \A m \in flying : m.op = "REDUCE" /\ m.dst = n => now < ArrivesAt(m)

\* Paced: node n's timestep counter can advance: the rows of its step are issued, the down-counter is at zero, the units are idle.
CanAdvance(n) ==
  /\ IsPaced::      Run = "paced" /\ HasNext(n)
  /\ StepIsIssued:: counter[n].step < Upcoming(n).slot
  /\ CountedDown::  now >= counter[n].until
  /\ UnitsAreIdle:: IsIdle(n)

\* Node n's timestep counter advances by one; at most once a tick, and not in the tick in which a row is issued.
Advance(n) ==
  /\ CanAdvance(n)
  /\ LET next == LoadedFor(n, counter[n].step + 1, played[n], now)
     IN  counter' = [counter EXCEPT ![n] = [next EXCEPT !.until = IF @ > now THEN @ ELSE now + 1]]
  /\ UNCHANGED <<now, start, drift, played, flying, held, count>>

\* The reduction unit of a node takes messages in the order of their arrival.
IsFirstInUnit(m) ==
  m.op = "REDUCE" => \A other \in flying : other.op = "REDUCE" /\ other.dst = m.dst => ArrivesAt(m) <= ArrivesAt(other)

\* The arrival that message m is, and its counter.
ArrivalOf(m) == IF IsCounted THEN <<m.item[1], Writes(m.src, m.row), 0>> ELSE <<m.op, m.item[1], m.src>>
CounterOfMessage(m) == CounterOf(ArrivalOf(m), m.item[2])

\* The counters when message m, which is expected, has counted too.
Counted(m, counted) == [counted EXCEPT ![m.dst][CounterOfMessage(m)] = @ + 1]

\* Message m can count.
CanCount(m) ==
  /\ InItsWindow:: now \in Earliest(m)..Latest(m)
  /\ InOrder::     IsFirstInUnit(m)

\* Message m is usable from now on: a REDUCE is added, a GATHER replaces what was there; then, and not before, it counts.
Count(m) ==
  /\ CanCount(m)
  /\ flying' = flying \ {m}
  /\ held' = [held EXCEPT ![m.dst][Place(m.item, Writes(m.src, m.row))] = IF m.op = "REDUCE" THEN Plus(@, m.load) ELSE m.load]
  /\ count' = IF CounterOfMessage(m) \in Counters(m.dst) THEN Counted(m, count) ELSE count
  /\ UNCHANGED <<now, start, drift, counter, played>>

\* The ticks at which the sequencer of node n changes by itself.
SequencerEvents(n) ==
  IF ~HasNext(n) THEN {}
  ELSE IF Run = "slotted" THEN {OpensAt(n, Upcoming(n).slot)}
  ELSE {start[n], counter[n].until} \union {t - BufferTicks : t \in LeavingPorts(n)}

\* The ticks at which message m changes by itself: it stands before its next link, or it may or must count; and it leaves its lanes.
MessageEvents(m) ==
  {Leaves(m, k) : k \in 1..Hop(m)} \union IF GoesFarther(m) THEN {Came(m, Hop(m) + 1)} ELSE {Earliest(m), Latest(m)}

\* The times at which a guard can change.
Events == UNION {MessageEvents(m) : m \in flying} \union UNION {SequencerEvents(n) : n \in Nodes}

\* All that must happen now has happened.
TimeCanPass ==
  /\ NobodyStands::  \A m \in flying : ~HasCome(m)
  /\ NothingFires::  \A n \in Nodes : ~CanFire(n) /\ ~CanAdvance(n)
  /\ NothingIsLeft:: \A m \in flying : now < Latest(m)

\* Nothing can change between now and tick t.
IsNextEvent(t) ==
  /\ t > now
  /\ NothingBetween:: \A other \in Events : other > now => t <= other

\* Time goes on to the next event.
Tick ==
  /\ TimeCanPass
  /\ \E t \in Events : IsNextEvent(t) /\ now' = t
  /\ UNCHANGED <<start, drift, counter, played, flying, held, count>>

\* Node n is done: all rows of all iterations fired, all expected arrivals counted.
NodeIsDone(n) ==
  /\ ~HasNext(n)
  /\ \A arrival \in Arrivals[n] : \A i \in 0..Repeats - 1 : HasCounted(n, arrival, i)
  /\ ~IsCounted => \A arrival \in Arrivals[n] : count[n][arrival] = Repeats

\* The run is over.
AllDone == flying = {} /\ \A n \in Nodes : NodeIsDone(n)

\* The end of a run is no deadlock.
Rest == AllDone /\ UNCHANGED vars

\* Node n fires its next row or advances its counter, once all that is under way has taken its turn.
Act(n) ==
  /\ UnderWayFirst:: \A m \in flying : ~HasCome(m)
  /\ Fire(n) \/ Advance(n)

\* One message takes its turn at a link, one row fires, one counter advances, one message counts, or time goes on.
Next ==
  \/ \E m \in flying : Cross(m)
  \/ \E n \in Nodes : InTurn(n) /\ Act(n)
  \/ \E m \in flying : InTurn(m.dst) /\ Count(m)
  \/ Tick
  \/ Rest

\* Every step brings a run nearer to its end, so it is enough that something happens as long as anything can.
Spec == Init /\ [][Next]_vars /\ WF_vars(Next)

-------------------------------------------------------------------------------
(* Properties                                                                *)

\* The values the variables range over.
TypeOK ==
  /\ T1_Time::     now \in Nat /\ start \in [Nodes -> 0..MaxSkewTicks] /\ drift \in [Nodes -> -MaxDriftTicks..MaxDriftTicks]
  /\ T2_Program::  \A n \in Nodes : played[n] \in 0..Len(Program[n])
  /\ T3_Messages:: \A m \in flying : m.op \in Ops /\ m.dst \in Nodes /\ m.item \in Items /\ m.load \in Bags
  /\ T4_Memory::   held \in [Nodes -> [Places -> Bags]]
  /\ T5_Counters:: \A n \in Nodes : count[n] \in [Counters(n) -> IF IsCounted THEN Nat ELSE 0..Repeats]

\* No contribution is ever added twice.
ExactlyOnce ==
  /\ \A n \in Nodes, place \in Places, k \in Nodes : held[n][place][k] <= 1
  /\ \A m \in flying, k \in Nodes : m.load[k] <= 1

\* A row whose slot is open finds a link to each destination.
LinksExist == \A n \in Nodes : IsDue(n) => \A peer \in Upcoming(n).to : WayTo(n, peer) \in DOMAIN Path

\* Slotted: no row is late: whatever is due at a tick fires before the next one.
NoLateRow == \A n \in Nodes : HasNext(n) => now <= OpensAt(n, Upcoming(n).slot)

\* No message to another node has to wait at its port, or for a link on its path. The copy unit of a node is a link to itself.
NoBusyPort == \A m \in {f \in flying : f.src # f.dst} : \A k \in 1..Hop(m) : m.enters[k] = Came(m, k)

\* A lane serves messages one after the other, none before it is there, in the order in which they came; of equals the ones under way
\* before those that have it as their port, and among those by the lane that they came by.
LanesAreQueues ==
  /\ \A m \in flying : \A k \in 1..Hop(m) : m.enters[k] >= Came(m, k)
  /\ \A m, other \in flying : \A k \in 1..Hop(m), j \in 1..Hop(other) :
       LET by(msg, i) == IF i = 1 THEN <<Came(msg, i), 1, 0, 0, 0>>
                         ELSE <<Came(msg, i), 0>> \o msg.links[i - 1] \o <<msg.lanes[i - 1]>>
           first == \E i \in 1..5 : by(m, k)[i] < by(other, j)[i] /\ \A h \in 1..i - 1 : by(m, k)[h] = by(other, j)[h]
       IN  m.links[k] = other.links[j] /\ m.lanes[k] = other.lanes[j] /\ <<m, k>> # <<other, j>> =>
             \/ Leaves(m, k) <= other.enters[j]
             \/ ~first /\ Leaves(other, j) <= m.enters[k]

\* Every message in flight is expected where it goes.
OnlyExpected == \A m \in flying : CounterOfMessage(m) \in Counters(m.dst)

\* What feeds row r of node n: the node's GATHER arrivals of the flow for a GATHER that has one, else its REDUCE arrivals.
Feeds(n, r) ==
  LET of(op) == {arrival \in ArrivalsOfFlow[n][Table[n][r].flow] : arrival[1] = op}
  IN  IF Table[n][r].op = "GATHER" /\ of("GATHER") # {} THEN of("GATHER") ELSE of("REDUCE")

\* How many of the messages to the cell that row r of node n reads have landed when it fires in time.
Landed(n, r) ==
  LET row == Table[n][r]
      into(k) == {j \in DOMAIN Table[k] : n \in Table[k][j].children /\ Table[k][j].flow = row.flow /\ Table[k][j].into = row.from
                                          /\ Table[k][j].step + Delay <= row.step}
  IN  Cardinality(UNION {{<<k, j>> : j \in into(k)} : k \in Nodes})

\* Rows that do not wait for all that feeds them, as pairs of node and row.
Careless == UNION {{<<n, r>> : r \in {k \in DOMAIN Table[n] :
  IF IsCounted THEN Table[n][k].wait < Landed(n, k) ELSE ~(Feeds(n, k) \subseteq Dependencies(n, k))}} : n \in Nodes}

\* Rows wait for all that feeds them. No difference in a run that is on time; it keeps sums right when something is late.
EveryArrivalAwaited == \A n \in Nodes : played[n] > 0 => <<n, Program[n][played[n]].row>> \notin Careless

\* Message m is no longer in flight after the step: it has counted.
IsOver(m) == m \notin flying' /\ \A k \in flying' : <<k.src, k.row, k.item, k.dst>> # <<m.src, m.row, m.item, m.dst>>

\* Nothing counts before it can: a copy when all of it has arrived, a sum MinReduceTicks later.
NothingCountsEarly == [][\A m \in flying : IsOver(m) => now >= Earliest(m) /\ ~GoesFarther(m)]_flying

\* Sums count in the order in which their messages arrived.
SumsInOrder ==
  [][\A m \in flying : IsOver(m) /\ m.op = "REDUCE" =>
       \A other \in flying : other.op = "REDUCE" /\ other.dst = m.dst => ArrivesAt(m) <= ArrivesAt(other)]_flying

\* The step that node n is at: what its counter shows, or the slot of the row that holds it up.
StepOf(n) ==
  IF Run = "paced" THEN counter[n].step
  ELSE LET slot == IF now < start[n] THEN 0 ELSE (now - start[n]) \div (SlotTicks + drift[n])
       IN  IF slot < Upcoming(n).slot THEN slot ELSE Upcoming(n).slot

\* Neighbours with entries left to execute are never further apart than the stated bound.
StepsApart ==
  \A way \in DOMAIN Path : HasNext(way[1]) /\ HasNext(way[2]) =>
    StepOf(way[1]) - StepOf(way[2]) \in -MaxStepsApart..MaxStepsApart

\* Every run ends: no deadlock, and no run for ever.
EveryRunEnds == <>AllDone

-------------------------------------------------------------------------------
(* Why a slotted run holds for any table that keeps the rules of the checker: *)
(* an inductive invariant. `certree model-check --symbolic` proves with z3   *)
(* that every action keeps it, for any number of nodes, rows and iterations; *)
(* TLC checks the same conjuncts, by the same names, on the small models.    *)

\* The slot in which message m was due.
SlotOf(m) == Table[m.src][m.row].step + m.item[2] * Period

\* How many messages of an arrival's kind node n's peer has fired.
FiredOf(n, arrival) ==
  LET peer == arrival[3]
      commanding(k) == Program[peer][k].op = arrival[1] /\ Program[peer][k].item[1] = arrival[2] /\ n \in Program[peer][k].to
  IN  Cardinality({k \in 1..played[peer] : commanding(k)})

\* I1: whatever was due before now has fired.
FiredInTime == \A n \in Nodes : HasNext(n) => now <= OpensAt(n, Upcoming(n).slot)

\* I2: nothing has fired before its slot.
NotTooEarly == \A n \in Nodes : played[n] > 0 => OpensAt(n, Program[n][played[n]].slot) <= now

\* I3: what is in flight was fired when its slot opened, and found its links free.
SentWhenDue == \A m \in flying : m.sent = OpensAt(m.src, SlotOf(m)) /\ \A k \in 1..Hop(m) : m.enters[k] = m.sent + m.travel[1] - m.travel[k]

\* I4: nothing in flight is overdue.
NotOverdue == \A m \in flying : now <= Latest(m)

\* I5: what has been fired is in flight or has counted, in order of the iterations.
CountedOrFlying ==
  \A n \in Nodes : \A arrival \in Arrivals[n] :
    LET mine == {m \in flying : m.dst = n /\ <<m.op, m.item[1], m.src>> = arrival}
    IN  /\ count[n][arrival] + Cardinality(mine) = FiredOf(n, arrival)
        /\ \A m \in mine : m.item[2] >= count[n][arrival]

\* I6: what has fired had all that it waits for.
NothingMissing ==
  \A n \in Nodes : \A k \in 1..played[n] : \A arrival \in Program[n][k].awaits : HasCounted(n, arrival, Program[n][k].item[2])

\* The invariant.
SlottedInvariant == FiredInTime /\ NotTooEarly /\ SentWhenDue /\ NotOverdue /\ CountedOrFlying /\ NothingMissing

-------------------------------------------------------------------------------
(* Refinement: the NIs execute a schedule and keep a collective's promise.    *)

\* The transfers that have counted.
Delivered == {t \in Commanded : HasCounted(t.dst, <<t.op, t.item[1], t.src>>, t.item[2])}

\* For every pair of nodes between which a message can travel: the links of its paths.
LinksOfPath == [pair \in {<<way[1], way[2]>> : way \in DOMAIN Path} |->
  UNION {{Path[way][k] : k \in DOMAIN Path[way]} : way \in {w \in DOMAIN Path : <<w[1], w[2]>> = pair}}]

\* The schedule that the tables command: a transfer happens when its message counts.
Played == INSTANCE Schedule WITH
  Contributors <- ItemContributors, Promised <- ItemPromised, Transfers <- Commanded, Path <- LinksOfPath, done <- Delivered

\* A run begins as the schedule does.
BeginsAsScheduled == <<held, Delivered>> = Played!Beginning

\* A run steps as the schedule does: what counts was complete when it was sent, and still is. Played!Next, told which transfer.
StepsAsScheduled ==
  [][Delivered' # Delivered /\ \E t \in Delivered' \ Delivered : Played!Move(t)]_<<held, Delivered>>

\* Node n has finished the item: its rows of the flow have fired and its arrivals of the flow have counted for the iteration.
HasFinished(n, item) ==
  /\ played[n] >= LastPlace[n][item]
  /\ \A arrival \in ArrivalsOfFlow[n][item[1]] : HasCounted(n, arrival, item[2])

\* The pairs of node and item that are promised.
DueHere == {pair \in Nodes \X Items : pair[1] \in ItemPromised[pair[2]]}

\* What the run shows of each promised result: nothing, then what is in memory when the node has finished.
Shown == [due \in DueHere |-> IF HasFinished(due[1], due[2]) THEN <<held[due[1]][Place(due[2], 0)]>> ELSE <<>>]

\* The collective that the run performs, seen through what it shows.
Collective == INSTANCE AllReduce WITH
  Ranks <- Nodes, Contributors <- ItemContributors, Promised <- ItemPromised, result <- Shown

\* Every behaviour of the NIs is a behaviour of the collective: only right results, each once, and all of them in the end.
KeepsThePromise == Collective!Spec

\* Its safety in two parts, which together with EveryRunEnds is as strong: once all is finished no fairness is asked of
\* Collective!Next. First: a run begins as the collective does.
BeginsWithThePromise == Collective!Init

\* Second: it steps as the collective does. `Shown'[due] # Shown[due]` follows from Finish(due) and is tested first for speed.
NeverBreaksThePromise == [][\E due \in DueHere : Shown'[due] # Shown[due] /\ Collective!Finish(due)]_Shown

\* What is finished is right, as an invariant.
RightSum == \A due \in DueHere : HasFinished(due[1], due[2]) => held[due[1]][Place(due[2], 0)] = OnceEach(Contributors[due[2][1]])

\* Of right tables in slots that are long enough: of trees the first, of all the second, as TLC checks for those of the models.
THEOREM Spec => BeginsAsScheduled /\ StepsAsScheduled
THEOREM Spec => BeginsWithThePromise /\ NeverBreaksThePromise /\ EveryRunEnds
===============================================================================
