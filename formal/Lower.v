(** * Lower: from a Gram matrix to a game *)

From Coq Require Import Reals Lra Psatz Lia ZArith QArith Qreals List.
From Formal Require Import Space Psd Game Upper.
Import ListNotations.
Open Scope R_scope.

Lemma value_ext : forall G G' F, (forall i j, G i j = G' i j) -> value G F = value G' F.
Proof. intros G G' F H. induction F as [|[c [i j]] F IH]; simpl; [auto | rewrite IH, H; auto]. Qed.

Lemma value_mix : forall G G' a F,
  value (fun i j => a * G i j + (1 - a) * G' i j) F = a * value G F + (1 - a) * value G' F.
Proof. intros. induction F as [|[c [i j]] F IH]; simpl; [ring | rewrite IH; ring]. Qed.

Section Feasible.
Variable p : problem.
Let T := rounds p.

(** A table of inner products that obeys the conditions of the problem. *)
Record feasible (size2 : R) (eta : nat -> R) (G : nat -> nat -> R) : Prop := {
  f_gradient : forall t, (1 <= t <= T)%nat -> value G (prod (lz t) (lz t)) <= Q2R (rho2 p);
  f_distance : forall a b, valid p a = true -> valid p b = true ->
    (by_diameter p = true \/ a = W 1) ->
    value G (prod (minus (lcorner p a) (lcorner p b)) (minus (lcorner p a) (lcorner p b))) <= size2;
  f_project : forall t c, (delay p + 2 <= t <= T)%nat -> valid p c = true ->
    value G (prod (start p t) (away p t c)) - eta (t - 1)%nat * value G (prod (heard p t) (away p t c))
    - value G (prod (lw p t) (away p t c)) <= 0
}.

(** Mixtures of feasible tables are feasible, for the mixture of the sizes. *)
Lemma feasible_mix : forall s s' eta G G' a, 0 <= a <= 1 ->
  feasible s eta G -> feasible s' eta G' ->
  feasible (a * s + (1 - a) * s') eta (fun i j => a * G i j + (1 - a) * G' i j).
Proof.
  intros s s' eta G G' a Ha [A1 A2 A3] [B1 B2 B3]. split; intros.
  - specialize (A1 t H). specialize (B1 t H). rewrite value_mix. nra.
  - specialize (A2 a0 b H H0 H1). specialize (B2 a0 b H H0 H1). rewrite value_mix. nra.
  - specialize (A3 t c H H0). specialize (B3 t c H H0). rewrite !value_mix. nra.
Qed.

Hypothesis HT : (1 <= T)%nat.
Hypothesis Hdelay : eager p = true -> delay p = 0%nat.

Lemma lw_first : lw p 1 = [].
Proof. unfold lw. replace (Nat.leb 1 (delay p + 1)) with true; auto. symmetry. apply Nat.leb_le. lia. Qed.

Lemma valid_first : valid p (W 1) = true.
Proof. unfold valid. replace (Nat.leb 1 1) with true by reflexivity. apply Nat.leb_le. exact HT. Qed.

(** A feasible table that is positive semidefinite is a game, on the hull of its corners. *)
Theorem feasible_game : forall size2 eta (M : tri R),
  length M = count p -> fits M -> psd M ->
  (forall t, (1 <= t < T)%nat -> 0 <= eta t /\ eta t ^ 2 = Q2R (nth (t - 1) (eta2 p) 0%Q)) ->
  feasible size2 eta (entry 0 M) ->
  at_least p size2 (value (entry 0 M) (objective p T)).
Proof.
  intros size2 eta M Hlen Hfit Hpsd Heta HF.
  destruct (psd_is_gram (count p) M Hlen Hfit Hpsd) as [vs [Hvs HG]].
  assert (Htab : forall F, value (entry 0 M) F = value (table vs) F).
  { intros F. apply value_ext. intros i j. rewrite <- HG. apply gram_entry. }
  set (z := fun t => nth (t - 1) vs zero : Rn (count p)).
  set (w := fun t => lc vs (lw p t) : Rn (count p)).
  set (u := lc vs (lu p) : Rn (count p)).
  set (corners := fun c : Rn (count p) => exists k, valid p k = true /\ c = lc vs (lcorner p k)).
  set (S := hull corners).
  assert (Hcorner : forall k, valid p k = true -> S (lc vs (lcorner p k))).
  { intros k Hk. apply hull_corner. exists k. auto. }
  assert (Hw1 : w 1%nat = zero) by (unfold w; rewrite lw_first; reflexivity).
  assert (HS0 : S zero) by (rewrite <- Hw1; apply (Hcorner (W 1)), valid_first).
  assert (Hz : forall t, lc vs (lz t) = z t) by (intros; apply lc_single).
  assert (HV : forall n y, ⟨lc vs (map (fun i => (1%Z, i)) (seq 0 n)), y⟩ = ⟨VSum n z, y⟩).
  { induction n as [|n IH]; intros y; [reflexivity|].
    rewrite seq_S, map_app, lc_app, IH. simpl map. rewrite lc_single. cbn [VSum]. rewrite inner_add.
    f_equal. unfold z. replace (Datatypes.S n - 1)%nat with n by lia. reflexivity. }
  assert (Hsize : 0 <= size2).
  { assert (K := f_distance _ _ _ HF (W 1) (W 1) valid_first valid_first (or_intror eq_refl)).
    cbn [lcorner] in K. rewrite lw_first in K. simpl in K. exact K. }
  assert (Hss : sqrt size2 ^ 2 = size2) by (simpl; rewrite Rmult_1_r; apply sqrt_sqrt, Hsize).
  assert (Hdist : forall a b, valid p a = true -> valid p b = true -> (by_diameter p = true \/ a = W 1) ->
    norm (lc vs (lcorner p a) - lc vs (lcorner p b)) <= sqrt size2).
  { intros a b Ha Hb Hab. apply le_norm; [apply sqrt_pos|]. rewrite Hss.
    assert (K := f_distance _ _ _ HF a b Ha Hb Hab).
    rewrite Htab, value_prod, lc_minus, lc_minus_r in K. exact K. }
  exists (count p), S, eta, (fun t v => ⟨z t, v⟩), z, w. split; [split|].
  - apply hull_convex.
  - apply hull_closed.
  - exact HS0.
  - destruct (by_diameter p) eqn:Hd.
    + intros x y Hx Hy. rewrite <- Hss. apply pow_incr. split; [apply norm_nonneg|].
      apply (hull_diameter corners); auto. intros a b [ka [Hka ->]] [kb [Hkb ->]]. apply Hdist; auto.
    + intros x Hx. rewrite <- Hss. apply pow_incr. split; [apply norm_nonneg|].
      replace (norm x) with (norm (x - zero)) by (unfold norm; f_equal; products; ring).
      apply (hull_ball corners); auto. intros a [ka [Hka ->]].
      rewrite norm_sub_sym. assert (K := Hdist (W 1) ka valid_first Hka (or_intror eq_refl)).
      cbn [lcorner] in K. rewrite lw_first in K. exact K.
  - exact Heta.
  - intros t Ht. split; [|split].
    + intros x y a _ _ _. cbv beta. rewrite inner_add_r, !inner_scale_r. apply Rle_refl.
    + intros v _. cbv beta. rewrite inner_sub_r. right. ring.
    + rewrite norm_square. assert (K := f_gradient _ _ _ HF t Ht).
      rewrite Htab, value_prod, Hz in K. exact K.
  - exact Hw1.
  - intros t Ht.
    assert (Hin : S (w (t + 1)%nat)).
    { apply (Hcorner (W (t + 1))). cbn [valid]. replace (Nat.leb 1 (t + 1)) with true by (symmetry; apply Nat.leb_le; lia).
      apply Nat.leb_le. unfold T in *. lia. }
    apply (the_angle S _ _ (hull_convex corners) Hin).
    intros s Hs.
    destruct (Nat.leb (t + 1) (delay p + 1)) eqn:Hearly.
    + apply Nat.leb_le in Hearly.
      assert (Hw : w (t + 1)%nat = zero).
      { unfold w, lw. replace (Nat.leb (t + 1) (delay p + 1)) with true by (symmetry; apply Nat.leb_le; lia). reflexivity. }
      rewrite Hw. unfold target. destruct (eager p); [specialize (Hdelay eq_refl); lia|].
      replace (t - delay p)%nat with 0%nat by lia. simpl VSum. products. lra.
    + apply Nat.leb_gt in Hearly.
      set (y := target p eta z w t).
      assert (K : ⟨y - w (t + 1)%nat, s⟩ <= ⟨y - w (t + 1)%nat, w (t + 1)%nat⟩).
      { apply (hull_half_space corners); auto. intros c [k [Hk ->]].
        assert (P := f_project _ _ _ HF (t + 1)%nat k ltac:(lia) Hk).
        rewrite !Htab, !value_prod in P. unfold away in P. rewrite !lc_minus_r in P.
        fold (w (t + 1)%nat) in P. replace (t + 1 - 1)%nat with t in P by lia.
        set (v := lc vs (lcorner p k)) in *.
        assert (Y : ⟨y, v - w (t + 1)%nat⟩
          = ⟨lc vs (start p (t + 1)), v - w (t + 1)%nat⟩ - eta t * ⟨lc vs (heard p (t + 1)), v - w (t + 1)%nat⟩).
        { unfold y, target, start, heard. replace (t + 1 - 1)%nat with t by lia.
          destruct (eager p).
          - rewrite Hz. fold (w t). rewrite inner_sub, inner_scale. reflexivity.
          - rewrite HV. cbn [lc]. rewrite inner_zero, inner_scale. ring. }
        assert (D : ⟨y - w (t + 1)%nat, v - w (t + 1)%nat⟩ <= 0) by (rewrite inner_sub, Y; lra).
        rewrite inner_sub_r in D. lra. }
      rewrite inner_sub_r. lra.
  - exists u. split; [apply (Hcorner U); reflexivity|].
    right. unfold regret. fold T. rewrite Htab.
    assert (Obj : forall n, value (table vs) (objective p n) = Σ t ≤ n, (⟨z t, w t⟩ - ⟨z t, u⟩)).
    { induction n as [|n IH]; [reflexivity|]. cbn [objective].
      rewrite value_app, value_prod, lc_minus_r, IH, Sum_S, Hz, inner_sub_r.
      unfold w, u. ring. }
    apply Obj.
Qed.
End Feasible.

(** ** The check *)
Fixpoint whole_value (K : tri Z) (F : form) : Z :=
  match F with [] => 0%Z | (c, (i, j)) :: F' => (c * entry 0%Z K i j + whole_value K F')%Z end.

Section Check.
Variable p : problem.
Let T := rounds p.

Definition corners : list corner := W 1 :: U :: map W (seq (delay p + 2) (T - delay p - 1)).

(** The data of a lower bound: the Gram matrix [matrix]/[unit_g]. *)
Record lower := Lower { unit_g : Z; matrix : tri Z; proof_g : witness }.

Definition at_most_q (x : Z) (q : Q) (g : Z) : bool := Z.leb (x * Zpos (Qden q)) (Qnum q * g).

Definition gradients_check (L : lower) : bool :=
  forallb (fun t => at_most_q (whole_value (matrix L) (prod (lz t) (lz t))) (rho2 p) (unit_g L)) (seq 1 T).
Definition distances_check (L : lower) (size2 : Q) : bool :=
  forallb (fun a => forallb (fun b =>
      let v := minus (lcorner p a) (lcorner p b) in
      at_most_q (whole_value (matrix L) (prod v v)) size2 (unit_g L)) corners)
    (if by_diameter p then corners else [W 1]).
Definition projections_check (L : lower) (d : Z) (ab : list (Z * Z)) : bool :=
  forallb (fun t => forallb (fun c =>
      let (a, b) := step_of ab (t - 1) in
      let v := away p t c in
      let h := whole_value (matrix L) (prod (heard p t) v) in
      Z.leb (d * whole_value (matrix L) (prod (start p t) v) - a * h
             - d * whole_value (matrix L) (prod (lw p t) v) + b * Z.abs h) 0) corners)
    (seq (delay p + 2) (T - delay p - 1)).

Definition lower_check (size2 : Q) (d : Z) (ab : list (Z * Z)) (L : lower) : bool :=
  if Nat.leb 1 T then if Z.ltb 0 (unit_g L) then if Z.ltb 0 d then
    if Nat.eqb (length (matrix L)) (count p) then if rows_fit (matrix L) then
      if steps_check d ab (eta2 p) then
        if gradients_check L then if distances_check L size2 then
          if projections_check L d ab then psd_check (matrix L) (proof_g L)
          else false else false else false else false else false else false else false else false else false.

(** The real matrix. *)
Definition over (g : Z) (K : tri Z) : tri R :=
  map (fun row => (IZR (fst row) / IZR g, map (fun x => IZR x / IZR g) (snd row))) K.

Lemma over_entry : forall g K i j, g <> 0%Z -> entry 0 (over g K) i j = IZR (entry 0%Z K i j) / IZR g.
Proof.
  intros g K i j Hg. assert (IZR g <> 0) by (apply not_0_IZR; exact Hg).
  assert (Hn : forall (r : list Z) k, nth k (map (fun x => IZR x / IZR g) r) 0 = IZR (nth k r 0%Z) / IZR g).
  { intros r k. replace 0 with (IZR 0 / IZR g) by (simpl; field; assumption).
    rewrite (map_nth (fun x => IZR x / IZR g)). simpl. field_simplify; auto. }
  revert i j. induction K as [|[d r] K IH]; intros i j; cbn [over map entry].
  - simpl. field. assumption.
  - destruct i, j; cbn [fst snd]; auto.
Qed.

Lemma over_quad : forall (E : Space) g K (xs : list E), g <> 0%Z ->
  quad (over g K) xs = quad (real K) xs / IZR g.
Proof.
  intros E g K xs Hg. assert (IZR g <> 0) by (apply not_0_IZR; exact Hg).
  assert (Ha : forall (x : E) (r : list Z) ys, along x (map (fun v => IZR v / IZR g) r) ys = along x (map IZR r) ys / IZR g).
  { intros x r. induction r as [|a r IH]; intros [|y ys]; cbn [along map]; try (field; assumption).
    rewrite IH. field. assumption. }
  revert xs. induction K as [|[d r] K IH]; intros [|x xs]; cbn [over real map quad fst snd]; try (field; assumption).
  unfold over, real in IH. rewrite IH, Ha. field. assumption.
Qed.

Lemma over_fits : forall g K, rows_fit K = true -> fits (over g K).
Proof.
  intros g. induction K as [|[d r] K IH]; intros H; cbn [rows_fit over map fits] in *; auto.
  destruct (Nat.eqb (length r) (length K)) eqn:Hr; [|discriminate]. apply Nat.eqb_eq in Hr.
  cbn [snd]. rewrite !map_length. split; [exact Hr | apply IH, H].
Qed.

Lemma whole_value_over : forall g K F, g <> 0%Z ->
  value (entry 0 (over g K)) F = IZR (whole_value K F) / IZR g.
Proof.
  intros g K F Hg. assert (IZR g <> 0) by (apply not_0_IZR; exact Hg).
  induction F as [|[c [i j]] F IH]; cbn [value whole_value]; [simpl; field; assumption|].
  rewrite IH, over_entry, plus_IZR, mult_IZR by assumption. field. assumption.
Qed.

Lemma at_most_q_sound : forall x q g, (0 < g)%Z -> at_most_q x q g = true -> IZR x / IZR g <= Q2R q.
Proof.
  intros x q g Hg H. unfold at_most_q in H. apply Z.leb_le, IZR_le in H. rewrite !mult_IZR in H.
  apply IZR_lt in Hg. unfold Q2R. assert (Hd : 0 < IZR (Zpos (Qden q))) by (apply IZR_lt; lia).
  apply (Rmult_le_reg_r (IZR g * IZR (Zpos (Qden q)))); [nra|].
  replace (IZR x / IZR g * (IZR g * IZR (Zpos (Qden q)))) with (IZR x * IZR (Zpos (Qden q))) by (field; lra).
  replace (IZR (Qnum q) * / IZR (Zpos (Qden q)) * (IZR g * IZR (Zpos (Qden q)))) with (IZR (Qnum q) * IZR g) by (field; lra).
  exact H.
Qed.

Lemma corners_all : forall c, valid p c = true -> exists c', In c' corners /\ lcorner p c' = lcorner p c.
Proof.
  intros [t|] H.
  - assert (Ht : (1 <= t <= T)%nat).
    { cbn [valid] in H. destruct (Nat.leb 1 t) eqn:H1; [|discriminate].
      apply Nat.leb_le in H1, H. unfold T. lia. }
    destruct (Nat.leb t (delay p + 1)) eqn:He.
    + exists (W 1). split; [left; reflexivity|]. cbn [lcorner]. unfold lw. rewrite He.
      replace (Nat.leb 1 (delay p + 1)) with true by (symmetry; apply Nat.leb_le; lia). reflexivity.
    + apply Nat.leb_gt in He. exists (W t). split; [|reflexivity]. right. right.
      apply in_map, in_seq. lia.
  - exists U. split; [right; left; reflexivity | reflexivity].
Qed.

Definition true_steps (t : nat) : R := sqrt (Q2R (nth (t - 1) (eta2 p) 0%Q)).

Hypothesis Hl : length (eta2 p) = (T - 1)%nat.
Hypothesis Hpos : forallb (fun q => Z.leb 0 (Qnum q)) (eta2 p) = true.

Lemma true_steps_ok : forall t, (1 <= t < T)%nat ->
  0 <= true_steps t /\ true_steps t ^ 2 = Q2R (nth (t - 1) (eta2 p) 0%Q).
Proof.
  intros t Ht. split; [apply sqrt_pos|]. unfold true_steps. simpl. rewrite Rmult_1_r. apply sqrt_sqrt.
  assert (Hin : In (nth (t - 1) (eta2 p) 0%Q) (eta2 p)) by (apply nth_In; unfold T in *; lia).
  rewrite forallb_forall in Hpos. specialize (Hpos _ Hin). apply Z.leb_le, IZR_le in Hpos.
  unfold Q2R. apply Rmult_le_pos; [exact Hpos | left; apply Rinv_0_lt_compat, IZR_lt; lia].
Qed.

(** What the check gives: a semidefinite, feasible table. *)
Lemma lower_feasible : forall size2 d ab L, lower_check size2 d ab L = true ->
  let M := over (unit_g L) (matrix L) in
  (1 <= T)%nat /\ length M = count p /\ fits M /\ psd M /\
  feasible p (Q2R size2) true_steps (entry 0 M) /\
  value (entry 0 M) (objective p T) = IZR (whole_value (matrix L) (objective p T)) / IZR (unit_g L).
Proof.
  intros size2 d ab L H M. unfold lower_check in H.
  destruct (Nat.leb 1 T) eqn:H0; [|discriminate]. destruct (Z.ltb 0 (unit_g L)) eqn:H1; [|discriminate].
  destruct (Z.ltb 0 d) eqn:H2; [|discriminate]. destruct (Nat.eqb _ _) eqn:H3; [|discriminate].
  destruct (rows_fit _) eqn:H4; [|discriminate]. destruct (steps_check _ _ _) eqn:H5; [|discriminate].
  destruct (gradients_check L) eqn:H6; [|discriminate]. destruct (distances_check L size2) eqn:H7; [|discriminate].
  destruct (projections_check L d ab) eqn:H8; [|discriminate].
  apply Nat.leb_le in H0. apply Z.ltb_lt in H1, H2. apply Nat.eqb_eq in H3.
  assert (Hg : unit_g L <> 0%Z) by lia.
  assert (Hgr : 0 < IZR (unit_g L)) by (apply IZR_lt; lia).
  split; [exact H0|]. split; [unfold M, over; rewrite map_length; exact H3|].
  split; [apply over_fits, H4|]. split; [|split; [|apply whole_value_over, Hg]].
  - intros xs Hx. unfold M. rewrite over_quad by exact Hg.
    apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; exact Hgr].
    apply (psd_sound (matrix L) (proof_g L) xs H). rewrite Hx. unfold M, over. apply map_length.
  - split.
    + intros t Ht. unfold M. rewrite whole_value_over by exact Hg. apply at_most_q_sound; auto.
      unfold gradients_check in H6. rewrite forallb_forall in H6. apply H6, in_seq. unfold T in *. lia.
    + intros a b Ha Hb Hab. unfold M. rewrite whole_value_over by exact Hg. apply at_most_q_sound; auto.
      unfold distances_check in H7. rewrite forallb_forall in H7.
      destruct (corners_all b Hb) as [b' [Hb1 Hb2]]. rewrite <- Hb2.
      destruct Hab as [Hab | ->].
      * rewrite Hab in H7. destruct (corners_all a Ha) as [a' [Ha1 Ha2]]. rewrite <- Ha2.
        specialize (H7 a' Ha1). rewrite forallb_forall in H7. apply (H7 b' Hb1).
      * assert (Hin : In (W 1) (if by_diameter p then corners else [W 1]))
          by (destruct (by_diameter p); left; reflexivity).
        specialize (H7 _ Hin). rewrite forallb_forall in H7. apply (H7 b' Hb1).
    + intros t c Ht Hc. unfold M. rewrite !whole_value_over by exact Hg.
      unfold projections_check in H8. rewrite forallb_forall in H8.
      specialize (H8 t ltac:(apply in_seq; unfold T in *; lia)). rewrite forallb_forall in H8.
      destruct (corners_all c Hc) as [c' [Hc1 Hc2]]. specialize (H8 c' Hc1).
      unfold away in *. rewrite Hc2 in H8.
      destruct (true_steps_ok (t - 1)%nat ltac:(unfold T in *; lia)) as [E0 E1].
      assert (K := steps_sound d ab (eta2 p) (t - 1 - 1) (true_steps (t - 1)) H2 H5 ltac:(unfold T in *; lia) E0 E1).
      unfold step_of in H8. destruct (nth (t - 1 - 1) ab (0%Z, 0%Z)) as [a b].
      apply Z.leb_le, IZR_le in H8. rewrite plus_IZR, !minus_IZR, !mult_IZR, abs_IZR in H8.
      set (s := IZR (whole_value (matrix L) (prod (start p t) _))) in *.
      set (h := IZR (whole_value (matrix L) (prod (heard p t) _))) in *.
      set (q := IZR (whole_value (matrix L) (prod (lw p t) _))) in *.
      set (eta := true_steps (t - 1)) in *. apply IZR_lt in H2.
      assert (K' : - IZR b <= IZR d * eta - IZR a <= IZR b)
        by (unfold Rabs in K; destruct (Rcase_abs _) in K; lra).
      assert (Hb : - (IZR b * Rabs h) <= (IZR d * eta - IZR a) * h).
      { unfold Rabs. destruct (Rcase_abs h); nra. }
      assert (Fin : IZR d * (s - eta * h - q) <= 0) by nra.
      assert (Fin' : s - eta * h - q <= 0) by nra.
      replace (s / IZR (unit_g L) - eta * (h / IZR (unit_g L)) - q / IZR (unit_g L))
        with ((s - eta * h - q) * / IZR (unit_g L)) by (field; lra).
      assert (0 < / IZR (unit_g L)) by (apply Rinv_0_lt_compat; exact Hgr). nra.
Qed.
End Check.
