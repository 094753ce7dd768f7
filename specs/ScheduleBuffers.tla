---------------------------- MODULE ScheduleBuffers ----------------------------
(***************************************************************************)
(* A schedule whose nodes have several buffers for each chunk, slot by     *)
(* slot (docs/decisions/0007-schedule-version-2.md). Here a transfer is two*)
(* steps: it leaves with what its source cell holds, and lands later.      *)
(* `Schedule` has one step, because along trees nothing writes a source    *)
(* before what was sent has been delivered; with buffers only slots say so.*)
(***************************************************************************)
EXTENDS Integers

CONSTANTS
  Nodes,         \* the endpoints
  Items,         \* what is summed independently: one chunk of one iteration
  Contributors,  \* for every item: the nodes whose contribution belongs to the sum
  Promised,      \* for every item: the nodes at which the sum is due
  Buffers,       \* of each node and item; 0 has the data
  Transfers,     \* records of op (REDUCE adds, GATHER replaces), item, src, dst, from and into (buffers), slot
  Delay          \* what is sent in slot s has landed when slot s + Delay opens

VARIABLES
  now,      \* the slot
  held,     \* held[n][<<item, buffer>>]: the bag of contributions in a cell; no contribution: it is empty
  carried,  \* carried[t]: the bag with which transfer t left
  sent,     \* the transfers that have left
  done      \* those that have landed

\* The whole state.
vars == <<now, held, carried, sent, done>>

\* The bag in which each of `nodes` counts once, and the sum of two bags.
OnceEach(nodes) == [n \in Nodes |-> IF n \in nodes THEN 1 ELSE 0]
Plus(a, b) == [n \in Nodes |-> a[n] + b[n]]
Nothing == OnceEach({})

\* The cells that a transfer reads and writes, each with its node.
Reads(t) == <<t.src, t.item, t.from>>
Writes(t) == <<t.dst, t.item, t.into>>

\* The transfers into a cell, and those on their way.
Into(n, item, buffer) == {t \in Transfers : Writes(t) = <<n, item, buffer>>}
UnderWay == sent \ done

\* The last slot in which anything may land.
End == LET landings == {t.slot + Delay : t \in Transfers} IN CHOOSE s \in landings \union {0} : \A other \in landings : other <= s

\* The start: data buffers hold the contributions that are asked for, scratch buffers nothing.
Init ==
  /\ now = 0
  /\ held = [n \in Nodes |-> [cell \in Items \X Buffers |->
       IF cell[2] = 0 THEN OnceEach({n} \intersect Contributors[cell[1]]) ELSE Nothing]]
  /\ carried = [t \in Transfers |-> Nothing]
  /\ sent = {}
  /\ done = {}

\* A transfer leaves in its slot.
Leave(t) ==
  /\ OnlyOnce:: t \notin sent
  /\ ItsSlot::  t.slot = now
  /\ sent' = sent \union {t}
  /\ carried' = [carried EXCEPT ![t] = held[t.src][<<t.item, t.from>>]]
  /\ UNCHANGED <<now, held, done>>

\* All of a slot have left.
HaveLeft(slot) == \A t \in Transfers : t.slot = slot => t \in sent

\* A transfer lands.
Land(t) ==
  /\ t \in sent
  /\ OnlyOnce::      t \notin done
  /\ OthersHaveLeft:: HaveLeft(t.slot)
  /\ held' = [held EXCEPT ![t.dst][<<t.item, t.into>>] = IF t.op = "REDUCE" THEN Plus(@, carried[t]) ELSE carried[t]]
  /\ done' = done \union {t}
  /\ UNCHANGED <<now, carried, sent>>

\* The next slot opens.
Tick ==
  /\ NotOver::       now < End
  /\ AllHaveLeft::   HaveLeft(now)
  /\ AllHaveLanded:: \A t \in Transfers : t.slot + Delay <= now + 1 => t \in done
  /\ now' = now + 1
  /\ UNCHANGED <<held, carried, sent, done>>

\* Everything has happened; the end is no deadlock.
AllDone == done = Transfers /\ now = End
Rest == AllDone /\ UNCHANGED vars

\* One transfer leaves or lands, or a slot opens.
Next == (\E t \in Transfers : Leave(t) \/ Land(t)) \/ Tick \/ Rest

\* Every step brings the end nearer.
Spec == Init /\ [][Next]_vars /\ WF_vars(Next)

-------------------------------------------------------------------------------
(* Properties: the rules of the checker, by their names there                *)

\* A run begins in slot 0 with nothing sent; data buffers hold the contribution of their own node where it is asked for.
BeginsAtRest ==
  /\ now = 0 /\ sent = {} /\ done = {}
  /\ \A n \in Nodes, item \in Items, buffer \in Buffers, k \in Nodes :
       held[n][<<item, buffer>>][k] = IF buffer = 0 /\ k = n /\ n \in Contributors[item] THEN 1 ELSE 0
  /\ \A t \in Transfers, k \in Nodes : carried[t][k] = 0

\* No slot opens in which nothing can land any more.
EndsInTime == now > 0 => \E t \in Transfers : t.slot + Delay >= now

\* No contribution is ever added twice (`duplicate`, `original-lost`).
ExactlyOnce == \A n \in Nodes, cell \in Items \X Buffers, k \in Nodes : held[n][cell][k] <= 1

\* No empty cell is read (`not-held`) ...
NothingEmpty == \A t \in sent : carried[t] # Nothing

\* ... and nothing is added to one.
AddedToSomething == [][\A t \in done' \ done : t.op = "REDUCE" => held[t.dst][<<t.item, t.into>>] # Nothing]_vars

\* What a transfer reads is not being written by one that was sent in an earlier slot (`in-flight`).
ReadsSettled == [][\A t \in sent' \ sent : \A u \in UnderWay : u.slot < t.slot => Writes(u) # Reads(t)]_vars

\* A copy is under way to a cell alone (`write-conflict`, `in-flight`).
CopyAlone == \A t \in UnderWay : \A u \in UnderWay \ {t} : t.op = "GATHER" => Writes(u) # Writes(t)

\* Every schedule ends.
Ends == <>(done = Transfers /\ \A t \in Transfers : t.slot + Delay <= now)

-------------------------------------------------------------------------------
(* Refinement: it keeps the promise of a collective.                         *)

\* The pairs of node and item that are promised; what shows of each is what its data buffer holds when all that is sent to it has come.
DueHere == {pair \in Nodes \X Items : pair[1] \in Promised[pair[2]]}
HasFinished(n, item) == Into(n, item, 0) \subseteq done
Shown == [due \in DueHere |-> IF HasFinished(due[1], due[2]) THEN <<held[due[1]][<<due[2], 0>>]>> ELSE <<>>]

\* The collective that the schedule performs, seen through what it shows.
Collective == INSTANCE AllReduce WITH Ranks <- Nodes, result <- Shown

\* Every behaviour of the schedule is one of the collective.
KeepsThePromise == Collective!Spec

\* Its beginning and its steps.
BeginsWithThePromise == Collective!Init
NeverBreaksThePromise == [][\E due \in DueHere : Shown'[due] # Shown[due] /\ Collective!Finish(due)]_Shown

\* Of a right schedule, as TLC checks for those of the models.
THEOREM Spec => BeginsWithThePromise /\ NeverBreaksThePromise
===============================================================================
