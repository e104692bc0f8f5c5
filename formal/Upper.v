(** * Upper: from multipliers to "no game costs more"

    The vectors z_1, ..., z_T, the plays that are not 0, and u stand in a list; forms in
    their inner products have whole-number coefficients. *)

From Coq Require Import Reals Lra Psatz Lia ZArith QArith Qreals List.
From Formal Require Import Space Descent Psd Game.
Import ListNotations.
Open Scope R_scope.

(** ** Linear combinations and quadratic forms of listed vectors *)

(** A linear combination: coefficients and places in the list. *)
Definition lin := list (Z * nat).
(** A quadratic form: c times the product of the vectors in two places. *)
Definition form := list (Z * (nat * nat)).

Definition neg (a : lin) : lin := map (fun ci => ((- fst ci)%Z, snd ci)) a.
Definition minus (a b : lin) : lin := a ++ neg b.
Definition times (k : Z) (F : form) : form := map (fun t => ((k * fst t)%Z, snd t)) F.
Fixpoint prod_row (c : Z) (i : nat) (b : lin) (rest : form) : form :=
  match b with [] => rest | (e, j) :: b' => ((c * e)%Z, (i, j)) :: prod_row c i b' rest end.
Fixpoint prod (a b : lin) : form :=
  match a with [] => [] | (c, i) :: a' => prod_row c i b (prod a' b) end.

(** The value of a form, given the table of products. *)
Fixpoint value (G : nat -> nat -> R) (F : form) : R :=
  match F with [] => 0 | (c, (i, j)) :: F' => IZR c * G i j + value G F' end.

Lemma value_app : forall G F F', value G (F ++ F') = value G F + value G F'.
Proof. induction F as [|[c [i j]] F IH]; intros; simpl; [ring | rewrite IH; ring]. Qed.

Lemma value_times : forall G k F, value G (times k F) = IZR k * value G F.
Proof. induction F as [|[c [i j]] F IH]; simpl; [ring | rewrite IH, mult_IZR; ring]. Qed.

Section Combinations.
Context {E : Space}.
Variable xs : list E.
Definition table (i j : nat) : R := ⟨nth i xs zero, nth j xs zero⟩.

Fixpoint lc (a : lin) : E :=
  match a with [] => zero | (c, i) :: a' => (IZR c · nth i xs zero + lc a')%V end.

Lemma lc_app : forall a b (y : E), ⟨lc (a ++ b), y⟩ = ⟨lc a, y⟩ + ⟨lc b, y⟩.
Proof.
  induction a as [|[c i] a IH]; intros; simpl; [rewrite inner_zero; ring|].
  rewrite inner_add, IH, inner_add. ring.
Qed.

Lemma lc_neg : forall a (y : E), ⟨lc (neg a), y⟩ = - ⟨lc a, y⟩.
Proof.
  induction a as [|[c i] a IH]; intros; simpl; [rewrite inner_zero; ring|].
  rewrite !inner_add, IH, !inner_scale, opp_IZR. ring.
Qed.

Lemma lc_minus : forall a b (y : E), ⟨lc (minus a b), y⟩ = ⟨lc a - lc b, y⟩.
Proof. intros. unfold minus. rewrite lc_app, lc_neg, inner_sub. ring. Qed.

Lemma lc_minus_r : forall a b (y : E), ⟨y, lc (minus a b)⟩ = ⟨y, lc a - lc b⟩.
Proof. intros. rewrite inner_sym, lc_minus, inner_sym. reflexivity. Qed.

Lemma value_prod : forall a b, value table (prod a b) = ⟨lc a, lc b⟩.
Proof.
  intros a b. induction a as [|[c i] a IH]; simpl; [rewrite inner_zero; reflexivity|].
  rewrite inner_add, <- IH, inner_scale. generalize (prod a b) as rest. intros rest.
  clear. induction b as [|[e j] b IH]; simpl.
  - rewrite inner_zero_r. ring.
  - rewrite IH, inner_add_r, inner_scale_r, mult_IZR. unfold table. ring.
Qed.
End Combinations.

(** ** The matrix of a form *)
Fixpoint bump (r : list Z) (j : nat) (c : Z) : list Z :=
  match r, j with
  | [], _ => []
  | a :: r', O => (a + c)%Z :: r'
  | a :: r', S j' => a :: bump r' j' c
  end.

(** Add c to the entries (i, j) and (j, i). *)
Fixpoint add_entry (M : tri Z) (i j : nat) (c : Z) : tri Z :=
  match M with
  | [] => []
  | (d, r) :: M' =>
      match i, j with
      | O, O => ((d + 2 * c)%Z, r) :: M'
      | O, S j' => (d, bump r j' c) :: M'
      | S i', O => (d, bump r i' c) :: M'
      | S i', S j' => (d, r) :: add_entry M' i' j' c
      end
  end.

Fixpoint zeros (n : nat) : tri Z :=
  match n with O => [] | S k => (0%Z, repeat 0%Z k) :: zeros k end.

Fixpoint assemble (F : form) (M : tri Z) : tri Z :=
  match F with [] => M | (c, (i, j)) :: F' => assemble F' (add_entry M i j c) end.

Section Assembly.
Context {E : Space}.

Lemma bump_length : forall r j c, length (bump r j c) = length r.
Proof. induction r as [|a r IH]; intros [|j] c; simpl; auto. Qed.

Lemma along_bump : forall (x : E) r j c xs, length xs = length r ->
  along x (map IZR (bump r j c)) xs = along x (map IZR r) xs + IZR c * ⟨x, nth j xs zero⟩.
Proof.
  induction r as [|a r IH]; intros j c [|y xs] H; simpl in H; try discriminate.
  - destruct j; simpl; rewrite inner_zero_r; ring.
  - destruct j as [|j]; simpl; [rewrite plus_IZR; ring|]. rewrite IH by congruence. ring.
Qed.

Lemma add_entry_fit : forall M i j c, rows_fit M = true ->
  rows_fit (add_entry M i j c) = true /\ length (add_entry M i j c) = length M.
Proof.
  induction M as [|[d r] M IH]; intros i j c H; [auto|].
  cbn [rows_fit] in H. destruct (Nat.eqb (length r) (length M)) eqn:Hr; [|discriminate].
  destruct i as [|i], j as [|j]; cbn [add_entry rows_fit length]; rewrite ?bump_length, ?Hr; auto.
  destruct (IH i j c H) as [A B]. rewrite B, Hr. auto.
Qed.

Lemma quad_add_entry : forall M i j c (xs : list E), rows_fit M = true -> length xs = length M ->
  quad (real (add_entry M i j c)) xs = quad (real M) xs + 2 * (IZR c * table xs i j).
Proof.
  induction M as [|[d r] M IH]; intros i j c [|x xs] H Hl; simpl in Hl; try discriminate.
  - simpl. unfold table. destruct i, j; simpl; rewrite inner_zero; ring.
  - cbn [rows_fit] in H. destruct (Nat.eqb (length r) (length M)) eqn:Hr; [|discriminate].
    apply Nat.eqb_eq in Hr. injection Hl as Hl.
    destruct i as [|i], j as [|j]; cbn [add_entry]; unfold table; cbn [nth].
    + cbn [real map fst snd quad]. rewrite plus_IZR, mult_IZR. ring.
    + simpl. rewrite along_bump by congruence. ring.
    + simpl. rewrite along_bump by congruence. rewrite (inner_sym _ x (nth i xs zero)). ring.
    + simpl. rewrite (IH i j c xs H Hl). unfold table. ring.
Qed.

Lemma zeros_fit : forall n, rows_fit (zeros n) = true /\ length (zeros n) = n.
Proof.
  induction n as [|n [A B]]; [auto|]. cbn [zeros rows_fit length].
  rewrite repeat_length, B, Nat.eqb_refl. auto.
Qed.

Lemma quad_zeros_tri : forall n (xs : list E), quad (real (zeros n)) xs = 0.
Proof.
  induction n as [|n IH]; intros [|x xs]; simpl; auto. rewrite IH.
  replace (along x (map IZR (repeat 0%Z n)) xs) with 0; [simpl; ring|].
  clear. revert xs. induction n as [|n IH]; intros [|y xs]; simpl; auto. rewrite <- IH. ring.
Qed.

Lemma quad_assemble : forall F M (xs : list E), rows_fit M = true -> length xs = length M ->
  quad (real (assemble F M)) xs = quad (real M) xs + 2 * value (table xs) F
  /\ length (assemble F M) = length M.
Proof.
  induction F as [|[c [i j]] F IH]; intros M xs H Hl; simpl; [split; [ring | reflexivity]|].
  destruct (add_entry_fit M i j c H) as [A B].
  destruct (IH (add_entry M i j c) xs A ltac:(congruence)) as [Q L].
  rewrite Q, L, quad_add_entry by auto. split; [ring | exact B].
Qed.

(** If the matrix of F passes the check, F is nowhere negative. *)
Lemma form_nonneg : forall F n w (xs : list E), length xs = n ->
  psd_check (assemble F (zeros n)) w = true -> 0 <= value (table xs) F.
Proof.
  intros F n w xs Hl H. destruct (zeros_fit n) as [A B].
  destruct (quad_assemble F (zeros n) xs A ltac:(congruence)) as [Q L].
  apply psd_sound with (xs := xs) in H; [|congruence].
  rewrite Q, quad_zeros_tri in H. lra.
Qed.
End Assembly.

(** ** The conditions of a problem *)
Section Conditions.
Variable p : problem.
Let T := rounds p.

(** The number of vectors, and their places. A play before the first loss is heard of is
    0 and has no place. *)
Definition count : nat := (T + (T - delay p - 1) + 1)%nat.
Definition lz (t : nat) : lin := [(1%Z, (t - 1)%nat)].
Definition lw (t : nat) : lin :=
  if Nat.leb t (delay p + 1) then [] else [(1%Z, (T + (t - delay p - 2))%nat)].
Definition lu : lin := [(1%Z, (T + (T - delay p - 1))%nat)].

(** A corner: a play (w_1 = 0 among them) or u. *)
Inductive corner := W (t : nat) | U.
Definition lcorner (c : corner) : lin := match c with W t => lw t | U => lu end.
Definition valid (c : corner) : bool :=
  match c with W t => if Nat.leb 1 t then Nat.leb t T else false | U => true end.

(** The play w_t, 2 <= t <= T, is the projection of [start t] - η_{t-1} · [heard t]. *)
Definition start (t : nat) : lin := if eager p then lw (t - 1) else [].
Definition heard (t : nat) : lin :=
  if eager p then lz (t - 1) else map (fun i => (1%Z, i)) (seq 0 (t - 1 - delay p)).
Definition away (t : nat) (c : corner) : lin := minus (lcorner c) (lw t).

(** The regret on the linear surrogates, Σ ⟨z_t, w_t - u⟩. *)
Fixpoint objective (n : nat) : form :=
  match n with O => [] | S k => prod (lz (S k)) (minus (lw (S k)) lu) ++ objective k end.

Inductive condition :=
  | Gradient (t : nat)          (* ‖z_t‖² <= rho² *)
  | Distance (a b : corner)     (* ‖a - b‖² <= size² *)
  | Project (t : nat) (c : corner).  (* ⟨y_t - w_t, c - w_t⟩ <= 0 *)

(** Steps: d·η_t lies within b of a, for the t-th pair (a, b). *)
Fixpoint steps_check (d : Z) (ab : list (Z * Z)) (squares : list Q) : bool :=
  match ab, squares with
  | [], [] => true
  | (a, b) :: ab', q :: squares' =>
      let qd := (Qnum q * (d * d))%Z in
      if Z.leb 0 b then if Z.leb 0 (a - b) then
        if Z.leb ((a - b) * (a - b) * Zpos (Qden q))%Z qd then
          if Z.leb qd ((a + b) * (a + b) * Zpos (Qden q))%Z then steps_check d ab' squares'
          else false else false else false else false
  | _, _ => false
  end.

Definition step_of (ab : list (Z * Z)) (t : nat) : Z * Z := nth (t - 1) ab (0%Z, 0%Z).

(** Twice d times the left side of a condition, less what the unknown digits of the
    step could add. *)
Definition condition_form (d : Z) (ab : list (Z * Z)) (c : condition) : form :=
  match c with
  | Gradient t => times (2 * d) (prod (lz t) (lz t))
  | Distance a b => let v := minus (lcorner a) (lcorner b) in times (2 * d) (prod v v)
  | Project t c =>
      let (a, b) := step_of ab (t - 1) in
      let v := away t c in
      times (2 * d) (prod (start t) v) ++ times (-2 * a) (prod (heard t) v)
      ++ times (-2 * d) (prod (lw t) v)
      ++ times (- b) (prod (heard t) (heard t) ++ prod v v)
  end.

Definition condition_valid (c : condition) : bool :=
  match c with
  | Gradient t => if Nat.leb 1 t then Nat.leb t T else false
  | Distance a b =>
      if valid a then if valid b then
        if by_diameter p then true else match lcorner a with [] => true | _ => false end
      else false else false
  | Project t c => if Nat.leb 2 t then if Nat.leb t T then valid c else false else false
  end.

Fixpoint conditions_form (d : Z) (ab : list (Z * Z)) (l : list (condition * Z)) : form :=
  match l with
  | [] => []
  | (c, m) :: l' => times m (condition_form d ab c) ++ conditions_form d ab l'
  end.
Fixpoint conditions_valid (l : list (condition * Z)) : bool :=
  match l with
  | [] => true
  | (c, m) :: l' => if condition_valid c then if Z.leb 0 m then conditions_valid l' else false else false
  end.
(** The sum of the multipliers of gradient conditions, ... *)
Fixpoint on_gradients (l : list (condition * Z)) : Z :=
  match l with
  | [] => 0%Z
  | (Gradient _, m) :: l' => (m + on_gradients l')%Z
  | _ :: l' => on_gradients l'
  end.
(** ... and of distance conditions. *)
Fixpoint on_distances (l : list (condition * Z)) : Z :=
  match l with
  | [] => 0%Z
  | (Distance _ _, m) :: l' => (m + on_distances l')%Z
  | _ :: l' => on_distances l'
  end.

(** The data of an upper bound: multipliers m/[unit_m], steps (a, b)/[unit_s]. *)
Record upper := Upper {
  unit_s : Z;
  near : list (Z * Z);
  unit_m : Z;
  multipliers : list (condition * Z);
  proof : witness
}.

(** The check of an upper bound: the conditions exist, no multiplier is negative, and
    multipliers times conditions less the regret is positive semidefinite. *)
Definition upper_check (D : upper) : bool :=
  if Z.ltb 0 (unit_s D) then if Z.ltb 0 (unit_m D) then
    if steps_check (unit_s D) (near D) (eta2 p) then
      if conditions_valid (multipliers D) then
        psd_check (assemble (conditions_form (unit_s D) (near D) (multipliers D)
                             ++ times (-2 * unit_s D * unit_m D) (objective T)) (zeros count)) (proof D)
      else false else false else false else false.
End Conditions.

Lemma steps_sound : forall d ab squares t eta, (0 < d)%Z ->
  steps_check d ab squares = true -> (t < length squares)%nat ->
  0 <= eta -> eta ^ 2 = Q2R (nth t squares 0%Q) ->
  let (a, b) := nth t ab (0%Z, 0%Z) in Rabs (IZR d * eta - IZR a) <= IZR b.
Proof.
  intros d ab. induction ab as [|[a b] ab IH]; intros [|q squares] t eta Hd H Ht He Hq; simpl in *; try discriminate; try lia.
  destruct (Z.leb 0 b) eqn:H1; [|discriminate]. destruct (Z.leb 0 (a - b)) eqn:H2; [|discriminate].
  destruct (Z.leb _ (Qnum q * (d * d))) eqn:H3; [|discriminate]. destruct (Z.leb (Qnum q * (d * d)) _) eqn:H4; [|discriminate].
  destruct t as [|t].
  - apply Z.leb_le, IZR_le in H1, H2, H3, H4. apply IZR_lt in Hd.
    rewrite !mult_IZR, ?minus_IZR, ?plus_IZR in *.
    unfold Q2R in Hq. assert (Hden : 0 < IZR (Zpos (Qden q))) by (apply IZR_lt; lia).
    set (A := IZR a) in *. set (B := IZR b) in *. set (Dd := IZR d) in *. set (n := IZR (Qnum q)) in *.
    set (m := IZR (Zpos (Qden q))) in *.
    assert (Hn : n = eta * eta * m) by (transitivity (n * / m * m); [field; lra | rewrite <- Hq; ring]).
    rewrite Hn in H3, H4.
    assert (L : (A - B) * (A - B) <= (Dd * eta) * (Dd * eta)) by (apply (Rmult_le_reg_r m); nra).
    assert (U : (Dd * eta) * (Dd * eta) <= (A + B) * (A + B)) by (apply (Rmult_le_reg_r m); nra).
    assert (0 <= Dd * eta) by nra.
    apply Rabs_le. split; nra.
  - apply (IH squares t eta); auto; lia.
Qed.

(** ** The vectors of a game obey the conditions *)
Section Game_vectors.
Variables (p : problem) (size2 : R) (E : Space) (S : E -> Prop) (eta : nat -> R).
Variables (f : nat -> E -> R) (z w : nat -> E) (u : E).
Hypothesis G : game p size2 S eta f z w.
Hypothesis Hu : S u.
Let T := rounds p.

Definition vectors : list E :=
  map z (seq 1 T) ++ map w (seq (delay p + 2) (T - delay p - 1)) ++ [u].

Lemma vectors_length : length vectors = count p.
Proof. unfold vectors, count. rewrite !app_length, !map_length, !seq_length. simpl. lia. Qed.

Lemma lc_single : forall (xs : list E) i, lc xs [(1%Z, i)] = nth i xs zero.
Proof. intros. simpl. rewrite scale_one, add_zero. reflexivity. Qed.

Lemma nth_z : forall t, (1 <= t <= T)%nat -> nth (t - 1) vectors zero = z t.
Proof.
  intros t Ht. unfold vectors. rewrite app_nth1 by (rewrite map_length, seq_length; lia).
  rewrite nth_indep with (d' := z 0%nat) by (rewrite map_length, seq_length; lia).
  rewrite map_nth, seq_nth by lia. f_equal. lia.
Qed.

Lemma lc_z : forall t, (1 <= t <= T)%nat -> lc vectors (lz t) = z t.
Proof. intros. unfold lz. rewrite lc_single. apply nth_z; auto. Qed.

Lemma early_plays : forall t, (1 <= t <= delay p + 1)%nat -> (t <= T)%nat -> eager p = false -> w t = zero.
Proof.
  intros t Ht HT Hl. destruct (Nat.eq_dec t 1) as [-> | H1]; [apply (start_at_zero _ _ _ _ _ _ _ G)|].
  assert (K := descends _ _ _ _ _ _ _ G (t - 1) ltac:(unfold T in *; lia)).
  replace (t - 1 + 1)%nat with t in K by lia. unfold target in K. rewrite Hl in K.
  replace (t - 1 - delay p)%nat with 0%nat in K by lia. simpl in K.
  destruct K as [_ K]. specialize (K zero (set_zero _ _ _ _ _ _ _ G)).
  apply norm_le_norm in K. apply inner_definite. pose proof (inner_nonneg _ (w t)).
  products. lra.
Qed.

Hypothesis Hdelay : eager p = true -> delay p = 0%nat.

Lemma lc_w : forall t, (1 <= t <= T)%nat -> lc vectors (lw p t) = w t.
Proof.
  intros t Ht. unfold lw. destruct (Nat.leb t (delay p + 1)) eqn:H.
  - apply Nat.leb_le in H. simpl. symmetry. destruct (eager p) eqn:He.
    + rewrite (Hdelay eq_refl) in H. replace t with 1%nat by lia. apply (start_at_zero _ _ _ _ _ _ _ G).
    + apply early_plays; auto; lia.
  - apply Nat.leb_gt in H. rewrite lc_single. unfold vectors. fold T.
    rewrite app_nth2 by (rewrite map_length, seq_length; lia). rewrite map_length, seq_length.
    rewrite app_nth1 by (rewrite map_length, seq_length; lia).
    rewrite nth_indep with (d' := w 0%nat) by (rewrite map_length, seq_length; lia).
    rewrite map_nth, seq_nth by lia. f_equal. lia.
Qed.

Lemma lc_u : lc vectors (lu p) = u.
Proof.
  unfold lu. rewrite lc_single. unfold vectors. fold T.
  rewrite app_nth2 by (rewrite map_length, seq_length; lia). rewrite map_length, seq_length.
  rewrite app_nth2 by (rewrite map_length, seq_length; lia). rewrite map_length, seq_length.
  replace (T + (T - delay p - 1) - T - (T - delay p - 1))%nat with 0%nat by lia. reflexivity.
Qed.

Lemma play_in : forall t, (1 <= t <= T)%nat -> S (w t).
Proof.
  intros t Ht. destruct (Nat.eq_dec t 1) as [-> | H1].
  - rewrite (start_at_zero _ _ _ _ _ _ _ G). apply (set_zero _ _ _ _ _ _ _ G).
  - assert (K := descends _ _ _ _ _ _ _ G (t - 1) ltac:(unfold T in *; lia)).
    replace (t - 1 + 1)%nat with t in K by lia. exact (proj1 K).
Qed.

Lemma valid_W : forall t, valid p (W t) = true -> (1 <= t <= T)%nat.
Proof.
  intros t H. cbn [valid] in H. destruct (Nat.leb 1 t) eqn:H1; [|discriminate].
  apply Nat.leb_le in H1, H. unfold T. lia.
Qed.

Lemma corner_in : forall c, valid p c = true -> S (lc vectors (lcorner p c)).
Proof.
  intros [t|] H; simpl lcorner.
  - apply valid_W in H. rewrite lc_w by auto. apply play_in; auto.
  - rewrite lc_u. exact Hu.
Qed.

Lemma lc_heard_lazy : forall n, (n <= T)%nat -> forall y,
  ⟨lc vectors (map (fun i => (1%Z, i)) (seq 0 n)), y⟩ = ⟨VSum n z, y⟩.
Proof.
  induction n as [|n IH]; intros Hn y; [reflexivity|].
  rewrite seq_S, map_app, lc_app, IH by lia. simpl map. rewrite lc_single. cbn [VSum].
  rewrite inner_add. replace n with (Datatypes.S n - 1)%nat at 2 by lia.
  rewrite nth_z by lia. reflexivity.
Qed.

(** The condition of a projection, at the vectors of the game, for the true step. *)
Lemma project_holds : forall t c, (2 <= t <= T)%nat -> valid p c = true ->
  let v := lc vectors (away p t c) in
  ⟨lc vectors (start p t), v⟩ - eta (t - 1) * ⟨lc vectors (heard p t), v⟩ - ⟨lc vectors (lw p t), v⟩ <= 0.
Proof.
  intros t c Ht Hc v.
  assert (Hv : forall y, ⟨y, v⟩ = ⟨y, lc vectors (lcorner p c) - w t⟩).
  { intros. unfold v, away. rewrite lc_minus_r, lc_w by lia. reflexivity. }
  assert (K := descends _ _ _ _ _ _ _ G (t - 1) ltac:(unfold T in *; lia)).
  replace (t - 1 + 1)%nat with t in K by lia.
  rewrite (the_angle S _ (w t) (set_convex _ _ _ _ _ _ _ G) (play_in t ltac:(lia))) in K.
  specialize (K _ (corner_in c Hc)). rewrite !Hv, lc_w by lia.
  assert (Lw := lc_w (t - 1) ltac:(lia)). assert (Lh := lc_heard_lazy).
  unfold target, start, heard in *. destruct (eager p).
  - rewrite Lw. rewrite lc_z by lia.
    rewrite inner_sub in K. rewrite inner_sub, inner_scale in K. lra.
  - rewrite Lh by lia. simpl lc. rewrite inner_zero.
    rewrite inner_sub in K. rewrite inner_scale in K. lra.
Qed.

Hypothesis Hsteps : length (eta2 p) = (T - 1)%nat.

Definition bound_of (c : condition) : R :=
  match c with Gradient _ => Q2R (rho2 p) | Distance _ _ => size2 | Project _ _ => 0 end.

Lemma condition_holds : forall d ab c, (0 < d)%Z -> steps_check d ab (eta2 p) = true ->
  condition_valid p c = true ->
  value (table vectors) (condition_form p d ab c) <= 2 * IZR d * bound_of c.
Proof.
  intros d ab c Hd Hab Hc. assert (Hdr : 0 < IZR d) by (apply IZR_lt; exact Hd).
  destruct c as [t | a b | t c]; cbn [condition_form bound_of condition_valid] in *.
  - destruct (Nat.leb 1 t) eqn:H1; [|discriminate]. apply Nat.leb_le in H1, Hc.
    rewrite value_times, value_prod, lc_z, mult_IZR by (unfold T; lia).
    destruct (losses _ _ _ _ _ _ _ G t ltac:(lia)) as [_ [_ K]]. rewrite norm_square in K. nra.
  - destruct (valid p a) eqn:Ha; [|discriminate]. destruct (valid p b) eqn:Hb; [|discriminate].
    rewrite value_times, value_prod, mult_IZR, lc_minus, lc_minus_r.
    assert (K : ⟨lc vectors (lcorner p a) - lc vectors (lcorner p b), lc vectors (lcorner p a) - lc vectors (lcorner p b)⟩ <= size2).
    { assert (Sz := set_size _ _ _ _ _ _ _ G). rewrite <- norm_square. destruct (by_diameter p).
      - apply Sz; apply corner_in; auto.
      - destruct (lcorner p a) eqn:Hl; [|discriminate]. simpl (lc vectors []).
        rewrite norm_sub_sym. replace (norm (lc vectors (lcorner p b) - zero)) with (norm (lc vectors (lcorner p b)))
          by (unfold norm; f_equal; products; ring).
        apply Sz, corner_in, Hb. }
    nra.
  - destruct (Nat.leb 2 t) eqn:H2; [|discriminate]. destruct (Nat.leb t T) eqn:H3; [|unfold T in H3; rewrite H3 in Hc; discriminate].
    unfold T in H3. rewrite H3 in Hc. apply Nat.leb_le in H2, H3.
    assert (P := project_holds t c ltac:(unfold T; lia) Hc). cbv zeta in P.
    assert (St := steps _ _ _ _ _ _ _ G (t - 1)%nat ltac:(unfold T in *; lia)). destruct St as [St0 St1].
    assert (K := steps_sound d ab (eta2 p) (t - 1 - 1) (eta (t - 1)%nat) Hd Hab ltac:(unfold T in *; lia) St0 St1).
    unfold step_of. destruct (nth (t - 1 - 1) ab (0%Z, 0%Z)) as [a b].
    rewrite !value_app, !value_times, !value_app, !value_prod, !mult_IZR, opp_IZR.
    set (v := lc vectors (away p t c)) in *. set (h := lc vectors (heard p t)) in *.
    set (s := ⟨lc vectors (start p t), v⟩) in *. set (q := ⟨lc vectors (lw p t), v⟩) in *.
    pose proof (inner_nonneg _ (h + v)) as Q1. pose proof (inner_nonneg _ (h - v)) as Q2. products.
    set (hv := ⟨h, v⟩) in *. set (hh := ⟨h, h⟩) in *. set (vv := ⟨v, v⟩) in *.
    assert (K' : - IZR b <= IZR d * eta (t - 1)%nat - IZR a <= IZR b)
      by (unfold Rabs in K; destruct (Rcase_abs _) in K; lra).
    assert ((IZR d * eta (t - 1)%nat - IZR a) * hv * 2 <= IZR b * (hh + vv)).
    { assert (0 <= IZR b) by lra. destruct (Rle_dec 0 hv); nra. }
    nra.
Qed.

Lemma conditions_hold : forall d ab l, (0 < d)%Z -> steps_check d ab (eta2 p) = true ->
  conditions_valid p l = true ->
  value (table vectors) (conditions_form p d ab l)
    <= 2 * IZR d * (IZR (on_gradients l) * Q2R (rho2 p) + IZR (on_distances l) * size2).
Proof.
  intros d ab l Hd Hab. induction l as [|[c m] l IH]; intros H; cbn [conditions_form conditions_valid] in *.
  - simpl. lra.
  - destruct (condition_valid p c) eqn:Hc; [|discriminate]. destruct (Z.leb 0 m) eqn:Hm; [|discriminate].
    apply Z.leb_le, IZR_le in Hm. specialize (IH H).
    assert (K := condition_holds d ab c Hd Hab Hc).
    rewrite value_app, value_times.
    destruct c; cbn [bound_of on_gradients on_distances] in *; rewrite ?plus_IZR; nra.
Qed.

Lemma objective_value : forall n, (n <= T)%nat ->
  value (table vectors) (objective p n) = Σ t ≤ n, ⟨z t, w t - u⟩.
Proof.
  induction n as [|n IH]; intros Hn; [reflexivity|]. cbn [objective].
  rewrite value_app, value_prod, lc_minus_r, lc_z, lc_w, lc_u, IH, Sum_S by lia. ring.
Qed.
End Game_vectors.

(** Lists of steps have the length they should, and eager descent has no delay. *)
Definition problem_check (p : problem) : bool :=
  if Nat.eqb (length (eta2 p)) (rounds p - 1) then
    if eager p then Nat.eqb (delay p) 0 else true
  else false.

(** ** Certificates are sound, above: the multipliers prove a bound that is linear in the
    squared size, whatever that is. *)
Theorem upper_sound : forall p D, problem_check p = true -> upper_check p D = true ->
  forall size2, at_most p size2
    ((IZR (on_gradients (multipliers D)) * Q2R (rho2 p) + IZR (on_distances (multipliers D)) * size2) / IZR (unit_m D)).
Proof.
  intros p D Hp HD size2 E S eta f z w G u Hu.
  unfold problem_check in Hp. destruct (Nat.eqb (length (eta2 p)) (rounds p - 1)) eqn:Hl; [|discriminate].
  apply Nat.eqb_eq in Hl.
  assert (Hdelay : eager p = true -> delay p = 0%nat).
  { intros He. rewrite He in Hp. apply Nat.eqb_eq, Hp. }
  unfold upper_check in HD.
  destruct (Z.ltb 0 (unit_s D)) eqn:H1; [|discriminate]. destruct (Z.ltb 0 (unit_m D)) eqn:H2; [|discriminate].
  destruct (steps_check _ _ _) eqn:H3; [|discriminate]. destruct (conditions_valid p _) eqn:H4; [|discriminate].
  apply Z.ltb_lt in H1, H2.
  assert (Hlen := vectors_length p E z w u).
  apply form_nonneg with (xs := vectors p E z w u) in HD; [|exact Hlen].
  rewrite value_app, value_times in HD.
  rewrite (objective_value p size2 E S eta f z w u G Hdelay) in HD by lia.
  assert (K := conditions_hold p size2 E S eta f z w u G Hu Hdelay Hl _ _ _ H1 H3 H4).
  assert (Lin : regret p f w u <= Σ t ≤ (rounds p), ⟨z t, w t - u⟩).
  { apply (convex_to_linear E S f w z u (rounds p)); [|exact Hu].
    intros t Ht. apply (losses _ _ _ _ _ _ _ G t Ht). }
  eapply Rle_trans; [exact Lin|].
  apply IZR_lt in H1, H2. rewrite !mult_IZR in HD.
  set (obj := Σ t ≤ (rounds p), ⟨z t, w t - u⟩) in *.
  set (B := IZR (on_gradients (multipliers D)) * Q2R (rho2 p) + IZR (on_distances (multipliers D)) * size2) in *.
  apply (Rmult_le_reg_r (IZR (unit_m D))); [exact H2|].
  replace (B / IZR (unit_m D) * IZR (unit_m D)) with B by (field; lra).
  apply (Rmult_le_reg_l (2 * IZR (unit_s D))); nra.
Qed.
