---------------------------- MODULE CheckNILockstep ----------------------------
(***************************************************************************)
(* What checking NILockstep needs beside the truth: fewer orders of the    *)
(* same events, and the legend of a counterexample.                        *)
(*                                                                         *)
(* With InTurn <- LowestFirst the nodes act in order of their ids within a *)
(* tick. This loses nothing. A step of node n reads and writes only what   *)
(* is n's: its memory, counters, program and ports. A message that is      *)
(* fired cannot count in the same tick, and one that counts has left its   *)
(* port. So steps of different nodes in one tick commute: every run has a  *)
(* twin in which they are sorted by node. No property tells the two apart, *)
(* for each is about single nodes, about how a tick ends, or about results *)
(* that are given once. MCNILockstepRing and MCNILockstepRingOrdered check *)
(* one table without and with it. Messages under way take their turns      *)
(* first, in an order of their own; what they change at a node, its ports, *)
(* is changed before the node looks.                                       *)
(***************************************************************************)
EXTENDS NIProof, TLC

\* Something has to happen at node n before time can go on.
MustAct(n) == CanFire(n) \/ CanAdvance(n) \/ \E m \in flying : m.dst = n /\ now = Latest(m)

\* In place of InTurn.
LowestFirst(n) == (\A m \in flying : ~HasCome(m)) /\ \A k \in Nodes : k < n => ~MustAct(k)

\* Data that a reader of a counterexample needs in addition to its states.
Legend ==
  [run |-> Run, slotTicks |-> SlotTicks, serTicks |-> SerTicks, repeats |-> Repeats, path |-> Path, program |-> Program,
   contributors |-> Contributors, profile |-> Profile, inFlight |-> InFlight, arrivals |-> Arrivals]

\* Printed once, between two marks.
ASSUME LegendIsPrinted == PrintT("legend begins") /\ PrintT(Legend) /\ PrintT("legend ends")
================================================================================
