----------------------------- MODULE KernelPlan -----------------------------
(* Kernels with DMAs and counting semaphores, all interleavings: what the checker of kernel plans says, said once more.
   Program[d] is what device d does, a sequence of records: kind, call, device (of a DMA or a signal), sem, send (-1: none), n (count),
   reads and writes (sets of <<device, row>>), apart (TRUE: its semaphore is that of the barrier). A DMA counts all its rows at once. *)
EXTENDS Integers, Sequences

CONSTANTS Devices, Semaphores, Program

VARIABLES at, sent, arrived, count

vars == <<at, sent, arrived, count>>

Op(d, i) == Program[d][i]
Dmas == {<<d, i>> \in UNION {{<<d, i>> : i \in 1..Len(Program[d])} : d \in Devices} : Op(d, i).kind = "start"}
Started == {x \in Dmas : x[2] < at[x[1]]}
Next1(d) == Op(d, at[d])
Active(d) == at[d] <= Len(Program[d])
Ready(d) == Active(d) /\ (Next1(d).kind = "wait" => count[d][Next1(d).sem] >= Next1(d).n)
Up(c, d, s, n) == IF s = -1 THEN c ELSE [c EXCEPT ![d][s] = @ + n]

Init == /\ at = [d \in Devices |-> 1]
        /\ sent = {} /\ arrived = {}
        /\ count = [d \in Devices |-> [s \in Semaphores |-> 0]]

Run(d) == /\ Ready(d)
          /\ at' = [at EXCEPT ![d] = @ + 1]
          /\ count' = CASE Next1(d).kind = "wait" -> Up(count, d, Next1(d).sem, -Next1(d).n)
                        [] Next1(d).kind = "signal" -> Up(count, Next1(d).device, Next1(d).sem, Next1(d).n)
                        [] OTHER -> count
          /\ UNCHANGED <<sent, arrived>>

Send(x) == /\ x \in Started \ sent
           /\ sent' = sent \union {x}
           /\ count' = Up(count, x[1], Op(x[1], x[2]).send, Op(x[1], x[2]).n)
           /\ UNCHANGED <<at, arrived>>

Arrive(x) == /\ x \in Started \ arrived
             /\ arrived' = arrived \union {x}
             /\ count' = Up(count, Op(x[1], x[2]).device, Op(x[1], x[2]).sem, Op(x[1], x[2]).n)
             /\ UNCHANGED <<at, sent>>

Next == (\E d \in Devices : Run(d)) \/ (\E x \in Dmas : Send(x) \/ Arrive(x))
Spec == Init /\ [][Next]_vars

Done == \A d \in Devices : ~Active(d)
Stuck == /\ \A d \in Devices : ~Ready(d)
         /\ Started \subseteq sent \intersect arrived
NoDeadlock == Stuck => Done

\* what reads and writes now, or may do so next
Coming == {<<d, at[d]>> : d \in {e \in Devices : Ready(e)}}
Moves(x) == Op(x[1], x[2]).kind \in {"start", "local"}
Read == {x \in Dmas : IF Op(x[1], x[2]).send = -1 THEN x \in arrived ELSE x \in sent}
Reading == {x \in Started : x \notin Read} \union {x \in Coming : Moves(x)}
Writing == {x \in Started : x \notin arrived} \union {x \in Coming : Moves(x)}
Meet(a, b) == a \intersect b /= {}
NoRace == \A x \in Writing : \A y \in Reading \union Writing :
            \/ x = y
            \/ Op(x[1], x[2]).call /= Op(y[1], y[2]).call
            \/ ~Meet(Op(x[1], x[2]).writes, (IF y \in Reading THEN Op(y[1], y[2]).reads ELSE {})
                                             \union (IF y \in Writing THEN Op(y[1], y[2]).writes ELSE {}))

Remote(x) == LET o == Op(x[1], x[2]) IN o.kind \in {"start", "signal"} /\ ~o.apart /\ o.device /= x[1]
Entered == \A x \in Coming : Remote(x) =>
             \E i \in 1..(at[Op(x[1], x[2]).device] - 1) :
               LET o == Op(Op(x[1], x[2]).device, i) IN o.kind = "enter" /\ o.call = Op(x[1], x[2]).call
All == UNION {{<<d, i>> : i \in 1..Len(Program[d])} : d \in Devices}
NotLeft == \A x \in Coming : Op(x[1], x[2]).kind = "leave" =>
             \A y \in {z \in All : Op(z[1], z[2]).call = Op(x[1], x[2]).call} :
               LET o == Op(y[1], y[2]) IN
                 /\ (o.kind = "start" /\ o.device = x[1]) => y \in arrived
                 /\ (o.kind = "start" /\ y[1] = x[1] /\ o.send /= -1) => y \in sent
                 /\ (o.kind = "signal" /\ Remote(y) /\ o.device = x[1]) => y[2] < at[y[1]]
=============================================================================
