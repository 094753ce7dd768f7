(** [cut_sound] and [partition_sound]: witnesses bound the rounds of every schedule that the checker accepts, whatever its chunks,
    steps, routes, iterations and buffers, and whoever has which share of the message.

    Both say: iterations · what must cross <= capacity of the links that cross · rounds of all steps. *)

From Coq Require Import Arith NArith PArith List Bool Permutation Lia.
From Proved Require Import Definitions Checker Sound Crossings Information.
Import ListNotations.
Open Scope N_scope.

Lemma add_up_places {A} : forall (f : A -> N) l,
  add_up (fun i => match at_place l i with Some x => f x | None => 0 end) (map N.of_nat (seq 0 (length l))) = add_up f l.
Proof.
  intros f l. unfold at_place.
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

Section Needed.
  Variables (s : schedule) (leaves : N -> N -> bool) (needed : chunk -> N).

  (** How often chunk [c] crosses. *)
  Definition crossings (c : N) : N :=
    add_up (fun u => if (of_chunk (source u) =? c) && crosses leaves u then 1 else 0) (transfers s).

  Lemma sizes_cross : (forall c k, at_place (chunks s) c = Some k -> needed k <= crossings c) ->
    add_up (fun k => needed k * size k) (chunks s) <=
    add_up (fun u => if crosses leaves u then size_of s u else 0) (transfers s).
  Proof.
    intros H. rewrite <- add_up_places. set (which := map N.of_nat (seq 0 (length (chunks s)))).
    transitivity (add_up (fun c => add_up (fun u =>
      if (of_chunk (source u) =? c) && crosses leaves u then size_of s u else 0) (transfers s)) which).
    - apply add_up_le. intros c I. destruct (at_place (chunks s) c) as [k|] eqn:K; [|lia].
      etransitivity; [apply N.mul_le_mono_r; apply (H c k K)|]. unfold crossings. rewrite N.mul_comm, <- add_up_times.
      apply add_up_le. intros u _. destruct (N.eqb_spec (of_chunk (source u)) c) as [E|E]; simpl; [|lia].
      destruct (crosses leaves u); [|lia]. unfold size_of. rewrite E, K. lia.
    - rewrite add_up_swap. apply add_up_le. intros u _. cbv beta. destruct (crosses leaves u).
      + apply (add_up_indicator _ _ _ (of_chunk (source u))).
        * subst which. apply FinFun.Injective_map_NoDup; [|apply seq_NoDup]. intros a b. apply Nat2N.inj.
        * intros c _ E. rewrite andb_true_r in E. apply N.eqb_eq in E. auto.
      + assert (Z : add_up (fun c => if (of_chunk (source u) =? c) && false then size_of s u else 0) which <=
          add_up (fun _ => 0) which) by (apply add_up_le; intros; rewrite andb_false_r; lia).
        rewrite add_up_0 in Z. auto.
  Qed.

  Lemma crossings_counted : forall part p c r, (forall a b, leaves a b = p (part a, part b)) -> Permutation (events s) r ->
    N.of_nat (length (filter p (messages part c r))) = crossings c.
  Proof.
    intros part p c r E P.
    assert (Q : Permutation (messages part c (events s)) (messages part c r)) by (apply Permutation_flat_map; auto).
    assert (F : length (filter p (messages part c r)) = length (filter p (messages part c (events s)))).
    { apply Permutation_length. clear -Q. induction Q; simpl; auto.
      - destruct (p x); auto.
      - destruct (p x), (p y); auto. apply perm_swap.
      - etransitivity; eauto. }
    rewrite F. unfold events, messages. rewrite flat_map_app.
    replace (flat_map _ (map Send (transfers s))) with (@nil (N * N)) by (induction (transfers s); auto).
    unfold crossings, crosses. simpl app. clear -E. induction (transfers s) as [|u l IH]; auto.
    cbn [map flat_map]. rewrite filter_app, app_length, Nat2N.inj_add, IH.
    change (add_up ?f (u :: l)) with (f u + add_up f l). f_equal. cbv beta. rewrite E.
    destruct (of_chunk (source u) =? c); simpl; auto. destruct (p _); auto.
  Qed.
End Needed.

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
  destruct (check_form s C) as (_ & P & O & _).
  etransitivity; [|apply (crossings_fit (timing_of s)); auto].
  - apply N.mul_le_mono_l. etransitivity; [|apply (sizes_cross s _ (fun k => if has_to_leave s A k then 1 else 0))].
    + apply add_up_le. intros k _. destruct (has_to_leave s A k); lia.
    + intros c k K. destruct (has_to_leave s A k) eqn:L; [|lia].
      unfold has_to_leave in L. apply andb_true_iff in L as [L M]. apply existsb_exists in L as (a & I & L).
      assert (N : exists n, A n = false /\ is_one_of s (due k) n = true).
      { destruct (due k) as [|n].
        - apply existsb_exists in M as (n & J & M). exists n. split; [apply negb_true_iff; auto|].
          simpl. apply existsb_exists. exists n. rewrite N.eqb_refl. auto.
        - exists n. split; [apply negb_true_iff; auto|]. simpl. apply N.eqb_refl. }
      destruct N as (n & F & U).
      set (part := fun x => if A x then 0 else 1). set (p := fun q : N * N => (fst q =? 0) && negb (snd q =? 0)).
      assert (Z : 0 < repeats s) by lia. destruct (Q 0 Z) as [W _].
      rewrite <- (crossings_counted s (leaves_set A) part p c _) with (2 := W).
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
  - intros a. unfold leaves_set. destruct (A a); auto.
  - intros a b c. unfold leaves_set. destruct (A a), (A b), (A c); simpl; auto.
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

Theorem partition_sound : forall s part parts steps, check s = true -> has_all_steps s steps ->
  NoDup parts -> (forall p, In p parts -> exists a, In a (members s) /\ part a = p) ->
  repeats s * add_up (fun k => crossings_needed (N.of_nat (length parts)) k * size k) (chunks s) <=
  way_out s (parted part) * add_up (rounds_of s) steps.
Proof.
  intros s part parts steps C T D H. pose proof (check_sound s C) as R. destruct (check_has_runs s C) as [r Q].
  destruct (check_form s C) as (_ & P & O & _).
  etransitivity; [|apply (crossings_fit (timing_of s)); auto].
  - apply N.mul_le_mono_l. apply sizes_cross. intros c k K.
    assert (Z : 0 < repeats s) by lia. destruct (Q 0 Z) as [W _].
    rewrite <- (crossings_counted s (parted part) part differ c _) with (2 := W); [|intros; reflexivity].
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
  - intros a. unfold parted. rewrite N.eqb_refl. auto.
  - intros a b c. unfold parted. destruct (N.eqb_spec (part a) (part c)), (N.eqb_spec (part a) (part b)),
      (N.eqb_spec (part b) (part c)); simpl; auto. congruence.
Qed.

Print Assumptions cut_sound.
Print Assumptions partition_sound.
