----------------------------- MODULE MCBankPaced ------------------------------
(***************************************************************************)
(* Three nodes and three epochs; and one thing wrong at a time.            *)
(***************************************************************************)
EXTENDS BankPaced

\* Around the ring of three, one way in even epochs and the other way in odd ones.
BothWays == [place \in {0, 1} \X Nodes |-> (place[2] + 1 + place[1]) % Cardinality(Nodes)]

-------------------------------------------------------------------------------
(* Wrong interfaces, and a wrong host                                        *)

\* In place of IsTaken: the bit is not compared.
TakesAll(m) == TRUE

\* In place of Start: the host does not wait for the others.
HastyStart(n) ==
  /\ n \notin running
  /\ running' = running \union {n}
  /\ UNCHANGED <<fired, epoch, bank, count, wire, got, reported>>

\* In place of AllOver, with such a host: a run in which something was reported may stop.
MayStop == reported # {} \/ \A n \in Nodes : epoch[n] = Last /\ IsDone(n)

\* What a row does, and an image in a bank whose counters show a number.
Fires(n) ==
  /\ fired' = [fired EXCEPT ![n] = @ + 1]
  /\ wire' = wire \union {[from |-> n, to |-> Peer[<<Open(n), n>>], epoch |-> epoch[n], iteration |-> fired[n]]}
  /\ UNCHANGED <<running, epoch, bank, count, got, reported>>
Loads(n, e, b, number) ==
  /\ bank' = [bank EXCEPT ![n][b] = e]
  /\ count' = [count EXCEPT ![n][b] = number]
  /\ UNCHANGED <<running, fired, epoch, wire, got, reported>>

\* In place of Fire: a node goes on by itself after new tables have opened; or does not wait for messages; or fires for ever.
FiresUnasked(n) == (n \in running \/ epoch[n] > 0) /\ fired[n] < Iterations /\ count[n][Open(n)] >= fired[n] /\ Fires(n)
FiresAtOnce(n) == n \in running /\ fired[n] < Iterations /\ Fires(n)
FiresAgain(n) == n \in running /\ fired[n] <= Iterations /\ count[n][Open(n)] >= fired[n] /\ Fires(n)

\* In place of Receive: messages of one node overtake each other.
ReceivesAny(m) ==
  /\ wire' = wire \ {m}
  /\ count' = [count EXCEPT ![m.to][Open(m.to)] = @ + 1]
  /\ got' = got \union {[node |-> m.to, executed |-> epoch[m.to], message |-> m]}
  /\ UNCHANGED <<running, fired, epoch, bank, reported>>

\* In place of Receive: only nodes that have been started take messages.
TakesWhenStarted(m) ==
  /\ m.to \in running
  /\ \A other \in wire : <<other.from, other.to, other.epoch>> = <<m.from, m.to, m.epoch>> => m.iteration <= other.iteration
  /\ wire' = wire \ {m}
  /\ count' = [count EXCEPT ![m.to][Open(m.to)] = @ + 1]
  /\ got' = got \union {[node |-> m.to, executed |-> epoch[m.to], message |-> m]}
  /\ UNCHANGED <<running, fired, epoch, bank, reported>>

\* In place of Receive: what is dropped is not reported.
DropsUntold(m) ==
  /\ wire' = wire \ {m}
  /\ IF IsTaken(m)
     THEN /\ count' = [count EXCEPT ![m.to][Open(m.to)] = @ + 1]
          /\ got' = got \union {[node |-> m.to, executed |-> epoch[m.to], message |-> m]}
     ELSE UNCHANGED <<count, got>>
  /\ UNCHANGED <<running, fired, epoch, bank, reported>>

\* In place of IsDone: rows that are left, or messages that are still to come, are not looked at.
HasCounted(n) == count[n][Open(n)] = Iterations
HasFired(n) == fired[n] = Iterations

\* In place of TakeOver: nothing is loaded.
TakesOverUnloaded(n) ==
  /\ IsDone(n) /\ epoch[n] < Last
  /\ epoch' = [epoch EXCEPT ![n] = @ + 1]
  /\ fired' = [fired EXCEPT ![n] = 0]
  /\ running' = running \ {n}
  /\ UNCHANGED <<bank, count, wire, got, reported>>

\* In place of Load: any image is taken; the counters of the bank go on; it goes into the open bank.
LoadAny(n, e) == Loads(n, e, Closed(n), 0)
LoadOnly(n, e) == e = epoch[n] + 1 /\ Loads(n, e, Closed(n), count[n][Closed(n)])
LoadOpen(n, e) == e = epoch[n] + 1 /\ Loads(n, e, Open(n), count[n][Open(n)])

\* In place of Init: both banks have images.
FullInit ==
  /\ running = {} /\ fired = [n \in Nodes |-> 0] /\ epoch = [n \in Nodes |-> 0] /\ count = [n \in Nodes |-> [b \in {0, 1} |-> 0]]
  /\ bank = [n \in Nodes |-> [b \in {0, 1} |-> b]]
  /\ wire = {} /\ got = {} /\ reported = {}

\* In place of Spec: nothing has to happen.
UnfairSpec == Init /\ [][Next]_vars
===============================================================================
