-------------------------------- MODULE MCNIUses --------------------------------
(***************************************************************************)
(* Small tables for NIUses whose cells are used again, which are right in  *)
(* slots only, and one fault at a time.                                    *)
(***************************************************************************)
EXTENDS NIUses

\* A row of one chunk that reads buffer `from` and writes buffer `into`.
UsesRow(op, wait, from, into, to, step) ==
  [op |-> op, flow |-> 0, wait |-> wait, from |-> from, into |-> into, children |-> to, step |-> step, route |-> Nil]
FromZero(list) == [n \in 0..Len(list) - 1 |-> list[n + 1]]

\* Recursive doubling: nodes exchange sums with a neighbour, then with the one across.
Across(n, bit) == IF (n \div bit) % 2 = 0 THEN n + bit ELSE n - bit
DoublingTable == [n \in Nodes |-> [k \in 1..(IF Cardinality(Nodes) = 2 THEN 1 ELSE 2) |->
  UsesRow("REDUCE", k - 1, 0, 0, {Across(n, k)}, k - 1)]]
DoublingArrivals == [n \in Nodes |-> {<<0, 0, IF Cardinality(Nodes) = 2 THEN 1 ELSE 2>>}]

\* Node 2 adds to node 1, nodes 1 and 0 send at once, and copies of the sum go from 0 to 1 and 2: each behind a sum that was there.
BackTable == FromZero(<<
  <<UsesRow("REDUCE", 0, 0, 0, {2}, 1), UsesRow("GATHER", 1, 0, 0, {1}, 2)>>,
  <<UsesRow("REDUCE", 1, 0, 0, {0}, 1), UsesRow("GATHER", 2, 0, 0, {2}, 3)>>,
  <<UsesRow("REDUCE", 0, 0, 0, {1}, 0)>> >>)
BackArrivals == FromZero(<<{<<0, 0, 1>>}, {<<0, 0, 2>>}, {<<0, 0, 2>>}>>)

\* Its counts, found by hand, of the messages from 2 to 1, 1 to 0, 0 to 2, 0 to 1 and 1 to 2; a test asks the exporter for the same.
BackByHand == {<<2, 1, 1, 0, 0>>, <<1, 1, 0, 1, 0>>, <<0, 1, 2, 1, 0>>, <<0, 2, 1, 1, 1>>, <<1, 2, 2, 1, 1>>}

\* Node 2 gets a copy of node 0, then a sum of node 1, in a buffer, which it adds to its own data.
BufferTable == FromZero(<<
  <<UsesRow("GATHER", 0, 0, 1, {2}, 0)>>, <<UsesRow("REDUCE", 0, 0, 1, {2}, 1)>>, <<UsesRow("REDUCE", 2, 1, 0, {2}, 2)>> >>)
BufferArrivals == FromZero(<<{}, {}, {<<0, 0, 1>>, <<0, 1, 2>>}>>)

\* Node 2 gets a copy of node 0 and sums of nodes 1 and 3 in a buffer, whose third is not for the row that sends the first two; node 1
\* adds to its own data as well, which goes to node 3 before.
MixedTable == FromZero(<<
  <<UsesRow("GATHER", 0, 0, 1, {2}, 0)>>, <<UsesRow("REDUCE", 0, 0, 1, {2}, 1), UsesRow("REDUCE", 0, 0, 0, {2}, 2)>>,
  <<UsesRow("REDUCE", 2, 1, 0, {0}, 2), UsesRow("REDUCE", 0, 0, 0, {3}, 2)>>, <<UsesRow("REDUCE", 0, 0, 1, {2}, 2)>> >>)
MixedArrivals == FromZero(<<{<<0, 0, 1>>}, {}, {<<0, 0, 1>>, <<0, 1, 3>>}, {<<0, 0, 1>>}>>)

\* Its counts: the third message into the buffer waits for the row that reads it and for the copy, not for the other sum.
MixedByHand ==
  {<<0, 1, 2, 0, 0>>, <<1, 1, 2, 0, 1>>, <<3, 1, 2, 1, 1>>, <<1, 2, 2, 1, 0>>, <<2, 1, 0, 1, 0>>, <<2, 2, 3, 1, 0>>}

\* What the steps take from all rows is what was found by hand, of the tables of which it was.
ByHand == IF Table = BackTable THEN BackByHand ELSE MixedByHand
CountsByHand == \A m \in flying : Table \in {BackTable, MixedTable} =>
  <<m.src, m.row, m.dst, ReadsBefore(m.src, m.row, m.dst), WritesBefore(m.src, m.row, m.dst)>> \in ByHand

\* The first nodes exchange sums of two chunks, the second in the step after; a row for one chunk is none for the other.
TwoChunks == [n \in Nodes |-> <<UsesRow("REDUCE", 0, 0, 0, {1 - n}, 0), [UsesRow("REDUCE", 0, 0, 0, {1 - n}, 1) EXCEPT !.flow = 1]>>]
TwoChunksComing == [n \in Nodes |-> {<<0, 0, 1>>, <<1, 0, 1>>}]

\* As constants.
MCTwoChunks == TwoChunks
MCTwoChunksComing == TwoChunksComing
MCDoubling == DoublingTable
MCDoublingArrivals == DoublingArrivals
MCBack == BackTable
MCBackArrivals == BackArrivals
MCMixed == MixedTable
MCMixedArrivals == MixedArrivals
MCBuffer == BufferTable
MCBufferArrivals == BufferArrivals
Everyone == [flow \in Flows |-> Nodes]
OnlyNode2 == [flow \in Flows |-> {2}]
MCWays == [way \in {<<a, b, Nil>> : a, b \in Nodes} |-> << <<way[1], way[2]>> >>]
MCWires == [link \in {<<a, b>> : a, b \in Nodes} |-> 1]
MCTicks == [way \in {<<a, b, Nil>> : a, b \in Nodes} |-> <<1>>]

\* In place of KeepsOrder: nothing is asked of rows that read; nothing of what was written.
IgnoresReads(m) == HasTaken(m) >= WritesBefore(m.src, m.row, m.dst)
IgnoresWrites(m) == HasRead(m) >= ReadsBefore(m.src, m.row, m.dst)

\* In place of ReadsBefore and WritesBefore: one fewer, where there are any, or one more.
FewerReads(s, r, n) ==
  LET all == Cardinality({row \in Readers(n, Rows[s][r].flow, Writes(s, r)) : StepOfRow(row) < LandsIn(<<s, r>>)})
  IN  IF all = 0 THEN 0 ELSE all - 1
MoreReads(s, r, n) == 1 + Cardinality({row \in Readers(n, Rows[s][r].flow, Writes(s, r)) : StepOfRow(row) < LandsIn(<<s, r>>)})
FewerWrites(s, r, n) ==
  LET earlier == {row \in Writers(n, Rows[s][r].flow, Writes(s, r)) : LandsIn(row) < LandsIn(<<s, r>>)}
      upTo == {row \in earlier : \E copy \in earlier : IsCopy(copy) /\ LandsIn(row) <= LandsIn(copy)}
      all == Cardinality(IF IsCopy(<<s, r>>) THEN earlier ELSE upTo)
  IN  IF all = 0 THEN 0 ELSE all - 1

\* In place of WritesBefore: a sum waits for no copy.
CopiesOnlyWait(s, r, n) ==
  IF IsCopy(<<s, r>>) THEN Cardinality({row \in Writers(n, Rows[s][r].flow, Writes(s, r)) : LandsIn(row) < LandsIn(<<s, r>>)}) ELSE 0

\* In place of HasRead: rows of all iterations.
ReadInAny(m) ==
  Cardinality({k \in 1..fired[m.dst] : Program[m.dst][k].item[1] = m.item[1] /\ Reads(m.dst, Program[m.dst][k].row) = Writes(m.src, m.row)})

\* In place of StepOfRow ... + Delay: messages that land in the step in which they are sent.
LandsAtOnce(row) == StepOfRow(row)

\* In place of InOrderSpec: without fairness.
UnfairInOrder == Init /\ [][NextInOrder]_vars
=================================================================================
