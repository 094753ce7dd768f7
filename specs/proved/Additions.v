(** [order_sound]: a check that every run makes each sum by the same additions, so that operations which are commutative, but not
    associative, as those on floating-point numbers, have one result. *)

From Coq Require Import Arith NArith PArith List Bool Permutation FMapPositive Lia.
From Proved Require Import Definitions Checker Keys Order Contents Sound.
Import ListNotations.
Open Scope N_scope.

(** How a sum is made: the contribution of a node, or what a cell held and what came to it. *)
Inductive expression := Of (n : N) | Sum (held came : expression).

Fixpoint eval {V} (add : V -> V -> V) (own : N -> V) (e : expression) : V :=
  match e with Of n => own n | Sum a b => add (eval add own a) (eval add own b) end.

(** * The check *)

(** By cell how its content was made; by number of a transfer how what it carries was. *)
Record terms := Terms { written : table expression; under_way : table expression }.

Definition initial_term (t : tables) (c : cell) : option expression :=
  match look (infos t) (of_chunk c) with
  | Some k =>
      if (buffer c =? 0) && match origin k with Everyone => is_member t (node c) | Alone a => node c =? a end
      then Some (Of (node c)) else None
  | None => None
  end.

Definition term (t : tables) (m : table expression) (c : cell) : option expression :=
  match PositiveMap.find (cell_key c) m with Some x => Some x | None => initial_term t c end.

Definition spell (t : tables) (m : terms) (e : event) : option terms :=
  match e with
  | Send u =>
      match term t (written m) (source u) with
      | Some x => Some (Terms (written m) (PositiveMap.add (number u) x (under_way m)))
      | None => None
      end
  | Land u =>
      match PositiveMap.find (number u) (under_way m) with
      | Some x =>
          let put y := Some (Terms (PositiveMap.add (cell_key (target u)) y (written m)) (under_way m)) in
          match op u, term t (written m) (target u) with
          | Copy, _ => put x
          | Reduce, Some y => put (Sum y x)
          | Reduce, None => if is_accumulator t (target u) then put x else None
          end
      | None => None
      end
  end.

(** By cell the step from which on an operand may be sent into it. *)
Definition meet (d : N) (until : table N) (e : event) : option (table N) :=
  match e with
  | Send _ => Some until
  | Land u =>
      match op u with
      | Copy => Some until
      | Reduce =>
          if number_at until (cell_key (target u)) <=? step u
          then Some (PositiveMap.add (cell_key (target u)) (step u + d) until) else None
      end
  end.

(** Operands land in a cell at least [delay] steps apart. *)
Definition nothing_meets (s : schedule) : bool :=
  is_some (walk (table N) (meet (delay s)) (delay s) (transfers s) (transfers s) (PositiveMap.empty N)).

(** The same sum with the sides of its additions in the order of their least nodes, and the least node. *)
Fixpoint sorted (e : expression) : expression * N :=
  match e with
  | Of n => (Of n, n)
  | Sum a b =>
      let (x, i) := sorted a in
      let (y, j) := sorted b in
      if i <=? j then (Sum x y, i) else (Sum y x, j)
  end.

Fixpoint same_sum (e f : expression) : bool :=
  match e, f with
  | Of n, Of k => n =? k
  | Sum a b, Sum c d => same_sum a c && same_sum b d
  | _, _ => false
  end.

(** Where the result of a chunk of number [c] is due. *)
Definition places (s : schedule) (c : N) (k : chunk) : list cell :=
  match due k with Everyone => map (fun n => Cell n 0 c) (members s) | Alone a => [Cell a 0 c] end.

(** How the sum of a chunk is made, where that is one way at all places. *)
Definition sum_at (t : tables) (m : table expression) (l : list cell) : option expression :=
  match l with
  | [] => None
  | d :: _ =>
      match option_map sorted (term t m d) with
      | Some (e, _) =>
          if forallb (fun c => match term t m c with Some f => same_sum e (fst (sorted f)) | None => false end) l
          then Some e else None
      | None => None
      end
  end.

(** By chunk how its sum is made, [None] for a chunk that is not a sum; the first chunk of the list has number [c]. *)
Fixpoint sums (s : schedule) (t : tables) (m : table expression) (c : N) (l : list chunk) : option (list (option expression)) :=
  match l with
  | [] => Some []
  | k :: rest =>
      match origin k, sums s t m (N.succ c) rest with
      | Alone _, Some es => Some (None :: es)
      | Everyone, Some es => match sum_at t m (places s c k) with Some e => Some (Some e :: es) | None => None end
      | _, None => None
      end
  end.

Definition orders (s : schedule) : option (list (option expression)) :=
  let t := tables_of s in
  if nothing_meets s then
    match walk terms (spell t) (delay s) (transfers s) (transfers s)
            (Terms (PositiveMap.empty expression) (PositiveMap.empty expression)) with
    | Some m => sums s t (written m) 0 (chunks s)
    | None => None
    end
  else None.

(** Whether all sums are made alike. *)
Definition is_one (es : list (option expression)) : bool :=
  match es with Some e :: rest => forallb (fun f => match f with Some g => same_sum e g | None => false end) rest | _ => false end.

(** * Sides *)

Lemma eval_sorted : forall V (add : V -> V -> V), (forall a b, add a b = add b a) -> forall own e,
  eval add own (fst (sorted e)) = eval add own e.
Proof.
  intros V add C own. induction e as [n|a IHa b IHb]; auto. simpl.
  destruct (sorted a) as [x i], (sorted b) as [y j]. cbn [fst] in *.
  destruct (i <=? j); simpl; rewrite IHa, IHb; auto.
Qed.

Lemma same_sum_eq : forall e f, same_sum e f = true -> e = f.
Proof.
  induction e as [n|a IHa b IHb]; intros [k|c d] H; simpl in H; try discriminate.
  - apply N.eqb_eq in H as ->. auto.
  - apply andb_true_iff in H as [H G]. rewrite (IHa _ H), (IHb _ G). auto.
Qed.

(** * What lands in one cell *)

Section Meeting.
  Variable s : schedule.

  Lemma meet_grows : forall l k k', follow (table N) (meet (delay s)) l k = Some k' -> forall c, number_at k c <= number_at k' c.
  Proof using.
    induction l as [|e l IH]; intros k k' H c; simpl in H.
    - injection H as <-. lia.
    - destruct (meet (delay s) k e) as [n|] eqn:E; [|discriminate]. specialize (IH n k' H c).
      destruct e as [u|u]; simpl in E; [injection E as <-; auto|]. destruct (op u); [|injection E as <-; auto].
      destruct (N.leb_spec (number_at k (cell_key (target u))) (step u)); [|discriminate]. injection E as <-.
      rewrite number_at_add in IH. destruct (Pos.eqb_spec (cell_key (target u)) c) as [<-|]; lia.
  Qed.

  Lemma landings_apart : nothing_meets s = true -> forall u v, before (canonical s) (Land u) (Land v) -> target u = target v ->
    op u = Reduce -> op v = Reduce -> step u + delay s <= step v.
  Proof using.
    intros H u v (a & b & c & E) T U V. unfold nothing_meets in H. rewrite walk_follow in H. fold (canonical s) in H.
    rewrite E, follow_app in H. destruct (follow _ _ a _) as [k|]; [|discriminate]. cbn [follow] in H.
    destruct (meet (delay s) k (Land u)) as [n|] eqn:F; [|discriminate]. rewrite follow_app in H.
    destruct (follow _ _ b n) as [k'|] eqn:G; [|discriminate]. cbn [follow] in H.
    destruct (meet (delay s) k' (Land v)) as [n'|] eqn:F'; [|discriminate]. simpl in F, F'. rewrite U in F. rewrite V in F'.
    destruct (_ <=? step u) in F; [|discriminate]. injection F as <-.
    destruct (N.leb_spec (number_at k' (cell_key (target v))) (step v)); [|discriminate].
    pose proof (meet_grows _ _ _ G (cell_key (target v))) as Q. rewrite T, number_at_add, Pos.eqb_refl in Q. lia.
  Qed.
End Meeting.

(** * What terms stand for *)

Section Spelled.
  Variables (V : Type) (add : V -> V -> V) (s : schedule) (own : N -> N -> V).
  Hypothesis accepted : check s = true.
  Notation t := (tables_of s).
  Notation happen := (happen V add).

  Definition made (c : N) (e : expression) : V := eval add (fun n => own n c) e.

  Record spelled (m : memory V) (a : terms) : Prop := {
    spelled_held : forall c x, term t (written a) c = Some x -> held V m c = Some (made (of_chunk c) x);
    spelled_empty : forall c, at_place (nodes (net s)) (node c) = Some Reducing -> term t (written a) c = None -> held V m c = None;
    spelled_carried : forall u x, In u (transfers s) -> PositiveMap.find (number u) (under_way a) = Some x ->
      carried V m (number u) = Some (made (of_chunk (source u)) x) }.

  Lemma spelled_start : forall m, starts V s own m -> spelled m (Terms (PositiveMap.empty expression) (PositiveMap.empty expression)).
  Proof using.
    intros m H. constructor; simpl.
    - intros c x. unfold term. rewrite PositiveMap.gempty. unfold initial_term. change (infos t) with (array (chunks s)).
      rewrite look_array. destruct (H c) as [_ G]. destruct (at_place (chunks s) (of_chunk c)) as [k|] eqn:K; [|discriminate].
      intros E. destruct (_ && _) eqn:B in E; [|discriminate]. injection E as <-. apply andb_true_iff in B as [B O].
      apply N.eqb_eq in B. apply (G k eq_refl B). unfold is_one_of. destruct (origin k); [rewrite is_member_spec in O|]; auto.
    - intros c R _. apply (H c). auto.
    - intros u x _. rewrite PositiveMap.gempty. discriminate.
  Qed.

  Lemma term_add : forall m c x d, term t (PositiveMap.add (cell_key c) x m) d = if same_cell d c then Some x else term t m d.
  Proof using.
    intros m c x d. unfold term. destruct (same_cell d c) eqn:E.
    - apply same_cell_spec in E as ->. rewrite PositiveMap.gss. auto.
    - rewrite PositiveMap.gso; auto. intros K. apply cell_key_injective in K. apply same_cell_spec in K. congruence.
  Qed.

  Lemma form : form_is_right s t = true.
  Proof using accepted. pose proof accepted as C. unfold check, check_at in C. rewrite !andb_true_iff in C. tauto. Qed.

  Lemma spelled_next : forall m a b e, In (concerns e) (transfers s) -> spelled m a -> spell t a e = Some b -> spelled (happen m e) b.
  Proof using accepted.
    intros m a b e I [H E C] S. destruct e as [u|u]; cbn [concerns] in I; simpl in S.
    - destruct (term t (written a) (source u)) as [x|] eqn:X; [|discriminate]. injection S as <-. constructor; simpl; auto.
      intros v y J F. destruct (Pos.eqb_spec (number v) (number u)) as [K|K].
      + assert (v = u) as -> by (apply (distinct s form); auto). rewrite PositiveMap.gss in F. injection F as <-. auto.
      + rewrite PositiveMap.gso in F by auto. auto.
    - destruct (PositiveMap.find (number u) (under_way a)) as [x|] eqn:F; [|discriminate]. pose proof (C _ _ I F) as X.
      rewrite (same_chunk _ s (check_sound s accepted) u I) in X.
      assert (put : forall y, (match op u with Copy => carried V m (number u) | Reduce =>
          plus V add (held V m (target u)) (carried V m (number u)) end) = Some (made (of_chunk (target u)) y) ->
          b = Terms (PositiveMap.add (cell_key (target u)) y (written a)) (under_way a) -> spelled (happen m (Land u)) b).
      { intros y Y ->. constructor; simpl; auto; intros c; rewrite term_add; destruct (same_cell c (target u)) eqn:Q; auto.
        - apply same_cell_spec in Q as ->. intros z Z. injection Z as <-. auto.
        - discriminate. }
      destruct (op u) eqn:P.
      + destruct (term t (written a) (target u)) as [y|] eqn:Y.
        * injection S as <-. apply (put (Sum y x)); auto. rewrite (H _ _ Y), X. auto.
        * destruct (is_accumulator t (target u)) eqn:A; [|discriminate]. injection S as <-. apply (put x); auto.
          unfold is_accumulator in A. change (kinds t) with (array (nodes (net s))) in A. rewrite look_array in A.
          destruct (at_place (nodes (net s)) (node (target u))) as [[]|] eqn:K; try discriminate.
          rewrite (E _ K Y), X. auto.
      + injection S as <-. apply (put x); auto.
  Qed.

  Lemma spelled_all : forall l m a b, (forall e, In e l -> In (concerns e) (transfers s)) -> spelled m a ->
    follow terms (spell t) l a = Some b -> spelled (fold_left happen l m) b.
  Proof using accepted.
    induction l as [|e l IH]; intros m a b I A F; simpl in F.
    - injection F as <-. auto.
    - destruct (spell t a e) as [a'|] eqn:S; [|discriminate]. simpl. eapply IH; eauto; [intros; apply I; simpl; auto|].
      eapply spelled_next; eauto. apply I. simpl. auto.
  Qed.
End Spelled.

Lemma sums_spec : forall s t m l c es i k, sums s t m c l = Some es -> nth_error l i = Some k -> origin k = Everyone ->
  exists e, nth_error es i = Some (Some e) /\ sum_at t m (places s (c + N.of_nat i) k) = Some e.
Proof.
  intros s t m. induction l as [|x l IH]; intros c es i k G I O; [destruct i; discriminate|]. cbn [sums] in G.
  destruct (sums s t m (N.succ c) l) as [fs|] eqn:R; [|destruct (origin x); discriminate].
  destruct i as [|i]; simpl in I.
  - injection I as ->. rewrite O in G. rewrite N.add_0_r. destruct (sum_at t m (places s c k)) as [e|]; [|discriminate].
    injection G as <-. exists e. auto.
  - replace (c + N.of_nat (S i)) with (N.succ c + N.of_nat i) by lia. destruct (IH _ _ _ _ R I O) as (e & E & F). exists e.
    destruct (origin x); [destruct (sum_at _ _ _) in G; [|discriminate]|]; injection G as <-; auto.
Qed.

Lemma sum_at_spec : forall t m l e, sum_at t m l = Some e -> forall c, In c l -> exists f, term t m c = Some f /\ e = fst (sorted f).
Proof.
  intros t m l e H c I. unfold sum_at in H. destruct l as [|d l]; [discriminate|].
  destruct (option_map sorted _) as [[f j]|] in H; [|discriminate]. destruct (forallb _ _) eqn:T in H; [|discriminate].
  injection H as ->. rewrite forallb_forall in T. apply T in I. destruct (term t m c) as [f'|]; [|discriminate].
  apply same_sum_eq in I. eauto.
Qed.

(** If [orders] accepts, each sum of a chunk is, in every run and at every place, the value of one expression over the contributions. *)
Theorem order_sound : forall s es, check s = true -> orders s = Some es -> forall V (add : V -> V -> V),
  (forall a b, add a b = add b a) -> forall (own : N -> N -> N -> V) r start, whole_run (timing_of s) s r ->
  (forall i, i < repeats s -> starts V s (own i) (start i)) ->
  forall i c k n, i < repeats s -> at_place (chunks s) c = Some k -> origin k = Everyone -> is_one_of s (due k) n = true ->
  exists e, at_place es c = Some (Some e) /\
    held V (fold_left (happen_in V add) r start i) (Cell n 0 c) = Some (eval add (fun m => own i m c) e).
Proof.
  intros s es C Q V add A own r start W S i c k n I K O D. rewrite one_iteration.
  assert (F := form s C). assert (G := C). unfold check, check_at in G. rewrite !andb_true_iff in G. destruct G as [[_ G] _].
  unfold orders in Q. destruct (nothing_meets s) eqn:M; [|discriminate]. rewrite walk_follow in Q.
  fold (canonical s) in Q. destruct (follow terms _ _ _) as [b|] eqn:L in Q; [|discriminate].
  pose proof (W i I) as R. specialize (S i I).
  assert (E : alike (fold_left (happen V add) (of_iteration i r) (start i)) (fold_left (happen V add) (canonical s) (start i))).
  { apply any_order.
    - split; auto.
    - intros ? ? ? [X Y] [X' Y']. split; intros; [rewrite X|rewrite Y]; auto.
    - intros. apply alike_happen. auto.
    - apply canonical_distinct. auto.
    - etransitivity; [symmetry; apply canonical_permutation|apply R].
    - intros f g B B'. pose proof (inverted_free _ s F G _ R f g B B') as H. destruct (before_In _ _ _ B) as [J J'].
      assert (there : forall x, In x (of_iteration i r) -> In (concerns x) (transfers s)).
      { intros x X. apply in_canonical. apply (Permutation_in _ (canonical_permutation s)).
        apply (Permutation_in _ (Permutation_sym (proj1 R))). auto. }
      apply there in J, J'. destruct f as [u|u], g as [v|v]; simpl in H, J, J'.
      + apply sends_commute. auto.
      + apply send_land_commute; tauto.
      + destruct H. apply send_land_commute; auto.
      + apply lands_apart_commute. intros T. destruct H as [H|[O1 O2]]; [contradiction|].
        apply (landings_in_turn _ s F G _ u v R B J J'). destruct (check_form s C) as (P & _).
        pose proof (landings_apart s M _ _ B' (eq_sym T) O2 O1). destruct (timing_of s); lia. }
  destruct (sums_spec _ _ _ _ _ _ (N.to_nat c) k Q K O) as (e & X & Y). exists e. split; [exact X|].
  destruct E as [E _]. rewrite E.
  assert (Z : spelled V add s (own i) (fold_left (happen V add) (canonical s) (start i)) b).
  { eapply spelled_all; eauto; [|apply spelled_start; auto]. intros x J. apply in_canonical. auto. }
  replace (0 + N.of_nat (N.to_nat c)) with c in Y by lia.
  destruct (sum_at_spec _ _ _ _ Y (Cell n 0 c)) as (f & F' & ->).
  { unfold places. destruct (due k) as [|a]; simpl in D; [apply (in_map (fun x => Cell x 0 c)), existsb_In; auto|]. apply N.eqb_eq in D as ->. simpl. auto. }
  rewrite (spelled_held _ _ _ _ _ _ Z _ _ F'). f_equal. unfold made. cbn [of_chunk]. symmetry. apply eval_sorted. auto.
Qed.

Print Assumptions order_sound.
