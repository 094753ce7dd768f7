(** [lockstep_sound]: interfaces that execute the rows of an accepted schedule at any timing never deadlock, and end with its result.

    An interface has the rows of its node. It fires a row when those of its node in earlier slots have fired, and when as many
    messages have landed in the cell that the row reads as land there by its slot in the schedule. No clock is shared: what a counter or
    a down-counter adds to these two conditions is time, and any time may pass. Messages take as long as they like, and overtake
    each other. *)

From Coq Require Import Arith NArith PArith List Bool Permutation FMapPositive Lia.
From Proved Require Import Definitions Checker Keys Order Loads Contents Sound.
Import ListNotations.
Open Scope N_scope.

Definition event_dec : forall e f : event, {e = f} + {e <> f}.
Proof. repeat decide equality. Defined.

(** * Orders of events that end right *)

Section Orders.
  Variable s : schedule.

  (** A row reads what lands in its cell until its slot in the schedule. *)
  Definition feeds (t u : transfer) : bool := same_cell (target u) (source t) && (step u + delay s <=? step t).

  Lemma feeds_spec : forall t u, feeds t u = true <-> target u = source t /\ step u + delay s <= step t.
  Proof using. intros. unfold feeds. rewrite andb_true_iff, same_cell_spec, N.leb_le. reflexivity. Qed.

  (** All events of an iteration, each once, where what must not change places does not: messages land after they are sent, rows fire
      after what feeds them and before what lands later in the cell that they read, and copies keep their place among what lands in
      their cell. *)
  Record ordered (r : list event) : Prop := {
    all_there : Permutation (events s) r;
    sent_first : forall t, In t (transfers s) -> before r (Send t) (Land t);
    fed_first : forall t u, In t (transfers s) -> In u (transfers s) -> feeds t u = true -> before r (Land u) (Send t);
    read_first : forall t u, In t (transfers s) -> In u (transfers s) -> target u = source t -> step t < step u + delay s ->
      before r (Send t) (Land u);
    copies_in_turn : forall t u, In t (transfers s) -> In u (transfers s) -> target t = target u -> step t < step u ->
      op t = Copy \/ op u = Copy -> before r (Land t) (Land u) }.

  Hypothesis accepted : check s = true.
  Variables (V : Type) (add : V -> V -> V).
  Hypothesis add_comm : forall a b, add a b = add b a.
  Hypothesis add_assoc : forall a b c, add a (add b c) = add (add a b) c.

  Lemma exchanged : forall r, ordered r -> forall e f, before r e f -> before (canonical s) f e ->
    commute _ alike (happen V add) e f.
  Proof using accepted add_comm add_assoc.
    intros r [P S F R C] e f X Y. pose proof accepted as A. unfold check, check_at in A. rewrite !andb_true_iff in A.
    destruct A as [[[[W _] _] O] _]. destruct (form_parts s W) as (D & _). destruct (marked _ s O) as [k M].
    assert (N : NoDup r) by (eapply Permutation_NoDup; [exact P|apply events_distinct; auto]).
    pose proof (in_time _ s O _ _ Y) as T. destruct (before_In _ _ _ Y) as [I J]. apply in_canonical in I, J.
    assert (differ : e <> f) by (intros ->; eapply before_asymmetric; eauto).
    assert (contrary : before r f e -> False) by (intros Z; eapply before_asymmetric; eauto).
    destruct e as [u|u], f as [v|v]; cbn [moment concerns] in I, J, T.
    - apply sends_commute. intros E. apply differ. f_equal. apply (distinct s W); auto.
    - apply send_land_commute.
      + intros E. apply (distinct s W) in E; auto. subst. lia.
      + intros E. apply contrary. apply F; auto. apply feeds_spec. split; auto. lia.
    - apply send_land_commute.
      + intros E. apply (distinct s W) in E; auto. subst v. apply contrary. auto.
      + intros E. apply contrary. apply R; auto. lia.
    - apply lands_commute; auto. destruct (same_cell (target u) (target v)) eqn:Q.
      + apply same_cell_spec in Q. destruct (op u) eqn:U, (op v) eqn:Z; auto; exfalso;
          assert (L : step v + match timing_of s with Held => 1 | Early => delay s end <= step u)
            by (eapply landing_apart; eauto; congruence);
          apply contrary; apply C; auto; destruct (timing_of s); lia.
      + left. intros E. apply same_cell_spec in E. congruence.
  Qed.

  Theorem ordered_ends_right : forall own m r, starts V s own m -> ordered r -> keeps_promise V add s own (fold_left (happen V add) r m).
  Proof using accepted add_comm add_assoc.
    intros own m r S O. apply (commuting_ends_right (timing_of s)); auto; [apply (all_there r O)|]. apply exchanged. auto.
  Qed.
End Orders.

Section Interfaces.
  Variable s : schedule.

  (** * What interfaces do *)

  (** Everything that has happened so far, the first event first; each says of which iteration it is. *)
  Definition history := list (N * event).

  (** The slot of a row in the schedule, counted over all iterations. *)
  Definition slot (i : N) (t : transfer) : N := step t + i * period s.

  (** A row waits for what feeds it. *)
  Notation feeds := (feeds s).
  Definition wait (t : transfer) : nat := length (filter (feeds t) (transfers s)).

  (** What an interface counts: the messages of an iteration that have landed in a cell. *)
  Definition lands_in (c : cell) (e : event) : bool :=
    match e with Land u => same_cell (target u) c | Send _ => false end.
  Definition counted (h : history) (i : N) (c : cell) : nat := length (filter (lands_in c) (of_iteration i h)).

  Definition is_row (i : N) (t : transfer) : Prop := i < repeats s /\ In t (transfers s).

  (** What may happen next. *)
  Inductive may (h : history) : N * event -> Prop :=
  | fire : forall i t, is_row i t -> ~ In (i, Send t) h ->
      (forall j u, is_row j u -> node (source u) = node (source t) -> slot j u < slot i t -> In (j, Send u) h) ->
      (wait t <= counted h i (source t))%nat -> may h (i, Send t)
  | land : forall i t, In (i, Send t) h -> ~ In (i, Land t) h -> may h (i, Land t).

  Inductive reached : history -> Prop :=
  | nothing : reached []
  | next : forall h e, reached h -> may h e -> reached (h ++ [e]).

  (** All messages of all iterations have landed. *)
  Definition complete (h : history) : Prop := forall i t, is_row i t -> In (i, Land t) h.

  (** * Tables that are right at any timing *)

  (** What waits make certain: a message lands after it is sent, a node fires its rows slot by slot, and a row fires after what feeds it
      has landed. *)
  Inductive link : event -> event -> Prop :=
  | own : forall t, link (Send t) (Land t)
  | turn : forall u t, node (source u) = node (source t) -> step u < step t -> link (Send u) (Send t)
  | food : forall u t, feeds t u = true -> link (Land u) (Send t).

  Definition concerns_row (e : event) : Prop := In (concerns e) (transfers s).

  Inductive chain : event -> event -> Prop :=
  | one : forall e f, concerns_row e -> link e f -> chain e f
  | more : forall e f g, concerns_row e -> link e f -> chain f g -> chain e g.

  (** Chains of waits lead from each row to what lands later in the cell that it reads, and from a copy, or to one, to what lands later
      in its cell (A12). *)
  Definition at_any_timing : Prop :=
    (forall t u, In t (transfers s) -> In u (transfers s) -> target u = source t -> step t < step u + delay s ->
      chain (Send t) (Land u)) /\
    (forall t u, In t (transfers s) -> In u (transfers s) -> target t = target u -> step t < step u -> op t = Copy \/ op u = Copy ->
      chain (Land t) (Land u)).

  (** * Histories *)

  Lemma of_iteration_app : forall i h g, of_iteration i (h ++ g) = of_iteration i h ++ of_iteration i g.
  Proof using. intros. unfold of_iteration. rewrite filter_app, map_app. reflexivity. Qed.

  Lemma in_iteration : forall i h e, In e (of_iteration i h) <-> In (i, e) h.
  Proof using.
    intros i h e. unfold of_iteration. rewrite in_map_iff. split.
    - intros ([j f] & E & I). apply filter_In in I as [I J]. simpl in *. apply N.eqb_eq in J. subst. auto.
    - intros I. exists (i, e). split; auto. apply filter_In. split; auto. apply N.eqb_refl.
  Qed.

  Lemma iteration_last : forall i h j e, of_iteration i (h ++ [(j, e)]) = of_iteration i h ++ (if j =? i then [e] else []).
  Proof using. intros. rewrite of_iteration_app. unfold of_iteration at 2. simpl. destruct (j =? i); auto. Qed.

  Lemma event_of : forall h, reached h -> forall i e, In (i, e) h -> is_row i (concerns e).
  Proof using.
    intros h R. induction R as [|h x R IH M]; intros i e I; [destruct I|].
    apply in_app_iff in I as [I|[->|[]]]; auto. inversion M; subst; auto.
    match goal with H : In (_, Send _) _ |- _ => apply IH in H; auto end.
  Qed.

  Lemma once : forall h, reached h -> NoDup h.
  Proof using.
    intros h R. induction R as [|h x R IH M]; [constructor|].
    apply (Permutation_NoDup (Permutation_cons_append h x)). constructor; auto. inversion M; auto.
  Qed.

  Lemma once_each : forall h i, reached h -> NoDup (of_iteration i h).
  Proof using.
    intros h i R. apply once in R. induction R as [|[j e] h X D IH]; [constructor|].
    unfold of_iteration. simpl. destruct (N.eqb_spec j i) as [->|]; auto. simpl. constructor; auto.
    intros I. apply X. apply in_iteration. auto.
  Qed.

  Lemma before_more : forall l k e f, before l e f -> before (l ++ k) e f.
  Proof using. intros l k e f (a & b & c & ->). exists a, b, (c ++ k). rewrite <- !app_assoc. simpl. rewrite <- app_assoc. reflexivity. Qed.

  Lemma before_last : forall l e f, In e l -> before (l ++ [f]) e f.
  Proof using. intros l e f I. apply before_prefix. auto. Qed.

  Lemma lands_spec : forall c e, lands_in c e = true <-> exists u, e = Land u /\ target u = c.
  Proof using.
    intros c [u|u]; simpl.
    - split; [discriminate|]. intros (v & E & _). discriminate.
    - rewrite same_cell_spec. split; [eauto|]. intros (v & E & T). injection E as <-. auto.
  Qed.

  (** * What has happened before *)

  Section Safe.
    Hypothesis safe : at_any_timing.

    Definition kept (h : history) : Prop := forall i e f, concerns_row e -> link e f -> In f (of_iteration i h) ->
      before (of_iteration i h) e f.

    Lemma kept_chain : forall h, kept h -> forall i e f, chain e f -> In f (of_iteration i h) -> In e (of_iteration i h).
    Proof using.
      intros h K i e f C. induction C as [e f Q L|e f g Q L C IH]; intros I.
      - apply (before_In _ _ _ (K i e f Q L I)).
      - apply IH in I. apply (before_In _ _ _ (K i e f Q L I)).
    Qed.

    (** A count that is reached is reached by what the row waits for: nothing that lands later can be there. *)
    Lemma count_is_right : forall h i t, reached h -> kept h -> In t (transfers s) -> ~ In (i, Send t) h ->
      (wait t <= counted h i (source t))%nat -> forall u, In u (transfers s) -> feeds t u = true -> In (Land u) (of_iteration i h).
    Proof using safe.
      intros h i t R K T N W u U F.
      destruct (in_dec event_dec (Land u) (of_iteration i h)) as [I|I]; auto. exfalso.
      assert (L : (length (Land u :: filter (lands_in (source t)) (of_iteration i h)) <= length (map Land (filter (feeds t) (transfers s))))%nat).
      { apply NoDup_incl_length.
        - constructor; [rewrite filter_In; tauto|]. apply NoDup_filter. apply once_each. auto.
        - intros e [<-|J].
          + apply in_map. apply filter_In. auto.
          + apply filter_In in J as [J X]. apply lands_spec in X as (v & -> & E). apply in_map. apply filter_In.
            assert (V : In v (transfers s)) by (apply in_iteration in J; apply (event_of _ R) in J; apply J).
            split; auto. apply feeds_spec. split; auto.
            destruct (N.le_gt_cases (step v + delay s) (step t)) as [A|A]; auto. exfalso. apply N.
            apply in_iteration. apply (kept_chain h K i _ (Land v)); auto. apply safe; auto. }
      rewrite map_length in L. simpl in L. unfold wait, counted in W. lia.
    Qed.

    Lemma kept_next : forall h e, reached h -> kept h -> may h e -> kept (h ++ [e]).
    Proof using safe.
      intros h [j x] R K M i e f Q L I. rewrite iteration_last in *. apply in_app_iff in I as [I|I].
      - apply before_more. apply K; auto.
      - destruct (N.eqb_spec j i) as [->|]; [|destruct I]. destruct I as [->|[]]. apply before_last.
        inversion M as [k t [B T] N O W|k t S N]; subst.
        + inversion L as [|u t' E S|u t' F]; subst.
          * apply in_iteration. apply O; auto; [split; auto|]. unfold slot. lia.
          * eapply count_is_right; eauto.
        + inversion L; subst. apply in_iteration. auto.
    Qed.

    Lemma always_kept : forall h, reached h -> kept h.
    Proof using safe.
      intros h R. induction R as [|h e R IH M].
      - intros i e f _ _ I. destruct I.
      - apply kept_next; auto.
    Qed.

    (** No row fires before its operands. *)
    Theorem operands_come_first : forall h i t u, reached h -> In u (transfers s) -> feeds t u = true -> In (i, Send t) h ->
      before (of_iteration i h) (Land u) (Send t).
    Proof using safe.
      intros h i t u R U F I. apply always_kept; auto; [constructor; auto|]. apply in_iteration. auto.
    Qed.

    (** * Tables of trees *)

    (** In tables of trees a copy that has copies to wait for waits for these alone (A4); all other rows count. *)
    Definition follows_copies (t : transfer) : Prop := op t = Copy /\ exists c, In c (transfers s) /\ feeds t c = true /\ op c = Copy.

    Inductive may_in_trees (h : history) : N * event -> Prop :=
    | fire_counting : forall i t, ~ follows_copies t -> may h (i, Send t) -> may_in_trees h (i, Send t)
    | fire_copy : forall i t, follows_copies t -> is_row i t -> ~ In (i, Send t) h ->
        (forall j u, is_row j u -> node (source u) = node (source t) -> slot j u < slot i t -> In (j, Send u) h) ->
        (forall c, In c (transfers s) -> feeds t c = true -> op c = Copy -> In (i, Land c) h) -> may_in_trees h (i, Send t)
    | land_in_trees : forall i t, may h (i, Land t) -> may_in_trees h (i, Land t).

    Inductive reached_in_trees : history -> Prop :=
    | nothing_in_trees : reached_in_trees []
    | next_in_trees : forall h e, reached_in_trees h -> may_in_trees h e -> reached_in_trees (h ++ [e]).

    (** Sums are complete before they are copied: what a copy sends was copied into its cell after all that was added there. *)
    Definition copied_last : Prop := forall t c u, In t (transfers s) -> In c (transfers s) -> In u (transfers s) -> op t = Copy ->
      feeds t c = true -> op c = Copy -> feeds t u = true -> op u = Reduce -> step u < step c.

    Lemma follows_copies_dec : forall t, follows_copies t \/ ~ follows_copies t.
    Proof using.
      intros t. destruct (op t) eqn:P; [right; intros [Q _]; congruence|].
      destruct (existsb (fun c => feeds t c && match op c with Copy => true | Reduce => false end) (transfers s)) eqn:E.
      - apply existsb_exists in E as (c & I & E). apply andb_true_iff in E as [F E]. left. split; auto. exists c.
        destruct (op c) eqn:Q; [discriminate|auto].
      - right. intros [_ (c & I & F & Q)]. apply not_true_iff_false in E. apply E. apply existsb_exists. exists c.
        rewrite F, Q. auto.
    Qed.

    (** To wait for the copies is to wait for all that a row counts: chains of waits lead from what was added to them. *)
    Theorem trees_wait_for_enough : NoDup (transfers s) -> copied_last -> forall h e, reached h -> (may_in_trees h e <-> may h e).
    Proof using safe.
      intros D last h [i e] R. pose proof (always_kept h R) as K. split.
      - intros M. inversion M as [j t F M' E|j t [P (c & C & FC & PC)] B N O L E|j t M' E]; subst; auto. constructor; auto.
        unfold wait, counted. rewrite <- (map_length Land). destruct B as [B T]. apply NoDup_incl_length.
        + apply FinFun.Injective_map_NoDup; [congruence|]. apply NoDup_filter. auto.
        + intros e I. apply in_map_iff in I as (u & <- & I). apply filter_In in I as [U F]. apply filter_In.
          split; [|apply lands_spec; exists u; split; auto; apply feeds_spec in F; apply F].
          destruct (op u) eqn:Q; [|apply in_iteration; auto].
          apply (kept_chain h K i _ (Land c)); [|apply in_iteration; auto].
          apply feeds_spec in F as F'. apply feeds_spec in FC as FC'. apply safe; auto.
          * destruct F', FC'. congruence.
          * apply (last t); auto.
      - intros M. inversion M as [j t B N O W E|j t S N E]; subst.
        + destruct (follows_copies_dec t) as [F|F]; [|apply fire_counting; auto]. apply fire_copy; auto.
          intros c C FC _. apply in_iteration. destruct B as [B T]. apply (count_is_right h i t); auto.
        + apply land_in_trees. auto.
    Qed.

    Theorem trees_reach_alike : NoDup (transfers s) -> copied_last -> forall h, reached_in_trees h <-> reached h.
    Proof using safe.
      intros D last h. split; intros R; induction R as [|h e R IH M]; constructor; auto; apply trees_wait_for_enough; auto.
    Qed.
  End Safe.

  (** * There is always a next event, and an end *)

  Definition rows : list (N * transfer) :=
    flat_map (fun i => map (pair i) (transfers s)) (map N.of_nat (seq 0 (N.to_nat (repeats s)))).

  Lemma in_rows : forall i t, In (i, t) rows <-> is_row i t.
  Proof using.
    intros i t. unfold rows, is_row. rewrite in_flat_map. split.
    - intros (j & J & I). apply in_map_iff in I as (u & E & I). injection E as -> ->.
      apply in_map_iff in J as (n & <- & J). apply in_seq in J. split; auto. lia.
    - intros [B I]. exists i. split; [|apply in_map; auto]. apply in_map_iff. exists (N.to_nat i).
      rewrite N2Nat.id, in_seq. split; auto. lia.
  Qed.

  Definition row_dec : forall a b : N * event, {a = b} + {a <> b}.
  Proof using. decide equality; [apply event_dec|apply N.eq_dec]. Defined.

  Lemma least : forall l : list (N * transfer), l <> [] ->
    exists x, In x l /\ forall y, In y l -> slot (fst x) (snd x) <= slot (fst y) (snd y).
  Proof using.
    induction l as [|a l IH]; intros N; [congruence|]. destruct l as [|b l].
    - exists a. split; simpl; auto. intros y [<-|[]]. lia.
    - destruct IH as (x & I & L); [discriminate|].
      destruct (N.le_gt_cases (slot (fst a) (snd a)) (slot (fst x) (snd x))) as [C|C].
      + exists a. split; simpl; auto. intros y [<-|J]; [lia|]. specialize (L y J). lia.
      + exists x. split; simpl; auto. intros y [<-|J]; [lia|]. apply L. auto.
  Qed.

  Definition unsent (h : history) : list (N * transfer) :=
    filter (fun x => if in_dec row_dec (fst x, Send (snd x)) h then false else true) rows.
  Definition flying (h : history) : list (N * transfer) :=
    filter (fun x => if in_dec row_dec (fst x, Send (snd x)) h
                     then if in_dec row_dec (fst x, Land (snd x)) h then false else true else false) rows.

  (** Counters that iterations share count one after the other (A11): a row waits for what fed it in all iterations before, too. *)
  Definition may_in_turn (h : history) (x : N * event) : Prop :=
    may h x /\ match snd x with Send t => forall j, j < fst x -> (wait t <= counted h j (source t))%nat | Land _ => True end.

  (** Nothing deadlocks, whatever order an interface gives to the rows of one slot: when nothing is in flight, every row that has not
      fired may fire, of those in the least slot in which there is one. *)
  Definition is_due (h : history) (x : N * transfer) : Prop := is_row (fst x) (snd x) /\ ~ In (fst x, Send (snd x)) h /\
    forall j u, is_row j u -> ~ In (j, Send u) h -> slot (fst x) (snd x) <= slot j u.

  Theorem due_rows_fire : 1 <= delay s -> NoDup (map number (transfers s)) -> forall h, reached h ->
    (forall i t, In (i, Send t) h -> In (i, Land t) h) -> forall x, is_due h x -> may_in_turn h (fst x, Send (snd x)).
  Proof using.
    intros D U h R F [i t] (I & A & L). cbn [fst snd] in *.
    assert (sent : forall j u, is_row j u -> slot j u < slot i t -> In (j, Send u) h).
    { intros j u J B. destruct (in_dec row_dec (j, Send u) h) as [|N]; auto. exfalso. specialize (L j u J N). lia. }
    assert (enough : forall j, j <= i -> (wait t <= counted h j (source t))%nat).
    { intros k E. unfold wait, counted. rewrite <- (map_length Land). apply NoDup_incl_length.
      - apply FinFun.Injective_map_NoDup; [congruence|]. apply NoDup_filter. apply NoDup_map_inv in U. auto.
      - intros e J. apply in_map_iff in J as (u & <- & J). apply filter_In in J as [J K]. apply feeds_spec in K as [K B].
        apply filter_In. split; [|apply lands_spec; eauto]. destruct I as [I T]. apply in_iteration. apply F.
        apply sent; [split; auto; lia|]. unfold slot. nia. }
    split; [constructor; auto; apply enough; lia|]. intros j B. cbn [fst] in B. apply enough. lia.
  Qed.

  (** Counters that are used again, every [w] iterations (A8): a row that waits for any message also waits for all that came into its
      cell in the iterations that used its counter before. *)
  Definition may_count_again (w : N) (h : history) (x : N * event) : Prop := may_in_turn h x /\
    match snd x with
    | Send t => (0 < wait t)%nat -> forall j u, j < fst x -> (fst x - j) mod w = 0 -> In u (transfers s) -> target u = source t ->
        In (j, Land u) h
    | Land _ => True
    end.

  (** [w] iterations are far enough apart, where there are more: what comes into a cell is sent before such a row reads it [w]
      iterations later. *)
  Definition counters_apart (w : N) : Prop := w < repeats s -> forall t u, In t (transfers s) -> In u (transfers s) ->
    target u = source t -> (0 < wait t)%nat -> step u < step t + w * period s.

  Lemma due_rows_count_again : forall w, 0 < w -> counters_apart w -> forall h,
    (forall i t, In (i, Send t) h -> In (i, Land t) h) -> forall x, is_due h x -> may_in_turn h (fst x, Send (snd x)) ->
    may_count_again w h (fst x, Send (snd x)).
  Proof using.
    intros w W A h F [i t] (I & N & L) M. cbn [fst snd] in *. split; auto. cbn [fst snd]. intros P j u B D U T. apply F.
    destruct (in_dec row_dec (j, Send u) h) as [|J]; auto. exfalso. destruct I as [I It].
    specialize (L j u (conj (N.lt_trans _ _ _ B I) U) J). apply N.mod_divide in D; [|lia].
    destruct D as [k D]. assert (1 <= k) by nia. assert (Q : w < repeats s) by nia. specialize (A Q t u It U T P).
    unfold slot in L. nia.
  Qed.

  Lemma nothing_flies : forall h, reached h -> flying h = [] -> forall i t, In (i, Send t) h -> In (i, Land t) h.
  Proof using.
    intros h R F i t J. destruct (in_dec row_dec (i, Land t) h) as [|N]; auto. exfalso. assert (X : In (i, t) (flying h)).
    { apply filter_In. split; [apply in_rows; apply (event_of h R) in J; auto|]. simpl.
      repeat destruct (in_dec row_dec _ h); auto; contradiction. }
    rewrite F in X. destruct X.
  Qed.

  Lemma flying_lands : forall h i t l, flying h = (i, t) :: l -> exists i t, In (i, Send t) h /\ may h (i, Land t).
  Proof using.
    intros h i t l F. assert (X : In (i, t) (flying h)) by (rewrite F; simpl; auto). apply filter_In in X as [_ X]. simpl in X.
    destruct (in_dec row_dec (i, Send t) h) as [I|]; [|discriminate]. destruct (in_dec row_dec (i, Land t) h); [discriminate|].
    exists i, t. split; auto. constructor; auto.
  Qed.

  (** As long as something has not landed, a message is in flight, which may land, or there are rows that are due. *)
  Theorem goes_on : 1 <= delay s -> NoDup (map number (transfers s)) -> forall h, reached h ->
    complete h \/ (exists i t, In (i, Send t) h /\ may h (i, Land t)) \/
    (exists x, is_due h x) /\ forall x, is_due h x -> may_in_turn h (fst x, Send (snd x)).
  Proof using.
    intros D U h R. destruct (flying h) as [|[i t] l] eqn:F.
    - pose proof (nothing_flies h R F) as landed.
      destruct (unsent h) as [|y l] eqn:S.
      + left. intros i t I. apply landed. destruct (in_dec row_dec (i, Send t) h) as [|J]; auto. exfalso.
        assert (X : In (i, t) (unsent h)).
        { apply filter_In. split; [apply in_rows; auto|]. simpl. destruct (in_dec row_dec (i, Send t) h); auto. }
        rewrite S in X. destruct X.
      + right. right. split; [|intros x X; apply due_rows_fire; auto].
        destruct (least (unsent h)) as (x & I & L); [rewrite S; discriminate|]. exists x.
        apply filter_In in I as [I N]. destruct x as [i t]. cbn [fst snd] in *. split; [apply in_rows; auto|]. split.
        * destruct (in_dec row_dec (i, Send t) h); [discriminate|auto].
        * intros j u J B. apply (L (j, u)). apply filter_In. split; [apply in_rows; auto|]. simpl.
          destruct (in_dec row_dec (j, Send u) h); auto.
    - right. left. apply (flying_lands h i t l F).
  Qed.

  (** Every history ends: each row is sent once and lands once. *)
  Theorem comes_to_an_end : forall h, reached h -> (length h <= 2 * length rows)%nat.
  Proof using.
    intros h R. replace (2 * length rows)%nat
      with (length (map (fun x => (fst x, Send (snd x))) rows ++ map (fun x => (fst x, Land (snd x))) rows))
      by (rewrite app_length, !map_length; lia).
    apply NoDup_incl_length; [apply once; auto|]. intros [i e] I. apply (event_of h R) in I as I'. apply in_rows in I'.
    apply in_app_iff. destruct e as [t|t]; [left|right]; apply in_map_iff; exists (i, t); auto.
  Qed.

  (** Wherever a history has come, it can be brought to its end: there are complete ones. *)
  Theorem can_end : 1 <= delay s -> NoDup (map number (transfers s)) -> forall h, reached h ->
    exists g, reached (h ++ g) /\ complete (h ++ g).
  Proof using.
    intros D U. assert (A : forall n h, reached h -> (2 * length rows - length h <= n)%nat -> exists g, reached (h ++ g) /\ complete (h ++ g)).
    { assert (on : forall h, reached h -> complete h \/ exists e, may h e).
    { intros h R. destruct (goes_on D U h R) as [C|[(i & t & _ & M)|[[x X] M]]]; eauto. right. destruct (M x X). eauto. }
    induction n as [|n IH]; intros h R L; destruct (on h R) as [C|[e M]].
      - exists []. rewrite app_nil_r. auto.
      - pose proof (comes_to_an_end _ (next h e R M)) as X. rewrite app_length in X. simpl in X. lia.
      - exists []. rewrite app_nil_r. auto.
      - pose proof (comes_to_an_end _ (next h e R M)) as X. rewrite app_length in X. simpl in X.
        destruct (IH (h ++ [e])) as (g & R' & C); [constructor; auto|rewrite app_length; simpl; lia|].
        exists (e :: g). rewrite <- app_assoc in R', C. auto. }
    intros h R. apply (A _ h R (le_n _)).
  Qed.

  (** * What the data are in the end *)

  Section Accepted.
    Hypothesis accepted : check s = true.
    Hypothesis safe : at_any_timing.

    Lemma all_events : forall h i, reached h -> complete h -> i < repeats s -> Permutation (events s) (of_iteration i h).
    Proof using accepted safe.
      intros h i R C B. unfold check, check_at in accepted. rewrite !andb_true_iff in accepted.
      destruct accepted as [[[[F _] _] _] _].
      apply NoDup_Permutation; [apply events_distinct; auto|apply once_each; auto|].
      intros e. rewrite in_iteration. unfold events. rewrite in_app_iff, !in_map_iff. split.
      - intros [(t & <- & I)|(t & <- & I)].
        + assert (L : In (i, Land t) h) by (apply C; split; auto).
          apply in_iteration. apply (kept_chain h (always_kept safe h R) i _ (Land t)); [|apply in_iteration; auto].
          constructor; auto. constructor.
        + apply C. split; auto.
      - intros I. apply (event_of h R) in I as [_ I]. destruct e as [t|t]; [left|right]; eauto.
    Qed.

    Lemma chain_first : forall h i, reached h -> forall e f, chain e f -> In f (of_iteration i h) -> before (of_iteration i h) e f.
    Proof using safe.
      intros h i R e f C. pose proof (always_kept safe h R) as K. induction C as [e f Q L|e f g Q L C IH]; intros I; [apply K; auto|].
      specialize (IH I). apply (before_transitive _ _ f); auto; [apply once_each; auto|]. apply K; auto. apply (before_In _ _ _ IH).
    Qed.

    Lemma complete_ordered : forall h i, reached h -> complete h -> i < repeats s -> ordered s (of_iteration i h).
    Proof using accepted safe.
      intros h i R C B. pose proof (always_kept safe h R) as K.
      assert (landed : forall t, In t (transfers s) -> In (Land t) (of_iteration i h)).
      { intros t I. apply in_iteration. apply C. split; auto. }
      constructor.
      - apply all_events; auto.
      - intros t I. apply K; auto. constructor.
      - intros t u I J F. apply K; auto; [constructor; auto|].
        apply (before_In (of_iteration i h) (Send t) (Land t)). apply K; auto. constructor.
      - intros t u I J E L. apply chain_first; auto. apply safe; auto.
      - intros t u I J E L O. apply chain_first; auto. apply safe; auto.
    Qed.
  End Accepted.

  (** * The check of chains *)

  Definition bit (t : transfer) : N := Npos (number t).
  Definition leads (t u : transfer) : bool := (node (source u) =? node (source t)) && (step u <? step t).

  (** What a row knows when it fires: which rows have fired, and which messages have landed, each as bits of a number. Who knows that a
      row has fired knows what that row knew. *)
  Definition with_row (of_u : transfer * (N * N)) (known : N * N) : N * N :=
    if N.testbit (fst known) (bit (fst of_u)) then known
    else (N.setbit (N.lor (fst known) (fst (snd of_u))) (bit (fst of_u)), N.lor (snd known) (snd (snd of_u))).

  Definition learn (t : transfer) (of_u : transfer * (N * N)) (known : N * N) : N * N :=
    if feeds t (fst of_u) then let k := with_row of_u known in (fst k, N.setbit (snd k) (bit (fst of_u)))
    else if leads t (fst of_u) then with_row of_u known else known.

  Fixpoint learned (done : list (transfer * (N * N))) (todo : list transfer) : list (transfer * (N * N)) :=
    match todo with [] => done | t :: rest => learned (done ++ [(t, fold_right (learn t) (0, 0) done)]) rest end.

  Definition is_copy (t : transfer) : bool := match op t with Copy => true | Reduce => false end.

  Definition waits_are_right : bool :=
    forallb (fun of_u : transfer * (N * N) =>
      let (u, known) := of_u in
      forallb (fun t =>
        (if same_cell (target u) (source t) && (step t <? step u + delay s) then N.testbit (fst known) (bit t) else true) &&
        (if same_cell (target t) (target u) && (step t <? step u) && (is_copy t || is_copy u) then N.testbit (snd known) (bit t)
         else true))
        (transfers s)) (learned [] (transfers s)).

  Lemma chain_app : forall e f g, chain e f -> concerns_row f -> link f g -> chain e g.
  Proof using.
    intros e f g C. induction C as [e f Q L|e f k Q L C IH]; intros R M.
    - eapply more; eauto. constructor; auto.
    - eapply more; eauto.
  Qed.

  Section Chains.
    Hypothesis different : forall t u, In t (transfers s) -> In u (transfers s) -> number t = number u -> t = u.

    Definition justified (of_u : transfer * (N * N)) : Prop :=
      In (fst of_u) (transfers s) /\ forall t, In t (transfers s) ->
        (N.testbit (fst (snd of_u)) (bit t) = true -> chain (Send t) (Send (fst of_u))) /\
        (N.testbit (snd (snd of_u)) (bit t) = true -> chain (Land t) (Send (fst of_u))).

    Lemma chains_join : forall e f g, chain e f -> chain f g -> chain e g.
    Proof using. intros e f g C D. induction C; eapply more; eauto. Qed.

    Definition known_before (t : transfer) (known : N * N) : Prop := forall v, In v (transfers s) ->
      (N.testbit (fst known) (bit v) = true -> chain (Send v) (Send t)) /\
      (N.testbit (snd known) (bit v) = true -> chain (Land v) (Send t)).

    Lemma set_bit : forall c u v, In u (transfers s) -> In v (transfers s) -> N.testbit (N.setbit c (bit u)) (bit v) = true ->
      u = v \/ N.testbit c (bit v) = true.
    Proof using different.
      intros c u v U V B. apply N.setbit_iff in B as [B|B]; auto. left. apply different; auto. unfold bit in B. congruence.
    Qed.

    Lemma with_row_known : forall t of_u known, justified of_u -> chain (Send (fst of_u)) (Send t) -> known_before t known ->
      known_before t (with_row of_u known).
    Proof using different.
      intros t [u [x y]] [a b] [U J] C K v V. unfold with_row. cbn [fst snd] in *. destruct (J v V) as [JS JL], (K v V) as [KS KL].
      cbn [fst snd] in *. destruct (N.testbit a (bit u)); [auto|]. cbn [fst snd]. split; intros B.
      - apply set_bit in B as [<-|B]; auto. rewrite N.lor_spec in B. apply orb_true_iff in B as [B|B]; auto. eapply chains_join; eauto.
      - rewrite N.lor_spec in B. apply orb_true_iff in B as [B|B]; auto. eapply chains_join; eauto.
    Qed.

    Lemma learn_known : forall t of_u known, In t (transfers s) -> justified of_u -> known_before t known ->
      known_before t (learn t of_u known).
    Proof using different.
      intros t of_u known T J K. pose proof J as [U _]. unfold learn.
      destruct (feeds t (fst of_u)) eqn:F; [|destruct (leads t (fst of_u)) eqn:L; auto].
      - assert (L : chain (Land (fst of_u)) (Send t)) by (constructor; auto; constructor; auto).
        assert (C : chain (Send (fst of_u)) (Send t)) by (apply (more _ (Land (fst of_u))); auto; constructor).
        pose proof (with_row_known t of_u known J C K) as W. intros v V. destruct (W v V) as [WS WL]. cbn [fst snd].
        split; auto. intros B. apply set_bit in B as [<-|B]; auto.
      - unfold leads in L. apply andb_true_iff in L as [L1 L2]. apply N.eqb_eq in L1. apply N.ltb_lt in L2.
        apply with_row_known; auto. constructor; auto. constructor; auto.
    Qed.

    Lemma learn_justified : forall t done, In t (transfers s) -> (forall k, In k done -> justified k) ->
      justified (t, fold_right (learn t) (0, 0) done).
    Proof using different.
      intros t done T J. split; auto. cbn [fst snd]. change (known_before t (fold_right (learn t) (0, 0) done)).
      induction done as [|k done IH].
      - intros v _. cbn [fold_right fst snd]. rewrite !N.bits_0. split; discriminate.
      - cbn [fold_right]. apply learn_known; [auto|apply J; simpl; auto|]. apply IH. intros k' I. apply J. simpl. auto.
    Qed.

    Lemma learned_justified : forall todo done, (forall t, In t todo -> In t (transfers s)) -> (forall k, In k done -> justified k) ->
      (forall k, In k (learned done todo) -> justified k) /\
      (forall t, In t todo \/ In t (map fst done) -> In t (map fst (learned done todo))).
    Proof using different.
      induction todo as [|t todo IH]; intros done T J; simpl.
      - split; auto. intros t [[]|I]; auto.
      - destruct (IH (done ++ [(t, fold_right (learn t) (0, 0) done)])) as [A B].
        + intros u I. apply T. simpl. auto.
        + intros k I. apply in_app_iff in I as [I|[<-|[]]]; auto. apply learn_justified; auto. apply T. simpl. auto.
        + split; auto. intros u I. apply B. rewrite map_app, in_app_iff. simpl. tauto.
    Qed.

    Theorem waits_sound : waits_are_right = true -> at_any_timing.
    Proof using different.
      intros H. unfold waits_are_right in H. rewrite forallb_forall in H.
      destruct (learned_justified (transfers s) []) as [J A]; auto; [intros k []|].
      assert (found : forall u, In u (transfers s) -> exists known, In (u, known) (learned [] (transfers s))).
      { intros u I. destruct (in_map_iff fst (learned [] (transfers s)) u) as [X _]. destruct X as ([v known] & <- & I'); auto.
        exists known. auto. }
      split; intros t u T U E.
      - intros L. destruct (found u U) as [known I]. specialize (H _ I). cbn in H. rewrite forallb_forall in H. specialize (H t T).
        apply andb_true_iff in H as [H _]. apply same_cell_spec in E. apply N.ltb_lt in L. rewrite E, L in H. simpl in H.
        destruct (J _ I) as [_ K]. apply (proj1 (K t T)) in H. apply (chain_app _ (Send u)); auto. constructor.
      - intros L O. destruct (found u U) as [known I]. specialize (H _ I). cbn in H. rewrite forallb_forall in H. specialize (H t T).
        apply andb_true_iff in H as [_ H]. apply same_cell_spec in E. apply N.ltb_lt in L. rewrite E, L in H. simpl in H.
        assert (C : is_copy t || is_copy u = true).
        { apply orb_true_iff. unfold is_copy. destruct O as [O|O]; rewrite O; auto. }
        rewrite C in H. simpl in H. destruct (J _ I) as [_ K]. apply (proj2 (K t T)) in H.
        apply (chain_app _ (Send u)); auto. constructor.
    Qed.
  End Chains.
End Interfaces.

(** Interfaces that execute an accepted schedule whose tables are right at any timing never deadlock, come to an end, and then hold
    the result of the collective, in every iteration and for every commutative and associative operation. *)
Theorem lockstep_sound : forall s, check s = true -> waits_are_right s = true -> forall h, reached s h ->
  (complete s h \/ (exists i t, In (i, Send t) h /\ may s h (i, Land t)) \/
   (exists x, is_due s h x) /\ forall x, is_due s h x -> may_in_turn s h (fst x, Send (snd x))) /\ (length h <= 2 * length (rows s))%nat /\
  (complete s h -> forall (V : Type) (add : V -> V -> V),
    (forall a b, add a b = add b a) -> (forall a b c, add a (add b c) = add (add a b) c) ->
    forall (own : N -> N -> N -> V) start, (forall i, i < repeats s -> starts V s (own i) (start i)) ->
    forall i, i < repeats s -> keeps_promise V add s (own i) (fold_left (happen_in V add) h start i)).
Proof.
  intros s H A h R. destruct (check_form s H) as (D & _ & _ & _ & G).
  apply waits_sound in A; [|intros t u; apply distinct; unfold check, check_at in H; rewrite !andb_true_iff in H; apply H].
  split; [|split].
  - apply goes_on; auto. apply G.
  - apply comes_to_an_end. auto.
  - intros C V add A1 A2 own start S i I. rewrite one_iteration. apply ordered_ends_right; auto.
    apply complete_ordered; auto.
Qed.

(** The same of tables of trees, in which copies wait for less: their interfaces do what those do that count, event by event. *)
Theorem trees_sound : forall s, check s = true -> waits_are_right s = true -> copied_last s ->
  (forall h, reached_in_trees s h <-> reached s h) /\ forall h e, reached s h -> (may_in_trees s h e <-> may s h e).
Proof.
  intros s H A L. destruct (check_form s H) as (_ & _ & _ & _ & D & _). apply NoDup_map_inv in D.
  apply waits_sound in A; [|intros t u; apply distinct; unfold check, check_at in H; rewrite !andb_true_iff in H; apply H].
  split; [apply trees_reach_alike|apply trees_wait_for_enough]; auto.
Qed.

(** No deadlock where counters are used again: part 1 of [lockstep_sound] for interfaces with A8 as a further condition. *)
Theorem counters_again : forall s, check s = true -> forall w, 0 < w -> counters_apart s w -> forall h, reached s h ->
  complete s h \/ (exists i t, In (i, Send t) h /\ may s h (i, Land t)) \/
  (exists x, is_due s h x) /\ forall x, is_due s h x -> may_count_again s w h (fst x, Send (snd x)).
Proof.
  intros s H w W A h R. destruct (check_form s H) as (D & _ & _ & _ & G).
  destruct (goes_on s D (proj1 G) h R) as [C|[L|[E M]]]; auto.
  destruct (flying s h) as [|[i t] l] eqn:F.
  - right. right. split; auto. intros x X. apply due_rows_count_again; auto. exact (nothing_flies s h R F).
  - right. left. exact (flying_lands s h i t l F).
Qed.

Print Assumptions counters_again.
Print Assumptions lockstep_sound.
Print Assumptions trees_sound.
Print Assumptions can_end.
Print Assumptions operands_come_first.
