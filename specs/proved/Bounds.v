(** [cut_sound], [partition_sound] and [metric_sound]: witnesses bound the rounds of every schedule that the checker accepts,
    whatever its chunks, steps, routes, iterations and buffers, and whoever has which share of the message.

    Each says: iterations · how far data must go <= what the links offer · rounds of all steps. For cuts and partitions nodes that are
    told apart have the distance 1, others 0. *)

From Coq Require Import Arith NArith PArith List Bool Permutation Lia.
From Proved Require Import Definitions Checker Sound Distances Information.
Import ListNotations.
Open Scope N_scope.

Definition up_to (n : nat) : list N := map N.of_nat (seq 0 n).

Lemma add_up_places {A} : forall (f : A -> N) l,
  add_up (fun i => match at_place l i with Some x => f x | None => 0 end) (up_to (length l)) = add_up f l.
Proof.
  intros f l. unfold at_place, up_to.
  assert (H : forall k, add_up (fun i => match nth_error l (N.to_nat i) with Some x => f x | None => 0 end) (map N.of_nat k) =
    add_up (fun i => match nth_error l i with Some x => f x | None => 0 end) k).
  { induction k as [|i k IH]; auto. cbn [map add_up fold_right]. rewrite Nat2N.id. unfold add_up in IH. rewrite IH. auto. }
  rewrite H. clear H. induction l as [|x l IH]; auto.
  change (seq 0 (length (x :: l))) with (0%nat :: seq 1 (length l)). rewrite <- seq_shift.
  change (f x + add_up (fun i => match nth_error (x :: l) i with Some y => f y | None => 0 end) (map S (seq 0 (length l))) =
    f x + add_up f l).
  f_equal. rewrite <- IH. generalize (seq 0 (length l)). clear.
  induction l0 as [|i k IH]; auto. cbn [map fold_right add_up nth_error]. unfold add_up in *. rewrite IH. auto.
Qed.

Lemma add_up_permutation {A} : forall (f : A -> N) l k, Permutation l k -> add_up f l = add_up f k.
Proof.
  intros f l k P. induction P as [|x l k P IH|x y l|l k n P IH Q IH']; auto; [|cbn [add_up fold_right]; lia|congruence].
  cbn [add_up fold_right]. unfold add_up in IH. rewrite IH. auto.
Qed.

Lemma add_up_app {A} : forall (f : A -> N) l k, add_up f (l ++ k) = add_up f l + add_up f k.
Proof. intros f l k. induction l as [|x l IH]; auto. cbn [app add_up fold_right]. unfold add_up in *. lia. Qed.

Section Needed.
  Variables (s : schedule) (far : N -> N -> N) (needed : chunk -> N).

  (** How far the transfers of chunk [c] bring it, in all. *)
  Definition goes (c : N) : N := add_up (fun u => if of_chunk (source u) =? c then distance far u else 0) (transfers s).

  Lemma sizes_go : (forall c k, at_place (chunks s) c = Some k -> needed k <= goes c) ->
    add_up (fun k => needed k * size k) (chunks s) <= add_up (fun u => distance far u * size_of s u) (transfers s).
  Proof.
    intros H. rewrite <- add_up_places. set (which := up_to (length (chunks s))).
    transitivity (add_up (fun c => add_up (fun u =>
      if of_chunk (source u) =? c then distance far u * size_of s u else 0) (transfers s)) which).
    - apply add_up_le. intros c I. destruct (at_place (chunks s) c) as [k|] eqn:K; [|lia].
      etransitivity; [apply N.mul_le_mono_r; apply (H c k K)|]. unfold goes. rewrite N.mul_comm, <- add_up_times.
      apply add_up_le. intros u _. destruct (N.eqb_spec (of_chunk (source u)) c) as [E|E]; [|lia].
      unfold size_of. rewrite E, K. lia.
    - rewrite add_up_swap. apply add_up_le. intros u _. cbv beta. apply (add_up_indicator _ _ _ (of_chunk (source u))).
      + subst which. apply FinFun.Injective_map_NoDup; [|apply seq_NoDup]. intros a b. apply Nat2N.inj.
      + intros c _ E. apply N.eqb_eq in E. auto.
  Qed.

  (** Where distances depend on parts alone, messages between parts show how far a chunk goes. *)
  Lemma messages_go : forall part f c r, (forall a b, far a b = f (part a, part b)) -> Permutation (events s) r ->
    add_up f (messages part c r) = goes c.
  Proof.
    intros part f c r E P. rewrite <- (add_up_permutation f (messages part c (events s))) by (apply Permutation_flat_map; auto).
    unfold events, messages. rewrite flat_map_app.
    replace (flat_map _ (map Send (transfers s))) with (@nil (N * N)) by (induction (transfers s); auto).
    unfold goes. simpl app. clear -E. induction (transfers s) as [|u l IH]; auto.
    cbn [map flat_map]. rewrite add_up_app, IH. cbn [add_up fold_right]. f_equal. unfold distance. rewrite E.
    destruct (of_chunk (source u) =? c); cbn; lia.
  Qed.
End Needed.

(** Distances that tell nodes apart, or not. *)
Definition apart (p : N -> N -> bool) (a b : N) : N := if p a b then 1 else 0.

Lemma goes_apart : forall s leaves part p c r, (forall a b, leaves a b = p (part a, part b)) -> Permutation (events s) r ->
  N.of_nat (length (filter p (messages part c r))) = goes s (apart leaves) c.
Proof.
  intros s leaves part p c r E P. rewrite <- (messages_go s (apart leaves) part (fun q => if p q then 1 else 0) c r); auto.
  - generalize (messages part c r). induction l as [|q l IH]; auto. cbn [filter add_up fold_right]. unfold add_up in IH.
    rewrite <- IH. destruct (p q); cbn [length]; lia.
  - intros a b. unfold apart. rewrite E. auto.
Qed.

(** The capacity of the links between nodes that are told apart. *)
Definition way_out (s : schedule) (leaves : N -> N -> bool) : N :=
  add_up (fun k => if leaves (tail k) (head k) then width k else 0) (links (net s)).

Lemma offered_apart : forall s leaves, offered s (apart leaves) = way_out s leaves.
Proof.
  intros s leaves. unfold offered, way_out, apart. induction (links (net s)) as [|k l IH]; auto.
  cbn [add_up fold_right]. unfold add_up in IH. rewrite IH. destruct (leaves _ _); lia.
Qed.

(** Iterations, times how far their chunks must go, fit into what the links offer in all steps. *)
Lemma needed_fits : forall s far needed steps, check s = true -> has_all_steps s steps -> (forall a, far a a = 0) ->
  (forall a b c, far a c <= far a b + far b c) -> (forall c k, at_place (chunks s) c = Some k -> needed k <= goes s far c) ->
  repeats s * add_up (fun k => needed k * size k) (chunks s) <= offered s far * add_up (rounds_of s) steps.
Proof.
  intros s far needed steps C T Z H G. destruct (check_form s C) as (_ & P & _).
  etransitivity; [|apply (distances_fit (timing_of s)); auto using check_sound].
  apply N.mul_le_mono_l. apply sizes_go. auto.
Qed.

Definition contributors (s : schedule) (k : chunk) : list N := Information.contributors s k.

(** * Cuts *)

Definition leaves_set (A : N -> bool) (a b : N) : bool := A a && negb (A b).

(** Whether something of the chunk starts in the set, and it is due outside. *)
Definition has_to_leave (s : schedule) (A : N -> bool) (k : chunk) : bool :=
  existsb A (contributors s k) &&
  match due k with Everyone => existsb (fun n => negb (A n)) (members s) | Alone n => negb (A n) end.

Theorem cut_sound : forall s A steps, check s = true -> has_all_steps s steps ->
  repeats s * add_up (fun k => if has_to_leave s A k then size k else 0) (chunks s) <=
  way_out s (leaves_set A) * add_up (rounds_of s) steps.
Proof.
  intros s A steps C T. pose proof (check_sound s C) as R. destruct (check_has_runs s C) as [r Q].
  destruct (check_form s C) as (_ & P & O & _). rewrite <- offered_apart.
  etransitivity; [|apply (needed_fits s _ (fun k => if has_to_leave s A k then 1 else 0)); auto].
  - apply N.mul_le_mono_l. apply add_up_le. intros k _. destruct (has_to_leave s A k); lia.
  - intros a. unfold apart, leaves_set. destruct (A a); cbn; lia.
  - intros a b c. unfold apart, leaves_set. destruct (A a), (A b), (A c); cbn; lia.
  - intros c k K. destruct (has_to_leave s A k) eqn:L; [|lia].
      unfold has_to_leave in L. apply andb_true_iff in L as [L M]. apply existsb_exists in L as (a & I & L).
      assert (N : exists n, A n = false /\ is_one_of s (due k) n = true).
      { destruct (due k) as [|n].
        - apply existsb_exists in M as (n & J & M). exists n. split; [apply negb_true_iff; auto|].
          simpl. apply existsb_exists. exists n. rewrite N.eqb_refl. auto.
        - exists n. split; [apply negb_true_iff; auto|]. simpl. apply N.eqb_refl. }
      destruct N as (n & F & U).
      set (part := fun x => if A x then 0 else 1). set (p := fun q : N * N => (fst q =? 0) && negb (snd q =? 0)).
      assert (Z : 0 < repeats s) by lia. destruct (Q 0 Z) as [W _].
      rewrite <- (goes_apart s (leaves_set A) part p c _) with (2 := W).
      * pose proof (all_heard (timing_of s) s part R r c k a n Q O K I U) as H.
        replace (part n) with 1 in H by (subst part; simpl; rewrite F; auto).
        replace (part a) with 0 in H by (subst part; simpl; rewrite L; auto).
        destruct (is_heard_by_others (messages part c (of_iteration 0 r)) at_first 1 0) as (q & J & D & E); auto;
          [intros x X; apply N.eqb_eq in X; auto|lia|].
        assert (X : In q (filter p (messages part c (of_iteration 0 r)))).
        { apply filter_In. split; auto. subst p. simpl. rewrite E. simpl. unfold differ in D. rewrite E in D.
          rewrite N.eqb_sym. auto. }
        destruct (filter p _); [destruct X|]. simpl length. lia.
      * intros x y. unfold leaves_set. subst part p. simpl. destruct (A x), (A y); auto.
Qed.

(** * Partitions *)

Definition parted (part : N -> N) (a b : N) : bool := negb (part a =? part b).

(** How often a chunk crosses between [p] parts, each with a member, at least: sums go to one part and results to the others. *)
Definition crossings_needed (p : N) (k : chunk) : N :=
  match origin k, due k with
  | Everyone, Everyone => 2 * (p - 1)
  | Everyone, Alone _ | Alone _, Everyone => p - 1
  | Alone _, Alone _ => 0
  end.

Lemma parts_need : forall s part parts c k, check s = true -> at_place (chunks s) c = Some k ->
  NoDup parts -> (forall p, In p parts -> exists a, In a (members s) /\ part a = p) ->
  crossings_needed (N.of_nat (length parts)) k <= goes s (apart (parted part)) c.
Proof.
  intros s part parts c k C K D H. pose proof (check_sound s C) as R. destruct (check_has_runs s C) as [r Q].
  destruct (check_form s C) as (_ & P & O & _).
  assert (Z : 0 < repeats s) by lia. destruct (Q 0 Z) as [W _].
  rewrite <- (goes_apart s (parted part) part differ c _) with (2 := W); [|intros; reflexivity].
  fold (between (messages part c (of_iteration 0 r))).
  pose proof (fun a n => all_heard (timing_of s) s part R r c k a n Q O K) as G.
  unfold Information.contributors in G. unfold crossings_needed.
  assert (member : forall a, In a (members s) -> is_one_of s Everyone a = true).
  { intros a I. simpl. apply existsb_exists. exists a. rewrite N.eqb_refl. auto. }
  assert (B : forall b, NoDup (remove N.eq_dec b parts) /\
    (length parts <= S (length (remove N.eq_dec b parts)))%nat).
  { intros b. clear -D. induction D as [|x l X D [IH1 IH2]]; simpl; [split; [constructor|lia]|].
    destruct (N.eq_dec b x) as [->|E].
    - split; auto. rewrite notin_remove by auto. lia.
    - split; [|simpl; lia]. constructor; auto. intros Y. apply in_remove in Y as [Y _]. auto. }
  destruct (origin k) as [|a], (due k) as [|n]; try lia.
  + assert (E : (2 * pred (length parts) <= between (messages part c (of_iteration 0 r)))%nat); [|lia].
    apply exchange; auto. intros j i J I. destruct (H j J) as (n & N & <-). destruct (H i I) as (a & A & <-).
    apply G; auto.
  + destruct (B (part n)) as [B1 B2].
    assert (E : (length (remove N.eq_dec (part n) parts) <= between (messages part c (of_iteration 0 r)))%nat); [|lia].
    apply many_sources; auto. intros i I. apply in_remove in I as [I X]. destruct (H i I) as (a & A & <-).
    apply (is_heard_by_others _ at_first (part n) (part a)); auto; [intros x Y; apply N.eqb_eq in Y; auto|].
    apply G; auto. simpl. apply N.eqb_refl.
  + destruct (B (part a)) as [B1 B2].
    assert (E : (length (remove N.eq_dec (part a) parts) <= between (messages part c (of_iteration 0 r)))%nat); [|lia].
    apply many_targets; auto. intros j J. apply in_remove in J as [J X]. destruct (H j J) as (n & N & <-).
    apply (hears_from_others _ at_first (part n) (part a)); [apply N.eqb_neq; auto|].
    apply G; simpl; auto. apply member in N. auto.
Qed.

Lemma parted_shortest : forall part a b c, apart (parted part) a c <= apart (parted part) a b + apart (parted part) b c.
Proof.
  intros part a b c. unfold apart, parted. destruct (N.eqb_spec (part a) (part c)), (N.eqb_spec (part a) (part b)),
    (N.eqb_spec (part b) (part c)); cbn; lia.
Qed.

Theorem partition_sound : forall s part parts steps, check s = true -> has_all_steps s steps ->
  NoDup parts -> (forall p, In p parts -> exists a, In a (members s) /\ part a = p) ->
  repeats s * add_up (fun k => crossings_needed (N.of_nat (length parts)) k * size k) (chunks s) <=
  way_out s (parted part) * add_up (rounds_of s) steps.
Proof.
  intros s part parts steps C T D H. rewrite <- offered_apart. apply needed_fits; auto.
  - intros a. unfold apart, parted. rewrite N.eqb_refl. auto.
  - apply parted_shortest.
  - intros. apply parts_need; auto.
Qed.

(** * Lengths of links *)

(** Whether a node has cells: it is an endpoint, or a switch that reduces. *)
Definition may_hold (s : schedule) : N -> bool := holds (at_place (nodes (net s))).

Lemma ends_hold : forall s u, check s = true -> In u (transfers s) ->
  may_hold s (node (source u)) = true /\ may_hold s (node (target u)) = true.
Proof.
  intros s u C I. destruct (check_sound s C) as (_ & W & _). destruct (W u I) as [H _]. unfold is_wired in H.
  assert (cells : forall f b d, is_cell f b d = true -> holds f (node d) = true).
  { intros f b d E. unfold is_cell in E. unfold holds. destruct (f (node d)) as [[]|]; auto. }
  destruct (source u) as [a x c], (target u) as [b y d]. rewrite !andb_true_iff in H. destruct H as [[[H G] _] _].
  split; [apply cells in H|apply cells in G]; auto.
Qed.

(** A chunk with one source and one target goes from one to the other. Of others count, for each [t] below [levels], the parts that
    the nodes fall into which no distance of up to [t] joins. *)
Definition length_needed (far : N -> N -> N) (parts : N -> list N) (levels : nat) (k : chunk) : N :=
  match origin k, due k with
  | Alone a, Alone b => far a b
  | _, _ => add_up (fun t => crossings_needed (N.of_nat (length (parts t))) k) (up_to levels)
  end.

(** A message brings what it carries as far as its own distance. *)
Lemma heard_goes : forall far, (forall a b c, far a c <= far a b + far b c) -> forall l k base,
  (forall j i, k j i = true -> far i j <= base) ->
  forall j i, fold_left tell l k j i = true -> far i j <= base + add_up (fun p => far (fst p) (snd p)) l.
Proof.
  intros far H. induction l as [|p l IH]; intros k base B j i F; cbn [fold_left add_up fold_right] in *; [apply B in F; lia|].
  rewrite N.add_assoc. apply (IH (tell k p)); auto. intros y x E. cbv beta. unfold tell in E. apply orb_true_iff in E as [E|E].
  - apply B in E. lia.
  - apply andb_true_iff in E as [E F']. apply N.eqb_eq in E as ->. apply B in F'. specialize (H x (fst p) (snd p)). lia.
Qed.

Lemma count_below : forall (p : N -> bool) d n, (forall t, t < N.of_nat n -> p t = true -> t < d) ->
  add_up (fun t => if p t then 1 else 0) (up_to n) <= N.min d (N.of_nat n).
Proof.
  intros p d. unfold up_to. induction n as [|n IH]; intros H; [cbn; lia|].
  rewrite seq_S, map_app, add_up_app. cbn [map Nat.add]. change (add_up ?f [?x]) with (f x + 0). cbv beta.
  assert (I : forall t, t < N.of_nat n -> p t = true -> t < d) by (intros t L; apply H; lia). apply IH in I.
  destruct (p (N.of_nat n)) eqn:E; [|lia]. apply H in E; lia.
Qed.

Theorem metric_sound : forall s far long part parts levels steps, check s = true -> has_all_steps s steps ->
  (forall a, far a a = 0) -> (forall a b c, far a c <= far a b + far b c) ->
  Forall2 (fun k length => far (tail k) (head k) <= length) (links (net s)) long ->
  (forall t, t < N.of_nat levels -> NoDup (parts t) /\
    forall p, In p (parts t) -> exists a, In a (members s) /\ part t a = p) ->
  (forall t a b, t < N.of_nat levels -> may_hold s a = true -> may_hold s b = true -> part t a <> part t b -> t < far a b) ->
  repeats s * add_up (fun k => length_needed far parts levels k * size k) (chunks s) <=
  add_up (fun p => width (fst p) * snd p) (combine (links (net s)) long) * add_up (rounds_of s) steps.
Proof.
  intros s far long part parts levels steps C T Z H L D F. pose proof (check_sound s C) as R.
  destruct (check_has_runs s C) as [r Q]. destruct (check_form s C) as (_ & P & O & _).
  transitivity (offered s far * add_up (rounds_of s) steps).
  - apply needed_fits; auto. intros c k K.
    assert (linked : add_up (fun t => crossings_needed (N.of_nat (length (parts t))) k) (up_to levels) <= goes s far c).
    { transitivity (add_up (fun t => goes s (apart (parted (part t))) c) (up_to levels)).
      - apply add_up_le. intros t I. apply in_map_iff in I as (n & <- & I). apply in_seq in I.
        destruct (D (N.of_nat n)) as [D1 D2]; [lia|]. apply parts_need; auto.
      - unfold goes. rewrite add_up_swap. apply add_up_le. intros u I. cbv beta.
        destruct (of_chunk (source u) =? c); [|rewrite add_up_0; lia].
        assert (V : add_up (fun t => if parted (part t) (node (source u)) (node (target u)) then 1 else 0) (up_to levels) <=
          N.min (distance far u) (N.of_nat levels)).
        { apply count_below. intros t J E. apply F; auto.
          - apply (ends_hold s u); auto.
          - apply (ends_hold s u); auto.
          - unfold parted in E. apply negb_true_iff, N.eqb_neq in E. auto. }
        etransitivity; [|apply N.le_min_l with (m := N.of_nat levels)]. exact V. }
    unfold length_needed. destruct (origin k) as [|a] eqn:A; [exact linked|]. destruct (due k) as [|b] eqn:B; [exact linked|].
    assert (Y : 0 < repeats s) by lia. destruct (Q 0 Y) as [W _].
    rewrite <- (messages_go s far (fun x => x) (fun p => far (fst p) (snd p)) c _) with (2 := W); [|auto].
    apply (heard_goes far H _ at_first 0); [intros j i E; apply N.eqb_eq in E as ->; rewrite Z; lia|].
    apply (all_heard (timing_of s) s (fun x => x) R r c k a b Q); auto.
    + unfold Information.contributors. rewrite A. simpl. auto.
    + rewrite B. simpl. apply N.eqb_refl.
  - apply N.mul_le_mono_r. unfold offered. clear -L. induction L as [|k d l ds E L IH]; [cbn; lia|].
    cbn [combine add_up fold_right fst snd]. unfold add_up in IH. rewrite (N.mul_comm (width k)).
    apply N.add_le_mono; auto. apply N.mul_le_mono_r. auto.
Qed.

Print Assumptions cut_sound.
Print Assumptions partition_sound.
Print Assumptions metric_sound.
