-------------------------------- MODULE NIUses --------------------------------
(***************************************************************************)
(* Paced interfaces that keep the order of uses of a cell (sentence A14 of *)
(* the contract), at any timing. A message may come before a row has read  *)
(* what was in its cell, or before another one that it must not be         *)
(* overwritten by. So it waits in the buffers of the interface until two   *)
(* counts of its cell and iteration are reached: of rows that have read,   *)
(* and of messages that have been written or added. Both come from the     *)
(* steps of all rows; `ReadsBefore` and `WritesBefore` are the two columns *)
(* that the format `json-uses` writes.                                     *)
(*                                                                         *)
(* Everything else is as in NIPaced, where nothing is known of time. Each  *)
(* row then reads what it reads in slots (`ReadsAsInSlots`).               *)
(*                                                                         *)
(* For rows that wait for numbers of arrivals, whose step is a slot, and   *)
(* iterations that share no memory. Each message is among the arrivals     *)
(* that its node expects, as the checker of tables finds.                  *)
(***************************************************************************)
EXTENDS NIPaced

\* For TLCEval, the identity: TLC then keeps the values of a function instead of computing one at each use.
LOCAL INSTANCE TLC

\* The rows that read a cell of node n, and those that write into it, each as <<node, row>>.
Readers(n, flow, buffer) == {<<n, r>> : r \in {k \in DOMAIN Rows[n] : Rows[n][k].flow = flow /\ Reads(n, k) = buffer}}
Writers(n, flow, buffer) == UNION {
  {<<s, r>> : r \in {k \in DOMAIN Rows[s] : Rows[s][k].flow = flow /\ Writes(s, k) = buffer /\ n \in Destinations(s, k)}} : s \in Nodes}

\* The step of a row, and the one in which its messages land: rows of that step read them.
StepOfRow(row) == Rows[row[1]][row[2]].step
LandsIn(row) == StepOfRow(row) + Delay
IsCopy(row) == Rows[row[1]][row[2]].op = "GATHER"

\* Before the message of row r of node s to node n: how many rows read its cell in earlier steps.
ReadsBefore(s, r, n) ==
  Cardinality({row \in Readers(n, Rows[s][r].flow, Writes(s, r)) : StepOfRow(row) < LandsIn(<<s, r>>)})

\* And how many messages come into its cell: before a copy all that land earlier; before a sum the last copy that lands earlier, and
\* all that land before that.
WritesBefore(s, r, n) ==
  LET earlier == {row \in Writers(n, Rows[s][r].flow, Writes(s, r)) : LandsIn(row) < LandsIn(<<s, r>>)}
  IN  IF IsCopy(<<s, r>>) THEN Cardinality(earlier)
      ELSE Cardinality({row \in earlier : \E copy \in earlier : IsCopy(copy) /\ LandsIn(row) <= LandsIn(copy)})

\* What the interface counts, in the cell and iteration of message m: rows that have read, messages that have been taken.
HasRead(m) == Cardinality({k \in 1..fired[m.dst] : Program[m.dst][k].item = m.item /\ Reads(m.dst, Program[m.dst][k].row) = Writes(m.src, m.row)})
HasTaken(m) ==
  count[m.dst][CounterOfMessage(m)] - (m.item[2] \div InFlight) * Brought(m.dst, m.item[1], Writes(m.src, m.row))

\* Message m may go into its cell.
KeepsOrder(m) ==
  /\ HaveRead::    HasRead(m) >= ReadsBefore(m.src, m.row, m.dst)
  /\ HaveWritten:: HasTaken(m) >= WritesBefore(m.src, m.row, m.dst)

\* One row fires, one message counts in its order, or the run is over.
NextInOrder ==
  \/ \E n \in Nodes : FireUntimed(n)
  \/ \E m \in flying : KeepsOrder(m) /\ CountUntimed(m)
  \/ Rest

\* Every step brings a run nearer to its end.
InOrderSpec == Init /\ [][NextInOrder]_vars /\ WF_vars(NextInOrder)

-------------------------------------------------------------------------------
(* Properties                                                                *)

\* The last step in which anything happens.
LastStep ==
  LET steps == UNION {{LandsIn(<<n, r>>) : r \in DOMAIN Rows[n]} : n \in Nodes}
  IN  IF steps = {} THEN 0 ELSE CHOOSE last \in steps : \A step \in steps : step <= last

\* The sum of what rows carry, by `loads`.
SumOf(rows, loads) ==
  LET RECURSIVE all(_)
      all(rest) == IF rest = {} THEN OnceEach({}) ELSE LET one == CHOOSE row \in rest : TRUE IN Plus(loads[one], all(rest \ {one}))
  IN  all(rows)

\* What each cell holds in each step of slots, once all that lands in the step has, and what each row carries that fires by then.
InSlots == TLCEval(
  LET cells == {<<n, flow, buffer>> : n \in Nodes, flow \in Flows, buffer \in Buffers}
      rows == UNION {{<<n, r>> : r \in DOMAIN Rows[n]} : n \in Nodes}
      begin == [cell \in cells |-> OnceEach(IF cell[3] = 0 THEN {cell[1]} \intersect Contributors[cell[2]] ELSE {})]
      landed(before, step) == [cell \in cells |->
        LET new == {row \in Writers(cell[1], cell[2], cell[3]) : LandsIn(row) = step}
            copies == {row \in new : IsCopy(row)}
        IN  Plus(IF copies = {} THEN before.holds[cell] ELSE before.loads[CHOOSE copy \in copies : TRUE],
                 SumOf(new \ copies, before.loads))]
      upTo[step \in -1..LastStep] ==
        IF step = -1 THEN [holds |-> begin, loads |-> [row \in rows |-> OnceEach({})]]
        ELSE LET before == upTo[step - 1]
                 holds == TLCEval(landed(before, step))
             IN  TLCEval([holds |-> holds, loads |-> [row \in rows |->
                   IF StepOfRow(row) = step THEN holds[<<row[1], Rows[row[1]][row[2]].flow, Reads(row[1], row[2])>>] ELSE before.loads[row]]])
  IN  upTo[LastStep])

\* Each message carries what its row reads in slots.
ReadsAsInSlots == \A m \in flying : m.load = InSlots.loads[<<m.src, m.row>>]

\* In the end each cell holds what it holds in slots.
EndsAsInSlots ==
  AllDone => \A n \in Nodes, place \in Places :
    held[n][place] = InSlots.holds[<<n, place[1], IF Len(place) = 3 THEN place[3] ELSE 0>>]

\* Of tables whose data are right in slots, whatever order the slots keep.
THEOREM InOrderSpec => EveryRunEnds
===============================================================================
