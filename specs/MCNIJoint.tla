------------------------------- MODULE MCNIJoint -------------------------------
(***************************************************************************)
(* Small tables of several collectives for NIJoint. A cfg chooses a        *)
(* schedule of all of them, the tags of rows, and lengths of messages.     *)
(***************************************************************************)
EXTENDS CheckNIJoint, MCNILockstep

-------------------------------------------------------------------------------
(* Tables that name what they wait for                                       *)

\* Two nodes, slots of a tick, latency one, sums that take a tick. Collective 0 is an all-reduce of two chunks, collective 1 an
\* all-gather with messages of two ticks, collective 2 a broadcast from node 0 after collective 0. The port of each node is busy from
\* tick 0 to 4.
Three(copies, last) ==
  UNION {{Reduce(<<0, f>>, 1 - f, f, 0), Gather(<<1, f>>, f, 1 - f, copies), Gather(<<0, f>>, f, 1 - f, 3)} : f \in 0..1}
  \union {Gather(<<2, 0>>, 0, 1, last)}
ThreeAtOnce == Three(1, 5)

\* The flows, those who contribute to each, and how long messages are.
ThreeFlows == ({0, 1} \X {0, 1}) \union {<<2, 0>>}
ThreeContributors == [flow \in ThreeFlows |-> IF flow[1] = 0 THEN Nodes ELSE {flow[2]}]
ThreeLengths == [tag \in 0..2 |-> IF tag = 1 THEN 2 ELSE 1]
ThreeAfter == [tag \in 0..2 |-> IF tag = 2 THEN {0} ELSE {}]

\* Each node sends at most one row in a slot.
ByStep(rows) == [k \in 1..Cardinality(rows) |-> CHOOSE row \in rows : Cardinality({other \in rows : other.step < row.step}) = k - 1]
ThreeTable == [n \in Nodes |-> ByStep({RowOf(t) : t \in {u \in Schedule : u.src = n}})]

\* Rows have the tag of the flow whose cell they read.
TagsOfFlows == [n \in Nodes |-> [r \in DOMAIN Table[n] |-> Table[n][r].flow[1]]]

-------------------------------------------------------------------------------
(* Tables whose rows wait for numbers of arrivals                            *)

\* Two nodes: both add what the other one has to chunk 0 of collective 0; in collective 1, whose messages take two ticks, each sends a
\* block to the other, and passes on to its second buffer what it got.
BlocksOfTwo == [n \in 0..1 |->
  LET row(op, flow, wait, from, into, to, step) ==
        [op |-> op, flow |-> flow, wait |-> wait, from |-> from, into |-> into, children |-> {to}, step |-> step, route |-> Nil]
  IN  <<row("REDUCE", <<0, 0>>, 0, 0, 0, 1 - n, 0), row("GATHER", <<1, n>>, 0, 0, 0, 1 - n, 1),
        row("GATHER", <<1, 1 - n>>, 1, 0, 1, n, 4)>>]
BlocksOfTwoArrivals == [n \in 0..1 |-> {<< <<0, 0>>, 0, 1>>, << <<1, 1 - n>>, 0, 1>>, << <<1, 1 - n>>, 1, 1>>}]
BlocksOfTwoFlows == {<<0, 0>>, <<1, 0>>, <<1, 1>>}
BlocksOfTwoContributors == [flow \in BlocksOfTwoFlows |-> IF flow[1] = 0 THEN Nodes ELSE {flow[2]}]
BlocksOfTwoPromised == [flow \in BlocksOfTwoFlows |-> IF flow[1] = 0 THEN Nodes ELSE {1 - flow[2]}]

\* Two nodes: each adds by its copy unit what the other one has sent to its second buffer in collective 0, and in the same tick copies
\* the block of collective 1 that it got there.
CopiesOfTwo == [n \in 0..1 |->
  LET row(op, flow, wait, from, into, to, step) ==
        [op |-> op, flow |-> flow, wait |-> wait, from |-> from, into |-> into, children |-> {to}, step |-> step, route |-> Nil]
  IN  <<row("GATHER", <<0, 0>>, 0, 0, 1, 1 - n, 0), row("GATHER", <<1, n>>, 0, 0, 1, 1 - n, 1),
        row("REDUCE", <<0, 0>>, 1, 1, 0, n, 4), row("GATHER", <<1, 1 - n>>, 1, 1, 0, n, 4)>>]
CopiesOfTwoArrivals == [n \in 0..1 |-> {<<flow, buffer, 1>> : flow \in {<<0, 0>>, <<1, 1 - n>>}, buffer \in 0..1}]

-------------------------------------------------------------------------------
(* Messages over two links                                                   *)

\* Three nodes in a line: a message of collective 0 from end to end comes to the link from 1 to 2 in the tick in which node 1 sends a
\* longer one of collective 1 over it, which waits.
LineOfTwo == {Gather(<<0, 0>>, 0, 2, 0), Gather(<<1, 1>>, 1, 2, 2)}
LineOfTwoFlows == {<<0, 0>>, <<1, 1>>}
LineOfTwoContributors == [flow \in LineOfTwoFlows |-> {flow[2]}]
LineOfTwoPromised == [flow \in LineOfTwoFlows |-> {2}]
LineOfTwoLengths == [tag \in 0..1 |-> 2 + tag]

-------------------------------------------------------------------------------
(* Units that two collectives use, and rows with two destinations            *)

\* Three nodes in a line: node 1 adds what node 0 sends in collective 0 and, a tick later, what node 2 sends in collective 1 from slot
\* `other` on. Then it sends a chunk to both at once. In the end a message of collective 0 from end to end waits for a longer one of
\* collective 1, which node 1 has sent before.
Meeting(other) ==
  {Reduce(<<0, 0>>, 0, 1, 1), Reduce(<<1, 0>>, 2, 1, other), Gather(<<0, 1>>, 1, 0, 4), Gather(<<0, 1>>, 1, 2, 4),
   Gather(<<0, 2>>, 0, 2, 8), Gather(<<1, 1>>, 1, 2, 9)}
MeetingApart == Meeting(1)
MeetingFlows == {<<0, 0>>, <<0, 1>>, <<0, 2>>, <<1, 0>>, <<1, 1>>}
MeetingContributors == [flow \in MeetingFlows |->
  IF flow = <<0, 0>> THEN {0, 1} ELSE IF flow = <<1, 0>> THEN {1, 2} ELSE IF flow = <<0, 2>> THEN {0} ELSE {1}]
MeetingPromised == [flow \in MeetingFlows |-> IF flow[2] = 0 THEN {1} ELSE IF flow = <<0, 1>> THEN {0, 2} ELSE {2}]

-------------------------------------------------------------------------------
(* Routes, parallel lanes, and sums that wait for each other                 *)

\* Three nodes. Node 0 sends a long message of collective 1 to node 2 by a route over node 1, though there is a direct link, and next
\* to it, on the second lane of the link to node 1, a chunk of collective 0. Node 1 has nothing of that chunk, and adds to it what node
\* 2 sends a tick later, while the unit may still have the first sum. What node 1 sends itself waits for the long message.
ThreeRoutes == <<
  [op |-> "GATHER", flow |-> <<1, 0>>, step |-> 0, parent |-> Nil, route |-> 0, children |-> {2}],
  [op |-> "REDUCE", flow |-> <<0, 0>>, step |-> 0, parent |-> 1, route |-> Nil, children |-> {}],
  [op |-> "GATHER", flow |-> <<0, 1>>, step |-> 3, parent |-> Nil, route |-> Nil, children |-> {2}],
  [op |-> "REDUCE", flow |-> <<0, 0>>, step |-> 1, parent |-> 1, route |-> Nil, children |-> {}]>>
RoutesTable == [n \in 0..2 |-> SubSeq(ThreeRoutes, IF n = 0 THEN 1 ELSE n + 2, n + 2)]
RoutesArrivals == [n \in 0..2 |->
  IF n = 0 THEN {} ELSE IF n = 1 THEN {<<"REDUCE", <<0, 0>>, 0>>, <<"REDUCE", <<0, 0>>, 2>>}
  ELSE {<<"GATHER", <<1, 0>>, 0>>, <<"GATHER", <<0, 1>>, 1>>}]
RoutesFlows == {<<0, 0>>, <<0, 1>>, <<1, 0>>}
RoutesContributors == [flow \in RoutesFlows |-> IF flow = <<0, 0>> THEN {0, 2} ELSE {flow[2]}]
RoutesPromised == [flow \in RoutesFlows |-> IF flow = <<0, 0>> THEN {1} ELSE {2}]
RoutesLinks == [link \in {<<0, 1>>, <<0, 2>>, <<1, 2>>, <<2, 1>>} |-> IF link = <<0, 1>> THEN 2 ELSE 1]
RoutesPaths == [way \in {<<link[1], link[2], Nil>> : link \in DOMAIN RoutesLinks} \union {<<0, 2, 0>>} |->
  IF way[3] = Nil THEN << <<way[1], way[2]>> >> ELSE << <<0, 1>>, <<1, 2>> >>]

-------------------------------------------------------------------------------
(* The constants                                                             *)

\* As the constants, see MCNILockstep.
MCThreeFlows == ThreeFlows
MCThreeContributors == ThreeContributors
MCThreeTable == ThreeTable
MCThreeLengths == ThreeLengths
MCThreeAfter == ThreeAfter
MCTagsOfFlows == TagsOfFlows
MCBlocksOfTwo == BlocksOfTwo
MCBlocksOfTwoArrivals == BlocksOfTwoArrivals
MCBlocksOfTwoFlows == BlocksOfTwoFlows
MCBlocksOfTwoContributors == BlocksOfTwoContributors
MCBlocksOfTwoPromised == BlocksOfTwoPromised
MCCopiesOfTwo == CopiesOfTwo
MCCopiesOfTwoArrivals == CopiesOfTwoArrivals
MCRoutesTable == RoutesTable
MCRoutesArrivals == RoutesArrivals
MCRoutesFlows == RoutesFlows
MCRoutesContributors == RoutesContributors
MCRoutesPromised == RoutesPromised
MCRoutesLinks == RoutesLinks
MCRoutesPaths == RoutesPaths
MCLineOfTwoFlows == LineOfTwoFlows
MCLineOfTwoContributors == LineOfTwoContributors
MCLineOfTwoPromised == LineOfTwoPromised
MCLineOfTwoLengths == LineOfTwoLengths
MCMeetingFlows == MeetingFlows
MCMeetingContributors == MeetingContributors
MCMeetingPromised == MeetingPromised
===============================================================================
