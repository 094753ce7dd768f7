-------------------------------- MODULE NIJoint --------------------------------
(***************************************************************************)
(* Slotted NIs that execute the rows of several collectives at once: each  *)
(* node has one table, and each row has a tag, the number of a collective. *)
(*                                                                         *)
(* A flow is a pair: the tag of its collective, and the chunk. A row reads *)
(* the cell of its flow, and marks its message with its tag. The NI that   *)
(* gets the message knows the mark only: it writes to the cell, and counts *)
(* the arrival, of the flow with this tag and chunk. So a row with a wrong *)
(* tag, or an NI that forgets the mark, brings data of one collective to   *)
(* another. Data know which collectives they are of, to see that.          *)
(*                                                                         *)
(* Messages of each collective have a length of their own. SerTicks and    *)
(* TravelTicks are those of the shortest ones. Models put `LeavesByTag` in *)
(* place of `Leaves`, so that the lanes of NILanes know the lengths. What  *)
(* is not written here is as in NILockstep.                                *)
(***************************************************************************)
EXTENDS NIProof

\* For TLCEval, see NITables.
LOCAL INSTANCE TLC

CONSTANTS
  Tags,      \* the numbers of the collectives
  RowTag,    \* for every node: the tag of each of its rows
  Length,    \* for every tag: how long a message of the collective occupies a lane
  UnitStart, \* how long after its arrival a message that is added goes to the reduction unit
  After      \* for every tag: the tags of the collectives that must have ended before it sends

ASSUME TagsAreSane ==
  /\ Run = "slotted" /\ Repeats = 1 /\ Flows \subseteq Tags \X Nat
  /\ \A n \in Nodes : DOMAIN RowTag[n] = DOMAIN Table[n] /\ \A r \in DOMAIN RowTag[n] : RowTag[n][r] \in Tags
  /\ UnitStart \in Nat /\ \A tag \in Tags : Length[tag] \in Nat /\ Length[tag] >= SerTicks /\ After[tag] \subseteq Tags \ {tag}

\* The tag of an item: that of its flow.
TagOf(item) == item[1][1]

\* What a cell or a message has: the tags of the collectives that its data are of, and how often each node's contribution was added.
DataOf(tags, nodes) == [of |-> tags, bag |-> OnceEach(nodes)]

\* The sum of two of these.
Added(a, b) == [of |-> a.of \union b.of, bag |-> Plus(a.bag, b.bag)]

\* What node n holds in a place at first: its own contribution, where one is asked for.
AtFirst(n, place) ==
  LET own == IF Len(place) = 3 /\ place[3] # 0 THEN {} ELSE {n} \intersect Contributors[place[1]]
  IN  DataOf(IF own = {} THEN {} ELSE {place[1][1]}, own)

\* The tick from which message m no longer occupies its lane of link k.
LeavesByTag(m, k) == m.enters[k] + Length[TagOf(m.item)]

\* How long the message of row r of node n to peer is under way where nothing is in its way, and how long its sum takes at most.
UnderWay(n, r, peer) ==
  LET way == <<n, peer, Rows[n][r].route>>
  IN  TravelTicks[way][1] + Length[RowTag[n][r]] - SerTicks + IF Rows[n][r].op = "REDUCE" THEN MaxReduceTicks ELSE 0

\* In place of Landed, where slots are shorter than the time that a message takes: how many of the messages to the cell that row r of
\* node n reads are there when it fires in time.
LandedByTimes(n, r) ==
  LET row == Rows[n][r]
      there(k) == {j \in DOMAIN Rows[k] : n \in Rows[k][j].children /\ Rows[k][j].flow = row.flow /\ Rows[k][j].into = row.from
                                           /\ Rows[k][j].step * SlotTicks + UnderWay(k, j, n) <= row.step * SlotTicks}
  IN  Cardinality(UNION {{<<k, j>> : j \in there(k)} : k \in Nodes})

-------------------------------------------------------------------------------
(* Steps                                                                     *)

\* All clocks start at once; no entry has been executed.
JointInit ==
  /\ now = 0 /\ start = [n \in Nodes |-> 0] /\ drift = [n \in Nodes |-> 0]
  /\ counter = [n \in Nodes |-> LoadedFor(n, 0, 0, 0)]
  /\ fired = [n \in Nodes |-> 0]
  /\ flying = {}
  /\ held = [n \in Nodes |-> [place \in Places |-> AtFirst(n, place)]]
  /\ count = [n \in Nodes |-> [of \in Counters(n) |-> 0]]

\* The item that the next row of node n marks its messages with: its chunk, under its tag.
Marked(n) == LET entry == Upcoming(n) IN << <<RowTag[n][entry.row], entry.item[1][2]>>, entry.item[2]>>

\* The message that node n sends to peer when it fires its next row.
TaggedTo(n, peer) ==
  LET way == WayTo(n, peer)
      more == Length[TagOf(Marked(n))] - SerTicks
      turn == TurnAt(Path[way][1])
  IN  [op |-> Upcoming(n).op, item |-> Marked(n), src |-> n, dst |-> peer, sent |-> now, row |-> Upcoming(n).row,
       load |-> held[n][Place(Upcoming(n).item, Reads(n, Upcoming(n).row))], links |-> Path[way],
       travel |-> [k \in DOMAIN TravelTicks[way] |-> TravelTicks[way][k] + more], lanes |-> <<turn.lane>>, enters |-> <<turn.enters>>]

\* Node n fires its next row: one message to each destination, with what it holds now.
FireTagged(n) ==
  /\ CanFire(n)
  /\ flying' = flying \union {TaggedTo(n, peer) : peer \in Upcoming(n).to}
  /\ fired' = [fired EXCEPT ![n] = @ + 1]
  /\ UNCHANGED <<now, start, drift, counter, held, count>>

\* Where message m goes: the item by its mark.
FiledAs(m) == m.item

\* Message m is usable from now on: a REDUCE is added, a GATHER replaces what was there; then, and not before, it counts.
CountTagged(m) ==
  /\ CanCount(m)
  /\ LET filed == [m EXCEPT !.item = FiledAs(m)]
         place == Place(filed.item, Writes(m.src, m.row))
     IN  /\ held' = [held EXCEPT ![m.dst][place] = IF m.op = "REDUCE" THEN Added(@, m.load) ELSE m.load]
         /\ count' = IF CounterOfMessage(filed) \in Counters(m.dst) THEN Counted(filed, count) ELSE count
  /\ flying' = flying \ {m}
  /\ UNCHANGED <<now, start, drift, counter, fired>>

\* Node n fires its next row, once all that is under way has taken its turn.
ActTagged(n) ==
  /\ UnderWayFirst:: \A m \in flying : ~HasCome(m)
  /\ FireTagged(n)

\* One message takes its turn at a link, one row fires, one message counts, or time goes on.
JointNext ==
  \/ \E m \in flying : Cross(m)
  \/ \E n \in Nodes : InTurn(n) /\ ActTagged(n)
  \/ \E m \in flying : InTurn(m.dst) /\ CountTagged(m)
  \/ Tick
  \/ Rest

\* Every step brings a run nearer to its end.
JointSpec == JointInit /\ [][JointNext]_vars /\ WF_vars(JointNext)

-------------------------------------------------------------------------------
(* Properties                                                                *)

\* A run begins with all clocks at zero, and nothing fired, counted or in flight.
BeginsTogether ==
  \A n \in Nodes :
    /\ now = 0 /\ flying = {} /\ start[n] = 0 /\ drift[n] = 0 /\ fired[n] = 0 /\ counter[n] = [step |-> 0, until |-> 0]
    /\ \A of \in DOMAIN count[n] : count[n][of] = 0

\* The values that memory and messages range over.
TaggedTypes ==
  /\ \A n \in Nodes : fired[n] \in 0..Len(Program[n]) /\ DOMAIN held[n] = Places
  /\ \A n \in Nodes, place \in Places : held[n][place].of \subseteq Tags /\ held[n][place].bag \in Bags
  /\ \A m \in flying : m.op \in Ops /\ m.dst \in Nodes /\ m.item \in Items

\* Data of one collective never reach another: what is sent, and what a cell has after a step that changes the node's memory, is of the
\* collective by its tag.
KeptApart ==
  [][/\ \A m \in flying' \ flying : m.load.of \subseteq {TagOf(m.item)}
     /\ \A n \in Nodes : held'[n] # held[n] => \A place \in Places : held'[n][place].of \subseteq {place[1][1]}]_<<held, flying>>

\* No contribution is ever added twice.
AddedOnce ==
  [][\A n \in Nodes : held'[n] # held[n] => \A place \in Places : held'[n][place].bag \in [Nodes -> 0..1]]_held

\* No two messages are on a lane at a time, whichever collectives they are of.
NothingMeets ==
  \A m, other \in flying : \A k \in 1..Len(m.enters), j \in 1..Len(other.enters) :
    <<m, k>> # <<other, j>> /\ m.links[k] = other.links[j] /\ m.lanes[k] = other.lanes[j] /\ m.enters[k] <= other.enters[j] =>
      m.enters[k] + Length[m.item[1][1]] <= other.enters[j]

\* The reduction unit of a node has sums of one collective at a time. Within a collective sums may wait for each other there: their
\* times say so, and know nothing of other collectives.
UnitsApart ==
  \A m, other \in {f \in flying : f.op = "REDUCE" /\ Len(f.enters) = Len(f.links)} :
    m.dst = other.dst /\ TagOf(m.item) # TagOf(other.item) =>
      Latest(m) <= ArrivesAt(other) + UnitStart \/ Latest(other) <= ArrivesAt(m) + UnitStart

\* For every node and tag: the number of the last row with this tag, 0 if there is none.
LastOfTag == TLCEval([n \in Nodes |-> TLCEval([tag \in Tags |->
  LET rows == {r \in DOMAIN RowTag[n] : RowTag[n][r] = tag} IN IF rows = {} THEN 0 ELSE CHOOSE r \in rows : \A other \in rows : other <= r])])

\* A collective sends only when all those that it is after have ended, in this tick at the latest: their rows have fired, and nothing
\* of them is in flight.
SendsAfterOthers ==
  \A m \in {f \in flying : f.sent < now} : \A tag \in After[TagOf(m.item)] :
    (\A n \in Nodes : fired[n] >= LastOfTag[n][tag]) /\ \A other \in flying : TagOf(other.item) # tag

\* What is finished is right, and of its collective alone.
RightSums ==
  \A due \in DueHere : HasFinished(due[1], due[2]) =>
    held[due[1]][Place(due[2], 0)] = DataOf({TagOf(due[2])}, Contributors[due[2][1]])

\* The same at the end of a run: enough, and less work, where nothing is read that is not of the collective.
RightAtTheEnd == AllDone => RightSums

\* What the run shows of each promised result: nothing, then what is in memory when the node has finished.
ShownOfAll == [due \in DueHere |-> IF HasFinished(due[1], due[2]) THEN <<held[due[1]][Place(due[2], 0)].bag>> ELSE <<>>]

\* All collectives together, seen through what the run shows.
Collectives == INSTANCE AllReduce WITH
  Ranks <- Nodes, Contributors <- ItemContributors, Promised <- ItemPromised, result <- ShownOfAll

\* A run begins as the collectives do: Collectives!Init, without the set of all beginnings, of which there are 2^roots.
BeginsWithAllPromises ==
  \A due \in DueHere : ShownOfAll[due] = <<>> \/ (Collectives!IsAlone(due) /\ ShownOfAll[due] = Collectives!Outcome(due))

\* It steps as the collectives do. That what is shown changes follows from Finish(due) and is tested first for speed.
NeverBreaksAnyPromise ==
  [][\E due \in DueHere : ShownOfAll'[due] # ShownOfAll[due] /\ Collectives!Finish(due)]_ShownOfAll

-------------------------------------------------------------------------------
(* What steps do, in other words than theirs                                 *)

\* Each node begins with its own contribution, in the data of the chunks that ask for it, and with nothing in other places.
BeginsWithItsOwn ==
  \A n \in Nodes, place \in Places :
    LET own == n \in Contributors[place[1]] /\ (Profile = "buffers" => place[3] = 0)
    IN  held[n][place] = [of |-> IF own THEN {place[1][1]} ELSE {}, bag |-> [k \in Nodes |-> IF own /\ k = n THEN 1 ELSE 0]]

\* The cell of an item of a node that has this number.
Cell(item, buffer) == IF Profile = "buffers" THEN <<item[1], item[2], buffer>> ELSE item

\* Rows fire in order, one at a time, at their time, with all that they wait for, and after what is under way. Each destination gets a
\* message with the data of the row, its mark, and its length.
FiresByTheTags ==
  [][\A n \in {k \in Nodes : fired'[k] # fired[k]} :
       LET entry == Program[n][fired[n] + 1]
           row == Rows[n][entry.row]
           tag == RowTag[n][entry.row]
           new == flying' \ flying
       IN  /\ fired'[n] = fired[n] + 1 /\ entry.slot * SlotTicks <= now
           /\ \A arrival \in entry.awaits : count[n][CounterOf(arrival, 0)] >= Least(n, arrival, 0)
           /\ \A m \in flying : Len(m.enters) < Len(m.links) =>
                LET at == Len(m.enters) IN m.enters[at] + m.travel[at] - m.travel[at + 1] > now
           /\ {m.dst : m \in new} = entry.to /\ Cardinality(new) = Cardinality(entry.to)
           /\ \A m \in new :
                /\ m.src = n /\ m.sent = now /\ m.row = entry.row /\ m.op = entry.op /\ m.item = << <<tag, row.flow[2]>>, 0>>
                /\ m.load = held[n][Cell(<<row.flow, 0>>, IF IsCounted THEN row.from ELSE 0)]
                /\ LET way == <<n, m.dst, entry.route>>
                   IN  /\ m.links = Path[way]
                       /\ \A k \in DOMAIN m.travel : m.travel[k] - Length[tag] = TravelTicks[way][k] - SerTicks]_fired

\* What is over has come, with all of its length, and was added for as long as that takes. It changes its cell, and counts, by its mark;
\* nothing else changes.
CountsByTheTags ==
  [][\A m \in {f \in flying : IsOver(f)} :
       LET at == Len(m.links)
           travel == TravelTicks[<<m.src, m.dst, Rows[m.src][m.row].route>>][at]
           ago == now - (m.enters[at] + travel + Length[m.item[1][1]] - SerTicks)
           cell == Cell(m.item, IF IsCounted THEN Rows[m.src][m.row].into ELSE 0)
           was == held[m.dst][cell]
           sum == [of |-> was.of \union m.load.of, bag |-> [k \in Nodes |-> was.bag[k] + m.load.bag[k]]]
       IN  /\ Len(m.enters) = at /\ ago \in (IF m.op = "REDUCE" THEN MinReduceTicks..MaxReduceTicks ELSE {0})
           /\ held' = [held EXCEPT ![m.dst][cell] = IF m.op = "REDUCE" THEN sum ELSE m.load]
           /\ count' = [count EXCEPT ![m.dst][CounterOfMessage(m)] = @ + 1]]_flying

\* A message waits for a lane until another one has left it, by the length of that, and no lane of the link is free before.
WaitsForOthersOnly ==
  \A m \in flying : \A k \in {j \in 1..Len(m.enters) : now < m.enters[j] /\ m.enters[j] # Came(m, j)} :
    LET left(lane) == UNION {{other.enters[j] + Length[other.item[1][1]] :
                               j \in {i \in 1..Len(other.enters) : other.links[i] = m.links[k] /\ other.lanes[i] = lane}} :
                             other \in flying \ {m}}
    IN  /\ m.enters[k] \in left(m.lanes[k])
        /\ \A lane \in 1..Capacity[m.links[k]] : \E tick \in left(lane) : tick >= m.enters[k]

\* Of right tables, with `LeavesByTag` in place of `Leaves`.
THEOREM JointSpec => BeginsWithAllPromises /\ NeverBreaksAnyPromise /\ EveryRunEnds
===============================================================================
