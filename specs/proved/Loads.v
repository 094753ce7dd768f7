(** What the checker counts on links bounds what every step puts on them. *)

From Coq Require Import Arith NArith PArith List Bool FMapPositive Lia.
From Proved Require Import Definitions Checker Keys.
Import ListNotations.
Open Scope N_scope.

Lemma below_spec : forall n i, In i (below n) <-> i < n.
Proof.
  intros n. unfold below.
  enough (H : fst (N.iter n (fun p => (N.succ (fst p), fst p :: snd p)) (0, [])) = n /\
    forall i, In i (snd (N.iter n (fun p => (N.succ (fst p), fst p :: snd p)) (0, []))) <-> i < n) by tauto.
  induction n as [|n [IH1 IH2]] using N.peano_ind.
  - simpl. split; auto. intros i. lia.
  - rewrite N.iter_succ. cbn [fst snd In]. rewrite IH1. split; auto. intros i. rewrite IH2. lia.
Qed.

Lemma uses_ext : forall f g t, (forall i, f i = g i) -> uses f t = uses g t.
Proof.
  intros f g t H. unfold uses. destruct (via t) as [route|]; auto.
  induction route as [|l route IH]; simpl; auto. rewrite H, IH. auto.
Qed.

Lemma fold_nested {A B C} : forall (f : A -> C -> A) (g : B -> list C) l a,
  fold_left (fun a x => fold_left f (g x) a) l a = fold_left f (flat_map g l) a.
Proof. induction l as [|x l IH]; intros a; simpl; auto. rewrite fold_left_app. auto. Qed.

Lemma fold_map {A B C} : forall (f : A -> B -> A) (g : C -> B) l a,
  fold_left (fun a x => f a (g x)) l a = fold_left f (map g l) a.
Proof. induction l as [|x l IH]; intros a; simpl; auto. Qed.

Section Loads.
  Variable s : schedule.
  Notation t := (tables_of s).

  Lemma size_at_spec : forall u, size_at t u = size_of s u.
  Proof. intros u. unfold size_at, size_of. change (infos t) with (array (chunks s)). rewrite look_array. auto. Qed.

  Lemma rounds_at_spec : forall q, rounds_at t q = rounds_of s q.
  Proof. intros q. unfold rounds_at, rounds_of. change (lengths t) with (array (rounds s)). rewrite look_array. auto. Qed.

  Lemma limit_spec : forall r, limit t r = capacity (net s) r.
  Proof.
    intros [l|a b].
    - unfold limit, capacity. change (wires t) with (array (links (net s))). rewrite look_array. auto.
    - apply width_between.
  Qed.

  Variable iterations : list N.

  (** What transfer [u] adds to the count of each resource in each step. *)
  Definition counted (u : transfer) : list (positive * N) :=
    map (fun e => (slot_key (fst e) (snd e), size_at t u)) (entries s t iterations u).

  Lemma loads_total : forall k, number_at (loads s t iterations) k = total k (flat_map counted (transfers s)).
  Proof.
    intros k. unfold loads.
    transitivity (number_at (fold_left (fun m e => count m (fst e) (snd e)) (flat_map counted (transfers s))
      (PositiveMap.empty N)) k).
    - f_equal. rewrite <- fold_nested. generalize (PositiveMap.empty N).
      induction (transfers s) as [|u l IH]; intros m; auto. cbn [fold_left]. rewrite IH. f_equal. unfold counted.
      rewrite <- (fold_map (fun m e => count m (fst e) (snd e))). reflexivity.
    - rewrite number_at_counts, number_at_empty. lia.
  Qed.

  Definition times (r : resource) (u : transfer) : N :=
    N.of_nat (length (filter (same_resource r) (uses (at_place (links (net s))) u))).

  Lemma counted_uses : forall u i r, In i iterations ->
    size_of s u * times r u <= total (slot_key (step u + i * period s) r) (counted u).
  Proof.
    intros u i r I. unfold counted, entries. rewrite size_at_spec.
    change (wires t) with (array (links (net s))).
    rewrite (uses_ext (look (array (links (net s)))) (at_place (links (net s)))) by apply look_array.
    fold (times r u). apply in_split in I as (a & b & ->).
    rewrite flat_map_app. cbn [flat_map]. rewrite !map_app, !total_app.
    set (x := total _ _). set (z := total _ (map _ (flat_map _ b))).
    enough (size_of s u * times r u <= total (slot_key (step u + i * period s) r)
      (map (fun e => (slot_key (fst e) (snd e), size_of s u))
        (map (pair (step u + i * period s)) (uses (at_place (links (net s))) u)))) by lia.
    unfold times. clear. induction (uses (at_place (links (net s))) u) as [|y l IH]; [simpl; lia|].
    cbn [map total filter fst snd].
    destruct (same_resource r y) eqn:E.
    - apply same_resource_spec in E as ->. rewrite Pos.eqb_refl. cbn [length]. lia.
    - lia.
  Qed.

  (** If every iteration that shares step [q] is among those counted at step [p], the count at [p] bounds the load at [q]. *)
  Lemma load_bounded : forall q p r,
    (forall u, In u (transfers s) -> is_sent_in s q u = true -> exists i, In i iterations /\ p = step u + i * period s) ->
    load s q r <= number_at (loads s t iterations) (slot_key p r).
  Proof.
    intros q p r H. rewrite loads_total. unfold load.
    induction (transfers s) as [|u l IH]; [simpl; lia|].
    cbn [fold_right flat_map]. rewrite total_app. apply N.add_le_mono; [|apply IH; intros; apply H; simpl; auto].
    destruct (is_sent_in s q u) eqn:E; [|lia].
    destruct (H u (or_introl eq_refl) E) as (i & I & ->). apply (counted_uses u i r I).
  Qed.

  Lemma load_needs_use : forall q r, load s q r <> 0 ->
    exists u, In u (transfers s) /\ is_sent_in s q u = true /\ In r (uses (at_place (links (net s))) u).
  Proof.
    intros q r. unfold load. induction (transfers s) as [|u l IH]; intros H; simpl in H; [lia|].
    destruct (is_sent_in s q u) eqn:E.
    - destruct (filter (same_resource r) (uses (at_place (links (net s))) u)) as [|x f] eqn:F.
      + simpl in H. destruct IH as (v & I & J); [lia|]. exists v. simpl. auto.
      + exists u. simpl. assert (I : In x (x :: f)) by (simpl; auto). rewrite <- F in I.
        apply filter_In in I as [I S]. apply same_resource_spec in S as ->. auto.
    - destruct IH as (v & I & J); [lia|]. exists v. simpl. auto.
  Qed.
End Loads.

(** The step that the checker looks at for step [q]: [q] itself, or one of the last stage. *)
Lemma shown : forall s q, 1 <= period s -> 1 <= repeats s -> exists p, p mod period s = q mod period s /\
  (repeats s = 1 -> p = q) /\
  forall u, In u (transfers s) -> is_sent_in s q u = true -> exists i, In i (shown_iterations s) /\ p = step u + i * period s.
Proof.
  intros s q P R. unfold shown_iterations.
  set (top := fold_left _ _ 0).
  assert (T : forall u, In u (transfers s) -> step u / period s <= top).
  { subst top. assert (H : forall l m u, In u l \/ step u / period s <= m ->
      step u / period s <= fold_left (fun m u => N.max m (step u / period s)) l m).
    { induction l as [|x l IH]; intros m u H; simpl.
      - destruct H as [[]|H]; auto.
      - apply IH. destruct H as [[->|H]|H]; auto; right; lia. }
    intros u I. apply H. auto. }
  assert (Z : period s <> 0) by lia.
  assert (sent : forall u, is_sent_in s q u = true -> exists i, q = step u + i * period s /\ i < repeats s).
  { intros u S. unfold is_sent_in in S. rewrite !andb_true_iff, N.leb_le, N.eqb_eq, N.ltb_lt in S.
    destruct S as [[A B] C]. exists ((q - step u) / period s). split; auto.
    pose proof (N.div_mod (q - step u) (period s) Z). lia. }
  destruct (N.leb_spec (q / period s) top) as [L|L].
  - exists q. repeat split; auto. intros u I S. destruct (sent u S) as (i & E & J). exists i. split; auto.
    apply below_spec. assert (i <= q / period s); [|lia].
    rewrite E, N.div_add by auto. rewrite N.add_comm. apply N.le_add_r.
  - destruct (N.eq_dec (N.min (repeats s) (N.succ top)) (repeats s)) as [M|M].
    + exists q. repeat split; auto. intros u I S. destruct (sent u S) as (i & E & J). exists i. split; auto.
      apply below_spec. lia.
    + exists (top * period s + q mod period s). split; [|split].
      * rewrite N.add_comm, N.mod_add, N.mod_mod by auto. auto.
      * lia.
      * intros u I S. destruct (sent u S) as (i & E & J). specialize (T u I).
        replace (q mod period s) with (step u mod period s) by (rewrite E; symmetry; apply N.mod_add; auto).
        pose proof (N.div_mod (step u) (period s) Z) as D.
        set (d := step u / period s) in *. set (e := step u mod period s) in *. clearbody d e top.
        exists (top - d). split; [apply below_spec; lia|].
        rewrite N.mul_sub_distr_r. assert (d * period s <= top * period s) by (apply N.mul_le_mono_r; auto). lia.
Qed.

Theorem links_sound : forall s, 1 <= period s -> 1 <= repeats s ->
  repeats s = 1 \/ forallb (N.eqb 1) (rounds s) = true -> links_are_right s (tables_of s) = true -> within_capacity s.
Proof.
  intros s P R O H. unfold links_are_right in H. rewrite forallb_forall in H.
  assert (K : forall u, In u (transfers s) ->
    (node (source u) = node (target u) \/ size_of s u <= rounds_of s (step u)) /\
    forall e, In e (entries s (tables_of s) (shown_iterations s) u) ->
      number_at (loads s (tables_of s) (shown_iterations s)) (slot_key (fst e) (snd e)) <=
        capacity (net s) (snd e) * rounds_of s (fst e)).
  { intros u I. specialize (H u I). apply andb_true_iff in H as [A B]. split.
    - apply orb_true_iff in A as [A|A]; [left; apply N.eqb_eq; auto|right].
      rewrite size_at_spec, rounds_at_spec in A. apply N.leb_le. auto.
    - rewrite forallb_forall in B. intros e E. specialize (B e E).
      rewrite limit_spec, rounds_at_spec in B. apply N.leb_le. auto. }
  split.
  - intros q r. destruct (N.eq_dec (load s q r) 0) as [Z|Z]; [lia|].
    destruct (shown s q P R) as (p & M & Q & S).
    etransitivity; [apply load_bounded; apply S|].
    apply load_needs_use in Z as (u & I & A & U).
    destruct (S u I A) as (i & J & E).
    replace (rounds_of s q) with (rounds_of s p).
    + destruct (K u I) as [_ B]. apply (B (p, r)). unfold entries. apply in_flat_map. exists i. split; auto.
      rewrite <- E. apply in_map. change (wires (tables_of s)) with (array (links (net s))).
      rewrite (uses_ext _ (at_place (links (net s)))) by apply look_array. auto.
    + destruct O as [O|O]; [rewrite Q; auto|].
      assert (X : forall q, rounds_of s q = 1).
      { intros y. unfold rounds_of, at_place. destruct (nth_error (rounds s) (N.to_nat y)) as [n|] eqn:F; auto.
        rewrite forallb_forall in O. apply nth_error_In in F. apply O in F. apply N.eqb_eq in F. auto. }
      rewrite !X. auto.
  - intros u I D. destruct (K u I) as [[A|A] _]; [contradiction|auto].
Qed.
