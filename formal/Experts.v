(** * Experts: Hoeffding's lemma, Hedge, Gibbs, Pinsker, entropy (Lecture 17)

    Experts, or the points of a finite set, are numbered 1, ..., N; a vector is a
    function of the number. *)

From Coq Require Import Reals Lra Psatz Lia.
From Formal Require Import Space Logarithmic.
Open Scope R_scope.

(** p is a point of the simplex Δ(N). *)
Definition distribution (N : nat) (p : nat -> R) : Prop :=
  (forall i, (1 <= i <= N)%nat -> 0 <= p i) /\ Sum N p = 1.

(** The mean of g under p. *)
Definition mean (N : nat) (p g : nat -> R) : R := Σ i ≤ N, (p i * g i).

(** ** Hoeffding's lemma *)

(** exp lies above its tangents, and is convex. *)
Lemma exp_tangent : forall x c, exp c * (1 + (x - c)) <= exp x.
Proof.
  intros. replace (exp x) with (exp c * exp (x - c)) by (rewrite <- exp_plus; f_equal; ring).
  apply Rmult_le_compat_l; [left; apply exp_pos | apply exp_ineq1_le].
Qed.

Lemma exp_chord : forall h a, 0 <= a <= 1 -> exp (h * a) <= 1 - a + a * exp h.
Proof.
  intros h a Ha. assert (A := exp_tangent h (h * a)). assert (B := exp_tangent 0 (h * a)).
  rewrite exp_0 in B. set (c := exp (h * a)) in *.
  assert (a * (c * (1 + (h - h * a))) <= a * exp h) by (apply Rmult_le_compat_l; lra).
  assert ((1 - a) * (c * (1 + (0 - h * a))) <= (1 - a) * 1) by (apply Rmult_le_compat_l; lra).
  nra.
Qed.

Section Two_points.
Variable m : R.
Hypothesis Hm : 0 <= m <= 1.

Let D (h : R) : R := 1 - m + m * exp h.
Let s (h : R) : R := m * exp h / D h.

Lemma D_pos : forall h, 0 < D h.
Proof.
  intros. unfold D. pose proof (exp_pos h). destruct (Req_dec m 1) as [-> | Hn]; [lra|].
  assert (0 <= m * exp h) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma D_derivative : forall h, derivable_pt_lim D h (m * exp h).
Proof.
  intros. replace (m * exp h) with (0 + m * exp h) by ring.
  exact (derivable_pt_lim_plus (fct_cte (1 - m)) (mult_real_fct m exp) h 0 (m * exp h)
    (derivable_pt_lim_const _ _) (derivable_pt_lim_scal _ m _ _ (derivable_pt_lim_exp h))).
Qed.

Lemma s_derivative : forall h, derivable_pt_lim s h (s h * (1 - s h)).
Proof.
  intros. pose proof (D_pos h).
  replace (s h * (1 - s h)) with ((m * exp h * D h - m * exp h * (m * exp h)) / Rsqr (D h)).
  - exact (derivable_pt_lim_div (mult_real_fct m exp) D h _ _
      (derivable_pt_lim_scal _ m _ _ (derivable_pt_lim_exp h)) (D_derivative h) ltac:(lra)).
  - unfold s, Rsqr. field. lra.
Qed.

Let gap (h : R) : R := m * h + h * h / 8 - ln (D h).
Let gap' (h : R) : R := m + h / 4 - s h.
Let gap'' (h : R) : R := 1 / 4 - s h * (1 - s h).

Lemma line_derivative : forall c h, derivable_pt_lim (fun x => c * x) h c.
Proof.
  intros. assert (K := derivable_pt_lim_scal id c h 1 (derivable_pt_lim_id h)).
  rewrite Rmult_1_r in K. exact K.
Qed.

Lemma gap_derivative : forall h, derivable_pt_lim gap h (gap' h).
Proof.
  intros. pose proof (D_pos h).
  replace (gap' h) with (m + (1 * h + h * 1) * / 8 - / D h * (m * exp h))
    by (unfold gap', s; field; lra).
  refine (derivable_pt_lim_minus (fun x => m * x + x * x * / 8) (comp ln D) h _ _ _ _).
  - refine (derivable_pt_lim_plus (fun x => m * x) (fun x => x * x * / 8) h _ _ (line_derivative m h) _).
    replace ((1 * h + h * 1) * / 8) with (/ 8 * (1 * h + h * 1)) by ring.
    assert (K := derivable_pt_lim_scal (fun x => x * x) (/ 8) h _
      (derivable_pt_lim_mult id id h 1 1 (derivable_pt_lim_id h) (derivable_pt_lim_id h))).
    intros eps Heps. destruct (K eps Heps) as [d Hd]. exists d. intros k Hk1 Hk2.
    specialize (Hd k Hk1 Hk2). unfold mult_real_fct, id in Hd.
    replace ((h + k) * (h + k) * / 8 - h * h * / 8) with (/ 8 * ((h + k) * (h + k)) - / 8 * (h * h)) by ring.
    exact Hd.
  - apply (derivable_pt_lim_comp D ln h _ _ (D_derivative h)).
    apply derivable_pt_lim_ln. assumption.
Qed.

Lemma gap'_derivative : forall h, derivable_pt_lim gap' h (gap'' h).
Proof.
  intros. unfold gap''. replace (1 / 4) with (0 + 1 / 4) by ring.
  refine (derivable_pt_lim_minus (fun x => m + x / 4) s h _ _ _ (s_derivative h)).
  refine (derivable_pt_lim_plus (fct_cte m) (fun x => x / 4) h _ _ (derivable_pt_lim_const _ _) _).
  assert (K := line_derivative (1 / 4) h).
  intros eps Heps. destruct (K eps Heps) as [d Hd]. exists d. intros k Hk1 Hk2.
  specialize (Hd k Hk1 Hk2).
  replace ((h + k) / 4 - h / 4) with (1 / 4 * (h + k) - 1 / 4 * h) by field. exact Hd.
Qed.

Lemma two_points_positive : forall h, 0 < h -> D h <= exp (m * h + h * h / 8).
Proof.
  intros h Hh.
  destruct (MVT_cor2 gap gap' 0 h Hh (fun c _ => gap_derivative c)) as [c [Hc Hc1]].
  destruct (MVT_cor2 gap' gap'' 0 c (proj1 Hc1) (fun d _ => gap'_derivative d)) as [d [Hd Hd1]].
  assert (Z0 : gap 0 = 0).
  { unfold gap, D. rewrite exp_0. replace (1 - m + m * 1) with 1 by ring. rewrite ln_1. field. }
  assert (Z1 : gap' 0 = 0).
  { unfold gap', s, D. rewrite exp_0. replace (1 - m + m * 1) with 1 by ring. field. }
  rewrite Z0 in Hc. rewrite Z1 in Hd.
  assert (0 <= gap'' d) by (unfold gap''; pose proof (pow2_ge_0 (s d - 1 / 2)); nra).
  assert (0 <= gap' c) by nra.
  assert (Hg : 0 <= gap h) by nra.
  unfold gap in Hg. rewrite <- (exp_ln (D h)) by apply D_pos.
  destruct (Rle_lt_or_eq_dec (ln (D h)) (m * h + h * h / 8)) as [Hl | ->]; [lra | | lra].
  left. apply exp_increasing, Hl.
Qed.
End Two_points.

Lemma two_points : forall m h, 0 <= m <= 1 -> 1 - m + m * exp h <= exp (m * h + h * h / 8).
Proof.
  intros m h Hm. destruct (Rtotal_order h 0) as [Hh | [-> | Hh]].
  - assert (K := two_points_positive (1 - m) ltac:(lra) (- h) ltac:(lra)).
    assert (Hp := exp_pos h).
    replace (1 - m + m * exp h) with (exp h * (1 - (1 - m) + (1 - m) * exp (- h))).
    + replace (exp (m * h + h * h / 8)) with (exp h * exp ((1 - m) * - h + - h * - h / 8)).
      * apply Rmult_le_compat_l; [lra | exact K].
      * rewrite <- exp_plus. f_equal. field.
    + rewrite exp_Ropp. field. lra.
  - rewrite exp_0. replace (m * 0 + 0 * 0 / 8) with 0 by field. rewrite exp_0. lra.
  - apply two_points_positive; assumption.
Qed.

(** For g with values in [0, 1]: the mean of exp(h g) is at most exp(h · mean g + h²/8). *)
Lemma hoeffding_unit : forall N p g h,
  distribution N p ->
  (forall i, (1 <= i <= N)%nat -> 0 <= g i <= 1) ->
  mean N p (fun i => exp (h * g i)) <= exp (h * mean N p g + h * h / 8).
Proof.
  intros N p g h [Hp H1] Hg. set (m := mean N p g).
  assert (Hm : 0 <= m <= 1).
  { unfold m, mean. split.
    - apply Sum_nonneg. intros i Hi. apply Rmult_le_pos; [auto | apply Hg, Hi].
    - rewrite <- H1. apply Sum_le. intros i Hi. specialize (Hp i Hi). specialize (Hg i Hi). nra. }
  apply Rle_trans with (1 - m + m * exp h).
  - unfold mean. apply Rle_trans with (Σ i ≤ N, (p i - p i * g i + exp h * (p i * g i))).
    + apply Sum_le. intros i Hi. assert (C := exp_chord h (g i) (Hg i Hi)). specialize (Hp i Hi). nra.
    + rewrite Sum_plus, Sum_minus, Sum_scale, H1. unfold m, mean. lra.
  - rewrite (Rmult_comm h m). apply two_points, Hm.
Qed.

(** Hoeffding's lemma: p any distribution, g with values in [a, b], h any number. *)
Theorem hoeffding : forall N p g a b h,
  distribution N p ->
  (forall i, (1 <= i <= N)%nat -> a <= g i <= b) ->
  a < b ->
  mean N p (fun i => exp (h * g i)) <= exp (h * mean N p g + h ^ 2 * (b - a) ^ 2 / 8).
Proof.
  intros N p g a b h Hp Hg Hab.
  assert (K := hoeffding_unit N p (fun i => (g i - a) / (b - a)) (h * (b - a)) Hp).
  assert (Hu : forall i, (1 <= i <= N)%nat -> 0 <= (g i - a) / (b - a) <= 1).
  { intros i Hi. specialize (Hg i Hi). assert (0 < / (b - a)) by (apply Rinv_0_lt_compat; lra).
    split; [apply Rmult_le_pos; lra|]. apply (Rmult_le_reg_r (b - a)); [lra|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  specialize (K Hu). apply (Rmult_le_compat_l (exp (h * a))) in K; [|left; apply exp_pos].
  assert (Hmean : mean N p (fun i => (g i - a) / (b - a)) = (mean N p g - a) / (b - a)).
  { unfold mean. rewrite (Sum_ext N _ (fun i => (p i * g i - p i * a) * / (b - a)))
      by (intros; unfold Rdiv; ring).
    rewrite Sum_scale_r, Sum_minus, Sum_scale_r, (proj2 Hp). unfold Rdiv. ring. }
  rewrite Hmean, <- exp_plus in K. unfold mean at 1 in K. rewrite <- Sum_scale in K.
  rewrite (Sum_ext N _ (fun i => p i * exp (h * g i))) in K.
  - eapply Rle_trans; [exact K|]. right. f_equal. field. lra.
  - intros i Hi. replace (h * g i) with (h * a + h * (b - a) * ((g i - a) / (b - a))) by (field; lra).
    rewrite exp_plus. ring.
Qed.

(** ** Hedge: multiplicative weights (ma17.alg.mwu) *)
Section Hedge.
Variables (N : nat) (eta : R) (loss : nat -> nat -> R).

(** [weight t i]: the weight of expert i after t rounds. It starts at 1 and is
    multiplied by exp(-η loss) in every round. *)
Fixpoint weight (t i : nat) : R :=
  match t with
  | O => 1
  | S n => weight n i * exp (- eta * loss (S n) i)
  end.
Definition total (t : nat) : R := Σ i ≤ N, weight t i.

(** [play t i]: what Hedge puts on expert i in round t: the weights after t - 1
    rounds, normalised. *)
Definition play (t i : nat) : R := weight (t - 1) i / total (t - 1).

Lemma weight_pos : forall t i, 0 < weight t i.
Proof. induction t; intros; simpl; [lra | apply Rmult_lt_0_compat; [auto | apply exp_pos]]. Qed.

Lemma weight_exp : forall t i, weight t i = exp (- eta * Σ s ≤ t, loss s i).
Proof.
  induction t as [|t IH]; intros.
  - simpl. rewrite Rmult_0_r, exp_0. reflexivity.
  - cbn [weight]. rewrite IH, <- exp_plus, Sum_S. f_equal. ring.
Qed.

Lemma total_pos : forall t, (1 <= N)%nat -> 0 < total t.
Proof.
  intros t HN. unfold total. apply Rlt_le_trans with (weight t 1%nat); [apply weight_pos|].
  apply (Sum_term N (fun i => weight t i)); [intros; left; apply weight_pos | lia].
Qed.

Lemma play_distribution : forall t, (1 <= N)%nat -> distribution N (play t).
Proof.
  intros t HN. pose proof (total_pos (t - 1) HN). split.
  - intros. left. apply Rdiv_lt_0_compat; [apply weight_pos | assumption].
  - unfold play, Rdiv. rewrite Sum_scale_r. change (total (t - 1) * / total (t - 1) = 1). field. lra.
Qed.

Lemma total_shrinks : forall t, (1 <= N)%nat -> (1 <= t)%nat ->
  (forall i, (1 <= i <= N)%nat -> 0 <= loss t i <= 1) ->
  total t <= total (t - 1) * exp (- eta * mean N (play t) (loss t) + eta * eta / 8).
Proof.
  intros t HN Ht Hl. assert (Hpos := total_pos (t - 1) HN).
  assert (K := hoeffding_unit N (play t) (loss t) (- eta) (play_distribution t HN) Hl).
  replace (- eta * - eta) with (eta * eta) in K by ring.
  apply (Rmult_le_compat_l (total (t - 1))) in K; [|lra].
  eapply Rle_trans; [|exact K]. right. unfold mean. rewrite <- Sum_scale. unfold total at 1.
  apply Sum_ext. intros i _. destruct t as [|n]; [lia|].
  unfold play. replace (S n - 1)%nat with n in * by lia. cbn [weight]. field. lra.
Qed.

(** ** The bound of Hedge (hedge-bound)

    - N >= 1 experts, losses in [0, 1], step η > 0, any T;
    - k: any expert. The regret against it is at most ln N/η + ηT/8. *)
Theorem hedge_bound : forall (T k : nat),
  (1 <= N)%nat ->
  0 < eta ->
  (forall t i, (1 <= t <= T)%nat -> (1 <= i <= N)%nat -> 0 <= loss t i <= 1) ->
  (1 <= k <= N)%nat ->
  Σ t ≤ T, (mean N (play t) (loss t) - loss t k) <= ln (INR N) / eta + eta * INR T / 8.
Proof.
  intros T k HN He Hl Hk.
  assert (A : total T <= INR N * exp (- eta * (Σ t ≤ T, mean N (play t) (loss t)) + INR T * (eta * eta / 8))).
  { induction T as [|T IH].
    - simpl. rewrite !Rmult_0_r, Rmult_0_l, Rplus_0_r, exp_0. unfold total. simpl. rewrite Sum_const. lra.
    - specialize (IH ltac:(intros; apply Hl; lia)).
      assert (B := total_shrinks (S T) HN ltac:(lia) ltac:(intros; apply Hl; lia)).
      replace (S T - 1)%nat with T in B by lia. eapply Rle_trans; [exact B|].
      eapply Rle_trans; [apply Rmult_le_compat_r; [left; apply exp_pos | exact IH]|].
      rewrite Rmult_assoc, <- exp_plus, Sum_S, S_INR. right. f_equal. f_equal. ring. }
  assert (B : weight T k <= total T)
    by (apply (Sum_term N (fun i => weight T i)); [intros; left; apply weight_pos | exact Hk]).
  assert (HNp := INR_pos N HN).
  rewrite weight_exp in B.
  assert (C : - eta * (Σ t ≤ T, loss t k)
     <= ln (INR N) + (- eta * (Σ t ≤ T, mean N (play t) (loss t)) + INR T * (eta * eta / 8))).
  { destruct (Rle_dec (- eta * (Σ t ≤ T, loss t k))
     (ln (INR N) + (- eta * (Σ t ≤ T, mean N (play t) (loss t)) + INR T * (eta * eta / 8)))) as [|Hc]; [assumption|].
    exfalso. apply Rnot_le_lt, exp_increasing in Hc. rewrite exp_plus, exp_ln in Hc by assumption. lra. }
  rewrite Sum_minus. apply (Rmult_le_reg_l eta); [exact He|].
  replace (eta * (ln (INR N) / eta + eta * INR T / 8)) with (ln (INR N) + INR T * (eta * eta / 8)) by (field; lra).
  lra.
Qed.
End Hedge.

(** At the best step sqrt(8 ln N/T) that is sqrt(½ T ln N), and with the lecture's step
    sqrt(ln N/T) at most 2 sqrt(T ln N) (ma17.claim.logN). *)
Theorem experts_with_entropy : forall N T loss k,
  (2 <= N)%nat -> (1 <= T)%nat ->
  (forall t i, (1 <= t <= T)%nat -> (1 <= i <= N)%nat -> 0 <= loss t i <= 1) ->
  (1 <= k <= N)%nat ->
  let regret eta := Σ t ≤ T, (mean N (play N eta loss t) (loss t) - loss t k) in
  regret (sqrt (ln (INR N) / INR T)) <= 2 * sqrt (INR T * ln (INR N)) /\
  regret (sqrt (8 * ln (INR N) / INR T)) <= sqrt (1 / 2 * INR T * ln (INR N)).
Proof.
  intros N T loss k HN HT Hl Hk regret.
  assert (HTp := INR_pos T HT).
  assert (HL : 0 < ln (INR N)).
  { rewrite <- ln_1. apply ln_increasing; [lra|]. change 1 with (INR 1). apply lt_INR. lia. }
  set (L := ln (INR N)) in *.
  assert (Bound : forall c, 0 < c ->
    regret (sqrt (c * L / INR T)) <= (/ sqrt c + sqrt c / 8) * sqrt (INR T * L)).
  { intros c Hc. set (q := sqrt (INR T * L)).
    assert (Hq : 0 < q) by (apply sqrt_lt_R0; nra).
    assert (Hqq : q * q = INR T * L) by (apply sqrt_sqrt; nra).
    assert (Hr : 0 < sqrt c) by (apply sqrt_lt_R0; auto).
    assert (He : sqrt (c * L / INR T) = sqrt c * (q / INR T)).
    { replace (c * L / INR T) with (c * (q / INR T) ^ 2).
      - rewrite sqrt_mult_alt by lra. rewrite sqrt_pow2; [reflexivity|]. left. apply Rdiv_lt_0_compat; lra.
      - replace (c * (q / INR T) ^ 2) with (c * (q * q) / (INR T * INR T)) by (field; lra).
        rewrite Hqq. field. lra. }
    assert (Hpos : 0 < sqrt c * (q / INR T)).
    { apply Rmult_lt_0_compat; [assumption | apply Rdiv_lt_0_compat; assumption]. }
    unfold regret. rewrite He.
    eapply Rle_trans; [apply hedge_bound; auto; lia|]. fold L.
    replace L with (q * q / INR T) by (rewrite Hqq; field; lra). right. field. lra. }
  split.
  - replace (L / INR T) with (1 * L / INR T) by (field; lra).
    eapply Rle_trans; [apply Bound; lra|]. rewrite sqrt_1. pose proof (sqrt_pos (INR T * L)). lra.
  - eapply Rle_trans; [apply Bound; lra|].
    rewrite (Rmult_assoc (1 / 2)), (sqrt_mult_alt (1 / 2)) by lra.
    apply Rmult_le_compat_r; [apply sqrt_pos|]. right.
    assert (H2 : 0 < sqrt 2) by (apply sqrt_lt_R0; lra). assert (H22 : sqrt 2 * sqrt 2 = 2) by (apply sqrt_sqrt; lra).
    replace 8 with ((2 * sqrt 2) ^ 2) at 1 2 by (simpl; nra).
    rewrite sqrt_pow2 by lra.
    replace (1 / 2) with ((/ sqrt 2) ^ 2) by (simpl; rewrite Rmult_1_r, <- Rinv_mult, H22; lra).
    rewrite sqrt_pow2 by (left; apply Rinv_0_lt_compat; lra).
    replace (2 * sqrt 2 / 8) with (sqrt 2 * sqrt 2 / (4 * sqrt 2)) by (field_simplify; lra).
    rewrite H22. field. lra.
Qed.

(** ** Relative entropy, Gibbs and Pinsker *)

(** ν is 0 wherever μ is: then KL(ν‖μ) is finite. *)
Definition dominated (N : nat) (nu mu : nat -> R) : Prop :=
  forall i, (1 <= i <= N)%nat -> mu i = 0 -> nu i = 0.

(** Relative entropy, with 0 ln(0/x) = 0. Where ν is not dominated by μ it would be
    infinite; every statement below therefore speaks of dominated ν. *)
Definition KL (N : nat) (nu mu : nat -> R) : R := Σ i ≤ N, (nu i * ln (nu i / mu i)).

(** Entropy, with 0 ln 0 = 0. *)
Definition H (N : nat) (p : nat -> R) : R := Σ i ≤ N, (- (p i * ln (p i))).

Lemma Sum_weighted_pos : forall n a g,
  (forall i, (1 <= i <= n)%nat -> 0 <= a i) ->
  (forall i, (1 <= i <= n)%nat -> 0 < g i) ->
  0 < Sum n a -> 0 < Σ i ≤ n, (a i * g i).
Proof.
  induction n as [|n IH]; intros a g Ha Hg Hs; [simpl in Hs; lra|].
  rewrite Sum_S in *. assert (A := Ha (S n) ltac:(lia)). assert (G := Hg (S n) ltac:(lia)).
  assert (0 <= Σ i ≤ n, (a i * g i)).
  { apply Sum_nonneg. intros i Hi. apply Rmult_le_pos; [apply Ha; lia | left; apply Hg; lia]. }
  destruct (Req_dec (a (S n)) 0) as [Hz | Hz].
  - assert (0 < Σ i ≤ n, (a i * g i)) by (apply IH; [intros; apply Ha; lia | intros; apply Hg; lia | lra]).
    rewrite Hz. lra.
  - assert (0 < a (S n) * g (S n)) by (apply Rmult_lt_0_compat; lra). lra.
Qed.

Lemma partition_pos : forall N mu f, distribution N mu -> 0 < mean N mu (fun i => exp (f i)).
Proof.
  intros N mu f [Hmu H1]. apply Sum_weighted_pos; [exact Hmu | intros; apply exp_pos | lra].
Qed.

(** The Gibbs distribution μ e^f / E_μ[e^f]. *)
Definition gibbs_point (N : nat) (mu f : nat -> R) (i : nat) : R :=
  mu i * exp (f i) / mean N mu (fun j => exp (f j)).

Lemma gibbs_distribution : forall N mu f, distribution N mu -> distribution N (gibbs_point N mu f).
Proof.
  intros N mu f Hmu. assert (Z := partition_pos N mu f Hmu). split.
  - intros i Hi. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; assumption].
    apply Rmult_le_pos; [apply (proj1 Hmu), Hi | left; apply exp_pos].
  - unfold gibbs_point, Rdiv. rewrite Sum_scale_r.
    change (mean N mu (fun j => exp (f j)) * / mean N mu (fun j => exp (f j)) = 1). field. lra.
Qed.

Lemma gibbs_dominated : forall N mu f, dominated N (gibbs_point N mu f) mu.
Proof. intros N mu f i _ H0. unfold gibbs_point. rewrite H0. unfold Rdiv. ring. Qed.

(** The gap of one term: it is not negative, and 0 only at the Gibbs distribution. *)
Lemma gibbs_term : forall nu mu f Z, 0 <= nu -> 0 <= mu -> (mu = 0 -> nu = 0) -> 0 < Z ->
  let gap := mu * exp f / Z - nu - (nu * f - nu * ln (nu / mu) - nu * ln Z) in
  0 <= gap /\ (gap = 0 -> nu = mu * exp f / Z).
Proof.
  intros nu mu f Z Hnu Hmu Hd HZ gap. assert (Hf := exp_pos f).
  destruct (Req_dec nu 0) as [-> | Hn].
  - assert (Hg : gap = mu * exp f / Z) by (unfold gap; ring). rewrite Hg. split.
    + apply Rmult_le_pos; [nra | left; apply Rinv_0_lt_compat; assumption].
    + intros E. symmetry. exact E.
  - assert (Hm : 0 < mu) by (destruct (Req_dec mu 0) as [E | E]; [exfalso; auto | lra]).
    assert (Hnp : 0 < nu) by lra.
    set (r := mu * exp f / (Z * nu)).
    assert (Hr : 0 < r) by (apply Rdiv_lt_0_compat; apply Rmult_lt_0_compat; assumption).
    assert (Hln : ln r = f - ln (nu / mu) - ln Z).
    { unfold r, Rdiv. rewrite !ln_mult, !ln_Rinv, ln_mult, ln_exp; auto;
        try (apply Rinv_0_lt_compat; auto); try (apply Rmult_lt_0_compat; auto). ring. }
    assert (Hg : gap = nu * (r - 1 - ln r)).
    { rewrite Hln. unfold gap, r. field. lra. }
    rewrite Hg. split.
    + apply Rmult_le_pos; [lra|]. pose proof (ln_below r Hr). lra.
    + intros E. apply Rmult_integral in E. destruct E as [E | E]; [lra|].
      assert (r = 1).
      { destruct (Req_dec (ln r) 0) as [E0 | E0].
        - rewrite <- (exp_ln r Hr), E0. apply exp_0.
        - pose proof (exp_ineq1 (ln r) E0) as K. rewrite exp_ln in K by assumption. lra. }
      replace (mu * exp f / Z) with (r * nu) by (unfold r; field; lra). rewrite H0. ring.
Qed.

(** ** Lemma 17.2 (Gibbs), in three parts: never above, attained, and nowhere else. *)
Theorem gibbs : forall N mu f nu,
  distribution N mu ->
  distribution N nu ->
  dominated N nu mu ->
  mean N nu f - KL N nu mu <= ln (mean N mu (fun i => exp (f i))).
Proof.
  intros N mu f nu Hmu Hnu Hd. assert (HZ := partition_pos N mu f Hmu).
  set (Z := mean N mu (fun i => exp (f i))) in *.
  assert (K : 0 <= Σ i ≤ N, (mu i * exp (f i) / Z - nu i - (nu i * f i - nu i * ln (nu i / mu i) - nu i * ln Z))).
  { apply Sum_nonneg. intros i Hi. apply gibbs_term; auto. - apply (proj1 Hnu), Hi. - apply (proj1 Hmu), Hi. }
  rewrite !Sum_minus, Sum_scale_r in K.
  assert (G := proj2 (gibbs_distribution N mu f Hmu)). unfold gibbs_point in G. fold Z in G.
  rewrite G, (proj2 Hnu) in K. unfold mean at 1, KL. lra.
Qed.

(** It is attained at the Gibbs distribution ... *)
Theorem gibbs_attained : forall N mu f,
  distribution N mu ->
  mean N (gibbs_point N mu f) f - KL N (gibbs_point N mu f) mu = ln (mean N mu (fun i => exp (f i))).
Proof.
  intros N mu f Hmu. assert (HZ := partition_pos N mu f Hmu).
  assert (HG := gibbs_distribution N mu f Hmu).
  set (Z := mean N mu (fun i => exp (f i))) in *.
  unfold mean at 1, KL. rewrite <- Sum_minus.
  rewrite (Sum_ext N _ (fun i => gibbs_point N mu f i * ln Z)).
  - rewrite Sum_scale_r, (proj2 HG). ring.
  - intros i Hi. destruct (Req_dec (mu i) 0) as [E | E].
    + assert (gibbs_point N mu f i = 0) by (apply (gibbs_dominated N mu f i Hi E)). rewrite H0. ring.
    + replace (gibbs_point N mu f i / mu i) with (exp (f i) * / Z) by (unfold gibbs_point; fold Z; field; lra).
      rewrite ln_mult, ln_exp, ln_Rinv; [ring | assumption | apply exp_pos | apply Rinv_0_lt_compat; assumption].
Qed.

(** ... and at no other distribution that μ dominates. *)
Theorem gibbs_unique : forall N mu f nu,
  distribution N mu ->
  distribution N nu ->
  dominated N nu mu ->
  mean N nu f - KL N nu mu = ln (mean N mu (fun i => exp (f i))) ->
  forall i, (1 <= i <= N)%nat -> nu i = gibbs_point N mu f i.
Proof.
  intros N mu f nu Hmu Hnu Hd Heq i Hi. assert (HZ := partition_pos N mu f Hmu).
  unfold gibbs_point. set (Z := mean N mu (fun i => exp (f i))) in *.
  set (gap := fun i => mu i * exp (f i) / Z - nu i - (nu i * f i - nu i * ln (nu i / mu i) - nu i * ln Z)).
  assert (Hgap : forall j, (1 <= j <= N)%nat -> 0 <= gap j).
  { intros j Hj. apply gibbs_term; auto. - apply (proj1 Hnu), Hj. - apply (proj1 Hmu), Hj. }
  assert (Hsum : Sum N gap = 0).
  { unfold gap. rewrite !Sum_minus, Sum_scale_r.
    assert (G := proj2 (gibbs_distribution N mu f Hmu)). unfold gibbs_point in G. fold Z in G.
    rewrite G, (proj2 Hnu). unfold mean, KL in Heq. lra. }
  assert (Hi0 := Sum_term N gap i Hgap Hi). assert (Hi1 := Hgap i Hi).
  apply (gibbs_term (nu i) (mu i) (f i) Z); auto.
  - apply (proj1 Hnu), Hi.
  - apply (proj1 Hmu), Hi.
  - fold (gap i). lra.
Qed.

(** ** Pinsker's inequality (ma17.claim.pinsker), from Gibbs and Hoeffding *)
Definition l1 (N : nat) (p q : nat -> R) : R := Σ i ≤ N, Rabs (p i - q i).

(** p and q are distributions on N points, and p is 0 wherever q is (otherwise KL is
    infinite and there is nothing to show). Natural logarithms. *)
Theorem pinsker : forall N p q,
  distribution N p ->
  distribution N q ->
  dominated N p q ->
  1 / 2 * l1 N p q ^ 2 <= KL N p q.
Proof.
  intros N p q Hp Hq Hd.
  set (g := fun i => if Rle_dec (q i) (p i) then 1 else -1).
  assert (Hg : forall i, (1 <= i <= N)%nat -> -1 <= g i <= 1)
    by (intros; unfold g; destruct (Rle_dec _ _); lra).
  set (h := l1 N p q).
  assert (G := gibbs N q (fun i => h * g i) p Hq Hp Hd).
  assert (K := hoeffding N q g (-1) 1 h Hq Hg ltac:(lra)).
  assert (HZ := partition_pos N q (fun i => h * g i) Hq).
  assert (L : ln (mean N q (fun i => exp (h * g i))) <= h * mean N q g + h ^ 2 * (1 - -1) ^ 2 / 8).
  { rewrite <- (ln_exp (h * mean N q g + h ^ 2 * (1 - -1) ^ 2 / 8)).
    destruct K as [K | K]; [left; apply ln_increasing; assumption | right; rewrite K; reflexivity]. }
  assert (M : mean N p (fun i => h * g i) - h * mean N q g = h * h).
  { unfold mean. rewrite <- Sum_scale, <- Sum_minus.
    rewrite (Sum_ext N _ (fun i => h * Rabs (p i - q i))).
    - rewrite Sum_scale. reflexivity.
    - intros i _. unfold g. destruct (Rle_dec _ _).
      + rewrite Rabs_right by lra. ring.
      + rewrite Rabs_left by lra. ring. }
  fold h. nra.
Qed.

(** ** Lemma 17.1: minus the entropy is 1-strongly convex in the l1 norm *)
Theorem lemma_17_1 : forall N p q a,
  distribution N p ->
  distribution N q ->
  0 <= a <= 1 ->
  let r := fun i => a * p i + (1 - a) * q i in
  - H N r <= a * - H N p + (1 - a) * - H N q - 1 / 2 * (a * (1 - a)) * l1 N p q ^ 2.
Proof.
  intros N p q a Hp Hq Ha r.
  destruct (Req_dec a 0) as [-> | Ha0].
  { right. replace (H N r) with (H N q); [ring|]. apply Sum_ext. intros. unfold r.
    replace (0 * p t + (1 - 0) * q t) with (q t) by ring. reflexivity. }
  destruct (Req_dec a 1) as [-> | Ha1].
  { right. replace (H N r) with (H N p); [ring|]. apply Sum_ext. intros. unfold r.
    replace (1 * p t + (1 - 1) * q t) with (p t) by ring. reflexivity. }
  assert (Hr : distribution N r).
  { split.
    - intros i Hi. pose proof (proj1 Hp i Hi). pose proof (proj1 Hq i Hi).
      unfold r. assert (0 <= a * p i) by nra. assert (0 <= (1 - a) * q i) by nra. lra.
    - unfold r. rewrite Sum_plus, !Sum_scale, (proj2 Hp), (proj2 Hq). ring. }
  assert (Dp : dominated N p r).
  { intros i Hi E. pose proof (proj1 Hp i Hi). pose proof (proj1 Hq i Hi). unfold r in E.
    assert (0 <= (1 - a) * q i) by nra. nra. }
  assert (Dq : dominated N q r).
  { intros i Hi E. pose proof (proj1 Hp i Hi). pose proof (proj1 Hq i Hi). unfold r in E.
    assert (0 <= a * p i) by nra. nra. }
  assert (Pp := pinsker N p r Hp Hr Dp). assert (Pq := pinsker N q r Hq Hr Dq).
  assert (Lp : l1 N p r = (1 - a) * l1 N p q).
  { unfold l1. rewrite <- Sum_scale. apply Sum_ext. intros i _. unfold r.
    replace (p i - (a * p i + (1 - a) * q i)) with ((1 - a) * (p i - q i)) by ring.
    rewrite Rabs_mult, (Rabs_right (1 - a)) by lra. reflexivity. }
  assert (Lq : l1 N q r = a * l1 N p q).
  { unfold l1. rewrite <- Sum_scale. apply Sum_ext. intros i _. unfold r.
    replace (q i - (a * p i + (1 - a) * q i)) with (a * - (p i - q i)) by ring.
    rewrite Rabs_mult, Rabs_Ropp, (Rabs_right a) by lra. reflexivity. }
  rewrite Lp in Pp. rewrite Lq in Pq.
  (* the gap is a relative entropy: (17.7) to (17.11) *)
  assert (Split : forall s, distribution N s -> dominated N s r ->
     KL N s r = - H N s - Σ i ≤ N, (s i * ln (r i))).
  { intros s Hs Ds. unfold KL, H. rewrite (Sum_ext N (fun i => - (s i * ln (s i))) (fun i => -1 * (s i * ln (s i))))
      by (intros; ring). rewrite Sum_scale.
    rewrite (Sum_ext N _ (fun i => s i * ln (s i) - s i * ln (r i))).
    - rewrite Sum_minus. ring.
    - intros i Hi. destruct (Req_dec (s i) 0) as [-> | E]; [ring|].
      assert (0 < s i) by (pose proof (proj1 Hs i Hi); lra).
      assert (0 < r i).
      { pose proof (proj1 Hr i Hi). destruct (Req_dec (r i) 0) as [Z | Z]; [|lra].
        exfalso. apply E, (Ds i Hi Z). }
      unfold Rdiv. rewrite ln_mult, ln_Rinv; auto; [ring | apply Rinv_0_lt_compat; auto]. }
  rewrite (Split p Hp Dp) in Pp. rewrite (Split q Hq Dq) in Pq.
  assert (HrH : - H N r = a * (Σ i ≤ N, (p i * ln (r i))) + (1 - a) * (Σ i ≤ N, (q i * ln (r i)))).
  { transitivity (Σ i ≤ N, (r i * ln (r i))).
    - unfold H. rewrite (Sum_ext N _ (fun i => -1 * (r i * ln (r i)))) by (intros; ring).
      rewrite Sum_scale. ring.
    - rewrite <- !Sum_scale, <- Sum_plus. apply Sum_ext. intros i _. unfold r at 1. ring. }
  set (d := l1 N p q) in *.
  apply (Rmult_le_compat_l a) in Pp; [|lra]. apply (Rmult_le_compat_l (1 - a)) in Pq; [|lra].
  rewrite HrH. nra.
Qed.
