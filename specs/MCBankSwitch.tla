----------------------------- MODULE MCBankSwitch -----------------------------
(***************************************************************************)
(* Three nodes and three epochs; and one thing wrong at a time.            *)
(***************************************************************************)
EXTENDS BankSwitch

\* Around the ring of three, one way in even epochs and the other way in odd ones.
BothWays == [place \in {0, 1} \X Nodes |-> (place[2] + 1 + place[1]) % 3]

-------------------------------------------------------------------------------
(* Wrong interfaces                                                          *)

\* In place of IsTaken: the bit is not compared.
TakesAll(m) == TRUE

\* In place of OpensAt: one node opens a slot too early.
NodeOneEarly(n, e) == e * Length - (IF n = 1 /\ e > 0 THEN 1 ELSE 0)

\* In place of Length: the last messages are not waited for.
WithoutDelay == Iterations

\* In place of Length: a slot more than is needed.
SlotMore == Iterations + Delay

\* In place of Load: any image is taken.
LoadAny(n, e) ==
  /\ bank' = [bank EXCEPT ![n][Closed(n)] = e]
  /\ count' = [count EXCEPT ![n][Closed(n)] = 0]
  /\ UNCHANGED <<slot, fired, epoch, wire, got, reported>>

\* In place of Load: the counters of the bank go on from where the last image left them.
LoadOnly(n, e) ==
  /\ e = epoch[n] + 1
  /\ bank' = [bank EXCEPT ![n][Closed(n)] = e]
  /\ UNCHANGED <<slot, fired, epoch, count, wire, got, reported>>

\* In place of Load: into the open bank.
LoadOpen(n, e) ==
  /\ e = epoch[n] + 1
  /\ bank' = [bank EXCEPT ![n][Open(n)] = e]
  /\ UNCHANGED <<slot, fired, epoch, count, wire, got, reported>>

\* In place of Fire: a row fires again.
FireAgain(n) ==
  /\ HasRow(n)
  /\ fired' = fired \union {n}
  /\ wire' = wire \union
       {[from |-> n, to |-> Peer[<<Open(n), n>>], epoch |-> epoch[n], iteration |-> Iteration(n), slot |-> slot[n]]}
  /\ UNCHANGED <<slot, epoch, bank, count, got, reported>>

\* In place of Receive: clocks differ by as much as a message takes.
ReceiveBefore(m) ==
  /\ m \in wire
  /\ wire' = wire \ {m}
  /\ IF IsTaken(m)
     THEN /\ count' = [count EXCEPT ![m.to][Open(m.to)] = @ + 1]
          /\ got' = got \union {[node |-> m.to, executed |-> epoch[m.to], message |-> m]}
          /\ UNCHANGED reported
     ELSE /\ reported' = reported \union {m.to}
          /\ UNCHANGED <<count, got>>
  /\ UNCHANGED <<slot, fired, epoch, bank>>

\* What a tick does besides its guards.
Advance(n) ==
  /\ slot' = [slot EXCEPT ![n] = @ + 1]
  /\ fired' = fired \ {n}
  /\ epoch' = [epoch EXCEPT ![n] = IF slot[n] + 1 = OpensAt(n, @ + 1) THEN bank[n][Closed(n)] ELSE @]
  /\ UNCHANGED <<bank, count, wire, got, reported>>

\* The guards of a tick.
InRange(n) == HasFired(n) /\ slot[n] + 1 < (Last + 1) * Length
Landed(n) == slot[n] + 1 >= Delay => HasLanded(n, slot[n] + 1 - Delay)
Loaded(n) == slot[n] + 1 = OpensAt(n, epoch[n] + 1) => bank[n][Closed(n)] # NoImage /\ bank[n][Closed(n)] > epoch[n]

\* In place of Tick: without one of its guards.
TickTooSoon(n) == InRange(n) /\ Loaded(n) /\ Advance(n)
TickUnloaded(n) == InRange(n) /\ Landed(n) /\ Advance(n)

\* In place of OpensAt: one node begins with its second slot.
SecondSlotFirst(n, e) == e * Length - (IF n = 1 THEN 1 ELSE 0)

\* In place of Init: both banks have images.
FullInit ==
  /\ slot = [n \in Nodes |-> 0] /\ epoch = [n \in Nodes |-> 0] /\ count = [n \in Nodes |-> [b \in {0, 1} |-> 0]]
  /\ bank = [n \in Nodes |-> [b \in {0, 1} |-> b]]
  /\ fired = {} /\ wire = {} /\ got = {} /\ reported = {}

\* In place of Spec: nothing has to happen.
UnfairSpec == Init /\ [][Next]_vars
===============================================================================
