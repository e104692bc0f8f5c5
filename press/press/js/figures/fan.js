// 2. The fan of subgradients: turn a line about a point of the graph; it must stay below.
import { excess, losses, slopes } from "./formulas.js";
import { figure, num, swing } from "./kernel.js";

const REACH = 0.8; // distance of the handle that turns the line

figure("fan", {
  title: "All subgradients at a point",
  label: "A convex function on [−2, 2] and a line through a point of its graph",
  controls: () => [
    { key: "f", label: "function", options: { perceptron: "max(0, −w)", hinge: "max(0, 1 − w)", absolute: "|w|" } },
    { key: "w", label: "point w", name: "point w", min: -1.5, max: 1.5, step: 0.05 },
    { key: "z", label: "slope z", name: "slope z", min: -2, max: 2, step: 0.05 },
  ],
  presets: () => ({
    "The fan at the kink": { f: "perceptron", w: 0, z: -0.5 },
    "One turn too far": { f: "perceptron", w: 0, z: -1.5 },
    "Left of the kink": { f: "perceptron", w: -0.8, z: -1 },
    "The hinge": { f: "hinge", w: 1, z: -0.4 },
    "A wider fan": { f: "absolute", w: 0, z: 0.4 },
  }),
  play: { pace: 50, frames: swing("z", Array.from({ length: 41 }, (_, i) => (i - 20) / 10)) },
  draw(view, { f: name, w, z }) {
    const f = losses[name], [low, high] = slopes(f, w), over = excess(f, w, z), fine = over < 1e-9;
    const plot = view.plot({ x: [-2, 2], y: [-2, 3.1], xlabel: "w" }), at = f.value(w);
    const line = slope => [[-2, at + slope * (-2 - w)], [2, at + slope * (2 - w)]];
    if (low < high) {
      const [a, b] = [line(low), line(high)];
      plot.line([a[0], [w, at], b[0]], "band", true);
      plot.line([a[1], [w, at], b[1]], "band", true);
      for (const slope of [low, high]) plot.line(line(slope), "line thin pale");
    }
    plot.line([[-2, f.value(-2)], [f.kink, f.value(f.kink)], [2, f.value(2)]], "line thick ink");
    plot.text(-1.75, f.value(-1.75), "f", "strong", 8, -6);
    plot.line(line(z), fine ? "line blue" : "line dash orange");
    if (!fine) {
      const worst = [-2, f.kink, 2].find(u => at + z * (u - w) - f.value(u) > over - 1e-12);
      plot.line([[worst, f.value(worst)], [worst, at + z * (worst - w)]], "line thick orange");
    }
    const side = w > 1 ? -REACH : REACH;
    plot.handle(w + side, at + z * side, ["z"], (x, y) => ({ z: (y - at) / side }), fine ? "blue" : "orange");
    plot.handle(w, at, ["w"], x => ({ w: x }));
    return [
      ["verdict", "", fine ? "z is a subgradient at w" : "the line cuts through f: no subgradient"],
      ["excess", "largest height above f on [−2, 2]", num(over)],
      ["subdifferential", "all subgradients at w", low < high ? `from ${num(low, 0)} to ${num(high, 0)}` : num(low, 0)],
    ];
  },
});
