------------------------------ MODULE MCSchedule ------------------------------
(***************************************************************************)
(* Small schedules, and one thing wrong with them at a time.               *)
(***************************************************************************)
EXTENDS Schedule

CONSTANT
  Flows  \* the chunks; of one iteration, so they are the items

-------------------------------------------------------------------------------
(* mesh:2x2, a cycle of four nodes: flow f runs along the path that leaves out one side of the square, in a period of 3. *)

\* The k-th node of the cycle.
Around(k) == <<0, 1, 3, 2>>[(k % 4) + 1]

\* A transfer.
Transfer(op, flow, src, dst, slot) == [op |-> op, item |-> flow, src |-> src, dst |-> dst, slot |-> slot]

\* Up the path of flow f to its second node, and down again.
PathOf(f) ==
  {Transfer("REDUCE", f, Around(f + 3), Around(f + 2), 0), Transfer("REDUCE", f, Around(f + 2), Around(f + 1), 1),
   Transfer("REDUCE", f, Around(f), Around(f + 1), 1), Transfer("GATHER", f, Around(f + 1), Around(f), 2),
   Transfer("GATHER", f, Around(f + 1), Around(f + 2), 2), Transfer("GATHER", f, Around(f + 2), Around(f + 3), 3)}

\* All-reduce.
AllPaths == UNION {PathOf(f) : f \in Flows}

\* Both directions of each side of the square.
Square == [link \in UNION {{<<Around(k), Around(k + 1)>>, <<Around(k + 1), Around(k)>>} : k \in 0..3} |-> 1]

\* Every link is a path of one link.
OneHop == [link \in DOMAIN Square |-> {link}]

\* Everybody contributes and is promised the sum.
Everybody == [f \in Items |-> Nodes]

-------------------------------------------------------------------------------
(* Blocks, and nodes that take no part, on the same square. A block goes from the node that is its number div 4 to the one that  *)
(* is its number mod 4.                                                                                                          *)

\* Where blocks come from, and where they are due.
Sources == [f \in Items |-> {f \div 4}]
Targets == [f \in Items |-> {f % 4}]

\* Gather to node 0: the block of node 3, across, by way of node 1.
Gathering ==
  {Transfer("GATHER", 4, 1, 0, 0), Transfer("GATHER", 8, 2, 0, 0), Transfer("GATHER", 12, 3, 1, 0), Transfer("GATHER", 12, 1, 0, 1)}

\* All-to-all of nodes 0, 1 and 3, which are a line: what goes from end to end goes by way of node 1, behind the others.
Exchange ==
  {Transfer("GATHER", 1, 0, 1, 0), Transfer("GATHER", 4, 1, 0, 0), Transfer("GATHER", 7, 1, 3, 0), Transfer("GATHER", 13, 3, 1, 0),
   Transfer("GATHER", 3, 0, 1, 1), Transfer("GATHER", 3, 1, 3, 2), Transfer("GATHER", 12, 3, 1, 1), Transfer("GATHER", 12, 1, 0, 2)}

\* An all-gather of nodes 0 and 3, of item 0 from node 0 and of item 3 from node 3, by way of node 1, which takes no part.
TwoMembers == [f \in Items |-> {0, 3}]
OwnItem == [f \in Items |-> {f}]
PassingOn ==
  {Transfer("GATHER", 0, 0, 1, 0), Transfer("GATHER", 0, 1, 3, 1), Transfer("GATHER", 3, 3, 1, 0), Transfer("GATHER", 3, 1, 0, 1)}

-------------------------------------------------------------------------------
(* Wrong schedules                                                           *)

\* The block of node 3 stays at the node on its way.
BlockStays == Gathering \ {Transfer("GATHER", 12, 1, 0, 1)}

\* Node 0 gets the block of node 3 from a node that does not have it.
WrongRelay == (Gathering \ {Transfer("GATHER", 12, 1, 0, 1)}) \union {Transfer("GATHER", 12, 2, 0, 1)}

\* What passes the node that takes no part leaves it before it is there.
PassedOnTooEarly == (PassingOn \ {Transfer("GATHER", 0, 1, 3, 1)}) \union {Transfer("GATHER", 0, 1, 3, 0)}

\* The node that takes no part does not pass on what it gets.
StrangerKeeps == PassingOn \ {Transfer("GATHER", 0, 1, 3, 1)}

\* In place of Init and of the transfers: it has data of its own, to which what comes is added.
StrangerHasData ==
  /\ done = {}
  /\ held = [n \in Nodes |-> [item \in Items |-> OnceEach({n} \intersect (Contributors[item] \union {1}))]]
AddedAtStranger ==
  {Transfer(IF t.dst = 1 THEN "REDUCE" ELSE "GATHER", t.item, t.src, t.dst, t.slot) : t \in PassingOn}

\* Two transfers over one link in one slot.
TwoOnOneLink == (AllPaths \ {Transfer("GATHER", 0, 1, 0, 2)}) \union {Transfer("GATHER", 0, 1, 0, 1)}

\* A transfer between nodes that no link joins.
NoSuchLink == (AllPaths \ {Transfer("REDUCE", 0, 2, 3, 0)}) \union {Transfer("REDUCE", 0, 2, 1, 0)}

\* A sum is sent on before the last contribution to it is there.
TooEarly == (AllPaths \ {Transfer("REDUCE", 0, 3, 1, 1)}) \union {Transfer("REDUCE", 0, 3, 1, 0)}

\* A contribution reaches the root on two paths.
OnTwoPaths == AllPaths \union {Transfer("REDUCE", 0, 2, 0, 0)}

\* No transfer brings the sum to the last node of a path.
NeverBrought == AllPaths \ {Transfer("GATHER", 0, 3, 2, 3)}

\* A contribution goes nowhere.
GoesNowhere == AllPaths \ {Transfer("REDUCE", 0, 2, 3, 0)}

\* Two transfers wait for each other.
Circle == {Transfer("GATHER", f, 0, 1, 2) : f \in Flows} \union {Transfer("GATHER", f, 1, 0, 2) : f \in Flows}

\* In place of Before: nothing waits for anything.
WaitForNothing(t) == {}

\* In place of Before: what arrives in the same slot as well, so that two transfers can wait for each other.
WaitForSameSlot(t) == {u \in Into(t.src, t.item) : u.slot <= t.slot}

\* In place of Before: what arrives a slot before it is needed is not waited for.
WaitForOneLess(t) == {u \in Into(t.src, t.item) : u.slot + Delay < t.slot}

\* In place of Move: what has happened happens again.
MoveAgain(t) ==
  /\ Before(t) \subseteq done
  /\ held' = [held EXCEPT ![t.dst][t.item] = IF t.op = "REDUCE" THEN Plus(@, held[t.src][t.item]) ELSE held[t.src][t.item]]
  /\ done' = done \union {t}

\* Where to stop looking at what happens again and again.
NothingThrice == \A n \in Nodes, item \in Items, k \in Nodes : held[n][item][k] <= 2

\* In place of Spec: nothing has to happen, even when it can.
UnfairSpec == Init /\ [][Next]_vars
===============================================================================
