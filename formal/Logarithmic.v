(** * Logarithmic: strongly convex losses; Pegasos ("Regret Bounds for Online Learning") *)

From Coq Require Import Reals Lra Psatz Lia.
From Formal Require Import Space Descent.
Open Scope R_scope.

(** f is H-strongly convex at w, with slope z: on S it lies above the tangent by at
    least (H/2) times the squared distance. For a differentiable f the slope z is the
    gradient. *)
Definition strong_subgradient {E : Space} (S : E -> Prop) (H : R) (f : E -> R) (w z : E) : Prop :=
  forall u, S u -> f w + ⟨z, u - w⟩ + H / 2 * norm (u - w) ^ 2 <= f u.

(** ln x <= x - 1. *)
Lemma ln_below : forall x, 0 < x -> ln x <= x - 1.
Proof. intros x Hx. pose proof (exp_ineq1_le (ln x)) as H. rewrite exp_ln in H; lra. Qed.

(** 1 + 1/2 + ... + 1/T is at most 1 + ln T. *)
Lemma harmonic : forall T, (1 <= T)%nat -> Σ t ≤ T, (1 / INR t) <= 1 + ln (INR T).
Proof.
  intros T HT. destruct T as [|n]; [lia|]. clear HT. induction n as [|n IH].
  - simpl. rewrite ln_1. lra.
  - rewrite Sum_S.
    assert (Hn : 0 < INR (S n)) by (apply INR_pos; lia).
    assert (Hs := S_INR (S n)). set (m := INR (S (S n))) in *. set (k := INR (S n)) in *.
    assert (L := ln_below (k / m) ltac:(apply Rdiv_lt_0_compat; lra)).
    unfold Rdiv in L. rewrite ln_mult, ln_Rinv in L;
      [|lra|lra|apply Rinv_0_lt_compat; lra].
    replace (k * / m - 1) with (- (1 / m)) in L by (rewrite Hs; field; lra). lra.
Qed.

(** ** Theorem (3) (shi.thm-ogd), also for subgradients (shi.rem.nondifferentiable)

    - [S]: convex, [H] > 0, start anywhere in S, steps 1/(H t);
    - [z t]: a slope of the H-strongly convex f_t at the play w_t.
    Regret at most (1/2H) Σ ‖z_t‖²/t; no bound on S or on the slopes is needed. *)
Theorem logarithmic_regret : forall (E : Space) (S : E -> Prop) (H : R)
    (f : nat -> E -> R) (z w : nat -> E) (T : nat) (u : E),
  convex_set S ->
  0 < H ->
  eager_descent S (fun t => 1 / (H * INR t)) z w ->
  (forall t, (1 <= t <= T)%nat -> strong_subgradient S H (f t) (w t) (z t)) ->
  S u ->
  Σ t ≤ T, (f t (w t) - f t u) <= 1 / (2 * H) * Σ t ≤ T, (norm (z t) ^ 2 / INR t).
Proof.
  intros E S H f z w T u HS HH Hw Hz Hu.
  assert (K : Σ t ≤ T, (f t (w t) - f t u)
    <= 1 / (2 * H) * (Σ t ≤ T, (norm (z t) ^ 2 / INR t)) - H * INR T / 2 * norm (w (T + 1)%nat - u) ^ 2).
  { induction T as [|T IH]; [simpl; lra|].
    specialize (IH ltac:(intros; apply Hz; lia)). rewrite !Sum_S.
    assert (HT : 0 < INR (Datatypes.S T)) by (apply INR_pos; lia).
    assert (Hs := S_INR T).
    assert (A := eager_step E S _ _ _ _ u HS (proj2 Hw (Datatypes.S T) ltac:(lia)) Hu).
    assert (B := Hz (Datatypes.S T) ltac:(lia) u Hu). cbv beta in A.
    replace (T + 1)%nat with (Datatypes.S T) in * by lia.
    set (m := INR (Datatypes.S T)) in *. set (a := w (Datatypes.S T)) in *.
    set (b := w (Datatypes.S T + 1)%nat) in *. set (v := z (Datatypes.S T)) in *.
    assert (C : ⟨v, a - u⟩ <= H * m / 2 * (norm (a - u) ^ 2 - norm (b - u) ^ 2) + 1 / (2 * H) * (norm v ^ 2 / m)).
    { rewrite !norm_square.
      apply (Rmult_le_reg_l (2 * (1 / (H * m)))).
      - assert (0 < 1 / (H * m)) by (apply Rdiv_lt_0_compat; nra). lra.
      - eapply Rle_trans; [exact A|]. right. field. lra. }
    rewrite (norm_sub_sym u a) in B.
    replace ⟨v, u - a⟩ with (- ⟨v, a - u⟩) in B by (products; ring).
    replace (H * m / 2) with (H * INR T / 2 + H / 2) in * by (rewrite Hs; field). lra. }
  assert (0 <= H * INR T / 2 * norm (w (T + 1)%nat - u) ^ 2).
  { apply Rmult_le_pos; [|apply pow2_ge_0]. pose proof (pos_INR T). nra. }
  lra.
Qed.

(** With ‖z_t‖ <= G: at most (G²/2H)(1/1 + ... + 1/T), and so at most (G²/2H)(1 + ln T). *)
Corollary logarithmic_regret_bounded : forall (E : Space) (S : E -> Prop) (H G : R)
    (f : nat -> E -> R) (z w : nat -> E) (T : nat) (u : E),
  convex_set S ->
  0 < H ->
  eager_descent S (fun t => 1 / (H * INR t)) z w ->
  (forall t, (1 <= t <= T)%nat -> strong_subgradient S H (f t) (w t) (z t)) ->
  (forall t, (1 <= t <= T)%nat -> norm (z t) <= G) ->
  S u ->
  (1 <= T)%nat ->
  Σ t ≤ T, (f t (w t) - f t u) <= G ^ 2 / (2 * H) * (Σ t ≤ T, (1 / INR t)) /\
  G ^ 2 / (2 * H) * (Σ t ≤ T, (1 / INR t)) <= G ^ 2 / (2 * H) * (1 + ln (INR T)).
Proof.
  intros E S H G f z w T u HS HH Hw Hz HG Hu HT. split.
  - eapply Rle_trans; [apply (logarithmic_regret E S H f z w T u); auto|].
    replace (G ^ 2 / (2 * H)) with (1 / (2 * H) * G ^ 2) by (field; lra).
    rewrite Rmult_assoc.
    apply Rmult_le_compat_l; [left; apply Rdiv_lt_0_compat; lra|].
    rewrite <- Sum_scale. apply Sum_le. intros t Ht.
    replace (G ^ 2 * (1 / INR t)) with (G ^ 2 * / INR t) by (unfold Rdiv; ring).
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, INR_pos; lia|].
    apply pow_incr. split; [apply norm_nonneg | auto].
  - apply Rmult_le_compat_l; [|apply harmonic, HT].
    apply Rmult_le_pos; [apply pow2_ge_0 | left; apply Rinv_0_lt_compat; lra].
Qed.

(** ** A hidden constraint (shi.claim.D-le-2G-over-H)

    If one f has at every point of S an H-strongly convex slope of length at most G,
    then no two points of S are farther apart than 2G/H. *)
Theorem hidden_constraint : forall (E : Space) (S : E -> Prop) (H G : R) (f : E -> R) (grad : E -> E),
  0 < H ->
  (forall w, S w -> strong_subgradient S H f w (grad w)) ->
  (forall w, S w -> norm (grad w) <= G) ->
  diameter_at_most S (2 * G / H).
Proof.
  intros E S H G f grad HH Hs HG x y Hx Hy.
  assert (A := Hs x Hx y Hy). assert (B := Hs y Hy x Hx).
  rewrite (norm_sub_sym y x) in A.
  assert (Cx := cauchy_schwarz (grad y) (y - x)). assert (Cy := cauchy_schwarz (grad x) (x - y)).
  rewrite (norm_sub_sym y x) in Cx.
  replace ⟨grad y, x - y⟩ with (- ⟨grad y, y - x⟩) in B by (products; ring).
  replace ⟨grad x, y - x⟩ with (- ⟨grad x, x - y⟩) in A by (products; ring).
  assert (Gx := HG x Hx). assert (Gy := HG y Hy).
  assert (N := norm_nonneg (x - y)). set (d := norm (x - y)) in *.
  assert (norm (grad x) * d <= G * d) by (apply Rmult_le_compat_r; auto).
  assert (norm (grad y) * d <= G * d) by (apply Rmult_le_compat_r; auto).
  assert (HGn : 0 <= G) by (exact (Rle_trans _ _ _ (norm_nonneg _) Gx)).
  apply (Rmult_le_reg_r H); [exact HH|].
  replace (2 * G / H * H) with (2 * G) by (field; lra).
  destruct (Req_dec d 0) as [-> | Hd]; [lra|]. nra.
Qed.

(** ** Pegasos (shi.alg.pegasos)

    The costs, and the rule of "Regret Bounds": without projection,
    w_{t+1} = w_t - z_t/(H t), with z_t = H w_t - [y_t⟨w_t, x_t⟩ < 1] y_t x_t. *)
Section Pegasos.
Context {E : Space}.
Variables (H : R) (x : nat -> E) (y : nat -> R).

(** The hinge loss max(0, 1 - y_t⟨w, x_t⟩). *)
Definition hinge (t : nat) (w : E) : R := Rmax 0 (1 - y t * ⟨w, x t⟩).
(** The cost f_t: the hinge loss plus (H/2)‖w‖². *)
Definition cost (t : nat) (w : E) : R := H / 2 * norm w ^ 2 + hinge t w.
(** The label, if the margin is below 1, otherwise 0. *)
Definition added (t : nat) (w : E) : R := if Rlt_dec (y t * ⟨w, x t⟩) 1 then y t else 0.
(** The subgradient that Pegasos uses. *)
Definition slope (t : nat) (w : E) : E := (H · w - added t w · x t)%V.

(** That is a slope of the H-strongly convex cost, on any S. *)
Lemma slope_is_slope : forall S t w, strong_subgradient S H (cost t) w (slope t w).
Proof.
  intros S t w u _. unfold cost, slope, added, hinge.
  assert (Hh : Rmax 0 (1 - y t * ⟨w, x t⟩) + ⟨- (if Rlt_dec (y t * ⟨w, x t⟩) 1 then y t else 0) · x t, u - w⟩
     <= Rmax 0 (1 - y t * ⟨u, x t⟩)).
  { assert (M1 := Rmax_l 0 (1 - y t * ⟨u, x t⟩)). assert (M2 := Rmax_r 0 (1 - y t * ⟨u, x t⟩)).
    destruct (Rlt_dec (y t * ⟨w, x t⟩) 1).
    - rewrite (Rmax_right 0 (1 - y t * ⟨w, x t⟩)) by lra. products. lra.
    - rewrite (Rmax_left 0 (1 - y t * ⟨w, x t⟩)) by lra. products. lra. }
  rewrite !norm_square. products. lra.
Qed.

Lemma added_short : forall Rad t w, (y t = 1 \/ y t = -1) -> norm (x t) <= Rad ->
  norm (added t w · x t) <= Rad.
Proof.
  intros Rad t w Hy Hx. assert (N := norm_nonneg (x t)).
  apply le_norm; [lra|]. apply norm_le in Hx. pose proof (inner_nonneg _ (x t)).
  unfold added. destruct (Rlt_dec _ _); [destruct Hy as [-> | ->]|]; products; lra.
Qed.

(** Without projection, from 0, with labels +-1 and ‖x_t‖ <= Rad: the bound of theorem
    (3) with G = 2 Rad, against every u (shi.claim.pegasos-lemma1). *)
Theorem pegasos : forall (Rad : R) (w : nat -> E) (T : nat) (u : E),
  0 < H ->
  (forall t, (1 <= t)%nat -> y t = 1 \/ y t = -1) ->
  (forall t, (1 <= t)%nat -> norm (x t) <= Rad) ->
  w 1%nat = zero ->
  (forall t, (1 <= t)%nat -> w (t + 1)%nat = (w t - (1 / (H * INR t)) · slope t (w t))%V) ->
  (1 <= T)%nat ->
  Σ t ≤ T, (cost t (w t) - cost t u) <= (2 * Rad) ^ 2 / (2 * H) * (1 + ln (INR T)).
Proof.
  intros Rad w T u HH Hy Hx Hw1 Hw HT.
  assert (HR : 0 <= Rad) by (exact (Rle_trans _ _ _ (norm_nonneg _) (Hx 1%nat ltac:(lia)))).
  assert (Short : forall t, (1 <= t)%nat -> norm (w t) <= Rad / H).
  { intros t Ht. destruct t as [|n]; [lia|]. clear Ht.
    assert (0 <= Rad / H) by (apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]).
    induction n as [|n IH].
    - rewrite Hw1, norm_zero. assumption.
    - assert (Hn : 1 <= INR (S n)) by (change 1 with (INR 1); apply le_INR; lia).
      replace (S (S n)) with (S n + 1)%nat by lia. rewrite (Hw (S n)) by lia.
      set (m := INR (S n)) in *. set (a := w (S n)) in *.
      assert (A := added_short Rad (S n) a (Hy (S n) ltac:(lia)) (Hx (S n) ltac:(lia))).
      set (v := (added (S n) a · x (S n))%V) in *.
      assert (Hq : 0 <= 1 - 1 / m).
      { assert (1 / m <= 1); [|lra]. apply (Rmult_le_reg_r m); [lra|].
        unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
      assert (Hp : 0 <= 1 / (H * m)) by (left; apply Rdiv_lt_0_compat; nra).
      replace (norm (a - (1 / (H * m)) · slope (S n) a)%V) with (norm ((1 - 1 / m) · a + (1 / (H * m)) · v)%V).
      + eapply Rle_trans; [apply triangle|]. rewrite !norm_scale by assumption.
        apply Rle_trans with ((1 - 1 / m) * (Rad / H) + 1 / (H * m) * Rad).
        * apply Rplus_le_compat; apply Rmult_le_compat_l; assumption.
        * right. field. lra.
      + unfold norm. f_equal. unfold slope. fold v. products. field. lra. }
  destruct (logarithmic_regret_bounded E (fun _ => True) H (2 * Rad) cost (fun t => slope t (w t)) w T u)
    as [A B]; auto.
  - intros ? ? ? _ _ _. exact I.
  - split; [exact I|]. intros t Ht. rewrite Hw by assumption. split; [exact I|]. intros s _.
    apply le_norm; [apply norm_nonneg|]. pose proof (pow2_ge_0 (norm (w t - 1 / (H * INR t) · slope t (w t) - s))).
    products. lra.
  - intros t _. apply slope_is_slope.
  - intros t Ht. unfold slope. specialize (Short t ltac:(lia)).
    assert (A := added_short Rad t (w t) (Hy t ltac:(lia)) (Hx t ltac:(lia))).
    replace (norm (H · w t - added t (w t) · x t)%V) with (norm (H · w t + added t (w t) · ((-1) · x t))%V)
      by (unfold norm; f_equal; products; ring).
    eapply Rle_trans; [apply triangle|]. rewrite norm_scale by lra.
    replace (norm (added t (w t) · ((-1) · x t))%V) with (norm (added t (w t) · x t)%V)
      by (unfold norm; f_equal; products; ring).
    assert (H * norm (w t) <= H * (Rad / H)) by (apply Rmult_le_compat_l; lra).
    replace (H * (Rad / H)) with Rad in * by (field; lra). lra.
  - lra.
Qed.

(** With projection onto the ball of radius 1/sqrt H: G = sqrt H + Rad, against every u in it. *)
Definition pegasos_ball (w : E) : Prop := norm w <= 1 / sqrt H.

(** The same with projection onto that ball, for comparators u in it; G = sqrt H + Rad. *)
Theorem pegasos_projected : forall (Rad : R) (w : nat -> E) (T : nat) (u : E),
  0 < H ->
  (forall t, (1 <= t)%nat -> y t = 1 \/ y t = -1) ->
  (forall t, (1 <= t)%nat -> norm (x t) <= Rad) ->
  w 1%nat = zero ->
  (forall t, (1 <= t)%nat ->
     projection pegasos_ball (w t - (1 / (H * INR t)) · slope t (w t))%V (w (t + 1)%nat)) ->
  pegasos_ball u ->
  (1 <= T)%nat ->
  Σ t ≤ T, (cost t (w t) - cost t u) <= (sqrt H + Rad) ^ 2 / (2 * H) * (1 + ln (INR T)).
Proof.
  intros Rad w T u HH Hy Hx Hw1 Hw Hu HT.
  assert (Hs : 0 < sqrt H) by (apply sqrt_lt_R0, HH).
  assert (Hss : sqrt H * sqrt H = H) by (apply sqrt_sqrt; lra).
  assert (Hb : 0 <= 1 / sqrt H) by (left; apply Rdiv_lt_0_compat; lra).
  assert (Ed : eager_descent pegasos_ball (fun t => 1 / (H * INR t)) (fun t => slope t (w t)) w).
  { split; [|exact Hw]. unfold pegasos_ball. rewrite Hw1, norm_zero. exact Hb. }
  destruct (logarithmic_regret_bounded E pegasos_ball H (sqrt H + Rad) cost (fun t => slope t (w t)) w T u)
    as [A B]; auto.
  - intros a b c Ha Hb' Hc. unfold pegasos_ball in *.
    eapply Rle_trans; [apply triangle|]. rewrite !norm_scale by lra. nra.
  - intros t _. apply slope_is_slope.
  - intros t Ht. assert (Short : norm (w t) <= 1 / sqrt H) by (apply (eager_in _ _ _ _ _ t Ed); lia).
    unfold slope. assert (A := added_short Rad t (w t) (Hy t ltac:(lia)) (Hx t ltac:(lia))).
    replace (norm (H · w t - added t (w t) · x t)%V) with (norm (H · w t + added t (w t) · ((-1) · x t))%V)
      by (unfold norm; f_equal; products; ring).
    eapply Rle_trans; [apply triangle|]. rewrite norm_scale by lra.
    replace (norm (added t (w t) · ((-1) · x t))%V) with (norm (added t (w t) · x t)%V)
      by (unfold norm; f_equal; products; ring).
    assert (H * norm (w t) <= H * (1 / sqrt H)) by (apply Rmult_le_compat_l; lra).
    replace (H * (1 / sqrt H)) with (sqrt H) in * by (rewrite <- Hss at 2; field; lra). lra.
  - lra.
Qed.

(** The best point of the whole space lies in that ball. *)
Theorem pegasos_best_in_ball : forall (T : nat) (u : E),
  0 < H -> (1 <= T)%nat ->
  (forall v, Σ t ≤ T, cost t u <= Σ t ≤ T, cost t v) ->
  pegasos_ball u.
Proof.
  intros T u HH HT Hmin.
  assert (HT' : 0 < INR T) by (apply INR_pos; auto).
  assert (Sum_cost : forall v, Σ t ≤ T, cost t v = INR T * (H / 2 * norm v ^ 2) + Σ t ≤ T, hinge t v)
    by (intros; unfold cost; rewrite Sum_plus, Sum_const; ring).
  assert (Hxi : 0 <= Σ t ≤ T, hinge t u) by (apply Sum_nonneg; intros; apply Rmax_l).
  assert (Small : forall a, 0 < a <= 1 -> H * norm u ^ 2 - 1 <= a * (H / 2 * norm u ^ 2)).
  { intros a Ha. assert (M := Hmin ((1 - a) · u)%V). rewrite !Sum_cost in M.
    assert (Hn : norm ((1 - a) · u) ^ 2 = (1 - a) ^ 2 * norm u ^ 2)
      by (rewrite !norm_square; products; ring).
    assert (Hh : Σ t ≤ T, hinge t ((1 - a) · u)%V <= (1 - a) * (Σ t ≤ T, hinge t u) + a * INR T).
    { rewrite <- Sum_scale, Rmult_comm with (r2 := INR T), <- Sum_const, <- Sum_plus.
      apply Sum_le. intros t _. unfold hinge. rewrite inner_scale.
      assert (M1 := Rmax_l 0 (1 - y t * ⟨u, x t⟩)). assert (M2 := Rmax_r 0 (1 - y t * ⟨u, x t⟩)).
      apply Rmax_lub; nra. }
    rewrite Hn in M. set (n2 := norm u ^ 2) in *. set (xi := Σ t ≤ T, hinge t u) in *.
    assert (a * (INR T * (H / 2 * (2 - a) * n2)) <= a * INR T) by nra.
    assert (H / 2 * (2 - a) * n2 <= 1); [|lra].
    apply (Rmult_le_reg_l (a * INR T)); nra. }
  assert (Hn := small_multiples (H * norm u ^ 2 - 1) (H / 2 * norm u ^ 2)
    ltac:(apply Rmult_le_pos; [lra | apply pow2_ge_0]) Small).
  unfold pegasos_ball. apply le_norm.
  - left. apply Rdiv_lt_0_compat; [lra | apply sqrt_lt_R0, HH].
  - rewrite <- norm_square. apply (Rmult_le_reg_l H); [exact HH|].
    replace (H * (1 / sqrt H) ^ 2) with (H / (sqrt H * sqrt H)).
    + rewrite sqrt_sqrt by lra. replace (H / H) with 1 by (field; lra). lra.
    + field. apply Rgt_not_eq, sqrt_lt_R0, HH.
Qed.
End Pegasos.
