(** [deadlock_sound]: if channels can be numbered such that the numbers rise along every route, no run through routers deadlocks.

    A channel is a virtual channel of a link, or the way from a network interface into its router. Messages are worms of flits. A
    channel belongs to one message from its head to its tail, and has room for at least one flit; flits of a message keep their order.
    What arrives is taken. A message may wait for others before its head is injected, for instance for data or for its turn, as
    long as ranks say who waits for whom; from then on it waits for nothing but room. Who goes first is left open, and so is how long
    anything takes. *)

From Coq Require Import Arith List Bool Lia.
Import ListNotations.

Section Routers.
  (** * What is given *)

  Variables (messages : list nat) (route : nat -> list nat) (flits : nat -> nat) (room : nat -> nat).
  Variable rank : nat -> nat.

  (** Where each flit of each message is: 0 before it is injected, k in the k-th channel of its route, one more when it has arrived. *)
  Definition state := nat -> nat -> nat.
  Variable may_start : state -> nat -> Prop.

  Definition hops (m : nat) : nat := length (route m).
  Definition channel (m k : nat) : option nat := match k with 0 => None | S i => nth_error (route m) i end.
  Definition has_arrived (p : state) (m : nat) : Prop := forall f, f < flits m -> p m f = S (hops m).

  (** A message holds the channels from its head to its tail. *)
  Definition holds (p : state) (m c : nat) : Prop :=
    exists k, channel m k = Some c /\ p m (flits m - 1) <= k <= p m 0.

  Definition inside (p : state) (m k : nat) : nat := length (filter (fun f => p m f =? k) (seq 0 (flits m))).

  (** Flit [f] of message [m] can go on: it is the first of its message that is where it is; into a channel it comes only if there is
      room, and its head only if no other message holds it. *)
  Record can_move (p : state) (m f : nat) : Prop := {
    is_flit : In m messages /\ f < flits m;
    not_there : p m f <= hops m;
    in_order : f = 0 \/ p m f < p m (f - 1);
    starts : f = 0 -> p m f = 0 -> may_start p m;
    free : forall c, channel m (S (p m f)) = Some c ->
      (f = 0 -> forall n, In n messages -> n <> m -> ~ holds p n c) /\ inside p m (S (p m f)) < room c }.

  Definition moved (p : state) (m f : nat) : state :=
    fun n g => if (n =? m) && (g =? f) then S (p m f) else p n g.

  Definition step (p q : state) : Prop := exists m f, can_move p m f /\ forall n g, q n g = moved p m f n g.

  Inductive reached : state -> Prop :=
  | at_first : forall p, (forall m f, p m f = 0) -> reached p
  | by_step : forall p q, reached p -> step p q -> reached q.

  (** * What is assumed *)

  Fixpoint rises (l : list nat) : Prop :=
    match l with a :: (b :: _) as rest => a < b /\ rises rest | _ => True end.

  (** Numbers of channels rise along every route, injection included. *)
  Variable number : nat -> nat.
  Hypothesis numbers_rise : forall m, In m messages -> rises (map number (route m)).
  Hypothesis has_flits : forall m, In m messages -> 0 < flits m.
  Hypothesis has_room : forall c, 0 < room c.
  (** Who waits before it starts waits for messages of smaller rank: when these have arrived it may start. *)
  Hypothesis waits_by_rank : forall p m, In m messages -> p m 0 = 0 ->
    (forall n, In n messages -> rank n < rank m -> has_arrived p n) -> may_start p m.

  (** * What is always so *)

  Record invariant (p : state) : Prop := {
    ordered : forall m f g, In m messages -> f <= g -> g < flits m -> p m g <= p m f;
    exclusive : forall m n c, In m messages -> In n messages -> m <> n -> holds p m c -> holds p n c -> False;
    within : forall m f, In m messages -> f < flits m -> p m f <= S (hops m) }.

  Lemma moved_same : forall p m f, moved p m f m f = S (p m f).
  Proof using. intros. unfold moved. rewrite !Nat.eqb_refl. auto. Qed.

  Lemma moved_other : forall p m f n g, n <> m \/ g <> f -> moved p m f n g = p n g.
  Proof using.
    intros p m f n g H. unfold moved. destruct (Nat.eqb_spec n m), (Nat.eqb_spec g f); simpl; auto. destruct H; contradiction.
  Qed.

  Lemma moved_grows : forall p m f n g, p n g <= moved p m f n g.
  Proof using.
    intros p m f n g. unfold moved. destruct (Nat.eqb_spec n m), (Nat.eqb_spec g f); simpl; auto. subst. auto.
  Qed.

  Lemma holds_moved : forall p m f n c, can_move p m f -> holds (moved p m f) n c ->
    holds p n c \/ (n = m /\ f = 0 /\ channel m (S (p m 0)) = Some c).
  Proof using.
    intros p m f n c M (k & K & L & U). pose proof (moved_grows p m f n (flits n - 1)).
    destruct (Nat.eq_dec n m) as [->|E].
    - destruct (Nat.eq_dec f 0) as [->|F].
      + rewrite moved_same in U. destruct (Nat.eq_dec k (S (p m 0))) as [->|N]; auto. left. exists k. repeat split; auto; lia.
      + rewrite (moved_other _ _ _ _ 0) in U by auto. left. exists k. repeat split; auto; lia.
    - rewrite (moved_other _ _ _ _ 0) in U by auto. left. exists k. repeat split; auto; lia.
  Qed.

  Lemma invariant_moved : forall p m f, invariant p -> can_move p m f -> invariant (moved p m f).
  Proof using.
    intros p m f [O X W] M. pose proof M as [[I F] T R S Q]. constructor.
    - intros n g h J GH H. destruct (Nat.eq_dec n m) as [->|E].
      + destruct (Nat.eq_dec h f) as [->|E].
        * rewrite moved_same. destruct (Nat.eq_dec g f) as [->|D]; [rewrite moved_same; auto|].
          rewrite moved_other by auto. destruct R as [->|R]; [lia|]. assert (p m (f - 1) <= p m g) by (apply O; auto; lia). lia.
        * rewrite moved_other by auto. etransitivity; [apply O; eauto|apply moved_grows].
      + rewrite !moved_other by auto. auto.
    - intros a b c A B D HA HB.
      apply (holds_moved p m f a c M) in HA. apply (holds_moved p m f b c M) in HB.
      destruct HA as [HA|(-> & -> & CA)], HB as [HB|(-> & F0 & CB)]; try (eapply X; eauto; fail).
      + subst f. destruct (Q c CB) as [Q' _]. apply (Q' eq_refl a A D HA).
      + destruct (Q c CA) as [Q' _]. apply (Q' eq_refl b B); auto.
      + contradiction.
    - intros n g J G. unfold moved. destruct (Nat.eqb_spec n m), (Nat.eqb_spec g f); simpl; auto. subst. lia.
  Qed.

  Lemma invariant_ext : forall p q, (forall n g, q n g = p n g) -> invariant p -> invariant q.
  Proof using.
    intros p q E [O X W]. constructor.
    - intros m f g I J K. rewrite !E. auto.
    - intros m n c I J D (k & K & L) (k' & K' & L'). rewrite !E in L, L'.
      apply (X m n c I J D); [exists k|exists k']; auto.
    - intros m f I F. rewrite E. auto.
  Qed.

  Theorem reached_invariant : forall p, reached p -> invariant p.
  Proof using.
    intros p R. induction R as [p Z|p q R IH (m & f & M & E)].
    - constructor; intros; rewrite ?Z; try lia.
      match goal with H : holds p m c |- _ => destruct H as (k & K & L & U) end. rewrite Z in U. destruct k; [discriminate|lia].
    - apply (invariant_ext _ _ E). apply invariant_moved; auto.
  Qed.

  (** * There is always a step *)

  Lemma channel_there : forall m k c, channel m k = Some c -> 1 <= k <= hops m.
  Proof using.
    intros m [|k] c H; [discriminate|]. simpl in H. unfold hops.
    assert (L : nth_error (route m) k <> None) by congruence. apply nth_error_Some in L. lia.
  Qed.

  Lemma rises_nth : forall l i j x y, rises l -> nth_error l i = Some x -> nth_error l j = Some y -> i < j -> x < y.
  Proof using.
    induction l as [|a l IH]; intros i j x y R X Y L; [destruct i; discriminate|].
    destruct j as [|j]; [lia|]. destruct l as [|b l]; [destruct j; discriminate|]. simpl in R. destruct R as [R1 R2].
    destruct i as [|i].
    - simpl in X. injection X as <-. destruct j as [|j]; [simpl in Y; injection Y as <-; auto|].
      pose proof (IH 0 (S j) b y R2 eq_refl Y). lia.
    - apply (IH i j); auto. lia.
  Qed.

  Lemma later_is_larger : forall m i j a b, In m messages -> channel m i = Some a -> channel m j = Some b -> i < j ->
    number a < number b.
  Proof using numbers_rise.
    intros m [|i] [|j] a b I A B L; simpl in *; try discriminate; try lia.
    apply (rises_nth (map number (route m)) i j); auto; try lia; apply map_nth_error; auto.
  Qed.

  Lemma least : forall (q : nat -> bool) n, (exists f, f < n /\ q f = true) ->
    exists f, f < n /\ q f = true /\ forall g, g < f -> q g = false.
  Proof using.
    intros q. induction n as [|n IH]; intros (f & F & H); [lia|].
    destruct (existsb q (seq 0 n)) eqn:E.
    - apply existsb_exists in E as (g & I & E). apply in_seq in I. destruct IH as (h & A & B & C); [exists g; split; [lia|auto]|].
      exists h. auto.
    - exists f. split; auto. split; auto. intros g G. apply not_true_iff_false. intros X. apply not_true_iff_false in E. apply E.
      apply existsb_exists. exists g. split; auto. apply in_seq. lia.
  Qed.

  Lemma best : forall (v : nat -> nat) l, l <> [] -> exists x, In x l /\ forall y, In y l -> v y <= v x.
  Proof using.
    intros v. induction l as [|a l IH]; intros N; [contradiction|]. destruct l as [|b l].
    - exists a. simpl. split; auto. intros y [<-|[]]. auto.
    - destruct IH as (x & I & H); [discriminate|]. destruct (le_lt_dec (v a) (v x)).
      + exists x. split; [simpl; simpl in I; tauto|]. intros y [<-|Y]; auto.
      + exists a. split; [simpl; auto|]. intros y [<-|Y]; auto. specialize (H y Y). lia.
  Qed.

  Lemma nothing_inside : forall p m k, (forall f, f < flits m -> p m f <> k) -> inside p m k = 0.
  Proof using.
    intros p m k H. unfold inside. destruct (filter _ _) as [|f l] eqn:E; auto. exfalso.
    assert (I : In f (f :: l)) by (simpl; auto). rewrite <- E in I. apply filter_In in I as [I F].
    apply in_seq in I. apply Nat.eqb_eq in F. apply (H f); auto; lia.
  Qed.

  Definition tail (p : state) (m : nat) : nat := p m (flits m - 1).
  Definition in_flight (p : state) (m : nat) : bool := (1 <=? p m 0) && (tail p m <=? hops m).

  Lemma holder_in_flight : forall p m c, holds p m c -> in_flight p m = true.
  Proof using.
    intros p m c (k & K & L & U). apply channel_there in K. unfold in_flight, tail. apply andb_true_iff. rewrite !Nat.leb_le. lia.
  Qed.

  Lemma arrived_or_not : forall p m, invariant p -> In m messages -> tail p m = S (hops m) -> has_arrived p m.
  Proof using has_flits.
    intros p m [O _ W] I T f F. unfold tail in T. specialize (has_flits m I).
    pose proof (W m f I F). assert (p m (flits m - 1) <= p m f) by (apply O; auto; lia). lia.
  Qed.

  (** A worm whose head has arrived: the first flit that has not moves on. *)
  Lemma draining_moves : forall p m, invariant p -> In m messages -> in_flight p m = true -> p m 0 = S (hops m) ->
    exists f, can_move p m f.
  Proof using has_flits has_room.
    intros p m [O X W] I F H. unfold in_flight, tail in F. apply andb_true_iff in F as [_ F]. apply Nat.leb_le in F.
    pose proof (has_flits m I) as P.
    destruct (least (fun f => p m f <=? hops m) (flits m)) as (f & L & A & B).
    { exists (flits m - 1). split; [lia|]. apply Nat.leb_le. auto. }
    apply Nat.leb_le in A.
    assert (N : f <> 0) by (intros ->; lia).
    assert (ahead : forall g, g < f -> p m g = S (hops m)).
    { intros g G. specialize (B g G). apply Nat.leb_gt in B. assert (p m g <= S (hops m)) by (apply W; auto; lia). lia. }
    exists f. constructor; auto.
    - right. rewrite (ahead (f - 1)) by lia. lia.
    - intros. contradiction.
    - intros c C. split; [intros; contradiction|]. apply channel_there in C.
      rewrite nothing_inside; [apply has_room|]. intros g G.
      destruct (le_lt_dec f g).
      + assert (p m g <= p m f) by (apply O; auto). lia.
      + rewrite ahead by auto. lia.
  Qed.

  (** A head goes on into a channel that nobody holds. *)
  Lemma head_moves : forall p m, invariant p -> In m messages -> p m 0 <= hops m -> (p m 0 = 0 -> may_start p m) ->
    (forall c n, channel m (S (p m 0)) = Some c -> In n messages -> n <> m -> ~ holds p n c) -> can_move p m 0.
  Proof using has_flits has_room.
    intros p m [O X W] I H S F. constructor; auto. intros c C. split; [intros; eauto|].
    rewrite nothing_inside; [apply has_room|]. intros f L. assert (p m f <= p m 0) by (apply O; auto; lia). lia.
  Qed.

  Lemma step_of : forall p m f, can_move p m f -> exists q, step p q.
  Proof using. intros p m f M. exists (moved p m f), m, f. auto. Qed.

  (** No deadlock: as long as something has not arrived, something moves. *)
  Theorem deadlock_sound : forall p, reached p -> (forall m, In m messages -> has_arrived p m) \/ exists q, step p q.
  Proof using numbers_rise has_flits has_room waits_by_rank.
    intros p R. apply reached_invariant in R as V. pose proof V as [O X W].
    assert (start : forall m, In m messages -> in_flight p m = false -> p m 0 = 0 \/ has_arrived p m).
    { intros m I F. unfold in_flight in F. apply andb_false_iff in F. rewrite !Nat.leb_gt in F. destruct F as [F|F]; [lia|].
      right. apply arrived_or_not; auto. pose proof (has_flits m I). unfold tail in *.
      assert (p m (flits m - 1) <= S (hops m)) by (apply W; auto; lia). lia. }
    destruct (filter (in_flight p) messages) as [|x l] eqn:L.
    - (* nothing is on its way: the message of the smallest rank that has not arrived starts *)
      assert (none : forall m, In m messages -> in_flight p m = false).
      { intros m I. apply not_true_iff_false. intros F. assert (J : In m []) by (rewrite <- L; apply filter_In; auto). destruct J. }
      destruct (filter (fun m => tail p m <=? hops m) messages) as [|y k] eqn:K.
      + left. intros m I. apply arrived_or_not; auto. pose proof (has_flits m I).
        assert (tail p m <= S (hops m)) by (apply W; auto; lia).
        destruct (Nat.leb_spec (tail p m) (hops m)) as [G|G]; [|lia].
        assert (J : In m []) by (rewrite <- K; apply filter_In; split; auto; apply Nat.leb_le; auto). destruct J.
      + right. destruct (least (fun r => existsb (fun m => rank m =? r) (y :: k)) (S (rank y))) as (r & _ & A & B).
        { exists (rank y). split; auto. simpl. rewrite Nat.eqb_refl. auto. }
        apply existsb_exists in A as (m & I & A). apply Nat.eqb_eq in A. rewrite <- K in I. apply filter_In in I as [I T].
        apply Nat.leb_le in T. pose proof (has_flits m I) as P.
        assert (Z : p m 0 = 0).
        { destruct (start m I (none m I)) as [Z|Z]; auto. specialize (Z (flits m - 1)). unfold tail in T. lia. }
        apply (step_of p m 0). apply head_moves; auto; [lia| |].
        * intros _. apply waits_by_rank; auto. intros n J U. apply arrived_or_not; auto.
          pose proof (has_flits n J). assert (tail p n <= S (hops n)) by (apply W; auto; lia).
          destruct (Nat.leb_spec (tail p n) (hops n)) as [G|G]; [|lia]. exfalso.
          rewrite A in U. specialize (B _ U). apply not_true_iff_false in B. apply B. apply existsb_exists.
          exists n. rewrite Nat.eqb_refl. split; auto. rewrite <- K. apply filter_In. split; auto. apply Nat.leb_le. auto.
        * intros c n _ J _ H. apply holder_in_flight in H. rewrite (none n J) in H. discriminate.
    - right. destruct (existsb (fun m => in_flight p m && (p m 0 =? S (hops m))) messages) eqn:D.
      + apply existsb_exists in D as (m & I & D). apply andb_true_iff in D as [F D]. apply Nat.eqb_eq in D.
        destruct (draining_moves p m V I F D) as (f & M). apply (step_of p m f M).
      + (* the head in the channel of the largest number *)
        assert (heads : forall m, In m messages -> in_flight p m = true -> 1 <= p m 0 <= hops m).
        { intros m I F. apply not_true_iff_false in D. pose proof (has_flits m I).
          assert (p m 0 <= S (hops m)) by (apply W; auto).
          assert (p m 0 <> S (hops m)).
          { intros E. apply D. apply existsb_exists. exists m. rewrite F, E, Nat.eqb_refl. auto. }
          unfold in_flight in F. apply andb_true_iff in F as [F _]. apply Nat.leb_le in F. lia. }
        set (v := fun m => match channel m (p m 0) with Some c => number c | None => 0 end).
        destruct (best v (x :: l)) as (m & I & H); [discriminate|]. rewrite <- L in I, H.
        apply filter_In in I as [I F]. destruct (heads m I F) as [H1 H2].
        apply (step_of p m 0). apply head_moves; auto; [lia|].
        intros c n C J N HN. pose proof (holder_in_flight _ _ _ HN) as G. destruct (heads n J G) as [G1 G2].
        destruct HN as (k & A & _ & B).
        assert (E : v n <= v m) by (apply H; apply filter_In; auto).
        assert (there : forall a, In a messages -> 1 <= p a 0 <= hops a -> exists d, channel a (p a 0) = Some d).
        { intros a _ [Y1 Y2]. destruct (p a 0) as [|i]; [lia|]. simpl. destruct (nth_error (route a) i) as [d|] eqn:Q; eauto.
          apply nth_error_None in Q. unfold hops in Y2. lia. }
        destruct (there m I (conj H1 H2)) as (d & Dm). destruct (there n J (conj G1 G2)) as (e & De).
        unfold v in E. rewrite Dm, De in E.
        pose proof (later_is_larger m _ _ _ _ I Dm C (Nat.lt_succ_diag_r _)) as Y.
        destruct (Nat.eq_dec k (p n 0)) as [->|Q].
        * rewrite De in A. injection A as <-. lia.
        * pose proof (later_is_larger n k (p n 0) c e J A De). lia.
  Qed.

  (** * Every run ends *)

  Fixpoint sum_of (f : nat -> nat) (l : list nat) : nat := match l with [] => 0 | x :: rest => f x + sum_of f rest end.

  (** The hops that all flits still have to go. *)
  Definition to_go (p : state) : nat :=
    sum_of (fun m => sum_of (fun f => S (hops m) - p m f) (seq 0 (flits m))) messages.

  Lemma sum_le : forall f g l, (forall x, In x l -> f x <= g x) -> sum_of f l <= sum_of g l.
  Proof using.
    induction l as [|x l IH]; intros H; simpl; auto. apply Nat.add_le_mono; [apply H; simpl; auto|apply IH; intros; apply H; simpl; auto].
  Qed.

  Lemma sum_lt : forall f g l x, (forall y, In y l -> f y <= g y) -> In x l -> f x < g x -> sum_of f l < sum_of g l.
  Proof using.
    induction l as [|y l IH]; intros x H I L; [destruct I|]. simpl. destruct I as [->|I].
    - assert (sum_of f l <= sum_of g l) by (apply sum_le; intros; apply H; simpl; auto). lia.
    - assert (f y <= g y) by (apply H; simpl; auto). assert (sum_of f l < sum_of g l); [|lia].
      apply (IH x); auto. intros; apply H; simpl; auto.
  Qed.

  Theorem each_step_leaves_less_to_go : forall p q, step p q -> to_go q < to_go p.
  Proof using.
    intros p q (m & f & M & E). destruct M as [[I F] T _ _ _]. unfold to_go.
    assert (G : forall n g, S (hops n) - q n g <= S (hops n) - p n g).
    { intros n g. rewrite E. pose proof (moved_grows p m f n g). lia. }
    apply (sum_lt _ _ _ m); auto.
    - intros n _. apply sum_le. auto.
    - apply (sum_lt _ _ _ f); [auto|apply in_seq; lia|]. rewrite E, moved_same. lia.
  Qed.
End Routers.

Print Assumptions deadlock_sound.
Print Assumptions each_step_leaves_less_to_go.
