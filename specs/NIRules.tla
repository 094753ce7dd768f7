-------------------------------- MODULE NIRules --------------------------------
(***************************************************************************)
(* What an NI may do, when it must, and how it begins, in other words than *)
(* the steps of NILockstep: guards are written out from the state, and     *)
(* nothing that a step is made of is used, except tables and programs. So  *)
(* a guard, an update or a first value that is wrong in the steps alone    *)
(* breaks one of these, also where the run comes out right in the end.     *)
(***************************************************************************)
EXTENDS NIProof

\* The next entry of node n, if it has one.
NextEntry(n) == {Program[n][k] : k \in {fired[n] + 1} \intersect 1..Len(Program[n])}

\* What the down-counter of node n is loaded with at a step: steps without rows are NOPs, and none is behind the last row.
LoadOf(n, step) ==
  LET slots == {Program[n][k].slot : k \in 1..Len(Program[n])}
  IN  IF Run = "paced" /\ step \notin slots /\ \E slot \in slots : slot > step THEN StepTicks ELSE 0

\* A run begins with nothing fired, counted or under way, counters at their first step, and memory that has contributions only.
BeginsAtRest ==
  /\ now = 0 /\ flying = {} /\ \E n \in Nodes : start[n] = 0
  /\ \A n \in Nodes : fired[n] = 0 /\ counter[n] = [step |-> 0, until |-> start[n] + LoadOf(n, 0)]
  /\ \A n \in Nodes : \A of \in DOMAIN count[n] : count[n][of] = 0
  /\ \A n \in Nodes : \A place \in Places : \A k \in Nodes :
       held[n][place][k] = IF k = n /\ n \in Contributors[place[1]] /\ place \in {Place(item, 0) : item \in Items} THEN 1 ELSE 0

\* A message stands before a link: all that it needs there has come, and it has no turn yet.
Stands(m) == LET at == Len(m.enters) IN at < Len(m.links) /\ m.enters[at] + m.travel[at] - m.travel[at + 1] <= now

\* The row of an entry may fire at node n: its time has come, and everything that it waits for has counted.
MayFire(n, entry) ==
  /\ IF Run = "slotted" THEN start[n] + entry.slot * (SlotTicks + drift[n]) <= now ELSE start[n] <= now /\ counter[n].step = entry.slot
  /\ \A arrival \in entry.awaits : count[n][CounterOf(arrival, entry.item[2])] >= Least(n, arrival, entry.item[2])

\* The timestep counter of node n may advance: the row of its step has been issued and its tick is over, the down-counter is at zero, no
\* flit waits outside the injection buffers, and no sum is in the reduction unit.
MayAdvance(n) ==
  /\ Run = "paced" /\ counter[n].until <= now /\ \E entry \in NextEntry(n) : entry.slot > counter[n].step
  /\ \A m \in flying : \A k \in 1..Len(m.enters) : m.links[k][1] = n => m.enters[k] + SerTicks <= now + BufferTicks
  /\ \A m \in flying : m.dst = n /\ m.op = "REDUCE" /\ Len(m.enters) = Len(m.links) => now < Landing(m)
  /\ \A m \in flying : m.src = n => m.sent < now

\* Message m may take its turn: no other that stands somewhere comes by a lower link, or by a lower lane of the same.
MayCross(m) ==
  LET by(msg) == LET at == Len(msg.enters) IN <<msg.links[at][1], msg.links[at][2], msg.lanes[at]>>
      isLower(a, b) == a[1] < b[1] \/ (a[1] = b[1] /\ a[2] < b[2]) \/ (a[1] = b[1] /\ a[2] = b[2] /\ a[3] < b[3])
  IN  Stands(m) /\ \A other \in flying : Stands(other) => ~isLower(by(other), by(m))

\* Message m may count: a copy when it has landed, a sum when the unit has had it long enough and none that landed before is left there.
MayCount(m) ==
  /\ Len(m.enters) = Len(m.links)
  /\ IF m.op = "REDUCE" THEN now \in Landing(m) + MinReduceTicks..Landing(m) + MaxReduceTicks ELSE now = Landing(m)
  /\ m.op = "REDUCE" => \A other \in flying : other.op = "REDUCE" /\ other.dst = m.dst /\ Len(other.enters) = Len(other.links) =>
       Landing(m) <= Landing(other)

\* Messages under way take their turns at a link before rows that fire in the same tick.
NobodyStandsBefore == \A m \in flying : ~Stands(m)

\* Rows fire in order, one at a time, when they may; one message goes to each destination, with what the node holds.
FiresByTheRules ==
  [][\A n \in Nodes : fired'[n] # fired[n] =>
       /\ fired'[n] = fired[n] + 1 /\ NobodyStandsBefore
       /\ \A entry \in NextEntry(n) :
            LET new == flying' \ flying
            IN  /\ MayFire(n, entry) /\ {m.dst : m \in new} = entry.to /\ Cardinality(new) = Cardinality(entry.to)
                /\ \A m \in new : m.src = n /\ m.sent = now /\ m.row = entry.row /\ m.item = entry.item /\ m.op = entry.op
                                  /\ m.load = held[n][Place(entry.item, Reads(n, entry.row))]
       /\ Run = "paced" => counter'[n].until > now]_fired

\* Counters advance by one, when they may, and load the down-counter; those of slotted NIs stand still.
AdvancesByTheRules ==
  [][\A n \in Nodes : counter'[n].step # counter[n].step =>
       /\ counter'[n].step = counter[n].step + 1 /\ MayAdvance(n) /\ NobodyStandsBefore
       /\ LET load == LoadOf(n, counter'[n].step) IN counter'[n].until = now + IF load = 0 THEN 1 ELSE load]_counter

\* Nothing that may happen is held up: rows, counters and messages can do what they may, and a run rests at its
\* end only.
NothingIsHeldUp ==
  /\ NobodyStandsBefore => \A n \in Nodes :
       /\ \A entry \in NextEntry(n) : MayFire(n, entry) => ENABLED (Act(n) /\ fired'[n] # fired[n])
       /\ MayAdvance(n) => ENABLED (Act(n) /\ counter'[n] # counter[n])
  /\ \A m \in flying : MayCross(m) => ENABLED Cross(m)
  /\ \A m \in flying : MayCount(m) => ENABLED Count(m)
  /\ (ENABLED Rest) <=> flying = {} /\ \A n \in Nodes : fired[n] = Len(Program[n])

\* Time goes on when nothing is left to do in the tick, and it changes nothing else.
TimePassesByTheRules ==
  [][now' # now =>
       /\ now' > now /\ NobodyStandsBefore
       /\ \A n \in Nodes : ~MayAdvance(n) /\ \A entry \in NextEntry(n) : ~MayFire(n, entry)
       /\ \A m \in flying : Len(m.enters) < Len(m.links) \/ now < Landing(m) + IF m.op = "REDUCE" THEN MaxReduceTicks ELSE 0
       /\ UNCHANGED <<start, drift, counter, fired, flying, held, count>>]_now
===============================================================================
