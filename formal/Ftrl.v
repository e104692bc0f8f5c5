(** * Ftrl: the bound (17.2) of Lecture 17, and (17.3) corrected *)

From Coq Require Import Reals Lra Psatz Lia.
From Formal Require Import Space Leader.
Open Scope R_scope.

(** φ is 1-strongly convex on S with respect to a function N, in (17.2) a norm. *)
Definition strongly_convex_on {E : Space} (S : E -> Prop) (N : E -> R) (phi : E -> R) : Prop :=
  forall x y a, S x -> S y -> 0 <= a <= 1 ->
    phi (a · x + (1 - a) · y)%V <= a * phi x + (1 - a) * phi y - 1 / 2 * (a * (1 - a)) * N (x - y)%V ^ 2.

(** Nd bounds the pairing: ⟨z, x⟩ <= Nd z · N x. The dual norm of N is the least such Nd;
    this inequality is all that (17.2) uses of norm and dual norm. *)
Definition dual_bound {E : Space} (N Nd : E -> R) : Prop :=
  forall z x : E, ⟨z, x⟩ <= Nd z * N x.

(** At a minimum p such a function grows: F(s) >= F(p) + (c/2) N(p - s)². *)
Lemma growth_at_minimum : forall (E : Space) (S : E -> Prop) (N F : E -> R) (c : R) (p s : E),
  convex_set S -> 0 <= c ->
  (forall x y a, S x -> S y -> 0 <= a <= 1 ->
    F (a · x + (1 - a) · y)%V <= a * F x + (1 - a) * F y - c / 2 * (a * (1 - a)) * N (x - y)%V ^ 2) ->
  minimises S F p -> S s ->
  F p + c / 2 * N (p - s)%V ^ 2 <= F s.
Proof.
  intros E S N F c p s HS Hc HF [Hp Hmin] Hs.
  assert (F p + c / 2 * N (p - s)%V ^ 2 - F s <= 0); [|lra].
  apply (small_multiples _ (c / 2 * N (p - s)%V ^ 2)).
  { apply Rmult_le_pos; [lra | apply pow2_ge_0]. }
  intros a Ha.
  assert (A := HF p s (1 - a) Hp Hs ltac:(lra)).
  assert (B := Hmin _ (HS p s (1 - a) Hp Hs ltac:(lra))).
  set (q := N (p - s)%V ^ 2) in *.
  assert (a * (F p + c / 2 * (1 - a) * q) <= a * F s) by lra.
  assert (F p + c / 2 * (1 - a) * q <= F s); [|lra].
  apply (Rmult_le_reg_l a); lra.
Qed.

Lemma Sum_convex : forall (E : Space) (S : E -> Prop) (f : nat -> E -> R) T,
  (forall t, (1 <= t <= T)%nat -> convex_on S (f t)) -> convex_on S (fun v => Σ t ≤ T, f t v).
Proof.
  intros E S f T H x y a Hx Hy Ha. rewrite <- !Sum_scale, <- Sum_plus. apply Sum_le.
  intros t Ht. apply H; auto.
Qed.

(** ** (17.2) The bound of FTRL (ma17.eq17.2)

    - [S]: convex; [phi]: 1-strongly convex on S with respect to N;
    - [f t]: convex on S, [z t]: a subgradient of f_t at w_t;
    - [w]: the plays of FTRL, w_{t+1} minimises f_1 + ... + f_t + phi/η on S;
    - [Nd]: the dual norm of N (only ⟨z, x⟩ <= Nd z · N x is used).
    Regret against u at most (phi u - phi w_1)/η + (η/2) Σ Nd(z_t)². *)
Theorem ftrl_bound : forall (E : Space) (S : E -> Prop) (N Nd phi : E -> R) (eta : R)
    (f : nat -> E -> R) (z w : nat -> E) (T : nat) (u : E),
  convex_set S ->
  0 < eta ->
  strongly_convex_on S N phi ->
  dual_bound N Nd ->
  (forall t, (1 <= t <= T)%nat -> convex_on S (f t)) ->
  regularised_leader S f (fun v => phi v / eta) T w ->
  (forall t, (1 <= t <= T)%nat -> subgradient S (f t) (w t) (z t)) ->
  S u ->
  Σ t ≤ T, (f t (w t) - f t u)
    <= (phi u - phi (w 1%nat)) / eta + eta / 2 * Σ t ≤ T, Nd (z t) ^ 2.
Proof.
  intros E S N Nd phi eta f z w T u HS He Hphi Hd Hf Hw Hz Hu.
  assert (Claim : forall s, S s ->
    (Σ t ≤ T, f t (w t)) + phi (w 1%nat) / eta
      <= (Σ t ≤ T, f t s) + phi s / eta + eta / 2 * (Σ t ≤ T, Nd (z t) ^ 2)).
  { clear u Hu. induction T as [|T IH]; intros s Hs.
    - destruct (Hw 0%nat ltac:(lia)) as [_ H]. specialize (H s Hs). simpl in *. lra.
    - assert (Hprev : regularised_leader S f (fun v => phi v / eta) T w) by (intros t Ht; apply Hw; lia).
      assert (Hin := proj1 (Hw (Datatypes.S T) ltac:(lia))).
      assert (Hmin := proj2 (Hw (Datatypes.S T) ltac:(lia)) s Hs).
      set (b := w (Datatypes.S T + 1)%nat) in *.
      assert (Hnow := Hw T ltac:(lia)). replace (T + 1)%nat with (Datatypes.S T) in Hnow by lia.
      set (a := w (Datatypes.S T)) in *.
      (* the claim for T, with the minimum at a *)
      assert (IHa := IH ltac:(intros t Ht; apply Hf; lia) Hprev ltac:(intros t Ht; apply Hz; lia) a (proj1 Hnow)).
      assert (G := growth_at_minimum E S N (fun v => (Σ t ≤ T, f t v) + phi v / eta) (1 / eta) a b HS).
      assert (Gr : (Σ t ≤ T, f t a) + phi a / eta + 1 / eta / 2 * N (a - b)%V ^ 2
                   <= (Σ t ≤ T, f t b) + phi b / eta).
      { apply G; auto.
        - left. apply Rdiv_lt_0_compat; lra.
        - intros x y c Hx Hy Hc.
          assert (C1 : convex_on S (fun v => Σ t ≤ T, f t v)) by (apply Sum_convex; intros t Ht; apply Hf; lia).
          specialize (C1 x y c Hx Hy Hc). cbv beta in C1.
          assert (C2 := Hphi x y c Hx Hy Hc).
          apply (Rmult_le_compat_r (/ eta)) in C2; [|left; apply Rinv_0_lt_compat; lra].
          unfold Rdiv in *. lra. }
      assert (Sub := Hz (Datatypes.S T) ltac:(lia) b Hin). fold a in Sub.
      set (v := z (Datatypes.S T)) in *.
      assert (Hold := Hd v (a - b)%V).
      cbv beta in Hmin. rewrite !Sum_S in *. fold a. fold v.
      assert (Young : ⟨v, a - b⟩ <= eta / 2 * Nd v ^ 2 + 1 / eta / 2 * N (a - b)%V ^ 2).
      { eapply Rle_trans; [exact Hold|].
        assert (Hsq := pow2_ge_0 (eta * Nd v - N (a - b)%V)).
        apply (Rmult_le_reg_l (2 * eta)); [lra|].
        replace (2 * eta * (eta / 2 * Nd v ^ 2 + 1 / eta / 2 * N (a - b)%V ^ 2))
          with (eta ^ 2 * Nd v ^ 2 + N (a - b)%V ^ 2) by (field; lra). lra. }
      replace ⟨v, b - a⟩ with (- ⟨v, a - b⟩) in Sub by (products; ring). lra. }
  specialize (Claim u Hu). rewrite Sum_minus. unfold Rdiv in *. lra.
Qed.

(** The range of phi on S is at most D: phi u - phi v <= D for all u, v in S (ma17.def.D). *)
Definition range_at_most {E : Space} (S : E -> Prop) (phi : E -> R) (D : R) : Prop :=
  forall u v, S u -> S v -> phi u - phi v <= D.

(** If the range is at most D: regret at most D/η + (η/2) Σ Nd(z_t)². The lecture has η in
    place of η/2, which is weaker. *)
Corollary ftrl_bound_range : forall (E : Space) (S : E -> Prop) (N Nd phi : E -> R) (eta D : R)
    (f : nat -> E -> R) (z w : nat -> E) (T : nat) (u : E),
  convex_set S ->
  0 < eta ->
  strongly_convex_on S N phi ->
  dual_bound N Nd ->
  range_at_most S phi D ->
  (forall t, (1 <= t <= T)%nat -> convex_on S (f t)) ->
  regularised_leader S f (fun v => phi v / eta) T w ->
  (forall t, (1 <= t <= T)%nat -> subgradient S (f t) (w t) (z t)) ->
  S u ->
  Σ t ≤ T, (f t (w t) - f t u) <= D / eta + eta / 2 * Σ t ≤ T, Nd (z t) ^ 2.
Proof.
  intros E S N Nd phi eta D f z w T u HS He Hphi Hd HD Hf Hw Hz Hu.
  eapply Rle_trans; [apply (ftrl_bound E S N Nd phi eta f z w T u); auto|].
  assert (phi u - phi (w 1%nat) <= D) by (apply HD; [exact Hu | exact (proj1 (Hw 0%nat ltac:(lia)))]).
  apply Rplus_le_compat_r, Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra | assumption].
Qed.

(** ** (17.3), corrected (ma17.eq17.3)

    0 < D, 0 < G, and Nd(z_t) between 0 and G. *)
Section Tuned.
Variables (E : Space) (S : E -> Prop) (N Nd phi : E -> R) (D G : R).
Variables (f : nat -> E -> R) (z w : nat -> E) (T : nat).
Hypotheses (HS : convex_set S) (HD : 0 < D) (HG : 0 < G) (HT : (1 <= T)%nat).
Hypothesis Hphi : strongly_convex_on S N phi.
Hypothesis Hd : dual_bound N Nd.
Hypothesis Hrange : range_at_most S phi D.
Hypothesis Hf : forall t, (1 <= t <= T)%nat -> convex_on S (f t).
Hypothesis Hz : forall t, (1 <= t <= T)%nat -> subgradient S (f t) (w t) (z t).
Hypothesis HN : forall t, (1 <= t <= T)%nat -> 0 <= Nd (z t) <= G.

Lemma tuned_core : forall eta u, 0 < eta ->
  regularised_leader S f (fun v => phi v / eta) T w -> S u ->
  Σ t ≤ T, (f t (w t) - f t u) <= D / eta + eta / 2 * (INR T * G ^ 2).
Proof.
  intros eta u He Hw Hu.
  eapply Rle_trans; [apply (ftrl_bound_range E S N Nd phi eta D f z w T u); auto|].
  apply Rplus_le_compat_l, Rmult_le_compat_l; [lra|]. rewrite <- Sum_const. apply Sum_le.
  intros t Ht. apply pow_incr, HN, Ht.
Qed.

(** With η = (1/G) sqrt(D/T) the regret is at most 2 G sqrt(D T). *)
Theorem equation_17_3 : forall u,
  regularised_leader S f (fun v => phi v / (1 / G * sqrt (D / INR T))) T w -> S u ->
  Σ t ≤ T, (f t (w t) - f t u) <= 2 * G * sqrt (D * INR T).
Proof.
  intros u Hw Hu. assert (HTp := INR_pos T HT).
  assert (Hq : 0 < sqrt (D / INR T)) by (apply sqrt_lt_R0, Rdiv_lt_0_compat; auto).
  assert (Hqq : sqrt (D / INR T) * sqrt (D / INR T) = D / INR T)
    by (apply sqrt_sqrt; left; apply Rdiv_lt_0_compat; auto).
  assert (Hr : sqrt (D * INR T) = sqrt (D / INR T) * INR T).
  { rewrite <- (sqrt_pow2 (sqrt (D / INR T) * INR T)) by nra. f_equal.
    rewrite Rpow_mult_distr. simpl (sqrt _ ^ 2). rewrite Rmult_1_r, Hqq. field. lra. }
  assert (He : 0 < 1 / G * sqrt (D / INR T)) by (apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra | auto]).
  eapply Rle_trans; [apply (tuned_core _ u He Hw Hu)|]. rewrite Hr.
  set (q := sqrt (D / INR T)) in *.
  replace D with (q * q * INR T) by (rewrite Hqq; field; lra).
  replace (q * q * INR T / (1 / G * q) + 1 / G * q / 2 * (INR T * G ^ 2))
    with (3 / 2 * (G * (q * INR T))) by (field; lra).
  assert (0 < G * (q * INR T)) by (repeat apply Rmult_lt_0_compat; auto). lra.
Qed.

(** With η = (1/G) sqrt(2D/T) it is at most G sqrt(2 D T). *)
Theorem equation_17_3_sharp : forall u,
  regularised_leader S f (fun v => phi v / (1 / G * sqrt (2 * D / INR T))) T w -> S u ->
  Σ t ≤ T, (f t (w t) - f t u) <= G * sqrt (2 * D * INR T).
Proof.
  intros u Hw Hu. assert (HTp := INR_pos T HT).
  assert (Hq : 0 < sqrt (2 * D / INR T)) by (apply sqrt_lt_R0, Rdiv_lt_0_compat; lra).
  assert (Hqq : sqrt (2 * D / INR T) * sqrt (2 * D / INR T) = 2 * D / INR T)
    by (apply sqrt_sqrt; left; apply Rdiv_lt_0_compat; lra).
  assert (Hr : sqrt (2 * D * INR T) = sqrt (2 * D / INR T) * INR T).
  { rewrite <- (sqrt_pow2 (sqrt (2 * D / INR T) * INR T)) by nra. f_equal.
    rewrite Rpow_mult_distr. simpl (sqrt _ ^ 2). rewrite Rmult_1_r, Hqq. field. lra. }
  assert (He : 0 < 1 / G * sqrt (2 * D / INR T)) by (apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra | auto]).
  eapply Rle_trans; [apply (tuned_core _ u He Hw Hu)|]. rewrite Hr.
  set (q := sqrt (2 * D / INR T)) in *.
  replace D with (q * q * INR T / 2) by (rewrite Hqq; field; lra).
  right. field. lra.
Qed.
End Tuned.
