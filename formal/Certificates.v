(** * Certificates: both sides together, at one size and at all sizes between two

    A certificate is checked by one computation, [encloses] or [encloses_line], that
    returns true or false. The two theorems say what true means. *)

From Coq Require Import Reals Lra Psatz Lia ZArith QArith Qreals List.
From Formal Require Import Space Psd Game Upper Lower.
Import ListNotations.
Open Scope R_scope.

Definition steps_positive (p : problem) : bool := forallb (fun q => Z.leb 0 (Qnum q)) (eta2 p).

(** The value of the Gram matrix, Σ ⟨z_t, w_t - u⟩, is at least q. *)
Definition reaches (p : problem) (L : lower) (q : Q) : bool :=
  Z.leb (Qnum q * unit_g L)%Z (whole_value (matrix L) (objective p (rounds p)) * Zpos (Qden q))%Z.

(** The bound of the multipliers, at a size, is at most q. *)
Definition stays_below (p : problem) (D : upper) (size2 q : Q) : bool :=
  Qle_bool (inject_Z (on_gradients (multipliers D)) * rho2 p + inject_Z (on_distances (multipliers D)) * size2)
           (q * inject_Z (unit_m D)).

(** ... or less than q. *)
Definition stays_below_strictly (p : problem) (D : upper) (size2 q : Q) : bool :=
  negb (Qle_bool (q * inject_Z (unit_m D))
    (inject_Z (on_gradients (multipliers D)) * rho2 p + inject_Z (on_distances (multipliers D)) * size2)).

(** The check of a certificate: multipliers above, a Gram matrix below, at one size. *)
Definition encloses (p : problem) (D : upper) (L : lower) (size2 low high : Q) : bool :=
  if problem_check p then if steps_positive p then
    if upper_check p D then if stays_below p D size2 high then
      if lower_check p size2 (unit_s D) (near D) L then reaches p L low
      else false else false else false else false else false.

Lemma Q2R_inject_Z : forall z, Q2R (inject_Z z) = IZR z.
Proof. intros. unfold Q2R, inject_Z. simpl. field. Qed.

Lemma problem_facts : forall p, problem_check p = true ->
  length (eta2 p) = (rounds p - 1)%nat /\ (eager p = true -> delay p = 0%nat).
Proof.
  intros p H. unfold problem_check in H. destruct (Nat.eqb _ _) eqn:Hl; [|discriminate].
  split; [apply Nat.eqb_eq, Hl|]. intros He. rewrite He in H. apply Nat.eqb_eq, H.
Qed.

Lemma unit_m_pos : forall p D, upper_check p D = true -> 0 < IZR (unit_m D).
Proof.
  intros p D H. unfold upper_check in H. destruct (Z.ltb 0 (unit_s D)); [|discriminate].
  destruct (Z.ltb 0 (unit_m D)) eqn:H1; [|discriminate]. apply IZR_lt, Z.ltb_lt, H1.
Qed.

Lemma unit_g_pos : forall p s d ab L, lower_check p s d ab L = true -> 0 < IZR (unit_g L).
Proof.
  intros p s d ab L H. unfold lower_check in H. destruct (Nat.leb 1 _); [|discriminate].
  destruct (Z.ltb 0 (unit_g L)) eqn:H1; [|discriminate]. apply IZR_lt, Z.ltb_lt, H1.
Qed.

Lemma reaches_sound : forall p L q, 0 < IZR (unit_g L) -> reaches p L q = true ->
  Q2R q <= IZR (whole_value (matrix L) (objective p (rounds p))) / IZR (unit_g L).
Proof.
  intros p L q Hg H. unfold reaches in H. apply Z.leb_le, IZR_le in H. rewrite !mult_IZR in H.
  unfold Q2R. assert (Hd : 0 < IZR (Zpos (Qden q))) by (apply IZR_lt; lia).
  apply (Rmult_le_reg_r (IZR (unit_g L) * IZR (Zpos (Qden q)))); [nra|].
  set (v := IZR (whole_value (matrix L) (objective p (rounds p)))) in *.
  replace (v / IZR (unit_g L) * (IZR (unit_g L) * IZR (Zpos (Qden q)))) with (v * IZR (Zpos (Qden q))) by (field; lra).
  replace (IZR (Qnum q) * / IZR (Zpos (Qden q)) * (IZR (unit_g L) * IZR (Zpos (Qden q)))) with (IZR (Qnum q) * IZR (unit_g L)) by (field; lra).
  exact H.
Qed.

Lemma at_most_weaker : forall p s B B', at_most p s B -> B <= B' -> at_most p s B'.
Proof. intros p s B B' H HB E S eta f z w G u Hu. specialize (H E S eta f z w G u Hu). lra. Qed.

Lemma at_least_weaker : forall p s B B', at_least p s B -> B' <= B -> at_least p s B'.
Proof.
  intros p s B B' (k & S & eta & f & z & w & G & u & Hu & H) HB.
  exists k, S, eta, f, z, w. split; [exact G|]. exists u. split; [exact Hu | lra].
Qed.

(** ** One size: the worst case lies between low and high. *)
Theorem enclosed : forall p D L size2 low high,
  encloses p D L size2 low high = true ->
  at_least p (Q2R size2) (Q2R low) /\ at_most p (Q2R size2) (Q2R high).
Proof.
  intros p D L size2 low high H. unfold encloses in H.
  destruct (problem_check p) eqn:H1; [|discriminate]. destruct (steps_positive p) eqn:H2; [|discriminate].
  destruct (upper_check p D) eqn:H3; [|discriminate]. destruct (stays_below p D size2 high) eqn:H4; [|discriminate].
  destruct (lower_check _ _ _ _ _) eqn:H5; [|discriminate].
  destruct (problem_facts p H1) as [Hl Hd]. split.
  - destruct (lower_feasible p Hl H2 size2 _ _ L H5) as (HT & HM & Hf & Hp & HF & HV).
    assert (K := feasible_game p HT Hd (Q2R size2) (true_steps p) _ HM Hf Hp (true_steps_ok p Hl H2) HF).
    rewrite HV in K. eapply at_least_weaker; [exact K|].
    apply reaches_sound; [eapply unit_g_pos; eauto | exact H].
  - eapply at_most_weaker; [apply (upper_sound p D H1 H3)|].
    assert (Hm := unit_m_pos p D H3). unfold stays_below in H4.
    apply Qle_bool_iff, Qle_Rle in H4. rewrite Q2R_plus, !Q2R_mult, !Q2R_inject_Z in H4.
    apply (Rmult_le_reg_r (IZR (unit_m D))); [exact Hm|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.

(** ** Two sizes and all between: mixtures of two Gram matrices *)
Fixpoint mix_tri (a : R) (M M' : tri R) : tri R :=
  match M, M' with
  | (d, r) :: N, (d', r') :: N' =>
      (a * d + (1 - a) * d', map (fun xy => a * fst xy + (1 - a) * snd xy) (combine r r')) :: mix_tri a N N'
  | _, _ => []
  end.

Lemma mix_length : forall a M M', length M = length M' -> length (mix_tri a M M') = length M.
Proof. induction M as [|[d r] M IH]; intros [|[d' r'] M'] H; simpl in *; try discriminate; auto. Qed.

Lemma mix_fits : forall a M M', length M = length M' -> fits M -> fits M' -> fits (mix_tri a M M').
Proof.
  induction M as [|[d r] M IH]; intros [|[d' r'] M'] H Hf Hf'; simpl in *; try discriminate; auto.
  destruct Hf as [Hr Hf], Hf' as [Hr' Hf'].
  split; [|apply IH; auto]. rewrite map_length, combine_length, mix_length by congruence. lia.
Qed.

Lemma nth_mix : forall a r r' k, length r = length r' ->
  nth k (map (fun xy => a * fst xy + (1 - a) * snd xy) (combine r r')) 0
  = a * nth k r 0 + (1 - a) * nth k r' 0.
Proof.
  induction r as [|x r IH]; intros [|x' r'] k H; simpl in *; try discriminate.
  - destruct k; ring.
  - destruct k as [|k]; [ring|]. apply IH. congruence.
Qed.

Lemma mix_entry : forall a M M' i j, length M = length M' -> fits M -> fits M' ->
  entry 0 (mix_tri a M M') i j = a * entry 0 M i j + (1 - a) * entry 0 M' i j.
Proof.
  induction M as [|[d r] M IH]; intros [|[d' r'] M'] i j H Hf Hf'; simpl in H; try discriminate.
  - simpl. ring.
  - cbn [fits] in Hf, Hf'. destruct Hf as [Hr Hf], Hf' as [Hr' Hf']. injection H as H.
    destruct i as [|i], j as [|j]; cbn [mix_tri entry]; try reflexivity;
      try (apply nth_mix; congruence). apply IH; auto.
Qed.

Lemma mix_quad : forall (E : Space) a M M' (xs : list E), length M = length M' -> fits M -> fits M' ->
  length xs = length M -> quad (mix_tri a M M') xs = a * quad M xs + (1 - a) * quad M' xs.
Proof.
  intros E a. induction M as [|[d r] M IH]; intros [|[d' r'] M'] [|x xs] H Hf Hf' Hx; simpl in H, Hx; try discriminate.
  - simpl. ring.
  - cbn [fits] in Hf, Hf'. destruct Hf as [Hr Hf], Hf' as [Hr' Hf']. injection H as H. injection Hx as Hx.
    cbn [mix_tri quad]. rewrite IH by auto.
    assert (A : forall q q' (ys : list E), length q = length q' ->
      along x (map (fun xy => a * fst xy + (1 - a) * snd xy) (combine q q')) ys
      = a * along x q ys + (1 - a) * along x q' ys).
    { clear. induction q as [|b q IH]; intros [|b' q'] [|y ys] H; simpl in *; try discriminate; try ring.
      rewrite IH by congruence. ring. }
    rewrite A by congruence. ring.
Qed.

(** Two Gram matrices for two sizes: every mixture of the sizes has a game with the mixture
    of their values. *)
Lemma mixture_reaches : forall p d ab L L' size2 size2' low low',
  problem_check p = true -> steps_positive p = true ->
  lower_check p size2 d ab L = true -> lower_check p size2' d ab L' = true ->
  reaches p L low = true -> reaches p L' low' = true ->
  forall c, 0 <= c <= 1 ->
  at_least p (c * Q2R size2 + (1 - c) * Q2R size2') (c * Q2R low + (1 - c) * Q2R low').
Proof.
  intros p d ab L L' size2 size2' low low' H1 H2 H7 H8 H9 H c Hc.
  destruct (problem_facts p H1) as [Hl Hd].
  destruct (lower_feasible p Hl H2 size2 _ _ L H7) as (HT & HM & Hf & Hp & HF & HV).
  destruct (lower_feasible p Hl H2 size2' _ _ L' H8) as (_ & HM' & Hf' & Hp' & HF' & HV').
  set (M := over (unit_g L) (matrix L)) in *. set (M' := over (unit_g L') (matrix L')) in *.
  assert (R1 := reaches_sound p L _ (unit_g_pos _ _ _ _ _ H7) H9).
  assert (R2 := reaches_sound p L' _ (unit_g_pos _ _ _ _ _ H8) H).
  rewrite <- HV in R1. rewrite <- HV' in R2.
  assert (Hlen : length M = length M') by congruence.
  assert (Hent : forall F, value (entry 0 (mix_tri c M M')) F
      = value (fun i j => c * entry 0 M i j + (1 - c) * entry 0 M' i j) F).
  { intros F. apply value_ext. intros i j. apply mix_entry; auto. }
  assert (K : at_least p (c * Q2R size2 + (1 - c) * Q2R size2')
      (value (entry 0 (mix_tri c M M')) (objective p (rounds p)))).
  { apply (feasible_game p HT Hd _ (true_steps p)); auto.
    - rewrite mix_length; auto.
    - apply mix_fits; auto.
    - intros xs Hx. rewrite mix_length in Hx by auto. rewrite mix_quad by auto.
      assert (0 <= quad M xs) by (apply Hp; auto). assert (0 <= quad M' xs) by (apply Hp'; congruence). nra.
    - apply (true_steps_ok p Hl H2).
    - destruct (feasible_mix p _ _ _ _ _ c Hc HF HF') as [A1 A2 A3].
      split; intros; rewrite !Hent; auto. }
  eapply at_least_weaker; [exact K|]. rewrite Hent, value_mix. nra.
Qed.

(** Every s between two numbers is a mixture of them. *)
Lemma between : forall a b s, a < b -> a <= s <= b ->
  exists c, 0 <= c <= 1 /\ s = c * a + (1 - c) * b.
Proof.
  intros a b s Hab Hs. exists ((b - s) / (b - a)).
  assert (Hinv : 0 < / (b - a)) by (apply Rinv_0_lt_compat; lra). split; [split|].
  - apply Rmult_le_pos; lra.
  - apply (Rmult_le_reg_r (b - a)); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
  - field. lra.
Qed.

Lemma sizes_differ : forall a b, negb (Qle_bool b a) = true -> Q2R a < Q2R b.
Proof.
  intros a b H. apply Qlt_Rlt, Qnot_le_lt. intros Hle. apply Qle_bool_iff in Hle.
  rewrite Hle in H. discriminate.
Qed.

Lemma stays_below_strictly_sound : forall p D size2 q, stays_below_strictly p D size2 q = true ->
  IZR (on_gradients (multipliers D)) * Q2R (rho2 p) + IZR (on_distances (multipliers D)) * Q2R size2
  < Q2R q * IZR (unit_m D).
Proof.
  intros p D size2 q H. unfold stays_below_strictly in H.
  destruct (Qle_bool _ _) eqn:Hle; [discriminate|].
  assert (K : (inject_Z (on_gradients (multipliers D)) * rho2 p + inject_Z (on_distances (multipliers D)) * size2
    < q * inject_Z (unit_m D))%Q).
  { apply Qnot_le_lt. intros Hc. apply Qle_bool_iff in Hc. congruence. }
  apply Qlt_Rlt in K. rewrite Q2R_plus, !Q2R_mult, !Q2R_inject_Z in K. exact K.
Qed.

(** The line low = high = a + b·size2 is met at both ends. *)
Definition encloses_line (p : problem) (D : upper) (L L' : lower) (size2 size2' a b : Q) : bool :=
  if problem_check p then if steps_positive p then if upper_check p D then
    if Qle_bool (inject_Z (on_gradients (multipliers D)) * rho2 p) (a * inject_Z (unit_m D)) then
    if Qeq_bool (inject_Z (on_distances (multipliers D))) (b * inject_Z (unit_m D)) then
    if negb (Qle_bool size2' size2) then
    if lower_check p size2 (unit_s D) (near D) L then
    if lower_check p size2' (unit_s D) (near D) L' then
    if reaches p L (a + b * size2) then reaches p L' (a + b * size2')
    else false else false else false else false else false else false else false else false else false.

(** If the check says true, the worst case at every squared size s between the two is
    exactly a + b·s. *)
Theorem enclosed_line : forall p D L L' size2 size2' a b,
  encloses_line p D L L' size2 size2' a b = true ->
  forall s, Q2R size2 <= s <= Q2R size2' ->
  at_least p s (Q2R a + Q2R b * s) /\ at_most p s (Q2R a + Q2R b * s).
Proof.
  intros p D L L' size2 size2' a b H s Hs. unfold encloses_line in H.
  destruct (problem_check p) eqn:H1; [|discriminate]. destruct (steps_positive p) eqn:H2; [|discriminate].
  destruct (upper_check p D) eqn:H3; [|discriminate].
  destruct (Qle_bool (_ * _) (a * _)) eqn:H4; [|discriminate].
  destruct (Qeq_bool _ _) eqn:H5; [|discriminate].
  destruct (negb (Qle_bool size2' size2)) eqn:H6; [|discriminate]. apply sizes_differ in H6.
  destruct (lower_check p size2 _ _ L) eqn:H7; [|discriminate].
  destruct (lower_check p size2' _ _ L') eqn:H8; [|discriminate].
  destruct (reaches p L _) eqn:H9; [|discriminate]. split.
  - destruct (between _ _ s H6 Hs) as [c [Hc Hmix]].
    assert (K := mixture_reaches p _ _ L L' size2 size2' _ _ H1 H2 H7 H8 H9 H c Hc).
    rewrite <- Hmix, !Q2R_plus, !Q2R_mult in K. eapply at_least_weaker; [exact K|]. rewrite Hmix. lra.
  - eapply at_most_weaker; [apply (upper_sound p D H1 H3)|].
    assert (Hm := unit_m_pos p D H3).
    apply Qle_bool_iff, Qle_Rle in H4. apply Qeq_bool_iff, Qeq_eqR in H5.
    rewrite !Q2R_mult, !Q2R_inject_Z in H4. rewrite Q2R_mult, !Q2R_inject_Z in H5.
    apply (Rmult_le_reg_r (IZR (unit_m D))); [exact Hm|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. rewrite H5. lra.
Qed.

(** ** Two learners: the worst case of one lies above that of the other, at all sizes between

    [pe] has two games, for two sizes; [pl] has a bound that is linear in the size and
    lies below both of them. *)
Definition exceeds (pe pl : problem) (D : upper) (L L' : lower) (size2 size2' low low' : Q) : bool :=
  if problem_check pe then if problem_check pl then if steps_positive pe then
    if upper_check pl D then
    if negb (Qle_bool size2' size2) then
    if lower_check pe size2 (unit_s D) (near D) L then
    if lower_check pe size2' (unit_s D) (near D) L' then
    if reaches pe L low then if reaches pe L' low' then
    if stays_below_strictly pl D size2 low then stays_below_strictly pl D size2' low'
    else false else false else false else false else false else false else false else false else false else false.

(** If the check says true, then at every size between there is a game of [pe] with a
    regret above all games of [pl]. *)
Theorem exceeds_between : forall pe pl D L L' size2 size2' low low',
  exceeds pe pl D L L' size2 size2' low low' = true ->
  forall s, Q2R size2 <= s <= Q2R size2' ->
  exists B C, B < C /\ at_most pl s B /\ at_least pe s C.
Proof.
  intros pe pl D L L' size2 size2' low low' H s Hs. unfold exceeds in H.
  destruct (problem_check pe) eqn:H1; [|discriminate]. destruct (problem_check pl) eqn:H1'; [|discriminate].
  destruct (steps_positive pe) eqn:H2; [|discriminate]. destruct (upper_check pl D) eqn:H3; [|discriminate].
  destruct (negb (Qle_bool size2' size2)) eqn:H6; [|discriminate]. apply sizes_differ in H6.
  destruct (lower_check pe size2 _ _ L) eqn:H7; [|discriminate].
  destruct (lower_check pe size2' _ _ L') eqn:H8; [|discriminate].
  destruct (reaches pe L low) eqn:H9; [|discriminate]. destruct (reaches pe L' low') eqn:H10; [|discriminate].
  destruct (stays_below_strictly pl D size2 low) eqn:H11; [|discriminate].
  destruct (between _ _ s H6 Hs) as [c [Hc Hmix]].
  assert (K := mixture_reaches pe _ _ L L' size2 size2' _ _ H1 H2 H7 H8 H9 H10 c Hc). rewrite <- Hmix in K.
  exists ((IZR (on_gradients (multipliers D)) * Q2R (rho2 pl) + IZR (on_distances (multipliers D)) * s) / IZR (unit_m D)),
    (c * Q2R low + (1 - c) * Q2R low').
  split; [|split; [apply (upper_sound pl D H1' H3) | exact K]].
  assert (Hm := unit_m_pos pl D H3).
  apply stays_below_strictly_sound in H11, H. 
  apply (Rmult_lt_reg_r (IZR (unit_m D))); [exact Hm|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. rewrite Hmix.
  set (g := IZR (on_gradients (multipliers D)) * Q2R (rho2 pl)) in *.
  set (b := IZR (on_distances (multipliers D))) in *. set (m := IZR (unit_m D)) in *.
  destruct (Req_dec c 0) as [-> | Hc0]; [nra|].
  assert (c * (g + b * Q2R size2) < c * (Q2R low * m)) by (apply Rmult_lt_compat_l; lra).
  assert ((1 - c) * (g + b * Q2R size2') <= (1 - c) * (Q2R low' * m)) by (apply Rmult_le_compat_l; lra).
  nra.
Qed.
