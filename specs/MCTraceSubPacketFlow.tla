-------------------------- MODULE MCTraceSubPacketFlow --------------------------
(***************************************************************************)
(* Logs of one router with two inputs, and one thing wrong with them at a  *)
(* time: what each property of TraceSubPacketFlow is for. `certree         *)
(* model-check trace` makes the log from a trace of the simulator          *)
(* instead.                                                                *)
(***************************************************************************)
EXTENDS TraceSubPacketFlow

\* Channels: "a" and "b" into a router, "e" out of it. Packets "p" and, behind it, "r" come by "a", packet "q" by "b".
MCRoute == [w \in Worms |-> IF w = "q" THEN <<"b", "e">> ELSE <<"a", "e">>]
MCFlits == [w \in Worms |-> <<"head", "tail">>]

\* All VCs; "p" and "r" enter by VC 0 only.
MCMayTake == [w \in Worms |-> IF w = "q" THEN <<{0, 1}, {0, 1}>> ELSE <<{0}, {0, 1}>>]

\* Lines of a log.
Take(w, c, v) == [event |-> "take", worm |-> w, flit |-> 0, channel |-> c, vc |-> v]
Send(w, k, c, v) == [event |-> "send", worm |-> w, flit |-> k, channel |-> c, vc |-> v]
Taken(w, k, c, v) == [event |-> "eject", worm |-> w, flit |-> k, channel |-> c, vc |-> v]
Credit(c, v) == [event |-> "credit", worm |-> Nobody, flit |-> 0, channel |-> c, vc |-> v]

\* Buffers of two flits, whichever the switching: "p" and "q" share the channel out of the router, "r" follows when all credits are back.
CrossingLog == <<
  Take("p", "a", 0),
  Send("p", 1, "a", 0),
  Send("p", 2, "a", 0),
  Take("q", "b", 1),
  Send("q", 1, "b", 1),
  Take("p", "e", 0),
  Send("p", 1, "e", 0),
  Credit("a", 0),
  Send("q", 2, "b", 1),
  Take("q", "e", 1),
  Send("q", 1, "e", 1),
  Send("p", 2, "e", 0),
  Credit("a", 0),
  Taken("p", 1, "e", 0),
  Send("q", 2, "e", 1),
  Take("r", "a", 0),
  Send("r", 1, "a", 0),
  Taken("q", 1, "e", 1),
  Taken("p", 2, "e", 0),
  Credit("e", 0),
  Credit("e", 0),
  Send("r", 2, "a", 0),
  Take("r", "e", 0),
  Taken("q", 2, "e", 1),
  Send("r", 1, "e", 0),
  Send("r", 2, "e", 0),
  Taken("r", 1, "e", 0),
  Credit("e", 0),
  Taken("r", 2, "e", 0)>>
CrossingLeft == {<<"a", 0, 2>>, <<"b", 1, 2>>, <<"e", 0, 1>>, <<"e", 1, 2>>}

\* Wormhole switching, buffers of one flit, "p" and "r" only: "r" takes a channel that is full, and waits.
FollowingLog == <<
  Take("p", "a", 0),
  Send("p", 1, "a", 0),
  Take("p", "e", 1),
  Send("p", 1, "e", 1),
  Credit("a", 0),
  Send("p", 2, "a", 0),
  Taken("p", 1, "e", 1),
  Take("r", "a", 0),
  Credit("e", 1),
  Send("p", 2, "e", 1),
  Credit("a", 0),
  Send("r", 1, "a", 0),
  Take("r", "e", 1),
  Taken("p", 2, "e", 1),
  Credit("e", 1),
  Send("r", 1, "e", 1),
  Credit("a", 0),
  Send("r", 2, "a", 0),
  Taken("r", 1, "e", 1),
  Credit("e", 1),
  Send("r", 2, "e", 1),
  Taken("r", 2, "e", 1)>>
FollowingLeft == {<<"a", 0, 1>>, <<"e", 1, 1>>}

\* A log with another line before one of its lines, without one of its lines, and with two lines in each other's place.
Before(log, which, entry) == SubSeq(log, 1, which - 1) \o <<entry>> \o SubSeq(log, which, Len(log))
Without(log, which) == SubSeq(log, 1, which - 1) \o SubSeq(log, which + 1, Len(log))
Swapped(log, one, other) == [log EXCEPT ![one] = log[other], ![other] = log[one]]

-------------------------------------------------------------------------------
(* Wrong logs                                                                *)

\* A packet goes into the channel that another one came by.
LeavesItsRoute == [CrossingLog EXCEPT ![4].channel = "a"]

\* A packet takes the VC of another one, whose tail has not gone in; or one that another one has reserved.
TakesHeldVC == [CrossingLog EXCEPT ![10].vc = 0]
TakesReserved == Before(CrossingLog, 7, Take("q", "e", 0))

\* A packet takes a VC that is for others.
TakesVCOfOthers == [CrossingLog EXCEPT ![1].vc = 1]

\* A packet takes a second VC: before its head has gone in, and after.
TakesTwoVCs == Before(CrossingLog, 7, Take("p", "e", 1))
TakesOneMore == Before(CrossingLog, 8, Take("p", "e", 1))

\* A packet takes a VC before its head has come.
TakesEarly == Before(Without(CrossingLog, 6), 2, CrossingLog[6])

\* A packet takes a VC in which its head finds room, but not all of it.
TakesTooSmall == Before(Without(CrossingLog, 16), 9, CrossingLog[16])

\* A tail goes on before its head; a flit leaves the source twice.
Overtakes == Swapped(CrossingLog, 7, 12)
LeavesTwice == Before(CrossingLog, 3, CrossingLog[2])

\* A flit goes into another VC than its head.
EntersOtherVC == [CrossingLog EXCEPT ![12].vc = 1]

\* A flit goes into a buffer that is full.
EntersFull == Swapped(FollowingLog, 5, 6)

\* An interface takes a flit before it has been sent to it, or another one than that which has come.
TakenEarly == Before(Without(CrossingLog, 14), 7, CrossingLog[14])
TakenInOtherOrder == Swapped(CrossingLog, 14, 19)

\* A credit comes back twice.
ReturnsTwice == Before(CrossingLog, 14, Credit("a", 0))

\* The last flit never arrives.
CutShort == Without(CrossingLog, Len(CrossingLog))

\* A line of a kind that there is not, in place of one that takes a flit, which is due.
NoSuchLine == [CrossingLog EXCEPT ![14].event = "jump"]

\* A line is left out: a packet goes into a VC that it has not taken; a flit behind the head never left; a head was never taken.
TakeLeftOut == Without(CrossingLog, 6)
SendLeftOut == Without(CrossingLog, 3)
TakenLeftOut == Without(CrossingLog, 14)

\* An interface takes a flit again; a router on the way does.
TakenAgain == Before(CrossingLog, 15, CrossingLog[14])
TakenOnTheWay == Before(CrossingLog, 6, Taken("q", 1, "b", 1))

\* A credit is lost; one is said to be left that is back.
CreditUntold == Without(CrossingLog, 28)
LeftAndBack == CrossingLeft \union {<<"b", 0, 1>>}

-------------------------------------------------------------------------------
(* A wrong reading of the log                                                *)

\* In place of LoggedTake: a packet holds a VC before its head goes in, though there is room.
HoldsAtOnce ==
  /\ IsNext("take")
  /\ owner' = [owner EXCEPT ![Entry.channel][Entry.vc] = Entry.worm]
  /\ UNCHANGED <<sent, last, buffer, credits, returning, ejected, partial, handed, arrived, reserved>>

\* As constants.
MCCrossingLog == CrossingLog
MCCrossingLeft == CrossingLeft
MCFollowingLog == FollowingLog
MCFollowingLeft == FollowingLeft
MCLeavesItsRoute == LeavesItsRoute
MCTakesHeldVC == TakesHeldVC
MCTakesReserved == TakesReserved
MCTakesVCOfOthers == TakesVCOfOthers
MCTakesTwoVCs == TakesTwoVCs
MCTakesOneMore == TakesOneMore
MCTakesEarly == TakesEarly
MCTakesTooSmall == TakesTooSmall
MCOvertakes == Overtakes
MCLeavesTwice == LeavesTwice
MCEntersOtherVC == EntersOtherVC
MCEntersFull == EntersFull
MCTakenEarly == TakenEarly
MCTakenInOtherOrder == TakenInOtherOrder
MCReturnsTwice == ReturnsTwice
MCCutShort == CutShort
MCCreditUntold == CreditUntold
MCLeftAndBack == LeftAndBack
MCNoSuchLine == NoSuchLine
MCTakeLeftOut == TakeLeftOut
MCSendLeftOut == SendLeftOut
MCTakenLeftOut == TakenLeftOut
MCTakenAgain == TakenAgain
MCTakenOnTheWay == TakenOnTheWay
================================================================================
