-------------------------- MODULE TraceInNetworkReduce --------------------------
(***************************************************************************)
(* A trace of the simulator's reducing switches as a behaviour of          *)
(* InNetworkReduce. The log has a line for every step, in the order in     *)
(* which they happened: a host sends, a switch adds or passes on, a host   *)
(* takes, the network loses or doubles. The specification must be able to  *)
(* do each, one after the other; of the switch the log also says what the  *)
(* place is afterwards and what was sent.                                  *)
(*                                                                         *)
(* The specification keeps packets in flight for ever; here they are       *)
(* counted, so that nothing arrives more often than it was sent or         *)
(* doubled, and nothing vanishes: in the end the log says what is left.    *)
(***************************************************************************)
EXTENDS InNetworkReduce

CONSTANTS
  Log,  \* lines: event, way, node and number of a packet; switch, works, arrived, known, sends
  Left  \* of every packet that is in flight in the end: <<way, node, number, copies>>

VARIABLES
  line,    \* how many lines have happened
  copies,  \* of every packet that was ever sent: how many are in flight
  sent     \* what the last line put into the network

\* All of them.
traceVars == <<vars, line, copies, sent>>

\* The line that comes next.
Entry == Log[line + 1]

\* The packets that it may be about.
Meant(way) == {p \in flying : p.way = way /\ p.node = Entry.node /\ p.number = Entry.number}

\* One of them has yet to arrive or be lost.
IsUnderWay(p) == p \in DOMAIN copies /\ copies[p] > 0

\* One more of each of these packets is in flight, and one less of those.
Moved(more, less) ==
  /\ sent' = more
  /\ copies' = [p \in DOMAIN copies \union more |->
       (IF p \in DOMAIN copies THEN copies[p] ELSE 0) + (IF p \in more THEN 1 ELSE 0) - (IF p \in less THEN 1 ELSE 0)]

\* What switch s sends for contribution p.
ForContribution(s, p) ==
  LET x == slot[s][PlaceOf(p.number)] IN Answer(s, x, After(s, x, p), p)

\* What switch s sends for result p.
ForResult(s, p) ==
  LET x == slot[s][PlaceOf(p.number)]
  IN  IF Same(p.number, x) /\ Complete(s, x) THEN Multicast(s, p.number, p.sum) ELSE {}

\* A host sends.
LoggedSend ==
  /\ Entry.event = "send"
  /\ Send(Entry.node, Entry.number)
  /\ Moved({Up(Entry.node, Entry.number, One(Entry.node, Entry.number))}, {})

\* A contribution, or a result, arrives.
LoggedArrival ==
  /\ Entry.event \in {"add", "pass", "take"}
  /\ \E p \in Meant(IF Entry.event = "add" THEN "up" ELSE "down") :
       /\ IsUnderWay(p)
       /\ Entry.event # "add" => (p.node \in Hosts) = (Entry.event = "take")
       /\ Deliver(p)
       /\ Moved(CASE Entry.event = "add" -> ForContribution(Parent[p.node], p)
                  [] Entry.event = "pass" -> ForResult(p.node, p)
                  [] Entry.event = "take" -> {}, {p})

\* The network loses a packet, or doubles it.
LoggedMishap ==
  /\ Entry.event \in {"lose", "copy"}
  /\ \E p \in Meant(Entry.way) :
       /\ IsUnderWay(p)
       /\ IF Entry.event = "lose" THEN Moved({}, {p}) ELSE Moved({p}, {})
  /\ UNCHANGED vars

\* The log begins.
TraceInit == Init /\ line = 0 /\ copies = <<>> /\ sent = {}

\* The next line happens; the end of the log is no deadlock.
TraceNext ==
  \/ line < Len(Log) /\ line' = line + 1 /\ (LoggedSend \/ LoggedArrival \/ LoggedMishap)
  \/ line = Len(Log) /\ UNCHANGED traceVars

\* The behaviour that the log tells.
TraceSpec == TraceInit /\ [][TraceNext]_traceVars

\* Each of its steps is one of the specification, or of the counting only.
IsBehaviour == [][Next]_vars

\* The line that has just happened, and the place that it is about.
Last == Log[line]
Place == slot[Last.switch][PlaceOf(Last.number)]

\* It tells what a place is afterwards.
TellsOfAPlace == line > 0 /\ Last.event \in {"add", "pass"}

\* The switch is the one above the child, or the one that the result came to.
SwitchAsLogged == TellsOfAPlace => Last.switch = IF Last.event = "add" THEN Parent[Last.node] ELSE Last.node

\* The place works on the packet that the log says.
WorksAsLogged == TellsOfAPlace => Place.number = Last.works

\* Those children have arrived.
ArrivedAsLogged == TellsOfAPlace => Place.arrived = Last.arrived

\* The result is known, or not.
ResultAsLogged == TellsOfAPlace => (Place.result # <<>>) = Last.known

\* The packets sent according to the log: direction, end and number of each.
SaidToBeSent ==
  CASE Last.sends = "nothing" -> {}
    [] Last.sends = "up" -> {<<"up", Last.switch, Last.number>>}
    [] Last.sends = "one" -> {<<"down", Last.node, Last.number>>}
    [] Last.sends = "all" -> {<<"down", n, Last.number>> : n \in Children(Last.switch)}

\* That was sent.
SentAsLogged == TellsOfAPlace => {<<p.way, p.node, p.number>> : p \in sent} = SaidToBeSent

\* When the log ends, every host has every result.
FinishedInTheEnd == line = Len(Log) => AllFinished

\* Then those copies are in flight that the log says: what was sent or doubled has arrived once, or was lost once, or is left.
BalancedInTheEnd ==
  line = Len(Log) => {<<p.way, p.node, p.number, copies[p]>> : p \in {q \in DOMAIN copies : copies[q] > 0}} = Left
================================================================================
