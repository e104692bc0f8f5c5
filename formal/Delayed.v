(** * Delayed: descent with gradients that are τ rounds old (Lecture 4, section 4.3) *)

From Coq Require Import Reals Lra Psatz Lia.
From Formal Require Import Space Descent Zinkevich Logarithmic.
Open Scope R_scope.

(** w_1 is held until the first gradient arrives; after round t > τ the gradient of round
    t - τ is used, with step η_t. *)
Definition delayed_descent {E : Space} (S : E -> Prop) (tau : nat) (eta : nat -> R) (z w : nat -> E) : Prop :=
  S (w 1%nat) /\
  (forall t, (1 <= t <= tau + 1)%nat -> w t = w 1%nat) /\
  (forall t, (tau < t)%nat -> projection S (w t - eta t · z (t - tau)%nat)%V (w (t + 1)%nat)).

Section Delayed.
Variables (E : Space) (S : E -> Prop) (tau : nat) (eta : nat -> R) (z w : nat -> E) (D rho : R).
Hypothesis HS : convex_set S.
Hypothesis HD : diameter_at_most S D.
Hypothesis Hw : delayed_descent S tau eta z w.
Hypothesis Hpos : forall t, (tau < t)%nat -> 0 < eta t.
Variable T : nat.
Hypothesis Hrho : forall t, (1 <= t <= T)%nat -> norm (z t) <= rho.

(** Where the gradient of round s finds the player, and the step on it. *)
Let v (s : nat) : E := w (s + tau)%nat.
Let alpha (s : nat) : R := eta (s + tau)%nat.

Lemma arrivals : eager_descent S alpha z v.
Proof.
  destruct Hw as (H1 & Hhold & Hstep). split.
  - unfold v. rewrite Hhold by lia. exact H1.
  - intros t Ht. unfold v, alpha. assert (K := Hstep (t + tau)%nat ltac:(lia)).
    replace (t + tau - tau)%nat with t in K by lia.
    replace (t + 1 + tau)%nat with (t + tau + 1)%nat by lia. exact K.
Qed.

Lemma plays_in : forall t, (1 <= t)%nat -> S (w t).
Proof.
  intros t Ht. destruct (Nat.le_gt_cases t (tau + 1)) as [Hl | Hg].
  - destruct Hw as (H1 & Hhold & _). rewrite Hhold by lia. exact H1.
  - replace t with (t - tau + tau)%nat by lia. apply (eager_in E S alpha z v); [apply arrivals | lia].
Qed.

(** All steps up to the n-th. *)
Let P (n : nat) : R := Σ j ≤ n, alpha j.

Lemma P_mono : forall m n, (m <= n)%nat -> P m <= P n.
Proof.
  intros m n H. induction H as [|n H IH]; [lra|]. unfold P in *. rewrite Sum_S.
  assert (0 < alpha (Datatypes.S n)) by (apply Hpos; lia). lra.
Qed.

Lemma P_nonneg : forall n, 0 <= P n.
Proof. intros n. apply (P_mono 0 n). lia. Qed.

Lemma rho_nonneg : (1 <= T)%nat -> 0 <= rho.
Proof. intros HT. exact (Rle_trans _ _ _ (norm_nonneg _) (Hrho 1%nat ltac:(lia))). Qed.

(** No projected step is longer than the step. *)
Lemma moves : forall j k, (1 <= j)%nat -> (j + k <= T + 1)%nat ->
  norm (v (j + k)%nat - v j) <= rho * (P (j + k - 1) - P (j - 1)).
Proof.
  intros j k Hj. induction k as [|k IH]; intros Hk.
  - replace (j + 0)%nat with j by lia.
    replace (norm (v j - v j)) with 0; [lra|].
    symmetry. unfold norm. replace ⟨v j - v j, v j - v j⟩ with 0 by (products; ring). apply sqrt_0.
  - specialize (IH ltac:(lia)). set (s := (j + k)%nat) in *.
    replace (j + Datatypes.S k)%nat with (s + 1)%nat by (unfold s; lia).
    assert (Step : norm (v (s + 1)%nat - v s) <= alpha s * rho).
    { assert (Hin : S (v s)) by (apply (eager_in E S alpha z v); [apply arrivals | unfold s; lia]).
      assert (K := projection_no_farther S _ _ (v s) HS (proj2 arrivals s ltac:(unfold s; lia)) Hin).
      eapply Rle_trans; [exact K|].
      assert (Ha : 0 < alpha s) by (apply Hpos; unfold s; lia).
      replace (norm (v s - alpha s · z s - v s)%V) with (norm (alpha s · z s)%V)
        by (unfold norm; f_equal; products; ring).
      rewrite norm_scale by lra. apply Rmult_le_compat_l; [lra | apply Hrho; unfold s; lia]. }
    assert (Tri := triangle_sub (v (s + 1)%nat) (v s) (v j)).
    assert (HP : P (s + 1 - 1) = P (s - 1) + alpha s).
    { unfold P. replace (s + 1 - 1)%nat with (Datatypes.S (s - 1)) by (unfold s; lia). rewrite Sum_S.
      replace (Datatypes.S (s - 1)) with s by (unfold s; lia). reflexivity. }
    rewrite HP. lra.
Qed.

Lemma lateness : forall s, (1 <= s <= T)%nat ->
  ⟨z s, w s - v s⟩ <= rho ^ 2 * (P (s - 1) - P (s - 1 - tau)).
Proof.
  intros s Hs. assert (Hr := rho_nonneg ltac:(lia)).
  assert (Dist : norm (w s - v s) <= rho * (P (s - 1) - P (s - 1 - tau))).
  { rewrite norm_sub_sym. destruct (Nat.le_gt_cases s (tau + 1)) as [Hl | Hg].
    - destruct Hw as (_ & Hhold & _). rewrite (Hhold s) by lia.
      rewrite <- (Hhold (1 + tau)%nat) by lia. fold (v 1%nat).
      assert (K := moves 1 (s - 1) ltac:(lia) ltac:(lia)).
      replace (1 + (s - 1))%nat with s in K by lia. replace (s - 1 - tau)%nat with 0%nat by lia. exact K.
    - replace (w s) with (v (s - tau)%nat) by (unfold v; f_equal; lia).
      assert (K := moves (s - tau) tau ltac:(lia) ltac:(lia)).
      replace (s - tau + tau)%nat with s in K by lia.
      replace (s - 1 - tau)%nat with (s - tau - 1)%nat by lia. exact K. }
  assert (C := cauchy_schwarz (z s) (w s - v s)). assert (Hz := Hrho s Hs).
  assert (N := norm_nonneg (w s - v s)).
  apply Rle_trans with (rho * norm (w s - v s)); [nra|]. simpl. nra.
Qed.

Lemma late_total : Σ s ≤ T, (P (s - 1) - P (s - 1 - tau)) <= INR tau * P T.
Proof.
  assert (Shift : forall k n, Σ s ≤ n, (P (s - 1 - k) - P (s - 1 - (k + 1))) = P (n - 1 - k)).
  { intros k n. induction n as [|n IH]; [reflexivity|]. rewrite Sum_S, IH.
    replace (Datatypes.S n - 1 - (k + 1))%nat with (n - 1 - k)%nat by lia. ring. }
  assert (Gen : forall k, Σ s ≤ T, (P (s - 1) - P (s - 1 - k)) <= INR k * P T).
  { induction k as [|k IH].
    - rewrite (Sum_ext T _ (fun _ => 0)); [rewrite Sum_const; simpl; lra|].
      intros s _. replace (s - 1 - 0)%nat with (s - 1)%nat by lia. ring.
    - rewrite (Sum_ext T _ (fun s => (P (s - 1) - P (s - 1 - k)) + (P (s - 1 - k) - P (s - 1 - (k + 1))))).
      + rewrite Sum_plus, Shift, S_INR. assert (P (T - 1 - k) <= P T) by (apply P_mono; lia). lra.
      + intros s _. replace (Datatypes.S k) with (k + 1)%nat by lia. ring. }
  apply Gen.
Qed.

(** The late part of the regret, Σ ⟨z_s, w_s - v_s⟩. *)
Lemma late_part : Σ s ≤ T, ⟨z s, w s - v s⟩ <= rho ^ 2 * INR tau * P T.
Proof.
  eapply Rle_trans; [apply Sum_le, lateness|]. rewrite Sum_scale, Rmult_assoc.
  apply Rmult_le_compat_l; [apply pow2_ge_0 | apply late_total].
Qed.

Lemma noise : 1 / 2 * (Σ s ≤ T, (alpha s * norm (z s) ^ 2)) <= 1 / 2 * (rho ^ 2 * P T).
Proof.
  apply Rmult_le_compat_l; [lra|]. unfold P. rewrite <- Sum_scale. apply Sum_le. intros s Hs.
  assert (0 < alpha s) by (apply Hpos; lia).
  assert (norm (z s) ^ 2 <= rho ^ 2) by (apply pow_incr; split; [apply norm_nonneg | auto]). nra.
Qed.

Lemma split_late : forall u, Σ s ≤ T, ⟨z s, w s - u⟩ = Σ s ≤ T, ⟨z s, v s - u⟩ + Σ s ≤ T, ⟨z s, w s - v s⟩.
Proof. intros u. rewrite <- Sum_plus. apply Sum_ext. intros. products. ring. Qed.
End Delayed.

(** ** Delayed descent, convex losses (zin4.thm.delayed)

    - [S]: convex, diameter at most D; w_1 in S is held for rounds 1, ..., τ + 1;
    - steps σ/sqrt(t - τ) for t > τ, σ > 0; ‖z_t‖ <= rho. *)
Theorem delayed_convex : forall (E : Space) (S : E -> Prop) (tau : nat) (D rho sigma : R)
    (f : nat -> E -> R) (z w : nat -> E) (T : nat) (u : E),
  convex_set S ->
  diameter_at_most S D ->
  0 < sigma ->
  delayed_descent S tau (fun t => sigma / sqrt (INR (t - tau))) z w ->
  (forall t, (1 <= t <= T)%nat -> subgradient S (f t) (w t) (z t)) ->
  (forall t, (1 <= t <= T)%nat -> norm (z t) <= rho) ->
  S u ->
  (1 <= T)%nat ->
  Σ t ≤ T, (f t (w t) - f t u)
    <= D ^ 2 / (2 * sigma) * sqrt (INR T) + sigma * rho ^ 2 * (1 + 2 * INR tau) * sqrt (INR T).
Proof.
  intros E S tau D rho sigma f z w T u HS HD Hs Hw Hz Hr Hu HT.
  set (eta := fun t : nat => sigma / sqrt (INR (t - tau))) in *.
  assert (Hpos : forall t, (tau < t)%nat -> 0 < eta t).
  { intros t Ht. apply Rdiv_lt_0_compat; [exact Hs|]. apply sqrt_lt_R0, INR_pos. lia. }
  eapply Rle_trans; [apply (convex_to_linear E S f w z); auto|].
  rewrite (split_late E tau z w T u).
  assert (Late := late_part E S tau eta z w rho HS Hw Hpos T Hr).
  assert (Ar := arrivals E S tau eta z w Hw).
  assert (Alpha : forall s, eta (s + tau)%nat = root_step sigma s).
  { intros s. unfold eta, root_step. replace (s + tau - tau)%nat with s by lia. reflexivity. }
  assert (On : Σ s ≤ T, ⟨z s, w (s + tau)%nat - u⟩
     <= D ^ 2 / (2 * sigma) * sqrt (INR T) + sigma * rho ^ 2 * (sqrt (INR T) - 1 / 2)).
  { assert (Ar' : eager_descent S (root_step sigma) z (fun s => w (s + tau)%nat)).
    { destruct Ar as [A1 A2]. split; [exact A1|]. intros t Ht. rewrite <- Alpha. apply A2, Ht. }
    assert (K := zinkevich_fixed_roots E S D rho sigma (fun s x => ⟨z s, x⟩) z (fun s => w (s + tau)%nat) T u
      HS HD Hs Ar' ltac:(intros t _ x _; cbv beta; rewrite inner_sub_r; right; ring) Hr Hu HT).
    cbv beta in K. rewrite (Sum_ext T _ (fun s => ⟨z s, w (s + tau)%nat⟩ - ⟨z s, u⟩)) by (intros; apply inner_sub_r).
    exact K. }
  assert (Psum : Σ j ≤ T, eta (j + tau)%nat <= sigma * (2 * sqrt (INR T) - 1)).
  { rewrite (Sum_ext T _ (fun j => sigma * (1 / sqrt (INR j)))) by (intros; rewrite Alpha; unfold root_step, Rdiv; ring).
    rewrite Sum_scale. apply Rmult_le_compat_l; [lra | apply sum_inverse_roots, HT]. }
  assert (0 <= INR tau) by apply pos_INR. assert (0 <= rho ^ 2) by apply pow2_ge_0.
  assert (rho ^ 2 * INR tau * (Σ j ≤ T, eta (j + tau)%nat) <= rho ^ 2 * INR tau * (sigma * (2 * sqrt (INR T) - 1)))
    by (apply Rmult_le_compat_l; [apply Rmult_le_pos; auto | exact Psum]).
  assert (0 <= rho ^ 2 * INR tau * sigma) by (apply Rmult_le_pos; [apply Rmult_le_pos; auto | lra]).
  assert (0 <= rho ^ 2 * sigma) by (apply Rmult_le_pos; lra).
  lra.
Qed.

(** For σ = D/(rho sqrt(2 + 4τ)) that is D rho sqrt((2 + 4τ) T). *)
Theorem delayed_convex_tuned : forall (E : Space) (S : E -> Prop) (tau : nat) (D rho : R)
    (f : nat -> E -> R) (z w : nat -> E) (T : nat) (u : E),
  convex_set S ->
  diameter_at_most S D ->
  0 < D -> 0 < rho ->
  delayed_descent S tau (fun t => D / (rho * sqrt (2 + 4 * INR tau)) / sqrt (INR (t - tau))) z w ->
  (forall t, (1 <= t <= T)%nat -> subgradient S (f t) (w t) (z t)) ->
  (forall t, (1 <= t <= T)%nat -> norm (z t) <= rho) ->
  S u ->
  (1 <= T)%nat ->
  Σ t ≤ T, (f t (w t) - f t u) <= D * rho * sqrt ((2 + 4 * INR tau) * INR T).
Proof.
  intros E S tau D rho f z w T u HS HD HDp Hrp Hw Hz Hr Hu HT.
  assert (Ht := pos_INR tau). assert (HTp := pos_INR T).
  assert (Hc : 0 < sqrt (2 + 4 * INR tau)) by (apply sqrt_lt_R0; lra).
  assert (Hcc : sqrt (2 + 4 * INR tau) * sqrt (2 + 4 * INR tau) = 2 + 4 * INR tau) by (apply sqrt_sqrt; lra).
  assert (Hs : 0 < D / (rho * sqrt (2 + 4 * INR tau))) by (apply Rdiv_lt_0_compat; nra).
  eapply Rle_trans; [apply (delayed_convex E S tau D rho (D / (rho * sqrt (2 + 4 * INR tau))) f z w T u); auto|].
  rewrite sqrt_mult_alt by lra.
  set (c := sqrt (2 + 4 * INR tau)) in *. set (q := sqrt (INR T)).
  replace (1 + 2 * INR tau) with (c * c / 2) by (rewrite Hcc; field).
  right. field. lra.
Qed.

(** ** Delayed descent, strongly convex losses (zin4.thm.delayed-sc)

    The same with H-strongly convex losses and steps 1/(H (t - τ)). *)
Theorem delayed_strongly_convex : forall (E : Space) (S : E -> Prop) (tau : nat) (D rho H : R)
    (f : nat -> E -> R) (z w : nat -> E) (T : nat) (u : E),
  convex_set S ->
  diameter_at_most S D ->
  0 < H ->
  delayed_descent S tau (fun t => 1 / (H * INR (t - tau))) z w ->
  (forall t, (1 <= t <= T)%nat -> strong_subgradient S H (f t) (w t) (z t)) ->
  (forall t, (1 <= t <= T)%nat -> norm (z t) <= rho) ->
  S u ->
  (1 <= T)%nat ->
  Σ t ≤ T, (f t (w t) - f t u)
    <= H * INR tau * D ^ 2 / 2 + (1 / 2 + INR tau) * (rho ^ 2 / H) * (1 + ln (INR T)).
Proof.
  intros E S tau D rho H f z w T u HS HD HH Hw Hz Hr Hu HT.
  set (eta := fun t : nat => 1 / (H * INR (t - tau))) in *.
  assert (Hpos : forall t, (tau < t)%nat -> 0 < eta t).
  { intros t Ht. apply Rdiv_lt_0_compat; [lra|]. apply Rmult_lt_0_compat; [lra | apply INR_pos; lia]. }
  assert (Late := late_part E S tau eta z w rho HS Hw Hpos T Hr).
  assert (Noise := noise E tau eta z rho Hpos T Hr).
  assert (Ar := arrivals E S tau eta z w Hw).
  assert (Alpha : forall s, (1 <= s)%nat -> eta (s + tau)%nat = 1 / (H * INR s)).
  { intros s _. unfold eta. replace (s + tau - tau)%nat with s by lia. reflexivity. }
  set (b := fun t => norm (w t - u) ^ 2).
  assert (Hb : forall t, (1 <= t)%nat -> 0 <= b t <= D ^ 2).
  { intros t Ht. split; [apply pow2_ge_0|]. apply pow_incr. split; [apply norm_nonneg|].
    apply HD; [|exact Hu]. apply (plays_in E S tau eta z w Hw); auto. }
  (* strong convexity, round by round *)
  assert (A : Σ t ≤ T, (f t (w t) - f t u) <= Σ t ≤ T, (⟨z t, w t - u⟩ - H / 2 * b t)).
  { apply Sum_le. intros t Ht. specialize (Hz t Ht u Hu). unfold b.
    rewrite (norm_sub_sym u (w t)) in Hz. rewrite inner_sub_r in *. lra. }
  (* on time *)
  assert (B : Σ s ≤ T, ⟨z s, w (s + tau)%nat - u⟩
    <= H / 2 * (Σ s ≤ T, b (s + tau)%nat) - H * INR T / 2 * b (T + 1 + tau)%nat
       + 1 / 2 * (Σ s ≤ T, (eta (s + tau)%nat * norm (z s) ^ 2))).
  { clear - HS HH Ar Alpha Hu. induction T as [|T IH]; [simpl; lra|].
    rewrite !Sum_S, S_INR.
    assert (K := eager_step E S _ _ _ _ u HS (proj2 Ar (Datatypes.S T) ltac:(lia)) Hu). cbv beta in K.
    assert (Hm : 0 < INR (Datatypes.S T)) by (apply INR_pos; lia). assert (Hs := S_INR T).
    rewrite (Alpha (Datatypes.S T)) in * by lia. rewrite <- !norm_square in K.
    replace (Datatypes.S T + 1 + tau)%nat with (Datatypes.S (Datatypes.S T) + tau)%nat in * by lia.
    replace (T + 1 + tau)%nat with (Datatypes.S T + tau)%nat in * by lia.
    set (m := INR (Datatypes.S T)) in *.
    change (norm (w (Datatypes.S T + tau)%nat - u) ^ 2) with (b (Datatypes.S T + tau)%nat) in K.
    change (norm (w (Datatypes.S (Datatypes.S T) + tau)%nat - u) ^ 2) with (b (Datatypes.S (Datatypes.S T) + tau)%nat) in K.
    set (a := b (Datatypes.S T + tau)%nat) in *. set (a' := b (Datatypes.S (Datatypes.S T) + tau)%nat) in *.
    assert (C : ⟨z (Datatypes.S T), w (Datatypes.S T + tau)%nat - u⟩
       <= H * m / 2 * (a - a') + 1 / 2 * (1 / (H * m) * norm (z (Datatypes.S T)) ^ 2)).
    { apply (Rmult_le_reg_l (2 * (1 / (H * m)))).
      - assert (0 < 1 / (H * m)) by (apply Rdiv_lt_0_compat; nra). lra.
      - eapply Rle_trans; [exact K|]. right. field. lra. }
    replace (INR T + 1) with m by lra. replace (H * INR T / 2) with (H * m / 2 - H / 2) in IH by (rewrite Hs; field).
    lra. }
  (* all but τ of the squares cancel *)
  assert (Cn : forall k, Σ s ≤ T, (b (s + k)%nat - b s) <= INR k * D ^ 2).
  { induction k as [|k IH].
    - rewrite (Sum_ext T _ (fun _ => 0)); [rewrite Sum_const; simpl; lra|].
      intros s _. replace (s + 0)%nat with s by lia. ring.
    - rewrite (Sum_ext T _ (fun s => (b (s + k)%nat - b s) + (b (s + k + 1)%nat - b (s + k)%nat)))
        by (intros; replace (t + Datatypes.S k)%nat with (t + k + 1)%nat by lia; ring).
      rewrite Sum_plus, S_INR.
      assert (Tel : forall n, Σ s ≤ n, (b (s + k + 1)%nat - b (s + k)%nat) = b (n + k + 1)%nat - b (k + 1)%nat).
      { induction n as [|n IHn]; [simpl; ring|]. rewrite Sum_S, IHn.
        replace (Datatypes.S n + k)%nat with (n + k + 1)%nat by lia. ring. }
      rewrite Tel. assert (B1 := Hb (T + k + 1)%nat ltac:(lia)). assert (B2 := Hb (k + 1)%nat ltac:(lia)). lra. }
  specialize (Cn tau). rewrite Sum_minus in Cn.
  rewrite (Sum_minus T (fun t => ⟨z t, w t - u⟩)), Sum_scale in A.
  rewrite (split_late E tau z w T u) in A.
  assert (Psum : Σ j ≤ T, eta (j + tau)%nat <= 1 / H * (1 + ln (INR T))).
  { rewrite (Sum_ext T _ (fun j => 1 / H * (1 / INR j))).
    - rewrite Sum_scale. apply Rmult_le_compat_l; [left; apply Rdiv_lt_0_compat; lra | apply harmonic, HT].
    - intros j Hj. rewrite Alpha by lia. assert (0 < INR j) by (apply INR_pos; lia). field. lra. }
  set (Q := Σ j ≤ T, eta (j + tau)%nat) in *.
  assert (0 <= INR tau) by apply pos_INR. assert (Hr2 : 0 <= rho ^ 2) by apply pow2_ge_0.
  assert (Hlast := proj1 (Hb (T + 1 + tau)%nat ltac:(lia))).
  assert (0 <= H * INR T / 2 * b (T + 1 + tau)%nat).
  { apply Rmult_le_pos; [|exact Hlast]. pose proof (pos_INR T). nra. }
  assert (Fin : (1 / 2 + INR tau) * rho ^ 2 * Q <= (1 / 2 + INR tau) * rho ^ 2 * (1 / H * (1 + ln (INR T)))).
  { apply Rmult_le_compat_l; [|exact Psum]. apply Rmult_le_pos; lra. }
  replace ((1 / 2 + INR tau) * (rho ^ 2 / H) * (1 + ln (INR T)))
    with ((1 / 2 + INR tau) * rho ^ 2 * (1 / H * (1 + ln (INR T)))) by (field; lra).
  set (X := Σ s ≤ T, b (s + tau)%nat) in *. set (Y := Σ t ≤ T, b t) in *.
  assert (H / 2 * (X - Y) <= H / 2 * (INR tau * D ^ 2)) by (apply Rmult_le_compat_l; lra).
  lra.
Qed.
