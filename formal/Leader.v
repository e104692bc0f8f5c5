(** * Leader: Theorem 1 of Lecture 13, and being the leader (Lecture 17)

    No space, no convexity: the plays are of any type. *)

From Coq Require Import Reals Lra Lia.
From Formal Require Import Space.
Open Scope R_scope.

(** w is a point of S where F is least on S. *)
Definition minimises {X : Type} (S : X -> Prop) (F : X -> R) (w : X) : Prop :=
  S w /\ forall v, S v -> F w <= F v.

(** Rule (3) of Lecture 13. The play of round t + 1 minimises f_1 + ... + f_t + Rg
    on S, for t = 0, ..., T; so w 1 minimises Rg alone. *)
Definition regularised_leader {X : Type} (S : X -> Prop) (f : nat -> X -> R)
    (Rg : X -> R) (T : nat) (w : nat -> X) : Prop :=
  forall t, (t <= T)%nat ->
    minimises S (fun v => (Σ i ≤ t, f i v) + Rg v) (w (t + 1)%nat).

(** The induction of the proof, (4) of Lecture 13: playing one round ahead. *)
Lemma one_round_ahead : forall {X : Type} (S : X -> Prop) f Rg T w,
  regularised_leader S f Rg T w ->
  forall u, S u ->
  (Σ t ≤ T, f t (w (t + 1)%nat)) + Rg (w 1%nat) <= (Σ t ≤ T, f t u) + Rg u.
Proof.
  intros X S f Rg T. induction T as [|T IH]; intros w Hw u Hu.
  - destruct (Hw 0%nat ltac:(lia)) as [_ H]. specialize (H u Hu). simpl in *. lra.
  - destruct (Hw (Datatypes.S T) ltac:(lia)) as [Hin Hmin].
    assert (Hprev : regularised_leader S f Rg T w)
      by (intros t Ht; apply Hw; lia).
    specialize (IH w Hprev _ Hin). specialize (Hmin u Hu).
    rewrite !Sum_S in *. lra.
Qed.

(** ** Theorem 1 of Lecture 13 (ox13.thm1)

    - [X], [S]: any set of plays; [f 1], ..., [f T] and [Rg]: any functions;
    - [w 1], ..., [w (T+1)]: the minima of rule (3) are attained at these points;
    - [u]: any point of S to compare with.
    The regret against u is at most what seeing one round ahead would gain,
    plus Rg u - Rg (w 1). *)
Theorem theorem_1 : forall (X : Type) (S : X -> Prop)
    (f : nat -> X -> R) (Rg : X -> R) (T : nat) (w : nat -> X) (u : X),
  regularised_leader S f Rg T w ->
  S u ->
  Σ t ≤ T, (f t (w t) - f t u)
    <= Σ t ≤ T, (f t (w t) - f t (w (t + 1)%nat)) + Rg u - Rg (w 1%nat).
Proof.
  intros X S f Rg T w u Hw Hu. pose proof (one_round_ahead S f Rg T w Hw u Hu).
  rewrite !Sum_minus. lra.
Qed.

(** ** Be the leader (ma17.claim.btl): the leader of the next round has no regret. *)
Theorem be_the_leader : forall (X : Type) (S : X -> Prop) (f : nat -> X -> R)
    (T : nat) (w : nat -> X) (u : X),
  regularised_leader S f (fun _ => 0) T w ->
  S u ->
  Σ t ≤ T, (f t (w (t + 1)%nat) - f t u) <= 0.
Proof.
  intros X S f T w u Hw Hu. pose proof (one_round_ahead S f _ T w Hw u Hu).
  rewrite Sum_minus. lra.
Qed.
