// 7. The Perceptron: click points in, step through the updates, see w turn, and R/γ.
import { margin, perceptron } from "./formulas.js";
import { figure, num } from "./kernel.js";

const LAST = 60;
const parse = word => (word ? word.split(".").map(part => {
  const [a, b, sign] = part.split("_");
  return [a / 100, b / 100, sign === "p" ? 1 : -1];
}) : []);
const added = (word, x, y, label) => {
  const all = word ? word.split(".") : [];
  return all.length < 12 ? [...all, `${Math.round(100 * x)}_${Math.round(100 * y)}_${label}`].join(".") : word;
};
// Return the first round after which a full pass makes no update; LAST if there is none.
const settled = points => {
  if (!points.length) return 0;
  const last = perceptron(points, LAST).updates.lastIndexOf(true) + 1;
  return last + points.length <= LAST ? last : LAST;
};
const put = (state, x, y) => ({ pts: added(state.pts, x, y, state.label), x, y, t: "0" });
const move = by => ({ pts, t }) => ({ t: String(pts ? Math.min(Math.max(+t + by, 0), LAST) : 0) });
const GROUPS = "90_40_p.-70_30_m.60_80_p.-90_-20_m.50_-20_p.-30_70_m";
const THIN = "90_45_p.90_25_m.-60_-40_m.50_40_p.-80_-30_p.30_5_m";

figure("perceptron", {
  title: "The Perceptron, update by update",
  label: "The Perceptron on points in the plane",
  controls: () => [
    { key: "label", label: "next label", options: { p: "+1", m: "−1" }, start: "p" },
    { key: "x", label: "next point, →", name: "first coordinate of the next point", min: -1, max: 1, step: 0.05, start: -0.1, more: true },
    { key: "y", label: "next point, ↑", name: "second coordinate of the next point", min: -1, max: 1, step: 0.05, start: -0.8, more: true },
    { key: "t", pattern: /^([1-5]?\d|60)$/, start: "0" },
    { key: "pts", pattern: /^(-?\d{1,3}_-?\d{1,3}_[pm](\.(?=.)|$)){0,12}$/, start: "" },
  ],
  presets: () => ({
    "Two groups": { pts: GROUPS, t: String(settled(parse(GROUPS))) },
    "A thin margin": { pts: THIN, t: String(settled(parse(THIN))) },
    "The bound is met": { pts: "100_0_p.0_100_p", t: "2" },
    "Not separable": { pts: "80_20_p.60_60_m.20_80_p.-70_30_m", t: "60" },
    "An empty sheet": { pts: "", t: "0" },
  }),
  actions: {
    step: move(1), back: move(-1), start: () => ({ t: "0" }), end: ({ pts }) => ({ t: String(settled(parse(pts))) }),
    "add the point": state => put(state, state.x, state.y), "remove a point": ({ pts }) => ({ pts: pts.split(".").slice(0, -1).join("."), t: "0" }),
  },
  more: ["back", "start", "end", "add the point", "remove a point"],
  play: { pace: 350, frames: ({ pts }) => Array.from({ length: settled(parse(pts)) + 1 }, (_, t) => ({ t: String(t) })) },
  tap: (x, y, state) => (Math.max(Math.abs(x), Math.abs(y)) <= 1 ? put(state, x, y) : {}),
  guess: {
    ask: "A thin margin: six points, shown in turn until no update is needed. Where will the tip of w be? Click there.",
    state: { pts: THIN, t: "0" }, axes: "xy", start: { x: 0, y: 0 },
    range: { x: [-1.6, 1.6], y: [-1.6, 1.6] }, name: { x: "guess, →", y: "guess, ↑" },
    show: state => ({ t: String(settled(parse(state.pts))) }),
    judge: (guess, { pts }) => {
      const points = parse(pts), path = perceptron(points, settled(points)), w = path.w.at(-1);
      const turn = Math.abs(((Math.atan2(w[1], w[0]) - Math.atan2(guess.y, guess.x)) * 180 / Math.PI + 540) % 360 - 180);
      const count = path.updates.filter(Boolean).length;
      return `Your direction is ${num(turn, 0)}° from that of w, which took ${count} updates and ends at (${num(w[0], 2)}, ${num(w[1], 2)}). ` +
        "It separates the points, but it need not be the widest way between them, drawn in gold.";
    },
  },
  draw(view, { x, y, label, pts, t }) {
    const points = parse(pts), rounds = points.length ? Math.min(+t, LAST) : 0;
    const path = perceptron(points, rounds), w = path.w.at(-1), wide = points.length ? margin(points) : null;
    const plot = view.plot({ x: [-1.6, 1.6], y: [-1.25, 1.25], equal: true, axes: false, box: [4, 4, view.W - 8, view.H - 8] });
    plot.line([[-1, -1], [1, -1], [1, 1], [-1, 1]], "line thin muted", true);
    plot.line([[-0.04, 0], [0.04, 0]], "line thin muted");
    plot.line([[0, -0.04], [0, 0.04]], "line thin muted");
    if (wide && !view.hide) {
      plot.line([[-3 * wide.u[1], 3 * wide.u[0]], [3 * wide.u[1], -3 * wide.u[0]]], "line thin dash gold");
      plot.arrow([0, 0], wide.u.map(v => 0.6 * v), "gold thick");
      plot.text(0.6 * wide.u[0], 0.6 * wide.u[1], "u", "gold strong", -4, -8);
    }
    points.forEach(([a, b, sign], i) => {
      plot.dot(a, b, sign > 0 ? "dot blue" : "hollow orange", 8);
      view.text(plot.px(a) + 15, plot.py(b) + 4, `${i + 1}${sign > 0 ? "+" : "−"}`, sign > 0 ? "blue" : "orange");
    });
    if (points.length && rounds < LAST && !view.hide) {
      const [a, b] = points[rounds % points.length];
      plot.dot(a, b, "line thin ink", 13);
    }
    if (Math.hypot(...w) > 0 && !view.hide) {
      const size = Math.hypot(...w);
      plot.line([[-3 * w[1] / size, 3 * w[0] / size], [3 * w[1] / size, -3 * w[0] / size]], "line red");
      if (rounds && path.updates.at(-1)) plot.arrow([0, 0], path.w.at(-2), "muted");
      plot.arrow([0, 0], w, "red thick");
      plot.text(w[0], w[1], "w", "red strong", 8, -6);
    }
    if (!view.hide) {
      plot.handle(x, y, ["x", "y"], (px, py) => ({ x: px, y: py }), `ghost ${label === "p" ? "blue" : "orange"}`);
      plot.text(x, y, "next", "muted", 13, 5);
    }
    const bound = wide ? (wide.radius / wide.gamma) ** 2 : null;
    return [
      ["round", "rounds", String(rounds)],
      ["updates", "updates", String(path.updates.filter(Boolean).length)],
      ["bound", "bound (R/γ)²", wide ? num(bound) : points.length ? "none: no margin" : "–"],
      ["ratio", "R/γ", wide ? `${num(wide.radius)} / ${num(wide.gamma)}` : "–"],
      ["w", "w", `(${num(w[0], 2)}, ${num(w[1], 2)})`],
    ];
  },
});
