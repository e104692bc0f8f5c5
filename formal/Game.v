(** * Game: the games whose worst case the certificates enclose

    The statements of all certificates are made of the words of this file:
    [problem], [game], [at_most], [at_least]. *)

From Coq Require Import Reals Lra Psatz Lia ZArith QArith Qreals List.
From Formal Require Import Space Psd.
Import ListNotations.
Open Scope R_scope.

(** A problem: T rounds of gradient descent from 0.
    - [eta2]: the squares of the steps η_1, ..., η_{T-1};
    - [rho2]: the square of the bound on the gradients;
    - [eager]: project after every step (true), or sum first (false);
    - [by_diameter]: the size of the set is its diameter (true), or the radius of a ball
      around 0 that contains it (false);
    - [delay]: every loss is heard of so many rounds late (0 for eager descent). *)
Record problem := Problem {
  rounds : nat;
  eta2 : list Q;
  rho2 : Q;
  eager : bool;
  by_diameter : bool;
  delay : nat
}.

(** A set is closed: what is as near as you like to points of S lies in S. *)
Definition closed {E : Space} (S : E -> Prop) : Prop :=
  forall x, (forall eps, 0 < eps -> exists y, S y /\ norm (x - y) < eps) -> S x.

(** What the play of round t + 1 is the projection of. *)
Definition target (p : problem) {E : Space} (eta : nat -> R) (z w : nat -> E) (t : nat) : E :=
  if eager p then (w t - eta t · z t)%V else (- eta t · VSum (t - delay p) z)%V.

(** [game p size2 S eta f z w]: the plays w_1, ..., w_T are those of descent on the set S
    with steps η_t, against the losses f_t with subgradients z_t at the plays. *)
Record game (p : problem) (size2 : R) {E : Space} (S : E -> Prop) (eta : nat -> R)
    (f : nat -> E -> R) (z w : nat -> E) : Prop := Game {
  (** S is closed and convex and contains 0 *)
  set_convex : convex_set S;
  set_closed : closed S;
  set_zero : S zero;
  (** its size: a bound on the squared diameter, or on the squared distance from 0 *)
  set_size : if by_diameter p
             then forall x y, S x -> S y -> norm (x - y) ^ 2 <= size2
             else forall x, S x -> norm x ^ 2 <= size2;
  (** the steps are the nonnegative roots of eta2 *)
  steps : forall t, (1 <= t < rounds p)%nat ->
          0 <= eta t /\ eta t ^ 2 = Q2R (nth (t - 1) (eta2 p) 0%Q);
  (** convex losses with subgradients at the plays, of bounded length *)
  losses : forall t, (1 <= t <= rounds p)%nat ->
           convex_on S (f t) /\ subgradient S (f t) (w t) (z t) /\ norm (z t) ^ 2 <= Q2R (rho2 p);
  (** descent starts at 0, and every next play is a nearest point of S to its target *)
  start_at_zero : w 1%nat = zero;
  descends : forall t, (1 <= t < rounds p)%nat -> projection S (target p eta z w t) (w (t + 1)%nat)
}.

(** The regret of the plays against u. *)
Definition regret (p : problem) {E : Space} (f : nat -> E -> R) (w : nat -> E) (u : E) : R :=
  Σ t ≤ (rounds p), (f t (w t) - f t u).

(** No game of p has a regret above B, in any space, on any set, against any u in it. *)
Definition at_most (p : problem) (size2 B : R) : Prop :=
  forall (E : Space) (S : E -> Prop) (eta : nat -> R)
      (f : nat -> E -> R) (z w : nat -> E),
    game p size2 S eta f z w ->
    forall u, S u -> regret p f w u <= B.

(** Some game of p, in some R^k, has a regret of B or more. *)
Definition at_least (p : problem) (size2 B : R) : Prop :=
  exists (k : nat) (S : Rn k -> Prop) (eta : nat -> R)
      (f : nat -> Rn k -> R) (z w : nat -> Rn k),
    game p size2 S eta f z w /\
    exists u, S u /\ B <= regret p f w u.

(** ** The smallest closed convex set around given points *)
Section Hull.
Context {E : Space}.
Definition hull (corners : E -> Prop) (s : E) : Prop :=
  forall K, convex_set K -> closed K -> (forall c, corners c -> K c) -> K s.

Lemma hull_convex : forall C, convex_set (hull C).
Proof. intros C x y a Hx Hy Ha K HK HKc HC. apply HK; [apply Hx | apply Hy | exact Ha]; auto. Qed.

Lemma hull_closed : forall C, closed (hull C).
Proof.
  intros C x Hx K HK HKc HC. apply HKc. intros eps He. destruct (Hx eps He) as [y [Hy Hd]].
  exists y. split; [apply Hy; auto | exact Hd].
Qed.

Lemma hull_corner : forall (C : E -> Prop) c, C c -> hull C c.
Proof. intros C c Hc K _ _ HC. auto. Qed.

(** Half-spaces and balls are closed and convex, so what holds at the corners holds on the hull. *)
Lemma half_space_convex : forall (a : E) b, convex_set (fun s => ⟨a, s⟩ <= b).
Proof. intros a b x y c Hx Hy Hc. products. nra. Qed.

Lemma half_space_closed : forall (a : E) b, closed (fun s => ⟨a, s⟩ <= b).
Proof.
  intros a b x Hx. destruct (Rle_dec ⟨a, x⟩ b) as [|Hn]; [assumption|]. exfalso.
  apply Rnot_le_lt in Hn. set (gap := ⟨a, x⟩ - b). assert (Hg : 0 < gap) by (unfold gap; lra).
  assert (Na := norm_nonneg a).
  assert (Hep : 0 < gap / (norm a + 1)) by (apply Rdiv_lt_0_compat; lra).
  destruct (Hx _ Hep) as [y [Hy Hd]].
  assert (C := cauchy_schwarz a (x - y)). rewrite inner_sub_r in C.
  assert (D : norm a * norm (x - y) <= norm a * (gap / (norm a + 1))) by (apply Rmult_le_compat_l; lra).
  assert (D' : norm a * (gap / (norm a + 1)) < gap).
  { apply (Rmult_lt_reg_r (norm a + 1)); [lra|].
    replace (norm a * (gap / (norm a + 1)) * (norm a + 1)) with (norm a * gap) by (field; lra). nra. }
  unfold gap in *. lra.
Qed.

Lemma ball_convex : forall (c : E) r, convex_set (fun s => norm (s - c) <= r).
Proof.
  intros c r x y a Hx Hy Ha.
  replace (norm (a · x + (1 - a) · y - c)%V) with (norm (a · (x - c) + (1 - a) · (y - c))%V)
    by (unfold norm; f_equal; products; ring).
  eapply Rle_trans; [apply triangle|]. rewrite !norm_scale by lra. nra.
Qed.

Lemma ball_closed : forall (c : E) r, closed (fun s => norm (s - c) <= r).
Proof.
  intros c r x Hx. destruct (Rle_dec (norm (x - c)) r) as [|Hn]; [assumption|]. exfalso.
  apply Rnot_le_lt in Hn. destruct (Hx (norm (x - c) - r) ltac:(lra)) as [y [Hy Hd]].
  assert (T := triangle_sub x y c). lra.
Qed.

Lemma hull_half_space : forall (C : E -> Prop) a b, (forall c, C c -> ⟨a, c⟩ <= b) ->
  forall s, hull C s -> ⟨a, s⟩ <= b.
Proof.
  intros C a b H s Hs. apply (Hs (fun s => ⟨a, s⟩ <= b)); auto using half_space_convex, half_space_closed.
Qed.

Lemma hull_ball : forall (C : E -> Prop) c r, (forall x, C x -> norm (x - c) <= r) ->
  forall s, hull C s -> norm (s - c) <= r.
Proof.
  intros C c r H s Hs. apply (Hs (fun s => norm (s - c) <= r)); auto using ball_convex, ball_closed.
Qed.

Lemma hull_diameter : forall (C : E -> Prop) r, (forall x y, C x -> C y -> norm (x - y) <= r) ->
  forall s t, hull C s -> hull C t -> norm (s - t) <= r.
Proof.
  intros C r H s t Hs Ht. apply (hull_ball C t r); auto. intros x Hx.
  rewrite norm_sub_sym. apply (hull_ball C x r); auto.
Qed.
End Hull.
