(** [slotted_sound]: interfaces with clocks that start apart, which fire each row in its slot, hold the result in the end; no row is
    late, and no link is overfilled.

    Times are whole cycles. Slot k of a row of the run opens at its node from cycle [slot_length * k] on, up to [skew] cycles later: clocks
    start apart, and may drift as far as that over these slots. Where some clocks run fast, cycles count from earlier on: [skew] is
    then what the slowest and the fastest differ by in all. A row fires in the cycle in which its slot opens; a message takes from
    [least] to [most] cycles. What lands in a cycle is there for the rows of that cycle. *)

From Coq Require Import Arith NArith PArith List Bool Permutation Lia.
From Proved Require Import Definitions Checker Keys Order Loads Contents Sound Lockstep.
Import ListNotations.
Open Scope N_scope.

Lemma sum_remove : forall (f : transfer -> N) l t, In t l -> exists k, Permutation l (t :: k) /\
  fold_right (fun u sum => f u + sum) 0 l = f t + fold_right (fun u sum => f u + sum) 0 k.
Proof.
  intros f. induction l as [|a l IH]; intros t []; subst.
  - exists l. auto.
  - destruct (IH t) as (k & P & E); auto. exists (a :: k). split; [rewrite P; constructor|]. simpl. rewrite E. lia.
Qed.

Lemma sum_of_some : forall (f : transfer -> N) l k, NoDup l -> incl l k ->
  fold_right (fun u sum => f u + sum) 0 l <= fold_right (fun u sum => f u + sum) 0 k.
Proof.
  intros f. induction l as [|a l IH]; intros k D I; simpl; [lia|]. inversion D as [|? ? N D']; subst.
  destruct (sum_remove f k a) as (k' & P & E); [apply I; simpl; auto|]. rewrite E. apply N.add_le_mono_l. apply IH; auto.
  intros u J. assert (X : In u (a :: k')) by (apply (Permutation_in _ P); apply I; simpl; auto). destruct X as [->|X]; auto. contradiction.
Qed.

Section Sorting.
  Variables (A : Type) (key : A -> N).

  Fixpoint insert (x : A) (l : list A) : list A :=
    match l with [] => [x] | y :: rest => if key x <=? key y then x :: l else y :: insert x rest end.
  Definition sort (l : list A) : list A := fold_right insert [] l.

  Fixpoint sorted (l : list A) : Prop := match l with [] => True | x :: rest => (forall y, In y rest -> key x <= key y) /\ sorted rest end.

  Lemma insert_permutation : forall x l, Permutation (x :: l) (insert x l).
  Proof.
    intros x. induction l as [|y l IH]; simpl; auto. destruct (key x <=? key y); auto.
    etransitivity; [apply perm_swap|]. constructor. auto.
  Qed.

  Lemma sort_permutation : forall l, Permutation l (sort l).
  Proof. induction l as [|x l IH]; simpl; auto. etransitivity; [constructor; apply IH|apply insert_permutation]. Qed.

  Lemma insert_sorted : forall x l, sorted l -> sorted (insert x l).
  Proof.
    intros x. induction l as [|y l IH]; simpl; [split; auto; intros y []|]. intros [L S]. destruct (N.leb_spec (key x) (key y)).
    - simpl. split; auto. intros z [->|I]; auto. specialize (L z I). lia.
    - simpl. split; auto. intros z I. apply (Permutation_in _ (Permutation_sym (insert_permutation x l))) in I as [->|I]; auto. lia.
  Qed.

  Lemma sort_sorted : forall l, sorted (sort l).
  Proof. induction l as [|x l IH]; simpl; auto. apply insert_sorted. auto. Qed.

  Lemma sorted_apart : forall l x y, sorted l -> In x l -> In y l -> key x < key y -> exists a b c, l = a ++ x :: b ++ y :: c.
  Proof.
    induction l as [|z l IH]; intros x y S I J K; [destruct I|]. destruct S as [L S]. destruct I as [->|I], J as [->|J]; try lia.
    - apply in_split in J as (b & c & ->). exists [], b, c. reflexivity.
    - specialize (L x I). lia.
    - destruct (IH x y S I J K) as (a & b & c & ->). exists (z :: a), b, c. reflexivity.
  Qed.
End Sorting.

Section Slotted.
  Variable s : schedule.

  (** * Slots and clocks *)

  (** Cycles: of a slot; by which a slot may open later at one node than at another; of the fastest message and of the slowest one. *)
  Variables (slot_length skew least most : N).
  (** The cycle in which each slot opens at each node, and the cycles that each message takes. *)
  Variables (opens : N -> N -> N) (travel : N -> transfer -> N).

  Definition fires (i : N) (t : transfer) : N := opens (node (source t)) (slot s i t).
  Definition lands (i : N) (t : transfer) : N := fires i t + travel i t.
  Definition cycle (x : N * event) : N := match snd x with Send t => fires (fst x) t | Land t => lands (fst x) t end.

  Definition first_of (x y : N * event) : Prop :=
    cycle x < cycle y \/ cycle x = cycle y /\ match snd x, snd y with Land _, Send _ => True | _, _ => False end.

  (** All events of all iterations, each once, in the order of their cycles. *)
  Definition slotted_run (h : list (N * event)) : Prop :=
    NoDup h /\ (forall i e, In (i, e) h <-> is_row s i (concerns e)) /\
    forall x y, In x h -> In y h -> first_of x y -> exists a b c, h = a ++ x :: b ++ y :: c.

  (** There are such runs. *)
  Theorem slotted_runs_exist : NoDup (events s) -> exists h, slotted_run h.
  Proof using.
    intros D. set (all := flat_map (fun i => map (pair i) (events s)) (map N.of_nat (seq 0 (N.to_nat (repeats s))))).
    set (key := fun x : N * event => 2 * cycle x + match snd x with Send _ => 1 | Land _ => 0 end).
    assert (there : forall i e, In (i, e) all <-> is_row s i (concerns e)).
    { intros i e. unfold all, is_row. rewrite in_flat_map. split.
      - intros (j & J & I). apply in_map_iff in I as (f & E & I). injection E as -> ->. apply in_map_iff in J as (n & <- & J).
        apply in_seq in J. split; [lia|]. unfold events in I. apply in_app_iff in I as [I|I]; apply in_map_iff in I as (u & <- & I); auto.
      - intros [B I]. exists i. split.
        + apply in_map_iff. exists (N.to_nat i). rewrite N2Nat.id, in_seq. split; auto. lia.
        + apply in_map. unfold events. apply in_app_iff. destruct e as [t|t]; [left|right]; apply in_map; auto. }
    assert (once : NoDup all).
    { assert (X : NoDup (map N.of_nat (seq 0 (N.to_nat (repeats s))))).
      { apply FinFun.Injective_map_NoDup; [|apply seq_NoDup]. intros a b. apply Nat2N.inj. }
      clear there. unfold all. induction X as [|i l N X IH]; simpl; [constructor|].
      assert (Y : NoDup (map (pair i) (events s))) by (apply FinFun.Injective_map_NoDup; auto; congruence).
      assert (Z : forall x, In x (map (pair i) (events s)) -> ~ In x (flat_map (fun i => map (pair i) (events s)) l)).
      { intros x I J. apply in_map_iff in I as (e & <- & _). apply in_flat_map in J as (j & J & K). apply in_map_iff in K as (f & E & _).
        injection E as -> _. contradiction. }
      clear - Y Z IH. induction Y as [|x k N Y IY]; simpl; auto. constructor.
      - rewrite in_app_iff. intros [I|I]; auto. apply (Z x); simpl; auto.
      - apply IY. intros y I. apply Z. simpl. auto. }
    pose proof (sort_permutation _ key all) as P. exists (sort _ key all). split; [|split].
    - apply (Permutation_NoDup P once).
    - intros i e. rewrite <- there. split; apply Permutation_in; auto. apply Permutation_sym. auto.
    - intros x y I J F. apply (sorted_apart _ key); auto; [apply sort_sorted|]. unfold key. destruct F as [F|[F K]]; [|rewrite F].
      + destruct (snd x), (snd y); lia.
      + destruct (snd x), (snd y); try contradiction. lia.
  Qed.

  (** The check: messages land before the slot in which they are used, and not before what they would spoil. *)
  Definition slots_are_right : bool :=
    (most + skew <=? slot_length * delay s) && (1 <=? least) &&
    forallb (fun u => forallb (fun t =>
      implb (same_cell (target u) (source t) && (step t <? step u + delay s))
        (skew + slot_length * step t <? slot_length * step u + least) &&
      implb (same_cell (target t) (target u) && (step t <? step u) && (is_copy t || is_copy u))
        (skew + slot_length * step t + most <? slot_length * step u + least)) (transfers s)) (transfers s).

  Hypothesis opens_in_time : forall i t, is_row s i t -> slot_length * slot s i t <= fires i t <= slot_length * slot s i t + skew.
  Hypothesis in_time : forall i t, is_row s i t -> least <= travel i t <= most.
  Hypothesis checked : slots_are_right = true.

  Lemma check_parts : most + skew <= slot_length * delay s /\ 1 <= least /\ forall t u, In t (transfers s) -> In u (transfers s) ->
    (target u = source t -> step t < step u + delay s -> skew + slot_length * step t < slot_length * step u + least) /\
    (target t = target u -> step t < step u -> op t = Copy \/ op u = Copy ->
      skew + slot_length * step t + most < slot_length * step u + least).
  Proof using checked.
    unfold slots_are_right in checked. rewrite !andb_true_iff, !N.leb_le, forallb_forall in checked.
    destruct checked as [[A B] C]. split; [auto|split; auto]. intros t u T U. specialize (C u U). rewrite forallb_forall in C.
    specialize (C t T). apply andb_true_iff in C as [C D]. split.
    - intros E L. apply same_cell_spec in E. apply N.ltb_lt in L. rewrite E, L in C. simpl in C. apply N.ltb_lt in C. auto.
    - intros E L O. apply same_cell_spec in E. apply N.ltb_lt in L. rewrite E, L in D. simpl in D.
      assert (X : is_copy t || is_copy u = true) by (apply orb_true_iff; unfold is_copy; destruct O as [O|O]; rewrite O; auto).
      rewrite X in D. simpl in D. apply N.ltb_lt in D. auto.
  Qed.

  (** No row is late: what feeds it has landed when its slot begins. *)
  Theorem no_row_is_late : forall i t u, is_row s i t -> is_row s i u -> feeds s t u = true -> lands i u <= fires i t.
  Proof using opens_in_time in_time checked.
    intros i t u T U F. apply feeds_spec in F as [_ F]. destruct check_parts as (A & _). destruct (in_time i u U) as [_ M].
    unfold lands. pose proof (opens_in_time i u U). pose proof (opens_in_time i t T). unfold slot in *.
    assert (slot_length * (step u + delay s) <= slot_length * step t) by (apply N.mul_le_mono_l; auto). lia.
  Qed.

  Lemma whole_ordered : forall h i, slotted_run h -> NoDup (map number (transfers s)) -> NoDup (events s) -> i < repeats s ->
    ordered s (of_iteration i h).
  Proof using opens_in_time in_time checked.
    intros h i (D & I & B) U E R.
    assert (apart : forall e f, In (concerns e) (transfers s) -> In (concerns f) (transfers s) -> first_of (i, e) (i, f) ->
      before (of_iteration i h) e f).
    { intros e f P Q X. destruct (B (i, e) (i, f)) as (a & b & c & ->); try (apply I; split; auto); auto.
      exists (of_iteration i a), (of_iteration i b), (of_iteration i c).
      change ((i, e) :: b ++ (i, f) :: c) with ([(i, e)] ++ b ++ [(i, f)] ++ c). rewrite !of_iteration_app.
      unfold of_iteration at 2 4. simpl. rewrite N.eqb_refl. reflexivity. }
    destruct check_parts as (A & L1 & C). constructor.
    - apply NoDup_Permutation; auto.
      + clear - D. induction D as [|[j e] h X D IH]; [constructor|]. unfold of_iteration. simpl.
        destruct (N.eqb_spec j i) as [->|]; auto. simpl. constructor; auto. intros J. apply X. apply in_iteration. auto.
      + intros e. rewrite in_iteration, I. unfold events, is_row. rewrite in_app_iff, !in_map_iff. split.
        * intros [(t & <- & J)|(t & <- & J)]; auto.
        * intros [_ J]. destruct e as [t|t]; [left|right]; eauto.
    - intros t T. apply apart; auto. left. unfold cycle. simpl. unfold lands. destruct (in_time i t); [split; auto|lia].
    - intros t u T V F. apply apart; auto. assert (X : lands i u <= fires i t) by (apply no_row_is_late; auto; split; auto).
      unfold first_of, cycle. simpl. destruct (N.eq_dec (lands i u) (fires i t)); [right; auto|left; lia].
    - intros t u T V Q X. apply apart; auto. left. unfold cycle. simpl. destruct (C t u T V) as [Y _]. specialize (Y Q X).
      unfold lands. destruct (in_time i u); [split; auto|]. destruct (opens_in_time i t); [split; auto|].
      destruct (opens_in_time i u); [split; auto|]. unfold slot in *. lia.
    - intros t u T V Q X O. apply apart; auto. left. unfold cycle. simpl. destruct (C t u T V) as [_ Y]. specialize (Y Q X O).
      unfold lands. destruct (in_time i u); [split; auto|]. destruct (in_time i t); [split; auto|].
      destruct (opens_in_time i t); [split; auto|]. destruct (opens_in_time i u); [split; auto|]. unfold slot in *. lia.
  Qed.

  (** * Links *)

  (** From the cycle in which it fires a message takes up to [stagger] cycles to a link of its route, and holds it for up to [busy]. *)
  Variables (stagger busy : N) (enters : N -> transfer -> resource -> N).
  Hypothesis enters_in_time : forall i t r, enters i t r <= stagger.
  (** The guard: what one slot sends is off the links before that of the next one comes. *)
  Hypothesis guarded : busy + stagger + skew <= slot_length.

  Definition uses_of (t : transfer) : list resource := uses (at_place (links (net s))) t.

  Definition is_on (r : resource) (c : N) (x : N * transfer) : Prop :=
    is_row s (fst x) (snd x) /\ existsb (same_resource r) (uses_of (snd x)) = true /\
    fires (fst x) (snd x) + enters (fst x) (snd x) r <= c < fires (fst x) (snd x) + enters (fst x) (snd x) r + busy.

  Lemma one_slot : forall r c x y, is_on r c x -> is_on r c y -> slot s (fst x) (snd x) = slot s (fst y) (snd y).
  Proof using opens_in_time enters_in_time guarded.
    assert (A : forall r c x y, is_on r c x -> is_on r c y -> slot s (fst x) (snd x) < slot s (fst y) (snd y) -> False).
    { intros r c x y (X & _ & _ & U) (Y & _ & L & _) B. pose proof (opens_in_time _ _ X). pose proof (opens_in_time _ _ Y).
      pose proof (enters_in_time (fst x) (snd x) r).
      assert (slot_length * (slot s (fst x) (snd x) + 1) <= slot_length * slot s (fst y) (snd y)) by (apply N.mul_le_mono_l; lia).
      lia. }
    intros r c x y X Y. destruct (N.lt_trichotomy (slot s (fst x) (snd x)) (slot s (fst y) (snd y))) as [B|[B|B]]; auto; exfalso.
    - apply (A r c x y); auto.
    - apply (A r c y x); auto.
  Qed.

  Definition carried_by (l : list (N * transfer)) : N := fold_right (fun x sum => size_of s (snd x) + sum) 0 l.

  (** In no cycle does a link carry more than it can in a step: what is on it is of one slot, and no more than fits into the rounds of
      that slot's step, which is one round where all steps are. *)
  Theorem no_link_is_overfilled : within_capacity s -> 1 <= period s -> forall r c l, NoDup l -> (forall x, In x l -> is_on r c x) ->
    forall x, In x l -> carried_by l <= capacity (net s) r * rounds_of s (slot s (fst x) (snd x)).
  Proof using opens_in_time enters_in_time guarded.
    intros [W _] P r c l D O x H. set (q := slot s (fst x) (snd x)). etransitivity; [|apply (W q r)].
    assert (same : forall y, In y l -> slot s (fst y) (snd y) = q) by (intros y I; apply (one_slot r c); apply O; auto).
    set (f := fun t => if is_sent_in s q t then size_of s t * N.of_nat (length (filter (same_resource r) (uses_of t))) else 0).
    assert (sent : forall y, In y l -> is_sent_in s q (snd y) = true).
    { intros [i t] I. destruct (O _ I) as [[B T] _]. specialize (same _ I). unfold slot in same. cbn [fst snd] in *. unfold is_sent_in.
      replace (q - step t) with (i * period s) by lia. rewrite N.mod_mul, N.div_mul by lia.
      rewrite !andb_true_iff, N.leb_le, N.eqb_eq, N.ltb_lt. repeat split; auto; lia. }
    transitivity (fold_right (fun u sum => f u + sum) 0 (map snd l)).
    - clear - sent O same. clearbody q. induction l as [|[i t] k IH]; simpl; [lia|]. apply N.add_le_mono.
      + unfold f. specialize (sent (i, t)). specialize (O (i, t)). simpl in sent, O. rewrite sent by auto.
        destruct O as (_ & U & _); auto. cbn [snd] in U. apply existsb_exists in U as (z & Z & E).
        assert (X : (1 <= length (filter (same_resource r) (uses_of t)))%nat).
        { destruct (filter (same_resource r) (uses_of t)) eqn:F; [|simpl; lia]. exfalso.
          assert (Y : In z (filter (same_resource r) (uses_of t))) by (apply filter_In; auto). rewrite F in Y. destruct Y. }
        nia.
      + apply IH; intros; [apply O|apply same|apply sent]; simpl; auto.
    - change (load s q r) with (fold_right (fun u sum => f u + sum) 0 (transfers s)). apply sum_of_some.
      + assert (A : forall y z, In y l -> In z l -> snd y = snd z -> y = z).
        { intros [i t] [j u] I J E. simpl in E. subst u. pose proof (same _ I) as X. pose proof (same _ J) as Y.
          unfold slot in X, Y. simpl in X, Y. assert (Z : i * period s = j * period s) by lia. apply N.mul_cancel_r in Z; [|lia]. congruence. }
        clear - D A. induction D as [|y k N D IH]; simpl; constructor.
        * intros I. apply in_map_iff in I as (z & E & I). apply N. rewrite (A y z); simpl; auto.
        * apply IH. intros u z I J. apply A; simpl; auto.
      + intros u I. apply in_map_iff in I as (y & <- & I). apply (O _ I).
  Qed.
End Slotted.

(** Slotted interfaces that execute an accepted schedule in slots that are long enough end with the result of the collective, in every
    iteration and for every commutative and associative operation, whenever slots open and messages land within their bounds. *)
Theorem slotted_sound : forall s slot_length skew least most opens travel, check s = true ->
  slots_are_right s slot_length skew least most = true ->
  (forall i t, is_row s i t -> slot_length * slot s i t <= fires s opens i t <= slot_length * slot s i t + skew) ->
  (forall i t, is_row s i t -> least <= travel i t <= most) ->
  forall h, slotted_run s opens travel h -> forall (V : Type) (add : V -> V -> V),
    (forall a b, add a b = add b a) -> (forall a b c, add a (add b c) = add (add a b) c) ->
    forall (own : N -> N -> N -> V) start, (forall i, i < repeats s -> starts V s (own i) (start i)) ->
    forall i, i < repeats s -> keeps_promise V add s (own i) (fold_left (happen_in V add) h start i).
Proof.
  intros s sl skew least most opens tr H C A B h R V add A1 A2 own start S i I. rewrite one_iteration.
  pose proof H as Q. unfold check, check_at in Q. rewrite !andb_true_iff in Q. destruct Q as [[[[F _] _] _] _].
  destruct (form_parts s F) as (_ & _ & _ & _ & G). apply ordered_ends_right; auto.
  apply (whole_ordered s sl skew least most opens tr); auto; [apply G|apply events_distinct; auto].
Qed.

Print Assumptions slotted_sound.
Print Assumptions slotted_runs_exist.
Print Assumptions no_row_is_late.
Print Assumptions no_link_is_overfilled.
