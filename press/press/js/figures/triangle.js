// 11. Rock, paper, scissors between two Hedges: the plays spiral outwards, the averages inwards.
import { triangle } from "./formulas.js";
import { figure, num } from "./kernel.js";

const ROUNDS = 1000;
const corner = ([, b, c]) => [b + c / 2, c * Math.sqrt(3) / 2];
const thin = points => points.filter((_, i) => i % 3 === 0 || i === points.length - 1);
const NAMES = { hedge: "Hedge", optimistic: "optimistic Hedge" };

figure("triangle", {
  title: "Rock, paper, scissors between two learners",
  label: "Two learners play rock, paper, scissors: the row player's plays and their averages",
  controls: () => [
    { key: "learner", label: "both play", options: NAMES },
    { key: "eta", label: "step η", name: "step eta", min: 0.05, max: 0.5, step: 0.05 },
    { key: "t", label: "rounds", name: "rounds", min: 1, max: ROUNDS, step: 1, show: t => num(t, 0) },
  ],
  presets: () => ({
    "Spiral outwards": { learner: "hedge", eta: 0.1, t: 1000 },
    "The first lap": { learner: "hedge", eta: 0.1, t: 110 },
    "Along the edges": { learner: "hedge", eta: 0.3, t: 1000 },
    "Optimistic: inwards": { learner: "optimistic", eta: 0.1, t: 1000 },
  }),
  play: { pace: 60, frames: ({ t }) => Array.from({ length: 100 }, (_, i) => ({ t: Math.max(1, Math.round(t * (i + 1) / 100)) })) },
  guess: {
    ask: "Two Hedges, η = 0.1. The gap of the plays is what both could gain by answering the last play. After 1000 rounds, how large is it? Click at that height.",
    state: { learner: "hedge", eta: 0.1, t: 1000 }, axes: "y", plot: 1, start: { x: 0, y: 0.2 },
    range: { y: [0, 2] }, name: { y: "gap" },
    judge: guess => {
      const path = triangle(999, 0.1, 0), last = path.last.at(-1);
      return (Math.abs(guess.y - last) < 0.15 ? "Yes. " : `You said ${num(guess.y, 2)}. `) +
        `It is ${num(last, 2)}, and was ${num(path.last[0], 2)} at the start: the plays get worse and worse. The gap of the averages is ${num(path.average.at(-1), 3)}.`;
    },
  },
  draw(view, { learner, eta, t }) {
    const shown = Math.round(t), path = triangle(ROUNDS - 1, eta, learner === "hedge" ? 0 : 1);
    const side = view.narrow ? view.H * 0.56 : Math.min(view.H, view.W * 0.5);
    const plot = view.plot({ x: [-0.12, 1.12], y: [-0.12, 0.98], equal: true, axes: false,
      box: view.narrow ? [4, 2, view.W - 8, side - 6] : [4, 4, side, view.H - 8] });
    plot.line([[0, 0], [1, 0], [0.5, Math.sqrt(3) / 2]], "set", true);
    plot.text(0, 0, "rock", "muted middle", 0, 15);
    plot.text(1, 0, "paper", "muted middle", 0, 15);
    plot.text(0.5, Math.sqrt(3) / 2, "scissors", "muted middle", 0, -6);
    if (!view.hide) {
      plot.line(thin(path.x.slice(0, shown)).map(corner), "line thin orange");
      plot.line(thin(path.mean.slice(0, shown)).map(corner), "line blue");
      plot.dot(...corner(path.x[shown - 1]), "dot orange", 5);
      plot.dot(...corner(path.mean[shown - 1]), "dot blue", 5);
    }
    plot.dot(...corner([1 / 3, 1 / 3, 1 / 3]), "hollow muted", 4);
    const box = view.narrow ? [40, side + 18, view.W - 54, view.H - side - 60] : [side + 46, 40, view.W - side - 62, view.H - 100];
    const right = view.plot({ x: [0, ROUNDS], y: [0, 2.05], box, xlabel: "round", xticks: [0, 250, 500, 750, 1000], yticks: [0, 0.5, 1, 1.5, 2] });
    view.text(box[0], box[1] - 8, "duality gap", "");
    if (!view.hide) {
      const curve = (values, end) => thin(values.slice(0, end).map((gap, i) => [i + 1, gap]));
      if (shown < ROUNDS) right.line(curve(path.last, ROUNDS), "line thin muted");
      right.line(curve(path.last, shown), "line orange");
      right.line(curve(path.average, shown), "line blue");
      right.handle(shown, path.last[shown - 1], ["t"], x => ({ t: x }), "orange");
      view.text(8, 16, "plays", "orange strong");
      view.text(52, 16, "average", "blue strong");
    }
    return [
      ["last", "gap of the last plays", num(path.last[shown - 1])],
      ["average", "gap of the averages", num(path.average[shown - 1])],
      ["x", "row player's play", `(${path.x[shown - 1].map(p => num(p, 3)).join(", ")})`],
    ];
  },
});
