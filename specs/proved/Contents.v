(** Sets of contributions say what memories hold: in the order of the checker, the results are those of the collective. *)

From Coq Require Import Arith NArith PArith List Bool Permutation FMapPositive Lia.
From Proved Require Import Definitions Checker Keys Order.
Import ListNotations.
Open Scope N_scope.

Lemma testbit_setbits : forall l x n, In n l \/ N.testbit x n = true -> N.testbit (fold_left N.setbit l x) n = true.
Proof.
  induction l as [|y l IH]; intros x n H; simpl.
  - destruct H as [[]|H]. auto.
  - apply IH. destruct H as [[->|H]|H]; auto; right.
    + apply N.setbit_eq.
    + rewrite N.setbit_eqb, H. apply orb_true_r.
Qed.

Section Contents.
  Variables (V : Type) (add : V -> V -> V).
  Hypothesis add_comm : forall a b, add a b = add b a.
  Hypothesis add_assoc : forall a b c, add a (add b c) = add (add a b) c.
  Variables (s : schedule) (own : N -> N -> V).

  Notation plus := (plus V add).
  Notation t := (tables_of s).
  Notation memory := (memory V).
  Notation happen := (happen V add).

  Lemma plus_comm : forall a b, plus a b = plus b a.
  Proof using add_comm. intros [a|] [b|]; simpl; auto. rewrite add_comm. auto. Qed.

  Lemma plus_assoc : forall a b c, plus a (plus b c) = plus (plus a b) c.
  Proof using add_assoc. intros [a|] [b|] [c|]; simpl; auto. rewrite add_assoc. auto. Qed.

  (** * What a set stands for *)

  Definition parts (p : place) : list N := match p with Everyone => members s | Alone a => [a] end.
  Definition bit (p : place) (n : N) : N := match p with Everyone => n | Alone _ => 0 end.

  Definition value (c : N) (p : place) (x : N) : option V :=
    fold_right (fun n rest => plus (if N.testbit x (bit p n) then Some (own n c) else None) rest) None (parts p).

  Lemma value_lor : forall c p x y, N.land x y = 0 -> value c p (N.lor x y) = plus (value c p x) (value c p y).
  Proof using add_comm add_assoc.
    intros c p x y D. unfold value. induction (parts p) as [|n l IH]; auto.
    cbn [fold_right]. rewrite IH, N.lor_spec.
    assert (E : N.testbit x (bit p n) && N.testbit y (bit p n) = false) by (rewrite <- N.land_spec, D; apply N.bits_0).
    set (a := fold_right _ None l). set (b := fold_right _ None l).
    assert (L : forall z, plus None z = z) by (intros [z|]; reflexivity).
    destruct (N.testbit x (bit p n)), (N.testbit y (bit p n)); cbn [andb orb] in *; try discriminate; rewrite !L.
    - apply plus_assoc.
    - rewrite (plus_comm a b), (plus_comm a (plus _ b)), plus_assoc. reflexivity.
    - reflexivity.
  Qed.

  Lemma value_full : forall c k, value c (origin k) (full s (origin k)) = result V add s own c k.
  Proof using.
    intros c k. unfold value, result, sum, full, parts, bit. destruct (origin k) as [|a]; auto.
    pose proof testbit_setbits as H.
    assert (G : forall l, incl l (members s) ->
      fold_right (fun n rest => plus (if N.testbit (fold_left N.setbit (members s) 0) n then Some (own n c) else None) rest)
        None l = fold_right (fun n rest => plus (Some (own n c)) rest) None l).
    { induction l as [|n l IH]; intros I; auto. simpl. rewrite IH by (intros z Z; apply I; simpl; auto).
      rewrite H; auto. left. apply I. simpl. auto. }
    apply G. apply incl_refl.
  Qed.

  Lemma value_single : forall c n, NoDup (members s) -> In n (members s) ->
    value c Everyone (N.setbit 0 n) = Some (own n c).
  Proof using.
    intros c n D I. unfold value, parts, bit.
    assert (Z : forall l, (~ In n l ->
        fold_right (fun k rest => plus (if N.testbit (N.setbit 0 n) k then Some (own k c) else None) rest) None l = None) /\
      (NoDup l -> In n l ->
        fold_right (fun k rest => plus (if N.testbit (N.setbit 0 n) k then Some (own k c) else None) rest) None l =
          Some (own n c))); [|apply Z; auto].
    clear D I. induction l as [|x l [IH1 IH2]]; [split; [auto|intros _ []]|].
    cbn [fold_right]. rewrite N.setbit_eqb, N.bits_0, orb_false_r. split.
    - intros X. destruct (N.eqb_spec n x) as [->|E]; [simpl in X; tauto|]. rewrite IH1; auto. simpl in X. tauto.
    - intros D I. inversion D as [|? ? X D']; subst. destruct (N.eqb_spec n x) as [->|E].
      + rewrite IH1; auto.
      + destruct I as [->|I]; [contradiction|]. rewrite IH2; auto.
  Qed.

  (** * The form of the schedule *)

  Hypothesis form : well_formed s.
  Hypothesis wired : forall u, In u (transfers s) -> is_wired (look (kinds t)) (look (wires t))
    (fun a b => number_at (widths t) (key a b)) (negb (existsb is_switch (nodes (net s)))) (buffers s) u = true.
  Hypothesis distinct : forall u v, In u (transfers s) -> In v (transfers s) -> number u = number v -> u = v.

  Lemma one_chunk : forall u, In u (transfers s) -> of_chunk (source u) = of_chunk (target u).
  Proof using wired.
    intros u I. apply wired in I. unfold is_wired in I. destruct (source u), (target u).
    rewrite !andb_true_iff in I. destruct I as [[_ I] _]. apply N.eqb_eq in I. auto.
  Qed.

  (** What a set stands for in a cell of chunk [c]. *)
  Definition meaning (c x : N) : option V :=
    match at_place (chunks s) c with Some k => value c (origin k) x | None => None end.

  Record agree (m : memory) (a : contents) : Prop := {
    agree_held : forall c, content t (sets a) c <> 0 -> held V m c = meaning (of_chunk c) (content t (sets a) c);
    agree_empty : forall c, at_place (nodes (net s)) (node c) = Some Reducing -> content t (sets a) c = 0 -> held V m c = None;
    agree_carried : forall u x, In u (transfers s) -> PositiveMap.find (number u) (flying a) = Some x ->
      x <> 0 /\ carried V m (number u) = meaning (of_chunk (source u)) x }.

  Lemma agree_start : forall m, starts V s own m ->
    agree m (Contents (PositiveMap.empty N) (PositiveMap.empty N)).
  Proof using form.
    intros m H. destruct form as (_ & D & _). constructor; simpl.
    - intros c. unfold content. rewrite PositiveMap.gempty. unfold initial, meaning. change (infos t) with (array (chunks s)).
      rewrite look_array. destruct (H c) as [_ G].
      destruct (at_place (chunks s) (of_chunk c)) as [k|]; [|congruence].
      specialize (G k eq_refl). destruct (N.eqb_spec (buffer c) 0) as [B|]; [|congruence].
      specialize (G B). unfold is_one_of in G. destruct (origin k) as [|a].
      + rewrite is_member_spec. destruct (existsb (N.eqb (node c)) (members s)) eqn:E; [|congruence].
        intros _. rewrite G by auto. symmetry. apply value_single; auto. apply existsb_In. auto.
      + destruct (N.eqb_spec (node c) a) as [E|]; [|congruence]. intros _. rewrite G by auto.
        unfold value. simpl. congruence.
    - intros c R _. apply (H c). auto.
    - intros u x _. rewrite PositiveMap.gempty. discriminate.
  Qed.

  Lemma content_add : forall m c x d,
    content t (PositiveMap.add (cell_key c) x m) d = if same_cell d c then x else content t m d.
  Proof using.
    intros m c x d. unfold content. destruct (same_cell d c) eqn:E.
    - apply same_cell_spec in E as ->. rewrite PositiveMap.gss. auto.
    - rewrite PositiveMap.gso; auto. intros K. apply cell_key_injective in K. apply same_cell_spec in K. congruence.
  Qed.

  Lemma meaning_lor : forall c x y, N.land x y = 0 -> meaning c (N.lor x y) = plus (meaning c x) (meaning c y).
  Proof using add_comm add_assoc.
    intros c x y D. unfold meaning. destruct (at_place (chunks s) c) as [k|]; auto. apply value_lor. auto.
  Qed.

  Lemma meaning_0 : forall c, meaning c 0 = None.
  Proof using.
    intros c. unfold meaning. destruct (at_place (chunks s) c) as [k|]; auto. unfold value.
    induction (parts (origin k)) as [|n l IH]; auto.
  Qed.

  Definition concerns (e : event) : transfer := match e with Send u | Land u => u end.

  Lemma agree_send : forall m a b u, In u (transfers s) -> agree m a -> carry t a (Send u) = Some b ->
    agree (happen m (Send u)) b.
  Proof using distinct.
    intros m a b u I [H E C] S. simpl in S.
    destruct (N.eqb_spec (content t (sets a) (source u)) 0) as [|Z]; [discriminate|]. injection S as <-.
    constructor; simpl; auto.
    intros v x J F. destruct (Pos.eqb_spec (number v) (number u)) as [K|K].
    - assert (v = u) as -> by auto. rewrite PositiveMap.gss in F. injection F as <-. auto.
    - rewrite PositiveMap.gso in F by auto. auto.
  Qed.

  Lemma agree_land : forall m a b u, In u (transfers s) -> agree m a -> carry t a (Land u) = Some b ->
    agree (happen m (Land u)) b.
  Proof using add_comm add_assoc wired.
    intros m a b u I [H E C] S. simpl in S.
    destruct (PositiveMap.find (number u) (flying a)) as [x|] eqn:F; [|discriminate].
    destruct (C _ _ I F) as [X CX]. rewrite (one_chunk u I) in CX.
    assert (R : forall v y, In v (transfers s) -> PositiveMap.find (number v) (PositiveMap.remove (number u) (flying a)) = Some y ->
      y <> 0 /\ carried V m (number v) = meaning (of_chunk (source v)) y).
    { intros v y J G. destruct (Pos.eqb_spec (number v) (number u)) as [K|K].
      - rewrite K, PositiveMap.grs in G. discriminate.
      - rewrite PositiveMap.gro in G by auto. eauto. }
    destruct (op u) eqn:P.
    - destruct (_ && _) eqn:T in S; [|discriminate]. injection S as <-.
      apply andb_true_iff in T as [L T]. apply N.eqb_eq in L.
      set (y := content t (sets a) (target u)) in *.
      assert (O : N.lor y x <> 0) by (intros O; apply N.lor_eq_0_iff in O; tauto).
      constructor; simpl; rewrite ?P; auto.
      + intros c. rewrite content_add. destruct (same_cell c (target u)) eqn:Q; auto.
        apply same_cell_spec in Q as ->. intros _. rewrite meaning_lor, CX by auto.
        destruct (N.eqb_spec y 0) as [Y|Y].
        * simpl in T. unfold is_accumulator in T. change (kinds t) with (array (nodes (net s))) in T.
          rewrite look_array in T. destruct (at_place (nodes (net s)) (node (target u))) as [[]|] eqn:K; try discriminate.
          rewrite (E _ K Y), Y, meaning_0. reflexivity.
        * rewrite H by auto. reflexivity.
      + intros c K. rewrite content_add. destruct (same_cell c (target u)) eqn:Q; auto. contradiction.
    - injection S as <-. constructor; simpl; rewrite ?P; auto.
      + intros c. rewrite content_add. destruct (same_cell c (target u)) eqn:Q; auto.
        apply same_cell_spec in Q as ->. auto.
      + intros c K. rewrite content_add. destruct (same_cell c (target u)) eqn:Q; auto. contradiction.
  Qed.

  Lemma agree_all : forall l m a b, (forall e, In e l -> In (concerns e) (transfers s)) -> agree m a ->
    follow contents (carry t) l a = Some b -> agree (fold_left happen l m) b.
  Proof using add_comm add_assoc wired distinct.
    induction l as [|e l IH]; intros m a b I A F; simpl in F.
    - injection F as <-. auto.
    - destruct (carry t a e) as [a'|] eqn:S; [|discriminate]. simpl. eapply IH; eauto; [intros; apply I; simpl; auto|].
      specialize (I e (or_introl eq_refl)). destruct e; [eapply agree_send|eapply agree_land]; eauto.
  Qed.

  (** * The end *)

  Lemma finished_chunks : forall m everyone l c, (forall k, In k l -> origin k = Everyone -> everyone = full s Everyone) ->
    is_finished s t everyone m c l = true ->
    forall i k, nth_error l i = Some k -> forall n, is_one_of s (due k) n = true ->
      content t m (Cell n 0 (c + N.of_nat i)) = full s (origin k).
  Proof using.
    intros m everyone. induction l as [|k l IH]; intros c G F [|i] j E n D; simpl in *; try discriminate.
    - injection E as ->. apply andb_true_iff in F as [F _]. rewrite N.add_0_r.
      replace (full s (origin j)) with (match origin j with Everyone => everyone | Alone _ => 1 end)
        by (destruct (origin j) eqn:O; [apply (G j)|]; auto).
      apply N.eqb_eq. destruct (due j) as [|a]; simpl in D.
      + rewrite forallb_forall in F. apply F. apply existsb_In. auto.
      + apply N.eqb_eq in D as ->. auto.
    - apply andb_true_iff in F as [_ F]. rewrite <- (IH _ (fun k I => G k (or_intror I)) F _ _ E _ D). do 2 f_equal. lia.
  Qed.

  Lemma full_where_asked : forall k, In k (chunks s) -> origin k = Everyone ->
    (if existsb starts_everywhere (chunks s) then full s Everyone else 1) = full s Everyone.
  Proof using.
    intros k I O. replace (existsb starts_everywhere (chunks s)) with true; auto. symmetry. apply existsb_exists.
    exists k. unfold starts_everywhere. rewrite O. auto.
  Qed.

  Lemma full_not_0 : forall k, In k (chunks s) -> (exists n, In n (members s)) -> full s (origin k) <> 0.
  Proof using.
    intros k _ [n I]. unfold full. destruct (origin k); [|lia].
    pose proof testbit_setbits as H.
    intros Z. specialize (H (members s) 0 n (or_introl I)). rewrite Z, N.bits_0 in H. discriminate.
  Qed.

  Theorem canonical_result : contents_are_right s t = true -> forall m, starts V s own m ->
    keeps_promise V add s own (fold_left happen (canonical s) m).
  Proof using add_comm add_assoc form wired distinct.
    intros R m S c k n K D. unfold contents_are_right in R. rewrite walk_follow in R. fold (canonical s) in R.
    destruct (follow _ _ _ _) as [b|] eqn:F in R; [|discriminate].
    assert (A : agree (fold_left happen (canonical s) m) b).
    { eapply agree_all; eauto; [|apply agree_start; auto].
      intros e I. apply (Permutation_in _ (Permutation_sym (canonical_permutation s))) in I.
      unfold events in I. apply in_app_iff in I as [I|I]; apply in_map_iff in I as (u & <- & I); auto. }
    assert (Q : content t (sets b) (Cell n 0 c) = full s (origin k)).
    { rewrite <- (finished_chunks _ _ _ _ full_where_asked R _ _ K _ D). f_equal. f_equal. lia. }
    rewrite (agree_held _ _ A); rewrite Q; simpl.
    - unfold meaning. rewrite K. apply value_full.
    - apply full_not_0.
      + eapply nth_error_In; eauto.
      + destruct form as (_ & _ & _ & W & _). destruct (due k) as [|a] eqn:U; simpl in D.
        * exists n. apply existsb_In. auto.
        * exists a. apply (W k a); auto. eapply nth_error_In; eauto.
  Qed.
End Contents.
