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
(***************************************************************************)
EXTENDS NISequencer

CONSTANTS
  Delay,           \* what is sent in slot s can be used from slot s + Delay on
  MaxSkewTicks,    \* no NI starts its clock more than this after the first one
  MaxDriftTicks,   \* slotted: a slot of an NI is at most this much longer or shorter than SlotTicks
  MaxStepsApart    \* NIs joined by a link are never further apart in steps than this

ASSUME ConstantsAreSane ==
  /\ Delay \in Nat \ {0} /\ Run \in {"slotted", "paced"} /\ Run = "paced" => MaxDriftTicks = 0
  /\ SlotTicks \in Nat \ {0} /\ SerTicks \in Nat \ {0}
  /\ DOMAIN TravelTicks = DOMAIN Path
  /\ \A way \in DOMAIN Path : LET travel == TravelTicks[way] IN
       /\ Len(travel) = Len(Path[way]) /\ travel[Len(travel)] >= SerTicks
       /\ \A k \in 2..Len(travel) : travel[k] < travel[k - 1]
  /\ MinReduceTicks \in 0..MaxReduceTicks
  /\ MaxSkewTicks \in Nat /\ MaxDriftTicks \in 0..SlotTicks - 1
  /\ BufferTicks \in Nat /\ StepTicks \in Nat /\ MaxStepsApart \in Nat

VARIABLE
  held      \* held[n][item]: the bag of contributions in node n's memory

\* The whole state.
vars == <<now, start, drift, counter, fired, flying, held, count>>

-------------------------------------------------------------------------------
(* Steps                                                                     *)

\* Clocks start, each with its skew; no entry has been executed; each node holds its own contribution where one is asked for.
Init ==
  /\ now = 0
  /\ start \in {s \in [Nodes -> 0..MaxSkewTicks] : \E n \in Nodes : s[n] = 0}
  /\ drift \in [Nodes -> -MaxDriftTicks..MaxDriftTicks]
  /\ counter = [n \in Nodes |-> LoadedFor(n, 0, 0, start[n])]
  /\ fired = [n \in Nodes |-> 0]
  /\ flying = {}
  /\ held = [n \in Nodes |-> [place \in Places |->
       OnceEach(IF Len(place) = 3 /\ place[3] # 0 THEN {} ELSE {n} \intersect Contributors[place[1]])]]
  /\ count = [n \in Nodes |-> [of \in Counters(n) |-> 0]]

\* Message m goes on: it takes its turn at its next link.
Cross(m) ==
  /\ CanCross(m)
  /\ \E k \in Ahead(m) :
     LET turn == TurnAt(m.links[k])
     IN  flying' = (flying \ {m}) \union {[m EXCEPT !.lanes = Append(@, turn.lane), !.enters = Append(@, turn.enters)]}
  /\ UNCHANGED <<now, start, drift, counter, fired, held, count>>

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
  /\ fired' = [fired EXCEPT ![n] = @ + 1]
  /\ counter' = IF Run = "paced" THEN [counter EXCEPT ![n].until = now + 1] ELSE counter
  /\ UNCHANGED <<now, start, drift, held, count>>

\* Node n's timestep counter advances by one; at most once a tick, and not in the tick in which a row is issued.
Advance(n) ==
  /\ CanAdvance(n)
  /\ LET next == LoadedFor(n, counter[n].step + 1, fired[n], now)
     IN  counter' = [counter EXCEPT ![n] = [next EXCEPT !.until = IF @ > now THEN @ ELSE now + 1]]
  /\ UNCHANGED <<now, start, drift, fired, flying, held, count>>

\* The arrival that message m is, and its counter.
ArrivalOf(m) == IF IsCounted THEN <<m.item[1], Writes(m.src, m.row), 0>> ELSE <<m.op, m.item[1], m.src>>
CounterOfMessage(m) == CounterOf(ArrivalOf(m), m.item[2])

\* The counters when message m, which is expected, has counted too.
Counted(m, counted) == [counted EXCEPT ![m.dst][CounterOfMessage(m)] = @ + 1]

\* Message m is usable from now on: a REDUCE is added, a GATHER replaces what was there; then, and not before, it counts.
Count(m) ==
  /\ CanCount(m)
  /\ flying' = flying \ {m}
  /\ held' = [held EXCEPT ![m.dst][Place(m.item, Writes(m.src, m.row))] = IF m.op = "REDUCE" THEN Plus(@, m.load) ELSE m.load]
  /\ count' = IF CounterOfMessage(m) \in Counters(m.dst) THEN Counted(m, count) ELSE count
  /\ UNCHANGED <<now, start, drift, counter, fired>>

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
  /\ UNCHANGED <<start, drift, counter, fired, flying, held, count>>

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
===============================================================================
