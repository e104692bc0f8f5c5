(** * Zinkevich: eager descent with decreasing steps, fixed and moving comparators
    (Theorem 4.1.3 of Lecture 4) *)

From Coq Require Import Reals Lra Psatz Lia.
From Formal Require Import Space Descent.
Open Scope R_scope.

(** The core of the proof: nothing is said about the comparator's path. *)
Lemma zinkevich_core : forall (E : Space) (S : E -> Prop) (D : R) (eta : nat -> R)
    (z w u : nat -> E) (n : nat),
  convex_set S -> diameter_at_most S D ->
  (forall t, (1 <= t)%nat -> 0 < eta t) ->
  (forall t, (1 <= t)%nat -> eta (t + 1)%nat <= eta t) ->
  eager_descent S eta z w ->
  (forall t, (1 <= t <= n + 1)%nat -> S (u t)) ->
  Σ t ≤ (n + 1)%nat, ⟨z t, w t - u t⟩
    <= D ^ 2 / (2 * eta (n + 1)%nat) + 1 / 2 * (Σ t ≤ (n + 1)%nat, (eta t * norm (z t) ^ 2))
       + (Σ t ≤ n, ((norm (w (t + 1)%nat - u (t + 1)%nat) ^ 2 - norm (w (t + 1)%nat - u t) ^ 2) / (2 * eta t)))
       - norm (w (n + 2)%nat - u (n + 1)%nat) ^ 2 / (2 * eta (n + 1)%nat).
Proof.
  intros E S D eta z w u n HS HD Hpos Hdec Hw Hu.
  assert (Step : forall t, (1 <= t <= n + 1)%nat -> ⟨z t, w t - u t⟩ <=
    norm (w t - u t) ^ 2 / (2 * eta t) - norm (w (t + 1)%nat - u t) ^ 2 / (2 * eta t)
    + 1 / 2 * (eta t * norm (z t) ^ 2)).
  { intros t Ht. assert (K := eager_step E S (eta t) _ _ _ (u t) HS (proj2 Hw t ltac:(lia)) (Hu t Ht)).
    specialize (Hpos t ltac:(lia)). rewrite !norm_square.
    apply (Rmult_le_reg_l (2 * eta t)); [lra|].
    eapply Rle_trans; [exact K|]. right. field. lra. }
  assert (Near : forall t, (1 <= t <= n + 1)%nat -> norm (w t - u t) ^ 2 <= D ^ 2).
  { intros t Ht. apply pow_incr. split; [apply norm_nonneg|]. apply HD; auto.
    eapply eager_in; eauto; lia. }
  induction n as [|n IH].
  - simpl (0 + 1)%nat. simpl (0 + 2)%nat. rewrite !Sum_S. simpl Sum.
    specialize (Step 1%nat ltac:(lia)). specialize (Near 1%nat ltac:(lia)).
    specialize (Hpos 1%nat ltac:(lia)). simpl (1 + 1)%nat in *.
    assert (norm (w 1%nat - u 1%nat) ^ 2 / (2 * eta 1%nat) <= D ^ 2 / (2 * eta 1%nat)).
    { apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra | exact Near]. }
    lra.
  - specialize (IH ltac:(intros; apply Hu; lia) ltac:(intros; apply Step; lia)
      ltac:(intros; apply Near; lia)).
    specialize (Step (n + 2)%nat ltac:(lia)). specialize (Near (n + 2)%nat ltac:(lia)).
    assert (P1 := Hpos (n + 1)%nat ltac:(lia)). assert (P2 := Hpos (n + 2)%nat ltac:(lia)).
    specialize (Hdec (n + 1)%nat ltac:(lia)).
    replace (Datatypes.S n + 1)%nat with (Datatypes.S (n + 1)) by lia.
    rewrite (Sum_S (n + 1)), (Sum_S (n + 1)), (Sum_S n).
    replace (Datatypes.S (n + 1)) with (n + 2)%nat by lia.
    replace (Datatypes.S n) with (n + 1)%nat by lia.
    replace (n + 1 + 1)%nat with (n + 2)%nat in * by lia.
    replace (n + 1 + 2)%nat with (n + 2 + 1)%nat by lia.
    set (i := / (2 * eta (n + 1)%nat)) in *. set (j := / (2 * eta (n + 2)%nat)) in *.
    unfold Rdiv in *. fold i in IH |- *. fold j in Step |- *.
    assert (Hij : i <= j) by (apply Rinv_le_contravar; lra).
    assert (0 <= (D ^ 2 - norm (w (n + 2)%nat - u (n + 2)%nat) ^ 2) * (j - i)) by (apply Rmult_le_pos; lra).
    lra.
Qed.

(** ** Zinkevich's algorithm against a fixed point (thm-zinkevich-fixed)

    - [S]: convex, diameter at most D; steps positive and never growing;
    - [z t]: a subgradient of f_t at w_t; [u]: any point of S, w_1: any start in S.
    Regret at most D²/(2 η_T) + ½ Σ η_t ‖z_t‖². *)
Theorem zinkevich_fixed : forall (E : Space) (S : E -> Prop) (D : R) (eta : nat -> R)
    (f : nat -> E -> R) (z w : nat -> E) (T : nat) (u : E),
  convex_set S ->
  diameter_at_most S D ->
  (forall t, (1 <= t)%nat -> 0 < eta t) ->
  (forall t, (1 <= t)%nat -> eta (t + 1)%nat <= eta t) ->
  eager_descent S eta z w ->
  (forall t, (1 <= t <= T)%nat -> subgradient S (f t) (w t) (z t)) ->
  S u ->
  (1 <= T)%nat ->
  Σ t ≤ T, (f t (w t) - f t u)
    <= D ^ 2 / (2 * eta T) + 1 / 2 * Σ t ≤ T, (eta t * norm (z t) ^ 2).
Proof.
  intros E S D eta f z w T u HS HD Hpos Hdec Hw Hz Hu HT.
  eapply Rle_trans; [apply (convex_to_linear E S f w z); auto|].
  destruct T as [|n]; [lia|].
  assert (K := zinkevich_core E S D eta z w (fun _ => u) n HS HD Hpos Hdec Hw ltac:(auto)).
  cbv beta in K. replace (n + 1)%nat with (Datatypes.S n) in K by lia.
  rewrite (Sum_ext n _ (fun _ => 0)) in K by (intros; unfold Rdiv; ring).
  rewrite Sum_const in K.
  assert (0 <= norm (w (n + 2)%nat - u) ^ 2 / (2 * eta (Datatypes.S n))).
  { apply Rmult_le_pos; [apply pow2_ge_0|]. left. apply Rinv_0_lt_compat.
    specialize (Hpos (Datatypes.S n) ltac:(lia)). lra. }
  lra.
Qed.

(** The sum of 1/sqrt t is at most 2 sqrt T - 1. *)
Lemma sum_inverse_roots : forall T, (1 <= T)%nat ->
  Σ t ≤ T, (1 / sqrt (INR t)) <= 2 * sqrt (INR T) - 1.
Proof.
  intros T HT. destruct T as [|n]; [lia|]. clear HT. induction n as [|n IH].
  - simpl. rewrite sqrt_1. lra.
  - rewrite Sum_S. eapply Rle_trans; [apply Rplus_le_compat_r, IH|].
    set (a := sqrt (INR (Datatypes.S n))). set (b := sqrt (INR (Datatypes.S (Datatypes.S n)))).
    assert (Ha : 0 <= a) by apply sqrt_pos.
    assert (Hb : 0 < b) by (apply sqrt_lt_R0, INR_pos; lia).
    assert (Haa : a * a = INR (Datatypes.S n)) by (apply sqrt_sqrt, pos_INR).
    assert (Hbb : b * b = INR (Datatypes.S (Datatypes.S n))) by (apply sqrt_sqrt, pos_INR).
    rewrite (S_INR (Datatypes.S n)) in Hbb.
    assert (1 / b <= 2 * b - 2 * a); [|lra].
    apply (Rmult_le_reg_r b); [exact Hb|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra.
Qed.

(** The schedule σ/sqrt t. *)
Definition root_step (sigma : R) (t : nat) : R := sigma / sqrt (INR t).

Lemma root_step_pos : forall sigma t, 0 < sigma -> (1 <= t)%nat -> 0 < root_step sigma t.
Proof. intros. apply Rdiv_lt_0_compat; [assumption|]. apply sqrt_lt_R0, INR_pos; auto. Qed.

Lemma root_step_dec : forall sigma t, 0 < sigma -> (1 <= t)%nat ->
  root_step sigma (t + 1) <= root_step sigma t.
Proof.
  intros. unfold root_step. apply Rmult_le_compat_l; [lra|].
  apply Rinv_le_contravar; [apply sqrt_lt_R0, INR_pos; auto|].
  apply sqrt_le_1_alt, le_INR. lia.
Qed.

Lemma root_step_sum : forall (E : Space) (z : nat -> E) sigma rho T, 0 < sigma -> (1 <= T)%nat ->
  (forall t, (1 <= t <= T)%nat -> norm (z t) <= rho) ->
  1 / 2 * (Σ t ≤ T, (root_step sigma t * norm (z t) ^ 2)) <= sigma * rho ^ 2 * (sqrt (INR T) - 1 / 2).
Proof.
  intros E z sigma rho T Hs HT Hr.
  apply Rle_trans with (1 / 2 * (sigma * rho ^ 2 * (Σ t ≤ T, (1 / sqrt (INR t))))).
  - apply Rmult_le_compat_l; [lra|]. rewrite <- Sum_scale. apply Sum_le. intros t Ht.
    replace (sigma * rho ^ 2 * (1 / sqrt (INR t))) with (root_step sigma t * rho ^ 2)
      by (unfold root_step, Rdiv; ring).
    apply Rmult_le_compat_l; [left; apply root_step_pos; [auto|lia]|].
    apply pow_incr. split; [apply norm_nonneg | auto].
  - pose proof (sum_inverse_roots T HT).
    assert (0 <= sigma * rho ^ 2) by (apply Rmult_le_pos; [lra | apply pow2_ge_0]). nra.
Qed.

Lemma root_step_first : forall D sigma T, 0 < sigma -> (1 <= T)%nat ->
  D ^ 2 / (2 * root_step sigma T) = D ^ 2 / (2 * sigma) * sqrt (INR T).
Proof.
  intros. unfold root_step. assert (0 < sqrt (INR T)) by (apply sqrt_lt_R0, INR_pos; auto).
  field. lra.
Qed.

(** With ‖z_t‖ <= rho and η_t = σ/sqrt t: D²/(2σ) sqrt T + σ rho² (sqrt T - ½). *)
Theorem zinkevich_fixed_roots : forall (E : Space) (S : E -> Prop) (D rho sigma : R)
    (f : nat -> E -> R) (z w : nat -> E) (T : nat) (u : E),
  convex_set S ->
  diameter_at_most S D ->
  0 < sigma ->
  eager_descent S (root_step sigma) z w ->
  (forall t, (1 <= t <= T)%nat -> subgradient S (f t) (w t) (z t)) ->
  (forall t, (1 <= t <= T)%nat -> norm (z t) <= rho) ->
  S u ->
  (1 <= T)%nat ->
  Σ t ≤ T, (f t (w t) - f t u)
    <= D ^ 2 / (2 * sigma) * sqrt (INR T) + sigma * rho ^ 2 * (sqrt (INR T) - 1 / 2).
Proof.
  intros E S D rho sigma f z w T u HS HD Hs Hw Hz Hr Hu HT.
  eapply Rle_trans; [apply (zinkevich_fixed E S D (root_step sigma) f z w T u); auto|].
  - intros; apply root_step_pos; auto.
  - intros; apply root_step_dec; auto.
  - rewrite (root_step_first D sigma T) by auto. apply Rplus_le_compat_l, root_step_sum; auto.
Qed.

(** For σ = 1, as the lecture has it: (D²/2 + rho²) sqrt T. *)
Corollary zinkevich_fixed_lecture : forall (E : Space) (S : E -> Prop) (D rho : R)
    (f : nat -> E -> R) (z w : nat -> E) (T : nat) (u : E),
  convex_set S ->
  diameter_at_most S D ->
  eager_descent S (root_step 1) z w ->
  (forall t, (1 <= t <= T)%nat -> subgradient S (f t) (w t) (z t)) ->
  (forall t, (1 <= t <= T)%nat -> norm (z t) <= rho) ->
  S u ->
  (1 <= T)%nat ->
  Σ t ≤ T, (f t (w t) - f t u) <= (D ^ 2 / 2 + rho ^ 2) * sqrt (INR T).
Proof.
  intros. eapply Rle_trans; [eapply (zinkevich_fixed_roots E S D rho 1); eauto; lra|].
  pose proof (pow2_ge_0 rho). lra.
Qed.

(** For the best σ = D/(sqrt 2 rho): D rho sqrt(2T). *)
Corollary zinkevich_fixed_tuned : forall (E : Space) (S : E -> Prop) (D rho : R)
    (f : nat -> E -> R) (z w : nat -> E) (T : nat) (u : E),
  convex_set S ->
  diameter_at_most S D ->
  0 < D -> 0 < rho ->
  eager_descent S (root_step (D / (sqrt 2 * rho))) z w ->
  (forall t, (1 <= t <= T)%nat -> subgradient S (f t) (w t) (z t)) ->
  (forall t, (1 <= t <= T)%nat -> norm (z t) <= rho) ->
  S u ->
  (1 <= T)%nat ->
  Σ t ≤ T, (f t (w t) - f t u) <= D * rho * sqrt (2 * INR T).
Proof.
  intros E S D rho f z w T u HS HD HDp Hrp Hw Hz Hr Hu HT.
  assert (H2 : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  assert (H22 : sqrt 2 * sqrt 2 = 2) by (apply sqrt_sqrt; lra).
  assert (Hs : 0 < D / (sqrt 2 * rho)) by (apply Rdiv_lt_0_compat; nra).
  eapply Rle_trans; [eapply (zinkevich_fixed_roots E S D rho (D / (sqrt 2 * rho))); eauto|].
  rewrite sqrt_mult_alt by lra.
  assert (Ht := sqrt_pos (INR T)). set (q := sqrt (INR T)) in *.
  replace (D ^ 2 / (2 * (D / (sqrt 2 * rho))) * q) with (D * rho * sqrt 2 * q / 2)
    by (field; lra).
  replace (D / (sqrt 2 * rho) * rho ^ 2 * (q - 1 / 2)) with (D * rho * (sqrt 2 * sqrt 2) / (2 * sqrt 2) * (q - 1 / 2))
    by (rewrite H22; field; lra).
  replace (D * rho * (sqrt 2 * sqrt 2) / (2 * sqrt 2)) with (D * rho * sqrt 2 / 2) by (field; lra).
  assert (0 <= D * rho * sqrt 2) by (left; repeat apply Rmult_lt_0_compat; auto). nra.
Qed.

(** ** Moving comparators *)

(** The length of the path u_1, ..., u_T. *)
Definition path_length {E : Space} (u : nat -> E) (T : nat) : R :=
  Σ t ≤ (T - 1)%nat, norm (u (t + 1)%nat - u t).

Lemma path_length_nonneg : forall (E : Space) (u : nat -> E) T, 0 <= path_length u T.
Proof. intros. apply Sum_nonneg. intros. apply norm_nonneg. Qed.

(** Σ_{t<=n} (sqrt t/2)(q_{t+1} - q_t) is at most (sqrt n/2) times the last q, for q >= 0. *)
Lemma abel_roots : forall (q : nat -> R) n,
  (forall t, (1 <= t)%nat -> 0 <= q t) ->
  Σ t ≤ n, (sqrt (INR t) * (q (t + 1)%nat - q t)) <= sqrt (INR n) * q (n + 1)%nat.
Proof.
  intros q n Hq. induction n as [|n IH].
  - simpl. rewrite sqrt_0. lra.
  - rewrite Sum_S. assert (sqrt (INR n) <= sqrt (INR (Datatypes.S n))) by (apply sqrt_le_1_alt, le_INR; lia).
    specialize (Hq (n + 1)%nat ltac:(lia)). replace (Datatypes.S n) with (n + 1)%nat in * by lia. nra.
Qed.

(** ** Theorem 4.1.3, sharpened (zin4.thm4.1.3.sharp)

    - [S]: convex, diameter at most D, inside a ball of radius Rad around some c
      (the circumradius is the least such Rad);
    - steps 1/sqrt t; ‖z_t‖ <= rho; u_1, ..., u_T: any path in S, of length L. *)
Theorem theorem_4_1_3_sharp : forall (E : Space) (S : E -> Prop) (D Rad rho : R) (c : E)
    (f : nat -> E -> R) (z w u : nat -> E) (T : nat),
  convex_set S ->
  diameter_at_most S D ->
  (forall s, S s -> norm (s - c) <= Rad) ->
  eager_descent S (root_step 1) z w ->
  (forall t, (1 <= t <= T)%nat -> S (u t)) ->
  (forall t, (1 <= t <= T)%nat -> subgradient S (f t) (w t) (z t)) ->
  (forall t, (1 <= t <= T)%nat -> norm (z t) <= rho) ->
  (1 <= T)%nat ->
  let L := path_length u T in
  Σ t ≤ T, (f t (w t) - f t (u t))
    <= D ^ 2 / 2 * sqrt (INR T) + rho ^ 2 * (sqrt (INR T) - 1 / 2)
       + sqrt (INR T - 1) * Rmin (D * L) (Rad * L + Rad ^ 2 / 2).
Proof.
  intros E S D Rad rho c f z w u T HS HD HR Hw Hu Hz Hr HT L.
  apply Rle_trans with (Σ t ≤ T, ⟨z t, w t - u t⟩).
  { apply Sum_le. intros t Ht. specialize (Hz t Ht (u t) (Hu t ltac:(lia))). products. lra. }
  destruct T as [|n]; [lia|].
  assert (K := zinkevich_core E S D (root_step 1) z w u n HS HD
    ltac:(intros; apply root_step_pos; auto; lra) ltac:(intros; apply root_step_dec; auto; lra) Hw
    ltac:(intros; apply Hu; lia)).
  replace (n + 1)%nat with (Datatypes.S n) in K by lia.
  assert (K1 := root_step_sum E z 1 rho (Datatypes.S n) ltac:(lra) ltac:(lia) Hr).
  rewrite (root_step_first D 1 (Datatypes.S n)) in K by (auto; lra).
  assert (K2 : 0 <= norm (w (n + 2)%nat - u (Datatypes.S n)) ^ 2 / (2 * root_step 1 (Datatypes.S n))).
  { apply Rmult_le_pos; [apply pow2_ge_0|]. left. apply Rinv_0_lt_compat.
    pose proof (root_step_pos 1 (Datatypes.S n) ltac:(lra) ltac:(lia)). lra. }
  assert (HL : L = Σ t ≤ n, norm (u (t + 1)%nat - u t)).
  { unfold L, path_length. replace (Datatypes.S n - 1)%nat with n by lia. reflexivity. }
  replace (INR (Datatypes.S n) - 1) with (INR n) by (rewrite S_INR; ring).
  set (drift := Σ t ≤ n, ((norm (w (t + 1)%nat - u (t + 1)%nat) ^ 2 - norm (w (t + 1)%nat - u t) ^ 2)
                          / (2 * root_step 1 t))) in *.
  assert (Hin : forall t, (1 <= t)%nat -> S (w t)) by (intros; eapply eager_in; eauto).
  assert (Roots : forall t x, (1 <= t)%nat -> x / (2 * root_step 1 t) = sqrt (INR t) / 2 * x).
  { intros t x Ht. assert (0 < sqrt (INR t)) by (apply sqrt_lt_R0, INR_pos; auto).
    unfold root_step. field. lra. }
  assert (Hroot : forall t, (1 <= t <= n)%nat -> 0 <= sqrt (INR t) <= sqrt (INR n)).
  { intros. split; [apply sqrt_pos | apply sqrt_le_1_alt, le_INR; lia]. }
  assert (A : drift <= sqrt (INR n) * (D * L)).
  { unfold drift. rewrite HL, <- !Sum_scale. apply Sum_le. intros t Ht. rewrite Roots by lia.
    set (p := w (t + 1)%nat). set (v := u t). set (v' := u (t + 1)%nat).
    assert (Hp : S p) by (apply Hin; lia).
    assert (Hv : S v) by (apply Hu; lia). assert (Hv' : S v') by (apply Hu; lia).
    assert (T1 := triangle_sub p v v'). rewrite (norm_sub_sym v v') in T1.
    assert (D1 := HD p v Hp Hv). assert (D2 := HD p v' Hp Hv').
    assert (N1 := norm_nonneg (p - v)). assert (N2 := norm_nonneg (p - v')). assert (N3 := norm_nonneg (v' - v)).
    assert (norm (p - v') ^ 2 - norm (p - v) ^ 2 <= 2 * (D * norm (v' - v))) by nra.
    specialize (Hroot t Ht).
    apply Rle_trans with (sqrt (INR t) * (D * norm (v' - v))); [nra|].
    apply Rmult_le_compat_r; [|lra]. apply Rmult_le_pos; lra. }
  assert (B : drift <= sqrt (INR n) * (Rad * L + Rad ^ 2 / 2)).
  { apply Rle_trans with (Σ t ≤ n, (sqrt (INR n) * (Rad * norm (u (t + 1)%nat - u t))
       + 1 / 2 * (sqrt (INR t) * (norm (u (t + 1)%nat - c) ^ 2 - norm (u t - c) ^ 2)))).
    - apply Sum_le. intros t Ht. rewrite Roots by lia.
      set (p := w (t + 1)%nat). set (v := u t). set (v' := u (t + 1)%nat).
      assert (Hp : norm (p - c) <= Rad) by (apply HR, Hin; lia).
      assert (C := cauchy_schwarz (c - p) (v' - v)). rewrite (norm_sub_sym c p) in C.
      assert (N := norm_nonneg (v' - v)). assert (N' := norm_nonneg (p - c)).
      assert (norm (p - c) * norm (v' - v) <= Rad * norm (v' - v)) by (apply Rmult_le_compat_r; auto).
      assert (Id : norm (p - v') ^ 2 - norm (p - v) ^ 2
        = 2 * ⟨c - p, v' - v⟩ + (norm (v' - c) ^ 2 - norm (v - c) ^ 2)).
      { clear. rewrite !norm_square. products. ring. }
      rewrite Id. specialize (Hroot t Ht).
      assert (sqrt (INR t) * ⟨c - p, v' - v⟩ <= sqrt (INR n) * (Rad * norm (v' - v))).
      { apply Rle_trans with (sqrt (INR t) * (Rad * norm (v' - v))).
        - apply Rmult_le_compat_l; lra.
        - apply Rmult_le_compat_r; [|lra]. apply Rmult_le_pos; lra. }
      lra.
    - rewrite Sum_plus, !Sum_scale, <- HL.
      assert (Ab := abel_roots (fun t => norm (u t - c) ^ 2) n ltac:(intros; apply pow2_ge_0)). cbv beta in Ab.
      assert (norm (u (n + 1)%nat - c) ^ 2 <= Rad ^ 2).
      { apply pow_incr. split; [apply norm_nonneg | apply HR, Hu; lia]. }
      pose proof (sqrt_pos (INR n)). nra. }
  assert (C : drift <= sqrt (INR n) * Rmin (D * L) (Rad * L + Rad ^ 2 / 2)).
  { unfold Rmin. destruct (Rle_dec _ _); assumption. }
  lra.
Qed.

(** ** Theorem 4.1.3 of Lecture 4 (zin4.thm4.1.3): (D²/2 + rho² + 2 D L) sqrt T *)
Theorem theorem_4_1_3 : forall (E : Space) (S : E -> Prop) (D rho : R)
    (f : nat -> E -> R) (z w u : nat -> E) (T : nat),
  convex_set S ->
  diameter_at_most S D ->
  eager_descent S (root_step 1) z w ->
  (forall t, (1 <= t <= T)%nat -> S (u t)) ->
  (forall t, (1 <= t <= T)%nat -> subgradient S (f t) (w t) (z t)) ->
  (forall t, (1 <= t <= T)%nat -> norm (z t) <= rho) ->
  (1 <= T)%nat ->
  Σ t ≤ T, (f t (w t) - f t (u t))
    <= (D ^ 2 / 2 + rho ^ 2 + 2 * D * path_length u T) * sqrt (INR T).
Proof.
  intros E S D rho f z w u T HS HD Hw Hu Hz Hr HT.
  eapply Rle_trans.
  { apply (theorem_4_1_3_sharp E S D D rho (w 1%nat) f z w u T); auto.
    intros s Hs. apply HD; [exact Hs | exact (proj1 Hw)]. }
  cbv zeta.
  assert (0 <= D) by (eapply Rle_trans; [apply (norm_nonneg (w 1%nat - w 1%nat)) | exact (HD _ _ (proj1 Hw) (proj1 Hw))]).
  assert (HL := path_length_nonneg E u T).
  assert (sqrt (INR T - 1) <= sqrt (INR T)) by (apply sqrt_le_1_alt; lra).
  pose proof (sqrt_pos (INR T - 1)). pose proof (pow2_ge_0 rho).
  assert (Hm := Rmin_l (D * path_length u T) (D * path_length u T + D ^ 2 / 2)).
  assert (0 <= D * path_length u T) by (apply Rmult_le_pos; auto).
  set (m := Rmin _ _) in *.
  assert (sqrt (INR T - 1) * m <= sqrt (INR T) * (D * path_length u T)); [|nra].
  apply Rle_trans with (sqrt (INR T - 1) * (D * path_length u T)); nra.
Qed.

(** ** Lazy descent with a step for every horizon (lazy-anytime)

    w_1 = 0, and w_{t+1} is the projection of -η_t (z_1 + ... + z_t). *)
Definition lazy_anytime {E : Space} (S : E -> Prop) (eta : nat -> R) (z w : nat -> E) : Prop :=
  w 1%nat = zero /\ forall t, (1 <= t)%nat -> projection S (- eta t · VSum t z)%V (w (t + 1)%nat).

(** - [S]: convex, contains 0, and ‖s‖ <= B for all s in S; B, rho > 0;
    - [z t]: a subgradient of f_t at w_t, of length at most rho;
    - steps B/(rho sqrt(2t)), which need no horizon.
    After every T >= 1 the regret is at most B rho sqrt(2T). *)
Theorem lazy_anytime_bound : forall (E : Space) (S : E -> Prop) (B rho : R)
    (f : nat -> E -> R) (z w : nat -> E) (T : nat) (u : E),
  convex_set S ->
  S zero ->
  (forall s, S s -> norm s <= B) ->
  0 < B -> 0 < rho ->
  lazy_anytime S (fun t => B / (rho * sqrt (2 * INR t))) z w ->
  (forall t, (1 <= t <= T)%nat -> subgradient S (f t) (w t) (z t)) ->
  (forall t, (1 <= t <= T)%nat -> norm (z t) <= rho) ->
  S u ->
  (1 <= T)%nat ->
  Σ t ≤ T, (f t (w t) - f t u) <= B * rho * sqrt (2 * INR T).
Proof.
  intros E S B rho f z w T u HS H0 HB HBp Hrp [Hw1 Hw] Hz Hrho Hu HT.
  eapply Rle_trans; [apply (convex_to_linear E S f w z); auto|]. clear Hz f.
  assert (H2 : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  assert (H22 : sqrt 2 * sqrt 2 = 2) by (apply sqrt_sqrt; lra).
  set (sigma := B / (rho * sqrt 2)).
  assert (Hs : 0 < sigma) by (apply Rdiv_lt_0_compat; [assumption | apply Rmult_lt_0_compat; assumption]).
  (* the step of round t; before the first loss that of round 1 *)
  set (e := fun t => root_step sigma (Nat.max 1 t)).
  assert (Heta : forall t, (1 <= t)%nat -> B / (rho * sqrt (2 * INR t)) = e t).
  { intros t Ht. unfold e, root_step, sigma. replace (Nat.max 1 t) with t by lia.
    rewrite sqrt_mult_alt by lra. assert (0 < sqrt (INR t)) by (apply sqrt_lt_R0, INR_pos, Ht). field. lra. }
  assert (Hep : forall t, 0 < e t) by (intros; apply root_step_pos; [assumption | lia]).
  assert (Hed : forall t, / e t <= / e (t + 1)%nat).
  { intros t. apply Rinv_le_contravar; [apply Hep|]. unfold e. destruct t as [|t]; [simpl; lra|].
    replace (Nat.max 1 (Datatypes.S t + 1)) with (Datatypes.S t + 1)%nat by lia.
    replace (Nat.max 1 (Datatypes.S t)) with (Datatypes.S t) by lia. apply root_step_dec; [assumption | lia]. }
  assert (Hin : forall t, S (w (t + 1)%nat)).
  { intros [|t]; [simpl; rewrite Hw1; exact H0 | apply (Hw (Datatypes.S t)); lia]. }
  assert (Three : forall n s, S s ->
    2 * ⟨VSum n z, w (n + 1)%nat⟩ + ⟨w (n + 1)%nat, w (n + 1)%nat⟩ * / e n
      + ⟨s - w (n + 1)%nat, s - w (n + 1)%nat⟩ * / e n <= 2 * ⟨VSum n z, s⟩ + ⟨s, s⟩ * / e n).
  { intros n s Hsin. destruct n as [|n].
    - simpl (0 + 1)%nat. rewrite Hw1. simpl VSum. products. lra.
    - assert (K := three_points E S (e (Datatypes.S n)) (VSum (Datatypes.S n) z) (w (Datatypes.S n + 1)%nat) s HS
        (Hep _) ltac:(rewrite <- Heta by lia; apply Hw; lia) Hsin).
      assert (P := Hep (Datatypes.S n)).
      set (Z := VSum (Datatypes.S n) z) in *. set (p := w (Datatypes.S n + 1)%nat) in *. set (h := e (Datatypes.S n)) in *.
      apply (Rmult_le_reg_r h); [exact P|].
      replace ((2 * ⟨Z, p⟩ + ⟨p, p⟩ * / h + ⟨s - p, s - p⟩ * / h) * h) with (2 * h * ⟨Z, p⟩ + ⟨p, p⟩ + ⟨s - p, s - p⟩) by (field; lra).
      replace ((2 * ⟨Z, s⟩ + ⟨s, s⟩ * / h) * h) with (2 * h * ⟨Z, s⟩ + ⟨s, s⟩) by (field; lra). exact K. }
  assert (Claim : forall n s, S s ->
    2 * (Σ t ≤ n, ⟨z t, w t⟩) <= 2 * ⟨VSum n z, s⟩ + ⟨s, s⟩ * / e n + Σ t ≤ n, (e (t - 1)%nat * ⟨z t, z t⟩)).
  { induction n as [|n IH]; intros s Hsin.
    - simpl. rewrite inner_zero. assert (0 <= ⟨s, s⟩ * / e 0%nat); [|lra].
      apply Rmult_le_pos; [apply inner_nonneg | left; apply Rinv_0_lt_compat, Hep].
    - assert (IHw := IH _ (Hin n)). assert (T3 := Three n s Hsin).
      rewrite !Sum_S. cbn [VSum]. replace (Datatypes.S n - 1)%nat with n by lia.
      replace (n + 1)%nat with (Datatypes.S n) in * by lia.
      set (p := w (Datatypes.S n)) in *. set (v := z (Datatypes.S n)) in *.
      assert (Y := young v (p - s) (e n) (Hep n)). unfold Rdiv in Y.
      assert (D := Hed n). replace (n + 1)%nat with (Datatypes.S n) in D by lia.
      assert (N := inner_nonneg _ s).
      assert (⟨s, s⟩ * / e n <= ⟨s, s⟩ * / e (Datatypes.S n)) by (apply Rmult_le_compat_l; assumption).
      replace ⟨p - s, p - s⟩ with ⟨s - p, s - p⟩ in Y by (products; ring).
      rewrite inner_sub_r in Y. rewrite inner_add. lra. }
  specialize (Claim T u Hu).
  rewrite (Sum_ext T (fun t => ⟨z t, w t - u⟩) (fun t => ⟨z t, w t⟩ - ⟨z t, u⟩)) by (intros; apply inner_sub_r).
  rewrite Sum_minus, <- inner_VSum.
  assert (HTp : 0 < sqrt (INR T)) by (apply sqrt_lt_R0, INR_pos, HT).
  assert (Noise : Σ t ≤ T, (e (t - 1)%nat * ⟨z t, z t⟩) <= rho ^ 2 * (2 * sigma * sqrt (INR T))).
  { apply Rle_trans with (rho ^ 2 * Σ t ≤ T, e (t - 1)%nat).
    - rewrite <- Sum_scale. apply Sum_le. intros t Ht. assert (K := norm_le _ _ (Hrho t Ht)).
      assert (P := Hep (t - 1)%nat). nra.
    - apply Rmult_le_compat_l; [apply pow2_ge_0|].
      assert (Steps : forall n, Σ t ≤ (n + 1)%nat, e (t - 1)%nat = sigma * (1 + Σ t ≤ n, (1 / sqrt (INR t)))).
      { induction n as [|n IHn].
        - simpl. unfold e, root_step. simpl. rewrite sqrt_1. field.
        - replace (Datatypes.S n + 1)%nat with (Datatypes.S (n + 1)) by lia. rewrite !Sum_S, IHn.
          replace (Datatypes.S (n + 1) - 1)%nat with (Datatypes.S n) by lia.
          unfold e, root_step. replace (Nat.max 1 (Datatypes.S n)) with (Datatypes.S n) by lia. unfold Rdiv. ring. }
      destruct T as [|n]; [lia|]. replace (Datatypes.S n) with (n + 1)%nat by lia. rewrite Steps.
      destruct n as [|n].
      + simpl. rewrite sqrt_1. lra.
      + assert (K := sum_inverse_roots (Datatypes.S n) ltac:(lia)).
        assert (sqrt (INR (Datatypes.S n)) <= sqrt (INR (Datatypes.S n + 1))) by (apply sqrt_le_1_alt, le_INR; lia).
        nra. }
  assert (Uu := norm_le _ _ (HB u Hu)).
  assert (Last : ⟨u, u⟩ * / e T <= B ^ 2 * / e T) by (apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, Hep | exact Uu]).
  assert (Inv : B ^ 2 * / e T = B * rho * sqrt 2 * sqrt (INR T)).
  { unfold e, root_step, sigma. replace (Nat.max 1 T) with T by lia. field. lra. }
  assert (Two : rho ^ 2 * (2 * sigma * sqrt (INR T)) = B * rho * sqrt 2 * sqrt (INR T)).
  { unfold sigma. replace (rho ^ 2 * (2 * (B / (rho * sqrt 2)) * sqrt (INR T)))
      with (B * rho * (2 / sqrt 2) * sqrt (INR T)) by (field; lra).
    rewrite <- H22 at 1. replace (sqrt 2 * sqrt 2 / sqrt 2) with (sqrt 2) by (field; lra). reflexivity. }
  rewrite sqrt_mult_alt by lra. lra.
Qed.
