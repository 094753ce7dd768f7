-------------------------------- MODULE NIProof --------------------------------
(***************************************************************************)
(* Properties of NILockstep: those that TLC checks, the inductive invariant*)
(* of slotted runs of any size, and the schedule and the collective that a *)
(* run refines.                                                            *)
(***************************************************************************)
EXTENDS NILockstep

-------------------------------------------------------------------------------
(* Properties                                                                *)

\* The values the variables range over.
TypeOK ==
  /\ T1_Time::     now \in Nat /\ start \in [Nodes -> 0..MaxSkewTicks] /\ drift \in [Nodes -> -MaxDriftTicks..MaxDriftTicks]
  /\ T2_Program::  \A n \in Nodes : fired[n] \in 0..Len(Program[n])
  /\ T3_Messages:: \A m \in flying : m.op \in Ops /\ m.dst \in Nodes /\ m.item \in Items /\ m.load \in Bags
  /\ T4_Memory::   held \in [Nodes -> [Places -> Bags]] /\ \A n \in Nodes, flow \in Flows, i \in 0..Repeats - 1, buffer \in Buffers :
                     (IF Profile = "buffers" THEN <<flow, i, buffer>> ELSE <<flow, i>>) \in DOMAIN held[n]
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

\* Which lane of a link a message takes that comes to it now is certain.
OneTurnEach == \A link \in DOMAIN Capacity : Cardinality(FreestOf(link)) = 1

\* While a message waits for a link that it stands before, each lane of the link carries another one.
NoLaneLeftFree ==
  \A m \in flying : \A k \in 1..Hop(m) : now < m.enters[k] =>
    \A lane \in 1..Capacity[m.links[k]] : \E other \in flying : \E j \in 1..Hop(other) :
      other.links[j] = m.links[k] /\ other.lanes[j] = lane /\ now \in other.enters[j]..other.enters[j] + SerTicks - 1

\* Every message in flight is expected where it goes.
OnlyExpected == \A m \in flying : CounterOfMessage(m) \in Counters(m.dst)

\* What feeds row r of node n: the node's GATHER arrivals of the flow for a GATHER that has one, else its REDUCE arrivals.
Feeds(n, r) ==
  LET of(op) == {arrival \in ArrivalsOfFlow[n][Rows[n][r].flow] : arrival[1] = op}
  IN  IF Rows[n][r].op = "GATHER" /\ of("GATHER") # {} THEN of("GATHER") ELSE of("REDUCE")

\* How many of the messages to the cell that row r of node n reads have landed when it fires in time. Where messages take many slots
\* (fine slots, Delay 1) it is how many were sent: tables in which a row reads while a message is under way to its cell are invalid.
Landed(n, r) ==
  LET row == Rows[n][r]
      into(k) == {j \in DOMAIN Rows[k] : n \in Rows[k][j].children /\ Rows[k][j].flow = row.flow /\ Rows[k][j].into = row.from
                                          /\ Rows[k][j].step + Delay <= row.step}
  IN  Cardinality(UNION {{<<k, j>> : j \in into(k)} : k \in Nodes})

\* Rows that do not wait for all that feeds them, as pairs of node and row.
Careless == UNION {{<<n, r>> : r \in {k \in DOMAIN Rows[n] :
  IF IsCounted THEN Rows[n][k].wait < Landed(n, k) ELSE ~(Feeds(n, k) \subseteq Dependencies(n, k))}} : n \in Nodes}

\* Rows wait for all that feeds them. No difference in a run that is on time; it keeps sums right when something is late.
EveryArrivalAwaited == \A n \in Nodes : fired[n] > 0 => <<n, Program[n][fired[n]].row>> \notin Careless

\* Message m is no longer in flight after the step: it has counted.
IsOver(m) == m \notin flying' /\ \A k \in flying' : <<k.src, k.row, k.item, k.dst>> # <<m.src, m.row, m.item, m.dst>>

\* The tick at which the last of message m comes to its destination, if it has come to its last link.
Landing(m) == m.enters[Len(m.links)] + m.travel[Len(m.links)]

\* Nothing counts before it can, or later: a copy when all of it has arrived, a sum MinReduceTicks to MaxReduceTicks later.
NothingCountsEarly ==
  [][\A m \in flying : IsOver(m) =>
       Len(m.enters) = Len(m.links) /\ now - Landing(m) >= IF m.op = "REDUCE" THEN MinReduceTicks ELSE 0]_flying
NothingCountsLate ==
  [][\A m \in flying : IsOver(m) => now - Landing(m) <= IF m.op = "REDUCE" THEN MaxReduceTicks ELSE 0]_flying

\* Sums count in the order in which their messages arrived.
SumsInOrder ==
  [][\A m \in flying : IsOver(m) /\ m.op = "REDUCE" =>
       \A other \in flying : other.op = "REDUCE" /\ other.dst = m.dst /\ Len(other.enters) = Len(other.links) =>
         Landing(m) <= Landing(other)]_flying

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
(* an inductive invariant. `certree model-check symbolic` proves with z3     *)
(* that every action keeps it, for any number of nodes, rows and iterations; *)
(* TLC checks the same conjuncts, by the same names, on the small models.    *)

\* The slot in which message m was due.
SlotOf(m) == Rows[m.src][m.row].step + m.item[2] * Period

\* How many messages of an arrival's kind node n's peer has fired.
FiredOf(n, arrival) ==
  LET peer == arrival[3]
      commanding(k) == Program[peer][k].op = arrival[1] /\ Program[peer][k].item[1] = arrival[2] /\ n \in Program[peer][k].to
  IN  Cardinality({k \in 1..fired[peer] : commanding(k)})

\* I1: whatever was due before now has fired.
FiredInTime == \A n \in Nodes : HasNext(n) => now <= OpensAt(n, Upcoming(n).slot)

\* I2: nothing has fired before its slot.
NotTooEarly == \A n \in Nodes : fired[n] > 0 => OpensAt(n, Program[n][fired[n]].slot) <= now

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
  \A n \in Nodes : \A k \in 1..fired[n] : \A arrival \in Program[n][k].awaits : HasCounted(n, arrival, Program[n][k].item[2])

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
  /\ fired[n] >= LastPlace[n][item]
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
