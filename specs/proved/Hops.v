(** [distance_sound]: data that must pass that many transfers, one after the other, take that many delays. *)

From Coq Require Import Arith NArith PArith List Bool Permutation Lia.
From Proved Require Import Definitions Checker Keys Order Sound Distances Information.
Import ListNotations.
Open Scope N_scope.

Definition is_endpoint (s : schedule) (n : N) : bool :=
  match at_place (nodes (net s)) n with Some Endpoint => true | _ => false end.

(** Labels that rise by no more than one along a link into an endpoint, and not at all along one into a switch. *)
Definition counts_hops (s : schedule) (label : N -> N) : Prop :=
  forall k, In k (links (net s)) -> label (head k) <= label (tail k) + (if is_endpoint s (head k) then 1 else 0).

(** No transfer passes an endpoint: there are switches, so that endpoints do not forward, or each route is a link. *)
Definition passes_no_endpoint (s : schedule) : Prop :=
  existsb is_switch (nodes (net s)) = true \/
  forall u route, In u (transfers s) -> via u = Some route -> exists l, route = [l].

Section Hops.
  Variables (s : schedule) (label : N -> N).
  Hypothesis accepted : check s = true.
  Hypothesis labels : counts_hops s label.
  Hypothesis through_switches : passes_no_endpoint s.

  Lemma chain_of_switches : forall route here there visited,
    is_chain (at_place (nodes (net s))) (at_place (links (net s))) false here there visited route = true ->
    label there <= label here + 1.
  Proof using labels.
    induction route as [|l route IH]; intros here there visited H; [discriminate|].
    cbn [is_chain] in H. destruct (at_place (links (net s)) l) as [k|] eqn:K; [|discriminate].
    rewrite !andb_true_iff, N.eqb_eq in H. destruct H as [[<- _] H].
    pose proof (labels k (nth_error_In _ _ K)) as L. destruct route as [|i route].
    - apply N.eqb_eq in H as <-. destruct (is_endpoint s (head k)); lia.
    - apply andb_true_iff in H as [F H]. apply IH in H. unfold is_endpoint in L. unfold forwards in F.
      destruct (at_place (nodes (net s)) (head k)) as [[]|]; try discriminate; lia.
  Qed.

  Lemma one_hop : forall u, In u (transfers s) -> label (node (target u)) <= label (node (source u)) + 1.
  Proof using accepted labels through_switches.
    intros u I. destruct (check_sound s accepted) as (_ & W & _). destruct (W u I) as [H _]. unfold is_wired in H.
    destruct (source u) as [a x c], (target u) as [b y d]. cbn [node]. apply andb_true_iff in H as [_ H].
    destruct (via u) as [route|] eqn:V.
    - destruct through_switches as [S|S].
      + rewrite S in H. apply (chain_of_switches _ _ _ _ H).
      + destruct (S u route I V) as [l ->]. cbn [is_chain] in H.
        destruct (at_place (links (net s)) l) as [k|] eqn:K; [|discriminate].
        rewrite !andb_true_iff, !N.eqb_eq in H. destruct H as [[<- _] <-].
        pose proof (labels k (nth_error_In _ _ K)) as L. destruct (is_endpoint s (head k)); lia.
    - destruct (N.eqb_spec a b) as [->|]; [lia|]. apply N.ltb_lt in H.
      destruct (capacity_link s _ _ H) as (k & J & <- & <-). pose proof (labels k J) as L. destruct (is_endpoint s (head k)); lia.
  Qed.

  Variable a : N.
  Hypothesis start : label a = 0.

  (** Two runs that differ in what [a] starts with. *)
  Definition with_it (l : list event) : memory bool := fold_left (happen bool orb) l (marked s (fun n => n =? a)).
  Definition without (l : list event) : memory bool := fold_left (happen bool orb) l (marked s (fun _ => false)).

  Definition in_order (l : list event) : Prop := forall e f, before l e f -> moment (delay s) e <= moment (delay s) f.

  Lemma option_dec : forall v w : option bool, {v = w} + {v <> w}.
  Proof using. decide equality. apply bool_dec. Qed.

  (** Up to moment [now] they differ in nodes alone that can be reached by then. *)
  Lemma differ_in_reach : forall l now, in_order l -> incl l (events s) -> (forall e, In e l -> moment (delay s) e <= now) ->
    (forall d, held _ (with_it l) d <> held _ (without l) d ->
      2 * (label (node d) * delay s) <= now /\
      (label (node d) = 0 \/ exists u, In u (transfers s) /\ label (node d) * delay s <= step u + delay s)) /\
    (forall u, In u (transfers s) -> carried _ (with_it l) (number u) <> carried _ (without l) (number u) ->
      label (node (source u)) * delay s <= step u).
  Proof using accepted labels through_switches start.
    induction l as [|e l IH] using rev_ind; intros now O I T.
    - split; [|intros u _ D; contradiction D; reflexivity]. intros d D.
      assert (E : node d = a).
      { destruct (N.eqb_spec (node d) a) as [|N]; auto. contradiction D. cbn.
        destruct (at_place (nodes (net s)) (node d)) as [[]|]; auto; f_equal; apply N.eqb_neq; auto. }
      rewrite E, start. split; [lia|auto].
    - assert (X : In e (l ++ [e])) by (apply in_app_iff; simpl; auto). pose proof (T e X) as M.
      destruct (IH (moment (delay s) e)) as [A B].
      + intros f g F. apply O. apply before_remove. rewrite app_nil_r. auto.
      + intros f F. apply I. apply in_app_iff. auto.
      + intros f F. apply O. apply before_prefix. auto.
      + assert (J : exists u, In u (transfers s) /\ (e = Send u \/ e = Land u)).
        { specialize (I e X). unfold events in I. apply in_app_iff in I as [I|I]; apply in_map_iff in I as (u & <- & I); exists u; auto. }
        unfold with_it, without. rewrite !fold_left_app. fold (with_it l) (without l).
        destruct J as (u & J & [-> | ->]); cbn [fold_left happen held carried moment] in *.
        * split; [intros d D; apply A in D as [D E]; split; [lia|auto]|]. intros v K D.
          destruct (Pos.eqb_spec (number v) (number u)) as [E|E]; [|auto].
          assert (v = u) as -> by (apply (number_names (timing_of s) s (check_sound s accepted)); auto).
          apply A in D as [D _]. lia.
        * split; [|auto]. intros d D. destruct (same_cell d (target u)) eqn:E; [|apply A in D as [D F]; split; [lia|auto]].
          apply same_cell_spec in E as ->.
          destruct (option_dec (carried _ (with_it l) (number u)) (carried _ (without l) (number u))) as [C|C].
          -- rewrite C in D. destruct (option_dec (held _ (with_it l) (target u)) (held _ (without l) (target u))) as [G|G].
             ++ rewrite G in D. contradiction D. auto.
             ++ apply A in G as [G F]. split; [lia|auto].
          -- apply B in C; auto. pose proof (one_hop u J) as H.
             assert (Y : label (node (target u)) * delay s <= step u + delay s) by nia.
             split; [lia|]. right. exists u. auto.
  Qed.
End Hops.

(** In the order of the checker memories that mark contributors end with the marks of all. *)
Lemma marked_result : forall s c k n f, check s = true -> at_place (chunks s) c = Some k -> is_one_of s (due k) n = true ->
  held bool (fold_left (happen bool orb) (canonical s) (marked s f)) (Cell n 0 c) = result bool orb s (fun x _ => f x) c k.
Proof.
  intros s c k n f C K U. assert (F := C). unfold check, check_at in F. rewrite !andb_true_iff in F. destruct F as [[[[F _] _] _] _].
  apply (commuting_ends_right (timing_of s) s C bool orb orb_comm orb_assoc (fun x _ => f x) (marked s f)); auto.
  - apply (marked_starts (timing_of s) s (check_sound s C)).
  - apply canonical_permutation.
  - intros e g B B'. exfalso. revert B B'. apply before_asymmetric. apply (canonical_distinct s F).
Qed.

Lemma marks_differ : forall s c k a, In a (contributors s k) ->
  result bool orb s (fun x _ => x =? a) c k <> result bool orb s (fun _ _ => false) c k.
Proof.
  intros s c k a I. unfold result. fold (contributors s k). rewrite (sum_true (fun x => x =? a) c _ a (N.eqb_refl _) I).
  destruct (sum_false c (contributors s k)) as [E|E]; rewrite E; discriminate.
Qed.

(** What is due at a node of label h has come by h transfers, one after the other: the last is sent in step (h - 1) · delay or later. *)
Theorem distance_sound : forall s label c k a n, check s = true -> counts_hops s label -> passes_no_endpoint s ->
  at_place (chunks s) c = Some k -> In a (contributors s k) -> is_one_of s (due k) n = true ->
  label a = 0 -> 1 <= label n -> exists u, In u (transfers s) /\ (label n - 1) * delay s <= step u.
Proof.
  intros s label c k a n C L W K I U Z P.
  assert (O := C). unfold check, check_at in O. rewrite !andb_true_iff in O. destruct O as [[_ O] _].
  destruct (differ_in_reach s label C L W a Z (canonical s) (add_up (moment (delay s)) (canonical s))) as [D _].
  - intros e f. apply (in_time (timing_of s) s O).
  - intros e J. apply (Permutation_in _ (Permutation_sym (canonical_permutation s))). auto.
  - intros e. apply add_up_one.
  - destruct (D (Cell n 0 c)) as [_ [E|(u & J & E)]].
    + unfold with_it, without. rewrite !(marked_result s c k) by auto. apply marks_differ. auto.
    + cbn [node] in E. lia.
    + exists u. split; auto. cbn [node] in E. nia.
Qed.

(** What is due at another node than one where it comes from takes a transfer, whatever routes pass. *)
Theorem hop_sound : forall s c k a n, check s = true -> at_place (chunks s) c = Some k -> In a (contributors s k) ->
  is_one_of s (due k) n = true -> a <> n -> transfers s <> [].
Proof.
  intros s c k a n C K I U D E. apply (marks_differ s c k a I). rewrite <- !(marked_result s c k n) by auto.
  assert (N : canonical s = []) by (unfold canonical; rewrite E; auto). rewrite N. cbn.
  destruct (at_place (nodes (net s)) n) as [[]|]; auto; f_equal; apply N.eqb_neq; auto.
Qed.

Print Assumptions distance_sound.
Print Assumptions hop_sound.
