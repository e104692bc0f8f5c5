(** * Forecasters: halving, weighted majority, the running mean (A gentle start) *)

From Coq Require Import Reals Lra Psatz Lia.
From Formal Require Import Space Logarithmic.
Open Scope R_scope.

(** ** Weighted majority, and halving as its limit

    [wrong t i]: forecaster i is wrong in round t. The weights of those who are wrong are
    multiplied by beta. We are wrong in a round only if at least half of the weight is. *)
Section Majority.
Variables (N : nat) (beta : R) (wrong : nat -> nat -> bool) (we_are_wrong : nat -> bool).

Fixpoint trust (t i : nat) : R :=
  match t with
  | O => 1
  | S m => if wrong (S m) i then beta * trust m i else trust m i
  end.
Definition all_trust (t : nat) : R := Σ i ≤ N, trust t i.
(** The weight on the wrong side in round t. *)
Definition wrong_trust (t : nat) : R := Σ i ≤ N, (if wrong t i then trust (t - 1) i else 0).

(** We follow the majority of the weight. *)
Definition follows_majority : Prop :=
  forall t, (1 <= t)%nat -> we_are_wrong t = true -> all_trust (t - 1) / 2 <= wrong_trust t.

(** Mistakes: ours, and those of forecaster i, in the first t rounds. *)
Fixpoint our_mistakes (t : nat) : nat :=
  match t with O => 0%nat | S m => if we_are_wrong (S m) then S (our_mistakes m) else our_mistakes m end.
Fixpoint mistakes_of (i t : nat) : nat :=
  match t with O => 0%nat | S m => if wrong (S m) i then S (mistakes_of i m) else mistakes_of i m end.

Lemma trust_nonneg : 0 <= beta -> forall t i, 0 <= trust t i.
Proof. intros Hb. induction t as [|t IH]; intros i; simpl; [lra|]. destruct (wrong (S t) i); [apply Rmult_le_pos|]; auto. Qed.

Lemma trust_power : forall t i, trust t i = beta ^ mistakes_of i t.
Proof.
  induction t as [|t IH]; intros i; cbn [trust mistakes_of]; [reflexivity|].
  destruct (wrong (S t) i); rewrite IH; reflexivity.
Qed.

Lemma trust_shrinks : 0 <= beta <= 1 -> follows_majority ->
  forall t, all_trust t <= INR N * ((1 + beta) / 2) ^ our_mistakes t.
Proof.
  intros Hb Hm. induction t as [|t IH].
  - unfold all_trust. cbn [trust our_mistakes]. rewrite Sum_const. simpl. lra.
  - assert (Split : all_trust (S t) = all_trust t - (1 - beta) * wrong_trust (S t)).
    { unfold all_trust, wrong_trust. replace (S t - 1)%nat with t by lia.
      rewrite <- Sum_scale, <- Sum_minus. apply Sum_ext. intros i _. cbn [trust].
      destruct (wrong (S t) i); ring. }
    assert (W : 0 <= wrong_trust (S t)).
    { apply Sum_nonneg. intros i _. destruct (wrong (S t) i); [apply trust_nonneg; lra | lra]. }
    cbn [our_mistakes]. destruct (we_are_wrong (S t)) eqn:Hw; [|nra].
    assert (M := Hm (S t) ltac:(lia) Hw). replace (S t - 1)%nat with t in M by lia.
    cbn [pow]. set (c := ((1 + beta) / 2) ^ our_mistakes t) in *.
    assert (all_trust (S t) <= (1 + beta) / 2 * all_trust t) by nra.
    assert ((1 + beta) / 2 * all_trust t <= (1 + beta) / 2 * (INR N * c)) by (apply Rmult_le_compat_l; lra).
    lra.
Qed.

Lemma trust_one : 0 <= beta -> forall i t, (1 <= i <= N)%nat -> trust t i <= all_trust t.
Proof. intros Hb i t Hi. apply (Sum_term N (fun j => trust t j)); [intros; apply trust_nonneg; lra | exact Hi]. Qed.

(** ** Weighted majority (start-weighted-majority): 0 < beta < 1, any sequence, any forecaster i *)
Theorem weighted_majority : forall T i,
  0 < beta < 1 ->
  follows_majority ->
  (1 <= i <= N)%nat ->
  INR (our_mistakes T) <= (INR (mistakes_of i T) * ln (1 / beta) + ln (INR N)) / ln (2 / (1 + beta)).
Proof.
  intros T i Hb Hm Hi.
  assert (A := trust_shrinks ltac:(lra) Hm T). assert (B := trust_one ltac:(lra) i T Hi).
  rewrite trust_power in B. assert (HN : 0 < INR N) by (apply INR_pos; lia).
  assert (Hl : ln (beta ^ mistakes_of i T) <= ln (INR N * ((1 + beta) / 2) ^ our_mistakes T)).
  { assert (P : 0 < beta ^ mistakes_of i T) by (apply pow_lt; lra).
    destruct (Rle_lt_or_eq_dec (beta ^ mistakes_of i T) (INR N * ((1 + beta) / 2) ^ our_mistakes T)) as [H | ->];
      [lra | left; apply ln_increasing; assumption | lra]. }
  rewrite ln_mult in Hl by (auto; apply pow_lt; lra).
  rewrite !ln_pow in Hl by lra.
  assert (L1 : ln (1 / beta) = - ln beta) by (unfold Rdiv; rewrite Rmult_1_l; apply ln_Rinv; lra).
  assert (L2 : ln (2 / (1 + beta)) = - ln ((1 + beta) / 2)).
  { rewrite <- ln_Rinv by lra. f_equal. field. lra. }
  assert (L3 : 0 < ln (2 / (1 + beta))).
  { rewrite <- ln_1. apply ln_increasing; [lra|]. apply (Rmult_lt_reg_r (1 + beta)); [lra|].
    replace (2 / (1 + beta) * (1 + beta)) with 2 by (field; lra). lra. }
  apply (Rmult_le_reg_r (ln (2 / (1 + beta)))); [exact L3|].
  set (d := ln (2 / (1 + beta))) in *.
  replace ((INR (mistakes_of i T) * ln (1 / beta) + ln (INR N)) / d * d)
    with (INR (mistakes_of i T) * ln (1 / beta) + ln (INR N)) by (field; lra).
  rewrite L1, L2. lra.
Qed.

(** ** Halving (start-halving): beta = 0, who is wrong is not listened to any more; a
    forecaster that is never wrong makes 2^M <= N. *)
Theorem halving : forall T i,
  beta = 0 ->
  follows_majority ->
  (1 <= i <= N)%nat ->
  mistakes_of i T = 0%nat ->
  INR (our_mistakes T) <= ln (INR N) / ln 2.
Proof.
  intros T i Hb Hm Hi H0.
  assert (A := trust_shrinks ltac:(lra) Hm T). assert (B := trust_one ltac:(lra) i T Hi).
  rewrite trust_power, H0, pow_O in B. rewrite Hb in A.
  replace ((1 + 0) / 2) with (/ 2) in A by field.
  assert (HN : 0 < INR N) by (apply INR_pos; lia).
  assert (Hln2 : 0 < ln 2) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (P : 0 < (/ 2) ^ our_mistakes T) by (apply pow_lt; lra).
  assert (Hl : ln 1 <= ln (INR N * (/ 2) ^ our_mistakes T)).
  { destruct (Rle_lt_or_eq_dec 1 (INR N * (/ 2) ^ our_mistakes T)) as [H | <-];
      [lra | left; apply ln_increasing; lra | lra]. }
  rewrite ln_1, ln_mult, ln_pow, ln_Rinv in Hl by lra.
  apply (Rmult_le_reg_r (ln 2)); [exact Hln2|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.
End Majority.

(** ** The running mean (start-running-mean)

    w_t is the mean of x_1, ..., x_{t-1} for t >= 2, and w_1 any number. With
    f_t(w) = (w - x_t)²/2 the regret against the mean m of all, which pays least, is exactly
    Σ f_t(w_t)/t. *)
Definition square_cost (x : nat -> R) (t : nat) (w : R) : R := (w - x t) ^ 2 / 2.
Definition mean_of (x : nat -> R) (t : nat) : R := Sum t x / INR t.

(** The mean pays least: every u pays more, by T/2 times its squared distance from it. *)
Lemma mean_is_best : forall x T u, (1 <= T)%nat ->
  Σ t ≤ T, square_cost x t u = Σ t ≤ T, square_cost x t (mean_of x T) + INR T / 2 * (u - mean_of x T) ^ 2.
Proof.
  intros x T u HT. assert (HTp := INR_pos T HT).
  assert (Ex : forall v, Σ t ≤ T, square_cost x t v = INR T / 2 * v ^ 2 - v * Sum T x + Σ t ≤ T, (x t ^ 2 / 2)).
  { intros v. unfold square_cost.
    rewrite (Sum_ext T _ (fun t => (v ^ 2 / 2 - v * x t) + x t ^ 2 / 2)) by (intros; field).
    rewrite Sum_plus, Sum_minus, Sum_const, Sum_scale. unfold Rdiv. ring. }
  rewrite !Ex. assert (Sx : Sum T x = INR T * mean_of x T) by (unfold mean_of; field; lra).
  rewrite Sx. field.
Qed.

(** The regret of the running mean against the best number is exactly Σ f_t(w_t)/t. *)
Theorem running_mean : forall (x w : nat -> R) (T : nat),
  (1 <= T)%nat ->
  (forall t, (2 <= t <= T)%nat -> w t = mean_of x (t - 1)) ->
  Σ t ≤ T, square_cost x t (w t) - Σ t ≤ T, square_cost x t (mean_of x T)
    = Σ t ≤ T, (square_cost x t (w t) / INR t).
Proof.
  intros x w T HT Hw. destruct T as [|n]; [lia|]. clear HT. induction n as [|n IH].
  - cbn [Sum]. unfold square_cost, mean_of. simpl Sum. replace (INR 1) with 1 by reflexivity. field.
  - specialize (IH ltac:(intros; apply Hw; lia)). set (m := S n) in *.
    assert (Hm : 0 < INR m) by (apply INR_pos; unfold m; lia).
    assert (B := mean_is_best x m (mean_of x (S m)) ltac:(unfold m; lia)).
    assert (Wt : w (S m) = mean_of x m).
    { rewrite Hw by (unfold m; lia). replace (S m - 1)%nat with m by lia. reflexivity. }
    assert (Mean : mean_of x (S m) = mean_of x m + (x (S m) - mean_of x m) / (INR m + 1)).
    { unfold mean_of. rewrite Sum_S, S_INR. field. lra. }
    rewrite !(Sum_S m), Wt, S_INR. rewrite B.
    set (a := Σ t ≤ m, square_cost x t (w t)) in *. set (b := Σ t ≤ m, square_cost x t (mean_of x m)) in *.
    rewrite <- IH. rewrite Mean. set (q := mean_of x m). unfold square_cost. field. lra.
Qed.

(** For numbers in [0, 1] that is at most ½(1 + 1/2 + ... + 1/T) <= ½(1 + ln T). *)
Theorem running_mean_bound : forall (x w : nat -> R) (T : nat),
  (1 <= T)%nat ->
  (forall t, (2 <= t <= T)%nat -> w t = mean_of x (t - 1)) ->
  (forall t, (1 <= t <= T)%nat -> 0 <= x t <= 1) -> 0 <= w 1%nat <= 1 ->
  forall u, Σ t ≤ T, square_cost x t (w t) - Σ t ≤ T, square_cost x t u <= 1 / 2 * (Σ t ≤ T, (1 / INR t)) /\
  1 / 2 * (Σ t ≤ T, (1 / INR t)) <= 1 / 2 * (1 + ln (INR T)).
Proof.
  intros x w T HT Hw Hx H1 u. split; [|pose proof (harmonic T HT); lra].
  assert (E := running_mean x w T HT Hw). assert (B := mean_is_best x T u HT).
  assert (HTp := INR_pos T HT).
  assert (0 <= INR T / 2 * (u - mean_of x T) ^ 2) by (apply Rmult_le_pos; [lra | apply pow2_ge_0]).
  apply Rle_trans with (Σ t ≤ T, (square_cost x t (w t) / INR t)); [lra|].
  rewrite <- Sum_scale. apply Sum_le. intros t Ht.
  assert (Htp : 0 < INR t) by (apply INR_pos; lia).
  assert (Wt : 0 <= w t <= 1).
  { destruct (Nat.eq_dec t 1) as [-> | Hn]; [exact H1|]. rewrite Hw by lia.
    assert (Hp : 0 < INR (t - 1)) by (apply INR_pos; lia). unfold mean_of. split.
    - apply Rmult_le_pos; [apply Sum_nonneg; intros; apply Hx; lia | left; apply Rinv_0_lt_compat, Hp].
    - apply (Rmult_le_reg_r (INR (t - 1))); [exact Hp|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_1_l by lra.
      rewrite <- (Rmult_1_r (INR (t - 1))), <- Sum_const. apply Sum_le. intros; apply Hx; lia. }
  specialize (Hx t Ht). unfold Rdiv. rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, Htp|].
  unfold square_cost. nra.
Qed.
