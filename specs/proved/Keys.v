(** Keys differ where what they stand for differs, and tables answer as the lists that they were made from. *)

From Coq Require Import Arith NArith PArith List Bool FMapPositive Lia.
From Proved Require Import Definitions Checker.
Import ListNotations.
Open Scope N_scope.

Lemma pair_key_injective : forall a b c d, pair_key a b = pair_key c d -> a = c /\ b = d.
Proof.
  induction a as [a IH|a IH|]; intros b [c|c|] d H; simpl in H; try discriminate; injection H as H;
    try (apply IH in H as [-> ->]; auto); auto.
Qed.

Lemma succ_pos_injective : forall a b, N.succ_pos a = N.succ_pos b -> a = b.
Proof. intros a b H. apply (f_equal Npos) in H. rewrite !N.succ_pos_spec in H. lia. Qed.

Lemma key_injective : forall a b c d, key a b = key c d -> a = c /\ b = d.
Proof. unfold key. intros a b c d H. apply pair_key_injective in H as [H K]. split; apply succ_pos_injective; auto. Qed.

Lemma cell_key_injective : forall c d, cell_key c = cell_key d -> c = d.
Proof.
  intros [n b k] [n' b' k'] H. unfold cell_key in H. simpl in H. apply pair_key_injective in H as [H K].
  apply succ_pos_injective in H. apply key_injective in K as [-> ->]. congruence.
Qed.

Lemma resource_key_injective : forall r s, resource_key r = resource_key s -> r = s.
Proof.
  intros [l|a b] [m|c d] H; simpl in H; try discriminate; injection H as H.
  - apply succ_pos_injective in H. congruence.
  - apply key_injective in H as [-> ->]. reflexivity.
Qed.

Lemma slot_key_injective : forall q r p s, slot_key q r = slot_key p s -> q = p /\ r = s.
Proof.
  unfold slot_key. intros q r p s H. apply pair_key_injective in H as [H K].
  apply succ_pos_injective in H. apply resource_key_injective in K. auto.
Qed.

Lemma same_cell_spec : forall c d, same_cell c d = true <-> c = d.
Proof.
  intros [n b k] [n' b' k']. unfold same_cell. simpl. rewrite !andb_true_iff, !N.eqb_eq.
  split; [intros [[-> ->] ->]; reflexivity|intros H; injection H as -> -> ->; auto].
Qed.

Lemma same_resource_spec : forall r s, same_resource r s = true <-> r = s.
Proof.
  intros [l|a b] [m|c d]; simpl; try rewrite andb_true_iff; rewrite ?N.eqb_eq; split; intros H; try discriminate.
  - congruence.
  - congruence.
  - destruct H as [-> ->]. reflexivity.
  - injection H as -> ->. auto.
Qed.

(** * Arrays *)

Lemma find_array_from {A} : forall (l : list A) i m k,
  PositiveMap.find k (array_from i l m) =
  if (k <? i)%positive then PositiveMap.find k m
  else match nth_error l (Pos.to_nat k - Pos.to_nat i) with Some x => Some x | None => PositiveMap.find k m end.
Proof.
  induction l as [|x l IH]; intros i m k; simpl.
  - destruct (k <? i)%positive; auto. destruct (Pos.to_nat k - Pos.to_nat i)%nat; reflexivity.
  - rewrite IH. destruct (Pos.ltb_spec k (Pos.succ i)); destruct (Pos.ltb_spec k i); try lia.
    + rewrite PositiveMap.gso by lia. reflexivity.
    + assert (k = i) as -> by lia. rewrite PositiveMap.gss, Nat.sub_diag. reflexivity.
    + replace (Pos.to_nat k - Pos.to_nat i)%nat with (S (Pos.to_nat k - Pos.to_nat (Pos.succ i))) by lia.
      simpl. rewrite PositiveMap.gso by lia. reflexivity.
Qed.

Lemma look_array {A} : forall (l : list A) i, look (array l) i = at_place l i.
Proof.
  intros l i. unfold look, array, at_place. rewrite find_array_from.
  destruct (Pos.ltb_spec (N.succ_pos i) 1); [lia|].
  replace (Pos.to_nat (N.succ_pos i) - Pos.to_nat 1)%nat with (N.to_nat i).
  - rewrite PositiveMap.gempty. destruct (nth_error l (N.to_nat i)); reflexivity.
  - pose proof (N.succ_pos_spec i). lia.
Qed.

(** * Counts *)

Fixpoint total (k : positive) (l : list (positive * N)) : N :=
  match l with [] => 0 | (j, n) :: rest => (if (j =? k)%positive then n else 0) + total k rest end.

Lemma total_app : forall k l m, total k (l ++ m) = total k l + total k m.
Proof. induction l as [|[j n] l IH]; intros m; simpl; auto. rewrite IH. lia. Qed.

Lemma number_at_count : forall m j n k, number_at (count m j n) k = (if (j =? k)%positive then n else 0) + number_at m k.
Proof.
  intros m j n k. unfold count, number_at. destruct (Pos.eqb_spec j k) as [->|H].
  - rewrite PositiveMap.gss. reflexivity.
  - rewrite PositiveMap.gso by auto. reflexivity.
Qed.

Lemma number_at_counts : forall l m k,
  number_at (fold_left (fun m e => count m (fst e) (snd e)) l m) k = total k l + number_at m k.
Proof.
  induction l as [|[j n] l IH]; intros m k; simpl; auto.
  rewrite IH, number_at_count. lia.
Qed.

Lemma number_at_add : forall m j n k, number_at (PositiveMap.add j n m) k = if (j =? k)%positive then n else number_at m k.
Proof.
  intros m j n k. unfold number_at. destruct (Pos.eqb_spec j k) as [->|H].
  - rewrite PositiveMap.gss. reflexivity.
  - rewrite PositiveMap.gso by auto. reflexivity.
Qed.

Lemma number_at_empty : forall k, number_at (PositiveMap.empty N) k = 0.
Proof. intros k. unfold number_at. rewrite PositiveMap.gempty. reflexivity. Qed.

Lemma width_between : forall s a b, number_at (widths (tables_of s)) (key a b) = capacity (net s) (Between a b).
Proof.
  intros s a b. simpl. set (m := PositiveMap.empty N).
  enough (H : forall l m, number_at (fold_left (fun m k => count m (key (tail k) (head k)) (width k)) l m) (key a b) =
    fold_right (fun k sum => (if (tail k =? a) && (head k =? b) then width k else 0) + sum) 0 l + number_at m (key a b))
    by (rewrite H; subst m; rewrite number_at_empty; lia).
  clear m. induction l as [|k l IH]; intros m; simpl; auto.
  rewrite IH, number_at_count.
  destruct (Pos.eqb_spec (key (tail k) (head k)) (key a b)) as [E|E].
  - apply key_injective in E as [E F]. rewrite E, F, !N.eqb_refl. simpl. lia.
  - destruct (N.eqb_spec (tail k) a); simpl; [|lia].
    destruct (N.eqb_spec (head k) b); simpl; [congruence|lia].
Qed.

(** * Members *)

Lemma is_member_spec : forall s n, is_member (tables_of s) n = existsb (N.eqb n) (members s).
Proof.
  intros s n. unfold is_member, look. simpl.
  enough (H : forall l m, match PositiveMap.find (N.succ_pos n) (fold_left (fun m n => PositiveMap.add (N.succ_pos n) tt m) l m)
    with Some _ => true | None => false end =
    existsb (N.eqb n) l || match PositiveMap.find (N.succ_pos n) m with Some _ => true | None => false end)
    by (rewrite H, PositiveMap.gempty; apply orb_false_r).
  induction l as [|x l IH]; intros m; simpl; auto.
  rewrite IH. destruct (N.eqb_spec n x) as [->|E]; simpl.
  - rewrite PositiveMap.gss. apply orb_true_r.
  - rewrite PositiveMap.gso; auto. intros K. apply succ_pos_injective in K. auto.
Qed.

Lemma existsb_In : forall n l, existsb (N.eqb n) l = true <-> In n l.
Proof.
  intros n l. rewrite existsb_exists. split.
  - intros [x [H E]]. apply N.eqb_eq in E. congruence.
  - intros H. exists n. rewrite N.eqb_refl. auto.
Qed.

Lemma is_rising_spec : forall l from, is_rising from l = true -> NoDup l /\ forall n, In n l -> from <= n.
Proof.
  induction l as [|x l IH]; intros from H; simpl in H.
  - split; [constructor|intros n []].
  - apply andb_true_iff in H as [H K]. apply N.leb_le in H. apply IH in K as [K L]. split.
    + constructor; auto. intros X. apply L in X. lia.
    + intros n [<-|X]; auto. apply L in X. lia.
Qed.

(** * Blocks *)

Lemma total_key : forall (l : list (N * N * N)) a b,
  total (key a b) (map (fun row => (key (fst (fst row)) (snd (fst row)), snd row)) l) = demanded l a b.
Proof.
  induction l as [|[[x y] n] l IH]; intros a b; auto. cbn [map total demanded fold_right fst snd]. rewrite IH. f_equal.
  destruct (Pos.eqb_spec (key x y) (key a b)) as [E|E].
  - apply key_injective in E as [-> ->]. rewrite !N.eqb_refl. auto.
  - destruct (N.eqb_spec x a); auto. destruct (N.eqb_spec y b); auto. subst. contradiction.
Qed.

Lemma demands_spec : forall l a b, number_at (demands l) (key a b) = demanded l a b.
Proof.
  intros l a b. unfold demands. rewrite <- total_key.
  enough (H : forall l m, number_at (fold_left (fun m row => count m (key (fst (fst row)) (snd (fst row))) (snd row)) l m)
    (key a b) = total (key a b) (map (fun row => (key (fst (fst row)) (snd (fst row)), snd row)) l) + number_at m (key a b))
    by (rewrite H, number_at_empty; lia).
  clear. induction l as [|[[x y] n] l IH]; intros m; auto. cbn [fold_left map total fst snd].
  rewrite IH, number_at_count. lia.
Qed.

Lemma amounts_spec : forall l a b, number_at (amounts l) (key a b) = amount l a b.
Proof.
  intros l a b. unfold amounts.
  enough (H : forall l m, number_at (fold_left (fun m k =>
      match origin k, due k with Alone a, Alone b => count m (key a b) (size k) | _, _ => m end) l m) (key a b) =
    amount l a b + number_at m (key a b)) by (rewrite H, number_at_empty; lia).
  clear. induction l as [|k l IH]; intros m; auto. cbn [fold_left amount fold_right]. rewrite IH.
  fold (amount l a b). destruct (origin k) as [|x], (due k) as [|y]; try lia. rewrite number_at_count.
  destruct (Pos.eqb_spec (key x y) (key a b)) as [E|E].
  - apply key_injective in E as [-> ->]. rewrite !N.eqb_refl. simpl. lia.
  - destruct (N.eqb_spec x a); simpl; [|lia]. destruct (N.eqb_spec y b); simpl; [|lia]. subst. contradiction.
Qed.

Lemma amount_needs_chunk : forall l a b, amount l a b <> 0 -> exists k, In k l /\ origin k = Alone a /\ due k = Alone b.
Proof.
  induction l as [|k l IH]; intros a b H; [simpl in H; lia|]. cbn [amount fold_right] in H. fold (amount l a b) in H.
  destruct (N.eq_dec (amount l a b) 0) as [Z|Z].
  - exists k. destruct (origin k) as [|x], (due k) as [|y]; try lia.
    destruct (N.eqb_spec x a), (N.eqb_spec y b); simpl in H; try lia. subst. simpl. auto.
  - destruct (IH a b Z) as (j & I & J). exists j. simpl. auto.
Qed.

Lemma demanded_needs_row : forall l a b, demanded l a b <> 0 -> exists n, In (a, b, n) l.
Proof.
  induction l as [|[[x y] n] l IH]; intros a b H; [simpl in H; lia|]. cbn [demanded fold_right fst snd] in H.
  fold (demanded l a b) in H. destruct (N.eq_dec (demanded l a b) 0) as [Z|Z].
  - exists n. destruct (N.eqb_spec x a), (N.eqb_spec y b); simpl in H; try lia. subst. simpl. auto.
  - destruct (IH a b Z) as (j & I). exists j. simpl. auto.
Qed.

Lemma blocks_sound : forall s, blocks_are_right s = true -> blocks_are_whole s.
Proof.
  intros s H. unfold blocks_are_right, blocks_are_whole in *.
  assert (equal : match chunks s with
      | [] => false
      | first :: _ =>
          let same := match origin first, due first with
            Alone a, Alone b => number_at (amounts (chunks s)) (key a b) | _, _ => 0 end in
          forallb (fun a => forallb (fun b => number_at (amounts (chunks s)) (key a b) =? same) (targets s a)) (members s)
      end = true ->
    forall a b c d, In a (members s) -> In b (targets s a) -> In c (members s) -> In d (targets s c) ->
      amount (chunks s) a b = amount (chunks s) c d).
  { intros G a b c d A B C D. destruct (chunks s) as [|k l] eqn:E; [discriminate|]. rewrite <- E in *. cbv zeta in G.
    rewrite forallb_forall in G. pose proof (G _ A) as X. pose proof (G _ C) as Y. cbv beta in X, Y.
    rewrite forallb_forall in X, Y. specialize (X _ B). specialize (Y _ D). rewrite N.eqb_eq, amounts_spec in X, Y. congruence. }
  destruct (to_do s) eqn:T; auto; try (intros a b c d _ B; unfold targets in B; rewrite T in B; destruct B).
  intros a b. apply andb_true_iff in H as [A B]. rewrite forallb_forall in A, B.
  assert (D : number_at (amounts (chunks s)) (key a b) = number_at (demands demand) (key a b) ->
    amount (chunks s) a b = demanded demand a b) by (rewrite amounts_spec, demands_spec; auto).
  destruct (N.eq_dec (amount (chunks s) a b) 0) as [Z|Z].
  - destruct (N.eq_dec (demanded demand a b) 0) as [W|W]; [congruence|].
    apply demanded_needs_row in W as (n & I). apply D. apply B in I. apply N.eqb_eq. auto.
  - apply amount_needs_chunk in Z as (k & I & O & U). apply D. apply A in I. rewrite O, U in I. apply N.eqb_eq. auto.
Qed.
