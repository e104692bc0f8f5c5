// 1. Projection: drag the point, see the nearest point of the set and the obtuse angle.
import { nearest } from "./formulas.js";
import { figure, num } from "./kernel.js";

const circle = Array.from({ length: 120 }, (_, i) => [Math.cos(i * Math.PI / 60), Math.sin(i * Math.PI / 60)]);
const corners = {
  ball: circle,
  box: [[1, 0.6], [-1, 0.6], [-1, -0.6], [1, -0.6]],
  simplex: [[1, 0], [0, 1]],
  l1: [[1, 0], [0, 1], [-1, 0], [0, -1]],
};

// Return the angle at z between p and q, in degrees.
const angle = (z, p, q) => {
  const [a, b] = [p, q].map(v => Math.atan2(v[1] - z[1], v[0] - z[0]));
  return Math.abs(((b - a) * 180 / Math.PI + 540) % 360 - 180);
};

// Return the point of the set to which the angle is measured: the corner with the smallest angle; on the
// circle, the point 60° from z.
const witness = (set, y, z) => {
  if (set === "ball") return [z[0] / 2 - z[1] * Math.sqrt(0.75), z[1] / 2 + z[0] * Math.sqrt(0.75)];
  const others = corners[set].filter(a => Math.hypot(a[0] - z[0], a[1] - z[1]) > 1e-9);
  return others.reduce((a, b) => angle(z, y, b) < angle(z, y, a) - 1e-9 ? b : a);
};

figure("projection", {
  title: "The nearest point of a convex set",
  label: "A point and its projection onto a convex set in the plane",
  controls: () => [
    { key: "set", label: "set", options: { ball: "ball", box: "box", simplex: "simplex", l1: "ℓ₁ ball" } },
    { key: "x", label: "point, →", name: "first coordinate of the point", min: -2, max: 2, step: 0.05 },
    { key: "y", label: "point, ↑", name: "second coordinate of the point", min: -1.5, max: 1.5, step: 0.05 },
  ],
  presets: () => ({
    "The disk": { set: "ball", x: 1.5, y: 0.9 },
    "A corner of the box": { set: "box", x: 1.6, y: 1.1 },
    "An edge of the ℓ₁ ball": { set: "l1", x: 0.9, y: 0.7 },
    "A corner of the simplex": { set: "simplex", x: 1.3, y: -0.9 },
  }),
  guess: {
    ask: "The ℓ₁ ball, and a point to the right and a little above it. Where is the nearest point of the set? Click there.",
    state: { set: "l1", x: 1.7, y: 0.4 }, axes: "xy", start: { x: 0, y: 0 },
    range: { x: [-2, 2], y: [-1.5, 1.5] }, name: { x: "guess, →", y: "guess, ↑" },
    judge: (guess, { set, x, y }) => {
      const z = nearest[set]([x, y]), off = Math.hypot(guess.x - z[0], guess.y - z[1]);
      return (off < 0.12 ? "Yes. " : `It is ${num(off, 2)} away from your mark. `) +
        "The nearest point is the corner: a whole wedge of points outside lands there, and so ℓ₁ balls make coordinates zero.";
    },
  },
  play: { // the point moves once around the set
    pace: 50,
    frames: ({ x, y }) => {
      const from = Math.atan2(y, x), far = Math.min(Math.max(Math.hypot(x, y), 1.3), 1.9);
      const around = Array.from({ length: 90 }, (_, i) => from + i * Math.PI / 45);
      return [...around.map(s => ({ x: far * Math.cos(s), y: far * Math.sin(s) })), { x, y }];
    },
  },
  draw(view, { set, x, y }) {
    const plot = view.plot({ x: [-2.1, 2.1], y: [-1.55, 1.55], equal: true, box: [4, 4, view.W - 8, view.H - 8], axes: false });
    const point = [x, y], z = nearest[set](point), far = Math.hypot(x - z[0], y - z[1]);
    plot.line(corners[set], set === "simplex" ? "line thick pale" : "set", set !== "simplex");
    if (set === "simplex") plot.text(0.5, 0.5, "x_1 + x_2 = 1, x ≥ 0", "muted", 14, -4);
    const said = [["z", "nearest point", `(${num(z[0])}, ${num(z[1])})`], ["distance", "distance", num(far)]];
    if (!view.hide) {
      if (far > 1e-9) {
        const a = witness(set, point, z), degrees = angle(z, point, a);
        const normal = [(x - z[0]) / far, (y - z[1]) / far], across = [-normal[1] * 5, normal[0] * 5];
        plot.line([[z[0] - across[0], z[1] - across[1]], [z[0] + across[0], z[1] + across[1]]], "line thin dash muted");
        plot.line([point, z, a], "line purple");
        const from = Math.atan2(normal[1], normal[0]);
        const turn = ((Math.atan2(a[1] - z[1], a[0] - z[0]) - from) * 180 / Math.PI + 540) % 360 - 180;
        const arc = Array.from({ length: 31 }, (_, i) => from + turn * i / 30 * Math.PI / 180);
        plot.line(arc.map(s => [z[0] + 0.2 * Math.cos(s), z[1] + 0.2 * Math.sin(s)]), "line purple");
        const middle = from + turn / 2 * Math.PI / 180;
        plot.text(z[0] + 0.42 * Math.cos(middle), z[1] + 0.42 * Math.sin(middle), `${num(degrees, 0)}°`, "purple middle strong", 0, 4);
        plot.dot(...a, "dot gold", 5);
        plot.text(...a, "a", "gold strong", -16, -4);
        said.push(["angle", "angle at z to a", `${num(degrees, 2)}°`]);
      } else said.push(["angle", "", "the point is in the set and stays where it is"]);
      plot.dot(...z, "dot purple", 6);
      plot.text(...z, "z", "purple strong", 8, 16);
    }
    plot.handle(x, y, ["x", "y"], (px, py) => ({ x: px, y: py }));
    plot.text(x, y, "y", "strong", 12, -8);
    return said;
  },
});
