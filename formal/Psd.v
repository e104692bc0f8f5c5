(** * Psd: positive semidefinite matrices, decided with whole numbers

    A symmetric matrix is given by its upper triangle: a list with, for each row, the
    entry on the diagonal and the entries to the right of it. *)

From Coq Require Import Reals Lra Psatz Lia ZArith List.
From Formal Require Import Space.
Import ListNotations.
Open Scope R_scope.

(** ** R^k is a real inner product space *)
Fixpoint Vec (k : nat) : Type :=
  match k with O => unit | S n => (R * Vec n)%type end.
Fixpoint vzero {k} : Vec k :=
  match k with O => tt | S n => (0, vzero) end.
Fixpoint vadd {k} : Vec k -> Vec k -> Vec k :=
  match k with O => fun _ _ => tt | S n => fun x y => (fst x + fst y, vadd (snd x) (snd y)) end.
Fixpoint vscale {k} (a : R) : Vec k -> Vec k :=
  match k with O => fun _ => tt | S n => fun x => (a * fst x, vscale a (snd x)) end.
Fixpoint vinner {k} : Vec k -> Vec k -> R :=
  match k with O => fun _ _ => 0 | S n => fun x y => fst x * fst y + vinner (snd x) (snd y) end.

Lemma vec_ext : forall n (x y : Vec (S n)), fst x = fst y -> snd x = snd y -> x = y.
Proof. intros n [a b] [c d]; simpl; congruence. Qed.

Lemma vinner_nonneg : forall k (x : Vec k), 0 <= vinner x x.
Proof. induction k as [|k IH]; intros x; simpl; [lra|]. specialize (IH (snd x)). nra. Qed.

(** The space R^k with its usual inner product. *)
Definition Rn (k : nat) : Space.
Proof.
  refine {| point := Vec k; zero := vzero; add := vadd; scale := vscale; inner := vinner |}.
  - induction k as [|k IH]; intros; [destruct x, y; reflexivity | apply vec_ext; simpl; [ring | apply IH]].
  - induction k as [|k IH]; intros; [reflexivity | apply vec_ext; simpl; [ring | apply IH]].
  - induction k as [|k IH]; intros; [destruct x; reflexivity | apply vec_ext; simpl; [ring | apply IH]].
  - induction k as [|k IH]; intros; [reflexivity | apply vec_ext; simpl; [ring | apply IH]].
  - induction k as [|k IH]; intros; [destruct x; reflexivity | apply vec_ext; simpl; [ring | apply IH]].
  - induction k as [|k IH]; intros; [reflexivity | apply vec_ext; simpl; [ring | apply IH]].
  - induction k as [|k IH]; intros; [reflexivity | apply vec_ext; simpl; [ring | apply IH]].
  - induction k as [|k IH]; intros; [reflexivity | apply vec_ext; simpl; [ring | apply IH]].
  - induction k as [|k IH]; intros; simpl; [reflexivity | rewrite (IH (snd x)); ring].
  - induction k as [|k IH]; intros; simpl; [ring | rewrite IH; ring].
  - induction k as [|k IH]; intros; simpl; [ring | rewrite IH; ring].
  - intros. apply vinner_nonneg.
  - induction k as [|k IH]; intros x Hx; [destruct x; reflexivity|].
    simpl in Hx. assert (K := vinner_nonneg k (snd x)).
    apply vec_ext; simpl; [nra | apply IH; nra].
Defined.

(** ** Triangles *)
Definition tri (A : Type) := list (A * list A).

Definition real (M : tri Z) : tri R := map (fun row => (IZR (fst row), map IZR (snd row))) M.

Section Quadratic.
Context {E : Space}.

(** r_1⟨x, x_1⟩ + r_2⟨x, x_2⟩ + ... *)
Fixpoint along (x : E) (r : list R) (xs : list E) : R :=
  match r, xs with
  | a :: r', y :: xs' => a * ⟨x, y⟩ + along x r' xs'
  | _, _ => 0
  end.

(** Σ_i Σ_j M_ij ⟨x_i, x_j⟩ *)
Fixpoint quad (M : tri R) (xs : list E) : R :=
  match M, xs with
  | (d, r) :: M', x :: xs' => d * ⟨x, x⟩ + 2 * along x r xs' + quad M' xs'
  | _, _ => 0
  end.

(** a_1 x_1 + a_2 x_2 + ... *)
Fixpoint combine_with (a : list R) (xs : list E) : E :=
  match a, xs with
  | c :: a', x :: xs' => (c · x + combine_with a' xs')%V
  | _, _ => zero
  end.

Lemma along_inner : forall x r xs, along x r xs = ⟨x, combine_with r xs⟩.
Proof.
  induction r as [|a r IH]; intros [|y xs]; simpl; try (rewrite inner_zero_r; reflexivity).
  rewrite IH. products. ring.
Qed.
End Quadratic.

(** ** The witness of semidefiniteness

    M is positive semidefinite if s·M = Σ d_k v_k v_kᵀ + rest with s > 0, d_k >= 0 and a
    rest that is diagonally dominant. The witness (s and the d_k, v_k) may come from
    anywhere; the check is exact arithmetic on whole numbers. *)
Fixpoint mul_row (c : Z) (r : list Z) : list Z :=
  match r with [] => [] | a :: r' => (c * a)%Z :: mul_row c r' end.
Fixpoint sub_row (r q : list Z) : list Z :=
  match r, q with
  | a :: r', b :: q' => (a - b)%Z :: sub_row r' q'
  | _, [] => r
  | [], b :: q' => (- b)%Z :: sub_row [] q'
  end.
Definition scale_tri (c : Z) (M : tri Z) : tri Z :=
  map (fun row => ((c * fst row)%Z, mul_row c (snd row))) M.

(** M - d v vᵀ *)
Fixpoint minus_square (M : tri Z) (d : Z) (v : list Z) : tri Z :=
  match M, v with
  | (m, r) :: M', a :: v' =>
      let da := (d * a)%Z in ((m - da * a)%Z, sub_row r (mul_row da v')) :: minus_square M' d v'
  | _, _ => M
  end.

Fixpoint add_abs (debt r : list Z) : list Z :=
  match debt, r with
  | b :: debt', a :: r' => (b + Z.abs a)%Z :: add_abs debt' r'
  | _, [] => debt
  | [], a :: r' => Z.abs a :: add_abs [] r'
  end.
Fixpoint total_abs (r : list Z) : Z :=
  match r with [] => 0%Z | a :: r' => (Z.abs a + total_abs r')%Z end.

(** No diagonal entry is less than the sum of the absolute values beside it. *)
Fixpoint dominant (M : tri Z) (debt : list Z) : bool :=
  match M with
  | [] => true
  | (d, r) :: M' =>
      let (b, debt') := match debt with [] => (0%Z, []) | b :: l => (b, l) end in
      if Z.leb (b + total_abs r)%Z d then dominant M' (add_abs debt' r) else false
  end.

Definition witness := (Z * list (Z * list Z))%type.

Fixpoint squares_nonneg (l : list (Z * list Z)) : bool :=
  match l with [] => true | (d, _) :: l' => if Z.leb 0 d then squares_nonneg l' else false end.

(** Each v_k begins with zeros in the places before k; they are not stored. So the k-th
    square is taken off what is left of M after its first k rows. [rows_fit] makes
    sure that lengths are as they should be. *)
Fixpoint rows_fit (M : tri Z) : bool :=
  match M with
  | [] => true
  | (_, r) :: M' => if Nat.eqb (length r) (length M') then rows_fit M' else false
  end.

Fixpoint remainder (M : tri Z) (l : list (Z * list Z)) : tri Z :=
  match M, l with
  | _, [] => M
  | [], _ => []
  | row :: M', (d, v) :: l' =>
      match minus_square (row :: M') d v with
      | [] => []
      | row' :: rest => row' :: remainder rest l'
      end
  end.

Definition psd_check (M : tri Z) (w : witness) : bool :=
  if Z.ltb 0 (fst w) then
    if squares_nonneg (snd w) then
      if rows_fit M then dominant (remainder (scale_tri (fst w) M) (snd w)) [] else false
    else false
  else false.

Section Soundness.
Context {E : Space}.

Lemma along_sub : forall (x : E) r q xs,
  along x (map IZR (sub_row r q)) xs = along x (map IZR r) xs - along x (map IZR q) xs.
Proof.
  induction r as [|a r IH]; intros q xs.
  - revert xs. induction q as [|b q IHq]; intros [|y xs]; simpl; try ring.
    rewrite opp_IZR, IHq. simpl. ring.
  - destruct q as [|b q]; destruct xs as [|y xs]; simpl; try ring.
    rewrite minus_IZR, IH. ring.
Qed.

Lemma along_mul : forall (x : E) c r xs,
  along x (map IZR (mul_row c r)) xs = IZR c * along x (map IZR r) xs.
Proof.
  induction r as [|a r IH]; intros [|y xs]; simpl; try ring. rewrite mult_IZR, IH. ring.
Qed.

Lemma quad_minus_square : forall M d v (xs : list E), length xs = length M ->
  quad (real (minus_square M d v)) xs
  = quad (real M) xs - IZR d * ⟨combine_with (map IZR v) xs, combine_with (map IZR v) xs⟩.
Proof.
  induction M as [|[m r] M IH]; intros d v xs Hl.
  - destruct xs; [|discriminate]. destruct v; simpl; products; ring.
  - destruct xs as [|x xs]; [discriminate|]. destruct v as [|a v].
    + simpl. products. ring.
    + simpl in *. rewrite IH by congruence. rewrite minus_IZR, along_sub, along_mul, !mult_IZR.
      rewrite (along_inner x (map IZR v) xs). products. ring.
Qed.

Lemma scale_quad : forall c M (xs : list E), quad (real (scale_tri c M)) xs = IZR c * quad (real M) xs.
Proof.
  induction M as [|[m r] M IH]; intros [|x xs]; simpl; try ring.
  rewrite IH, along_mul, mult_IZR. ring.
Qed.

(** Σ b_i ⟨x_i, x_i⟩ *)
Fixpoint weighted (b : list R) (xs : list E) : R :=
  match b, xs with
  | c :: b', x :: xs' => c * ⟨x, x⟩ + weighted b' xs'
  | _, _ => 0
  end.

Lemma weighted_add : forall debt r (xs : list E),
  weighted (map IZR (add_abs debt r)) xs
  = weighted (map IZR debt) xs + weighted (map (fun a => Rabs (IZR a)) r) xs.
Proof.
  induction debt as [|b debt IH]; intros r xs.
  - revert xs. induction r as [|a r IHr]; intros [|x xs]; simpl; try ring.
    rewrite IHr, abs_IZR. simpl. ring.
  - destruct r as [|a r]; destruct xs as [|x xs]; simpl; try ring.
    rewrite IH, plus_IZR, abs_IZR. ring.
Qed.

Lemma along_dominated : forall (x : E) r xs,
  - (IZR (total_abs r) * ⟨x, x⟩ + weighted (map (fun a => Rabs (IZR a)) r) xs)
  <= 2 * along x (map IZR r) xs.
Proof.
  induction r as [|a r IH]; intros [|y xs]; simpl; try lra.
  - rewrite plus_IZR, abs_IZR. assert (0 <= Rabs (IZR a) * ⟨x, x⟩) by (apply Rmult_le_pos; [apply Rabs_pos | apply inner_nonneg]).
    assert (0 <= IZR (total_abs r) * ⟨x, x⟩).
    { apply Rmult_le_pos; [|apply inner_nonneg]. clear. induction r; simpl; [lra|].
      rewrite plus_IZR, abs_IZR. pose proof (Rabs_pos (IZR a)). lra. }
    lra.
  - rewrite plus_IZR, abs_IZR. specialize (IH xs).
    assert (- (Rabs (IZR a) * ⟨x, x⟩ + Rabs (IZR a) * ⟨y, y⟩) <= 2 * (IZR a * ⟨x, y⟩)); [|lra].
    pose proof (inner_nonneg _ (x + y)) as P. pose proof (inner_nonneg _ (x - y)) as Q. products.
    unfold Rabs. destruct (Rcase_abs (IZR a)); nra.
Qed.

Lemma dominant_sound : forall M debt (xs : list E), length xs = length M ->
  dominant M debt = true -> weighted (map IZR debt) xs <= quad (real M) xs.
Proof.
  induction M as [|[d r] M IH]; intros debt xs Hl H.
  - destruct xs; [|discriminate]. destruct debt; simpl; lra.
  - destruct xs as [|x xs]; [discriminate|]. cbn [dominant] in H.
    assert (A := along_dominated x r xs). assert (N := inner_nonneg _ x).
    destruct debt as [|b debt]; destruct (Z.leb _ d) eqn:Hd; try discriminate;
      apply Z.leb_le, IZR_le in Hd; rewrite plus_IZR in Hd; simpl in Hl; apply IH with (xs := xs) in H; try congruence;
      rewrite weighted_add in H; simpl in *; nra.
Qed.

Lemma minus_square_length : forall M d v, length (minus_square M d v) = length M.
Proof. induction M as [|[m r] M IH]; intros d [|a v]; simpl; auto. Qed.

Lemma remainder_length : forall M l, length (remainder M l) = length M.
Proof.
  intros M l. revert M. induction l as [|[d v] l IH]; intros [|row M]; try reflexivity.
  cbn [remainder]. assert (K := minus_square_length (row :: M) d v).
  destruct (minus_square (row :: M) d v); [discriminate|]. simpl in *. rewrite IH. congruence.
Qed.

Lemma remainder_below : forall l M (xs : list E), length xs = length M ->
  squares_nonneg l = true -> quad (real (remainder M l)) xs <= quad (real M) xs.
Proof.
  induction l as [|[d v] l IH]; intros M xs Hl Hs.
  - destruct M; simpl; lra.
  - destruct M as [|row M]; [simpl; lra|]. cbn [remainder]. simpl in Hs.
    destruct (Z.leb 0 d) eqn:Hd; [|discriminate]. apply Z.leb_le, IZR_le in Hd.
    assert (K := quad_minus_square (row :: M) d v xs Hl).
    assert (L := minus_square_length (row :: M) d v).
    pose proof (inner_nonneg _ (combine_with (map IZR v) xs)) as N.
    destruct (minus_square (row :: M) d v) as [|[m r] rest]; [discriminate|].
    destruct xs as [|x xs]; [discriminate|]. simpl in Hl, L.
    specialize (IH rest xs ltac:(congruence) Hs).
    assert (quad (real ((m, r) :: remainder rest l)) (x :: xs) <= quad (real ((m, r) :: rest)) (x :: xs)) by (simpl; lra).
    nra.
Qed.

Theorem psd_sound : forall M w (xs : list E), psd_check M w = true ->
  length xs = length M -> 0 <= quad (real M) xs.
Proof.
  intros M [s l] xs H Hl. unfold psd_check in H. cbn [fst snd] in H.
  destruct (Z.ltb 0 s) eqn:Hs; [|discriminate]. destruct (squares_nonneg l) eqn:Hsq; [|discriminate].
  destruct (rows_fit M); [|discriminate].
  apply Z.ltb_lt, IZR_lt in Hs.
  assert (Hl2 : length xs = length (scale_tri s M)) by (unfold scale_tri; rewrite map_length; exact Hl).
  assert (A := remainder_below l (scale_tri s M) xs Hl2 Hsq).
  apply dominant_sound with (xs := xs) in H; [|rewrite remainder_length; exact Hl2].
  rewrite scale_quad in A. simpl in H. nra.
Qed.
End Soundness.

(** ** Every positive semidefinite matrix is a Gram matrix in R^k, k its size *)
Fixpoint gram {E : Space} (xs : list E) : tri R :=
  match xs with
  | [] => []
  | x :: xs' => (⟨x, x⟩, map (fun y => ⟨x, y⟩) xs') :: gram xs'
  end.

(** Each row has as many entries as there are rows below it. *)
Fixpoint fits (M : tri R) : Prop :=
  match M with [] => True | (_, r) :: M' => length r = length M' /\ fits M' end.

(** Positive semidefinite: no real numbers make the quadratic form negative. *)
Definition psd (M : tri R) : Prop :=
  forall xs : list (Rn 1), length xs = length M -> 0 <= quad M xs.

Definition number (a : R) : Rn 1 := (a, tt).

(** M minus (r_i r_j)/d. *)
Fixpoint schur (M : tri R) (d : R) (r : list R) : tri R :=
  match M, r with
  | (m, q) :: M', a :: r' =>
      (m - a * a / d, map (fun bc => fst bc - a * snd bc / d) (combine q r')) :: schur M' d r'
  | _, _ => []
  end.

Lemma schur_length : forall M d r, length r = length M -> length (schur M d r) = length M.
Proof.
  induction M as [|[m q] M IH]; intros d [|a r] H; simpl in *; try discriminate; auto.
Qed.

Lemma schur_fits : forall M d r, fits M -> length r = length M -> fits (schur M d r).
Proof.
  induction M as [|[m q] M IH]; intros d [|a r] Hf H; simpl in *; try discriminate; auto.
  destruct Hf as [Hq Hf]. split; [|apply IH; auto].
  rewrite map_length, combine_length, schur_length by auto. lia.
Qed.

Lemma along_schur : forall {E : Space} (x : E) q r a d (xs : list E),
  length q = length r -> length xs = length r ->
  along x (map (fun bc => fst bc - a * snd bc / d) (combine q r)) xs
  = along x q xs - a / d * along x r xs.
Proof.
  induction q as [|b q IH]; intros [|c r] a d [|y xs] H1 H2; simpl in *; try discriminate; try ring.
  rewrite IH by congruence. unfold Rdiv. ring.
Qed.

Lemma quad_schur : forall {E : Space} M d r (xs : list E), d <> 0 -> fits M ->
  length r = length M -> length xs = length M ->
  quad (schur M d r) xs = quad M xs - ⟨combine_with r xs, combine_with r xs⟩ / d.
Proof.
  induction M as [|[m q] M IH]; intros d [|a r] [|x xs] Hd Hf H1 H2; simpl in *; try discriminate.
  - products. field. assumption.
  - destruct Hf as [Hq Hf]. rewrite IH by (auto; congruence).
    rewrite along_schur by congruence. rewrite !(along_inner x r xs). products.
    field. assumption.
Qed.

Lemma along_zeros : forall (x : Rn 1) q (M : tri R), along x q (map (fun _ => number 0) M) = 0.
Proof.
  intros x q M. revert M. induction q as [|a q IH]; intros [|row M]; cbn [along map]; auto.
  rewrite IH. change (number 0) with (zero : Rn 1). rewrite inner_zero_r. ring.
Qed.

Lemma quad_zeros : forall M, quad M (map (fun _ => number 0) M) = 0.
Proof.
  induction M as [|[m q] M IH]; cbn [quad map]; [reflexivity|]. rewrite along_zeros, IH.
  change (number 0) with (zero : Rn 1). rewrite inner_zero. ring.
Qed.

(** Vectors with one more coordinate in front. *)
Definition extend {n} (a : R) (v : Rn n) : Rn (S n) := (a, v).

Lemma gram_extend : forall n (c : R) (r : list R) (vs : list (Rn n)) (M : tri R) d,
  d <> 0 -> c * c = / d -> length r = length vs -> length vs = length M -> fits M ->
  gram vs = schur M d r ->
  gram (map (fun av => extend (fst av * c) (snd av)) (combine r vs)) = M.
Proof.
  intros n c r. induction r as [|a r IH]; intros [|v vs] [|[m q] M] d Hd Hc H1 H2 Hf HG; simpl in *; try discriminate; auto.
  destruct Hf as [Hq Hf]. injection HG as Hvv Hrow Hrest.
  f_equal; [|apply (IH vs M d); auto].
  f_equal.
  - rewrite Hvv. replace (a * c * (a * c)) with (a * a * (c * c)) by ring. rewrite Hc. field. assumption.
  - clear - Hrow Hq Hc Hd H1 H2. injection H1 as H1. injection H2 as H2.
    assert (Hl : length q = length vs) by congruence. clear H2 Hq.
    revert q r Hrow Hl H1. induction vs as [|y vs IH]; intros [|b q] [|e r] Hrow Hl H1; simpl in *; try discriminate; auto.
    injection Hrow as Hb Hrow. f_equal.
    + rewrite Hb. replace (a * c * (e * c)) with (a * e * (c * c)) by ring. rewrite Hc. field. assumption.
    + apply IH; auto.
Qed.

Lemma along_zero_row : forall (E : Space) (x : E) q (xs : list E),
  (forall y, In y xs -> y = zero) -> along x q xs = 0.
Proof.
  intros E x q. induction q as [|a q IH]; intros [|y xs] H; cbn [along]; auto.
  rewrite (H y), inner_zero_r, IH; [ring | intros; apply H; right; auto | left; auto].
Qed.

Lemma zero_diagonal : forall (r : list R),
  (forall xs : list (Rn 1), length xs = length r -> along (number 1) r xs = 0) ->
  forall a, In a r -> a = 0.
Proof.
  induction r as [|a r IH]; intros All b Hb; [destruct Hb|]. destruct Hb as [-> | Hb].
  - assert (K := All (number 1 :: map (fun _ => zero) r)). cbn [along length] in K.
    rewrite map_length in K. specialize (K eq_refl).
    rewrite along_zero_row in K.
    + simpl in K. lra.
    + intros y Hy. apply in_map_iff in Hy. destruct Hy as [? [<- _]]. reflexivity.
  - apply IH; auto. intros xs Hx. assert (K := All (zero :: xs) (eq_S _ _ Hx)).
    cbn [along] in K. rewrite inner_zero_r in K. lra.
Qed.

Theorem psd_is_gram : forall n M, length M = n -> fits M -> psd M ->
  exists vs : list (Rn n), length vs = n /\ gram vs = M.
Proof.
  induction n as [|n IH]; intros [|[d r] M] Hn Hf Hp; try discriminate.
  - exists []. split; reflexivity.
  - destruct Hf as [Hr Hf]. injection Hn as Hn.
    assert (Hd : 0 <= d).
    { assert (K := Hp (number 1 :: map (fun _ => number 0) M)). cbn [quad length] in K.
      rewrite map_length, along_zeros, quad_zeros in K. specialize (K eq_refl).
      simpl in K. lra. }
    destruct (Req_dec d 0) as [Hd0 | Hd0].
    + (* a zero on the diagonal: the row is 0 *)
      subst d.
      assert (Hsub : psd M).
      { intros xs Hx. assert (K := Hp (zero :: xs) (eq_S _ _ Hx)). cbn [quad] in K.
        rewrite along_inner, !inner_zero in K. lra. }
      assert (Hzero : forall a, In a r -> a = 0).
      { apply zero_diagonal. intros xs Hx. rewrite Hr in Hx.
        set (L := along (number 1) r xs). set (Q := quad M xs).
        assert (P : forall c, 0 <= 2 * (c * L) + Q).
        { intros c. assert (K := Hp ((c · number 1)%V :: xs) (eq_S _ _ Hx)). cbn [quad] in K.
          rewrite along_inner, (inner_scale _ c (number 1) (combine_with r xs)), <- along_inner in K.
          fold L Q in K. lra. }
        destruct (Req_dec L 0) as [|HL]; [assumption|].
        assert (K := P (- (Q + 1) / (2 * L))).
        replace (2 * (- (Q + 1) / (2 * L) * L)) with (- (Q + 1)) in K by (field; assumption). lra. }
      destruct (IH M Hn Hf Hsub) as [vs [Hl Hg]].
      exists (extend 0 zero :: map (extend 0) vs). split; [cbn [length]; rewrite map_length; exact (eq_S _ _ Hl)|].
      assert (Hrow : forall us : list (Rn n), length us = length r ->
        map (fun y => inner (extend 0 zero : Rn (S n)) y) (map (extend 0) us) = r).
      { clear - Hzero. induction r as [|a r IHr]; intros [|u us] H; simpl in H; try discriminate; auto.
        cbn [map]. f_equal; [|apply IHr; [intros; apply Hzero; right; auto | auto]].
        rewrite (Hzero a) by (left; auto).
        change (0 * 0 + inner (zero : Rn n) u = 0). rewrite inner_zero. ring. }
      assert (Hsame : forall us : list (Rn n), gram (map (extend 0) us : list (Rn (S n))) = gram us).
      { induction us as [|u us IHu]; [reflexivity|]. cbn [gram map]. f_equal; [|exact IHu]. f_equal.
        - change (0 * 0 + inner u u = inner u u). ring.
        - rewrite map_map. apply map_ext. intros v. change (0 * 0 + inner u v = inner u v). ring. }
      cbn [gram]. rewrite Hsame, Hg. f_equal. f_equal.
      * change (0 * 0 + inner (zero : Rn n) zero = 0). rewrite inner_zero. ring.
      * apply Hrow. etransitivity; [exact Hl|]. rewrite Hr. auto.
    + (* a positive entry: eliminate *)
      assert (Hdp : 0 < d) by lra.
      assert (Hsub : psd (schur M d r)).
      { intros xs Hx. rewrite schur_length in Hx by auto. rewrite quad_schur; auto.
        set (v := combine_with r xs).
        assert (K := Hp (((- / d) · v)%V :: xs) (eq_S _ _ Hx)). cbn [quad] in K.
        rewrite along_inner in K. fold v in K.
        rewrite !inner_scale, inner_scale_r in K.
        replace (d * (- / d * (- / d * ⟨v, v⟩)) + 2 * (- / d * ⟨v, v⟩)) with (- (⟨v, v⟩ / d)) in K by (field; lra).
        lra. }
      destruct (IH (schur M d r)) as [vs [Hl Hg]]; auto.
      { rewrite schur_length; auto. } { apply schur_fits; auto. }
      assert (Hs : 0 < sqrt d) by (apply sqrt_lt_R0, Hdp).
      assert (Hss : sqrt d * sqrt d = d) by (apply sqrt_sqrt; lra).
      exists (extend (sqrt d) zero :: map (fun av => extend (fst av * / sqrt d) (snd av)) (combine r vs)).
      split; [cbn [length]; rewrite map_length, combine_length, Hl, Hr, Hn, Nat.min_id; reflexivity|].
      cbn [gram]. f_equal.
      * f_equal.
        -- change (sqrt d * sqrt d + inner (zero : Rn n) zero = d). rewrite inner_zero. lra.
        -- assert (Hrow : forall q (us : list (Rn n)), length q = length us ->
             map (fun y => inner (extend (sqrt d) zero : Rn (S n)) y)
               (map (fun av => extend (fst av * / sqrt d) (snd av)) (combine q us)) = q).
           { clear - Hs. induction q as [|a q IHq]; intros [|u us] H; simpl in H; try discriminate; auto.
             cbn [combine map]. f_equal; [|apply IHq; auto].
             change (sqrt d * (a * / sqrt d) + inner (zero : Rn n) u = a). rewrite inner_zero. field. lra. }
           apply Hrow. rewrite Hr, Hn. symmetry. exact Hl.
      * apply (gram_extend n (/ sqrt d) r vs M d); auto; try (rewrite ?Hr, Hn; auto).
        rewrite <- Rinv_mult, Hss. reflexivity.
Qed.

(** The entry (i, j) of a triangle, counted from 0; 0 outside. *)
Fixpoint entry {A} (zero : A) (M : tri A) (i j : nat) : A :=
  match M with
  | [] => zero
  | (d, r) :: M' =>
      match i, j with
      | O, O => d
      | O, S j' => nth j' r zero
      | S i', O => nth i' r zero
      | S i', S j' => entry zero M' i' j'
      end
  end.

Lemma gram_entry : forall {E : Space} (xs : list E) i j,
  entry 0 (gram xs) i j = ⟨nth i xs zero, nth j xs zero⟩.
Proof.
  intros E xs. induction xs as [|x xs IH]; intros i j; cbn [gram entry nth].
  - destruct i; destruct j; rewrite inner_zero; reflexivity.
  - destruct i as [|i], j as [|j]; cbn [nth]; auto.
    + rewrite <- (inner_zero_r x) at 1. rewrite (map_nth (fun y => ⟨x, y⟩)). reflexivity.
    + rewrite <- (inner_zero_r x) at 1. rewrite (map_nth (fun y => ⟨x, y⟩)). apply inner_sym.
Qed.

Lemma entry_real : forall M i j, entry 0 (real M) i j = IZR (entry 0%Z M i j).
Proof.
  induction M as [|[d r] M IH]; intros i j; cbn [real entry map]; auto.
  destruct i as [|i], j as [|j]; cbn [fst snd]; auto; apply (map_nth IZR).
Qed.
