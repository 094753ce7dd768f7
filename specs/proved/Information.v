(** What must be sent: parts of the network hear of each other by transfers between them only.

    The first half counts messages between parts; the second half says that in a right schedule those who must know have heard. *)

From Coq Require Import Arith NArith PArith List Bool Permutation Lia.
From Proved Require Import Definitions Keys Sound.
Import ListNotations.
Open Scope N_scope.

(** * Messages between parts *)

(** [k j i]: part [j] has heard from part [i]. A message from [a] to [b] tells [b] all that [a] has heard. *)
Definition heard := N -> N -> bool.
Definition tell (k : heard) (p : N * N) : heard := fun j i => k j i || ((j =? snd p) && k (fst p) i).
Definition at_first : heard := N.eqb.

Definition differ (p : N * N) : bool := negb (fst p =? snd p).

Lemma told_grows : forall l k j i, k j i = true -> fold_left tell l k j i = true.
Proof. induction l as [|p l IH]; intros k j i H; simpl; auto. apply IH. unfold tell. rewrite H. auto. Qed.

(** Who hears something new has got a message from another part. *)
Lemma hears_from_others : forall l k j i, k j i = false -> fold_left tell l k j i = true ->
  exists p, In p l /\ differ p = true /\ snd p = j.
Proof.
  induction l as [|p l IH]; intros k j i F H; simpl in H; [congruence|].
  destruct (tell k p j i) eqn:E.
  - unfold tell in E. rewrite F in E. simpl in E. apply andb_true_iff in E as [E K]. apply N.eqb_eq in E.
    exists p. simpl. split; auto. split; auto. unfold differ. apply negb_true_iff, N.eqb_neq. intros X. congruence.
  - apply IH in H as (q & I & D); auto. exists q. simpl. auto.
Qed.

(** A part of which others hear has sent a message to another part. *)
Lemma is_heard_by_others : forall l k j i, (forall x, k x i = true -> x = i) -> j <> i ->
  fold_left tell l k j i = true -> exists p, In p l /\ differ p = true /\ fst p = i.
Proof.
  induction l as [|p l IH]; intros k j i O D H; simpl in H.
  - apply O in H. contradiction.
  - destruct (differ p && (fst p =? i)) eqn:E.
    + apply andb_true_iff in E as [E F]. apply N.eqb_eq in F. exists p. simpl. auto.
    + destruct (IH (tell k p) j i) as (q & I & G); auto.
      * intros x X. unfold tell in X. apply orb_true_iff in X as [X|X]; auto.
        apply andb_true_iff in X as [X Y]. apply N.eqb_eq in X. apply O in Y. subst x.
        rewrite Y, N.eqb_refl, andb_true_r in E. unfold differ in E. apply negb_false_iff, N.eqb_eq in E. congruence.
      * exists q. simpl. auto.
Qed.

Definition between (l : list (N * N)) : nat := length (filter differ l).

Lemma many_sources : forall l is, NoDup is -> (forall i, In i is -> exists p, In p l /\ differ p = true /\ fst p = i) ->
  (length is <= between l)%nat.
Proof.
  intros l is D H. unfold between. rewrite <- (map_length fst). apply NoDup_incl_length; auto.
  intros i I. destruct (H i I) as (p & J & E & F). apply in_map_iff. exists p. split; auto. apply filter_In. auto.
Qed.

Lemma many_targets : forall l js, NoDup js -> (forall j, In j js -> exists p, In p l /\ differ p = true /\ snd p = j) ->
  (length js <= between l)%nat.
Proof.
  intros l js D H. unfold between. rewrite <- (map_length snd). apply NoDup_incl_length; auto.
  intros i I. destruct (H i I) as (p & J & E & F). apply in_map_iff. exists p. split; auto. apply filter_In. auto.
Qed.

Section Parts.
  Variable parts : list N.
  Hypothesis distinct : NoDup parts.

  Definition knows_all (k : heard) (j : N) : bool := forallb (k j) parts.

  Lemma first_that_knows : forall l k, existsb (knows_all (fold_left tell l k)) parts = true ->
    existsb (knows_all k) parts = false ->
    exists l1 p l2, l = l1 ++ p :: l2 /\ existsb (knows_all (fold_left tell l1 k)) parts = false /\
      existsb (knows_all (fold_left tell (l1 ++ [p]) k)) parts = true.
  Proof using.
    induction l as [|p l IH]; intros k H F; simpl in H; [congruence|].
    destruct (existsb (knows_all (tell k p)) parts) eqn:E.
    - exists [], p, l. simpl. auto.
    - destruct (IH _ H E) as (l1 & q & l2 & -> & A & B). exists (p :: l1), q, l2. simpl. auto.
  Qed.

  Lemma others_length : forall b, In b parts -> length (remove N.eq_dec b parts) = pred (length parts).
  Proof using distinct.
    intros b I. apply in_split in I as (x & y & E). rewrite E in *. apply NoDup_remove in distinct as [_ N].
    rewrite remove_app. simpl. destruct (N.eq_dec b b); [|congruence]. rewrite !notin_remove, !app_length; simpl; try lia;
      intros J; apply N; apply in_app_iff; auto.
  Qed.

  (** If each part has heard from each, 2(p - 1) messages went between parts: those that the first part which knew all had heard of
      had each sent one before, and each other part has got one since. *)
  Lemma exchange : forall l, (forall j i, In j parts -> In i parts -> fold_left tell l at_first j i = true) ->
    (2 * pred (length parts) <= between l)%nat.
  Proof using distinct.
    intros l H. destruct (le_lt_dec (length parts) 1) as [S|S]; [lia|].
    assert (N : existsb (knows_all at_first) parts = false).
    { apply not_true_iff_false. intros E. apply existsb_exists in E as (j & I & E). unfold knows_all in E.
      rewrite forallb_forall in E. unfold at_first in E.
      assert (L : (length parts <= length [j])%nat); [|simpl in L; lia]. apply NoDup_incl_length; auto.
      intros i J. apply E in J. apply N.eqb_eq in J. simpl. auto. }
    assert (Y : existsb (knows_all (fold_left tell l at_first)) parts = true).
    { assert (J : exists j, In j parts) by (destruct parts as [|j rest]; [simpl in S; lia|exists j; simpl; auto]).
      destruct J as [j J]. apply existsb_exists. exists j. split; auto. apply forallb_forall. auto. }
    destruct (first_that_knows l at_first Y N) as (l1 & p & l2 & -> & A & B).
    apply existsb_exists in B as (b & I & B). unfold knows_all in B. rewrite forallb_forall in B.
    assert (unknown : forall j, In j parts -> exists i, In i parts /\ fold_left tell l1 at_first j i = false).
    { intros j J. apply not_true_iff_false in A.
      destruct (forallb (fold_left tell l1 at_first j) parts) eqn:F.
      - exfalso. apply A. apply existsb_exists. exists j. auto.
      - clear -F. induction parts as [|i rest IH]; [discriminate|]. simpl in F.
        destruct (fold_left tell l1 at_first j i) eqn:G; simpl in F; [|exists i; simpl; auto].
        destruct (IH F) as (x & I & K). exists x. simpl. auto. }
    assert (to_b : snd p = b).
    { destruct (unknown b I) as (i & J & F). pose proof (B i J) as G. rewrite fold_left_app in G. cbn [fold_left] in G.
      unfold tell at 1 in G. rewrite F in G. simpl in G. apply andb_true_iff in G as [G _]. apply N.eqb_eq in G. auto. }
    replace (l1 ++ p :: l2) with ((l1 ++ [p]) ++ l2) in * by (rewrite <- app_assoc; auto).
    assert (E : between ((l1 ++ [p]) ++ l2) = (between (l1 ++ [p]) + between l2)%nat)
      by (unfold between; rewrite filter_app, app_length; auto).
    rewrite E, <- (others_length b I).
    assert (D : NoDup (remove N.eq_dec b parts)).
    { clear -distinct. induction distinct as [|x l X D IH]; simpl; [constructor|].
      destruct (N.eq_dec b x); auto. constructor; auto. intros Z. apply in_remove in Z as [Z _]. auto. }
    assert (P1 : (length (remove N.eq_dec b parts) <= between (l1 ++ [p]))%nat).
    { apply many_sources; auto. intros i J. apply in_remove in J as [J K].
      apply (is_heard_by_others _ at_first b i); auto. intros x X. apply N.eqb_eq in X. auto. }
    assert (P2 : (length (remove N.eq_dec b parts) <= between l2)%nat).
    { apply many_targets; auto. intros j J. apply in_remove in J as [J K]. destruct (unknown j J) as (i & L & F).
      apply (hears_from_others l2 (fold_left tell (l1 ++ [p]) at_first) j i).
      - rewrite fold_left_app. cbn [fold_left]. unfold tell at 1. rewrite F. simpl.
        destruct (N.eqb_spec j (snd p)); auto. congruence.
      - rewrite <- fold_left_app. apply H; auto. }
    lia.
  Qed.
End Parts.

(** * Schedules *)

Section Heard.
  Variables (m : timing) (s : schedule) (part : N -> N).
  Hypothesis is_right : right m s.

  (** The messages of chunk [c] between parts, in the order in which they land. *)
  Definition messages (c : N) (r : list event) : list (N * N) :=
    flat_map (fun e => match e with
      | Land u => if of_chunk (source u) =? c then [(part (node (source u)), part (node (target u)))] else []
      | Send _ => []
      end) r.

  (** Memories in which every cell holds [f] of its node, so that sums of contributions are their disjunction. *)
  Definition marked (f : N -> bool) : memory bool :=
    Memory bool (fun c => match at_place (nodes (net s)) (node c) with Some Reducing => None | _ => Some (f (node c)) end)
      (fun _ => None).

  Lemma marked_starts : forall f, starts bool s (fun n _ => f n) (marked f).
  Proof using is_right.
    intros f c. destruct is_right as [(_ & _ & E & P & _) _]. simpl. split.
    - intros ->. auto.
    - intros k K _ O. rewrite (E (node c)); auto. destruct (origin k) as [|a] eqn:Q; simpl in O.
      + apply existsb_In. auto.
      + apply N.eqb_eq in O. rewrite O. apply (P k); auto. eapply nth_error_In; eauto.
  Qed.

  Lemma number_names : forall u v, In u (transfers s) -> In v (transfers s) -> number u = number v -> u = v.
  Proof using is_right.
    destruct is_right as [(D & _) _]. revert D. clear is_right.
    induction (transfers s) as [|x l IH]; intros D u v I J E; [destruct I|].
    simpl in D. inversion D as [|? ? X D']; subst. destruct I as [->|I], J as [->|J]; auto; exfalso; apply X.
    - rewrite E. apply in_map. auto.
    - rewrite <- E. apply in_map. auto.
  Qed.

  (** Where part [i] has not been heard of, nothing of chunk [c] tells what was in it. *)
  Definition alike_but (i c : N) (k : heard) (x y : memory bool) : Prop :=
    (forall d, of_chunk d = c -> k (part (node d)) i = false -> held bool x d = held bool y d) /\
    (forall u, In u (transfers s) -> of_chunk (source u) = c -> k (part (node (source u))) i = false ->
      carried bool x (number u) = carried bool y (number u)).

  Lemma alike_happen : forall i c k x y e, In e (events s) -> alike_but i c k x y ->
    alike_but i c (fold_left tell (messages c [e]) k) (happen bool orb x e) (happen bool orb y e).
  Proof using is_right.
    intros i c k x y e I [H C].
    assert (J : exists u, In u (transfers s) /\ (e = Send u \/ e = Land u)).
    { unfold events in I. apply in_app_iff in I as [I|I]; apply in_map_iff in I as (u & <- & I); exists u; auto. }
    destruct J as (u & J & [->| ->]); cbn [messages flat_map app fold_left].
    - split; simpl; auto. intros v K B O. destruct (Pos.eqb_spec (number v) (number u)) as [E|E]; auto.
      assert (v = u) as -> by (apply number_names; auto). auto.
    - destruct (N.eqb_spec (of_chunk (source u)) c) as [Q|Q]; cbn [app fold_left].
      + split; simpl.
        * intros d B O. unfold tell in O. cbn [fst snd] in O. apply orb_false_iff in O as [O P].
          destruct (same_cell d (target u)) eqn:E; auto. apply same_cell_spec in E as ->.
          rewrite N.eqb_refl in P. simpl in P. rewrite (C u J Q P). destruct (op u); auto. rewrite H; auto.
        * intros v K B O. apply C; auto. unfold tell in O. apply orb_false_iff in O. tauto.
      + split; simpl; auto. intros d B O. destruct (same_cell d (target u)) eqn:E; auto. apply same_cell_spec in E as ->.
        rewrite (same_chunk m s is_right) in Q by auto. contradiction.
  Qed.

  Lemma alike_run : forall i c r k x y, incl r (events s) -> alike_but i c k x y ->
    alike_but i c (fold_left tell (messages c r) k) (fold_left (happen bool orb) r x) (fold_left (happen bool orb) r y).
  Proof using is_right.
    intros i c. induction r as [|e r IH]; intros k x y I O; auto.
    change (messages c (e :: r)) with (messages c ([e] ++ r)). unfold messages. rewrite flat_map_app, fold_left_app.
    apply IH; [intros z Z; apply I; simpl; auto|]. apply alike_happen; auto. apply I. simpl. auto.
  Qed.

  Lemma sum_false : forall c l, sum bool orb (fun _ _ => false) c l = Some false \/ sum bool orb (fun _ _ => false) c l = None.
  Proof using. induction l as [|x l [IH|IH]]; auto; left; simpl; rewrite IH; auto. Qed.

  Lemma sum_true : forall f c l a, f a = true -> In a l -> sum bool orb (fun n _ => f n) c l = Some true.
  Proof using.
    intros f c. induction l as [|x l IH]; intros a E I; [destruct I|]. simpl. destruct I as [->|I].
    - rewrite E. destruct (sum bool orb (fun n _ => f n) c l) as [[]|]; auto.
    - rewrite (IH a) by auto. simpl. rewrite orb_true_r. auto.
  Qed.

  Definition contributors (k : chunk) : list N := match origin k with Everyone => members s | Alone a => [a] end.

  (** In every run the part of each node at which a chunk is due has heard from the part of each contributor. *)
  Theorem all_heard : forall r c k a n, whole_run m s r -> 1 <= repeats s -> at_place (chunks s) c = Some k ->
    In a (contributors k) -> is_one_of s (due k) n = true ->
    fold_left tell (messages c (of_iteration 0 r)) at_first (part n) (part a) = true.
  Proof using is_right.
    intros r c k a n R Z K I U. destruct (fold_left tell _ at_first (part n) (part a)) eqn:E; auto. exfalso.
    destruct is_right as (_ & _ & _ & S).
    assert (G : forall f, held bool (fold_left (happen bool orb) (of_iteration 0 r) (marked f)) (Cell n 0 c) =
      result bool orb s (fun n _ => f n) c k).
    { intros f. rewrite <- (one_iteration bool orb 0 r (fun _ => marked f)).
      apply (S bool orb orb_comm orb_assoc (fun _ n _ => f n) r (fun _ => marked f) R); auto; [|lia].
      intros i _. apply marked_starts. }
    assert (L : incl (of_iteration 0 r) (events s)).
    { intros e J. destruct (R 0) as [Q _]; [lia|]. apply (Permutation_in _ (Permutation_sym Q)). auto. }
    assert (T : alike_but (part a) c at_first (marked (fun _ => false)) (marked (fun x => part x =? part a))).
    { split; simpl; auto. intros d _ D. unfold at_first in D. rewrite D. auto. }
    destruct (alike_run (part a) c _ _ _ _ L T) as [T' _]. specialize (T' (Cell n 0 c) eq_refl E).
    rewrite (G (fun _ => false)), (G (fun x => part x =? part a)) in T'. unfold result in T'. fold (contributors k) in T'.
    rewrite (sum_true (fun x => part x =? part a) c _ a (N.eqb_refl _) I) in T'.
    destruct (sum_false c (contributors k)) as [F|F]; rewrite F in T'; discriminate.
  Qed.
End Heard.
