------------------------------- MODULE AceEngine -------------------------------
(***************************************************************************)
(* A collectives engine at the endpoint (ACE, section 4): chunks of a      *)
(* payload go through the phases of a hierarchical collective without      *)
(* touching the memory of the accelerator between first and last phase.    *)
(*                                                                         *)
(* The engine's SRAM has a partition for every phase, and one for results. *)
(* The TX DMA loads chunks in the node's order as there is room. In each   *)
(* phase a chunk stands in the queue of one state machine; the first of    *)
(* the queue is at work. In a phase it sends and takes Steps messages:     *)
(* the first it sends, each one that it takes sends the next, the last     *)
(* only comes in. Taking and sending on is one step that needs all its     *)
(* resources at once, a message at the input port and room at the output   *)
(* port, or stalls. A chunk holds its place in a partition until it has    *)
(* one in the next, and takes that in the order of loading. The RX DMA     *)
(* writes results back.                                                    *)
(*                                                                         *)
(* A port is the buffer that a sender fills and the next node empties, in  *)
(* order: output buffer, link and input buffer in one. What cannot be      *)
(* taken yet holds up what is behind it. A port has to hold one message    *)
(* more than there are state machines that send through it: with all of    *)
(* them at their first message, none could take one and send the next.     *)
(*                                                                         *)
(* The order of loading is not in the paper, which lets state machines     *)
(* compete: with several of them for a phase, chunks then fill a partition *)
(* in different orders at different nodes and wait for each other.         *)
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
  To,      \* for every phase: for every node, to whom it sends
  Port,    \* for every phase: the port through which its messages arrive
  Steps,   \* for every phase: messages that a chunk sends and takes at each node
  Size,    \* for every partition: the room that a chunk takes there
  Room,    \* for every partition: the room there is
  Depth    \* messages that a port holds

\* Partitions, state machines, ports.
Result == Phases + 1
Partitions == 1..Result
Machines == UNION {{Machine[c][k] : k \in DOMAIN Plan[c]} : c \in Chunks}
Ports == {Port[p] : p \in 1..Phases}

ASSUME ConstantsAreSane ==
  /\ \A c \in Chunks : Plan[c] \in Seq(1..Phases) /\ DOMAIN Machine[c] = DOMAIN Plan[c]
  /\ \A n \in Nodes : Len(Order[n]) = Cardinality(Chunks) /\ {Order[n][i] : i \in DOMAIN Order[n]} = Chunks
  /\ \A p \in 1..Phases : To[p] \in [Nodes -> Nodes] /\ Steps[p] \in Nat \ {0}
  /\ \A p \in Partitions : Size[p] \in Nat \ {0} /\ Room[p] \in Nat
  /\ Depth \in Nat \ {0}

VARIABLES
  place,  \* place[n][c]: 0 in memory, k in the k-th phase of its plan, then among the results, then back in memory
  queue,  \* queue[n][m]: the chunks of state machine m, the first at work
  sent,   \* sent[n][c]: messages of its phase that chunk c has sent
  taken,  \* taken[n][c]: messages of its phase that it has taken
  port    \* port[n][x]: the messages that wait at port x of node n

\* All of them.
vars == <<place, queue, sent, taken, port>>

-------------------------------------------------------------------------------
(* Where a chunk is                                                          *)

\* The place of chunk c after its last phase, and that of a chunk that is back in memory.
Last(c) == Len(Plan[c]) + 1
Back(c) == Len(Plan[c]) + 2

\* Chunk c is in a phase, and which.
InPhase(n, c) == place[n][c] \in DOMAIN Plan[c]
PhaseOf(n, c) == Plan[c][place[n][c]]

\* The partition that place k of chunk c is in.
PartitionOf(c, k) == IF k = Last(c) THEN Result ELSE Plan[c][k]

\* The room taken in partition p of node n, and whether another chunk fits.
Held(n, p) == Size[p] * Cardinality({c \in Chunks : place[n][c] \in 1..Last(c) /\ PartitionOf(c, place[n][c]) = p})
Fits(n, p) == Held(n, p) + Size[p] <= Room[p]

\* It is chunk c's turn to take place k: all chunks that are loaded before it have taken theirs. State machines overtake each other, and
\* not in the same way at all nodes; who finds a partition filled by chunks that the others do not have there yet would wait for ever.
Turn(n, c, k) == LET i == CHOOSE i \in DOMAIN Order[n] : Order[n][i] = c IN \A j \in 1..i - 1 : place[n][Order[n][j]] >= k

\* Chunk c may take place k.
MayTake(n, c, k) == Turn(n, c, k) /\ Fits(n, PartitionOf(c, k))

\* The state machine of chunk c, and whether c is first in its queue.
MachineOf(n, c) == Machine[c][place[n][c]]
IsFirst(n, c) == Head(queue[n][MachineOf(n, c)]) = c
AtWork(n, c) == InPhase(n, c) /\ IsFirst(n, c)

\* Chunk c is out of the queue of its state machine.
Dequeued(n, c) == [queue EXCEPT ![n][MachineOf(n, c)] = Tail(@)]

\* In these queues, chunk c stands behind the others for place k, if that is a phase.
Enqueued(queues, n, c, k) == IF k \in DOMAIN Plan[c] THEN [queues EXCEPT ![n][Machine[c][k]] = Append(@, c)] ELSE queues

-------------------------------------------------------------------------------
(* Messages                                                                  *)

\* Message i of the phase that chunk c is in.
Message(n, c, i) == [chunk |-> c, place |-> place[n][c], step |-> i]

\* The node to which chunk c sends from node n, and the port of its phase.
Receiver(n, c) == To[PhaseOf(n, c)][n]
PortOf(n, c) == Port[PhaseOf(n, c)]

\* There is room at the receiver's port.
HasRoom(n, c) == Len(port[Receiver(n, c)][PortOf(n, c)]) < Depth

\* The next message at the port is for the phase of chunk c.
HasCome(n, c) ==
  LET waiting == port[n][PortOf(n, c)]
  IN  waiting # <<>> /\ Head(waiting).chunk = c /\ Head(waiting).place = place[n][c]

\* Ports in which node n has taken a message for chunk c, and ports in which it has sent message i.
WithoutTaken(ports, n, c) == [ports EXCEPT ![n][PortOf(n, c)] = Tail(@)]
WithSent(ports, n, c, i) == [ports EXCEPT ![Receiver(n, c)][PortOf(n, c)] = Append(@, Message(n, c, i))]

-------------------------------------------------------------------------------
(* Steps                                                                     *)

\* Everything is in memory.
Init ==
  /\ place = [n \in Nodes |-> [c \in Chunks |-> 0]]
  /\ queue = [n \in Nodes |-> [m \in Machines |-> <<>>]]
  /\ sent = [n \in Nodes |-> [c \in Chunks |-> 0]]
  /\ taken = [n \in Nodes |-> [c \in Chunks |-> 0]]
  /\ port = [n \in Nodes |-> [x \in Ports |-> <<>>]]

\* The TX DMA loads chunk c.
Load(n, c) ==
  /\ place[n][c] = 0 /\ MayTake(n, c, 1)
  /\ place' = [place EXCEPT ![n][c] = 1]
  /\ queue' = Enqueued(queue, n, c, 1)
  /\ UNCHANGED <<sent, taken, port>>

\* The first message of a phase goes out.
Begin(n, c) ==
  /\ AtWork(n, c) /\ sent[n][c] = 0
  /\ HasRoom(n, c)
  /\ sent' = [sent EXCEPT ![n][c] = 1]
  /\ port' = WithSent(port, n, c, 1)
  /\ UNCHANGED <<place, queue, taken>>

\* A message comes in and the next goes out: all resources, or none.
PassOn(n, c) ==
  /\ AtWork(n, c) /\ sent[n][c] \in 1..Steps[PhaseOf(n, c)] - 1
  /\ HasCome(n, c) /\ HasRoom(n, c)
  /\ taken' = [taken EXCEPT ![n][c] = @ + 1]
  /\ sent' = [sent EXCEPT ![n][c] = @ + 1]
  /\ port' = WithSent(WithoutTaken(port, n, c), n, c, sent[n][c] + 1)
  /\ UNCHANGED <<place, queue>>

\* The last message of a phase comes in.
TakeLast(n, c) ==
  /\ AtWork(n, c) /\ sent[n][c] = Steps[PhaseOf(n, c)] /\ taken[n][c] = sent[n][c] - 1
  /\ HasCome(n, c)
  /\ taken' = [taken EXCEPT ![n][c] = @ + 1]
  /\ port' = WithoutTaken(port, n, c)
  /\ UNCHANGED <<place, queue, sent>>

\* A chunk that is through with its phase goes on to the next partition and state machine, if it is its turn and there is room.
GoOn(n, c) ==
  /\ AtWork(n, c) /\ taken[n][c] = Steps[PhaseOf(n, c)]
  /\ MayTake(n, c, place[n][c] + 1)
  /\ place' = [place EXCEPT ![n][c] = @ + 1]
  /\ queue' = Enqueued(Dequeued(n, c), n, c, place[n][c] + 1)
  /\ sent' = [sent EXCEPT ![n][c] = 0]
  /\ taken' = [taken EXCEPT ![n][c] = 0]
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
Move(n, c) == Load(n, c) \/ Begin(n, c) \/ PassOn(n, c) \/ TakeLast(n, c) \/ GoOn(n, c) \/ WriteBack(n, c)

\* Some engine does something.
Next == (\E n \in Nodes, c \in Chunks : Move(n, c)) \/ Rest

\* While some engine can do something, some engine does. More is not needed: each step brings a chunk on, and there are finitely many.
Fairness == WF_vars(\E n \in Nodes, c \in Chunks : Move(n, c))

\* The behaviours.
Spec == Init /\ [][Next]_vars /\ Fairness

-------------------------------------------------------------------------------
(* Properties                                                                *)

\* The values the variables range over.
TypeOK ==
  /\ \A n \in Nodes, c \in Chunks : place[n][c] \in 0..Back(c) /\ sent[n][c] \in Nat /\ taken[n][c] \in 0..sent[n][c]
  /\ \A n \in Nodes, m \in Machines : queue[n][m] \in Seq(Chunks)

\* No partition holds more than it has room for.
NoOverrun == \A n \in Nodes, p \in Partitions : Held(n, p) <= Room[p]

\* No port holds more messages than it can.
NoOverflow == \A n \in Nodes, x \in Ports : Len(port[n][x]) <= Depth

\* A chunk in a phase stands in the queue of its state machine, once, and no other does.
QueuedWhereItIs == \A n \in Nodes, m \in Machines, c \in Chunks :
  Cardinality({i \in DOMAIN queue[n][m] : queue[n][m][i] = c}) = IF InPhase(n, c) /\ MachineOf(n, c) = m THEN 1 ELSE 0

\* A chunk that stands behind another has not begun its phase.
OneAtATime == \A n \in Nodes, c \in Chunks : InPhase(n, c) /\ Head(queue[n][MachineOf(n, c)]) # c => sent[n][c] = 0

\* What comes in is the message that is due: none is lost, doubled or overtaken.
OnlyWhatIsDue == \A n \in Nodes, c \in Chunks :
  AtWork(n, c) /\ sent[n][c] > taken[n][c] /\ HasCome(n, c) => Head(port[n][PortOf(n, c)]).step = taken[n][c] + 1

\* A state machine ends its chunks in the order in which they came to it.
InOrder == [][\A n \in Nodes, m \in Machines :
  LET old == queue[n][m]
      new == queue'[n][m]
  IN  new = old \/ (old # <<>> /\ new = Tail(old)) \/ (Len(new) = Len(old) + 1 /\ SubSeq(new, 1, Len(old)) = old)]_vars

\* Every chunk ends: no deadlock, no starvation.
EveryChunkEnds == <>AllBack
================================================================================
