------------------------------ MODULE MCAllReduce ------------------------------
(***************************************************************************)
(* Three ranks, each the root of one item; and some ways to break the     *)
(* promise.                                                                *)
(***************************************************************************)
EXTENDS AllReduce

\* For the permutations below.
LOCAL INSTANCE TLC

\* All-reduce: all contribute and all get the sum.
MCAll == [i \in Items |-> Ranks]

\* The root of an item: reduce-scatter promises the sum there, all-gather takes the contribution from there.
MCRoot == [i \in Items |-> {i}]

\* Where all contribute to all items and all get them, nothing tells one rank or one item from another: `Init`, `Next` and the
\* properties of single states and steps say "each" and "some" only. Fairness is no part of that: a path may permute ranks between states.
AnyRankAnyItem == Permutations(Ranks) \union Permutations(Items)

\* In place of Outcome: the rank's own contribution counts twice.
OwnTwice(due) == <<[OnceEach(Contributors[due[2]]) EXCEPT ![due[1]] = @ + 1]>>

\* In place of Outcome: the contribution of one rank is missing.
OneMissing(due) == <<OnceEach(Contributors[due[2]] \ {due[2]})>>

\* In place of Finish: a rank takes back what it has finished.
FinishOrWithdraw(due) == result' = [result EXCEPT ![due] = IF @ = <<>> THEN <<OnceEach(Contributors[due[2]])>> ELSE <<>>]

\* In place of Spec: nothing has to happen, even when it can.
UnfairSpec == Init /\ [][Next]_result
===============================================================================
