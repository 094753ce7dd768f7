---------------------------- MODULE MCNIJointFaults ----------------------------
(***************************************************************************)
(* NIJoint with one thing wrong at a time. Every model of this module must *)
(* fail; models.toml says how.                                             *)
(***************************************************************************)
EXTENDS MCNIJoint

\* Two rows of node 0 have exchanged their tags: a sum of collective 0, and a copy of collective 1.
TagsExchanged == [TagsOfFlows EXCEPT ![0] = [@ EXCEPT ![1] = TagsOfFlows[0][2], ![2] = TagsOfFlows[0][1]]]
MCTagsExchanged == TagsExchanged

\* In place of FiledAs: the NI forgets the mark, and takes every message for one of collective 0.
FiledAsFirst(m) == << <<0, m.item[1][2]>>, m.item[2]>>

\* In place of LeavesByTag: a lane is free when a shortest message would have left it.
LeavesAsShortest(m, k) == m.enters[k] + SerTicks

\* In place of AtFirst: nodes begin with nothing.
NothingAtFirst(n, place) == DataOf({}, {})

\* In place of Added: what comes is added twice.
AddedTwice(a, b) == [of |-> a.of \union b.of, bag |-> Plus(Plus(a.bag, b.bag), b.bag)]

\* In place of AtFirst: what nodes have is of a collective that there is not.
OfNoCollective(n, place) == DataOf({-1}, {n} \intersect Contributors[place[1]])

\* In place of Added: what comes is left out; or it replaces what was there.
NotAdded(a, b) == a
Replaces(a, b) == b

\* In place of JointInit: the clock of node 0 starts a tick later.
StartsApart ==
  /\ now = 0 /\ start = [n \in Nodes |-> IF n = 0 THEN 1 ELSE 0] /\ drift = [n \in Nodes |-> 0]
  /\ counter = [n \in Nodes |-> LoadedFor(n, 0, 0, 0)]
  /\ fired = [n \in Nodes |-> 0]
  /\ flying = {}
  /\ held = [n \in Nodes |-> [place \in Places |-> AtFirst(n, place)]]
  /\ count = [n \in Nodes |-> [of \in Counters(n) |-> 0]]

\* In place of ActTagged: an NI does not give precedence to messages under way.
OwnTagged(n) == FireTagged(n)

\* In place of JointSpec: nothing has to happen, even when it can.
UnfairJoint == JointInit /\ [][JointNext]_vars

\* Copies of collective 1 a slot later: they would be gone in time if they were as short as the others.
CopiesLater == Three(2, 5)

\* The broadcast of collective 2 a slot earlier: the port is free, but the last sum of collective 0 is still under way.
BroadcastEarlier == Three(1, 4)

\* Three nodes in a line, without the message of collective 1.
OneOfTwo == {Gather(<<0, 0>>, 0, 2, 0)}

\* Two nodes with second buffers: what is passed on to them does not wait for the block of the other node.
CarelessBlocks == [n \in 0..1 |-> [BlocksOfTwo[n] EXCEPT ![3] = [@ EXCEPT !.wait = 0]]]
MCCarelessBlocks == CarelessBlocks

\* A row of collective 1 in the slot of one of collective 0, and the other way round.
SlotsExchanged ==
  {IF t.flow = <<1, 0>> THEN [t EXCEPT !.step = 3] ELSE IF t.op = "GATHER" /\ t.flow = <<0, 0>> THEN [t EXCEPT !.step = 1] ELSE t :
   t \in ThreeAtOnce}

\* In place of TaggedTo: a message takes as long as a shortest one.
TaggedAsShortest(n, peer) ==
  LET way == WayTo(n, peer)
      turn == TurnAt(Path[way][1])
  IN  [op |-> Upcoming(n).op, item |-> Marked(n), src |-> n, dst |-> peer, sent |-> now, row |-> Upcoming(n).row,
       load |-> held[n][Place(Upcoming(n).item, Reads(n, Upcoming(n).row))], links |-> Path[way],
       travel |-> TravelTicks[way], lanes |-> <<turn.lane>>, enters |-> <<turn.enters>>]

\* In place of LeavesByTag: all messages are as long as those of collective 0, or as the longest.
LeavesAsFirst(m, k) == m.enters[k] + Length[0]
LeavesAsLongest(m, k) == m.enters[k] + CHOOSE length \in {Length[tag] : tag \in Tags} : \A tag \in Tags : Length[tag] <= length

\* In place of CountTagged: messages go to the data, whichever buffer they are for.
CountToData(m) ==
  /\ CanCount(m)
  /\ held' = [held EXCEPT ![m.dst][Place(m.item, 0)] = IF m.op = "REDUCE" THEN Added(@, m.load) ELSE m.load]
  /\ count' = IF CounterOfMessage(m) \in Counters(m.dst) THEN Counted(m, count) ELSE count
  /\ flying' = flying \ {m}
  /\ UNCHANGED <<now, start, drift, counter, fired>>

\* In place of FireTagged: a row sends to one of its destinations only.
FireToOne(n) ==
  /\ CanFire(n)
  /\ flying' = flying \union {TaggedTo(n, CHOOSE peer \in Upcoming(n).to : TRUE)}
  /\ fired' = [fired EXCEPT ![n] = @ + 1]
  /\ UNCHANGED <<now, start, drift, counter, held, count>>

\* In place of AtFirst: nodes have contributions in all buffers; or also to chunks that do not ask for them.
OwnInAllBuffers(n, place) ==
  LET own == {n} \intersect Contributors[place[1]] IN DataOf(IF own = {} THEN {} ELSE {place[1][1]}, own)
OwnOfAll(n, place) == IF Len(place) = 3 /\ place[3] # 0 THEN DataOf({}, {}) ELSE DataOf({place[1][1]}, {n})

\* Sums of two collectives come to the unit of a node in the same tick.
SumsMeet == Meeting(0)

\* The same where they are of the second row of node 0, and of the first one of node 2.
LaterSumsMeet ==
  (Meeting(3) \ {Reduce(<<0, 0>>, 0, 1, 1), Gather(<<0, 2>>, 0, 2, 8)}) \union {Gather(<<0, 2>>, 0, 2, 0), Reduce(<<0, 0>>, 0, 1, 4)}

\* The broadcast of collective 2 is over before anything of collective 0 has begun.
BroadcastFirst ==
  {[t EXCEPT !.step = IF t.flow = <<2, 0>> THEN 0 ELSE @ + 3] : t \in ThreeAtOnce}

\* In place of Added: what comes loses its tags.
TagsForgotten(a, b) == [of |-> a.of, bag |-> Plus(a.bag, b.bag)]

\* In place of CountTagged: sums count in any order.
CountOutOfOrder(m) ==
  /\ now \in Earliest(m)..Latest(m)
  /\ LET place == Place(m.item, Writes(m.src, m.row))
     IN  held' = [held EXCEPT ![m.dst][place] = IF m.op = "REDUCE" THEN Added(@, m.load) ELSE m.load]
  /\ count' = IF CounterOfMessage(m) \in Counters(m.dst) THEN Counted(m, count) ELSE count
  /\ flying' = flying \ {m}
  /\ UNCHANGED <<now, start, drift, counter, fired>>
===============================================================================
