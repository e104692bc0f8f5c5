(** * Counterexamples: statements of the lectures that are false as printed

    Each theorem gives a game that obeys what the lecture asks for and breaks what it says. *)

From Coq Require Import Reals Lra Psatz Lia List Arith.
From Formal Require Import Space Leader Descent Ftrl Psd Perceptron.
Open Scope R_scope.

(** The number a as a point of the line R^1. *)
Definition pt (a : R) : Rn 1 := (a, tt).

Lemma inner_pt : forall a b, inner (pt a) (pt b) = a * b.
Proof. intros. change (a * b + 0 = a * b). ring. Qed.

Lemma pt_fst : forall x : Rn 1, x = pt (fst x).
Proof. intros [a []]. reflexivity. Qed.

Lemma sub_pt : forall a b, (pt a - pt b)%V = pt (a - b).
Proof. intros. change (pt (a + -1 * b) = pt (a - b)). f_equal. ring. Qed.

Lemma norm_pt : forall a, norm (pt a) = Rabs a.
Proof. intros. unfold norm. rewrite inner_pt. apply sqrt_Rsqr_abs. Qed.

(** The interval [a, b]. *)
Definition interval (a b : R) (x : Rn 1) : Prop := a <= fst x <= b.

Lemma interval_convex : forall a b, convex_set (interval a b).
Proof.
  intros a b x y c [Hx Hx'] [Hy Hy'] Hc. unfold interval in *.
  change (a <= c * fst x + (1 - c) * fst y <= b). nra.
Qed.

(** ** Theorem 2 without 0 in S (ox13.e05): on [10, 11], with T = 3, the regret is 3, and
    D rho sqrt(2T) = sqrt 6 is less. *)
Theorem theorem_2_needs_zero :
  exists (S : Rn 1 -> Prop) (f : nat -> Rn 1 -> R) (z w : nat -> Rn 1) (u : Rn 1),
    convex_set S /\ diameter_at_most S 1 /\
    lazy_descent S (1 / (1 * sqrt (2 * INR 3))) z w /\
    (forall t, subgradient S (f t) (w t) (z t)) /\ (forall t, norm (z t) <= 1) /\ S u /\
    1 * 1 * sqrt (2 * INR 3) < Σ t ≤ 3, (f t (w t) - f t u).
Proof.
  set (s := sqrt (2 * INR 3)).
  assert (H6 : 2 * INR 3 = 6) by (simpl; ring).
  assert (Hs : 2 < s < 3).
  { unfold s. rewrite H6. split.
    - replace 2 with (sqrt (2 * 2)) by (apply sqrt_square; lra). apply sqrt_lt_1_alt. lra.
    - replace 3 with (sqrt (3 * 3)) by (apply sqrt_square; lra). apply sqrt_lt_1_alt. lra. }
  set (z := fun t : nat => if Nat.leb t 3 then pt (-1) else pt 0).
  exists (interval 10 11), (fun t v => inner (z t) v), z, (fun _ => pt 10), (pt 11).
  assert (Hz : forall t, exists a, z t = pt a /\ -1 <= a <= 0).
  { intros t. unfold z. destruct (Nat.leb t 3); [exists (-1) | exists 0]; split; auto; lra. }
  assert (Late : forall k, VSum (3 + k) z = pt (-3)).
  { induction k as [|k IH].
    - change (pt (0 + -1 + -1 + -1) = pt (-3)). f_equal. ring.
    - replace (3 + S k)%nat with (S (3 + k)) by lia. cbn [VSum]. rewrite IH. unfold z.
      replace (Nat.leb (S (3 + k)) 3) with false by (symmetry; apply Nat.leb_gt; lia).
      change (pt (-3 + 0) = pt (-3)). f_equal. ring. }
  assert (Sum3 : forall t, exists a, VSum t z = pt a /\ -3 <= a <= 0).
  { intros t. destruct t as [|[|[|k]]].
    - exists 0. split; [reflexivity | lra].
    - exists (0 + -1). split; [reflexivity | lra].
    - exists (0 + -1 + -1). split; [reflexivity | lra].
    - exists (-3). split; [apply (Late k) | lra]. }
  split; [apply interval_convex|]. split; [|split; [|split; [|split; [|split]]]].
  - intros x y [Hx Hx'] [Hy Hy']. rewrite (pt_fst x), (pt_fst y), sub_pt, norm_pt. apply Rabs_le. lra.
  - intros t. split; [unfold interval; simpl; lra|].
    intros v [Hv Hv']. destruct (Sum3 t) as [a [Ha Hab]]. rewrite Ha.
    set (e := 1 / (1 * s)).
    assert (He : 0 < e < 1).
    { unfold e. split; [apply Rdiv_lt_0_compat; lra|]. apply (Rmult_lt_reg_r s); [lra|].
      replace (1 / (1 * s) * s) with 1 by (field; lra). lra. }
    replace (- e · pt a)%V with (pt (- e * a)) by reflexivity.
    rewrite (pt_fst v), !sub_pt, !norm_pt.
    assert (- e * a <= 3) by nra.
    rewrite (Rabs_left (- e * a - 10)) by lra. rewrite (Rabs_left (- e * a - fst v)) by lra. lra.
  - intros t v _. cbv beta. rewrite inner_sub_r. right. ring.
  - intros t. destruct (Hz t) as [a [-> Ha]]. rewrite norm_pt. apply Rabs_le. lra.
  - unfold interval. simpl. lra.
  - cbn [Sum]. unfold z. simpl Nat.leb. cbv iota. rewrite !inner_pt. lra.
Qed.

(** ** (17.3) as printed (ma17.e03): with G = 3, D = 1/2 and T = 1 the bound 2 sqrt(D G) sqrt T is
    sqrt 6, whatever the step, and the regret is 3. All hypotheses of (17.3) hold. *)
Theorem equation_17_3_as_printed :
  forall eta, 0 < eta ->
  exists (S : Rn 1 -> Prop) (phi : Rn 1 -> R) (f : nat -> Rn 1 -> R) (z w : nat -> Rn 1) (u : Rn 1),
    convex_set S /\ strongly_convex_on S norm phi /\ dual_bound (E := Rn 1) norm norm /\ range_at_most S phi (1 / 2) /\
    (forall t, convex_on S (f t)) /\
    regularised_leader S f (fun v => phi v / eta) 1 w /\
    (forall t, subgradient S (f t) (w t) (z t)) /\ (forall t, norm (z t) <= 3) /\ S u /\
    2 * sqrt (1 / 2 * 3) * sqrt 1 < Σ t ≤ 1, (f t (w t) - f t u).
Proof.
  intros eta He.
  set (w2 := - Rmin 1 (3 * eta)).
  assert (Hm : Rmin 1 (3 * eta) <= 1) by apply Rmin_l. assert (Hm' : Rmin 1 (3 * eta) <= 3 * eta) by apply Rmin_r.
  assert (Hmp : 0 < Rmin 1 (3 * eta)) by (apply Rmin_glb_lt; lra).
  exists (interval (-1) 1), (fun x => 1 / 2 * inner x x), (fun _ v => inner (pt 3) v), (fun _ => pt 3),
    (fun t => if Nat.eqb t 1 then pt 0 else pt w2), (pt (-1)).
  assert (Hie : 0 < / eta) by (apply Rinv_0_lt_compat, He).
  split; [apply interval_convex|]. split; [|split; [|split; [|split; [|split; [|split; [|split; [|split]]]]]]].
  - intros x y a _ _ Ha. cbv beta. rewrite norm_square. products. right. field.
  - intros a b. apply cauchy_schwarz.
  - intros x y [Hx Hx'] [Hy Hy']. cbv beta. rewrite (pt_fst x), (pt_fst y), !inner_pt. nra.
  - intros t x y a _ _ _. cbv beta. rewrite inner_add_r, !inner_scale_r. apply Rle_refl.
  - intros t Ht. split.
    + destruct t as [|[|t]]; [unfold interval; simpl; lra | unfold interval; simpl; unfold w2; lra | lia].
    + intros x [Hx Hx']. rewrite (pt_fst x). set (q := fst x) in *. destruct t as [|[|t]]; [| | lia].
      * cbn [Sum]. simpl Nat.eqb. cbv iota. rewrite !inner_pt. unfold Rdiv.
        assert (0 <= q * q) by nra. nra.
      * cbn [Sum]. simpl Nat.eqb. cbv iota. rewrite !inner_pt.
        apply (Rmult_le_reg_r eta); [exact He|].
        replace ((0 + 3 * w2 + 1 / 2 * (w2 * w2) / eta) * eta) with (3 * eta * w2 + 1 / 2 * (w2 * w2)) by (field; lra).
        replace ((0 + 3 * q + 1 / 2 * (q * q) / eta) * eta) with (3 * eta * q + 1 / 2 * (q * q)) by (field; lra).
        unfold w2, Rmin. destruct (Rle_dec 1 (3 * eta)) as [H1 | H1].
        -- assert (0 <= (3 * eta - 1) * (q + 1)) by (apply Rmult_le_pos; lra).
           pose proof (pow2_ge_0 (q + 1)). nra.
        -- pose proof (pow2_ge_0 (q + 3 * eta)). nra.
  - intros t v _. cbv beta. rewrite inner_sub_r. right. ring.
  - intros t. rewrite norm_pt. apply Rabs_le. lra.
  - unfold interval. simpl. lra.
  - cbn [Sum]. simpl Nat.eqb. cbv iota. rewrite !inner_pt, sqrt_1.
    assert (sqrt (1 / 2 * 3) < 3 / 2).
    { replace (3 / 2) with (sqrt ((3 / 2) * (3 / 2))) by (apply sqrt_square; lra). apply sqrt_lt_1_alt. lra. }
    lra.
Qed.

(** ** The Perceptron with z = 0 at loss 0 (ox13.e20): an update only below 0 never happens,
    because ⟨0, x⟩ = 0: the weights stay at 0 for ever. *)
Fixpoint strict_weights {E : Space} (x : nat -> E) (y : nat -> R) (t : nat) : E :=
  match t with
  | O => zero
  | S n => if Rlt_dec (y (S n) * inner (strict_weights x y n) (x (S n))) 0
           then (strict_weights x y n + y (S n) · x (S n))%V else strict_weights x y n
  end.

Theorem perceptron_never_updates : forall (E : Space) (x : nat -> E) (y : nat -> R) t,
  strict_weights x y t = zero.
Proof.
  intros E x y t. induction t as [|t IH]; [reflexivity|]. cbn [strict_weights].
  rewrite IH, inner_zero. destruct (Rlt_dec _ 0); [lra | reflexivity].
Qed.
