------------------------------ MODULE MCAllReduce ------------------------------
(***************************************************************************)
(* Three ranks, each the root of one item; and some ways to break the     *)
(* promise.                                                                *)
(***************************************************************************)
EXTENDS AllReduce, Sequences

\* For the permutations below.
LOCAL INSTANCE TLC

\* All-reduce: all contribute and all get the sum.
MCAll == [i \in Items |-> Ranks]

\* The root of an item: reduce-scatter promises the sum there, all-gather takes the contribution from there.
MCRoot == [i \in Items |-> {i}]

\* Where all contribute to all items and all get them, nothing tells one rank or one item from another: `Init`, `Next` and the
\* properties of single states and steps say "each" and "some" only. Fairness is no part of that: a path may permute ranks between states.
AnyRankAnyItem == Permutations(Ranks) \union Permutations(Items)

-------------------------------------------------------------------------------
(* The promise in other words than those of its steps.                       *)

\* What is finished is one bag, with each contributor once and nobody else.
RightResult == \A due \in DOMAIN result : result[due] # <<>> =>
  /\ Len(result[due]) = 1
  /\ {r \in Ranks : result[due][1][r] = 1} = Contributors[due[2]]
  /\ {r \in Ranks : result[due][1][r] = 0} = Ranks \ Contributors[due[2]]

\* There is a result for each rank and item that are promised, and for no others.
OnlyPromised == \A r \in Ranks, i \in Items : <<r, i>> \in DOMAIN result <=> r \in Promised[i]

\* What is finished from the start is what no other rank contributes to.
NotFromTheStart == \A due \in DOMAIN result : result[due] # <<>> => \A r \in Contributors[due[2]] : r = due[1]

\* What no other rank contributes to may be finished from the start, all of it.
AtStart == [due \in Due |-> IF IsAlone(due) THEN Outcome(due) ELSE <<>>]
Early == INSTANCE AllReduce WITH result <- AtStart
MayBeginFinished == Early!Init

\* None of it must be: a root may have to bring its own data to where they are due.
NoneAtStart == [due \in Due |-> <<>>]
Late == INSTANCE AllReduce WITH result <- NoneAtStart
MayBeginLate == Late!Init

\* A collective that begins so, and goes on as any other.
LateSpec == result = NoneAtStart /\ [][Next]_result /\ WF_result(Next)

\* In the end nothing promised is missing.
AllInTheEnd == <>[](\A r \in Ranks, i \in Items : r \in Promised[i] => result[<<r, i>>] # <<>>)

-------------------------------------------------------------------------------
(* Broken promises                                                           *)

\* In place of Due: what is not promised.
NotDue == {pair \in Ranks \X Items : pair[1] \notin Promised[pair[2]]}

\* In place of Init: a rank may have finished anything.
AllAtStart == result \in {[due \in Due |-> IF due \in early THEN Outcome(due) ELSE <<>>] : early \in SUBSET Due}

\* In place of AtStart, or of NoneAtStart: everything is finished.
MoreAtStart == [due \in Due |-> Outcome(due)]

\* In place of AllFinished: one result is enough.
OneFinished == \E due \in Due : result[due] # <<>>

\* In place of Finish: when one rank has finished, no other does.
FirstOnly(due) == (\A other \in Due : result[other] = <<>>) /\ result' = [result EXCEPT ![due] = Outcome(due)]

\* In place of Outcome: the rank's own contribution counts twice.
OwnTwice(due) == <<[OnceEach(Contributors[due[2]]) EXCEPT ![due[1]] = @ + 1]>>

\* In place of Outcome: the contribution of one rank is missing.
OneMissing(due) == <<OnceEach(Contributors[due[2]] \ {due[2]})>>

\* In place of Finish: a rank takes back what it has finished.
FinishOrWithdraw(due) == result' = [result EXCEPT ![due] = IF @ = <<>> THEN <<OnceEach(Contributors[due[2]])>> ELSE <<>>]

\* In place of Spec, and of LateSpec: nothing has to happen, even when it can.
UnfairSpec == Init /\ [][Next]_result
UnfairLateSpec == result = NoneAtStart /\ [][Next]_result
===============================================================================
