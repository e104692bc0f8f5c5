(** * Entropy: Corollary 17.3, the closed form (17.21), the range (17.12), and Hedge with
    a decreasing step (Lecture 17) *)

From Coq Require Import Reals Lra Psatz Lia.
From Formal Require Import Space Zinkevich Logarithmic Experts.
Open Scope R_scope.

(** The uniform distribution. *)
Definition uniform (N : nat) (_ : nat) : R := / INR N.

Section Uniform.
Variable N : nat.
Hypothesis HN : (1 <= N)%nat.

Lemma N_pos : 0 < INR N.
Proof. apply INR_pos, HN. Qed.

Lemma uniform_distribution : distribution N (uniform N).
Proof.
  assert (H0 := N_pos). split.
  - intros. left. apply Rinv_0_lt_compat, H0.
  - unfold uniform. rewrite Sum_const. field. lra.
Qed.

Lemma uniform_dominates : forall nu, dominated N nu (uniform N).
Proof.
  intros nu i _ Hz. exfalso. unfold uniform in Hz. pose proof (Rinv_0_lt_compat _ N_pos). lra.
Qed.

(** KL(ν‖uniform) = ln N - H(ν). *)
Lemma KL_uniform : forall nu, distribution N nu -> KL N nu (uniform N) = ln (INR N) - H N nu.
Proof.
  intros nu Hnu. assert (H0 := N_pos). unfold KL, H, uniform.
  rewrite (Sum_ext N _ (fun i => nu i * ln (INR N) - - (nu i * ln (nu i)))).
  - rewrite Sum_minus, Sum_scale_r, (proj2 Hnu). ring.
  - intros i Hi. destruct (Req_dec (nu i) 0) as [-> | Hn]; [ring|].
    assert (0 < nu i) by (pose proof (proj1 Hnu i Hi); lra).
    replace (nu i / / INR N) with (nu i * INR N) by (field; lra).
    rewrite ln_mult by assumption. ring.
Qed.

Lemma mean_uniform : forall g, mean N (uniform N) g = / INR N * Sum N g.
Proof. intros. unfold mean, uniform. apply Sum_scale. Qed.

Lemma exp_sum_pos : forall g, 0 < Σ i ≤ N, exp (g i).
Proof.
  intros. assert (K := partition_pos N (uniform N) g uniform_distribution).
  rewrite mean_uniform in K. pose proof (Rinv_0_lt_compat _ N_pos). nra.
Qed.

(** softmax of -f: the distribution proportional to exp(-f). *)
Definition softmax (f : nat -> R) (i : nat) : R := exp (- f i) / Σ j ≤ N, exp (- f j).

Lemma softmax_gibbs : forall f i, softmax f i = gibbs_point N (uniform N) (fun j => - f j) i.
Proof.
  intros. unfold softmax, gibbs_point. rewrite mean_uniform. unfold uniform.
  pose proof N_pos. pose proof (exp_sum_pos (fun j => - f j)). field. lra.
Qed.

(** ** Corollary 17.3: E_ν[f] - H(ν) is least, -ln Σ exp(-f), at the softmax and nowhere else. *)
Theorem corollary_17_3 : forall f nu, distribution N nu ->
  - ln (Σ i ≤ N, exp (- f i)) <= mean N nu f - H N nu.
Proof.
  intros f nu Hnu. assert (H0 := N_pos).
  assert (G := gibbs N (uniform N) (fun i => - f i) nu uniform_distribution Hnu (uniform_dominates nu)).
  rewrite KL_uniform, mean_uniform, ln_mult, ln_Rinv in G; auto using exp_sum_pos, Rinv_0_lt_compat.
  assert (M : mean N nu (fun i => - f i) = - mean N nu f).
  { unfold mean. rewrite (Sum_ext N _ (fun i => -1 * (nu i * f i))) by (intros; ring). rewrite Sum_scale. ring. }
  rewrite M in G. lra.
Qed.

(** The softmax is a distribution, and there the least value is attained. *)
Theorem corollary_17_3_attained : forall f,
  distribution N (softmax f) /\
  mean N (softmax f) f - H N (softmax f) = - ln (Σ i ≤ N, exp (- f i)).
Proof.
  intros f. assert (H0 := N_pos).
  assert (Ext : forall g, mean N (softmax f) g = mean N (gibbs_point N (uniform N) (fun j => - f j)) g)
    by (intros; apply Sum_ext; intros; rewrite softmax_gibbs; reflexivity).
  assert (Dist : distribution N (softmax f)).
  { destruct (gibbs_distribution N (uniform N) (fun j => - f j) uniform_distribution) as [A B]. split.
    - intros i Hi. rewrite softmax_gibbs. auto.
    - rewrite <- B. apply Sum_ext. intros. apply softmax_gibbs. }
  split; [exact Dist|].
  assert (G := gibbs_attained N (uniform N) (fun i => - f i) uniform_distribution).
  assert (KLe : KL N (gibbs_point N (uniform N) (fun j => - f j)) (uniform N) = KL N (softmax f) (uniform N))
    by (apply Sum_ext; intros; rewrite softmax_gibbs; reflexivity).
  rewrite KLe, KL_uniform, <- Ext, mean_uniform, ln_mult, ln_Rinv in G;
    auto using exp_sum_pos, Rinv_0_lt_compat.
  assert (M : mean N (softmax f) (fun i => - f i) = - mean N (softmax f) f).
  { unfold mean. rewrite (Sum_ext N _ (fun i => -1 * (softmax f i * f i))) by (intros; ring). rewrite Sum_scale. ring. }
  rewrite M in G. lra.
Qed.

(** It is attained nowhere else. *)
Theorem corollary_17_3_unique : forall f nu, distribution N nu ->
  mean N nu f - H N nu = - ln (Σ i ≤ N, exp (- f i)) ->
  forall i, (1 <= i <= N)%nat -> nu i = softmax f i.
Proof.
  intros f nu Hnu Heq i Hi. assert (H0 := N_pos). rewrite softmax_gibbs.
  apply (gibbs_unique N (uniform N) (fun j => - f j) nu); auto using uniform_distribution, uniform_dominates.
  rewrite KL_uniform, mean_uniform, ln_mult, ln_Rinv; auto using exp_sum_pos, Rinv_0_lt_compat.
  assert (M : mean N nu (fun j => - f j) = - mean N nu f).
  { unfold mean. rewrite (Sum_ext N _ (fun j => -1 * (nu j * f j))) by (intros; ring). rewrite Sum_scale. ring. }
  rewrite M. lra.
Qed.

(** ** (17.21), and (11) of Lecture 13 on the simplex: with cumulative losses L and η > 0 the
    minimiser of ⟨L, p⟩ - H(p)/η on the simplex is the softmax of -η L, and no other point. *)
Theorem closed_form : forall (eta : R) (L p : nat -> R), 0 < eta -> distribution N p ->
  let best := softmax (fun i => eta * L i) in
  mean N best L - H N best / eta <= mean N p L - H N p / eta /\
  (mean N p L - H N p / eta = mean N best L - H N best / eta -> forall i, (1 <= i <= N)%nat -> p i = best i).
Proof.
  intros eta L p He Hp best.
  destruct (corollary_17_3_attained (fun i => eta * L i)) as [_ A]. fold best in A.
  assert (B := corollary_17_3 (fun i => eta * L i) p Hp).
  assert (M : forall q, mean N q (fun i => eta * L i) = eta * mean N q L).
  { intros q. unfold mean. rewrite <- Sum_scale. apply Sum_ext. intros. ring. }
  rewrite M in A, B.
  assert (S : forall q, mean N q L - H N q / eta = (eta * mean N q L - H N q) / eta) by (intros; field; lra).
  split.
  - rewrite !S. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, He | lra].
  - intros Heq i Hi. apply (corollary_17_3_unique (fun i => eta * L i) p Hp); auto. rewrite M.
    rewrite !S in Heq. apply (Rmult_eq_reg_r (/ eta)); [|apply Rgt_not_eq, Rinv_0_lt_compat, He].
    unfold Rdiv in Heq. rewrite Heq, A. reflexivity.
Qed.

(** ** (17.12): the entropy of a distribution lies between 0 and ln N. *)
Theorem entropy_range : forall p, distribution N p -> 0 <= H N p <= ln (INR N).
Proof.
  intros p Hp. split.
  - unfold H. apply Sum_nonneg. intros i Hi. assert (P0 := proj1 Hp i Hi).
    assert (P1 : p i <= 1) by (rewrite <- (proj2 Hp); apply Sum_term; [apply Hp | exact Hi]).
    destruct (Req_dec (p i) 0) as [-> | Hn]; [lra|].
    assert (L := ln_below (p i) ltac:(lra)). nra.
  - assert (K := corollary_17_3 (fun _ => 0) p Hp).
    rewrite (Sum_ext N _ (fun _ => 1)) in K by (intros; rewrite Ropp_0; apply exp_0).
    rewrite Sum_const, Rmult_1_r in K.
    assert (M : mean N p (fun _ => 0) = 0) by (unfold mean; rewrite Sum_scale_r; ring). lra.
Qed.

(** ** Hedge with a decreasing step (hedge-anytime) *)

(** M(η, L) = -(1/η) ln((1/N) Σ exp(-η L)). *)
Definition soft_min (eta : R) (L : nat -> R) : R := - (ln (/ INR N * Σ i ≤ N, exp (- (eta * L i)))) / eta.

Lemma soft_min_below : forall eta L nu, 0 < eta -> distribution N nu ->
  soft_min eta L <= mean N nu L + KL N nu (uniform N) / eta.
Proof.
  intros eta L nu He Hnu. assert (H0 := N_pos).
  assert (G := gibbs N (uniform N) (fun i => - (eta * L i)) nu uniform_distribution Hnu (uniform_dominates nu)).
  rewrite mean_uniform in G. unfold soft_min.
  assert (M : mean N nu (fun i => - (eta * L i)) = - eta * mean N nu L).
  { unfold mean. rewrite <- Sum_scale. apply Sum_ext. intros. ring. }
  rewrite M in G. apply (Rmult_le_reg_r eta); [exact He|].
  replace (- ln (/ INR N * (Σ i ≤ N, exp (- (eta * L i)))) / eta * eta)
    with (- ln (/ INR N * (Σ i ≤ N, exp (- (eta * L i))))) by (field; lra).
  replace ((mean N nu L + KL N nu (uniform N) / eta) * eta) with (eta * mean N nu L + KL N nu (uniform N)) by (field; lra).
  lra.
Qed.

Lemma soft_min_at : forall eta L, 0 < eta ->
  let nu := gibbs_point N (uniform N) (fun i => - (eta * L i)) in
  soft_min eta L = mean N nu L + KL N nu (uniform N) / eta.
Proof.
  intros eta L He nu.
  assert (G := gibbs_attained N (uniform N) (fun i => - (eta * L i)) uniform_distribution). fold nu in G.
  rewrite mean_uniform in G. unfold soft_min. rewrite <- G.
  assert (M : mean N nu (fun i => - (eta * L i)) = - eta * mean N nu L).
  { unfold mean. rewrite <- Sum_scale. apply Sum_ext. intros. ring. }
  rewrite M. field. lra.
Qed.

(** It does not grow with the step. *)
Lemma soft_min_mono : forall eta eta' L, 0 < eta <= eta' -> soft_min eta' L <= soft_min eta L.
Proof.
  intros eta eta' L He. set (nu := gibbs_point N (uniform N) (fun i => - (eta * L i))).
  assert (Hnu : distribution N nu) by (apply gibbs_distribution, uniform_distribution).
  assert (A := soft_min_below eta' L nu ltac:(lra) Hnu).
  assert (B := soft_min_at eta L ltac:(lra)). cbv zeta in B. fold nu in B. rewrite B.
  assert (KLn : 0 <= KL N nu (uniform N)).
  { assert (P := pinsker N nu (uniform N) Hnu uniform_distribution (uniform_dominates nu)).
    pose proof (pow2_ge_0 (l1 N nu (uniform N))). lra. }
  assert (/ eta' <= / eta) by (apply Rinv_le_contravar; lra).
  assert (KL N nu (uniform N) / eta' <= KL N nu (uniform N) / eta) by (apply Rmult_le_compat_l; assumption).
  lra.
Qed.

(** Cumulative losses before round t, and the play of round t. *)
Definition past (loss : nat -> nat -> R) (t i : nat) : R := Σ s ≤ (t - 1)%nat, loss s i.
Definition anytime_play (eta : nat -> R) (loss : nat -> nat -> R) (t : nat) : nat -> R :=
  softmax (fun i => eta t * past loss t i).

Lemma one_round : forall eta L l, 0 < eta ->
  (forall i, (1 <= i <= N)%nat -> 0 <= l i <= 1) ->
  mean N (softmax (fun i => eta * L i)) l <= soft_min eta (fun i => L i + l i) - soft_min eta L + eta / 8.
Proof.
  intros eta L l He Hl. assert (H0 := N_pos).
  destruct (corollary_17_3_attained (fun i => eta * L i)) as [Dist _].
  set (p := softmax (fun i => eta * L i)) in *.
  assert (K := hoeffding_unit N p l (- eta) Dist Hl). replace (- eta * - eta) with (eta * eta) in K by ring.
  set (Z := Σ i ≤ N, exp (- (eta * L i))). set (Z' := Σ i ≤ N, exp (- (eta * (L i + l i)))).
  assert (HZ : 0 < Z) by (apply (exp_sum_pos (fun i => - (eta * L i)))).
  assert (HZ' : 0 < Z') by (apply (exp_sum_pos (fun i => - (eta * (L i + l i))))).
  assert (Ratio : mean N p (fun i => exp (- eta * l i)) = Z' / Z).
  { unfold mean, Z'. replace ((Σ i ≤ N, exp (- (eta * (L i + l i)))) / Z)
      with ((Σ i ≤ N, exp (- (eta * (L i + l i)))) * / Z) by reflexivity.
    rewrite <- Sum_scale_r. apply Sum_ext. intros i _. unfold p, softmax. fold Z.
    replace (- (eta * (L i + l i))) with (- (eta * L i) + - eta * l i) by ring. rewrite exp_plus. unfold Rdiv. ring. }
  rewrite Ratio in K.
  assert (Lk : ln (Z' / Z) <= - eta * mean N p l + eta * eta / 8).
  { rewrite <- (ln_exp (- eta * mean N p l + eta * eta / 8)).
    assert (0 < Z' / Z) by (apply Rdiv_lt_0_compat; assumption).
    destruct K as [K | K]; [left; apply ln_increasing; assumption | right; rewrite K; reflexivity]. }
  unfold Rdiv in Lk. rewrite ln_mult, ln_Rinv in Lk; auto using Rinv_0_lt_compat.
  unfold soft_min. fold Z. fold Z'. rewrite !ln_mult; auto using Rinv_0_lt_compat.
  apply (Rmult_le_reg_r eta); [exact He|].
  replace ((- (ln (/ INR N) + ln Z') / eta - - (ln (/ INR N) + ln Z) / eta + eta / 8) * eta)
    with (ln Z - ln Z' + eta * eta / 8) by (field; lra).
  lra.
Qed.

(** Hedge with step 2 sqrt(ln N/t) in round t:
    - N >= 2 experts, losses in [0, 1], any number of rounds T >= 1;
    - k: any expert.
    The regret against it is at most sqrt(T ln N). *)
Theorem hedge_anytime : forall (loss : nat -> nat -> R) (T k : nat),
  (2 <= N)%nat ->
  (1 <= T)%nat ->
  (forall t i, (1 <= t <= T)%nat -> (1 <= i <= N)%nat -> 0 <= loss t i <= 1) ->
  (1 <= k <= N)%nat ->
  let eta := fun t => 2 * sqrt (ln (INR N) / INR t) in
  Σ t ≤ T, (mean N (anytime_play eta loss t) (loss t) - loss t k) <= sqrt (INR T * ln (INR N)).
Proof.
  intros loss T k HN2 HT Hl Hk eta. assert (H0 := N_pos).
  set (lnN := ln (INR N)) in *.
  assert (HL : 0 < lnN).
  { unfold lnN. rewrite <- ln_1. apply ln_increasing; [lra|]. change 1 with (INR 1). apply lt_INR. lia. }
  assert (Hroot : forall t, (1 <= t)%nat -> eta t = root_step (2 * sqrt lnN) t).
  { intros t Ht. unfold eta, root_step. fold lnN. rewrite sqrt_div_alt by (apply INR_pos, Ht). unfold Rdiv. ring. }
  assert (Hs : 0 < 2 * sqrt lnN) by (assert (0 < sqrt lnN) by (apply sqrt_lt_R0, HL); lra).
  assert (Hpos : forall t, (1 <= t)%nat -> 0 < eta t) by (intros; rewrite Hroot by auto; apply root_step_pos; auto).
  assert (Hdec : forall t, (1 <= t)%nat -> eta (t + 1)%nat <= eta t)
    by (intros; rewrite !Hroot by lia; apply root_step_dec; auto).
  assert (Claim : Σ t ≤ T, mean N (anytime_play eta loss t) (loss t)
     <= soft_min (eta T) (past loss (T + 1)) + 1 / 8 * Σ t ≤ T, eta t).
  { destruct T as [|n]; [lia|]. clear HT Hk. induction n as [|n IH].
    - cbn [Sum]. assert (K := one_round (eta 1%nat) (past loss 1) (loss 1%nat) (Hpos 1%nat ltac:(lia)) ltac:(intros; apply Hl; lia)).
      fold (anytime_play eta loss 1) in K.
      assert (S0 : soft_min (eta 1%nat) (past loss 1) = 0).
      { unfold soft_min, past. simpl Sum at 2. rewrite (Sum_ext N _ (fun _ => 1)).
        - rewrite Sum_const, Rmult_1_r, Rinv_l, ln_1 by lra. unfold Rdiv. ring.
        - intros. rewrite Rmult_0_r, Ropp_0. apply exp_0. }
      assert (S1 : soft_min (eta 1%nat) (fun i => past loss 1 i + loss 1%nat i) = soft_min (eta 1%nat) (past loss (1 + 1)))
        by (unfold soft_min, past; simpl; reflexivity).
      rewrite S0, S1 in K. lra.
    - specialize (IH ltac:(intros; apply Hl; lia)). set (m := S n) in *.
      assert (K := one_round (eta (S m)) (past loss (S m)) (loss (S m)) (Hpos (S m) ltac:(lia)) ltac:(intros; apply Hl; lia)).
      fold (anytime_play eta loss (S m)) in K.
      assert (S1 : soft_min (eta (S m)) (fun i => past loss (S m) i + loss (S m) i) = soft_min (eta (S m)) (past loss (S m + 1))).
      { unfold soft_min. do 4 f_equal. apply Sum_ext. intros i _. unfold past.
        replace (S m + 1 - 1)%nat with (S m) by lia. replace (S m - 1)%nat with m by lia. rewrite Sum_S. reflexivity. }
      assert (Mono := soft_min_mono (eta (S m)) (eta m) (past loss (S m))
        ltac:(split; [apply Hpos; lia | replace (S m) with (m + 1)%nat by lia; apply Hdec; lia])).
      replace (m + 1)%nat with (S m) in IH by lia.
      rewrite S1 in K. rewrite !(Sum_S m). lra. }
  assert (Last : soft_min (eta T) (past loss (T + 1)) <= Σ t ≤ T, loss t k + lnN / eta T).
  { unfold soft_min. assert (He := Hpos T HT).
    assert (Hterm : exp (- (eta T * past loss (T + 1) k)) <= Σ i ≤ N, exp (- (eta T * past loss (T + 1) i)))
      by (apply (Sum_term N (fun i => exp (- (eta T * past loss (T + 1) i)))); [intros; left; apply exp_pos | exact Hk]).
    assert (Hln : - (eta T * past loss (T + 1) k) <= ln (Σ i ≤ N, exp (- (eta T * past loss (T + 1) i)))).
    { rewrite <- (ln_exp (- (eta T * past loss (T + 1) k))).
      destruct Hterm as [Hx | Hx]; [left; apply ln_increasing; [apply exp_pos | exact Hx] | right; rewrite Hx; reflexivity]. }
    rewrite ln_mult, ln_Rinv; auto using Rinv_0_lt_compat; [|apply (exp_sum_pos (fun i => - (eta T * past loss (T + 1) i)))].
    fold lnN. unfold past in Hln at 1. replace (T + 1 - 1)%nat with T in Hln by lia.
    apply (Rmult_le_reg_r (eta T)); [exact He|].
    replace (- (- lnN + ln (Σ i ≤ N, exp (- (eta T * past loss (T + 1) i)))) / eta T * eta T)
      with (lnN - ln (Σ i ≤ N, exp (- (eta T * past loss (T + 1) i)))) by (field; lra).
    replace ((Σ t ≤ T, loss t k + lnN / eta T) * eta T) with (eta T * (Σ t ≤ T, loss t k) + lnN) by (field; lra).
    lra. }
  assert (Steps : Σ t ≤ T, eta t <= 2 * sqrt lnN * (2 * sqrt (INR T) - 1)).
  { rewrite (Sum_ext T _ (fun t => 2 * sqrt lnN * (1 / sqrt (INR t))))
      by (intros; rewrite Hroot by lia; unfold root_step, Rdiv; ring).
    rewrite Sum_scale. apply Rmult_le_compat_l; [lra | apply sum_inverse_roots, HT]. }
  assert (HTp := INR_pos T HT).
  assert (Q : lnN / eta T = 1 / 2 * (sqrt (INR T) * sqrt lnN)).
  { rewrite Hroot by exact HT. unfold root_step.
    assert (A : 0 < sqrt lnN) by lra. assert (B : 0 < sqrt (INR T)) by (apply sqrt_lt_R0, HTp).
    replace lnN with (sqrt lnN * sqrt lnN) at 1 by (apply sqrt_sqrt; lra). field. lra. }
  rewrite Sum_minus, sqrt_mult_alt by lra. rewrite Q in Last.
  assert (0 <= sqrt lnN) by apply sqrt_pos. lra.
Qed.
End Uniform.
