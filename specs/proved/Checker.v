(** The executable checker, to be extracted. [check_sound] in Sound.v says what its answer implies.

    Tables are binary tries ([PositiveMap]), sets of contributions are bit vectors ([N]). Loops over transfers are tail recursive. *)

From Coq Require Import NArith PArith List Bool FMapPositive.
From Proved Require Import Definitions.
Import ListNotations.
Open Scope N_scope.

Notation table := PositiveMap.t.

(** * Keys *)

(** One number for two: each bit of the first behind a 0, then a 1, then the second. *)
Fixpoint pair_key (a b : positive) : positive :=
  match a with
  | xO c => xO (xO (pair_key c b))
  | xI c => xO (xI (pair_key c b))
  | xH => xI b
  end.

Definition key (a b : N) : positive := pair_key (N.succ_pos a) (N.succ_pos b).

Definition cell_key (c : cell) : positive := pair_key (N.succ_pos (node c)) (key (buffer c) (of_chunk c)).

Definition resource_key (r : resource) : positive :=
  match r with One l => xO (N.succ_pos l) | Between a b => xI (key a b) end.

Definition slot_key (q : N) (r : resource) : positive := pair_key (N.succ_pos q) (resource_key r).

(** * Tables *)

Fixpoint array_from {A} (i : positive) (l : list A) (m : table A) : table A :=
  match l with [] => m | x :: rest => array_from (Pos.succ i) rest (PositiveMap.add i x m) end.

Definition array {A} (l : list A) : table A := array_from 1 l (PositiveMap.empty A).
Definition look {A} (m : table A) (i : N) : option A := PositiveMap.find (N.succ_pos i) m.
Definition number_at (m : table N) (k : positive) : N := match PositiveMap.find k m with Some n => n | None => 0 end.
Definition count (m : table N) (k : positive) (n : N) : table N := PositiveMap.add k (n + number_at m k) m.

(** What the checker looks up, made once. *)
Record tables := Tables {
  kinds : table kind; wires : table link; widths : table N; infos : table chunk; lengths : table N; takes_part : table unit }.

Definition tables_of (s : schedule) : tables := Tables
  (array (nodes (net s))) (array (links (net s)))
  (fold_left (fun m k => count m (key (tail k) (head k)) (width k)) (links (net s)) (PositiveMap.empty N))
  (array (chunks s)) (array (rounds s))
  (fold_left (fun m n => PositiveMap.add (N.succ_pos n) tt m) (members s) (PositiveMap.empty unit)).

(** * Form: members, chunks, numbers of transfers *)

Fixpoint is_rising (from : N) (l : list N) : bool :=
  match l with [] => true | n :: rest => (from <=? n) && is_rising (N.succ n) rest end.

Definition is_member (t : tables) (n : N) : bool :=
  match look (takes_part t) n with Some _ => true | None => false end.

Definition is_place (t : tables) (p : place) : bool := match p with Everyone => true | Alone a => is_member t a end.

(** What goes from each source to each target. *)
Definition amounts (l : list chunk) : table N :=
  fold_left (fun m k => match origin k, due k with Alone a, Alone b => count m (key a b) (size k) | _, _ => m end)
    l (PositiveMap.empty N).

Definition demands (l : list (N * N * N)) : table N :=
  fold_left (fun m row => count m (key (fst (fst row)) (snd (fst row))) (snd row)) l (PositiveMap.empty N).

Definition blocks_are_right (s : schedule) : bool :=
  let m := amounts (chunks s) in
  match to_do s with
  | AllToAllV demand =>
      let d := demands demand in
      let agrees k := number_at m k =? number_at d k in
      forallb (fun k => match origin k, due k with Alone a, Alone b => agrees (key a b) | _, _ => true end) (chunks s) &&
      forallb (fun row => agrees (key (fst (fst row)) (snd (fst row)))) demand
  | AllToAll | Gather _ | Scatter _ =>
      match chunks s with
      | [] => false
      | first :: _ =>
          let same := match origin first, due first with Alone a, Alone b => number_at m (key a b) | _, _ => 0 end in
          forallb (fun a => forallb (fun b => number_at m (key a b) =? same) (targets s a)) (members s)
      end
  | _ => true
  end.

Definition form_is_right (s : schedule) (t : tables) : bool :=
  (1 <=? delay s) && (1 <=? period s) && (1 <=? repeats s) &&
  ((repeats s =? 1) || forallb (N.eqb 1) (rounds s)) &&
  is_rising 0 (members s) &&
  forallb (fun n => match look (kinds t) n with Some Endpoint => true | _ => false end) (members s) &&
  forallb (fun k => is_place t (origin k) && is_place t (due k) && is_part (to_do s) k) (chunks s) &&
  blocks_are_right s &&
  is_rising 0 (map (fun t => N.pos (number t)) (transfers s)).

(** * Wiring *)

Definition wiring_is_right (s : schedule) (t : tables) : bool :=
  let is_direct := negb (existsb is_switch (nodes (net s))) in
  forallb (fun u =>
    is_wired (look (kinds t)) (look (wires t)) (fun a b => number_at (widths t) (key a b)) is_direct (buffers s) u &&
    match look (infos t) (of_chunk (source u)) with Some _ => true | None => false end) (transfers s).

(** * Links *)

Definition limit (t : tables) (r : resource) : N :=
  match r with
  | One l => match look (wires t) l with Some k => width k | None => 0 end
  | Between a b => number_at (widths t) (key a b)
  end.

Definition rounds_at (t : tables) (q : N) : N := match look (lengths t) q with Some r => r | None => 1 end.

Definition size_at (t : tables) (u : transfer) : N :=
  match look (infos t) (of_chunk (source u)) with Some c => size c | None => 0 end.

(** The numbers below [n], the largest first. *)
Definition below (n : N) : list N := snd (N.iter n (fun p => (N.succ (fst p), fst p :: snd p)) (0, [])).

(** As many iterations as show all overlaps: all of them, or one for each stage (step / period). *)
Definition shown_iterations (s : schedule) : list N :=
  below (N.min (repeats s) (N.succ (fold_left (fun m u => N.max m (step u / period s)) (transfers s) 0))).

(** The resources that a transfer takes in these iterations, each with its step. *)
Definition entries (s : schedule) (t : tables) (iterations : list N) (u : transfer) : list (N * resource) :=
  flat_map (fun i => map (pair (step u + i * period s)) (uses (look (wires t)) u)) iterations.

Definition loads (s : schedule) (t : tables) (iterations : list N) : table N :=
  fold_left (fun m u => fold_left (fun m e => count m (slot_key (fst e) (snd e)) (size_at t u)) (entries s t iterations u) m)
    (transfers s) (PositiveMap.empty N).

Definition links_are_right (s : schedule) (t : tables) : bool :=
  let iterations := shown_iterations s in
  let m := loads s t iterations in
  forallb (fun u =>
    ((node (source u) =? node (target u)) || (size_at t u <=? rounds_at t (step u))) &&
    forallb (fun e => number_at m (slot_key (fst e) (snd e)) <=? limit t (snd e) * rounds_at t (fst e))
      (entries s t iterations u)) (transfers s).

(** * Events in the order of their moments: what lands in a step before what is sent in it *)

Section Walk.
  Variables (S : Type) (f : S -> event -> option S) (d : N).

  Fixpoint follow (l : list event) (state : S) : option S :=
    match l with [] => Some state | e :: rest => match f state e with Some next => follow rest next | None => None end end.

  (** [follow] on the events of transfers that are still to be sent, and of those that are still to land. *)
  Fixpoint walk (sent : list transfer) : list transfer -> S -> option S :=
    fix land (landed : list transfer) (state : S) : option S :=
      match sent, landed with
      | [], [] => Some state
      | [], u :: rest => match f state (Land u) with Some next => land rest next | None => None end
      | t :: later, [] => match f state (Send t) with Some next => walk later [] next | None => None end
      | t :: later, u :: rest =>
          if step u + d <=? step t
          then match f state (Land u) with Some next => land rest next | None => None end
          else match f state (Send t) with Some next => walk later landed next | None => None end
      end.
End Walk.

(** Events come in the order of their moments. *)
Definition moment (d : N) (e : event) : N :=
  match e with Send t => 2 * step t + 1 | Land t => 2 * (step t + d) end.

Definition tick (d : N) (clock : N) (e : event) : option N :=
  if clock <=? moment d e then Some (moment d e) else None.

(** * Transfers apart: nothing depends on the order of what may change places *)

(** By cell: the last step in which something is sent from it; until when nothing, and until when no copy, was sent into it. *)
Record marks := Marks { sent_from : table N; any_until : table N; copy_until : table N }.

Definition mark (m : timing) (d : N) (k : marks) (e : event) : option marks :=
  match e with
  | Send t =>
      let c := cell_key (source t) in
      Some (Marks (PositiveMap.add c (N.max (number_at (sent_from k) c) (step t)) (sent_from k)) (any_until k) (copy_until k))
  | Land t =>
      let c := cell_key (target t) in
      let until := step t + match m with Held => 1 | Early => d end in
      if match m with Held => true | Early => number_at (sent_from k) c <=? step t end &&
         (number_at (match op t with Copy => any_until k | Reduce => copy_until k end) c <=? step t)
      then Some (Marks (sent_from k)
             (PositiveMap.add c (N.max (number_at (any_until k) c) until) (any_until k))
             (match op t with
              | Copy => PositiveMap.add c (N.max (number_at (copy_until k) c) until) (copy_until k)
              | Reduce => copy_until k
              end))
      else None
  end.

(** * Contents: sets of contributions *)

Definition initial (t : tables) (c : cell) : N :=
  match look (infos t) (of_chunk c) with
  | Some k =>
      if buffer c =? 0
      then match origin k with
           | Everyone => if is_member t (node c) then N.setbit 0 (node c) else 0
           | Alone a => if node c =? a then 1 else 0
           end
      else 0
  | None => 0
  end.

(** By cell the set that it holds, where that has changed; by number of a transfer the set in flight. *)
Record contents := Contents { sets : table N; flying : table N }.

Definition content (t : tables) (m : table N) (c : cell) : N :=
  match PositiveMap.find (cell_key c) m with Some x => x | None => initial t c end.

Definition is_accumulator (t : tables) (c : cell) : bool :=
  match look (kinds t) (node c) with Some Reducing => true | _ => false end.

Definition carry (t : tables) (m : contents) (e : event) : option contents :=
  match e with
  | Send u =>
      let x := content t (sets m) (source u) in
      if x =? 0 then None else Some (Contents (sets m) (PositiveMap.add (number u) x (flying m)))
  | Land u =>
      match PositiveMap.find (number u) (flying m) with
      | None => None
      | Some x =>
          let rest := PositiveMap.remove (number u) (flying m) in
          let c := cell_key (target u) in
          match op u with
          | Copy => Some (Contents (PositiveMap.add c x (sets m)) rest)
          | Reduce =>
              let y := content t (sets m) (target u) in
              if (N.land y x =? 0) && (negb (y =? 0) || is_accumulator t (target u))
              then Some (Contents (PositiveMap.add c (N.lor y x) (sets m)) rest)
              else None
          end
      end
  end.

Definition full (s : schedule) (p : place) : N :=
  match p with Everyone => fold_left N.setbit (members s) 0 | Alone _ => 1 end.

Fixpoint is_finished (s : schedule) (t : tables) (everyone : N) (m : table N) (c : N) (l : list chunk) : bool :=
  match l with
  | [] => true
  | k :: rest =>
      let all := match origin k with Everyone => everyone | Alone _ => 1 end in
      match due k with
      | Everyone => forallb (fun n => content t m (Cell n 0 c) =? all) (members s)
      | Alone a => content t m (Cell a 0 c) =? all
      end && is_finished s t everyone m (N.succ c) rest
  end.

Definition starts_everywhere (k : chunk) : bool := match origin k with Everyone => true | Alone _ => false end.

Definition contents_are_right (s : schedule) (t : tables) : bool :=
  match walk contents (carry t) (delay s) (transfers s) (transfers s)
          (Contents (PositiveMap.empty N) (PositiveMap.empty N)) with
  | Some m =>
      (* a set of all members takes time; without chunks that start everywhere it is not asked for *)
      is_finished s t (if existsb starts_everywhere (chunks s) then full s Everyone else 1) (sets m) 0 (chunks s)
  | None => false
  end.

Definition is_some {A} (x : option A) : bool := match x with Some _ => true | None => false end.

(** * The checker *)

Definition order_is_right (m : timing) (s : schedule) : bool :=
  is_some (walk N (tick (delay s)) (delay s) (transfers s) (transfers s) 0) &&
  is_some (walk marks (mark m (delay s)) (delay s) (transfers s) (transfers s)
    (Marks (PositiveMap.empty N) (PositiveMap.empty N) (PositiveMap.empty N))).

Definition check_at (m : timing) (s : schedule) : bool :=
  let t := tables_of s in
  form_is_right s t && wiring_is_right s t && links_are_right s t && order_is_right m s && contents_are_right s t.

Definition check (s : schedule) : bool := check_at (timing_of s) s.
