(** * Perceptron: the mistake bound of Lectures 9 and 13, and its relatives *)

From Coq Require Import Reals Lra Psatz Lia.
From Formal Require Import Space.
Open Scope R_scope.

Section Perceptron.
Context {E : Space}.

(** The examples x_1, x_2, ... with labels y_1, y_2, ... *)
Variable x : nat -> E.
Variable y : nat -> R.

(** An update happens when the example is not strictly on the right side. *)
Definition wrong_side (w : E) (t : nat) : Prop := y t * ⟨w, x t⟩ <= 0.

(** The Perceptron: start at 0; add y_t x_t when x_t is not on the right side.
    [weights t] is the weight vector after t rounds. *)
Fixpoint weights (t : nat) : E :=
  match t with
  | O => zero
  | S n => if Rle_dec (y (S n) * ⟨weights n, x (S n)⟩) 0
           then (weights n + y (S n) · x (S n))%V
           else weights n
  end.

(** How often it has updated in the first t rounds. *)
Fixpoint updates (t : nat) : nat :=
  match t with
  | O => 0%nat
  | S n => if Rle_dec (y (S n) * ⟨weights n, x (S n)⟩) 0
           then S (updates n) else updates n
  end.

(** The sum of the hinge losses max(0, 1 - y⟨u, x⟩) of u, over the updates. *)
Fixpoint hinge_at_updates (u : E) (t : nat) : R :=
  match t with
  | O => 0
  | S n => if Rle_dec (y (S n) * ⟨weights n, x (S n)⟩) 0
           then hinge_at_updates u n + Rmax 0 (1 - y (S n) * ⟨u, x (S n)⟩)
           else hinge_at_updates u n
  end.

(** A predictor that answers +1 or -1 by the sign of ⟨w, x⟩; at 0 it may answer anything. *)
Definition predictor (sign : R -> R) : Prop :=
  (forall s, 0 < s -> sign s = 1) /\ (forall s, s < 0 -> sign s = -1).

(** Its mistakes in the first t rounds. *)
Fixpoint mistakes (sign : R -> R) (t : nat) : nat :=
  match t with
  | O => 0%nat
  | S n => if Req_EM_T (sign ⟨weights n, x (S n)⟩) (y (S n))
           then mistakes sign n else S (mistakes sign n)
  end.

Lemma grows_along : forall u gamma T,
  (forall t, (1 <= t <= T)%nat -> gamma <= y t * ⟨u, x t⟩) ->
  gamma * INR (updates T) <= ⟨u, weights T⟩.
Proof.
  intros u gamma T. induction T as [|T IH]; intros H.
  - simpl. rewrite inner_zero_r. lra.
  - assert (Hp := IH ltac:(intros; apply H; lia)). assert (Hn := H (S T) ltac:(lia)).
    cbn [weights updates]. destruct (Rle_dec _ 0); [|exact Hp].
    rewrite S_INR. products. lra.
Qed.

Lemma grows_slowly : forall Rad T,
  (forall t, (1 <= t <= T)%nat -> y t = 1 \/ y t = -1) ->
  (forall t, (1 <= t <= T)%nat -> norm (x t) <= Rad) ->
  ⟨weights T, weights T⟩ <= Rad ^ 2 * INR (updates T).
Proof.
  intros Rad T. induction T as [|T IH]; intros Hy Hx.
  - simpl. rewrite inner_zero. lra.
  - assert (Hp := IH ltac:(intros; apply Hy; lia) ltac:(intros; apply Hx; lia)).
    assert (Hb := norm_le _ _ (Hx (S T) ltac:(lia))).
    assert (Hs : y (S T) * y (S T) = 1) by (destruct (Hy (S T) ltac:(lia)) as [-> | ->]; ring).
    cbn [weights updates]. destruct (Rle_dec _ 0) as [Hle|]; [|exact Hp].
    rewrite S_INR. products.
    replace (y (S T) * (y (S T) * ⟨x (S T), x (S T)⟩))
      with (y (S T) * y (S T) * ⟨x (S T), x (S T)⟩) by ring.
    rewrite Hs. lra.
Qed.

(** ** The mistake bound (tel9.thm, perceptron-mistake-bound)

    - labels are +1 or -1; [norm (x t) <= Rad] for all t;
    - [u]: a unit vector that has margin [gamma] > 0 on every example;
    - the Perceptron starts at 0, and T is any number of rounds.
    It makes at most (Rad/gamma)² updates. *)
Theorem mistake_bound : forall (Rad gamma : R) (u : E),
  (forall t, y t = 1 \/ y t = -1) ->
  (forall t, norm (x t) <= Rad) ->
  norm u = 1 ->
  0 < gamma ->
  (forall t, gamma <= y t * ⟨u, x t⟩) ->
  forall T, INR (updates T) <= (Rad / gamma) ^ 2.
Proof.
  intros Rad gamma u Hy Hx Hu Hg Hm T.
  assert (A := grows_along u gamma T ltac:(auto)).
  assert (B := grows_slowly Rad T ltac:(auto) ltac:(auto)).
  assert (C := cauchy_schwarz_square u (weights T)).
  rewrite <- (norm_square u), Hu in C.
  set (M := INR (updates T)) in *. assert (HM : 0 <= M) by apply pos_INR.
  assert (D : (gamma * M) ^ 2 <= Rad ^ 2 * M).
  { apply Rle_trans with (⟨u, weights T⟩ ^ 2); [|lra].
    apply pow_incr. split; [nra | exact A]. }
  destruct (Req_dec M 0) as [-> | HM0].
  - apply pow2_ge_0.
  - replace ((Rad / gamma) ^ 2) with (Rad ^ 2 / gamma ^ 2) by (field; lra).
    apply (Rmult_le_reg_r (gamma ^ 2)); [nra|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by nra. nra.
Qed.

(** Updates contain the mistakes, whatever is answered at 0 (tel9.lem.superset). *)
Theorem mistakes_are_updates : forall sign T,
  (forall t, (1 <= t <= T)%nat -> y t = 1 \/ y t = -1) ->
  predictor sign -> (mistakes sign T <= updates T)%nat.
Proof.
  intros sign T Hy [Hpos Hneg]. induction T as [|T IH]; [auto|].
  assert (Hp := IH ltac:(intros; apply Hy; lia)).
  cbn [mistakes updates].
  destruct (Req_EM_T _ _) as [|Hne]; destruct (Rle_dec _ 0) as [|Hgt]; try lia.
  exfalso. apply Hne. apply Rnot_le_lt in Hgt.
  destruct (Hy (S T) ltac:(lia)) as [H | H]; rewrite H in *.
  - apply Hpos. lra.
  - apply Hneg. lra.
Qed.

(** So there are at most (Rad/gamma)² mistakes. *)
Corollary mistake_bound_mistakes : forall (Rad gamma : R) (u : E) sign,
  (forall t, y t = 1 \/ y t = -1) ->
  (forall t, norm (x t) <= Rad) ->
  norm u = 1 ->
  0 < gamma ->
  (forall t, gamma <= y t * ⟨u, x t⟩) ->
  predictor sign ->
  forall T, INR (mistakes sign T) <= (Rad / gamma) ^ 2.
Proof.
  intros Rad gamma u sign Hy Hx Hu Hg Hm Hsign T.
  apply Rle_trans with (INR (updates T)); [|eapply mistake_bound; eauto].
  apply le_INR, mistakes_are_updates; auto.
Qed.

Lemma grows_along_hinge : forall u T,
  INR (updates T) - hinge_at_updates u T <= ⟨u, weights T⟩.
Proof.
  intros u T. induction T as [|T IH].
  - simpl. rewrite inner_zero_r. lra.
  - cbn [weights updates hinge_at_updates]. destruct (Rle_dec _ 0); [|exact IH].
    rewrite S_INR. pose proof (Rmax_r 0 (1 - y (S T) * ⟨u, x (S T)⟩)). products. lra.
Qed.

(** ** The mistake bound without separability (hinge-mistake-bound)

    u is any vector, and L the sum of its hinge losses over the updates. *)
Theorem mistake_bound_hinge : forall (Rad : R) (u : E) (T : nat),
  0 <= Rad ->
  (forall t, (1 <= t <= T)%nat -> y t = 1 \/ y t = -1) ->
  (forall t, (1 <= t <= T)%nat -> norm (x t) <= Rad) ->
  let M := INR (updates T) in
  let L := hinge_at_updates u T in
  M <= L + Rad * norm u * sqrt M /\
  M <= L + Rad * norm u * sqrt L + Rad ^ 2 * norm u ^ 2.
Proof.
  intros Rad u T HR Hy Hx M L.
  assert (HL : 0 <= L).
  { unfold L. clear. induction T as [|T IH]; simpl; [lra|].
    destruct (Rle_dec _ 0); [|exact IH]. pose proof (Rmax_l 0 (1 - y (S T) * ⟨u, x (S T)⟩)). lra. }
  assert (HM : 0 <= M) by apply pos_INR.
  assert (A := grows_along_hinge u T). fold M L in A.
  assert (B := grows_slowly Rad T Hy Hx). fold M in B.
  assert (C := cauchy_schwarz u (weights T)).
  assert (HuN := norm_nonneg u).
  assert (D : norm (weights T) <= Rad * sqrt M).
  { apply le_norm.
    - apply Rmult_le_pos; [exact HR | apply sqrt_pos].
    - rewrite Rpow_mult_distr, <- (Rsqr_pow2 (sqrt M)), Rsqr_sqrt; auto. }
  assert (F : M <= L + Rad * norm u * sqrt M).
  { assert (norm u * norm (weights T) <= norm u * (Rad * sqrt M)) by (apply Rmult_le_compat_l; auto).
    lra. }
  split; [exact F|].
  set (a := Rad * norm u) in *. assert (Ha : 0 <= a) by (apply Rmult_le_pos; auto).
  replace (Rad ^ 2 * norm u ^ 2) with (a ^ 2) by (unfold a; ring).
  assert (Hm := sqrt_pos M). assert (Hl := sqrt_pos L).
  assert (Hmm : sqrt M * sqrt M = M) by (apply sqrt_sqrt; auto).
  assert (Hll : sqrt L * sqrt L = L) by (apply sqrt_sqrt; auto).
  assert (sqrt M <= a + sqrt L).
  { destruct (Rle_dec (sqrt M) (a + sqrt L)) as [|Hc]; [assumption|exfalso].
    apply Rnot_le_lt in Hc.
    assert (sqrt L * sqrt L < sqrt M * (sqrt M - a)); [|nra].
    apply Rle_lt_trans with (sqrt M * sqrt L); nra. }
  nra.
Qed.
End Perceptron.

(** ** A homogeneous model (tel9.remark.nonconvex)

    - [score w t]: the model's score of example t at the weights w;
    - [g t]: the vector of the update, with ⟨w, g⟩ = p · score for one p > 0
      (for gradients of a positively homogeneous score that is Euler's identity);
    - w 0 = 0, and w t adds y_t g_t exactly if y_t · score <= 0;
    - in all updates ‖g‖ <= Rad and y⟨u, g⟩ >= gamma > 0 for a unit vector u. *)
Theorem homogeneous_model : forall (E : Space) (y : nat -> R) (score : E -> nat -> R)
    (p Rad gamma : R) (u : E) (w g : nat -> E) (M : nat -> nat),
  0 < p ->
  (forall t, y t = 1 \/ y t = -1) ->
  (forall t, ⟨w t, g (S t)⟩ = p * score (w t) (S t)) ->
  w 0%nat = zero -> M 0%nat = 0%nat ->
  (forall t, y (S t) * score (w t) (S t) <= 0 ->
     w (S t) = (w t + y (S t) · g (S t))%V /\ M (S t) = S (M t) /\
     norm (g (S t)) <= Rad /\ gamma <= y (S t) * ⟨u, g (S t)⟩) ->
  (forall t, 0 < y (S t) * score (w t) (S t) -> w (S t) = w t /\ M (S t) = M t) ->
  norm u = 1 ->
  0 < gamma ->
  forall T, INR (M T) <= (Rad / gamma) ^ 2.
Proof.
  intros E y score p Rad gamma u w g M Hp Hy Heuler Hw0 HM0 Hup Hno Hu Hg T.
  assert (AB : gamma * INR (M T) <= ⟨u, w T⟩ /\ ⟨w T, w T⟩ <= Rad ^ 2 * INR (M T)).
  { induction T as [|T [IHa IHb]].
    - rewrite Hw0, HM0. simpl. rewrite inner_zero, inner_zero_r. lra.
    - destruct (Rle_dec (y (S T) * score (w T) (S T)) 0) as [Hle | Hgt].
      + destruct (Hup T Hle) as (-> & -> & HR & Hm). apply norm_le in HR.
        specialize (Heuler T). rewrite S_INR.
        assert (Hs : y (S T) * y (S T) = 1) by (destruct (Hy (S T)) as [-> | ->]; ring).
        assert (Hneg : y (S T) * ⟨w T, g (S T)⟩ <= 0) by (rewrite Heuler; nra).
        clear Heuler. split; products; [lra|].
        replace (y (S T) * (y (S T) * ⟨g (S T), g (S T)⟩))
          with (y (S T) * y (S T) * ⟨g (S T), g (S T)⟩) by ring.
        rewrite Hs. lra.
      + apply Rnot_le_lt in Hgt. destruct (Hno T Hgt) as (-> & ->). auto. }
  destruct AB as [A B].
  assert (C := cauchy_schwarz_square u (w T)). rewrite <- (norm_square u), Hu in C.
  set (m := INR (M T)) in *. assert (Hm : 0 <= m) by apply pos_INR.
  assert (D : (gamma * m) ^ 2 <= Rad ^ 2 * m).
  { apply Rle_trans with (⟨u, w T⟩ ^ 2); [|lra]. apply pow_incr. split; [nra | exact A]. }
  destruct (Req_dec m 0) as [-> | Hm0]; [apply pow2_ge_0|].
  replace ((Rad / gamma) ^ 2) with (Rad ^ 2 / gamma ^ 2) by (field; lra).
  apply (Rmult_le_reg_r (gamma ^ 2)); [nra|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by nra. nra.
Qed.

(** ** A share of the example at ties (ties-bound)

    At ⟨w, z⟩ = 0 the Perceptron adds alpha · z, with 0 < alpha <= 1, and z below 0.
    [z t] stands for y_t x_t. There are at most (1 + alpha)²/(4 alpha) · (Rad/gamma)² updates. *)
Section Ties.
Context {E : Space}.
Variables (z : nat -> E) (alpha : R).

Fixpoint tied_weights (t : nat) : E :=
  match t with
  | O => zero
  | S n => if Rlt_dec ⟨tied_weights n, z (S n)⟩ 0 then (tied_weights n + z (S n))%V
           else if Rle_dec ⟨tied_weights n, z (S n)⟩ 0 then (tied_weights n + alpha · z (S n))%V
           else tied_weights n
  end.

(** Updates below 0, and updates at ties. *)
Fixpoint below (t : nat) : nat :=
  match t with
  | O => 0%nat
  | S n => if Rlt_dec ⟨tied_weights n, z (S n)⟩ 0 then S (below n) else below n
  end.
Fixpoint ties (t : nat) : nat :=
  match t with
  | O => 0%nat
  | S n => if Rlt_dec ⟨tied_weights n, z (S n)⟩ 0 then ties n
           else if Rle_dec ⟨tied_weights n, z (S n)⟩ 0 then S (ties n) else ties n
  end.

(** - 0 < alpha <= 1; ‖z_t‖ <= Rad; a unit vector u has margin gamma > 0 on every z_t.
    At most (1 + alpha)²/(4 alpha) · (Rad/gamma)² updates, below 0 and at ties together. *)
Theorem mistake_bound_ties : forall (Rad gamma : R) (u : E),
  0 < alpha <= 1 ->
  (forall t, norm (z t) <= Rad) ->
  norm u = 1 ->
  0 < gamma ->
  (forall t, gamma <= ⟨u, z t⟩) ->
  forall T, INR (below T + ties T) <= (1 + alpha) ^ 2 / (4 * alpha) * (Rad / gamma) ^ 2.
Proof.
  intros Rad gamma u Ha HR Hu Hg Hm T.
  assert (AB : gamma * (INR (below T) + alpha * INR (ties T)) <= ⟨u, tied_weights T⟩ /\
    ⟨tied_weights T, tied_weights T⟩ <= Rad ^ 2 * (INR (below T) + alpha ^ 2 * INR (ties T))).
  { induction T as [|T [IHa IHb]].
    - simpl. rewrite inner_zero, inner_zero_r. lra.
    - assert (Hr := norm_le _ _ (HR (S T))). assert (Hm' := Hm (S T)).
      cbn [tied_weights below ties].
      destruct (Rlt_dec _ 0); [|destruct (Rle_dec _ 0); [|auto]]; rewrite S_INR; split; products; nra. }
  destruct AB as [A B].
  assert (C := cauchy_schwarz_square u (tied_weights T)). rewrite <- (norm_square u), Hu in C.
  rewrite plus_INR.
  set (m := INR (below T)) in *. set (n := INR (ties T)) in *.
  assert (Hmm : 0 <= m) by apply pos_INR. assert (Hn : 0 <= n) by apply pos_INR.
  assert (D : (gamma * (m + alpha * n)) ^ 2 <= Rad ^ 2 * (m + alpha ^ 2 * n)).
  { apply Rle_trans with (⟨u, tied_weights T⟩ ^ 2); [|lra]. apply pow_incr. split; [|exact A].
    apply Rmult_le_pos; [lra|]. nra. }
  replace ((1 + alpha) ^ 2 / (4 * alpha) * (Rad / gamma) ^ 2)
    with ((1 + alpha) ^ 2 * Rad ^ 2 / (4 * alpha * gamma ^ 2)) by (field; lra).
  assert (Hden : 0 < 4 * alpha * gamma ^ 2) by (apply Rmult_lt_0_compat; nra).
  apply (Rmult_le_reg_r (4 * alpha * gamma ^ 2)); [exact Hden|].
  replace ((1 + alpha) ^ 2 * Rad ^ 2 / (4 * alpha * gamma ^ 2) * (4 * alpha * gamma ^ 2))
    with ((1 + alpha) ^ 2 * Rad ^ 2) by (field; lra).
  destruct (Req_dec (m + n) 0) as [Hz | Hz].
  { rewrite Hz, Rmult_0_l. apply Rmult_le_pos; apply pow2_ge_0. }
  assert (Hq : 0 < m + alpha ^ 2 * n).
  { assert (0 < alpha ^ 2) by nra. destruct (Req_dec n 0) as [Hn0|]; [rewrite Hn0 in *; lra|].
    assert (0 < alpha ^ 2 * n) by (apply Rmult_lt_0_compat; lra). lra. }
  assert (Key : 4 * alpha * (m + n) * (m + alpha ^ 2 * n) <= (1 + alpha) ^ 2 * (m + alpha * n) ^ 2).
  { assert (Hsq := pow2_ge_0 ((1 - alpha) * (m - alpha * n))). nra. }
  apply (Rmult_le_reg_r (m + alpha ^ 2 * n)); [exact Hq|].
  apply Rle_trans with (gamma ^ 2 * ((1 + alpha) ^ 2 * (m + alpha * n) ^ 2)).
  - replace ((m + n) * (4 * alpha * gamma ^ 2) * (m + alpha ^ 2 * n))
      with (gamma ^ 2 * (4 * alpha * (m + n) * (m + alpha ^ 2 * n))) by ring.
    apply Rmult_le_compat_l; [apply pow2_ge_0 | exact Key].
  - replace (gamma ^ 2 * ((1 + alpha) ^ 2 * (m + alpha * n) ^ 2))
      with ((1 + alpha) ^ 2 * (gamma * (m + alpha * n)) ^ 2) by ring.
    rewrite (Rmult_assoc ((1 + alpha) ^ 2)). apply Rmult_le_compat_l; [apply pow2_ge_0 | exact D].
Qed.
End Ties.
