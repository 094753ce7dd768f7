------------------------------ MODULE NILockstep ------------------------------
(***************************************************************************)
(* Network interfaces (NIs) that play schedule tables, slotted, on a       *)
(* direct network. The truth that exporter, simulator and RTL implement;   *)
(* the field names are those of the NI contract.                           *)
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
EXTENDS Integers, Sequences, FiniteSets

\* For TLCEval, the identity: TLC then keeps the values of a function instead of computing one at each use.
LOCAL INSTANCE TLC

CONSTANTS
  Nodes,           \* the endpoints, by topology id
  Flows,           \* the chunks of one iteration
  Contributors,    \* for every flow: the nodes whose contribution belongs to the sum
  Promised,        \* for every flow: the nodes at which the sum is due
  Table,           \* for every node: its rows, in order of step
  Arrivals,        \* for every node: the set of <<op, flow, peer>> it expects once an iteration
  Capacity,        \* for every joined pair <<from, to>>: how many messages its port sends at once
  Period,          \* slots from one iteration to the next
  Repeats,         \* number of iterations
  SlotTicks,       \* length of a slot
  SerTicks,        \* how long a message occupies its port
  TravelTicks,     \* for every joined pair: from firing until the whole message has arrived
  MinReduceTicks,  \* least time from arrival of a REDUCE message until it is reduced and usable
  MaxReduceTicks,  \* most time from arrival of a REDUCE message until it is reduced and usable
  MaxSkewTicks     \* no NI starts its clock more than this after the first one

\* The empty parent of a row.
Nil == -1

\* What the opcodes of a table say: add to what the destination holds, or replace it. NOPs are implicit in a slotted table.
Ops == {"REDUCE", "GATHER"}

\* A row: REDUCE sends to `parent` and waits for `children`; GATHER waits for `parent` and sends to `children`.
\* Its destinations may be wrong: that is for the properties to find.
RowType == [op : Ops, flow : Flows, parent : Int, children : SUBSET Int, step : Nat]

ASSUME ConstantsAreSane ==
  /\ \A n \in Nodes : \A r \in DOMAIN Table[n] : Table[n][r] \in RowType
  /\ \A n \in Nodes : Arrivals[n] \subseteq Ops \X Flows \X Int
  /\ Period \in Nat \ {0} /\ Repeats \in Nat \ {0}
  /\ SlotTicks \in Nat \ {0} /\ SerTicks \in Nat \ {0}
  /\ DOMAIN TravelTicks = DOMAIN Capacity /\ \A p \in DOMAIN TravelTicks : TravelTicks[p] >= SerTicks
  /\ MinReduceTicks \in 0..MaxReduceTicks /\ MaxSkewTicks \in Nat

VARIABLES
  now,     \* the tick; a fiction of the model, no NI can read it
  start,   \* start[n]: the tick at which node n's clock started
  played,  \* played[n]: how many entries of its program node n has fired
  flying,  \* messages that have been fired and have not counted yet
  held,    \* held[n][item]: the bag of contributions in node n's memory
  count    \* count[n][arrival]: how many messages of that kind have counted at node n

\* The whole state.
vars == <<now, start, played, flying, held, count>>

-------------------------------------------------------------------------------
(* Rows and programs: what a table and the slot counter make a node play.    *)

\* The arrivals that row r of node n waits for: all REDUCEs of its flow, if it is the root's GATHER.
Dependencies(n, r) ==
  LET row == Table[n][r]
  IN  CASE row.op = "REDUCE" -> {<<"REDUCE", row.flow, peer>> : peer \in row.children}
        [] row.op = "GATHER" /\ row.parent # Nil -> {<<"GATHER", row.flow, row.parent>>}
        [] OTHER -> {arrival \in Arrivals[n] : arrival[1] = "REDUCE" /\ arrival[2] = row.flow}

\* The nodes that row r of node n sends to.
Destinations(n, r) ==
  LET row == Table[n][r]
  IN  IF row.op = "REDUCE" THEN {row.parent} ELSE row.children

\* An item is one chunk of one iteration.
Items == Flows \X (0..Repeats - 1)

\* The iteration that row r of node n serves in slot s: period of the slot less stage of the row.
IterationIn(n, r, s) == (s \div Period) - (Table[n][r].step \div Period)

\* Row r is played in slot s: its place in the period has come, and neither prologue nor epilogue switches it off.
IsLive(n, r, s) ==
  /\ s % Period = Table[n][r].step % Period
  /\ IterationIn(n, r, s) \in 0..Repeats - 1

\* The last slot in which anything of node n is live.
LastSlot(n) ==
  LET steps == {Table[n][r].step : r \in DOMAIN Table[n]}
  IN  (CHOOSE last \in steps : \A step \in steps : step <= last) + (Repeats - 1) * Period

\* Row r of node n, played in slot s.
Entry(n, r, s) ==
  [row |-> r, slot |-> s, item |-> <<Table[n][r].flow, IterationIn(n, r, s)>>, op |-> Table[n][r].op,
   awaits |-> Dependencies(n, r), to |-> Destinations(n, r)]

\* What node n plays in slot s, in the order of its rows.
InSlot(n, s) ==
  LET live == SelectSeq([r \in DOMAIN Table[n] |-> r], LAMBDA r : IsLive(n, r, s))
  IN  [k \in DOMAIN live |-> Entry(n, live[k], s)]

\* What every node plays, from first to last.
Program == [n \in Nodes |->
  IF Table[n] = <<>> THEN <<>>
  ELSE LET from[s \in 0..LastSlot(n) + 1] == IF s > LastSlot(n) THEN <<>> ELSE InSlot(n, s) \o from[s + 1] IN from[0]]

\* For every node and item: the place in its program of the last row that serves the item, 0 if none does.
LastPlace == TLCEval([n \in Nodes |-> TLCEval([item \in Items |->
  LET places == {k \in DOMAIN Program[n] : Program[n][k].item = item}
  IN  IF places = {} THEN 0 ELSE CHOOSE k \in places : \A other \in places : other <= k])])

\* For every node and flow: the arrivals it expects.
ArrivalsOfFlow == [n \in Nodes |-> [flow \in Flows |-> {arrival \in Arrivals[n] : arrival[2] = flow}]]

\* Node n has something left to play.
HasNext(n) == played[n] < Len(Program[n])

\* What node n plays next: row, slot and iteration.
Upcoming(n) == Program[n][played[n] + 1]

\* The tick at which node n's slot counter reaches s.
OpensAt(n, s) == start[n] + s * SlotTicks

\* The slot of node n's next row has opened.
IsDue(n) == HasNext(n) /\ now >= OpensAt(n, Upcoming(n).slot)

-------------------------------------------------------------------------------
(* What a row finds when its slot opens.                                     *)

\* The arrival has counted often enough for the iteration: a counter, for several iterations are in flight.
HasCounted(n, arrival, iteration) == arrival \in DOMAIN count[n] /\ count[n][arrival] >= iteration + 1

\* Node n has all that its next row waits for.
DependenciesHold(n) == \A arrival \in Upcoming(n).awaits : HasCounted(n, arrival, Upcoming(n).item[2])

\* The tick from which message m no longer occupies its port.
LeavesPort(m) == m.sent + SerTicks

\* The tick at which all of message m is at its destination.
ArrivesAt(m) == m.sent + TravelTicks[<<m.src, m.dst>>]

\* The first tick at which message m can count.
Earliest(m) == ArrivesAt(m) + IF m.op = "REDUCE" THEN MinReduceTicks ELSE 0

\* The last tick at which message m can count.
Latest(m) == ArrivesAt(m) + IF m.op = "REDUCE" THEN MaxReduceTicks ELSE 0

\* There is a link from n to peer, and its port has room for one more message.
PortIsFree(n, peer) ==
  /\ <<n, peer>> \in DOMAIN Capacity
  /\ Cardinality({m \in flying : m.src = n /\ m.dst = peer /\ now < LeavesPort(m)}) < Capacity[<<n, peer>>]

-------------------------------------------------------------------------------
(* Steps                                                                     *)

\* The bag in which each of `nodes` counts once.
OnceEach(nodes) == [n \in Nodes |-> IF n \in nodes THEN 1 ELSE 0]

\* The sum of two bags.
Plus(a, b) == [n \in Nodes |-> a[n] + b[n]]

\* Clocks start, each with its skew; nothing has been played; each node holds its own contribution where one is asked for.
Init ==
  /\ now = 0
  /\ start \in {s \in [Nodes -> 0..MaxSkewTicks] : \E n \in Nodes : s[n] = 0}
  /\ played = [n \in Nodes |-> 0]
  /\ flying = {}
  /\ held = [n \in Nodes |-> [item \in Items |-> OnceEach({n} \intersect Contributors[item[1]])]]
  /\ count = [n \in Nodes |-> [arrival \in Arrivals[n] |-> 0]]

\* Node n can fire its next row: rows fire in order, so a row that lacks something stalls those after it.
CanFire(n) ==
  /\ SlotIsOpen::       IsDue(n)
  /\ HasWhatItNeeds::   DependenciesHold(n)
  /\ PortsAreFree::     \A peer \in Upcoming(n).to : PortIsFree(n, peer)

\* The message that node n sends to peer when it fires its next row. The row tells twins apart that equal rows send at once.
MessageTo(n, peer) ==
  [op |-> Upcoming(n).op, item |-> Upcoming(n).item, src |-> n, dst |-> peer, sent |-> now, row |-> Upcoming(n).row,
   load |-> held[n][Upcoming(n).item]]

\* Whether it is node n's turn to act within a tick: always. Models may order the nodes here, see MCNILockstep.
InTurn(n) == TRUE

\* Node n fires its next row: one message to each destination, with what it holds now.
Fire(n) ==
  /\ CanFire(n)
  /\ flying' = flying \union {MessageTo(n, peer) : peer \in Upcoming(n).to}
  /\ played' = [played EXCEPT ![n] = @ + 1]
  /\ UNCHANGED <<now, start, held, count>>

\* The reduction unit of a node takes messages in the order of their arrival.
IsFirstInUnit(m) ==
  m.op = "REDUCE" => \A other \in flying : other.op = "REDUCE" /\ other.dst = m.dst => ArrivesAt(m) <= ArrivesAt(other)

\* Message m is usable from now on: a REDUCE is added, a GATHER replaces what was there; then, and not before, it counts.
Count(m) ==
  /\ InItsWindow:: now \in Earliest(m)..Latest(m)
  /\ InOrder::     IsFirstInUnit(m)
  /\ flying' = flying \ {m}
  /\ held' = [held EXCEPT ![m.dst][m.item] = IF m.op = "REDUCE" THEN Plus(@, m.load) ELSE m.load]
  /\ count' = IF <<m.op, m.item[1], m.src>> \in Arrivals[m.dst]
              THEN [count EXCEPT ![m.dst][<<m.op, m.item[1], m.src>>] = @ + 1]
              ELSE count
  /\ UNCHANGED <<now, start, played>>

\* The times at which a guard can change.
Events ==
  UNION {{Earliest(m), Latest(m), LeavesPort(m)} : m \in flying}
    \union {OpensAt(n, Upcoming(n).slot) : n \in {k \in Nodes : HasNext(k)}}

\* Time goes on to the next event, once all that must happen now has happened.
Tick ==
  /\ NothingFires::  \A n \in Nodes : ~CanFire(n)
  /\ NothingIsLeft:: \A m \in flying : now < Latest(m)
  /\ \E t \in Events :
       /\ t > now
       /\ \A other \in Events : other > now => t <= other
       /\ now' = t
  /\ UNCHANGED <<start, played, flying, held, count>>

\* Node n is done: all rows of all iterations fired, all expected arrivals counted.
NodeIsDone(n) == ~HasNext(n) /\ \A arrival \in Arrivals[n] : count[n][arrival] = Repeats

\* The run is over.
AllDone == flying = {} /\ \A n \in Nodes : NodeIsDone(n)

\* The end of a run is no deadlock.
Rest == AllDone /\ UNCHANGED vars

\* One row fires, one message counts, or time goes on.
Next ==
  \/ \E n \in Nodes : InTurn(n) /\ Fire(n)
  \/ \E m \in flying : InTurn(m.dst) /\ Count(m)
  \/ Tick
  \/ Rest

\* Every step brings a run nearer to its end, so it is enough that something happens as long as anything can.
Spec == Init /\ [][Next]_vars /\ WF_vars(Next)

-------------------------------------------------------------------------------
(* Properties of a slotted run                                               *)

\* What a bag is: how often each node's contribution was added.
Bags == [Nodes -> 0..Cardinality(Nodes)]

\* The values the variables range over.
TypeOK ==
  /\ T1_Time::     now \in Nat /\ start \in [Nodes -> 0..MaxSkewTicks]
  /\ T2_Program::  \A n \in Nodes : played[n] \in 0..Len(Program[n])
  /\ T3_Messages:: \A m \in flying : m.op \in Ops /\ m.dst \in Nodes /\ m.item \in Items /\ m.load \in Bags
  /\ T4_Memory::   held \in [Nodes -> [Items -> Bags]]
  /\ T5_Counters:: \A n \in Nodes : count[n] \in [Arrivals[n] -> 0..Repeats]

\* No contribution is ever added twice.
ExactlyOnce ==
  /\ \A n \in Nodes, item \in Items, k \in Nodes : held[n][item][k] <= 1
  /\ \A m \in flying, k \in Nodes : m.load[k] <= 1

\* A row whose slot is open finds a link to each destination.
LinksExist == \A n \in Nodes : IsDue(n) => \A peer \in Upcoming(n).to : <<n, peer>> \in DOMAIN Capacity

\* No row is late: whatever is due at a tick fires before the next one.
NoLateRow == \A n \in Nodes : HasNext(n) => now <= OpensAt(n, Upcoming(n).slot)

\* A row whose slot is open finds a free port to each destination.
NoBusyPort == \A n \in Nodes : IsDue(n) => \A peer \in Upcoming(n).to : PortIsFree(n, peer)

\* Every message in flight is expected where it goes.
OnlyExpected == \A m \in flying : <<m.op, m.item[1], m.src>> \in Arrivals[m.dst]

\* What feeds row r of node n: the node's GATHER arrivals of the flow for a GATHER that has one, else its REDUCE arrivals.
Feeds(n, r) ==
  LET of(op) == {arrival \in ArrivalsOfFlow[n][Table[n][r].flow] : arrival[1] = op}
  IN  IF Table[n][r].op = "GATHER" /\ of("GATHER") # {} THEN of("GATHER") ELSE of("REDUCE")

\* Rows that do not wait for all that feeds them, as pairs of node and row.
Careless == UNION {{<<n, r>> : r \in {k \in DOMAIN Table[n] : ~(Feeds(n, k) \subseteq Dependencies(n, k))}} : n \in Nodes}

\* Rows wait for all that feeds them. No difference in a run that is on time; it keeps sums right when something is late.
EveryArrivalAwaited == \A n \in Nodes : played[n] > 0 => <<n, Program[n][played[n]].row>> \notin Careless

\* Every run ends: no deadlock, and no run for ever.
EveryRunEnds == <>AllDone

-------------------------------------------------------------------------------
(* Refinement: the NIs keep the promise of a collective.                     *)

\* Node n has finished the item: its rows of the flow have fired and its arrivals of the flow have counted for the iteration.
HasFinished(n, item) ==
  /\ played[n] >= LastPlace[n][item]
  /\ \A arrival \in ArrivalsOfFlow[n][item[1]] : HasCounted(n, arrival, item[2])

\* For every item: the nodes whose contribution belongs to the sum.
ItemContributors == [item \in Items |-> Contributors[item[1]]]

\* For every item: the nodes at which the sum is due.
ItemPromised == [item \in Items |-> Promised[item[1]]]

\* The pairs of node and item that are promised.
DueHere == {pair \in Nodes \X Items : pair[1] \in ItemPromised[pair[2]]}

\* What the run shows of each promised result: nothing, then what is in memory when the node has finished.
Shown == [due \in DueHere |-> IF HasFinished(due[1], due[2]) THEN <<held[due[1]][due[2]]>> ELSE <<>>]

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
RightSum == \A due \in DueHere : HasFinished(due[1], due[2]) => held[due[1]][due[2]] = OnceEach(Contributors[due[2][1]])
===============================================================================
