(** [check_sound]: what the checker accepts is right, in every run and for every operation. *)

From Coq Require Import Arith NArith PArith List Bool Permutation FinFun FMapPositive Lia.
From Proved Require Import Definitions Checker Keys Order Loads Contents.
Import ListNotations.
Open Scope N_scope.

(** Memories that hold and carry the same. *)
Definition alike {V} (m n : memory V) : Prop :=
  (forall c, held V m c = held V n c) /\ (forall i, carried V m i = carried V n i).

Section Runs.
  Variables (V : Type) (add : V -> V -> V).
  Hypothesis add_comm : forall a b, add a b = add b a.
  Hypothesis add_assoc : forall a b c, add a (add b c) = add (add a b) c.
  Notation happen := (happen V add).

  Lemma alike_happen : forall m n e, alike m n -> alike (happen m e) (happen n e).
  Proof using.
    intros m n [u|u] [H C]; split; simpl; intros x; auto.
    - rewrite H, C. auto.
    - rewrite C, !H. auto.
  Qed.

  Lemma sends_commute : forall u v, number u <> number v -> commute _ alike happen (Send u) (Send v).
  Proof using.
    intros u v D m. split; simpl; intros x; auto.
    destruct (Pos.eqb_spec x (number v)) as [->|]; auto. destruct (Pos.eqb_spec (number v) (number u)); auto. congruence.
  Qed.

  Lemma not_same : forall c d, c <> d -> same_cell c d = false.
  Proof using. intros c d D. destruct (same_cell c d) eqn:E; auto. apply same_cell_spec in E. contradiction. Qed.

  Lemma not_same_number : forall i j : positive, i <> j -> (i =? j)%positive = false.
  Proof using. intros i j D. apply Pos.eqb_neq. auto. Qed.

  Lemma send_land_commute : forall u v, number u <> number v -> source u <> target v ->
    commute _ alike happen (Send u) (Land v) /\ commute _ alike happen (Land v) (Send u).
  Proof using.
    intros u v D E.
    assert (A : forall m, alike (happen (happen m (Send u)) (Land v)) (happen (happen m (Land v)) (Send u))).
    { intros m. split; simpl; intros x.
      - rewrite not_same_number by auto. auto.
      - rewrite (not_same _ _ E). auto. }
    split; intros m; auto. destruct (A m) as [B C]. split; intros; symmetry; auto.
  Qed.

  Lemma lands_apart_commute : forall u v, target u <> target v -> commute _ alike happen (Land u) (Land v).
  Proof using.
    intros u v D m. split; auto. intros c. simpl.
    rewrite (not_same _ _ D), (not_same (target v) (target u)) by congruence.
    destruct (same_cell c (target v)) eqn:G; auto. apply same_cell_spec in G as ->.
    rewrite (not_same (target v) (target u)) by congruence. auto.
  Qed.

  Lemma lands_commute : forall u v, target u <> target v \/ (op u = Reduce /\ op v = Reduce) ->
    commute _ alike happen (Land u) (Land v).
  Proof using add_comm add_assoc.
    intros u v [D|[P Q]]; [apply lands_apart_commute; auto|]. destruct (same_cell (target u) (target v)) eqn:E.
    - apply same_cell_spec in E. intros m. split; auto. intros c. simpl. rewrite P, Q, E.
      destruct (same_cell c (target v)); auto.
      replace (same_cell (target v) (target v)) with true by (symmetry; apply same_cell_spec; auto).
      rewrite <- !(plus_assoc V add add_assoc). f_equal. apply plus_comm. auto.
    - apply lands_apart_commute. intros D. apply same_cell_spec in D. congruence.
  Qed.
End Runs.

(** * All runs *)

Section Accepted.
  Variables (m : timing) (s : schedule).
  Notation t := (tables_of s).
  Hypothesis form : form_is_right s t = true.
  Hypothesis order : order_is_right m s = true.

  Lemma form_parts : 1 <= delay s /\ 1 <= period s /\ 1 <= repeats s /\
    (repeats s = 1 \/ forallb (N.eqb 1) (rounds s) = true) /\ well_formed s.
  Proof using form.
    unfold form_is_right in form. rewrite !andb_true_iff, !N.leb_le, orb_true_iff, N.eqb_eq, !forallb_forall in form.
    destruct form as [[[[[[[[A B] C] D] E] F] G] K] H]. repeat split; auto.
    - rewrite forallb_forall. auto.
    - apply is_rising_spec in H as [H _]. apply (NoDup_map_inv Npos). rewrite map_map. auto.
    - apply is_rising_spec in E. tauto.
    - intros n I. specialize (F n I). change (kinds t) with (array (nodes (net s))) in F. rewrite look_array in F.
      destruct (at_place (nodes (net s)) n) as [[]|]; auto; discriminate.
    - intros k a I O. specialize (G k I). rewrite !andb_true_iff in G. destruct G as [[G1 G2] _].
      destruct O as [O|O]; rewrite O in *; simpl in *; rewrite is_member_spec in *; apply existsb_In; auto.
    - intros k I. specialize (G k I). rewrite !andb_true_iff in G. tauto.
    - apply blocks_sound. auto.
  Qed.

  Lemma distinct : forall u v, In u (transfers s) -> In v (transfers s) -> number u = number v -> u = v.
  Proof using form.
    destruct form_parts as (_ & _ & _ & _ & D & _). revert D.
    induction (transfers s) as [|x l IH]; intros D u v I J E; [destruct I|].
    simpl in D. inversion D as [|? ? X D']; subst.
    destruct I as [->|I], J as [->|J]; auto.
    - exfalso. apply X. rewrite E. apply in_map. auto.
    - exfalso. apply X. rewrite <- E. apply in_map. auto.
  Qed.

  Lemma events_distinct : NoDup (events s).
  Proof using form.
    destruct form_parts as (_ & _ & _ & _ & D & _). apply NoDup_map_inv in D. unfold events.
    assert (A : forall f : transfer -> event, (forall u v, f u = f v -> u = v) -> NoDup (map f (transfers s))).
    { intros f F. induction D as [|x l X D IH]; simpl; constructor; auto.
      intros I. apply in_map_iff in I as (y & E & I). apply F in E. congruence. }
    assert (B : forall l k : list event, NoDup l -> NoDup k -> (forall e, In e l -> ~ In e k) -> NoDup (l ++ k)).
    { induction l as [|x l IH]; intros k L K I; simpl; auto. inversion L; subst. constructor.
      - rewrite in_app_iff. intros [J|J]; auto. apply (I x); simpl; auto.
      - apply IH; auto. intros e J. apply I. simpl. auto. }
    apply B; try (apply A; congruence).
    intros e I J. apply in_map_iff in I as (x & <- & _). apply in_map_iff in J as (y & E & _). discriminate.
  Qed.

  Lemma canonical_distinct : NoDup (canonical s).
  Proof using form. eapply Permutation_NoDup; [apply canonical_permutation|apply events_distinct]. Qed.

  Lemma in_canonical : forall e, In e (canonical s) -> In (concerns e) (transfers s).
  Proof using.
    intros e I. apply (Permutation_in _ (Permutation_sym (canonical_permutation s))) in I.
    unfold events in I. apply in_app_iff in I as [I|I]; apply in_map_iff in I as (u & <- & I); auto.
  Qed.

  Lemma in_time : forall e f, before (canonical s) e f -> moment (delay s) e <= moment (delay s) f.
  Proof using order.
    intros e f B. unfold order_is_right in order. apply andb_true_iff in order as [A _]. rewrite walk_follow in A.
    fold (canonical s) in A. destruct (follow _ _ _ _) eqn:E in A; [|discriminate].
    eapply ticks_before; [|exact B]. rewrite E. discriminate.
  Qed.

  Lemma marked : exists k, follow marks (mark m (delay s)) (canonical s) k <> None.
  Proof using order.
    unfold order_is_right in order. apply andb_true_iff in order as [_ A]. rewrite walk_follow in A.
    eexists. unfold canonical. destruct (follow marks _ _ _) eqn:E in A; [|discriminate]. rewrite E. discriminate.
  Qed.

  (** The order of the checker is a run: runs exist. *)
  Theorem canonical_run : run m s (canonical s).
  Proof using form order.
    split; [apply canonical_permutation|].
    destruct form_parts as (D & _). intros e f I J P.
    assert (N : e <> f) by (intros ->; destruct f, m; simpl in P; auto; lia).
    destruct (before_total _ _ _ I J N) as [B|B]; auto. apply in_time in B.
    destruct e as [u|u], f as [v|v], m; cbn [moment must_precede] in *; try contradiction; lia.
  Qed.

  (** In a run a landing never comes before one that must be over when what lands is sent. *)
  Lemma landings_in_turn : forall r u v, run m s r -> before r (Land u) (Land v) -> In u (transfers s) -> In v (transfers s) ->
    step v + match m with Held => 1 | Early => delay s end <= step u -> False.
  Proof using form order.
    intros r u v [P R] B I J L. destruct form_parts as (D & _).
    assert (DR : NoDup r) by (eapply Permutation_NoDup; [exact P|apply events_distinct]).
    assert (there : forall t, In t (transfers s) -> In (Send t) r /\ In (Land t) r).
    { intros t K. split; apply (Permutation_in _ P); unfold events; apply in_app_iff; [left|right]; apply in_map; auto. }
    apply (before_asymmetric r (Land u) (Land v)); auto. destruct (there u I), (there v J). destruct m.
    - apply R; auto. simpl. lia.
    - apply (before_transitive r _ (Send u)); auto; apply R; simpl; auto; lia.
  Qed.

  (** What may change places. *)
  Definition free (e f : event) : Prop :=
    match e, f with
    | Send u, Send v => number u <> number v
    | Send u, Land v | Land v, Send u => number u <> number v /\ source u <> target v
    | Land u, Land v => target u <> target v \/ (op u = Reduce /\ op v = Reduce)
    end.

  Lemma inverted_free : forall r, run m s r -> forall e f, before r e f -> before (canonical s) f e -> free e f.
  Proof using form order.
    intros r Q e f B C. destruct form_parts as (D & _). destruct marked as [k M]. pose proof Q as [P R].
    assert (DR : NoDup r) by (eapply Permutation_NoDup; [exact P|apply events_distinct]).
    assert (not : ~ must_precede m (delay s) f e).
    { intros X. destruct (before_In _ _ _ B). apply (before_asymmetric r e f); auto. }
    destruct (before_In _ _ _ C) as [I J]. apply in_canonical in I, J.
    pose proof (in_time _ _ C) as T.
    assert (differ : e <> f) by (intros ->; eapply before_asymmetric; eauto using canonical_distinct).
    destruct e as [u|u], f as [v|v]; cbn [moment must_precede concerns free] in *.
    - intros E. apply differ. f_equal. apply distinct; auto.
    - exfalso. apply not. lia.
    - destruct m eqn:H; [exfalso; apply not; lia|]. split.
      + intros E. apply not. apply distinct in E; auto. subst. lia.
      + intros E. apply not. exact (sending_apart Early _ _ _ _ _ eq_refl M C E).
    - destruct (same_cell (target u) (target v)) eqn:S.
      + apply same_cell_spec in S. destruct (op u) eqn:U, (op v) eqn:W; auto; exfalso;
          apply (landings_in_turn r u v); auto; eapply landing_apart; eauto; congruence.
      + left. intros E. apply same_cell_spec in E. congruence.
  Qed.

  Lemma inverted_commute : forall V (add : V -> V -> V), (forall a b, add a b = add b a) ->
    (forall a b c, add a (add b c) = add (add a b) c) -> forall r, run m s r -> forall e f, before r e f ->
    before (canonical s) f e -> commute _ alike (happen V add) e f.
  Proof using form order.
    intros V add A1 A2 r Q e f B C. pose proof (inverted_free r Q e f B C) as F. destruct e as [u|u], f as [v|v]; simpl in F.
    - apply sends_commute. auto.
    - apply send_land_commute; tauto.
    - destruct F. apply send_land_commute; auto.
    - apply lands_commute; auto.
  Qed.
End Accepted.

Lemma is_wired_ext : forall f f' g g' w w' d b u, (forall i, f i = f' i) -> (forall i, g i = g' i) ->
  (forall i j, w i j = w' i j) -> is_wired f g w d b u = is_wired f' g' w' d b u.
Proof.
  intros f f' g g' w w' d b u F G W. unfold is_wired. destruct (source u) as [x y z], (target u) as [x' y' z'].
  unfold is_cell. simpl. rewrite !F, W. f_equal. destruct (via u) as [route|]; auto.
  assert (H : forall l here there visited, is_chain f g d here there visited l = is_chain f' g' d here there visited l).
  { induction l as [|k l IH]; intros here there visited; simpl; auto. rewrite G. destruct (g' k) as [j|]; auto.
    f_equal. destruct l as [|i l]; auto. rewrite IH. f_equal. unfold forwards. rewrite F. auto. }
  apply H.
Qed.

Lemma wiring_sound : forall s, wiring_is_right s (tables_of s) = true -> well_wired s.
Proof.
  intros s W u I. unfold wiring_is_right in W. rewrite forallb_forall in W. specialize (W u I).
  apply andb_true_iff in W as [A B]. split.
  - rewrite <- A. apply is_wired_ext.
    + intros i. symmetry. apply look_array.
    + intros i. symmetry. apply look_array.
    + intros i j. symmetry. apply width_between.
  - change (infos (tables_of s)) with (array (chunks s)) in B. rewrite look_array in B.
    destruct (at_place (chunks s) (of_chunk (source u))); congruence.
Qed.

Lemma one_iteration : forall V add i r (start : N -> memory V),
  fold_left (happen_in V add) r start i = fold_left (happen V add) (of_iteration i r) (start i).
Proof.
  intros V add i. induction r as [|[j e] r IH]; intros start; auto. cbn [fold_left]. rewrite IH.
  unfold of_iteration, happen_in. cbn [filter fst snd]. rewrite N.eqb_sym. destruct (j =? i); reflexivity.
Qed.

(** An accepted schedule ends with its results in every order of its events in which only events that commute change places. *)
Lemma commuting_ends_right : forall m s, check_at m s = true -> forall V (add : V -> V -> V),
  (forall a b, add a b = add b a) -> (forall a b c, add a (add b c) = add (add a b) c) ->
  forall own start, starts V s own start -> forall r, Permutation (events s) r ->
  (forall e f, before r e f -> before (canonical s) f e -> commute _ alike (happen V add) e f) ->
  keeps_promise V add s own (fold_left (happen V add) r start).
Proof.
  intros m s H V add A1 A2 own start S r P X. unfold check_at in H. rewrite !andb_true_iff in H. destruct H as [[[[F W] _] _] C].
  destruct (form_parts s F) as (_ & _ & _ & _ & G).
  assert (wired : forall u, In u (transfers s) -> is_wired (look (kinds (tables_of s))) (look (wires (tables_of s)))
    (fun a b => number_at (widths (tables_of s)) (key a b)) (negb (existsb is_switch (nodes (net s)))) (buffers s) u = true).
  { intros u I. unfold wiring_is_right in W. rewrite forallb_forall in W. specialize (W u I). apply andb_true_iff in W. tauto. }
  pose proof (canonical_result V add A1 A2 s own G wired (distinct s F) C start S) as K.
  assert (E : alike (fold_left (happen V add) r start) (fold_left (happen V add) (canonical s) start)).
  { apply any_order; auto.
    - split; auto.
    - intros ? ? ? [A B] [A' B']. split; intros; [rewrite A|rewrite B]; auto.
    - intros. apply alike_happen. auto.
    - eapply canonical_distinct; eauto.
    - etransitivity; [symmetry; apply canonical_permutation|auto]. }
  intros c k n A B. destruct E as [E _]. rewrite E. apply K; auto.
Qed.

Theorem check_at_sound : forall m s, check_at m s = true -> right m s.
Proof.
  intros m s H. pose proof H as H'. unfold check_at in H'. rewrite !andb_true_iff in H'. destruct H' as [[[[F W] L] O] _].
  destruct (form_parts s F) as (_ & P & R & N & G).
  split; [auto|]. split; [apply wiring_sound; auto|]. split; [apply links_sound; auto|].
  intros V add A1 A2 own r start Q S i I. specialize (Q i I). rewrite one_iteration.
  apply (commuting_ends_right m); auto; [apply Q|]. intros e f B B'. eapply inverted_commute; eauto.
Qed.

Lemma same_chunk : forall m s, right m s -> forall u, In u (transfers s) -> of_chunk (source u) = of_chunk (target u).
Proof.
  intros m s (_ & W & _) u I. destruct (W u I) as [H _]. unfold is_wired in H.
  destruct (source u), (target u). rewrite !andb_true_iff in H. destruct H as [[_ H] _]. apply N.eqb_eq in H. auto.
Qed.

Theorem check_sound : forall s, check s = true -> right (timing_of s) s.
Proof. intros s. apply check_at_sound. Qed.

Lemma check_form : forall s, check s = true -> 1 <= delay s /\ 1 <= period s /\ 1 <= repeats s /\
  (repeats s = 1 \/ forallb (N.eqb 1) (rounds s) = true) /\ well_formed s.
Proof.
  intros s H. unfold check, check_at in H. rewrite !andb_true_iff in H. destruct H as [[[[F _] _] _] _].
  apply form_parts. auto.
Qed.

Lemma of_iterations : forall i c l, NoDup l ->
  (In i l -> of_iteration i (flat_map (fun j => map (pair j) c) l) = c) /\
  (~ In i l -> of_iteration i (flat_map (fun j => map (pair j) c) l) = []).
Proof.
  intros i c l D. unfold of_iteration.
  assert (H : forall j, map snd (filter (fun e => fst e =? i) (map (pair j) c)) = if j =? i then c else []).
  { intros j. induction c as [|e c IH]; cbn [map filter fst]; [destruct (j =? i); auto|].
    destruct (j =? i); cbn [map snd]; auto. rewrite IH. auto. }
  induction D as [|j l N D [IH1 IH2]]; [split; [intros []|auto]|].
  cbn [flat_map]. rewrite filter_app, map_app, H. destruct (N.eqb_spec j i) as [->|E]; split; intros I.
  - rewrite IH2 by auto. apply app_nil_r.
  - destruct I. simpl. auto.
  - rewrite IH1; auto. destruct I; [contradiction|auto].
  - rewrite IH2; auto. intros J. apply I. simpl. auto.
Qed.

(** The theorem is about something: an accepted schedule has a run, and memories in which it may start. *)
Theorem check_has_runs : forall s, check s = true -> exists r, whole_run (timing_of s) s r.
Proof.
  intros s H. unfold check, check_at in H. rewrite !andb_true_iff in H. destruct H as [[[[F W] L] O] C].
  exists (flat_map (fun i => map (pair i) (canonical s)) (map N.of_nat (seq 0 (N.to_nat (repeats s))))). intros i I.
  replace (of_iteration i _) with (canonical s); [apply canonical_run; auto|].
  symmetry. apply of_iterations.
  - apply FinFun.Injective_map_NoDup; [|apply seq_NoDup]. intros a b. apply Nat2N.inj.
  - apply in_map_iff. exists (N.to_nat i). rewrite N2Nat.id, in_seq. split; auto. lia.
Qed.

Theorem check_has_starts : forall s, check s = true -> forall V (own : N -> N -> V), exists m, starts V s own m.
Proof.
  intros s H V own. apply check_sound in H as [(_ & D & E & P & _) _].
  exists (Memory V (fun c => match at_place (nodes (net s)) (node c) with
    | Some Reducing => None | _ => Some (own (node c) (of_chunk c)) end) (fun _ => None)).
  intros c. simpl. split.
  - intros ->. auto.
  - intros k K _ O. rewrite (E (node c)); auto.
    destruct (origin k) as [|a] eqn:Q; simpl in O.
    + apply existsb_In. auto.
    + apply N.eqb_eq in O. rewrite O. apply (P k); auto. eapply nth_error_In; eauto.
Qed.
