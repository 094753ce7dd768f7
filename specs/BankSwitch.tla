------------------------------ MODULE BankSwitch ------------------------------
(***************************************************************************)
(* Two banks of tables in each network interface (docs/reference/tables.md,*)
(* "Banks"): new tables open at the end of the last iteration of the old   *)
(* ones, slot by slot and without a reset, and messages name the low bit   *)
(* of their epoch. What tables command is left out but for one message in  *)
(* each iteration: to which node it goes depends on the epoch.             *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
  Nodes,       \* the endpoints
  Last,        \* epochs 0 to Last are executed, one after the other
  Offered,     \* the epochs of images that somebody may want to load
  Iterations,  \* of each epoch: one opens in each slot
  Delay,       \* what is sent in slot s has landed when slot s + Delay opens
  Peer,        \* Peer[<<bit, n>>]: to which node n sends in epochs with that low bit
  Early        \* nodes whose counters open new tables a slot too early: faults that are to be reported

\* What is in an empty bank.
NoImage == -1

VARIABLES
  slot,      \* slot[n]: the slot in which node n is
  fired,     \* the nodes that have fired their row of this slot
  epoch,     \* epoch[n]: of the tables that it executes
  bank,      \* bank[n][b]: the epoch of the image in its bank b, or NoImage
  count,     \* count[n][b]: the messages that have counted in bank b
  wire,      \* the messages under way: from, to, epoch, iteration, slot. Only the low bit of the epoch is sent; the rest is for properties
  got,       \* what has been written: node, the epoch that it executed, and the message
  reported   \* the nodes that have reported a message of the wrong epoch

\* The whole state.
vars == <<slot, fired, epoch, bank, count, wire, got, reported>>

\* The low bit.
Bit(e) == e % 2

\* The bank whose tables node n executes, and the other one.
Open(n) == Bit(epoch[n])
Closed(n) == 1 - Open(n)

\* Slots from the opening of tables to that of the next ones: until all that the last iteration sent has landed.
Length == Iterations - 1 + Delay

\* The slot in which node n opens the tables of an epoch.
OpensAt(n, e) == e * Length - (IF n \in Early /\ e > 0 THEN 1 ELSE 0)

\* The iteration that fires in node n's slot, if it is one of the epoch's.
Iteration(n) == slot[n] - OpensAt(n, epoch[n])
HasRow(n) == Iteration(n) \in 0..(Iterations - 1)

\* Node n has done what this slot asks for.
HasFired(n) == n \in fired \/ ~HasRow(n)

\* The start: all execute the first tables.
Init ==
  /\ slot = [n \in Nodes |-> 0]
  /\ fired = {}
  /\ epoch = [n \in Nodes |-> 0]
  /\ bank = [n \in Nodes |-> [b \in {0, 1} |-> IF b = 0 THEN 0 ELSE NoImage]]
  /\ count = [n \in Nodes |-> [b \in {0, 1} |-> 0]]
  /\ wire = {}
  /\ got = {}
  /\ reported = {}

\* An image is loaded into a bank that is not open, and the counters of that bank are set to zero.
Load(n, e) ==
  /\ IsNext:: e = epoch[n] + 1
  /\ bank' = [bank EXCEPT ![n][Closed(n)] = e]
  /\ count' = [count EXCEPT ![n][Closed(n)] = 0]
  /\ UNCHANGED <<slot, fired, epoch, wire, got, reported>>

\* Node n fires its row.
Fire(n) ==
  /\ HasRow(n)
  /\ OnlyOnce:: n \notin fired
  /\ fired' = fired \union {n}
  /\ wire' = wire \union
       {[from |-> n, to |-> Peer[<<Open(n), n>>], epoch |-> epoch[n], iteration |-> Iteration(n), slot |-> slot[n]]}
  /\ UNCHANGED <<slot, epoch, bank, count, got, reported>>

\* Whether a node takes a message: the low bits are the same.
IsTaken(m) == Bit(m.epoch) = Open(m.to)

\* A message comes to its destination; one of another epoch is dropped and reported.
Receive(m) ==
  /\ m \in wire
  /\ IsThere:: slot[m.to] >= m.slot  \* clocks differ by less than a message takes
  /\ wire' = wire \ {m}
  /\ IF IsTaken(m)
     THEN /\ count' = [count EXCEPT ![m.to][Open(m.to)] = @ + 1]
          /\ got' = got \union {[node |-> m.to, executed |-> epoch[m.to], message |-> m]}
          /\ UNCHANGED reported
     ELSE /\ reported' = reported \union {m.to}
          /\ UNCHANGED <<count, got>>
  /\ UNCHANGED <<slot, fired, epoch, bank>>

\* All that is sent to node n up to a slot has been sent and has come.
HasLanded(n, s) ==
  /\ \A k \in Nodes : slot[k] > s \/ (slot[k] = s /\ HasFired(k))
  /\ \A m \in wire : m.to = n => m.slot > s

\* The next slot opens at node n, and with it the new tables where these are due.
Tick(n) ==
  /\ HasFired(n)
  /\ slot[n] + 1 < (Last + 1) * Length
  /\ LandedInTime:: slot[n] + 1 >= Delay => HasLanded(n, slot[n] + 1 - Delay)
  /\ slot' = [slot EXCEPT ![n] = @ + 1]
  /\ fired' = fired \ {n}
  /\ IF slot[n] + 1 = OpensAt(n, epoch[n] + 1)
     THEN /\ IsLoaded:: bank[n][Closed(n)] > epoch[n]
          /\ epoch' = [epoch EXCEPT ![n] = bank[n][Closed(n)]]
     ELSE UNCHANGED epoch
  /\ UNCHANGED <<bank, count, wire, got, reported>>

\* All slots of all epochs are over.
AllOver == wire = {} /\ \A n \in Nodes : HasFired(n) /\ slot[n] + 1 = (Last + 1) * Length

\* The end is no deadlock.
Rest == AllOver /\ UNCHANGED vars

\* One node does one thing.
Next ==
  \/ \E n \in Nodes : Fire(n) \/ Tick(n) \/ \E e \in Offered : Load(n, e)
  \/ \E m \in wire : Receive(m)
  \/ Rest

\* Everything that can go on goes on.
Spec == Init /\ [][Next]_vars /\ WF_vars(Next)

-------------------------------------------------------------------------------
(* Properties                                                                *)

\* Numbers are in range, and each node has two banks.
TypeOK ==
  /\ \A n \in Nodes : DOMAIN bank[n] = {0, 1} /\ DOMAIN count[n] = {0, 1}
  /\ \A n \in Nodes : epoch[n] \in Offered \union {0} /\ bank[n][0] \in Offered \union {0, NoImage} /\ bank[n][1] \in Offered \union {NoImage}
  /\ reported \subseteq Nodes

\* A run begins in slot 0 of the first tables, which are in bank 0; the other bank is empty, and nothing has happened.
BeginsAtRest ==
  /\ \A n \in Nodes : slot[n] = 0 /\ epoch[n] = 0 /\ bank[n][0] = 0 /\ bank[n][1] = NoImage /\ count[n][0] = 0 /\ count[n][1] = 0
  /\ fired = {} /\ wire = {} /\ got = {} /\ reported = {}

\* The rows of the first tables fire from slot 0 on, one in each slot.
FiresFromTheStart == [][\A n \in Nodes : slot'[n] # slot[n] /\ slot[n] < Iterations => n \in fired]_vars

\* Nothing is written that was sent by other tables than those that the node executes.
RightEpoch == \A entry \in got : entry.executed = entry.message.epoch

\* The image in the open bank is that of the epoch which is executed.
OpenImageStays == \A n \in Nodes : bank[n][Open(n)] = epoch[n]

\* A bank counts its own messages: never more than its tables expect.
CountsFit == \A n \in Nodes : count[n][Open(n)] <= Iterations

\* Where nothing is wrong nothing is reported.
NothingReported == reported = {}

\* In the end each node has got a message for each iteration of each epoch, or the mixture is reported.
CompleteOrReported ==
  AllOver => (reported # {} \/ Cardinality({<<entry.node, entry.message.epoch, entry.message.iteration>> : entry \in got})
                                 = Cardinality(Nodes) * (Last + 1) * Iterations)

\* A node that opens new tables has counted all that the old ones expect.
SwitchesWhenDone == [][\A n \in Nodes : epoch'[n] # epoch[n] => count[n][Open(n)] = Iterations]_vars

\* ... and does not wait longer: its last message under the old ones has just had the time to land; early nodes open a slot before.
SwitchesAtOnce == [][\A n \in Nodes : epoch'[n] # epoch[n] =>
  \A m \in wire \union {entry.message : entry \in got} : m.from = n /\ m.epoch = epoch[n] /\ m.iteration = Iterations - 1 =>
    m.slot + Delay = slot'[n] + (IF n \in Early /\ epoch[n] = 0 THEN 1 ELSE 0)]_vars

\* All epochs are executed to their end.
Ends == <>AllOver
===============================================================================
