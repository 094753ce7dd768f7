----------------------------- MODULE CheckNIJoint -----------------------------
(***************************************************************************)
(* What checking NIJoint needs beside the truth. The order of nodes within *)
(* a tick and the legend of a counterexample are those of CheckNILockstep, *)
(* whose argument holds here, too: a step of node n reads and writes only  *)
(* what is n's, whichever collective it is of.                             *)
(***************************************************************************)
EXTENDS NIJoint, CheckNILockstep

\* Models may state Program and ArrivalsOfFlow in place of their definitions: NITables looks at every slot, and slots of a cycle are many.
\* They must be what the definitions say: of one iteration, rows in the order of their steps.
ASSUME ProgramIsOfTheRows ==
  \A n \in Nodes : Len(Program[n]) = Len(Rows[n]) /\ \A r \in DOMAIN Rows[n] :
    Program[n][r] = Entry(n, r, Rows[n][r].step) /\ (r > 1 => Rows[n][r - 1].step <= Rows[n][r].step)
ASSUME ArrivalsAreOfTheFlows ==
  \A n \in Nodes : \A flow \in Flows :
    ArrivalsOfFlow[n][flow] = {arrival \in Arrivals[n] : arrival[IF IsCounted THEN 1 ELSE 2] = flow}
===============================================================================
