(** Every run does to the data what the events do in the order of the checker. *)

From Coq Require Import Arith NArith PArith List Bool Permutation FMapPositive Lia.
From Proved Require Import Definitions Checker Keys.
Import ListNotations.
Open Scope N_scope.

(** * The order of the checker *)

Fixpoint merge (d : N) (sent : list transfer) : list transfer -> list event :=
  fix land (landed : list transfer) : list event :=
    match sent, landed with
    | [], [] => []
    | [], u :: rest => Land u :: land rest
    | t :: later, [] => Send t :: merge d later []
    | t :: later, u :: rest => if step u + d <=? step t then Land u :: land rest else Send t :: merge d later landed
    end.

Lemma walk_follow : forall S f d sent landed (state : S),
  walk S f d sent landed state = follow S f (merge d sent landed) state.
Proof.
  intros S f d. induction sent as [|t later IH].
  - induction landed as [|u rest IL]; intros state; simpl; auto.
    destruct (f state (Land u)); auto.
  - induction landed as [|u rest IL]; intros state.
    + simpl. destruct (f state (Send t)); auto.
    + cbn [walk merge]. destruct (step u + d <=? step t); simpl.
      * destruct (f state (Land u)); auto.
      * destruct (f state (Send t)); auto.
Qed.

Lemma merge_permutation : forall d sent landed, Permutation (map Send sent ++ map Land landed) (merge d sent landed).
Proof.
  intros d. induction sent as [|t later IH].
  - induction landed as [|u rest IL]; simpl in *; auto.
  - induction landed as [|u rest IL].
    + simpl. constructor. apply (IH []).
    + cbn [merge]. destruct (step u + d <=? step t).
      * etransitivity; [|constructor; apply IL]. symmetry. simpl map. apply Permutation_middle.
      * simpl. constructor. apply (IH (u :: rest)).
Qed.

Definition canonical (s : schedule) : list event := merge (delay s) (transfers s) (transfers s).

Lemma canonical_permutation : forall s, Permutation (events s) (canonical s).
Proof. intros s. apply merge_permutation. Qed.

Lemma follow_app : forall S f a b (state : S),
  follow S f (a ++ b) state = match follow S f a state with Some next => follow S f b next | None => None end.
Proof. intros S f. induction a as [|e a IH]; intros b state; simpl; auto. destruct (f state e); auto. Qed.

(** * Before *)

Lemma before_cons : forall l e f x, before l e f -> before (x :: l) e f.
Proof. intros l e f x (a & b & c & ->). exists (x :: a), b, c. reflexivity. Qed.

Lemma before_first : forall l e f, In f l -> before (e :: l) e f.
Proof. intros l e f H. apply in_split in H as (a & b & ->). exists [], a, b. reflexivity. Qed.

Lemma before_inv : forall l x e f, before (x :: l) e f -> (x = e /\ In f l) \/ before l e f.
Proof.
  intros l x e f ([|y a] & b & c & H); simpl in H; injection H as -> ->.
  - left. split; auto. apply in_app_iff. simpl. auto.
  - right. exists a, b, c. reflexivity.
Qed.

Lemma before_In : forall l e f, before l e f -> In e l /\ In f l.
Proof. intros l e f (a & b & c & ->). rewrite !in_app_iff. simpl. rewrite !in_app_iff. simpl. auto 8. Qed.

Lemma before_asymmetric : forall l e f, NoDup l -> before l e f -> before l f e -> False.
Proof.
  induction l as [|x l IH]; intros e f D H K.
  - destruct H as ([|] & ? & ? & H); discriminate.
  - inversion D as [|? ? X D']; subst.
    apply before_inv in H as [[-> H]|H]; apply before_inv in K as [[E K]|K]; subst; eauto.
    + apply before_In in K as [K L]. auto.
    + apply before_In in H as [H L]. auto.
Qed.

Lemma before_total : forall l e f, In e l -> In f l -> e <> f -> before l e f \/ before l f e.
Proof.
  induction l as [|x l IH]; intros e f H K E; [destruct H|]. destruct H as [->|H], K as [->|K].
  - contradiction.
  - left. apply before_first. auto.
  - right. apply before_first. auto.
  - destruct (IH e f H K E); [left|right]; apply before_cons; auto.
Qed.

Lemma before_transitive : forall l e f g, NoDup l -> before l e f -> before l f g -> before l e g.
Proof.
  induction l as [|x l IH]; intros e f g D H K.
  - destruct H as ([|] & ? & ? & H); discriminate.
  - inversion D as [|? ? X D']; subst.
    apply before_inv in K as [[-> K]|K].
    + apply before_inv in H as [[-> H]|H]; [contradiction|]. apply before_In in H as [_ H]. contradiction.
    + apply before_inv in H as [[-> H]|H]; [|apply before_cons; eauto]. apply before_first.
      apply before_In in K. tauto.
Qed.

Lemma before_remove : forall a x b e f, before (a ++ b) e f -> before (a ++ x :: b) e f.
Proof.
  induction a as [|y a IH]; intros x b e f H; simpl in *.
  - apply before_cons. auto.
  - apply before_inv in H as [[-> H]|H].
    + apply before_first. rewrite in_app_iff in *. simpl. tauto.
    + apply before_cons. auto.
Qed.

Lemma before_prefix : forall a x b e, In e a -> before (a ++ x :: b) e x.
Proof.
  intros a x b e H. apply in_split in H as (c & d & ->). exists c, d, b. rewrite <- app_assoc. reflexivity.
Qed.

(** * Events that change places *)

Section Exchange.
  Variables (M : Type) (same : M -> M -> Prop) (f : M -> event -> M).
  Hypothesis same_refl : forall m, same m m.
  Hypothesis same_trans : forall m n o, same m n -> same n o -> same m o.
  Hypothesis f_same : forall m n e, same m n -> same (f m e) (f n e).

  Definition commute (e g : event) : Prop := forall m, same (f (f m e) g) (f (f m g) e).

  Lemma fold_same : forall l m n, same m n -> same (fold_left f l m) (fold_left f l n).
  Proof using f_same. induction l as [|e l IH]; intros m n H; simpl; auto. Qed.

  Lemma to_front : forall a e b m, (forall g, In g a -> commute g e) ->
    same (fold_left f (a ++ e :: b) m) (fold_left f (e :: a ++ b) m).
  Proof using same_refl same_trans f_same.
    induction a as [|g a IH]; intros e b m H; simpl; auto.
    eapply same_trans; [apply IH; intros; apply H; simpl; auto|].
    simpl. apply fold_same. apply H. simpl. auto.
  Qed.

  Lemma any_order : forall c r m, NoDup c -> Permutation c r ->
    (forall e g, before r e g -> before c g e -> commute e g) ->
    same (fold_left f r m) (fold_left f c m).
  Proof using same_refl same_trans f_same.
    induction c as [|e c IH]; intros r m D P H.
    - apply Permutation_nil in P as ->. apply same_refl.
    - assert (I : In e r) by (apply (Permutation_in _ P); simpl; auto).
      apply in_split in I as (a & b & ->). inversion D as [|? ? X D']; subst.
      apply Permutation_cons_app_inv in P.
      eapply same_trans.
      + apply to_front. intros g G. apply H; [apply before_prefix; auto|].
        apply before_first. apply (Permutation_in _ (Permutation_sym P)). apply in_app_iff. auto.
      + simpl. apply IH; auto. intros g h G K. apply H.
        * apply before_remove. auto.
        * apply before_cons. auto.
  Qed.
End Exchange.

(** * What the checks of the order say *)

Section Checked.
  Variables (m : timing) (s : schedule).

  Lemma ticks : forall d l clock, follow N (tick d) l clock <> None ->
    forall e, In e l -> clock <= moment d e.
  Proof.
    intros d. induction l as [|x l IH]; intros clock H e I; [destruct I|].
    simpl in H. unfold tick in H at 1. destruct (N.leb_spec clock (moment d x)); [|congruence].
    destruct I as [->|I]; auto. apply IH with (e := e) in H; auto. lia.
  Qed.

  Lemma ticks_before : forall d l clock e f, follow N (tick d) l clock <> None -> before l e f ->
    moment d e <= moment d f.
  Proof.
    intros d l clock e f H (a & b & c & ->). rewrite follow_app in H.
    destruct (follow N (tick d) a clock) as [k|]; [|congruence]. simpl in H. unfold tick in H at 1.
    destruct (k <=? moment d e); [|congruence]. eapply ticks; eauto. apply in_app_iff. simpl. auto.
  Qed.

  (** Marks only grow. *)
  Definition grows (k k' : marks) : Prop := forall c,
    number_at (sent_from k) c <= number_at (sent_from k') c /\
    number_at (any_until k) c <= number_at (any_until k') c /\
    number_at (copy_until k) c <= number_at (copy_until k') c.

  Lemma max_add : forall t c n k, number_at t k <= number_at (PositiveMap.add c (N.max (number_at t c) n) t) k.
  Proof. intros t c n k. rewrite number_at_add. destruct (Pos.eqb_spec c k) as [->|]; lia. Qed.

  Lemma mark_grows : forall d k k' e, mark m d k e = Some k' -> grows k k'.
  Proof.
    intros d k k' [t|t] H c; simpl in H.
    - injection H as <-. simpl. pose proof max_add. repeat split; auto; lia.
    - destruct (_ && _) in H; [|discriminate]. injection H as <-. simpl. pose proof max_add.
      repeat split; auto; try lia. destruct (op t); auto; lia.
  Qed.

  Lemma marks_grow : forall d l k k', follow marks (mark m d) l k = Some k' -> grows k k'.
  Proof.
    intros d. induction l as [|e l IH]; intros k k' H; simpl in H.
    - injection H as <-. intros c. lia.
    - destruct (mark m d k e) as [k''|] eqn:E; [|discriminate].
      apply mark_grows in E. apply IH in H. intros c. specialize (E c). specialize (H c). lia.
  Qed.

  (** Between two events of the order nothing of the first mark is lost. *)
  Lemma marks_between : forall d l k e f, follow marks (mark m d) l k <> None -> before l e f ->
    exists k1 k2 k3 k4, mark m d k1 e = Some k2 /\ grows k2 k3 /\ mark m d k3 f = Some k4.
  Proof.
    intros d l k e f H (a & b & c & ->). rewrite follow_app in H.
    destruct (follow marks (mark m d) a k) as [k1|]; [|congruence]. simpl in H.
    destruct (mark m d k1 e) as [k2|] eqn:E; [|congruence].
    rewrite follow_app in H. destruct (follow marks (mark m d) b k2) as [k3|] eqn:B; [|congruence].
    simpl in H. destruct (mark m d k3 f) as [k4|] eqn:F; [|congruence].
    exists k1, k2, k3, k4. split; auto. split; auto. eapply marks_grow; eauto.
  Qed.

  Lemma landing_apart : forall d l k t u, follow marks (mark m d) l k <> None -> before l (Land t) (Land u) ->
    target t = target u -> op t = Copy \/ op u = Copy ->
    step t + match m with Held => 1 | Early => d end <= step u.
  Proof.
    intros d l k t u H B E C. destruct (marks_between _ _ _ _ _ H B) as (k1 & k2 & k3 & k4 & M & G & N).
    simpl in M, N. destruct (_ && _) in M; [|discriminate]. injection M as <-.
    specialize (G (cell_key (target u))). simpl in G. rewrite E in G.
    destruct (_ && (_ <=? _)) eqn:X in N; [|discriminate]. apply andb_true_iff in X as [_ X]. apply N.leb_le in X.
    rewrite number_at_add, Pos.eqb_refl in G.
    destruct (op u) eqn:U.
    - destruct C as [C|C]; [|discriminate]. rewrite C in G. rewrite number_at_add, Pos.eqb_refl in G. lia.
    - lia.
  Qed.

  Lemma sending_apart : forall d l k t u, m = Early -> follow marks (mark m d) l k <> None ->
    before l (Send t) (Land u) -> source t = target u -> step t <= step u.
  Proof.
    intros d l k t u A H B E. destruct (marks_between _ _ _ _ _ H B) as (k1 & k2 & k3 & k4 & M & G & N).
    simpl in M, N. injection M as <-. specialize (G (cell_key (target u))). simpl in G. rewrite E in G.
    rewrite A in N. destruct (_ && (_ <=? _)) eqn:X in N; [|discriminate].
    apply andb_true_iff in X as [X _]. apply N.leb_le in X.
    rewrite number_at_add, Pos.eqb_refl in G. lia.
  Qed.
End Checked.
