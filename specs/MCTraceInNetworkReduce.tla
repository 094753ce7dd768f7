------------------------- MODULE MCTraceInNetworkReduce -------------------------
(***************************************************************************)
(* Logs of one switch and of a tree of two, and one thing wrong with them  *)
(* at a time: what each property of TraceInNetworkReduce is for.           *)
(* `certree model-check trace` makes the log from a trace of the           *)
(* simulator instead.                                                      *)
(***************************************************************************)
EXTENDS TraceInNetworkReduce

\* All hosts below the one switch.
MCStar == [h \in Hosts |-> Root]

\* Switch "t" with hosts "a" and "b" below the root, host "c" at the root itself.
MCTree == [n \in Nodes \ {Root} |-> IF n \in {"a", "b"} THEN "t" ELSE Root]

\* Lines of a log about packet 0: of a host or the network, and of a switch.
Plain(event, way, node) == [event |-> event, way |-> way, node |-> node, number |-> 0]
AtSwitch(event, node, switch, arrived, known, sends) ==
  [event |-> event, way |-> IF event = "add" THEN "up" ELSE "down", node |-> node, number |-> 0, switch |-> switch, works |-> 0,
   arrived |-> arrived, known |-> known, sends |-> sends]

\* A contribution of "b" is lost, one of "a" comes twice, and a result is lost.
StarLog == <<
  Plain("send", "up", "a"),
  Plain("send", "up", "b"),
  Plain("lose", "up", "b"),
  Plain("copy", "up", "a"),
  AtSwitch("add", "a", "r", {"a"}, FALSE, "nothing"),
  Plain("send", "up", "b"),
  AtSwitch("add", "b", "r", {"a", "b"}, TRUE, "all"),
  AtSwitch("add", "a", "r", {"a", "b"}, TRUE, "one"),
  Plain("take", "down", "a"),
  Plain("lose", "down", "b"),
  Plain("send", "up", "b"),
  AtSwitch("add", "b", "r", {"a", "b"}, TRUE, "one"),
  Plain("take", "down", "a"),
  Plain("take", "down", "b")>>

\* A sum goes up, is asked for again, and a result comes down.
TreeLog == <<
  Plain("send", "up", "a"),
  Plain("send", "up", "b"),
  Plain("send", "up", "c"),
  AtSwitch("add", "a", "t", {"a"}, FALSE, "nothing"),
  AtSwitch("add", "b", "t", {"a", "b"}, FALSE, "up"),
  Plain("send", "up", "a"),
  AtSwitch("add", "a", "t", {"a", "b"}, FALSE, "up"),
  AtSwitch("add", "c", "r", {"c"}, FALSE, "nothing"),
  AtSwitch("add", "t", "r", {"c", "t"}, TRUE, "all"),
  AtSwitch("add", "t", "r", {"c", "t"}, TRUE, "one"),
  Plain("take", "down", "c"),
  AtSwitch("pass", "t", "t", {"a", "b"}, TRUE, "all"),
  Plain("take", "down", "a"),
  Plain("take", "down", "b")>>

\* Nothing is left of the first, the second result for "t" of the second.
StarLeft == {}
TreeLeft == {<<"down", "t", 0, 1>>}

\* A log without one of its lines.
Without(log, which) == SubSeq(log, 1, which - 1) \o SubSeq(log, which + 1, Len(log))

-------------------------------------------------------------------------------
(* Wrong logs                                                                *)

\* A contribution is told of the root, whose place is as empty as the one that it came to was.
ElsewhereAdded == [TreeLog EXCEPT ![4].switch = "r", ![4].arrived = {}]

\* A place works on a later packet already.
WorksLater == [StarLog EXCEPT ![5].works = 2]

\* A contribution counts that was lost.
ArrivedLost == [StarLog EXCEPT ![5].arrived = {"a", "b"}]

\* A switch below the root knows the result from its own children.
KnownBelow == [TreeLog EXCEPT ![5].known = TRUE]

\* Who asks again gets no answer.
AnswersNobody == [StarLog EXCEPT ![8].sends = "nothing"]

\* A sum is asked for again and is not passed on again.
PassedOnce == [TreeLog EXCEPT ![7].sends = "nothing"]

\* A packet arrives that was not sent again after it was lost.
NeverSent == Without(StarLog, 6)

\* A packet arrives that was never sent.
FromNothing == Without(Without(NeverSent, 3), 2)

\* A packet arrives twice though the network did not double it.
ArrivesTwice == Without(StarLog, 4)

\* A host sends though it has the result.
SendsForNothing == Append(StarLog, Plain("send", "up", "a"))

\* The log ends before the last result.
CutShort == SubSeq(StarLog, 1, Len(StarLog) - 1)

\* A result is lost, and the log does not say so.
LossUntold == Without(StarLog, 10)

\* A result that has arrived is said to be left.
LeftAndArrived == {<<"down", "b", 0, 1>>}

-------------------------------------------------------------------------------
(* A wrong reading of the log                                                *)

\* In place of Meant and IsUnderWay: what the log says has arrived was there.
FromNowhere(way) == {IF way = "up" THEN Up(Entry.node, 0, One(Entry.node, 0)) ELSE Down(Entry.node, 0, OnceEach(0))}
Believed(p) == TRUE

\* In place of Moved: what arrives or is lost stays in flight.
StaysUnderWay(more, less) ==
  /\ sent' = more
  /\ copies' = [p \in DOMAIN copies \union more |-> (IF p \in DOMAIN copies THEN copies[p] ELSE 0) + (IF p \in more THEN 1 ELSE 0)]

\* As constants.
MCStarLog == StarLog
MCStarLeft == StarLeft
MCTreeLeft == TreeLeft
MCLossUntold == LossUntold
MCLeftAndArrived == LeftAndArrived
MCTreeLog == TreeLog
MCElsewhereAdded == ElsewhereAdded
MCWorksLater == WorksLater
MCArrivedLost == ArrivedLost
MCKnownBelow == KnownBelow
MCAnswersNobody == AnswersNobody
MCPassedOnce == PassedOnce
MCNeverSent == NeverSent
MCFromNothing == FromNothing
MCArrivesTwice == ArrivesTwice
MCSendsForNothing == SendsForNothing
MCCutShort == CutShort
================================================================================
