(** What crosses between nodes that some relation tells apart fits through the links that cross, in every right schedule. *)

From Coq Require Import Arith NArith PArith List Bool Permutation FinFun Lia.
From Proved Require Import Definitions.
Import ListNotations.
Open Scope N_scope.

Definition add_up {A} (f : A -> N) (l : list A) : N := fold_right (fun x sum => f x + sum) 0 l.

Lemma add_up_le {A} : forall (f g : A -> N) l, (forall x, In x l -> f x <= g x) -> add_up f l <= add_up g l.
Proof.
  induction l as [|x l IH]; intros H; cbn [add_up fold_right]; [lia|].
  apply N.add_le_mono; [apply H; simpl; auto|apply IH; intros; apply H; simpl; auto].
Qed.

Lemma add_up_plus {A} : forall (f g : A -> N) l, add_up (fun x => f x + g x) l = add_up f l + add_up g l.
Proof. induction l as [|x l IH]; cbn [add_up fold_right]; [lia|]. unfold add_up in *. lia. Qed.

Lemma add_up_0 {A} : forall (l : list A), add_up (fun _ => 0) l = 0.
Proof. induction l as [|x l IH]; auto. Qed.

Lemma add_up_times {A} : forall c (f : A -> N) l, add_up (fun x => c * f x) l = c * add_up f l.
Proof. induction l as [|x l IH]; cbn [add_up fold_right]; [lia|]. unfold add_up in *. lia. Qed.

Lemma add_up_swap {A B} : forall (f : A -> B -> N) l k,
  add_up (fun x => add_up (f x) k) l = add_up (fun y => add_up (fun x => f x y) l) k.
Proof.
  induction l as [|x l IH]; intros k.
  - symmetry. apply add_up_0.
  - cbn [add_up fold_right]. fold (add_up (fun x => add_up (f x) k) l). rewrite IH. symmetry.
    apply (add_up_plus (f x) (fun y => add_up (fun x => f x y) l)).
Qed.

Lemma add_up_one {A} : forall (f : A -> N) l x, In x l -> f x <= add_up f l.
Proof.
  induction l as [|y l IH]; intros x H; [destruct H|]. destruct H as [->|H]; cbn [add_up fold_right]; [lia|].
  apply IH in H. unfold add_up in H. lia.
Qed.

(** At most one of some different things has a property that only [x] has. *)
Lemma add_up_indicator {A} : forall (p : A -> bool) n l x, NoDup l -> (forall y, In y l -> p y = true -> y = x) ->
  add_up (fun y => if p y then n else 0) l <= n.
Proof.
  intros p n. induction l as [|y l IH]; intros x D H; [cbn; lia|]. inversion D as [|? ? X D']; subst.
  cbn [add_up fold_right]. fold (add_up (fun y => if p y then n else 0) l).
  destruct (p y) eqn:E.
  - assert (y = x) as -> by (apply H; simpl; auto).
    assert (Z : add_up (fun y => if p y then n else 0) l <= add_up (fun _ => 0) l).
    { apply add_up_le. intros z Z. destruct (p z) eqn:F; [|lia]. exfalso. apply X. rewrite <- (H z); simpl; auto. }
    rewrite add_up_0 in Z. lia.
  - apply (IH x D'). intros z Z. apply H. simpl. auto.
Qed.

Section Crossings.
  Variables (m : timing) (s : schedule) (leaves : N -> N -> bool).
  Hypothesis nothing_stays : forall a, leaves a a = false.
  Hypothesis on_the_way : forall a b c, leaves a c = true -> leaves a b = true \/ leaves b c = true.
  Hypothesis is_right : right m s.

  Definition crosses (u : transfer) : bool := leaves (node (source u)) (node (target u)).

  (** The capacity of the links that cross. *)
  Definition way_out : N := add_up (fun k => if leaves (tail k) (head k) then width k else 0) (links (net s)).

  (** * Links that leave *)

  Lemma leaves_differ : forall a b, leaves a b = true -> a <> b.
  Proof using nothing_stays. intros a b H ->. rewrite nothing_stays in H. discriminate. Qed.

  Lemma chain_leaves : forall d route here there visited, is_chain (at_place (nodes (net s))) (at_place (links (net s))) d
      here there visited route = true -> leaves here there = true ->
    exists l k, In l route /\ at_place (links (net s)) l = Some k /\ leaves (tail k) (head k) = true.
  Proof using on_the_way nothing_stays.
    intros d. induction route as [|l route IH]; intros here there visited H X; [discriminate|].
    cbn [is_chain] in H. destruct (at_place (links (net s)) l) as [k|] eqn:K; [|discriminate].
    rewrite !andb_true_iff, N.eqb_eq in H. destruct H as [[T _] H].
    destruct (on_the_way here (head k) there X) as [Z|Z].
    - exists l, k. rewrite T. simpl. auto.
    - destruct route as [|i route].
      + apply N.eqb_eq in H. rewrite H, nothing_stays in Z. discriminate.
      + apply andb_true_iff in H as [_ H]. destruct (IH _ _ _ H Z) as (j & x & I & J & L). exists j, x. simpl in *. auto.
  Qed.

  Lemma capacity_link : forall a b, 0 < capacity (net s) (Between a b) ->
    exists k, In k (links (net s)) /\ tail k = a /\ head k = b.
  Proof using.
    intros a b. simpl. induction (links (net s)) as [|k l IH]; simpl; intros H; [lia|].
    destruct (N.eqb_spec (tail k) a), (N.eqb_spec (head k) b); simpl in H; eauto;
      destruct IH as (j & I & J); try lia; eauto.
  Qed.

  Notation uses_of := (uses (at_place (links (net s)))).

  Lemma crossing_uses : forall u, In u (transfers s) -> crosses u = true ->
    exists k, In k (links (net s)) /\ leaves (tail k) (head k) = true /\ In (Between (tail k) (head k)) (uses_of u).
  Proof using is_right on_the_way nothing_stays.
    intros u I C. destruct is_right as (_ & W & _). destruct (W u I) as [H _]. unfold is_wired in H. unfold crosses in C.
    pose proof (leaves_differ _ _ C) as D. unfold uses.
    destruct (source u) as [a x c], (target u) as [b y d]. simpl in *. apply andb_true_iff in H as [_ H].
    destruct (via u) as [route|].
    - destruct (chain_leaves _ _ _ _ _ H C) as (l & k & J & K & L). exists k. split; [|split; auto].
      + eapply nth_error_In; eauto.
      + apply in_flat_map. exists l. rewrite K. simpl. auto.
    - destruct (N.eqb_spec a b); [contradiction|]. apply N.ltb_lt in H. destruct (capacity_link _ _ H) as (k & J & E & F).
      exists k. rewrite E, F. simpl. auto.
  Qed.

  Lemma pair_dec : forall p q : N * N, {p = q} + {p <> q}.
  Proof using. decide equality; apply N.eq_dec. Qed.

  (** The pairs of nodes that links which cross join, each once. *)
  Definition pairs_out : list (N * N) :=
    nodup pair_dec (map (fun k => (tail k, head k)) (filter (fun k => leaves (tail k) (head k)) (links (net s)))).

  Lemma pairs_out_spec : forall p, In p pairs_out <->
    exists k, In k (links (net s)) /\ leaves (tail k) (head k) = true /\ p = (tail k, head k).
  Proof using.
    intros p. unfold pairs_out. rewrite nodup_In, in_map_iff. split.
    - intros (k & E & I). apply filter_In in I as [I L]. exists k. auto.
    - intros (k & I & L & ->). exists k. split; auto. apply filter_In. auto.
  Qed.

  Lemma capacity_out : add_up (fun p => capacity (net s) (Between (fst p) (snd p))) pairs_out <= way_out.
  Proof using.
    change (add_up (fun p => add_up (fun k => if (tail k =? fst p) && (head k =? snd p) then width k else 0) (links (net s)))
      pairs_out <= way_out).
    rewrite add_up_swap. apply add_up_le. intros k I. cbv beta.
    destruct (leaves (tail k) (head k)) eqn:L.
    - apply (add_up_indicator _ _ _ (tail k, head k)); [apply NoDup_nodup|].
      intros [a b] _ H. simpl in H. rewrite andb_true_iff, !N.eqb_eq in H. destruct H as [-> ->]. auto.
    - rewrite <- (add_up_0 pairs_out) at 1. apply add_up_le. intros [a b] J. simpl.
      destruct (N.eqb_spec (tail k) a), (N.eqb_spec (head k) b); simpl; try lia. subst.
      apply pairs_out_spec in J as (j & _ & M & E). injection E as E F. rewrite E, F in L. congruence.
  Qed.

  (** What crosses in step [q] fits through the links that do. *)
  Lemma step_out : forall q,
    add_up (fun u => if is_sent_in s q u && crosses u then size_of s u else 0) (transfers s) <= way_out * rounds_of s q.
  Proof using is_right on_the_way nothing_stays.
    intros q. destruct is_right as (_ & _ & [C _] & _).
    transitivity (add_up (fun p => load s q (Between (fst p) (snd p))) pairs_out).
    - change (add_up (fun u => if is_sent_in s q u && crosses u then size_of s u else 0) (transfers s) <=
        add_up (fun p => add_up (fun u => if is_sent_in s q u then size_of s u * N.of_nat (length (filter
          (same_resource (Between (fst p) (snd p))) (uses_of u))) else 0) (transfers s)) pairs_out).
      rewrite add_up_swap. apply add_up_le. intros u I. cbv beta.
      destruct (is_sent_in s q u); simpl; [|lia]. destruct (crosses u) eqn:X; [|lia].
      destruct (crossing_uses u I X) as (k & J & L & U).
      assert (P : In (tail k, head k) pairs_out) by (apply pairs_out_spec; eauto).
      etransitivity; [|apply (add_up_one _ _ _ P)]. cbn [fst snd].
      assert (Z : In (Between (tail k) (head k)) (filter (same_resource (Between (tail k) (head k))) (uses_of u))).
      { apply filter_In. simpl. rewrite !N.eqb_refl. auto. }
      destruct (filter _ _) as [|z f]; [destruct Z|]. cbn [length]. lia.
    - etransitivity; [apply add_up_le; intros p _; apply C|].
      rewrite (N.mul_comm way_out). etransitivity; [|apply N.mul_le_mono_l; apply capacity_out].
      rewrite <- add_up_times. apply add_up_le. intros p _. lia.
  Qed.

  (** * All steps *)

  Lemma add_up_count {B} : forall (p : B -> bool) n l, add_up (fun x => if p x then n else 0) l = n * N.of_nat (length (filter p l)).
  Proof using.
    intros p n. induction l as [|x l IH]; cbn [add_up fold_right filter]; [simpl; lia|].
    fold (add_up (fun x => if p x then n else 0) l). rewrite IH. destruct (p x); cbn [length]; lia.
  Qed.

  Hypothesis apart : 1 <= period s.

  (** Steps that have all sends of all iterations. *)
  Definition has_all_steps (l : list N) : Prop :=
    forall u i, In u (transfers s) -> i < repeats s -> In (step u + i * period s) l.

  Lemma every_iteration : forall l u, has_all_steps l -> In u (transfers s) ->
    repeats s <= N.of_nat (length (filter (fun q => is_sent_in s q u) l)).
  Proof using apart.
    intros l u H I.
    set (steps := map (fun i => step u + N.of_nat i * period s) (seq 0 (N.to_nat (repeats s)))).
    assert (L : length steps = N.to_nat (repeats s)) by (subst steps; rewrite map_length, seq_length; auto).
    enough (length steps <= length (filter (fun q => is_sent_in s q u) l))%nat by lia.
    apply NoDup_incl_length.
    - apply Injective_map_NoDup; [|apply seq_NoDup]. intros i j E.
      assert (F : N.of_nat i * period s = N.of_nat j * period s) by lia.
      apply N.mul_cancel_r in F; [|lia]. lia.
    - intros q J. apply in_map_iff in J as (i & <- & J). apply in_seq in J.
      apply filter_In. split; [apply H; auto; lia|]. unfold is_sent_in.
      rewrite N.add_comm, N.add_sub, N.mod_mul, N.div_mul by lia.
      rewrite !andb_true_iff, N.leb_le, N.eqb_eq, N.ltb_lt. lia.
  Qed.

  (** What crosses in one iteration, times the iterations, fits through the links in all steps. *)
  Theorem crossings_fit : forall steps, has_all_steps steps ->
    repeats s * add_up (fun u => if crosses u then size_of s u else 0) (transfers s) <= way_out * add_up (rounds_of s) steps.
  Proof using is_right on_the_way nothing_stays apart.
    intros steps T.
    transitivity (add_up (fun q => add_up (fun u => if is_sent_in s q u && crosses u then size_of s u else 0) (transfers s)) steps).
    - rewrite add_up_swap. rewrite <- add_up_times. apply add_up_le. intros u I. cbv beta. destruct (crosses u) eqn:X; [|lia].
      transitivity (size_of s u * N.of_nat (length (filter (fun q => is_sent_in s q u) steps))).
      + rewrite N.mul_comm. apply N.mul_le_mono_l. apply every_iteration; auto.
      + rewrite <- add_up_count. apply add_up_le. intros q _. rewrite andb_true_r. lia.
    - rewrite <- add_up_times. apply add_up_le. intros q _. apply step_out.
  Qed.
End Crossings.
