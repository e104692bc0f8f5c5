(** * Space: sums, real inner product spaces, convex sets, projections

    Everything else rests on this file. Rounds are numbered 1, 2, ..., T, as in
    the lectures. Nothing here is assumed: the few properties of a real inner
    product space are fields of a record, and at the end R^k is shown to be one. *)

From Coq Require Import Reals Lra Psatz Lia Arith.
Open Scope R_scope.

(** ** Sums *)

(** [Sum T a] is a 1 + a 2 + ... + a T. We write [Σ t ≤ T, e] for it. *)
Fixpoint Sum (T : nat) (a : nat -> R) : R :=
  match T with
  | O => 0
  | S n => Sum n a + a (S n)
  end.

Notation "'Σ' t '≤' T , e" := (Sum T (fun t => e))
  (at level 36, t name, T at level 35, e at level 40).

Lemma Sum_S : forall n a, Sum (S n) a = Sum n a + a (S n).
Proof. reflexivity. Qed.

Lemma Sum_ext : forall n a b,
  (forall t, (1 <= t <= n)%nat -> a t = b t) -> Sum n a = Sum n b.
Proof.
  induction n as [|n IH]; intros a b H; [reflexivity|].
  rewrite !Sum_S, (IH a b), (H (S n)); auto with arith.
  all: intros; apply H; lia.
Qed.

Lemma Sum_le : forall n a b,
  (forall t, (1 <= t <= n)%nat -> a t <= b t) -> Sum n a <= Sum n b.
Proof.
  induction n as [|n IH]; intros a b H; [apply Rle_refl|].
  rewrite !Sum_S. apply Rplus_le_compat; [apply IH; intros|]; apply H; lia.
Qed.

Lemma Sum_plus : forall n a b, Sum n (fun t => a t + b t) = Sum n a + Sum n b.
Proof. induction n as [|n IH]; intros; rewrite ?Sum_S, ?IH; simpl; ring. Qed.

Lemma Sum_minus : forall n a b, Sum n (fun t => a t - b t) = Sum n a - Sum n b.
Proof. induction n as [|n IH]; intros; rewrite ?Sum_S, ?IH; simpl; ring. Qed.

Lemma Sum_scale : forall n c a, Sum n (fun t => c * a t) = c * Sum n a.
Proof. induction n as [|n IH]; intros; rewrite ?Sum_S, ?IH; simpl; ring. Qed.

Lemma Sum_scale_r : forall n c a, Sum n (fun t => a t * c) = Sum n a * c.
Proof. induction n as [|n IH]; intros; rewrite ?Sum_S, ?IH; simpl; ring. Qed.

Lemma Sum_const : forall n c, Sum n (fun _ => c) = INR n * c.
Proof.
  induction n as [|n IH]; intros; [simpl; ring|]. rewrite Sum_S, IH, S_INR. ring.
Qed.

Lemma Sum_nonneg : forall n a,
  (forall t, (1 <= t <= n)%nat -> 0 <= a t) -> 0 <= Sum n a.
Proof.
  intros n a H. replace 0 with (Sum n (fun _ => 0)).
  - apply Sum_le, H.
  - rewrite Sum_const. ring.
Qed.

Lemma Sum_term : forall n a i,
  (forall t, (1 <= t <= n)%nat -> 0 <= a t) -> (1 <= i <= n)%nat -> a i <= Sum n a.
Proof.
  induction n as [|n IH]; intros a i H Hi; [lia|]. rewrite Sum_S.
  destruct (Nat.eq_dec i (S n)) as [->|Hn].
  - assert (0 <= Sum n a) by (apply Sum_nonneg; intros; apply H; lia). lra.
  - assert (a i <= Sum n a) by (apply IH; [intros; apply H; lia | lia]).
    assert (0 <= a (S n)) by (apply H; lia). lra.
Qed.

(** Two sums may change places. *)
Lemma Sum_swap : forall n m (a : nat -> nat -> R),
  Sum n (fun i => Sum m (fun j => a i j)) = Sum m (fun j => Sum n (fun i => a i j)).
Proof.
  induction n as [|n IH]; intros.
  - simpl. rewrite Sum_const. ring.
  - rewrite Sum_S, IH, <- Sum_plus. reflexivity.
Qed.

Lemma INR_pos : forall n, (1 <= n)%nat -> 0 < INR n.
Proof. intros. apply lt_0_INR. lia. Qed.

(** ** Real inner product spaces *)

(** The textbook definition: a real vector space with a symmetric, bilinear,
    positive definite product. Any dimension, also infinite. *)
Record Space := {
  point :> Type;
  zero : point;
  add : point -> point -> point;
  scale : R -> point -> point;
  inner : point -> point -> R;
  add_comm : forall x y, add x y = add y x;
  add_assoc : forall x y z, add x (add y z) = add (add x y) z;
  add_zero : forall x, add x zero = x;
  add_opposite : forall x, add x (scale (-1) x) = zero;
  scale_one : forall x, scale 1 x = x;
  scale_scale : forall a b x, scale a (scale b x) = scale (a * b) x;
  scale_add : forall a x y, scale a (add x y) = add (scale a x) (scale a y);
  add_scale : forall a b x, scale (a + b) x = add (scale a x) (scale b x);
  inner_sym : forall x y, inner x y = inner y x;
  inner_add : forall x y z, inner (add x y) z = inner x z + inner y z;
  inner_scale : forall a x y, inner (scale a x) y = a * inner x y;
  inner_nonneg : forall x, 0 <= inner x x;
  inner_definite : forall x, inner x x = 0 -> x = zero
}.

Arguments zero {_}.
Arguments add {_} _ _.
Arguments scale {_} _ _.
Arguments inner {_} _ _.

Declare Scope V_scope.
Delimit Scope V_scope with V.
Bind Scope V_scope with point.

(** x - y, written with the operations above. *)
Definition sub {E : Space} (x y : E) : E := add x (scale (-1) y).

Notation "x + y" := (add x y) : V_scope.
Notation "x - y" := (sub x y) : V_scope.
Notation "a · x" := (scale a x) (at level 40, left associativity) : V_scope.
Notation "⟨ x , y ⟩" := (inner x%V y%V) (at level 0, x at level 60, y at level 60).

(** The length of a vector. *)
Definition norm {E : Space} (x : E) : R := sqrt ⟨x, x⟩.

(** x 1 + x 2 + ... + x T, for vectors. *)
Fixpoint VSum {E : Space} (T : nat) (x : nat -> E) : E :=
  match T with
  | O => zero
  | S n => (VSum n x + x (S n))%V
  end.

Section Products.
Context {E : Space}.
Implicit Types x y z : E.

Lemma inner_add_r : forall x y z, ⟨z, x + y⟩ = ⟨z, x⟩ + ⟨z, y⟩.
Proof. intros. rewrite inner_sym, inner_add, (inner_sym _ x z), (inner_sym _ y z). ring. Qed.

Lemma inner_scale_r : forall a x y, ⟨x, a · y⟩ = a * ⟨x, y⟩.
Proof. intros. rewrite inner_sym, inner_scale, inner_sym. reflexivity. Qed.

Lemma inner_sub : forall x y z, ⟨x - y, z⟩ = ⟨x, z⟩ - ⟨y, z⟩.
Proof. intros. unfold sub. rewrite inner_add, inner_scale. ring. Qed.

Lemma inner_sub_r : forall x y z, ⟨z, x - y⟩ = ⟨z, x⟩ - ⟨z, y⟩.
Proof. intros. unfold sub. rewrite inner_add_r, inner_scale_r. ring. Qed.

Lemma inner_zero : forall x, ⟨zero, x⟩ = 0.
Proof.
  intros. rewrite <- (add_opposite E zero). rewrite inner_add, inner_scale. ring.
Qed.

Lemma inner_zero_r : forall x, ⟨x, zero⟩ = 0.
Proof. intros. rewrite inner_sym. apply inner_zero. Qed.

Lemma inner_VSum : forall n (a : nat -> E) x, ⟨VSum n a, x⟩ = Σ i ≤ n, ⟨a i, x⟩.
Proof.
  induction n as [|n IH]; intros; simpl; [apply inner_zero|]. rewrite inner_add, IH. reflexivity.
Qed.

Lemma inner_VSum_r : forall n (a : nat -> E) x, ⟨x, VSum n a⟩ = Σ i ≤ n, ⟨x, a i⟩.
Proof.
  intros. rewrite inner_sym, inner_VSum. apply Sum_ext. intros. apply inner_sym.
Qed.
End Products.

#[export] Hint Rewrite @inner_add @inner_add_r @inner_scale @inner_scale_r @inner_sub
  @inner_sub_r @inner_zero @inner_zero_r : products.

(** Multiply out all products, and write ⟨x, y⟩ and ⟨y, x⟩ alike. *)
Ltac same_order :=
  repeat match goal with
  | |- context [inner ?a ?b] =>
      match goal with
      | |- context [inner b a] => tryif constr_eq a b then fail else rewrite (inner_sym _ b a) in *
      | H : context [inner b a] |- _ =>
          tryif constr_eq a b then fail else rewrite (inner_sym _ b a) in *
      end
  | H : context [inner ?a ?b] |- _ =>
      match type of H with
      | context [inner b a] => tryif constr_eq a b then fail else rewrite (inner_sym _ b a) in *
      end
  | H : context [inner ?a ?b], K : context [inner ?b ?a] |- _ =>
      tryif constr_eq a b then fail else rewrite (inner_sym _ b a) in *
  end.
Ltac products := autorewrite with products in *; same_order.

Section Lengths.
Context {E : Space}.
Implicit Types x y z : E.

Lemma norm_nonneg : forall x, 0 <= norm x.
Proof. intros. apply sqrt_pos. Qed.

Lemma norm_square : forall x, norm x ^ 2 = ⟨x, x⟩.
Proof. intros. unfold norm. rewrite <- Rsqr_pow2. apply Rsqr_sqrt, inner_nonneg. Qed.

Lemma norm_zero : norm (zero : E) = 0.
Proof. unfold norm. rewrite inner_zero. apply sqrt_0. Qed.

(** A bound on a length is a bound on its square. *)
Lemma norm_le : forall x c, norm x <= c -> ⟨x, x⟩ <= c ^ 2.
Proof.
  intros x c H. rewrite <- norm_square. apply pow_incr. split; [apply norm_nonneg | exact H].
Qed.

Lemma le_norm : forall x c, 0 <= c -> ⟨x, x⟩ <= c ^ 2 -> norm x <= c.
Proof.
  intros x c Hc H. unfold norm. rewrite <- (sqrt_pow2 c Hc). apply sqrt_le_1_alt, H.
Qed.

Lemma norm_le_norm : forall x y, norm x <= norm y <-> ⟨x, x⟩ <= ⟨y, y⟩.
Proof.
  intros. split; intros H.
  - rewrite <- (norm_square y). apply norm_le, H.
  - unfold norm. apply sqrt_le_1_alt, H.
Qed.

(** The inequality of Cauchy and Schwarz. *)
Lemma cauchy_schwarz_square : forall x y, ⟨x, y⟩ ^ 2 <= ⟨x, x⟩ * ⟨y, y⟩.
Proof.
  intros.
  destruct (Req_dec ⟨y, y⟩ 0) as [H | H].
  - apply inner_definite in H. subst. rewrite !inner_zero_r. nra.
  - assert (Hy : 0 < ⟨y, y⟩) by (pose proof (inner_nonneg _ y); lra).
    pose proof (inner_nonneg _ (⟨y, y⟩ · x - ⟨x, y⟩ · y)) as Hq. products. nra.
Qed.

Lemma cauchy_schwarz : forall x y, ⟨x, y⟩ <= norm x * norm y.
Proof.
  intros. pose proof (cauchy_schwarz_square x y) as H.
  rewrite <- !norm_square, <- Rpow_mult_distr in H.
  assert (0 <= norm x * norm y) by (apply Rmult_le_pos; apply norm_nonneg).
  destruct (Rle_dec ⟨x, y⟩ 0); [lra|]. nra.
Qed.

(** 2⟨x, y⟩ is at most c‖x‖² + ‖y‖²/c, for every c > 0. *)
Lemma young : forall x y c, 0 < c -> 2 * ⟨x, y⟩ <= c * ⟨x, x⟩ + ⟨y, y⟩ / c.
Proof.
  intros x y c Hc. pose proof (inner_nonneg _ (c · x - y)) as H. products.
  apply (Rmult_le_reg_l c); [exact Hc|].
  replace (c * (c * ⟨x, x⟩ + ⟨y, y⟩ / c)) with (c * c * ⟨x, x⟩ + ⟨y, y⟩) by (field; lra).
  same_order. nra.
Qed.

Lemma triangle : forall x y, norm (x + y) <= norm x + norm y.
Proof.
  intros. apply le_norm.
  - pose proof (norm_nonneg x). pose proof (norm_nonneg y). lra.
  - pose proof (cauchy_schwarz x y). pose proof (norm_square x). pose proof (norm_square y).
    products. nra.
Qed.

Lemma norm_sub_sym : forall x y, norm (x - y) = norm (y - x).
Proof. intros. unfold norm. f_equal. products. ring. Qed.

Lemma triangle_sub : forall x y z, norm (x - z) <= norm (x - y) + norm (y - z).
Proof.
  intros. replace (norm (x - z)) with (norm ((x - y) + (y - z))%V).
  - apply triangle.
  - unfold norm. f_equal. products. ring.
Qed.

Lemma norm_scale : forall a x, 0 <= a -> norm (a · x) = a * norm x.
Proof.
  intros. unfold norm. rewrite inner_scale, inner_scale_r, <- Rmult_assoc.
  rewrite sqrt_mult_alt; [|nra]. rewrite sqrt_square; auto.
Qed.

(** ** Sets, convexity, subgradients *)

(** A set of points is a property of points; [S u] says that u lies in S. *)

(** With two points the set contains the segment between them. *)
Definition convex_set (S : E -> Prop) : Prop :=
  forall x y a, S x -> S y -> 0 <= a <= 1 -> S (a · x + (1 - a) · y)%V.

(** On S the function is nowhere above its chords. *)
Definition convex_on (S : E -> Prop) (f : E -> R) : Prop :=
  forall x y a, S x -> S y -> 0 <= a <= 1 ->
    f (a · x + (1 - a) · y)%V <= a * f x + (1 - a) * f y.

(** Subgradient, (1) of Lecture 13: the affine function with slope z that
    touches f at w is nowhere above f on S. *)
Definition subgradient (S : E -> Prop) (f : E -> R) (w z : E) : Prop :=
  forall u, S u -> f w + ⟨z, u - w⟩ <= f u.

(** The diameter of S is at most D. *)
Definition diameter_at_most (S : E -> Prop) (D : R) : Prop :=
  forall x y, S x -> S y -> norm (x - y) <= D.

(** p is a point of S nearest to y. If S is closed and convex in R^n there is
    exactly one; where we say "projection", its existence is a hypothesis. *)
Definition projection (S : E -> Prop) (y p : E) : Prop :=
  S p /\ forall s, S s -> norm (y - p) <= norm (y - s).

Lemma small_multiples : forall x c : R, 0 <= c ->
  (forall a, 0 < a <= 1 -> x <= a * c) -> x <= 0.
Proof.
  intros x c Hc H. destruct (Rle_dec x 0) as [|Hx]; [assumption|].
  assert (H1 := H 1 ltac:(lra)).
  assert (Hc' : 0 < c) by nra.
  assert (Ha : 0 < x / (2 * c) <= 1).
  { split; [apply Rdiv_lt_0_compat; lra|].
    apply (Rmult_le_reg_r (2 * c)); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  specialize (H _ Ha). replace (x / (2 * c) * c) with (x / 2) in H by (field; lra). lra.
Qed.

(** The angle (claim of "Regret Bounds"): in a convex set p is nearest to y
    exactly if, seen from p, no point of S lies on the side of y. *)
Theorem the_angle : forall (S : E -> Prop) y p, convex_set S -> S p ->
  (projection S y p <-> forall s, S s -> ⟨y - p, s - p⟩ <= 0).
Proof.
  intros S y p HS Hp. split.
  - intros [_ Hn] s Hs.
    assert (2 * ⟨y - p, s - p⟩ <= 0); [|lra].
    apply (small_multiples _ ⟨s - p, s - p⟩); [apply inner_nonneg|].
    intros a Ha.
    assert (H := Hn _ (HS s p a Hs Hp ltac:(lra))).
    apply norm_le_norm in H. products. nra.
  - intros H. split; [exact Hp|]. intros s Hs. apply norm_le_norm.
    specialize (H s Hs). pose proof (inner_nonneg _ (s - p)). products. nra.
Qed.

(** A property of projection: projecting takes y farther from no point of S,
    and at least by ‖y - p‖² in squares. *)
Theorem projection_property : forall (S : E -> Prop) y p a,
  convex_set S -> projection S y p -> S a ->
  norm (p - a) ^ 2 + norm (y - p) ^ 2 <= norm (y - a) ^ 2.
Proof.
  intros S y p a HS Hp Ha. pose proof (proj1 Hp) as Hin.
  rewrite (the_angle S y p HS Hin) in Hp. specialize (Hp a Ha).
  rewrite !norm_square. products. nra.
Qed.

(** Projecting takes y farther from no point a of a convex set. *)
Corollary projection_no_farther : forall (S : E -> Prop) y p a,
  convex_set S -> projection S y p -> S a -> norm (p - a) <= norm (y - a).
Proof.
  intros S y p a HS Hp Ha. pose proof (projection_property S y p a HS Hp Ha).
  apply le_norm; [apply norm_nonneg|]. rewrite <- norm_square. pose proof (pow2_ge_0 (norm (y - p))).
  lra.
Qed.

(** Non-expansion: projections of two points are no farther apart than the points. *)
Theorem projection_nonexpansive : forall (S : E -> Prop) x y p q,
  convex_set S -> projection S x p -> projection S y q ->
  norm (p - q) <= norm (x - y).
Proof.
  intros S x y p q HS Hp Hq.
  pose proof (proj1 Hp) as Hpin. pose proof (proj1 Hq) as Hqin.
  rewrite (the_angle S x p HS Hpin) in Hp. rewrite (the_angle S y q HS Hqin) in Hq.
  specialize (Hp q Hqin). specialize (Hq p Hpin).
  apply norm_le_norm.
  pose proof (inner_nonneg _ ((x - p) - (y - q))). products. nra.
Qed.

(** Nearest points in a convex set are unique. *)
Theorem projection_unique : forall (S : E -> Prop) y p q,
  convex_set S -> projection S y p -> projection S y q -> p = q.
Proof.
  intros S y p q HS Hp Hq.
  assert (H := projection_nonexpansive S y y p q HS Hp Hq).
  apply norm_le_norm in H.
  assert (Hz : ⟨p - q, p - q⟩ = 0).
  { pose proof (inner_nonneg _ (p - q)). products. lra. }
  apply inner_definite in Hz.
  rewrite <- (add_zero E q), <- Hz. unfold sub.
  rewrite (add_comm E p), add_assoc, add_opposite, add_comm, add_zero. reflexivity.
Qed.
End Lengths.
