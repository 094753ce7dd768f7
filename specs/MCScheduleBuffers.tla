--------------------------- MODULE MCScheduleBuffers ---------------------------
(***************************************************************************)
(* Small schedules with scratch buffers, and one thing wrong at a time.    *)
(***************************************************************************)
EXTENDS ScheduleBuffers

\* Everybody contributes and is promised the sum.
Everybody == [item \in Items |-> Nodes]

\* A transfer of item 0.
Moving(op, src, dst, from, into, slot) == [op |-> op, item |-> 0, src |-> src, dst |-> dst, from |-> from, into |-> into, slot |-> slot]

\* One shot among three nodes: each keeps its original in buffer 1 and sends it to one other, then to the other one.
Keeping == {Moving("GATHER", n, n, 0, 1, 0) : n \in Nodes}
First == {Moving("REDUCE", n, (n + 1) % 3, 0, 0, 0) : n \in Nodes}
OneShot == Keeping \union First \union {Moving("REDUCE", n, (n + 2) % 3, 1, 0, 1) : n \in Nodes}

\* The same with a slot more between the two, for a delay of two slots.
OneShotLater == Keeping \union First \union {Moving("REDUCE", n, (n + 2) % 3, 1, 0, 2) : n \in Nodes}

\* Recursive doubling on a square, in one buffer.
Doubling == {Moving("REDUCE", n, IF n % 2 = 0 THEN n + 1 ELSE n - 1, 0, 0, 0) : n \in Nodes}
              \union {Moving("REDUCE", n, (n + 2) % 4, 0, 0, 1) : n \in Nodes}

-------------------------------------------------------------------------------
(* Blocks, and a node that takes no part, on three nodes in a row. A block goes from the node that is its number div 3 to the one *)
(* that is its number mod 3; what passes node 1 waits there in a scratch buffer.                                               *)

\* Where blocks come from, and where they are due.
Sources == [item \in Items |-> {item \div 3}]
Targets == [item \in Items |-> {item % 3}]

\* The copy of an item.
Copying(item, src, dst, from, into, slot) ==
  [op |-> "GATHER", item |-> item, src |-> src, dst |-> dst, from |-> from, into |-> into, slot |-> slot]

\* Gather to node 0.
Gathering == {Copying(3, 1, 0, 0, 0, 0), Copying(6, 2, 1, 0, 1, 0), Copying(6, 1, 0, 1, 0, 1)}

\* All-to-all: blocks between neighbours, behind them those from end to end.
Exchange ==
  {Copying(item, item \div 3, item % 3, 0, 0, 0) : item \in {1, 3, 5, 7}}
    \union {Copying(2, 0, 1, 0, 1, 1), Copying(2, 1, 2, 1, 0, 2), Copying(6, 2, 1, 0, 1, 1), Copying(6, 1, 0, 1, 0, 2)}

\* An all-gather of nodes 0 and 2, of an item of each, by way of node 1, which takes no part.
TwoMembers == [item \in Items |-> {0, 2}]
OwnItem == [item \in Items |-> {item}]
PassingOn == {Copying(0, 0, 1, 0, 1, 0), Copying(0, 1, 2, 1, 0, 1), Copying(2, 2, 1, 0, 1, 0), Copying(2, 1, 0, 1, 0, 1)}

-------------------------------------------------------------------------------
(* Wrong schedules                                                           *)

\* The block on its way leaves from the data buffer, where it is not.
WrongBuffer == (Gathering \ {Copying(6, 1, 0, 1, 0, 1)}) \union {Copying(6, 1, 0, 0, 0, 1)}

\* The block ends in a scratch buffer of its target.
EndsInScratch == (Exchange \ {Copying(2, 1, 2, 1, 0, 2)}) \union {Copying(2, 1, 2, 1, 1, 2)}

\* A block of another pair is brought to the target.
OtherBlock == (Gathering \ {Copying(6, 2, 1, 0, 1, 0)}) \union {Copying(6, 0, 1, 0, 1, 0)}

\* The node that takes no part passes on what is not there yet.
PassedOnTooEarly == (PassingOn \ {Copying(0, 1, 2, 1, 0, 1)}) \union {Copying(0, 1, 2, 1, 0, 0)}

\* It keeps what it should pass on.
StrangerKeeps == PassingOn \ {Copying(0, 1, 2, 1, 0, 1)}

\* Something is added at the node that takes no part, where there is nothing.
AddsAtStranger == (PassingOn \ {Copying(0, 0, 1, 0, 1, 0)}) \union {[Copying(0, 0, 1, 0, 1, 0) EXCEPT !.op = "REDUCE"]}

\* Originals leave from the data buffer once something has been added there.
OriginalLost == Keeping \union First \union {Moving("REDUCE", n, (n + 2) % 3, 0, 0, 1) : n \in Nodes}

\* Nobody keeps an original.
NotKept == OneShot \ Keeping

\* What is added to the scratch buffer finds nothing there.
AddsToNothing == (OneShot \ Keeping) \union {Moving("REDUCE", n, n, 0, 1, 0) : n \in Nodes}

\* A copy is under way to a cell together with a sum.
CopyMeetsSum == OneShot \union {Moving("GATHER", 0, 1, 1, 0, 1)}

\* A node is left out.
LeftOut == OneShot \ {Moving("REDUCE", 0, 2, 1, 0, 1)}

\* Nothing is brought to the data buffer of node 2.
NeverBrought == {t \in OneShot : t.dst # 2 \/ t.into # 0}

-------------------------------------------------------------------------------
(* Wrong steps                                                               *)

\* What leaving and landing do besides their guards.
Go(t) == sent' = sent \union {t} /\ carried' = [carried EXCEPT ![t] = held[t.src][<<t.item, t.from>>]] /\ UNCHANGED <<now, held, done>>
Come(t) ==
  /\ held' = [held EXCEPT ![t.dst][<<t.item, t.into>>] = IF t.op = "REDUCE" THEN Plus(@, carried[t]) ELSE carried[t]]
  /\ done' = done \union {t}
  /\ UNCHANGED <<now, carried, sent>>

\* In place of Leave: without one of its guards.
LeaveAgain(t) == t.slot = now /\ t \notin done /\ Go(t)
LeaveAnyTime(t) == t \notin sent /\ Go(t)

\* In place of Land: without one of its guards.
LandAgain(t) == t \in sent /\ HaveLeft(t.slot) /\ Come(t)
LandAtOnce(t) == t \in sent /\ t \notin done /\ Come(t)

\* Where to stop looking at what happens again and again.
NothingThrice == \A n \in Nodes, cell \in Items \X Buffers, k \in Nodes : held[n][cell][k] <= 2

\* In place of Tick: without one of its guards.
TickBefore == now < End /\ (\A t \in Transfers : t.slot + Delay <= now + 1 /\ t \in sent => t \in done) /\ now' = now + 1
                /\ UNCHANGED <<held, carried, sent, done>>
TickUnlanded == now < End /\ HaveLeft(now) /\ now' = now + 1 /\ UNCHANGED <<held, carried, sent, done>>

\* In place of Tick: slots open without an end.
TickOn == HaveLeft(now) /\ (\A t \in Transfers : t.slot + Delay <= now + 1 => t \in done) /\ now' = now + 1
            /\ UNCHANGED <<held, carried, sent, done>>

\* In place of Init: the node that takes no part begins with data.
StrangerInit ==
  /\ now = 0 /\ sent = {} /\ done = {} /\ carried = [t \in Transfers |-> Nothing]
  /\ held = [n \in Nodes |-> [cell \in Items \X Buffers |-> IF cell[2] = 0 THEN OnceEach({n}) ELSE Nothing]]

\* In place of Spec: nothing has to happen.
UnfairSpec == Init /\ [][Next]_vars
===============================================================================
