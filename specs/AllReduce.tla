------------------------------ MODULE AllReduce ------------------------------
(***************************************************************************)
(* What a collective promises, and nothing about how.                      *)
(*                                                                         *)
(* An item is one chunk of one iteration. It has contributors, and ranks   *)
(* to which its sum is promised.                                           *)
(*   all-reduce:      all ranks contribute; the sum is due at all ranks.   *)
(*   reduce-scatter:  all ranks contribute; it is due at the item's root.  *)
(*   all-gather:      the root contributes; it is due at all ranks.        *)
(***************************************************************************)
EXTENDS Integers

CONSTANTS
  Ranks,         \* the endpoints that take part
  Items,         \* what is summed independently of each other
  Contributors,  \* for every item: the ranks whose contribution belongs to the sum
  Promised       \* for every item: the ranks at which the sum is due

ASSUME PromisesAreAboutRanks ==
  /\ Contributors \in [Items -> SUBSET Ranks]
  /\ Promised \in [Items -> SUBSET Ranks]

VARIABLE
  result         \* result[<<rank, item>>]: <<>> until the rank has finished the item, then <<bag>>

\* The bag in which each of `ranks` counts exactly once; a bag says how often each rank's contribution was added.
OnceEach(ranks) == [r \in Ranks |-> IF r \in ranks THEN 1 ELSE 0]

\* The pairs of rank and item that are promised.
Due == {pair \in Ranks \X Items : pair[1] \in Promised[pair[2]]}

\* What is finished holds every contribution exactly once.
TypeOK == \A due \in Due : result[due] \in {<<>>, <<OnceEach(Contributors[due[2]])>>}

\* What a rank has when it has finished an item.
Outcome(due) == <<OnceEach(Contributors[due[2]])>>

\* The rank's own contribution is all there is to the item.
IsAlone(due) == Contributors[due[2]] = {due[1]}

\* No rank has finished any item, except perhaps one with nothing to wait for: the root of an all-gather.
Init == result \in {[due \in Due |-> IF due \in early THEN Outcome(due) ELSE <<>>] : early \in SUBSET {due \in Due : IsAlone(due)}}

\* A rank finishes an item.
Finish(due) ==
  /\ OnlyOnce:: result[due] = <<>>
  /\ RightSum:: result' = [result EXCEPT ![due] = Outcome(due)]

\* Everything promised is finished.
AllFinished == \A due \in Due : result[due] # <<>>

\* The end is no deadlock.
Rest == AllFinished /\ UNCHANGED result

\* One rank finishes one item.
Next == (\E due \in Due : Finish(due)) \/ Rest

\* The promise: only right results, each given once, and all of them in the end.
Spec == Init /\ [][Next]_result /\ WF_result(Next)

\* Every collective ends.
Ends == <>AllFinished

\* A finished result stays.
Stays == [][\A due \in Due : result[due] # <<>> => result'[due] = result[due]]_result
==============================================================================
