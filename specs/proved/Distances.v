(** How far data go fits into what links offer, in every right schedule: for each way to measure how far nodes are apart. *)

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

Section Distances.
  Variables (m : timing) (s : schedule) (far : N -> N -> N).
  Hypothesis nothing_stays : forall a, far a a = 0.
  Hypothesis shortest : forall a b c, far a c <= far a b + far b c.
  Hypothesis is_right : right m s.

  (** How far a transfer goes; from link to link of a route it is no less. *)
  Definition distance (u : transfer) : N := far (node (source u)) (node (target u)).

  (** The capacity of each link, as often as its ends are far apart. *)
  Definition offered : N := add_up (fun k => far (tail k) (head k) * width k) (links (net s)).

  (** * Transfers and links *)

  Definition distance_of (r : resource) : N := match r with One _ => 0 | Between a b => far a b end.

  Notation uses_of := (uses (at_place (links (net s)))).

  Lemma chain_goes : forall d route here there visited, is_chain (at_place (nodes (net s))) (at_place (links (net s))) d
      here there visited route = true ->
    far here there <= add_up distance_of (flat_map
      (fun l => match at_place (links (net s)) l with Some k => [One l; Between (tail k) (head k)] | None => [] end) route).
  Proof using shortest nothing_stays.
    intros d. induction route as [|l route IH]; intros here there visited H; [discriminate|].
    cbn [is_chain] in H. destruct (at_place (links (net s)) l) as [k|] eqn:K; [|discriminate].
    rewrite !andb_true_iff, N.eqb_eq in H. destruct H as [[<- _] H].
    cbn [flat_map]. rewrite K. cbn [app add_up fold_right distance_of]. rewrite N.add_0_l.
    etransitivity; [apply (shortest _ (head k))|]. apply N.add_le_mono_l.
    destruct route as [|i route].
    - apply N.eqb_eq in H. rewrite H, nothing_stays. lia.
    - apply andb_true_iff in H as [_ H]. apply (IH _ _ _ H).
  Qed.

  Lemma uses_go : forall u, In u (transfers s) -> distance u <= add_up distance_of (uses_of u).
  Proof using is_right shortest nothing_stays.
    intros u I. destruct is_right as (_ & W & _). destruct (W u I) as [H _]. unfold is_wired in H. unfold distance, uses.
    destruct (source u) as [a x c], (target u) as [b y d]. cbn [node buffer of_chunk] in *. apply andb_true_iff in H as [_ H].
    destruct (via u) as [route|]; [apply (chain_goes _ _ _ _ _ H)|].
    destruct (N.eqb_spec a b) as [->|]; [rewrite nothing_stays; lia|]. cbn. lia.
  Qed.

  Lemma capacity_link : forall a b, 0 < capacity (net s) (Between a b) ->
    exists k, In k (links (net s)) /\ tail k = a /\ head k = b.
  Proof using.
    intros a b. simpl. induction (links (net s)) as [|k l IH]; simpl; intros H; [lia|].
    destruct (N.eqb_spec (tail k) a), (N.eqb_spec (head k) b); simpl in H; eauto;
      destruct IH as (j & I & J); try lia; eauto.
  Qed.

  Lemma pair_dec : forall p q : N * N, {p = q} + {p <> q}.
  Proof using. decide equality; apply N.eq_dec. Qed.

  (** The pairs of nodes that links join, each once. *)
  Definition pairs : list (N * N) := nodup pair_dec (map (fun k => (tail k, head k)) (links (net s))).

  Lemma in_pairs : forall k, In k (links (net s)) -> In (tail k, head k) pairs.
  Proof using. intros k I. unfold pairs. rewrite nodup_In, in_map_iff. eauto. Qed.

  Lemma uses_pairs : forall u a b, In u (transfers s) -> In (Between a b) (uses_of u) -> In (a, b) pairs.
  Proof using is_right.
    intros u a b I U. destruct is_right as (_ & W & _). destruct (W u I) as [H _]. unfold is_wired in H. unfold uses in U.
    destruct (source u) as [x p c], (target u) as [y q d]. cbn [node] in *. apply andb_true_iff in H as [_ H].
    destruct (via u) as [route|].
    - apply in_flat_map in U as (l & _ & U). destruct (at_place (links (net s)) l) as [k|] eqn:K; [|destruct U].
      destruct U as [U|[U|[]]]; [discriminate|]. injection U as <- <-. apply in_pairs. eapply nth_error_In; eauto.
    - destruct (x =? y); [destruct U|]. destruct U as [U|[]]. injection U as <- <-. apply N.ltb_lt in H.
      destruct (capacity_link _ _ H) as (k & J & <- & <-). apply in_pairs. auto.
  Qed.

  Definition count (p : N * N) (l : list resource) : N :=
    N.of_nat (length (filter (same_resource (Between (fst p) (snd p))) l)).

  Lemma counted : forall l, (forall a b, In (Between a b) l -> In (a, b) pairs) ->
    add_up distance_of l <= add_up (fun p => far (fst p) (snd p) * count p l) pairs.
  Proof using.
    induction l as [|r l IH]; intros H; [cbn; lia|].
    transitivity (distance_of r + add_up (fun p => far (fst p) (snd p) * count p l) pairs).
    - cbn [add_up fold_right]. apply N.add_le_mono_l. apply IH. intros a b I. apply H. simpl. auto.
    - transitivity (add_up (fun p => far (fst p) (snd p) * count p [r]) pairs +
        add_up (fun p => far (fst p) (snd p) * count p l) pairs).
      + apply N.add_le_mono_r. destruct r as [i|a b]; cbn [distance_of]; [lia|].
        etransitivity; [|apply (add_up_one _ _ (a, b)); apply H; simpl; auto].
        unfold count. cbn [fst snd filter same_resource]. rewrite !N.eqb_refl. cbn. lia.
      + rewrite <- add_up_plus. apply add_up_le. intros p _. rewrite <- N.mul_add_distr_l. apply N.mul_le_mono_l.
        unfold count. cbn [filter]. destruct (same_resource _ r); cbn [length]; lia.
  Qed.

  Lemma offered_pairs :
    add_up (fun p => far (fst p) (snd p) * capacity (net s) (Between (fst p) (snd p))) pairs <= offered.
  Proof using.
    transitivity (add_up (fun p => add_up (fun k => if (tail k =? fst p) && (head k =? snd p)
      then far (tail k) (head k) * width k else 0) (links (net s))) pairs).
    - apply add_up_le. intros p _. cbn [capacity].
      change (fold_right _ 0 ?l) with (add_up (fun k => if (tail k =? fst p) && (head k =? snd p) then width k else 0) l).
      rewrite <- add_up_times. apply add_up_le. intros k _. cbv beta.
      destruct (N.eqb_spec (tail k) (fst p)) as [->|], (N.eqb_spec (head k) (snd p)) as [->|]; cbn [andb]; lia.
    - rewrite add_up_swap. apply add_up_le. intros k _. cbv beta.
      apply (add_up_indicator _ _ _ (tail k, head k)); [apply NoDup_nodup|].
      intros [a b] _ H. cbn in H. rewrite andb_true_iff, !N.eqb_eq in H. destruct H as [-> ->]. auto.
  Qed.

  (** How far data go in step [q] fits into what links offer then. *)
  Lemma step_offered : forall q,
    add_up (fun u => if is_sent_in s q u then distance u * size_of s u else 0) (transfers s) <= offered * rounds_of s q.
  Proof using is_right shortest nothing_stays.
    intros q. destruct is_right as (_ & _ & [C _] & _).
    transitivity (add_up (fun p => far (fst p) (snd p) * load s q (Between (fst p) (snd p))) pairs).
    - transitivity (add_up (fun p => add_up (fun u => far (fst p) (snd p) *
        (if is_sent_in s q u then size_of s u * count p (uses_of u) else 0)) (transfers s)) pairs).
      + rewrite add_up_swap. apply add_up_le. intros u I. cbv beta. destruct (is_sent_in s q u); [|lia].
        transitivity (size_of s u * add_up (fun p => far (fst p) (snd p) * count p (uses_of u)) pairs).
        * rewrite N.mul_comm. apply N.mul_le_mono_l. etransitivity; [apply uses_go; auto|].
          apply counted. intros a b. apply uses_pairs. auto.
        * rewrite <- add_up_times. apply add_up_le. intros p _. lia.
      + apply add_up_le. intros p _. rewrite add_up_times. apply N.mul_le_mono_l. apply N.le_refl.
    - etransitivity; [apply add_up_le; intros p _; apply N.mul_le_mono_l; apply C|].
      rewrite (N.mul_comm offered). etransitivity; [|apply N.mul_le_mono_l; apply offered_pairs].
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

  (** How far data go in one iteration, times the iterations, fits into what links offer in all steps. *)
  Theorem distances_fit : forall steps, has_all_steps steps ->
    repeats s * add_up (fun u => distance u * size_of s u) (transfers s) <= offered * add_up (rounds_of s) steps.
  Proof using is_right shortest nothing_stays apart.
    intros steps T.
    transitivity (add_up (fun q => add_up (fun u => if is_sent_in s q u then distance u * size_of s u else 0) (transfers s)) steps).
    - rewrite add_up_swap. rewrite <- add_up_times. apply add_up_le. intros u I. cbv beta.
      rewrite add_up_count, N.mul_comm. apply N.mul_le_mono_l. apply every_iteration; auto.
    - rewrite <- add_up_times. apply add_up_le. intros q _. apply step_offered.
  Qed.
End Distances.
