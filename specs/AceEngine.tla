------------------------------- MODULE AceEngine -------------------------------
(***************************************************************************)
(* A collectives engine at the endpoint (ACE, section 4): chunks of a      *)
(* payload go through the phases of a hierarchical collective without      *)
(* touching the memory of the accelerator between first and last phase.    *)
(*                                                                         *)
(* The engine's SRAM has a partition for every phase, and one for results. *)
(* The TX DMA loads chunks in the node's order as there is room. In each   *)
(* phase a chunk stands in the queue of one state machine; the first of    *)
(* the queue is at work. It sends its messages of the phase in order, each *)
(* when it has taken those that this one waits for. Where that is just one *)
(* (a ring), taking it and sending the next is one step that needs all its *)
(* resources at once, a message at the input port and room at the output   *)
(* port, or stalls. A chunk holds its place in a partition until it has    *)
(* one in the next, and takes that in the order of loading. The RX DMA     *)
(* writes results back.                                                    *)
(*                                                                         *)
(* A port is the buffer that senders fill and one node empties, in order:  *)
(* output buffer, link and input buffer in one. What cannot be taken yet   *)
(* holds up what is behind it. So that engines do not hang,                *)
(*  - chunks take partitions in the order of loading;                      *)
(*  - a port holds, in a ring, one message more than state machines send   *)
(*    through it before they have taken any; otherwise all of a chunk;     *)
(*  - each sender and state machine has a port of its own.                 *)
(* The last two are in the constants. None of them is in the paper, which  *)
(* lets state machines compete.                                            *)
(*                                                                         *)
(* Untimed; what the sums are is the schedule's part.                      *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
  Nodes,   \* the endpoints
  Chunks,  \* the chunks of the payload
  Phases,  \* how many phases there are; their partitions are 1..Phases, that of results Phases + 1
  Plan,    \* for every chunk: the phases that it goes through, in order
  Machine, \* for every chunk: for each phase of its plan the state machine that it is assigned to
  Order,   \* for every node: all chunks, in the order in which they are loaded
  Sends,   \* for every chunk: for each phase of its plan: for every node the messages that it sends, in order: `to` whom, the `port`
           \* by which they come there, and what it `needs` first: messages of this phase that it gets, as <<sender, number>>
  Size,    \* for every partition: the room that a chunk takes there
  Room,    \* for every partition: the room there is
  Depth    \* for every port, which is one node's: the messages that it holds

\* Partitions, state machines, ports.
Result == Phases + 1
Partitions == 1..Result
Machines == UNION {{Machine[c][k] : k \in DOMAIN Plan[c]} : c \in Chunks}
Ports == DOMAIN Depth

\* The senders and numbers of the messages that node n gets in the k-th phase of chunk c, and the ports by which any come to it.
Due == [c \in Chunks |-> [k \in DOMAIN Plan[c] |-> [n \in Nodes |->
  UNION {{<<m, i>> : i \in {j \in DOMAIN Sends[c][k][m] : Sends[c][k][m][j].to = n}} : m \in Nodes}]]]
Inputs == [n \in Nodes |-> UNION {UNION {{Sends[c][k][d[1]][d[2]].port : d \in Due[c][k][n]} : k \in DOMAIN Plan[c]} : c \in Chunks}]

ASSUME ConstantsAreSane ==
  /\ \A c \in Chunks : Plan[c] \in Seq(1..Phases) /\ DOMAIN Machine[c] = DOMAIN Plan[c]
  /\ \A n \in Nodes : Len(Order[n]) = Cardinality(Chunks) /\ {Order[n][i] : i \in DOMAIN Order[n]} = Chunks
  /\ \A c \in Chunks : \A k \in DOMAIN Plan[c], n \in Nodes : \A i \in DOMAIN Sends[c][k][n] :
       LET message == Sends[c][k][n][i] IN message.to \in Nodes /\ message.port \in Ports /\ message.needs \subseteq Due[c][k][n]
  /\ \A p \in Partitions : Size[p] \in Nat \ {0} /\ Room[p] \in Nat
  /\ \A x \in Ports : Depth[x] \in Nat \ {0}

VARIABLES
  place,  \* place[n][c]: 0 in memory, k in the k-th phase of its plan, then among the results, then back in memory
  queue,  \* queue[n][m]: the chunks of state machine m, the first at work
  sent,   \* sent[n][c]: messages of its phase that chunk c has sent
  taken,  \* taken[n][c]: messages of its phase that it has taken, as <<sender, number>>
  port    \* port[x]: the messages that wait at port x

\* All of them.
vars == <<place, queue, sent, taken, port>>

-------------------------------------------------------------------------------
(* Where a chunk is                                                          *)

\* The place of chunk c after its last phase, and that of a chunk that is back in memory.
Last(c) == Len(Plan[c]) + 1
Back(c) == Len(Plan[c]) + 2

\* The partition that place k of chunk c is in: behind its last phase that of results.
PartitionOf(c, k) == IF k \in DOMAIN Plan[c] THEN Plan[c][k] ELSE Result

\* The room taken in partition p of node n, and whether another chunk fits.
Held(n, p) == Size[p] * Cardinality({c \in Chunks : place[n][c] \in 1..Last(c) /\ PartitionOf(c, place[n][c]) = p})
Fits(n, p) == Held(n, p) + Size[p] <= Room[p]

\* It is chunk c's turn to take place k: all chunks that are loaded before it have taken theirs. State machines overtake each other, and
\* not in the same way at all nodes; a node whose partition is filled by chunks that the others do not have there yet would wait for ever.
Turn(n, c, k) == \A i, j \in DOMAIN Order[n] : Order[n][i] = c /\ j < i => place[n][Order[n][j]] >= k

\* Chunk c may take place k.
MayTake(n, c, k) == Turn(n, c, k) /\ Fits(n, PartitionOf(c, k))

\* Chunk c is the first in a queue.
IsFirst(n, c, m) == \E i \in DOMAIN queue[n][m] : i = 1 /\ queue[n][m][i] = c
AtWork(n, c) == \E m \in Machines : IsFirst(n, c, m)

\* Chunk c, which is the first in a queue, is out of it.
Dequeued(n, c) == [queue EXCEPT ![n] = [m \in Machines |-> IF IsFirst(n, c, m) THEN Tail(@[m]) ELSE @[m]]]

\* In these queues, chunk c stands behind the others for place k, if that is a phase.
Enqueued(queues, n, c, k) == IF k \in DOMAIN Plan[c] THEN [queues EXCEPT ![n][Machine[c][k]] = Append(@, c)] ELSE queues

-------------------------------------------------------------------------------
(* Messages                                                                  *)

\* The messages that chunk c sends from node n in its phase; the next of them, if there is one, and what it still waits for.
Sending(n, c) == Sends[c][place[n][c]][n]
IsLeft(n, c) == sent[n][c] < Len(Sending(n, c))
Following(n, c) == Sending(n, c)[sent[n][c] + 1]
Lacks(n, c) == Following(n, c).needs \ taken[n][c]

\* There is room at the port of the next message.
HasRoom(n, c) == Len(port[Following(n, c).port]) < Depth[Following(n, c).port]

\* The first message at a port: its sender and its number; and whether it is for the phase of chunk c.
Waiting(x) == <<Head(port[x]).from, Head(port[x]).number>>
HasCome(n, c, x) == \E i \in DOMAIN port[x] : i = 1 /\ port[x][i].chunk = c /\ port[x][i].place = place[n][c]

\* The next message waits for this one alone.
MustPassOn(n, c, x) == IsLeft(n, c) /\ Following(n, c).needs = {Waiting(x)}

\* Ports without the first message of port x, and with the next message of chunk c.
WithoutTaken(ports, x) == [ports EXCEPT ![x] = Tail(@)]
WithSent(ports, n, c) ==
  [ports EXCEPT ![Following(n, c).port] = Append(@, [chunk |-> c, place |-> place[n][c], from |-> n, number |-> sent[n][c] + 1])]

-------------------------------------------------------------------------------
(* Steps                                                                     *)

\* Everything is in memory.
Init ==
  /\ place = [n \in Nodes |-> [c \in Chunks |-> 0]]
  /\ queue = [n \in Nodes |-> [m \in Machines |-> <<>>]]
  /\ sent = [n \in Nodes |-> [c \in Chunks |-> 0]]
  /\ taken = [n \in Nodes |-> [c \in Chunks |-> {}]]
  /\ port = [x \in Ports |-> <<>>]

\* The TX DMA loads chunk c.
Load(n, c) ==
  /\ place[n][c] = 0 /\ MayTake(n, c, 1)
  /\ place' = [place EXCEPT ![n][c] = 1]
  /\ queue' = Enqueued(queue, n, c, 1)
  /\ UNCHANGED <<sent, taken, port>>

\* A message goes out that waits for nothing.
Send(n, c) ==
  /\ AtWork(n, c) /\ IsLeft(n, c)
  /\ Lacks(n, c) = {} /\ HasRoom(n, c)
  /\ sent' = [sent EXCEPT ![n][c] = @ + 1]
  /\ port' = WithSent(port, n, c)
  /\ UNCHANGED <<place, queue, taken>>

\* A message comes in and the next, which waits for it, goes out: all resources, or none.
PassOn(n, c, x) ==
  /\ AtWork(n, c) /\ HasCome(n, c, x)
  /\ IsLeft(n, c) /\ Lacks(n, c) = {Waiting(x)} /\ HasRoom(n, c)
  /\ taken' = [taken EXCEPT ![n][c] = @ \cup {Waiting(x)}]
  /\ sent' = [sent EXCEPT ![n][c] = @ + 1]
  /\ port' = WithSent(WithoutTaken(port, x), n, c)
  /\ UNCHANGED <<place, queue>>

\* A message arrives. Where the next message waits for it and for others that are not in a bank yet, the next one goes out later.
Take(n, c, x) ==
  /\ AtWork(n, c) /\ HasCome(n, c, x)
  /\ ~MustPassOn(n, c, x)
  /\ taken' = [taken EXCEPT ![n][c] = @ \cup {Waiting(x)}]
  /\ port' = WithoutTaken(port, x)
  /\ UNCHANGED <<place, queue, sent>>

\* A chunk that is through with its phase goes on to the next partition and state machine, if it is its turn and there is room.
GoOn(n, c) ==
  /\ AtWork(n, c) /\ ~IsLeft(n, c) /\ taken[n][c] = Due[c][place[n][c]][n]
  /\ MayTake(n, c, place[n][c] + 1)
  /\ place' = [place EXCEPT ![n][c] = @ + 1]
  /\ queue' = Enqueued(Dequeued(n, c), n, c, place[n][c] + 1)
  /\ sent' = [sent EXCEPT ![n][c] = 0]
  /\ taken' = [taken EXCEPT ![n][c] = {}]
  /\ UNCHANGED port

\* The RX DMA writes the result back; an interrupt tells the accelerator.
WriteBack(n, c) ==
  /\ place[n][c] = Last(c)
  /\ place' = [place EXCEPT ![n][c] = Back(c)]
  /\ UNCHANGED <<queue, sent, taken, port>>

\* Every chunk is back in memory everywhere.
AllBack == \A n \in Nodes, c \in Chunks : place[n][c] = Back(c)

\* The end is no deadlock.
Rest == AllBack /\ UNCHANGED vars

\* What the engine of node n does with chunk c.
Move(n, c) ==
  \/ Load(n, c) \/ Send(n, c) \/ GoOn(n, c) \/ WriteBack(n, c)
  \/ \E x \in Inputs[n] : PassOn(n, c, x) \/ Take(n, c, x)

\* Some engine does something.
Next == (\E n \in Nodes, c \in Chunks : Move(n, c)) \/ Rest

\* While some engine can do something, some engine does. More is not needed: each step brings a chunk on, and there are finitely many.
Fairness == WF_vars(\E n \in Nodes, c \in Chunks : Move(n, c))

\* The behaviours.
Spec == Init /\ [][Next]_vars /\ Fairness

-------------------------------------------------------------------------------
(* Properties                                                                *)

\* Chunk c is in a phase; what it sends there, and its state machine.
InPhase(n, c) == place[n][c] \in DOMAIN Plan[c]
MessagesOf(n, c) == Sends[c][place[n][c]][n]
MachineOf(n, c) == Machine[c][place[n][c]]

\* The values the variables range over. A chunk out of phases has sent and taken nothing.
TypeOK ==
  /\ \A n \in Nodes, c \in Chunks :
       /\ place[n][c] \in 0..Len(Plan[c]) + 2
       /\ sent[n][c] \in 0..IF InPhase(n, c) THEN Len(MessagesOf(n, c)) ELSE 0
       /\ taken[n][c] \subseteq IF InPhase(n, c) THEN Due[c][place[n][c]][n] ELSE {}
  /\ \A n \in Nodes, m \in Machines : queue[n][m] \in Seq(Chunks)

\* No partition holds more than it has room for: the chunks in its phase, or in the last one those that have left all phases and are not
\* back in memory.
NoOverrun == \A n \in Nodes, p \in Partitions :
  LET inside(c) == IF InPhase(n, c) THEN Plan[c][place[n][c]] = p ELSE p = Phases + 1 /\ place[n][c] = Len(Plan[c]) + 1
  IN  Size[p] * Cardinality({c \in Chunks : inside(c)}) <= Room[p]

\* No port holds more messages than it can.
NoOverflow == \A x \in Ports : Len(port[x]) <= Depth[x]

\* A chunk in a phase stands in the queue of its state machine, once, and no other does.
QueuedWhereItIs == \A n \in Nodes, m \in Machines, c \in Chunks :
  Cardinality({i \in DOMAIN queue[n][m] : queue[n][m][i] = c}) = IF InPhase(n, c) /\ MachineOf(n, c) = m THEN 1 ELSE 0

\* A chunk that stands behind another has not begun its phase.
OneAtATime == \A n \in Nodes, c \in Chunks, m \in Machines :
  \A i \in 2..Len(queue[n][m]) : queue[n][m][i] = c => sent[n][c] = 0 /\ taken[n][c] = {}

\* The next chunk is loaded as soon as the partition of its first phase has room for it: a phase may have several.
LoadedInTime == \A n \in Nodes : \A i \in DOMAIN Order[n] :
  LET c == Order[n][i]
      inside == {d \in Chunks : InPhase(n, d) /\ Plan[d][place[n][d]] = Plan[c][1]}
  IN  /\ place[n][c] = 0 /\ \A j \in 1..i - 1 : place[n][Order[n][j]] > 0
      /\ Size[Plan[c][1]] * (Cardinality(inside) + 1) <= Room[Plan[c][1]]
      => ENABLED (Next /\ place'[n][c] = 1)

\* No message goes out before those that it needs have been taken.
NeedsComeFirst == \A n \in Nodes, c \in Chunks :
  place[n][c] \in DOMAIN Plan[c] => \A i \in 1..sent[n][c] : Sends[c][place[n][c]][n][i].needs \subseteq taken[n][c]

\* What comes in is the message that is due, of those that come by its port the next of its sender: none is lost, doubled or overtaken.
OnlyWhatIsDue == \A n \in Nodes : \A x \in Inputs[n] :
  port[x] # <<>> =>
    LET first == Head(port[x])
        c == first.chunk
        missing == Due[c][first.place][n] \ taken[n][c]
        alike == {d \in missing : d[1] = first.from /\ Sends[c][first.place][first.from][d[2]].port = x}
    IN  InPhase(n, c) /\ first.place = place[n][c] =>
          <<first.from, first.number>> \in alike /\ \A d \in alike : d[2] >= first.number

\* A message that alone is needed for the next one comes in when that one goes out.
PassesOnAtOnce == [][\A n \in Nodes, c \in Chunks :
  InPhase(n, c) /\ place'[n][c] = place[n][c] /\ sent'[n][c] = sent[n][c] /\ sent[n][c] < Len(MessagesOf(n, c)) =>
    \A d \in taken'[n][c] \ taken[n][c] : MessagesOf(n, c)[sent[n][c] + 1].needs # {d}]_vars

\* A state machine ends its chunks in the order in which they came to it.
InOrder == [][\A n \in Nodes, m \in Machines :
  LET old == queue[n][m]
      new == queue'[n][m]
  IN  new = old \/ (old # <<>> /\ new = Tail(old)) \/ (Len(new) = Len(old) + 1 /\ SubSeq(new, 1, Len(old)) = old)]_vars

\* Every chunk ends: no deadlock, no starvation.
EveryChunkEnds == <>(\A n \in Nodes, c \in Chunks : place[n][c] = Len(Plan[c]) + 2)
================================================================================
