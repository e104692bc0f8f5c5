(** * Winnow: two mistake bounds (Lecture 13) *)

From Coq Require Import Reals Lra Psatz Lia.
From Formal Require Import Space Logarithmic Experts Entropy.
Open Scope R_scope.

(** ** Winnow with factor 2 *)
Section Winnow.
Variables (n : nat) (theta : R).
(** [x t i]: feature i (1 <= i <= n) is on in example t; [y t]: its label. *)
Variables (x : nat -> nat -> bool) (y : nat -> bool).

Definition on (t i : nat) : R := if x t i then 1 else 0.
(** ⟨w, x_t⟩ *)
Definition score (w : nat -> R) (t : nat) : R := Σ i ≤ n, (w i * on t i).

(** Start at 1. A positive example with a score of at most θ doubles the weights that are
    on; a negative one with a score of at least θ halves them. [winnow t] are the weights
    after t rounds. *)
Fixpoint winnow (t : nat) : nat -> R :=
  match t with
  | O => fun _ => 1
  | S m =>
      let w := winnow m in
      if y (S m)
      then if Rle_dec (score w (S m)) theta then fun i => if x (S m) i then 2 * w i else w i else w
      else if Rle_dec theta (score w (S m)) then fun i => if x (S m) i then w i / 2 else w i else w
  end.

(** How often weights have been doubled in the first t rounds, ... *)
Fixpoint promotions (t : nat) : nat :=
  match t with
  | O => 0%nat
  | S m => if y (S m) then if Rle_dec (score (winnow m) (S m)) theta then S (promotions m) else promotions m
           else promotions m
  end.
(** ... and how often they have been halved. *)
Fixpoint demotions (t : nat) : nat :=
  match t with
  | O => 0%nat
  | S m => if y (S m) then demotions m
           else if Rle_dec theta (score (winnow m) (S m)) then S (demotions m) else demotions m
  end.

Lemma winnow_pos : forall t i, 0 < winnow t i.
Proof.
  induction t as [|t IH]; intros i; [simpl; lra|]. cbn [winnow]. specialize (IH i).
  destruct (y (S t)); destruct (Rle_dec _ _); destruct (x (S t) i); lra.
Qed.

(** The total weight rises by at most θ in a promotion and falls by at least θ/2 in a demotion. *)
Lemma total_weight : forall t,
  Σ i ≤ n, winnow t i <= INR n + theta * INR (promotions t) - theta / 2 * INR (demotions t).
Proof.
  induction t as [|t IH].
  - cbn [winnow promotions demotions]. rewrite Sum_const. replace (INR 0) with 0 by reflexivity. lra.
  - cbn [winnow promotions demotions]. destruct (y (S t)); destruct (Rle_dec _ _) as [Hs|]; try exact IH.
    + rewrite (Sum_ext n _ (fun i => winnow t i + winnow t i * on (S t) i))
        by (intros; unfold on; destruct (x (S t) t0); ring).
      rewrite (Sum_plus n (fun i => winnow t i)), S_INR. unfold score in Hs. lra.
    + rewrite (Sum_ext n _ (fun i => winnow t i - 1 / 2 * (winnow t i * on (S t) i)))
        by (intros; unfold on; destruct (x (S t) t0); field).
      rewrite (Sum_minus n (fun i => winnow t i)), Sum_scale, S_INR. unfold score in Hs. lra.
Qed.

(** [relevant]: k of the features. *)
Variables (relevant : nat -> bool) (k : nat).
Definition rel (i : nat) : R := if relevant i then 1 else 0.

Hypothesis Hk : Σ i ≤ n, rel i = INR k.
Hypothesis Htheta : 1 <= theta.
(** A label is positive exactly if a relevant feature is on. *)
Hypothesis Hy : forall t, (1 <= t)%nat ->
  (y t = true <-> exists i, (1 <= i <= n)%nat /\ relevant i = true /\ x t i = true).

Lemma weight_below : forall t i, (1 <= i <= n)%nat -> winnow t i <= 2 * theta.
Proof.
  induction t as [|t IH]; intros i Hi; [simpl; lra|]. cbn [winnow]. specialize (IH i Hi).
  assert (Hw := winnow_pos t i).
  destruct (y (S t)); destruct (Rle_dec _ _) as [Hs|]; destruct (x (S t) i) eqn:Hx; try lra.
  assert (winnow t i * on (S t) i <= score (winnow t) (S t)).
  { apply (Sum_term n (fun j => winnow t j * on (S t) j)); [|exact Hi].
    intros j _. assert (W := winnow_pos t j). unfold on. destruct (x (S t) j); lra. }
  unfold on in H. rewrite Hx in H. lra.
Qed.

(** Every promotion adds at least ln 2 to the logarithms of the relevant weights. *)
Lemma log_weight : forall t,
  INR (promotions t) * ln 2 <= Σ i ≤ n, (rel i * ln (winnow t i)).
Proof.
  assert (Hln2 : 0 < ln 2) by (rewrite <- ln_1; apply ln_increasing; lra).
  induction t as [|t IH].
  - cbn [winnow promotions]. rewrite ln_1, (Sum_ext n _ (fun _ => 0)) by (intros; ring).
    rewrite Sum_const. replace (INR 0) with 0 by reflexivity. lra.
  - cbn [winnow promotions]. destruct (y (S t)) eqn:Hyt; destruct (Rle_dec _ _) as [Hs|]; try exact IH.
    + rewrite S_INR. apply Rle_trans with (Σ i ≤ n, (rel i * ln (winnow t i)) + Σ i ≤ n, (rel i * on (S t) i * ln 2)).
      * destruct (proj1 (Hy (S t) ltac:(lia)) Hyt) as [i [Hi [Hr Hx]]].
        assert (rel i * on (S t) i * ln 2 <= Σ j ≤ n, (rel j * on (S t) j * ln 2)).
        { apply (Sum_term n (fun j => rel j * on (S t) j * ln 2)); [|exact Hi].
          intros j _. unfold rel, on. destruct (relevant j), (x (S t) j); lra. }
        replace (rel i * on (S t) i * ln 2) with (ln 2) in H by (unfold rel, on; rewrite Hr, Hx; ring). lra.
      * rewrite <- Sum_plus. right. apply Sum_ext. intros i _. assert (Hw := winnow_pos t i).
        unfold on. destruct (x (S t) i); [rewrite ln_mult by lra|]; ring.
    + eapply Rle_trans; [exact IH|]. right. apply Sum_ext. intros i Hi.
      unfold rel. destruct (relevant i) eqn:Hr; [|ring]. destruct (x (S t) i) eqn:Hx; [|reflexivity].
      exfalso. assert (y (S t) = true) by (apply Hy; [lia|]; exists i; auto). congruence.
Qed.

(** ** Winnow's mistake bound (winnow-mistake-bound)

    - k of the n features are relevant, and a label is positive exactly if one of them is on;
    - factor 2, threshold θ >= 1, any number of rounds.
    At most 2n/θ + 3k(1 + log2 θ) updates. *)
Theorem winnow_bound : forall T,
  INR (promotions T + demotions T) <= 2 * INR n / theta + 3 * INR k * (1 + ln theta / ln 2).
Proof.
  intros T. assert (Hln2 : 0 < ln 2) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (A := total_weight T).
  assert (P : 0 <= Σ i ≤ n, winnow T i) by (apply Sum_nonneg; intros; left; apply winnow_pos).
  assert (B := log_weight T).
  assert (C : Σ i ≤ n, (rel i * ln (winnow T i)) <= Σ i ≤ n, (rel i * ln (2 * theta))).
  { apply Sum_le. intros i Hi. apply Rmult_le_compat_l; [unfold rel; destruct (relevant i); lra|].
    assert (Hw := winnow_pos T i). destruct (weight_below T i Hi) as [Hlt | ->]; [|lra].
    left. apply ln_increasing; assumption. }
  assert (Hk' : Sum n rel = INR k) by exact Hk. rewrite Sum_scale_r, Hk', ln_mult in C by lra.
  assert (D : INR (promotions T) <= INR k * (1 + ln theta / ln 2)).
  { apply (Rmult_le_reg_r (ln 2)); [exact Hln2|].
    replace (INR k * (1 + ln theta / ln 2) * ln 2) with (INR k * (ln 2 + ln theta)) by (field; lra). lra. }
  rewrite plus_INR.
  assert (F : INR (demotions T) <= 2 * INR n / theta + 2 * INR (promotions T)).
  { apply (Rmult_le_reg_l (theta / 2)); [lra|].
    replace (theta / 2 * (2 * INR n / theta + 2 * INR (promotions T))) with (INR n + theta * INR (promotions T)) by (field; lra).
    lra. }
  lra.
Qed.
End Winnow.

(** For θ = n/2 and n >= 2 that is 4 + 3k log2 n. *)
Corollary winnow_bound_half : forall n x y relevant k,
  (2 <= n)%nat ->
  Σ i ≤ n, rel relevant i = INR k ->
  (forall t, (1 <= t)%nat ->
    (y t = true <-> exists i, (1 <= i <= n)%nat /\ relevant i = true /\ x t i = true)) ->
  forall T, INR (promotions n (INR n / 2) x y T + demotions n (INR n / 2) x y T) <= 4 + 3 * INR k * (ln (INR n) / ln 2).
Proof.
  intros n x y relevant k Hn Hk Hy T.
  assert (Hn2 : 2 <= INR n) by (change 2 with (INR 2); apply le_INR, Hn).
  assert (Hln2 : 0 < ln 2) by (rewrite <- ln_1; apply ln_increasing; lra).
  eapply Rle_trans; [apply (winnow_bound n (INR n / 2) x y relevant k Hk ltac:(lra) Hy)|].
  replace (ln (INR n / 2)) with (ln (INR n) - ln 2)
    by (unfold Rdiv; rewrite ln_mult, ln_Rinv by lra; ring).
  right. field. lra.
Qed.

(** ** Normalised Winnow *)
Section Normalised.
Variables (n : nat) (eta : R) (x : nat -> nat -> R) (y : nat -> R).

(** The sum of y_t x_t over the updates; the weights are the softmax of η times it. *)
Definition weights_of (A : nat -> R) : nat -> R := softmax n (fun i => - (eta * A i)).
Fixpoint learned (t : nat) : nat -> R :=
  match t with
  | O => fun _ => 0
  | S m => if Rle_dec (y (S m) * mean n (weights_of (learned m)) (x (S m))) 0
           then fun i => learned m i + y (S m) * x (S m) i else learned m
  end.
Fixpoint updates_of (t : nat) : nat :=
  match t with
  | O => 0%nat
  | S m => if Rle_dec (y (S m) * mean n (weights_of (learned m)) (x (S m))) 0
           then S (updates_of m) else updates_of m
  end.

Variables (X gamma : R) (u : nat -> R).
Hypothesis Hn : (1 <= n)%nat.
Hypothesis HX : 0 < X.
Hypothesis Hy : forall t, (1 <= t)%nat -> y t = 1 \/ y t = -1.
Hypothesis Hx : forall t i, (1 <= t)%nat -> (1 <= i <= n)%nat -> - X <= x t i <= X.
Hypothesis Hu : distribution n u.
Hypothesis Hgamma : 0 < gamma.
Hypothesis Hmargin : forall t, (1 <= t)%nat -> gamma <= y t * mean n u (x t).

Hypothesis Hstep : eta = gamma / X ^ 2.

Lemma Heta : 0 < eta.
Proof. rewrite Hstep. apply Rdiv_lt_0_compat; [exact Hgamma | nra]. Qed.

Lemma learned_along : forall t, gamma * INR (updates_of t) <= mean n u (learned t).
Proof.
  induction t as [|t IH].
  - cbn [learned updates_of]. unfold mean. rewrite Sum_scale_r. replace (INR 0) with 0 by reflexivity. lra.
  - cbn [learned updates_of]. destruct (Rle_dec _ 0); [|exact IH]. rewrite S_INR.
    assert (M : mean n u (fun i => learned t i + y (S t) * x (S t) i) = mean n u (learned t) + y (S t) * mean n u (x (S t))).
    { unfold mean. rewrite <- Sum_scale, <- Sum_plus. apply Sum_ext. intros. ring. }
    rewrite M. specialize (Hmargin (S t) ltac:(lia)). lra.
Qed.

Lemma normaliser : forall t,
  ln (Σ i ≤ n, exp (eta * learned t i)) <= ln (INR n) + INR (updates_of t) * (eta ^ 2 * X ^ 2 / 2).
Proof.
  intros t. induction t as [|t IH].
  - cbn [learned updates_of]. rewrite Rmult_0_r, exp_0, Sum_const, Rmult_1_r. replace (INR 0) with 0 by reflexivity. lra.
  - cbn [learned updates_of]. destruct (Rle_dec _ 0) as [Hle|]; [|exact IH].
    rewrite S_INR. set (A := learned t) in *. set (p := weights_of A) in *.
    destruct (corollary_17_3_attained n Hn (fun i => - (eta * A i))) as [Dist _]. fold (weights_of A) in Dist. fold p in Dist.
    assert (Hg : forall i, (1 <= i <= n)%nat -> - X <= y (S t) * x (S t) i <= X).
    { intros i Hi. assert (B := Hx (S t) i ltac:(lia) Hi). destruct (Hy (S t) ltac:(lia)) as [-> | ->]; lra. }
    assert (K := hoeffding n p (fun i => y (S t) * x (S t) i) (- X) X eta Dist Hg ltac:(lra)).
    assert (M : mean n p (fun i => y (S t) * x (S t) i) = y (S t) * mean n p (x (S t))).
    { unfold mean. rewrite <- Sum_scale. apply Sum_ext. intros. ring. }
    rewrite M in K.
    set (Z := Σ i ≤ n, exp (eta * A i)) in *.
    set (Z' := Σ i ≤ n, exp (eta * (A i + y (S t) * x (S t) i))).
    assert (HZ : 0 < Z) by (apply (exp_sum_pos n Hn (fun i => eta * A i))).
    assert (HZ' : 0 < Z') by (apply (exp_sum_pos n Hn (fun i => eta * (A i + y (S t) * x (S t) i)))).
    assert (Ratio : mean n p (fun i => exp (eta * (y (S t) * x (S t) i))) = Z' / Z).
    { unfold mean, Z', Rdiv. rewrite <- Sum_scale_r. apply Sum_ext. intros i _. unfold p, weights_of, softmax.
      rewrite (Sum_ext n (fun j => exp (- - (eta * A j))) (fun j => exp (eta * A j))) by (intros; rewrite Ropp_involutive; reflexivity).
      fold Z. rewrite Ropp_involutive, Rmult_plus_distr_l, exp_plus. unfold Rdiv. ring. }
    rewrite Ratio in K.
    assert (Le : 0 < eta -> Z' / Z <= exp (eta ^ 2 * X ^ 2 / 2)).
    { intros He. eapply Rle_trans; [exact K|]. set (m := y (S t) * mean n p (x (S t))) in *.
      destruct (Rle_lt_or_eq_dec (eta * m + eta ^ 2 * (X - - X) ^ 2 / 8) (eta ^ 2 * X ^ 2 / 2)) as [Hlt | Heq].
      - assert (eta * m <= 0) by nra. lra.
      - left. apply exp_increasing, Hlt.
      - rewrite Heq. lra. }
    assert (Lk : ln (Z' / Z) <= eta ^ 2 * X ^ 2 / 2).
    { rewrite <- (ln_exp (eta ^ 2 * X ^ 2 / 2)). assert (0 < Z' / Z) by (apply Rdiv_lt_0_compat; assumption).
      destruct (Le Heta) as [Hlt | ->]; [left; apply ln_increasing; assumption | lra]. }
    unfold Rdiv in Lk. rewrite ln_mult, ln_Rinv in Lk; auto using Rinv_0_lt_compat. unfold Rdiv in *. lra.
Qed.

(** ** Normalised Winnow's mistake bound (normalized-winnow-mistake-bound)

    - |x_{t,i}| <= X; u in the simplex has margin gamma > 0 on every example;
    - step η = gamma/X², any number of rounds.
    At most 2 X² (ln n - H(u))/gamma² updates, and so at most 2 X² ln n/gamma². *)
Theorem normalised_winnow_bound : forall T,
  INR (updates_of T) <= 2 * X ^ 2 * (ln (INR n) - H n u) / gamma ^ 2 /\
  2 * X ^ 2 * (ln (INR n) - H n u) / gamma ^ 2 <= 2 * X ^ 2 * ln (INR n) / gamma ^ 2.
Proof.
  intros T. assert (Heta := Heta). assert (HX2 : 0 < X ^ 2) by nra. assert (Hg2 : 0 < gamma ^ 2) by nra. split.
  - assert (A := learned_along T). assert (B := normaliser T).
    assert (C := corollary_17_3 n Hn (fun i => - (eta * learned T i)) u Hu).
    cbv beta in C. rewrite (Sum_ext n (fun i => exp (- - (eta * learned T i))) (fun i => exp (eta * learned T i))) in C
      by (intros; rewrite Ropp_involutive; reflexivity).
    assert (M : mean n u (fun i => - (eta * learned T i)) = - eta * mean n u (learned T)).
    { unfold mean. rewrite <- Sum_scale. apply Sum_ext. intros. ring. }
    rewrite M in C. set (m := INR (updates_of T)) in *.
    assert (D : eta * (gamma * m) <= eta * mean n u (learned T)) by (apply Rmult_le_compat_l; lra).
    assert (F : eta * gamma * m - m * (eta ^ 2 * X ^ 2 / 2) <= ln (INR n) - H n u) by lra.
    replace (eta * gamma * m - m * (eta ^ 2 * X ^ 2 / 2)) with (m * (gamma ^ 2 / (2 * X ^ 2))) in F
      by (rewrite Hstep; field; lra).
    apply (Rmult_le_reg_r (gamma ^ 2 / (2 * X ^ 2))); [apply Rdiv_lt_0_compat; lra|].
    eapply Rle_trans; [exact F|]. right. field. lra.
  - destruct (entropy_range n Hn u Hu) as [E0 _].
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]. nra.
Qed.
End Normalised.
