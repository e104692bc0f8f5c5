(** * Descent: convex to linear; lazy descent, Theorem 2 of Lecture 13; eager descent *)

From Coq Require Import Reals Lra Psatz Lia.
From Formal Require Import Space.
Open Scope R_scope.

(** ** Convex losses cost no more than their linear surrogates

    (8) of Lecture 13: if z_t is a subgradient of f_t at w_t on S, then the regret
    against u in S is at most the regret on the losses ⟨z_t, ·⟩. *)
Theorem convex_to_linear : forall (E : Space) (S : E -> Prop) (f : nat -> E -> R)
    (w z : nat -> E) (u : E) (T : nat),
  (forall t, (1 <= t <= T)%nat -> subgradient S (f t) (w t) (z t)) ->
  S u ->
  Σ t ≤ T, (f t (w t) - f t u) <= Σ t ≤ T, ⟨z t, w t - u⟩.
Proof.
  intros E S f w z u T Hz Hu. apply Sum_le. intros t Ht.
  specialize (Hz t Ht u Hu). products. lra.
Qed.

(** A deterministic learner: from the gradients z_1, ..., z_{t-1} shown so far
    (newest first) it makes the play of round t. [history z t] is that list. *)
Fixpoint history {E : Space} (z : nat -> E) (t : nat) : list E :=
  match t with
  | O => nil
  | S n => cons (z t) (history z n)
  end.

(** ** Proposition 17.3.1

    - [learner]: any rule; its regret on every sequence of T linear losses ⟨v_t, ·⟩
      whose gradients have [size (v t) <= G] is at most [r], against every u in S;
    - [z t]: a subgradient of f_t at the play w_t, shown to the learner, of size <= G.
    Then it has regret at most r on f_1, ..., f_T. The f_t are any functions with
    these subgradients, so they may have been chosen with the plays in view. *)
Theorem proposition_17_3_1 : forall (E : Space) (S : E -> Prop) (learner : list E -> E)
    (size : E -> R) (G r : R) (T : nat),
  (forall v : nat -> E, (forall t, (1 <= t <= T)%nat -> size (v t) <= G) ->
     forall u, S u -> Σ t ≤ T, ⟨v t, learner (history v (t - 1)) - u⟩ <= r) ->
  forall (f : nat -> E -> R) (w z : nat -> E),
  (forall t, (1 <= t <= T)%nat -> w t = learner (history z (t - 1))) ->
  (forall t, (1 <= t <= T)%nat -> subgradient S (f t) (w t) (z t)) ->
  (forall t, (1 <= t <= T)%nat -> size (z t) <= G) ->
  forall u, S u -> Σ t ≤ T, (f t (w t) - f t u) <= r.
Proof.
  intros E S learner size G r T Hlin f w z Hw Hz HG u Hu.
  eapply Rle_trans; [apply (convex_to_linear E S f w z); auto|].
  rewrite (Sum_ext T _ (fun t => ⟨z t, learner (history z (t - 1)) - u⟩)).
  - apply Hlin; auto.
  - intros t Ht. rewrite (Hw t Ht). reflexivity.
Qed.

(** ** Lazy descent (online subgradient descent of Lecture 13)

    The play of round t + 1 is the projection of -η(z_1 + ... + z_t); w_1 is that of 0. *)
Definition lazy_descent {E : Space} (S : E -> Prop) (eta : R) (z w : nat -> E) : Prop :=
  forall t, projection S (-eta · VSum t z)%V (w (t + 1)%nat).

(** Lazy descent is FTRL: with the squared norm over 2η on the surrogates, a play is
    optimal exactly if it is this projection (Remark 1 of Lecture 13; (17.27)-(17.29)
    of Lecture 17, corrected). *)
Theorem descent_is_ftrl : forall (E : Space) (S : E -> Prop) (eta : R) (Z p : E),
  0 < eta ->
  (projection S (-eta · Z)%V p <->
   S p /\ forall s, S s -> ⟨Z, p⟩ + norm p ^ 2 / (2 * eta) <= ⟨Z, s⟩ + norm s ^ 2 / (2 * eta)).
Proof.
  intros E S eta Z p He. unfold projection.
  assert (Key : forall s, norm (-eta · Z - p) <= norm (-eta · Z - s) <->
    ⟨Z, p⟩ + norm p ^ 2 / (2 * eta) <= ⟨Z, s⟩ + norm s ^ 2 / (2 * eta)).
  { intros s. rewrite norm_le_norm, !norm_square.
    replace (⟨Z, p⟩ + ⟨p, p⟩ / (2 * eta)) with ((2 * eta * ⟨Z, p⟩ + ⟨p, p⟩) / (2 * eta)) by (field; lra).
    replace (⟨Z, s⟩ + ⟨s, s⟩ / (2 * eta)) with ((2 * eta * ⟨Z, s⟩ + ⟨s, s⟩) / (2 * eta)) by (field; lra).
    assert (0 < / (2 * eta)) by (apply Rinv_0_lt_compat; lra).
    split; intros H1.
    - apply Rmult_le_compat_r; [lra|]. products. lra.
    - apply Rmult_le_reg_r in H1; [|assumption]. products. lra. }
  split; intros [Hp H]; (split; [exact Hp|]); intros s Hs; apply Key, H, Hs.
Qed.

Lemma three_points : forall (E : Space) (S : E -> Prop) (eta : R) (Z p s : E),
  convex_set S -> 0 < eta -> projection S (-eta · Z)%V p -> S s ->
  2 * eta * ⟨Z, p⟩ + ⟨p, p⟩ + ⟨s - p, s - p⟩ <= 2 * eta * ⟨Z, s⟩ + ⟨s, s⟩.
Proof.
  intros E S eta Z p s HS He Hp Hs. pose proof (proj1 Hp) as Hin.
  rewrite (the_angle S _ p HS Hin) in Hp. specialize (Hp s Hs). products. lra.
Qed.

Lemma lazy_linear : forall (E : Space) (S : E -> Prop) (eta : R) (z w : nat -> E) (T : nat) (u : E),
  convex_set S -> 0 < eta -> lazy_descent S eta z w -> S u ->
  2 * eta * (Σ t ≤ T, ⟨z t, w t⟩)
    <= 2 * eta * ⟨VSum T z, u⟩ + ⟨u, u⟩ - ⟨w 1%nat, w 1%nat⟩ + eta ^ 2 * (Σ t ≤ T, ⟨z t, z t⟩)
       - ⟨u - w (T + 1)%nat, u - w (T + 1)%nat⟩.
Proof.
  intros E S eta z w T u HS He Hw. revert u.
  induction T as [|T IH]; intros u Hu.
  - assert (H := three_points E S eta _ _ u HS He (Hw 0%nat) Hu). simpl in *.
    rewrite ?inner_zero in *. lra.
  - assert (Hin := proj1 (Hw (Datatypes.S T))).
    assert (H := three_points E S eta _ _ u HS He (Hw (Datatypes.S T)) Hu).
    specialize (IH _ Hin). rewrite !Sum_S. cbn [VSum] in *.
    replace (Datatypes.S T + 1)%nat with (Datatypes.S (T + 1)) in * by lia.
    replace (T + 1)%nat with (Datatypes.S T) in * by lia.
    set (a := w (Datatypes.S T)) in *. set (b := w (Datatypes.S (Datatypes.S T))) in *.
    assert (Y := inner_nonneg _ (eta · z (Datatypes.S T) - (a - b))).
    set (Z := VSum T z) in *. set (v := z (Datatypes.S T)) in *.
    products. lra.
Qed.

(** Its regret with any step, in any convex S: (‖u‖² - ‖w_1‖²)/(2η) + (η/2) Σ ‖z_t‖²
    (lazy-eager-bounds). *)
Theorem lazy_descent_bound_start : forall (E : Space) (S : E -> Prop) (eta : R)
    (f : nat -> E -> R) (z w : nat -> E) (T : nat) (u : E),
  convex_set S ->
  0 < eta ->
  lazy_descent S eta z w ->
  (forall t, (1 <= t <= T)%nat -> subgradient S (f t) (w t) (z t)) ->
  S u ->
  Σ t ≤ T, (f t (w t) - f t u)
    <= (norm u ^ 2 - norm (w 1%nat) ^ 2) / (2 * eta) + eta / 2 * Σ t ≤ T, norm (z t) ^ 2.
Proof.
  intros E S eta f z w T u HS He Hw Hz Hu.
  eapply Rle_trans; [apply (convex_to_linear E S f w z); auto|].
  assert (H := lazy_linear E S eta z w T u HS He Hw Hu).
  rewrite (Sum_ext T _ (fun t => ⟨z t, w t⟩ - ⟨z t, u⟩)) by (intros; apply inner_sub_r).
  rewrite (Sum_ext T (fun t => norm (z t) ^ 2) (fun t => ⟨z t, z t⟩)) by (intros; apply norm_square).
  rewrite Sum_minus, <- inner_VSum, !norm_square.
  pose proof (inner_nonneg _ (u - w (T + 1)%nat)).
  apply (Rmult_le_reg_l (2 * eta)); [lra|].
  replace (2 * eta * ((⟨u, u⟩ - ⟨w 1%nat, w 1%nat⟩) / (2 * eta) + eta / 2 * (Σ t ≤ T, ⟨z t, z t⟩)))
    with (⟨u, u⟩ - ⟨w 1%nat, w 1%nat⟩ + eta ^ 2 * (Σ t ≤ T, ⟨z t, z t⟩)) by (field; lra).
  lra.
Qed.

(** So at most ‖u‖²/(2η) + (η/2) Σ ‖z_t‖². *)
Corollary lazy_descent_bound : forall (E : Space) (S : E -> Prop) (eta : R)
    (f : nat -> E -> R) (z w : nat -> E) (T : nat) (u : E),
  convex_set S ->
  0 < eta ->
  lazy_descent S eta z w ->
  (forall t, (1 <= t <= T)%nat -> subgradient S (f t) (w t) (z t)) ->
  S u ->
  Σ t ≤ T, (f t (w t) - f t u) <= norm u ^ 2 / (2 * eta) + eta / 2 * Σ t ≤ T, norm (z t) ^ 2.
Proof.
  intros E S eta f z w T u HS He Hw Hz Hu.
  eapply Rle_trans; [apply (lazy_descent_bound_start E S eta f z w T u); auto|].
  apply Rplus_le_compat_r, Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|].
  pose proof (pow2_ge_0 (norm (w 1%nat))). lra.
Qed.

Lemma bounded_squares : forall (E : Space) (z : nat -> E) rho T,
  (forall t, (1 <= t <= T)%nat -> norm (z t) <= rho) ->
  Σ t ≤ T, norm (z t) ^ 2 <= INR T * rho ^ 2.
Proof.
  intros. rewrite <- Sum_const. apply Sum_le. intros t Ht. apply pow_incr.
  split; [apply norm_nonneg | auto].
Qed.

Lemma tuned : forall B rho T, 0 < B -> 0 < rho -> (1 <= T)%nat ->
  let eta := B / (rho * sqrt (INR T)) in
  B ^ 2 / (2 * eta) + eta / 2 * (INR T * rho ^ 2) = B * rho * sqrt (INR T).
Proof.
  intros B rho T HB Hr HT eta. assert (Hs : 0 < sqrt (INR T)) by (apply sqrt_lt_R0, INR_pos, HT).
  assert (HsT : INR T = sqrt (INR T) * sqrt (INR T)) by (symmetry; apply sqrt_sqrt, pos_INR).
  unfold eta. rewrite HsT at 3. field. lra.
Qed.

(** ** Theorem 2 of Lecture 13 (ox13.thm2)

    - [S]: convex, contains 0, diameter at most D (closedness only serves to make
      projections exist; here they are given as the plays);
    - [z t]: a subgradient of f_t at w_t, of length at most rho; D, rho > 0;
    - [w]: online (lazy) subgradient descent with step D/(rho sqrt(2T)).
    The regret against every u in S is at most D rho sqrt(2T). *)
Theorem theorem_2 : forall (E : Space) (S : E -> Prop) (D rho : R)
    (f : nat -> E -> R) (z w : nat -> E) (T : nat) (u : E),
  convex_set S ->
  S zero ->
  diameter_at_most S D ->
  0 < D -> 0 < rho -> (1 <= T)%nat ->
  lazy_descent S (D / (rho * sqrt (2 * INR T))) z w ->
  (forall t, (1 <= t <= T)%nat -> subgradient S (f t) (w t) (z t)) ->
  (forall t, (1 <= t <= T)%nat -> norm (z t) <= rho) ->
  S u ->
  Σ t ≤ T, (f t (w t) - f t u) <= D * rho * sqrt (2 * INR T).
Proof.
  intros E S D rho f z w T u HS H0 HD HDp Hr HT Hw Hz Hrho Hu.
  assert (Hs : 0 < sqrt (2 * INR T)) by (apply sqrt_lt_R0; pose proof (INR_pos T HT); lra).
  assert (HsT : 2 * INR T = sqrt (2 * INR T) * sqrt (2 * INR T))
    by (symmetry; apply sqrt_sqrt; pose proof (pos_INR T); lra).
  set (s := sqrt (2 * INR T)) in *.
  assert (He : 0 < D / (rho * s)) by (apply Rdiv_lt_0_compat; nra).
  eapply Rle_trans; [eapply lazy_descent_bound; eauto|].
  assert (A := bounded_squares E z rho T Hrho).
  assert (B : norm u <= D).
  { replace (norm u) with (norm (u - zero)) by (unfold norm; f_equal; products; ring). apply HD; auto. }
  assert (C : norm u ^ 2 <= D ^ 2) by (apply pow_incr; split; [apply norm_nonneg | exact B]).
  apply Rle_trans with (D ^ 2 / (2 * (D / (rho * s))) + D / (rho * s) / 2 * (INR T * rho ^ 2)).
  - apply Rplus_le_compat.
    + apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra | exact C].
    + apply Rmult_le_compat_l; [lra | exact A].
  - replace (INR T) with (s * s / 2) by lra.
    replace (D ^ 2 / (2 * (D / (rho * s))) + D / (rho * s) / 2 * (s * s / 2 * rho ^ 2))
      with (3 / 4 * (D * rho * s)) by (field; repeat split; lra).
    assert (0 < D * rho * s) by (repeat apply Rmult_lt_0_compat; auto). lra.
Qed.

(** The sharper form: B bounds ‖u‖ for u in S, step B/(rho sqrt T), regret B rho sqrt T. *)
Theorem theorem_2_sharp : forall (E : Space) (S : E -> Prop) (B rho : R)
    (f : nat -> E -> R) (z w : nat -> E) (T : nat) (u : E),
  convex_set S ->
  (forall s, S s -> norm s <= B) ->
  0 < B -> 0 < rho -> (1 <= T)%nat ->
  lazy_descent S (B / (rho * sqrt (INR T))) z w ->
  (forall t, (1 <= t <= T)%nat -> subgradient S (f t) (w t) (z t)) ->
  (forall t, (1 <= t <= T)%nat -> norm (z t) <= rho) ->
  S u ->
  Σ t ≤ T, (f t (w t) - f t u) <= B * rho * sqrt (INR T).
Proof.
  intros E S B rho f z w T u HS HB HBp Hr HT Hw Hz Hrho Hu.
  assert (Hs : 0 < sqrt (INR T)) by (apply sqrt_lt_R0, INR_pos, HT).
  assert (He : 0 < B / (rho * sqrt (INR T))) by (apply Rdiv_lt_0_compat; nra).
  eapply Rle_trans; [eapply lazy_descent_bound; eauto|].
  rewrite <- (tuned B rho T) by auto.
  apply Rplus_le_compat.
  - apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|].
    apply pow_incr; split; [apply norm_nonneg | auto].
  - apply Rmult_le_compat_l; [lra | apply bounded_squares, Hrho].
Qed.

(** ** Eager descent: step, then project (Lecture 4; (17.36) of Lecture 17)

    [eta t] is the step of round t; the start w_1 is any point of S. *)
Definition eager_descent {E : Space} (S : E -> Prop) (eta : nat -> R) (z w : nat -> E) : Prop :=
  S (w 1%nat) /\ forall t, (1 <= t)%nat -> projection S (w t - eta t · z t)%V (w (t + 1)%nat).

Lemma eager_in : forall (E : Space) (S : E -> Prop) eta (z w : nat -> E) t,
  eager_descent S eta z w -> (1 <= t)%nat -> S (w t).
Proof.
  intros E S eta z w t [H1 H] Ht. destruct t as [|[|t]]; [lia | exact H1|].
  replace (Datatypes.S (Datatypes.S t)) with (Datatypes.S t + 1)%nat by lia. apply H; lia.
Qed.

(** One step ((4) of "Regret Bounds"): projection brings the comparator no farther away. *)
Lemma eager_step : forall (E : Space) (S : E -> Prop) (eta : R) (w z p u : E),
  convex_set S -> projection S (w - eta · z)%V p -> S u ->
  2 * eta * ⟨z, w - u⟩ <= ⟨w - u, w - u⟩ - ⟨p - u, p - u⟩ + eta ^ 2 * ⟨z, z⟩.
Proof.
  intros E S eta w z p u HS Hp Hu.
  assert (H := projection_no_farther S _ p u HS Hp Hu).
  apply norm_le_norm in H. products. lra.
Qed.

(** Its regret with a fixed step, from any start: ‖w_1 - u‖²/(2η) + (η/2) Σ ‖z_t‖². *)
Theorem eager_descent_bound : forall (E : Space) (S : E -> Prop) (eta : R)
    (f : nat -> E -> R) (z w : nat -> E) (T : nat) (u : E),
  convex_set S ->
  0 < eta ->
  eager_descent S (fun _ => eta) z w ->
  (forall t, (1 <= t <= T)%nat -> subgradient S (f t) (w t) (z t)) ->
  S u ->
  Σ t ≤ T, (f t (w t) - f t u)
    <= norm (w 1%nat - u) ^ 2 / (2 * eta) + eta / 2 * Σ t ≤ T, norm (z t) ^ 2.
Proof.
  intros E S eta f z w T u HS He Hw Hz Hu.
  eapply Rle_trans; [apply (convex_to_linear E S f w z); auto|]. clear Hz f.
  assert (H : 2 * eta * (Σ t ≤ T, ⟨z t, w t - u⟩) <=
     ⟨w 1%nat - u, w 1%nat - u⟩ - ⟨w (T + 1)%nat - u, w (T + 1)%nat - u⟩
     + eta ^ 2 * Σ t ≤ T, norm (z t) ^ 2).
  { induction T as [|T IH]; [simpl; lra|].
    assert (K := eager_step E S eta _ _ _ u HS (proj2 Hw (Datatypes.S T) ltac:(lia)) Hu).
    rewrite !Sum_S, norm_square. replace (T + 1)%nat with (Datatypes.S T) in * by lia. lra. }
  pose proof (inner_nonneg _ (w (T + 1)%nat - u)).
  apply (Rmult_le_reg_l (2 * eta)); [lra|].
  rewrite norm_square.
  replace (2 * eta * (⟨w 1%nat - u, w 1%nat - u⟩ / (2 * eta) + eta / 2 * (Σ t ≤ T, norm (z t) ^ 2)))
    with (⟨w 1%nat - u, w 1%nat - u⟩ + eta ^ 2 * (Σ t ≤ T, norm (z t) ^ 2)) by (field; lra).
  lra.
Qed.

(** Theorem 2 and (17.3) (x.thm2-vs-17.3): with D_phi = B²/2 and G = rho the two bounds
    and the two steps are the same numbers. *)
Theorem theorem_2_is_17_3 : forall B rho T, 0 < B -> 0 < rho -> 0 < T ->
  2 * rho * sqrt (B ^ 2 / 2 * T) = B * rho * sqrt (2 * T) /\
  1 / rho * sqrt (B ^ 2 / 2 / T) = B / (rho * sqrt (2 * T)) /\
  rho * sqrt (2 * (B ^ 2 / 2) * T) = B * rho * sqrt T.
Proof.
  intros B rho T HB Hr HT.
  assert (Hs : 0 < sqrt (2 * T)) by (apply sqrt_lt_R0; lra).
  assert (Hss : sqrt (2 * T) * sqrt (2 * T) = 2 * T) by (apply sqrt_sqrt; lra).
  split; [|split].
  - replace (B ^ 2 / 2 * T) with ((B / 2 * sqrt (2 * T)) ^ 2).
    + rewrite sqrt_pow2; [field|]. apply Rmult_le_pos; lra.
    + transitivity (B ^ 2 / 4 * (sqrt (2 * T) * sqrt (2 * T))); [field|]. rewrite Hss. field.
  - replace (B ^ 2 / 2 / T) with ((B / sqrt (2 * T)) ^ 2).
    + rewrite sqrt_pow2; [field; lra|]. left. apply Rdiv_lt_0_compat; lra.
    + transitivity (B ^ 2 / (sqrt (2 * T) * sqrt (2 * T))); [field; lra|]. rewrite Hss. field. lra.
  - replace (2 * (B ^ 2 / 2) * T) with (B ^ 2 * T) by field.
    rewrite sqrt_mult_alt by nra. rewrite sqrt_pow2 by lra. ring.
Qed.
