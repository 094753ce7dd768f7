------------------------------- MODULE BankPaced -------------------------------
(***************************************************************************)
(* Two banks of tables in interfaces without slots (docs/reference/        *)
(* tables.md, B8). No slot tells an interface what its neighbours have     *)
(* done, and a message of another epoch is dropped. So new tables open in  *)
(* two steps: an interface takes over by itself, as soon as it is done     *)
(* with the old ones, and rests; and somebody who sees all interfaces, the *)
(* host, starts each of them when all have taken over. What tables command *)
(* is left out but for one message in each iteration, for which the next   *)
(* row of its destination waits; messages take any time.                   *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
  Nodes,       \* the endpoints
  Last,        \* epochs 0 to Last are executed, one after the other
  Offered,     \* the epochs of images that somebody may want to load
  Iterations,  \* of each epoch
  Peer         \* Peer[<<bit, n>>]: to which node n sends in epochs with that low bit

\* What is in an empty bank.
NoImage == -1

VARIABLES
  running,   \* the nodes that have been started since their tables opened
  fired,     \* fired[n]: how many rows node n has fired by the tables that are open
  epoch,     \* epoch[n]: of these tables
  bank,      \* bank[n][b]: the epoch of the image in its bank b, or NoImage
  count,     \* count[n][b]: the messages that have counted in bank b
  wire,      \* the messages under way: from, to, epoch, iteration. Only the low bit of the epoch is sent; the rest is for properties
  got,       \* what has been written: node, the epoch that it executed, and the message
  reported   \* the nodes that have reported a message of the wrong epoch

\* The whole state.
vars == <<running, fired, epoch, bank, count, wire, got, reported>>

\* The low bit.
Bit(e) == e % 2

\* The bank whose tables node n executes, and the other one.
Open(n) == Bit(epoch[n])
Closed(n) == 1 - Open(n)

\* The first tables are in bank 0, and nobody has been started.
Init ==
  /\ running = {}
  /\ fired = [n \in Nodes |-> 0]
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
  /\ UNCHANGED <<running, fired, epoch, wire, got, reported>>

\* The host starts node n, when all have taken over its tables; some may be done with them by then.
Start(n) ==
  /\ n \notin running
  /\ HaveTakenOver:: \A k \in Nodes : epoch[k] >= epoch[n]
  /\ running' = running \union {n}
  /\ UNCHANGED <<fired, epoch, bank, count, wire, got, reported>>

\* Node n fires its next row, when a message of each iteration before has come.
Fire(n) ==
  /\ IsStarted:: n \in running
  /\ HasRow:: fired[n] < Iterations
  /\ HasArrived:: count[n][Open(n)] >= fired[n]
  /\ fired' = [fired EXCEPT ![n] = @ + 1]
  /\ wire' = wire \union {[from |-> n, to |-> Peer[<<Open(n), n>>], epoch |-> epoch[n], iteration |-> fired[n]]}
  /\ UNCHANGED <<running, epoch, bank, count, got, reported>>

\* Whether a node takes a message: the low bits are the same.
IsTaken(m) == Bit(m.epoch) = Open(m.to)

\* A message comes to its destination, also to one that has not been started; one of another epoch is dropped and reported. Those
\* of one node stay in order.
Receive(m) ==
  /\ InOrder:: \A other \in wire : <<other.from, other.to, other.epoch>> = <<m.from, m.to, m.epoch>> => m.iteration <= other.iteration
  /\ wire' = wire \ {m}
  /\ IF IsTaken(m)
     THEN /\ count' = [count EXCEPT ![m.to][Open(m.to)] = @ + 1]
          /\ got' = got \union {[node |-> m.to, executed |-> epoch[m.to], message |-> m]}
          /\ UNCHANGED reported
     ELSE /\ reported' = reported \union {m.to}
          /\ UNCHANGED <<count, got>>
  /\ UNCHANGED <<running, fired, epoch, bank>>

\* Node n is done with its tables.
IsDone(n) == fired[n] = Iterations /\ count[n][Open(n)] = Iterations

\* The next tables take over at node n.
TakeOver(n) ==
  /\ IsDone(n)
  /\ IsLoaded:: bank[n][Closed(n)] > epoch[n]
  /\ epoch' = [epoch EXCEPT ![n] = bank[n][Closed(n)]]
  /\ fired' = [fired EXCEPT ![n] = 0]
  /\ running' = running \ {n}
  /\ UNCHANGED <<bank, count, wire, got, reported>>

\* All epochs are over.
AllOver == \A n \in Nodes : epoch[n] = Last /\ IsDone(n)

\* The end is no deadlock.
Rest == AllOver /\ UNCHANGED vars

\* One node does one thing, or the host does.
Next ==
  \/ \E n \in Nodes : Start(n) \/ Fire(n) \/ TakeOver(n) \/ \E e \in Offered : Load(n, e)
  \/ \E m \in wire : Receive(m)
  \/ Rest

\* The host starts what it may start, nodes go on, messages come, and images are loaded.
Fairness ==
  /\ \A n \in Nodes : WF_vars(Start(n)) /\ WF_vars(Fire(n)) /\ WF_vars(TakeOver(n)) /\ \A e \in Offered : WF_vars(Load(n, e))
  /\ WF_vars(\E m \in wire : Receive(m))

\* The behaviours.
Spec == Init /\ [][Next]_vars /\ Fairness

-------------------------------------------------------------------------------
(* Properties                                                                *)

\* Numbers are in range, and each node has two banks.
TypeOK ==
  /\ running \subseteq Nodes /\ reported \subseteq Nodes
  /\ \A n \in Nodes : fired[n] \in 0..Iterations /\ epoch[n] \in 0..Last
  /\ \A n \in Nodes : DOMAIN bank[n] = {0, 1} /\ DOMAIN count[n] = {0, 1}
  /\ \A n \in Nodes : bank[n][0] \in Offered \union {0, NoImage} /\ bank[n][1] \in Offered \union {NoImage}

\* A run begins with the first tables in bank 0; the other bank is empty, and nothing has happened.
BeginsAtRest ==
  /\ \A n \in Nodes : fired[n] = 0 /\ epoch[n] = 0 /\ bank[n][0] = 0 /\ bank[n][1] = NoImage /\ count[n][0] = 0 /\ count[n][1] = 0
  /\ running = {} /\ wire = {} /\ got = {} /\ reported = {}

\* Nothing is written that was sent by other tables than those that the node executes.
RightEpoch == \A entry \in got : entry.executed = entry.message.epoch

\* The image in the open bank is that of the epoch which is executed.
OpenImageStays == \A n \in Nodes : bank[n][Open(n)] = epoch[n]

\* A bank counts the messages that have come by the open tables, each once.
CountsWhatCame ==
  \A n \in Nodes : count[n][Open(n)] = Cardinality({entry \in got : entry.node = n /\ entry.message.epoch = epoch[n]})

\* Nothing is dropped.
NothingReported == reported = {}

\* What comes is written, or it is reported.
DropsAreTold == [][\A m \in wire : m \notin wire' => m.to \in reported' \/ \E entry \in got' : entry.message = m]_vars

\* Whoever has started is executing, and has sent a message for each row; others have sent nothing by the tables that are open.
SentByOpenTables ==
  \A n \in Nodes : LET sent == {m \in wire \union {entry.message : entry \in got} : m.from = n /\ m.epoch = epoch[n]}
                   IN  Cardinality(sent) = fired[n] /\ (sent # {} => n \in running)

\* The oldest message that one node has on the way to another can always come, also to one that has not been started.
TakesAtRest ==
  \A m \in wire : (\A other \in wire : <<other.from, other.to, other.epoch>> = <<m.from, m.to, m.epoch>> => m.iteration <= other.iteration)
                    => ENABLED Receive(m)

\* Tables open when nothing of the old ones is on the way to the node, or still to be sent to it.
OpensWhenDrained ==
  [][\A n \in Nodes : epoch'[n] # epoch[n] =>
    Cardinality({entry \in got : entry.node = n /\ entry.message.epoch = epoch[n]}) = Iterations
      /\ Cardinality({m \in wire \union {entry.message : entry \in got} : m.from = n /\ m.epoch = epoch[n]}) = Iterations]_vars

\* A row fires when all messages of the iterations before have come.
FiresInTurn ==
  [][\A n \in Nodes : fired'[n] > fired[n] =>
    \A i \in 0..fired[n] - 1 : \E entry \in got : entry.node = n /\ entry.message.epoch = epoch[n] /\ entry.message.iteration = i]_vars

\* In the end each node has got a message for each iteration of each epoch.
CompleteInTheEnd ==
  AllOver => Cardinality({<<entry.node, entry.message.epoch, entry.message.iteration>> : entry \in got})
               = Cardinality(Nodes) * (Last + 1) * Iterations

\* All epochs are executed to their end.
Ends == <>AllOver
===============================================================================
