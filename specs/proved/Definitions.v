(** What a schedule is, what its runs are, and what it promises.

    A reader who trusts these definitions, and Coq, need not read any proof. README.md puts each of them next to the sentence of
    the contract that it states. Numbers are binary ([N], [positive]). *)

From Coq Require Import NArith PArith List Bool Permutation.
Import ListNotations.
Open Scope N_scope.

(** * Networks *)

Inductive kind := Endpoint | Reducing | Forwarding | Absent.

(** A link from one node to another one; [width] transfers of a unit chunk pass it in a round. *)
Record link := Link { tail : N; head : N; width : N }.

Record network := Network { nodes : list kind; links : list link }.

(** The entry of a list at a place, counted from 0. *)
Definition at_place {A} (l : list A) (i : N) : option A := nth_error l (N.to_nat i).

(** * Schedules *)

(** Whose a chunk is: at the start, whose contributions there are; at the end, where the result is due. *)
Inductive place := Everyone | Alone (node : N).

(** A chunk of the message. [size] is 1, or a number of granules where blocks are unequal. *)
Record chunk := Chunk { origin : place; due : place; size : N }.

(** One buffer of one chunk at one node. *)
Record cell := Cell { node : N; buffer : N; of_chunk : N }.

Inductive operation := Reduce | Copy.

(** [via] lists the links of a route by number. Without one a transfer takes any link from its source to its destination, or none
    if both are one node. *)
Record transfer := Transfer {
  number : positive; step : N; op : operation; source : cell; target : cell; via : option (list N) }.

(** What is to be done. An all-to-all with a demand says how much each source has for each target. *)
Inductive collective :=
  AllReduce | ReduceScatter | AllGather | AllToAll | AllToAllV (demand : list (N * N * N)) |
  Broadcast (root : N) | ReduceTo (root : N) | Gather (root : N) | Scatter (root : N).

(** [members] take part in the collective. [rounds] are those of each step; a step that it does not list has 1. The schedule is
    done [repeats] times, [period] steps apart. *)
Record schedule := Schedule {
  net : network; to_do : collective; members : list N; chunks : list chunk; transfers : list transfer;
  rounds : list N; delay : N; buffers : N; period : N; repeats : N }.

(** * Links: what a transfer takes, and how much is on a link in a step *)

(** A single link, or all links from one node to another one together. *)
Inductive resource := One (link_number : N) | Between (tail head : N).

(** How many transfers of a unit chunk pass a resource in a round. *)
Definition capacity (w : network) (r : resource) : N :=
  match r with
  | One l => match at_place (links w) l with Some k => width k | None => 0 end
  | Between a b =>
      fold_right (fun k sum => (if (tail k =? a) && (head k =? b) then width k else 0) + sum) 0 (links w)
  end.

(** The resources that a transfer takes, given the link of each number: those of its route, or those between its two nodes. *)
Definition uses (link_at : N -> option link) (t : transfer) : list resource :=
  match via t with
  | Some route => flat_map
      (fun l => match link_at l with Some k => [One l; Between (tail k) (head k)] | None => [] end) route
  | None => if node (source t) =? node (target t) then [] else [Between (node (source t)) (node (target t))]
  end.

Definition same_resource (r s : resource) : bool :=
  match r, s with
  | One l, One m => l =? m
  | Between a b, Between c d => (a =? c) && (b =? d)
  | _, _ => false
  end.

(** Whether some iteration sends the transfer in step [q], counted from the start of the first iteration. *)
Definition is_sent_in (s : schedule) (q : N) (t : transfer) : bool :=
  (step t <=? q) && ((q - step t) mod period s =? 0) && ((q - step t) / period s <? repeats s).

Definition size_of (s : schedule) (t : transfer) : N :=
  match at_place (chunks s) (of_chunk (source t)) with Some c => size c | None => 0 end.

(** What a resource carries in step [q], in unit chunks or granules. *)
Definition load (s : schedule) (q : N) (r : resource) : N :=
  fold_right (fun t sum =>
    (if is_sent_in s q t
     then size_of s t * N.of_nat (length (filter (same_resource r) (uses (at_place (links (net s))) t)))
     else 0) + sum) 0 (transfers s).

Definition rounds_of (s : schedule) (q : N) : N := match at_place (rounds s) q with Some r => r | None => 1 end.

(** No link carries more than it can, and no message is longer than its step. *)
Definition within_capacity (s : schedule) : Prop :=
  (forall q r, load s q r <= capacity (net s) r * rounds_of s q) /\
  (forall t, In t (transfers s) -> node (source t) <> node (target t) -> size_of s t <= rounds_of s (step t)).

(** * Where transfers may run *)

Section Wiring.
  Variables (kind_at : N -> option kind) (link_at : N -> option link).
  Variables (width_of : N -> N -> N) (* of all links between two nodes *) (is_direct : bool) (scratch_from : N).

  Definition holds (n : N) : bool :=
    match kind_at n with Some Endpoint | Some Reducing => true | _ => false end.

  Definition forwards (n : N) : bool :=
    match kind_at n with Some Reducing | Some Forwarding => true | Some Endpoint => is_direct | _ => false end.

  (** Endpoints have all buffers, switches that reduce have buffer 0. *)
  Definition is_cell (c : cell) : bool :=
    match kind_at (node c) with
    | Some Endpoint => buffer c <? scratch_from
    | Some Reducing => buffer c =? 0
    | _ => false
    end.

  (** A chain of links from [here] to [there] that comes to no node of [visited], nor twice to any; nodes between forward. *)
  Fixpoint is_chain (here there : N) (visited : list N) (route : list N) : bool :=
    match route with
    | [] => false
    | l :: rest =>
        match link_at l with
        | None => false
        | Some k =>
            (tail k =? here) && negb (existsb (N.eqb (head k)) (here :: visited)) &&
            match rest with
            | [] => head k =? there
            | _ => forwards (head k) && is_chain (head k) there (here :: visited) rest
            end
        end
    end.

  Definition is_wired (t : transfer) : bool :=
    let (a, x, c) := source t in
    let (b, y, d) := target t in
    is_cell (source t) && is_cell (target t) && (c =? d) &&
    match via t with
    | Some route => is_chain a b [] route
    | None => if a =? b then negb (x =? y) else 0 <? width_of a b
    end.
End Wiring.

Definition is_switch (k : kind) : bool := match k with Reducing | Forwarding => true | _ => false end.

(** Each transfer has its links, and a chunk that there is. *)
Definition well_wired (s : schedule) : Prop :=
  forall t, In t (transfers s) ->
    is_wired (at_place (nodes (net s))) (at_place (links (net s))) (fun a b => capacity (net s) (Between a b))
             (negb (existsb is_switch (nodes (net s)))) (buffers s) t = true /\
    at_place (chunks s) (of_chunk (source t)) <> None.

(** * Runs *)

Inductive event := Send (t : transfer) | Land (t : transfer).

Definition events (s : schedule) : list event := map Send (transfers s) ++ map Land (transfers s).

(** [Held]: what is sent in step s lands at step s + delay, before anything is sent then. [Early]: at any moment from the step in
    which it is sent until then, but not before the transfers of that step have left. *)
Inductive timing := Held | Early.

(** Whether the contract wants the first of two events to come before the second. *)
Definition must_precede (m : timing) (d : N) (e f : event) : Prop :=
  match e, f with
  | Land t, Send u => step t + d <= step u
  | Send t, Land u => match m with Held => step t < step u + d | Early => step t <= step u end
  | Land t, Land u => match m with Held => step t < step u | Early => False end
  | Send _, Send _ => False
  end.

Definition before (l : list event) (e f : event) : Prop := exists a b c, l = a ++ e :: b ++ f :: c.

(** A run: all events of the schedule, each once, in any order that the contract allows. *)
Definition run (m : timing) (s : schedule) (r : list event) : Prop :=
  Permutation (events s) r /\
  forall e f, In e r -> In f r -> must_precede m (delay s) e f -> before r e f.

(** Iterations have chunks of their own: a run of all of them, in which each event says of which iteration it is, is any
    interleaving of a run of each. *)
Definition of_iteration (i : N) (r : list (N * event)) : list event := map snd (filter (fun e => fst e =? i) r).

Definition whole_run (m : timing) (s : schedule) (r : list (N * event)) : Prop :=
  forall i, i < repeats s -> run m s (of_iteration i r).

(** * What runs do to data *)

Definition same_cell (c d : cell) : bool :=
  (node c =? node d) && (buffer c =? buffer d) && (of_chunk c =? of_chunk d).

Section Values.
  Variables (V : Type) (add : V -> V -> V). (* no neutral element is assumed *)

  (** A value added to a cell, or to what has been summed up so far; [None] is nothing. *)
  Definition plus (a b : option V) : option V :=
    match a, b with None, v | v, None => v | Some v, Some w => Some (add v w) end.

  (** What each cell holds, and what each transfer in flight carries. *)
  Record memory := Memory { held : cell -> option V; carried : positive -> option V }.

  Definition happen (m : memory) (e : event) : memory :=
    match e with
    | Send t => Memory (held m) (fun n => if (n =? number t)%positive then held m (source t) else carried m n)
    | Land t =>
        let v := carried m (number t) in
        let w := match op t with Copy => v | Reduce => plus (held m (target t)) v end in
        Memory (fun c => if same_cell c (target t) then w else held m c) (carried m)
    end.

  (** An event of an iteration changes the memory of that iteration. *)
  Definition happen_in (ms : N -> memory) (e : N * event) : N -> memory :=
    fun i => if i =? fst e then happen (ms i) (snd e) else ms i.

  Variables (s : schedule) (own : N -> N -> V). (* the contribution of each node to each chunk *)

  Definition is_one_of (p : place) (n : N) : bool :=
    match p with Everyone => existsb (N.eqb n) (members s) | Alone a => n =? a end.

  (** A memory in which the schedule may start: cells of switches are empty; data buffers hold what the collective starts with;
      any other cell of an endpoint holds whatever was in its memory, as does what is carried before it is sent. *)
  Definition starts (m : memory) : Prop :=
    forall c, (at_place (nodes (net s)) (node c) = Some Reducing -> held m c = None) /\
      forall k, at_place (chunks s) (of_chunk c) = Some k -> buffer c = 0 -> is_one_of (origin k) (node c) = true ->
        held m c = Some (own (node c) (of_chunk c)).

  (** The sum of the contributions of some nodes to a chunk. *)
  Definition sum (c : N) (l : list N) : option V := fold_right (fun n rest => plus (Some (own n c)) rest) None l.

  (** What the collective promises for a chunk: the sum of all members, or what its one origin had. *)
  Definition result (c : N) (k : chunk) : option V :=
    sum c match origin k with Everyone => members s | Alone a => [a] end.

  Definition keeps_promise (m : memory) : Prop :=
    forall c k n, at_place (chunks s) c = Some k -> is_one_of (due k) n = true -> held m (Cell n 0 c) = result c k.
End Values.

(** * What the chunks are *)

(** Whether a chunk starts, and is due, where chunks of the collective do. *)
Definition is_part (c : collective) (k : chunk) : bool :=
  match c, origin k, due k with
  | AllReduce, Everyone, Everyone | ReduceScatter, Everyone, Alone _ | AllGather, Alone _, Everyone => true
  | (AllToAll | AllToAllV _), Alone a, Alone b => negb (a =? b)
  | Broadcast r, Alone a, Everyone | ReduceTo r, Everyone, Alone a => a =? r
  | Gather r, Alone a, Alone b => (b =? r) && negb (a =? r)
  | Scatter r, Alone a, Alone b => (a =? r) && negb (b =? r)
  | _, _, _ => false
  end.

(** The size of all chunks from [a] to [b]. *)
Definition amount (l : list chunk) (a b : N) : N :=
  fold_right (fun k sum =>
    match origin k, due k with Alone x, Alone y => if (x =? a) && (y =? b) then size k else 0 | _, _ => 0 end + sum) 0 l.

Definition demanded (demand : list (N * N * N)) (a b : N) : N :=
  fold_right (fun row sum => (if (fst (fst row) =? a) && (snd (fst row) =? b) then snd row else 0) + sum) 0 demand.

(** The targets for which source [a] has a block, where all blocks are equal. *)
Definition targets (s : schedule) (a : N) : list N :=
  match to_do s with
  | AllToAll => filter (fun b => negb (b =? a)) (members s)
  | Gather r => if a =? r then [] else [r]
  | Scatter r => if a =? r then filter (fun b => negb (b =? a)) (members s) else []
  | _ => []
  end.

Definition blocks_are_whole (s : schedule) : Prop :=
  match to_do s with
  | AllToAllV demand => forall a b, amount (chunks s) a b = demanded demand a b
  | _ => forall a b c d, In a (members s) -> In b (targets s a) -> In c (members s) -> In d (targets s c) ->
      amount (chunks s) a b = amount (chunks s) c d
  end.

(** Transfers have numbers of their own. The chunks are those of the collective. Members are endpoints, none named twice, and chunks start and end at members: some
    memory is one in which the schedule may start. *)
Definition well_formed (s : schedule) : Prop :=
  NoDup (map number (transfers s)) /\
  NoDup (members s) /\ (forall n, In n (members s) -> at_place (nodes (net s)) n = Some Endpoint) /\
  (forall k a, In k (chunks s) -> origin k = Alone a \/ due k = Alone a -> In a (members s)) /\
  (forall k, In k (chunks s) -> is_part (to_do s) k = true) /\ blocks_are_whole s.

(** With several buffers data may land early; with one the machine holds them back until they are due. *)
Definition timing_of (s : schedule) : timing := if buffers s =? 1 then Held else Early.

(** A schedule is right: it is for the collective, its transfers have their links, no link is overfilled, and every run, from every
    memory in which it may start, for every commutative and associative operation, ends in each iteration with the results of the
    collective for the contributions to that iteration. *)
Definition right (m : timing) (s : schedule) : Prop :=
  well_formed s /\ well_wired s /\ within_capacity s /\
  forall (V : Type) (add : V -> V -> V),
    (forall a b, add a b = add b a) -> (forall a b c, add a (add b c) = add (add a b) c) ->
    forall (own : N -> N -> N -> V) r start, whole_run m s r ->
      (forall i, i < repeats s -> starts V s (own i) (start i)) ->
      forall i, i < repeats s -> keeps_promise V add s (own i) (fold_left (happen_in V add) r start i).
