----------------------------- MODULE CheckNIPaced -----------------------------
(***************************************************************************)
(* What checking NIPaced needs beside the truth: one order of events where *)
(* all orders lead to the same.                                            *)
(*                                                                         *)
(* Two steps that are possible in one state commute, unless one of them is *)
(* a message into a cell that the other one reads, or copies into. So a    *)
(* step may be taken alone, and the others later, if no step that does not *)
(* commute with it can come before it:                                     *)
(* - a message into a cell, if all rows still to fire that read the cell   *)
(*   wait for it, or come behind one that does; and each other one still   *)
(*   to come into the cell is a sum as it is, or sent by a row to which a  *)
(*   chain of waits leads from one that waits for it;                      *)
(* - a row, if each message still to come into its cell is sent by a row   *)
(*   that fires later in every run, since a chain of waits leads to it.    *)
(* Where neither is so all steps are taken. Every run then has a twin      *)
(* among those that are explored, with the same steps in another order and *)
(* the same states at its end. Each property is about single nodes, or     *)
(* about what stays as it is once it has come, but for two. Of             *)
(* CountersApart the chains of waits say the same (ChainsKeepTogether).    *)
(* StepsAsScheduled says of two messages which one counts first. It tells  *)
(* two orders apart where a row does not wait for a message into its cell  *)
(* that the schedule has before it: what the row sends may count first in  *)
(* a run whose twin has the message first. If the message changes what is  *)
(* there, the twin breaks StepsAsScheduled too, since the row sent         *)
(* something else. If not, it carries nothing, which breaks the rule       *)
(* `not-held` of schedules, or it is a copy of what is there already. The  *)
(* second is a valid schedule. Of such a one StepsAsScheduled is known for *)
(* the orders that are explored only; all sums are right.                  *)
(*                                                                         *)
(* Arrivals must be those that rows send, as the checker of tables finds:  *)
(* with fewer a node would be done before the last comes. Where rows name  *)
(* peers, a node sends to a peer a sum of a flow at most once in an        *)
(* iteration, and a copy: `Awaited` and the counters take messages of one  *)
(* name for one arrival.                                                   *)
(*                                                                         *)
(* `Past` has the chains. That a row which waits for a number of arrivals  *)
(* waits for the first of them by slot is supposed when they are made, and *)
(* true if `AreFirst`: take the first row of a run that fires with another *)
(* message in its cell. What sent that one has the row in its past, by     *)
(* chains of rows that fired before and had their first messages.          *)
(*                                                                         *)
(* MCNIPaced checks the argument on small tables, in all orders: what can  *)
(* be taken alone stays so, and comes to the same, whatever else is done   *)
(* before (`StaysAlone`); and of right tables every step can (`OneOrder`). *)
(***************************************************************************)
EXTENDS NIPaced, CheckNILockstep

\* The entries of all programs, as pairs of node and place, and those that send into a cell of a node: item and buffer.
Entries == UNION {{<<n, k>> : k \in DOMAIN Program[n]} : n \in Nodes}
SlotOfEntry(e) == Program[e[1]][e[2]].slot
CellOf(e) == <<e[1], Program[e[1]][e[2]].item, Reads(e[1], Program[e[1]][e[2]].row)>>
Cells == {<<n, item, buffer>> : n \in Nodes, item \in Items, buffer \in Buffers}
Into == TLCEval([cell \in Cells |-> {e \in Entries :
  cell[1] \in Program[e[1]][e[2]].to /\ Program[e[1]][e[2]].item = cell[2] /\ Writes(e[1], Program[e[1]][e[2]].row) = cell[3]}])

\* The `many` entries of a set with the least slots, if that is certain.
FirstOf(entries, many) ==
  LET before(e) == {other \in entries : SlotOfEntry(other) < SlotOfEntry(e)}
      upTo(e) == {other \in entries : SlotOfEntry(other) <= SlotOfEntry(e)}
      first == {e \in entries : Cardinality(before(e)) < many}
  IN  IF Cardinality(first) = many THEN first ELSE {}

\* The entries whose messages have counted when entry e fires.
Awaited(e) ==
  LET entry == Program[e[1]][e[2]]
      senders == Into[CellOf(e)]
      of(arrival) ==
        IF IsCounted THEN FirstOf(senders, arrival[3])
        ELSE {s \in Entries : s[1] = arrival[3] /\ Program[s[1]][s[2]].op = arrival[1] /\ e[1] \in Program[s[1]][s[2]].to
                              /\ Program[s[1]][s[2]].item = <<arrival[2], entry.item[2]>>}
  IN  {s \in UNION {of(arrival) : arrival \in entry.awaits} : SlotOfEntry(s) < SlotOfEntry(e)}
AwaitedBy == TLCEval([e \in Entries |-> Awaited(e)])

\* The later of what two entries have behind them, node by node.
Later(a, b) == [n \in Nodes |-> IF a[n] > b[n] THEN a[n] ELSE b[n]]
Latest2(pasts, nothing) ==
  LET RECURSIVE all(_)
      all(rest) == IF rest = {} THEN nothing ELSE LET one == CHOOSE p \in rest : TRUE IN Later(one, all(rest \ {one}))
  IN  all(pasts)

\* Past[n][k][other]: how many entries of node `other` have fired whenever the k-th of node n has.
LastOfAll == LET slots == {SlotOfEntry(e) : e \in Entries} IN IF slots = {} THEN -1 ELSE CHOOSE s \in slots : \A t \in slots : t <= s
Past == TLCEval(
  LET nothing == [n \in Nodes |-> 0]
      upTo[s \in -1..LastOfAll] ==
        IF s = -1 THEN [n \in Nodes |-> <<>>]
        ELSE LET before == TLCEval(upTo[s - 1])
                 inSlot(n) == {k \in DOMAIN Program[n] : Program[n][k].slot = s}
                 RECURSIVE with(_, _)
                 with(n, done) ==
                   IF Len(done) + 1 \notin inSlot(n) THEN done
                   ELSE LET k == Len(done) + 1
                            last == IF k = 1 THEN nothing ELSE done[k - 1]
                            awaited == Latest2({before[e[1]][e[2]] : e \in AwaitedBy[<<n, k>>]}, nothing)
                        IN  with(n, Append(done, TLCEval([Later(last, awaited) EXCEPT ![n] = k])))
             IN  TLCEval([n \in Nodes |-> with(n, before[n])])
  IN  upTo[LastOfAll])

\* Whether rows that wait for a number of arrivals wait for those that come first by slot: what sends any other waits for the row.
AreFirst == TLCEval(~IsCounted \/ \A e \in Entries : \A arrival \in Program[e[1]][e[2]].awaits :
  LET senders == Into[CellOf(e)]
  IN  \A s \in senders \ FirstOf(senders, arrival[3]) : Past[s[1]][s[2]][e[1]] >= e[2])

\* The entries that have fired, and of a cell those whose messages into it have not counted.
HasFired(e) == e[2] <= fired[e[1]]
CellOfMessage(m) == <<m.dst, m.item, Writes(m.src, m.row)>>
Uncounted(cell) ==
  {e \in Into[cell] : ~HasFired(e) \/ \E m \in flying : m.src = e[1] /\ m.row = Program[e[1]][e[2]].row /\ CellOfMessage(m) = cell}

\* The entry that has sent message m.
SenderOf(m) == CHOOSE e \in Into[CellOfMessage(m)] : e[1] = m.src /\ Program[e[1]][e[2]].row = m.row

\* Message m can count alone.
CountsAlone(m) ==
  LET cell == CellOfMessage(m)
      sender == SenderOf(m)
      IsAwaitedUpTo(last) == \E k \in 1..last : sender \in AwaitedBy[<<m.dst, k>>]
  IN  /\ CanCountUntimed(m)
      /\ \A k \in fired[m.dst] + 1..Len(Program[m.dst]) : CellOf(<<m.dst, k>>) = cell => IsAwaitedUpTo(k)
      /\ \A e \in Uncounted(cell) \ {sender} : {Program[e[1]][e[2]].op, m.op} = {"REDUCE"} \/ IsAwaitedUpTo(Past[e[1]][e[2]][m.dst])

\* The next row of node n can fire alone.
FiresAlone(n) ==
  /\ CanFireUntimed(n)
  /\ \A k \in {fired[n] + 1} \intersect DOMAIN Program[n] :
       \A e \in Uncounted(CellOf(<<n, k>>)) : Past[e[1]][e[2]][n] > fired[n]

\* The messages that can count alone, and the nodes whose next rows can fire alone.
MessagesAlone == {m \in flying : AreFirst /\ CountsAlone(m)}
NodesAlone == {n \in Nodes : AreFirst /\ FiresAlone(n)}

\* In place of NextUntimed.
NextAlone ==
  LET messages == MessagesAlone
      nodes == NodesAlone
  IN  IF messages # {} THEN CountUntimed(CHOOSE m \in messages : TRUE)
      ELSE IF nodes # {} THEN FireUntimed(CHOOSE n \in nodes : TRUE)
      ELSE AnyStep

\* By the chains of waits: when the counter of a node may show the step of its next entry, that of a neighbour shows at least the step
\* of the last entry that it has fired in every run in which the node has fired the one before. Of all orders of events.
ChainsKeepTogether ==
  \A way \in DOMAIN Path : way[1] # way[2] /\ HasNext(way[1]) =>
    LET passed == IF fired[way[1]] = 0 THEN 0 ELSE Past[way[1]][fired[way[1]]][way[2]]
        shown == IF passed = 0 THEN 0 ELSE Program[way[2]][passed].slot
    IN  passed < Len(Program[way[2]]) => GreatestStep(way[1]) - shown <= MaxStepsApart
================================================================================
