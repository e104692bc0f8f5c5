// 4. The step: regret after T rounds of lazy descent on the unit disk, with bound, worst case and floor.
import { lectureBound, worstDescent } from "./formulas.js";
import { figure, num, swing } from "./kernel.js";

const show = eta => (eta < 0.1 ? num(eta, 4) : num(eta, 3));

figure("step", {
  title: "How long a step?",
  label: "Regret of gradient descent on the unit disk as its step varies",
  controls: numbers => [
    { key: "adversary", label: "adversary", options: numbers.names },
    { key: "eta", label: "step η", name: "step eta", values: numbers.eta, show },
    { key: "T", label: "rounds T", name: "rounds T", values: numbers.T, show: String },
  ],
  presets: () => ({
    "Chance": { adversary: "random", eta: 0.125, T: 64 },
    "The worst adversary": { adversary: "spiral", eta: 0.125, T: 64 },
    "Too timid": { adversary: "straight", eta: 2 ** -6, T: 64 },
    "Too bold": { adversary: "back", eta: 1, T: 64 },
  }),
  guess: {
    ask: "T = 64 rounds. Where is the worst case over all adversaries least? Click on that step.",
    state: { adversary: "random", eta: 4, T: 64 }, axes: "x", start: { x: 0.02, y: 0 },
    range: { x: [0.002, 4, 0.001] }, name: { x: "step η" },
    judge: (guess, { T }) => {
      const best = 1 / Math.sqrt(T), ratio = Math.max(guess.x / best, best / guess.x);
      return (ratio < 1.3 ? "Yes. " : `Your step ${show(guess.x)} is off by a factor ${num(ratio, 1)}. `) +
        `The worst case is least at η = 1/√T = ${num(best, 3)}, and there it is √T, the floor. A step off by two costs only a quarter more.`;
    },
  },
  play: { pace: 80, frames: (state, numbers) => swing("eta", numbers.eta)(state) },
  draw(view, { adversary, eta, T }, numbers) {
    const steps = numbers.eta, played = numbers.regret[adversary][T], floor = Math.sqrt(T);
    const at = played[steps.indexOf(eta)], top = 5.2 * floor;
    const plot = view.plot({ x: [steps[0], steps.at(-1)], y: [0, top], log: true, box: [46, 24, view.W - 60, view.H - 66], xlabel: "step η", xticks: view.narrow ? [0.002, 0.02, 0.2, 2] : [0.002, 0.01, 0.05, 0.2, 1, 4] });
    view.text(50, 14, `regret after T = ${T} rounds`, "");
    const fine = Array.from({ length: 181 }, (_, i) => steps[0] * (steps.at(-1) / steps[0]) ** (i / 180));
    plot.line([[steps[0], floor], [steps.at(-1), floor]], "line muted");
    plot.text(steps.at(-1), floor, "floor √T", "muted end", -5, -6);
    if (!view.hide) {
      plot.line(fine.map(e => [e, worstDescent(T, e)]), "line thick pale");
      plot.line(fine.map(e => [e, lectureBound(T, e)]), "line dash ink");
      const label = 1 / Math.sqrt(T) / 5;
      plot.text(Math.sqrt(2 / T), lectureBound(T, Math.sqrt(2 / T)), "bound", "middle", 0, 18); // below its lowest point
      plot.text(label, worstDescent(T, label), "worst case", "end", -8, 4);
    }
    plot.line(steps.map((e, i) => [e, played[i] ?? NaN]), "line blue");
    plot.line([[eta, 0], [eta, top]], "line thin dash blue");
    if (at !== null) plot.dot(eta, at, "dot blue", 5);
    plot.handle(eta, 0.035 * top, ["eta"], x => ({ eta: steps.reduce((a, b) => Math.abs(Math.log(b / x)) < Math.abs(Math.log(a / x)) ? b : a) }), "blue");
    const limit = worstDescent(T, eta);
    return [
      ["regret", "regret played", at === null ? "this adversary needs 1/T ≤ η ≤ 1" : num(at)],
      ["worst", "worst case", Number.isNaN(limit) ? "no formula for η > 1" : num(limit)],
      ["bound", "bound ηT + D²/2η, D = 2", num(lectureBound(T, eta))],
      ["floor", "floor √T", num(floor)],
    ];
  },
});
