(** * Losses: convexity, subgradients and Lipschitz bounds (Lectures 4, 9, 13; Regret Bounds) *)

From Coq Require Import Reals Lra Psatz Lia.
From Formal Require Import Space.
Open Scope R_scope.

(** A function of one number is convex. *)
Definition convex_1d (phi : R -> R) : Prop :=
  forall a b c, 0 <= c <= 1 -> phi (c * a + (1 - c) * b) <= c * phi a + (1 - c) * phi b.

(** ** Convexity in the weights (tel9.claim.convex-in-w, shi.claim.any-erm-loss)

    A convex loss of a linear score is convex in the weights, for every x and y. *)
Theorem convex_in_weights : forall (E : Space) (phi : R -> R) (x : E) (y : R),
  convex_1d phi -> convex_on (fun _ => True) (fun w => phi (y * ⟨w, x⟩)).
Proof.
  intros E phi x y H v w a _ _ Ha. cbv beta. rewrite inner_add, !inner_scale.
  replace (y * (a * ⟨v, x⟩ + (1 - a) * ⟨w, x⟩)) with (a * (y * ⟨v, x⟩) + (1 - a) * (y * ⟨w, x⟩)) by ring.
  apply H, Ha.
Qed.

(** ** Chain rule (shi.claim.chain-rule)

    If s is a slope of phi at ⟨w, x⟩, then s · x is a subgradient of phi(⟨·, x⟩) at w. *)
Theorem chain_rule : forall (E : Space) (phi : R -> R) (x w : E) (s : R),
  (forall q, phi ⟨w, x⟩ + s * (q - ⟨w, x⟩) <= phi q) ->
  subgradient (fun _ => True) (fun v => phi ⟨v, x⟩) w (s · x)%V.
Proof.
  intros E phi x w s H u _. cbv beta. specialize (H ⟨u, x⟩).
  rewrite inner_scale, inner_sub_r, (inner_sym _ x u), (inner_sym _ x w). lra.
Qed.

(** f changes by at most rho times the distance, on S. *)
Definition lipschitz {E : Space} (S : E -> Prop) (rho : R) (f : E -> R) : Prop :=
  forall x y, S x -> S y -> f x - f y <= rho * norm (x - y).

(** ** Bounded subgradients (ox13.claim.lip-subgrad): if a little step along z stays in S,
    a subgradient z of a rho-Lipschitz function is no longer than rho. *)
Theorem lipschitz_subgradient : forall (E : Space) (S : E -> Prop) (rho : R) (f : E -> R) (w z : E) (eps : R),
  0 <= rho -> lipschitz S rho f -> S w -> 0 < eps -> S (w + eps · z)%V -> subgradient S f w z -> norm z <= rho.
Proof.
  intros E S rho f w z eps Hr HL Hw He Hin Hz.
  specialize (Hz _ Hin). specialize (HL _ _ Hin Hw).
  assert (D : norm (w + eps · z - w)%V = eps * norm z).
  { rewrite <- norm_scale by lra. unfold norm. f_equal. products. ring. }
  assert (P : ⟨z, w + eps · z - w⟩ = eps * norm z ^ 2) by (rewrite norm_square; products; ring).
  rewrite D in HL. rewrite P in Hz. assert (N := norm_nonneg z).
  assert (eps * (norm z * norm z) <= eps * (rho * norm z)) by nra.
  destruct (Req_dec (norm z) 0) as [Z | Z].
  - lra.
  - assert (0 < norm z) by lra. apply (Rmult_le_reg_r (eps * norm z)); nra.
Qed.

(** ** Any learner at all (Lecture 13, the game): on a set of diameter D, rho-Lipschitz losses
    cost any plays at most rho D a round more than any fixed point. *)
Theorem any_learner : forall (E : Space) (S : E -> Prop) (D rho : R) (f : nat -> E -> R) (w : nat -> E) (T : nat) (u : E),
  diameter_at_most S D -> 0 <= rho ->
  (forall t, (1 <= t <= T)%nat -> lipschitz S rho (f t) /\ S (w t)) -> S u ->
  Σ t ≤ T, (f t (w t) - f t u) <= rho * D * INR T.
Proof.
  intros E S D rho f w T u HD Hr H Hu. rewrite Rmult_comm, <- Sum_const. apply Sum_le. intros t Ht.
  destruct (H t Ht) as [HL Hw]. specialize (HL _ _ Hw Hu). specialize (HD _ _ Hw Hu).
  assert (rho * norm (w t - u) <= rho * D) by (apply Rmult_le_compat_l; assumption). lra.
Qed.
