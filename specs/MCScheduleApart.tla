---------------------------- MODULE MCScheduleApart ----------------------------
(***************************************************************************)
(* Sending and delivering apart: Schedule delivers in the step in which it *)
(* sends, and its head says why that loses nothing. Here a message carries *)
(* what its source held when it was sent, others move meanwhile, and TLC   *)
(* checks that each delivery is the step of Schedule at that moment.       *)
(***************************************************************************)
EXTENDS MCSchedule

VARIABLE
  flying  \* messages in flight: the transfer, and the bag that its source held when it was sent

\* The whole state.
apartVars == <<held, done, flying>>

\* What has been sent and is not there yet.
OnTheirWay == {m.transfer : m \in flying}

\* Nothing is in flight.
ApartInit == Init /\ flying = {}

\* All that t waits for has been delivered.
MaySend(t) == Before(t) \subseteq done

\* Transfer t is sent, once.
Send(t) ==
  /\ t \notin done \union OnTheirWay
  /\ MaySend(t)
  /\ flying' = flying \union {[transfer |-> t, load |-> held[t.src][t.item]]}
  /\ UNCHANGED vars

\* Message m is delivered.
Deliver(m) ==
  LET t == m.transfer
  IN  /\ flying' = flying \ {m}
      /\ held' = [held EXCEPT ![t.dst][t.item] = IF t.op = "REDUCE" THEN Plus(@, m.load) ELSE m.load]
      /\ done' = done \union {t}

\* A transfer is sent, or one is delivered.
ApartNext ==
  \/ \E t \in Transfers : Send(t)
  \/ \E m \in flying : Deliver(m)
  \/ AllDone /\ UNCHANGED apartVars

\* The behaviours.
ApartSpec == ApartInit /\ [][ApartNext]_apartVars /\ WF_apartVars(ApartNext)

\* Every delivery is a step of Schedule: the source still holds what it sent, and all that the transfer waits for has happened.
DeliversAsOneStep == [][\E t \in Transfers : Move(t)]_vars

\* So, without the messages in flight, every behaviour is a behaviour of Schedule.
IsSchedule == Spec
THEOREM ApartSpec => IsSchedule

-------------------------------------------------------------------------------
(* Faulty sends                                                              *)

\* In place of MaySend: a transfer does not wait for a sum from the one node.
ForgetsNode2(t) == {u \in Before(t) : u.src # 2} \subseteq done

\* In place of Deliver: what the source holds when it arrives is delivered, not what it sent; what is sent is taken away from it.
TakesAway(m) ==
  LET t == m.transfer
      given == [held EXCEPT ![t.dst][t.item] = IF t.op = "REDUCE" THEN Plus(@, m.load) ELSE m.load]
  IN  /\ flying' = flying \ {m}
      /\ held' = [given EXCEPT ![t.src][t.item] = OnceEach({})]
      /\ done' = done \union {t}

\* In place of ApartSpec: nothing has to happen, even when it can.
ApartUnfairSpec == ApartInit /\ [][ApartNext]_apartVars
================================================================================
