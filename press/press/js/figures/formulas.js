// Formulas that are evaluated while a reader drags. tests/press/test_figures.py compares each with ocolib.

const clip = (x, low, high) => Math.min(Math.max(x, low), high);
const dot = (a, b) => a[0] * b[0] + a[1] * b[1];

// Return the point of {x ≥ 0, Σ x_i = total} nearest to y, in the plane.
const share = ([a, b], total) => {
  const x = clip((a - b + total) / 2, 0, total);
  return [x, total - x];
};

// Return the nearest point of a set in the plane.
export const nearest = {
  ball: y => { const r = Math.hypot(...y); return r > 1 ? [y[0] / r, y[1] / r] : y; },
  box: y => [clip(y[0], -1, 1), clip(y[1], -0.6, 0.6)],
  simplex: y => share(y, 1),
  l1: y => {
    const size = y.map(Math.abs);
    return size[0] + size[1] <= 1 ? y : share(size, 1).map((x, i) => x * Math.sign(y[i]));
  },
};

// Losses on the line: value, smallest and largest slope, and position of the kink.
export const losses = {
  perceptron: { kink: 0, value: w => Math.max(0, -w), left: -1, right: 0 },
  hinge: { kink: 1, value: w => Math.max(0, 1 - w), left: -1, right: 0 },
  absolute: { kink: 0, value: w => Math.abs(w), left: -1, right: 1 },
};

export const slopes = (f, w) => [w > f.kink ? f.right : f.left, w < f.kink ? f.left : f.right];

// Return how far the line of slope z through (w, f(w)) rises above f on [−2, 2]: check the kink and the ends.
export const excess = (f, w, z) =>
  Math.max(...[-2, f.kink, 2].map(u => f.value(w) + z * (u - w) - f.value(u)), 0);

// Return the play on [−1, 1] after losses with sum Z: the regularised leader, or the leader if eta = ∞.
export const leader = (Z, eta) =>
  eta === Infinity ? (Z === 0 ? 0 : -Math.sign(Z)) : clip(-eta * Z, -1, 1);

// Return the plays w_1, …, w_{T+1} and the regret after 1, …, T rounds.
export const game = (slopes, eta) => {
  let Z = 0, paid = 0;
  const plays = [0], regret = [];
  for (const z of slopes) {
    paid += z * plays.at(-1);
    Z += z;
    plays.push(leader(Z, eta));
    regret.push(paid + Math.abs(Z));
  }
  return { plays, regret };
};

// Return the largest regret of T rounds with slopes ±½, ±1 and a sequence that attains it, by dynamic
// programming over 2Z. `after` are the slopes already played.
const SLOPES = [1, -1, 0.5, -0.5];
export const worst = (T, eta, after = []) => {
  const known = new Map();
  const best = (t, Z) => {
    if (t === T) return [Math.abs(Z), 0];
    const key = t * 1000 + 2 * Z;
    if (!known.has(key)) {
      const w = leader(Z, eta);
      known.set(key, SLOPES.map(z => [z * w + best(t + 1, Z + z)[0], z])
        .reduce((a, b) => (b[0] > a[0] + 1e-12 ? b : a)));
    }
    return known.get(key);
  };
  let Z = after.reduce((a, b) => a + b, 0);
  const slopes = [...after], value = best(after.length, Z)[0];
  while (slopes.length < T) {
    slopes.push(best(slopes.length, Z)[1]);
    Z += slopes.at(-1);
  }
  return { value, slopes };
};

// Regret bounds for a step eta on [−1, 1] or on the unit disk, |z_t| ≤ 1.
export const sharpBound = (T, eta) => 1 / (2 * eta) + eta * T / 2;
export const lectureBound = (T, eta) => 2 / eta + eta * T; // D = 2

// Return the worst case of descent on the unit disk; for eta > 1 we have no formula.
export const worstDescent = (T, eta) =>
  eta > 1 ? NaN : eta < 1 / T ? T - eta * T * (T - 1) / 2 : sharpBound(T, eta);

// Play lazy and eager descent on the unit disk: return plays, the lazy sums −ηZ_t, and both regrets.
export const descents = (stream, eta) => {
  let Z = [0, 0], lazy = [0, 0], eager = [0, 0];
  const path = { lazy: [lazy], eager: [eager], sum: [[0, 0]], regret: { lazy: [], eager: [] } };
  const paid = { lazy: 0, eager: 0 };
  for (const z of stream) {
    paid.lazy += dot(z, lazy);
    paid.eager += dot(z, eager);
    Z = [Z[0] + z[0], Z[1] + z[1]];
    path.sum.push([-eta * Z[0], -eta * Z[1]]);
    lazy = nearest.ball(path.sum.at(-1));
    eager = nearest.ball([eager[0] - eta * z[0], eager[1] - eta * z[1]]);
    path.lazy.push(lazy);
    path.eager.push(eager);
    for (const way of ["lazy", "eager"]) path.regret[way].push(paid[way] + Math.hypot(...Z));
  }
  path.part = path.lazy.findIndex((w, t) => Math.hypot(w[0] - path.eager[t][0], w[1] - path.eager[t][1]) > 1e-9);
  return path;
};

// Return Hedge's weights after cumulative losses L.
export const hedge = (L, eta) => {
  const least = Math.min(...L), weights = L.map(x => Math.exp(-eta * (x - least)));
  const total = weights.reduce((a, b) => a + b, 0);
  return weights.map(w => w / total);
};
export const hedgeBound = (n, T, eta) => Math.log(n) / eta + eta * T / 8;

// Run the Perceptron on points [x_1, x_2, y]: return w_1, …, w_{T+1} and which rounds were updates.
export const perceptron = (points, rounds) => {
  let w = [0, 0];
  const path = { w: [w], updates: [] };
  for (let t = 0; t < rounds; t++) {
    const [a, b, y] = points[t % points.length];
    const update = y * dot(w, [a, b]) <= 0;
    if (update) w = [w[0] + y * a, w[1] + y * b];
    path.w.push(w);
    path.updates.push(update);
  }
  return path;
};

// Return the direction of largest margin, the point of the hull of all y·x nearest to 0; null if 0 is in it.
export const margin = points => {
  const z = points.map(([a, b, y]) => [y * a, y * b]);
  let best = null;
  z.forEach((p, i) => z.slice(0, i + 1).forEach(q => {
    const d = [q[0] - p[0], q[1] - p[1]], length = dot(d, d);
    const s = length ? clip(-dot(p, d) / length, 0, 1) : 0;
    const v = [p[0] + s * d[0], p[1] + s * d[1]];
    if (!best || Math.hypot(...v) < Math.hypot(...best)) best = v;
  }));
  // the nearest point on any segment is that of the hull, unless the hull contains 0
  const size = best ? Math.hypot(...best) : 0;
  if (size < 1e-9 || z.some(p => dot(p, best) < size * size - 1e-9)) return null;
  return { gamma: size, u: [best[0] / size, best[1] / size], radius: Math.max(...z.map(p => Math.hypot(...p))) };
};

// Play rock, paper, scissors between two Hedges with different starts; with hint = 1 each counts its last loss
// twice. Return the row player's plays x_1, …, x_{T+1}, their averages, and both duality gaps after each play.
export const triangle = (T, eta, hint) => {
  const starts = [[0.5, 0.3, 0.2], [0.3, 0.3, 0.4]], total = [[0, 0, 0], [0, 0, 0]], sum = [[0, 0, 0], [0, 0, 0]];
  const pays = v => [v[1] - v[2], v[2] - v[0], v[0] - v[1]]; // loss of each choice against v; Aᵀ = −A
  const gap = (x, y) => Math.max(...pays(x).map(p => -p)) - Math.min(...pays(y));
  const path = { x: [], mean: [], last: [], average: [] };
  let plays = starts;
  for (let t = 1; t <= T + 1; t++) {
    plays.forEach((w, i) => w.forEach((p, k) => { sum[i][k] += p; }));
    const means = sum.map(s => s.map(p => p / t));
    path.x.push(plays[0]);
    path.mean.push(means[0]);
    path.last.push(gap(...plays));
    path.average.push(gap(...means));
    const losses = [pays(plays[1]), pays(plays[0])]; // −Aᵀx = Ax, so both losses have the same form
    plays = starts.map((start, i) => {
      const logs = start.map((p, k) => Math.log(p) - eta * ((total[i][k] += losses[i][k]) + hint * losses[i][k]));
      const high = Math.max(...logs), weights = logs.map(l => Math.exp(l - high)), all = weights[0] + weights[1] + weights[2];
      return weights.map(w => w / all);
    });
  }
  return path;
};
