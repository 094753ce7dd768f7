------------------------------- MODULE Schedule -------------------------------
(***************************************************************************)
(* A schedule: transfers of chunks over links, each in a slot. No clocks   *)
(* and no network interfaces: a transfer happens when all that feeds it    *)
(* has happened, whatever the others do. The slots promise that a link     *)
(* never carries more than it can and that what is sent is complete.       *)
(*                                                                         *)
(* A transfer is one step: what leaves the source is at the destination.   *)
(* That loses nothing. From the moment in which a chunk is sent to the one *)
(* in which it is delivered nothing writes its source: all that feeds it   *)
(* has been there before (`Before`), and whatever comes later, a copy on   *)
(* its way down, has to wait for this delivery first. So deliveries of     *)
(* different transfers commute, and sending can be moved up to delivery.   *)
(* NILockstep sends and delivers apart, and TLC checks that it refines     *)
(* this module: on every table with the argument, not only by it.          *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
  Nodes,         \* the endpoints
  Items,         \* what is summed independently: one chunk of one iteration
  Contributors,  \* for every item: the nodes whose contribution belongs to the sum
  Promised,      \* for every item: the nodes at which the sum is due
  Transfers,     \* records of op (REDUCE adds, GATHER replaces), item, src, dst, slot
  Path,          \* for every pair <<from, to>> that a message can take: the set of links it occupies
  Capacity,      \* for every link: how many messages it carries at once
  Delay          \* what is sent in slot s can be used from slot s + Delay on

VARIABLES
  held,  \* held[n][item]: the bag of contributions in node n's memory
  done   \* the transfers that have happened

\* The whole state.
vars == <<held, done>>

\* The bag in which each of `nodes` counts once.
OnceEach(nodes) == [n \in Nodes |-> IF n \in nodes THEN 1 ELSE 0]

\* The sum of two bags.
Plus(a, b) == [n \in Nodes |-> a[n] + b[n]]

\* The transfers of an item into a node.
Into(n, item) == {t \in Transfers : t.dst = n /\ t.item = item}

\* What t has to wait for: whatever is delivered to its source in time for its slot.
Before(t) == {u \in Into(t.src, t.item) : u.slot + Delay <= t.slot}

\* What feeds t: the copy, where its source gets one and passes it on; else all that is reduced into its source.
Feeding(t) ==
  LET copies == {u \in Into(t.src, t.item) : u.op = "GATHER"}
      sums == {u \in Into(t.src, t.item) : u.op = "REDUCE"}
  IN  IF t.op = "GATHER" /\ copies # {} THEN copies ELSE sums

\* Nothing has happened; each node holds its own contribution where one is asked for.
Beginning == <<[n \in Nodes |-> [item \in Items |-> OnceEach({n} \intersect Contributors[item])]], {}>>

\* The start.
Init == held = Beginning[1] /\ done = Beginning[2]

\* Transfer t happens: a REDUCE is added, a GATHER replaces what was there.
Move(t) ==
  /\ OnlyOnce::       t \notin done
  /\ HasWhatItNeeds:: Before(t) \subseteq done
  /\ held' = [held EXCEPT ![t.dst][t.item] = IF t.op = "REDUCE" THEN Plus(@, held[t.src][t.item]) ELSE held[t.src][t.item]]
  /\ done' = done \union {t}

\* Everything has happened.
AllDone == done = Transfers

\* The end is no deadlock.
Rest == AllDone /\ UNCHANGED vars

\* One transfer happens.
Next == (\E t \in Transfers : Move(t)) \/ Rest

\* Every step brings the end nearer.
Spec == Init /\ [][Next]_vars /\ WF_vars(Next)

-------------------------------------------------------------------------------
(* Properties                                                                *)

\* What happens has a link, or a path of links, to go over.
OverLinks == \A t \in done : <<t.src, t.dst>> \in DOMAIN Path

\* The transfers of a slot that occupy a link.
Loading(link, slot) == {t \in done : t.slot = slot /\ <<t.src, t.dst>> \in DOMAIN Path /\ link \in Path[<<t.src, t.dst>>]}

\* No link carries more in one slot than it can.
ContentionFree ==
  \A t \in {u \in done : <<u.src, u.dst>> \in DOMAIN Path} : \A link \in Path[<<t.src, t.dst>>] :
    Cardinality(Loading(link, t.slot)) <= Capacity[link]

\* What is sent is complete: all that feeds a transfer is delivered in time for its slot.
InTime == \A t \in done : Feeding(t) \subseteq Before(t)

\* No contribution is ever added twice.
ExactlyOnce == \A n \in Nodes, item \in Items, k \in Nodes : held[n][item][k] <= 1

\* Every schedule ends.
Ends == <>AllDone

-------------------------------------------------------------------------------
(* Refinement: a schedule keeps the promise of a collective.                 *)

\* The pairs of node and item that are promised.
DueHere == {pair \in Nodes \X Items : pair[1] \in Promised[pair[2]]}

\* Node n has finished the item: all that is sent to it has come.
HasFinished(n, item) == Into(n, item) \subseteq done

\* What shows of each promised result: nothing, then what is in memory when the node has finished.
Shown == [due \in DueHere |-> IF HasFinished(due[1], due[2]) THEN <<held[due[1]][due[2]]>> ELSE <<>>]

\* The collective that the schedule performs, seen through what it shows.
Collective == INSTANCE AllReduce WITH Ranks <- Nodes, result <- Shown

\* Every behaviour of the schedule is one of the collective.
KeepsThePromise == Collective!Spec

\* Its beginning.
BeginsWithThePromise == Collective!Init

\* Its steps. `Shown'[due] # Shown[due]` follows from Finish(due) and is tested first for speed.
NeverBreaksThePromise == [][\E due \in DueHere : Shown'[due] # Shown[due] /\ Collective!Finish(due)]_Shown

\* Of a right schedule, as TLC checks for those of the models.
THEOREM Spec => KeepsThePromise
===============================================================================
