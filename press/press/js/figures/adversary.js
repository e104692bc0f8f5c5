// 3. You are the adversary: choose the next slope against the leader, or against the regularised one.
import { game, sharpBound, worst } from "./formulas.js";
import { figure, num } from "./kernel.js";

const T = 16;
const VALUE = { M: -1, m: -0.5, p: 0.5, P: 1 };
const LETTER = { "-1": "M", "-0.5": "m", "0.5": "p", "1": "P" };
const numbers = word => [...word].map(letter => VALUE[letter]);
const letters = slopes => slopes.map(z => LETTER[z]).join("");
const step = ({ learner, eta }) => (learner === "FTL" ? Infinity : eta);
const EXAMPLE2 = "m" + "PM".repeat(8).slice(0, 15);
const add = letter => ({ z }) => ({ z: (z.length < T ? z : "") + letter });

figure("adversary", {
  title: "You are the adversary",
  label: "You choose the slopes of linear losses on [−1, 1], a learner answers",
  controls: () => [
    { key: "learner", label: "learner", options: { FTL: "follow the leader", FTRL: "regularised leader" } },
    { key: "eta", label: "step η", name: "step eta of the regularised leader", min: 0.05, max: 2, step: 0.05, matters: ({ learner }) => learner === "FTRL" },
    { key: "z", pattern: /^[MmpP]{0,16}$/, start: "" },
  ],
  presets: () => ({
    "Example 2": { learner: "FTL", eta: 0.25, z: EXAMPLE2 },
    "An empty board": { learner: "FTL", eta: 0.25, z: "" },
  }),
  actions: {
    "−1": add("M"), "−½": add("m"), "+½": add("p"), "+1": add("P"),
    "worst move": state => ({ z: state.z.length < T
      ? state.z + letters(worst(T, step(state), numbers(state.z)).slopes)[state.z.length] : state.z }),
    "worst moves to the end": state => ({ z: letters(worst(T, step(state), numbers(state.z)).slopes) }),
    "never turn": () => ({ z: "P".repeat(T) }),
    "take back": ({ z }) => ({ z: z.slice(0, -1) }),
  },
  more: ["worst move", "worst moves to the end", "never turn", "take back"],
  play: { pace: 300, frames: ({ z }) => [...(z || EXAMPLE2), ""].map((_, i) => ({ z: (z || EXAMPLE2).slice(0, i) })) },
  draw(view, state) {
    const eta = step(state), slopes = numbers(state.z), t = slopes.length;
    const { plays, regret } = game(slopes, eta);
    const kind = state.learner === "FTL" ? "orange" : "blue", half = view.H * 0.42;
    const rounds = Array.from({ length: T + 1 }, (_, i) => i);
    const limit = rounds.map(n => [n, n ? worst(n, eta).value : 0]);
    const bounds = eta === Infinity ? [] : rounds.map(n => [n, sharpBound(n, eta)]);
    const xticks = view.narrow ? [1, 4, 8, 12, 16] : rounds.slice(1);

    const top = view.plot({ x: [0.3, T + 1.5], y: [-1.6, 1.6], box: [46, 22, view.W - 60, half - 34], xticks: [], yticks: [-1, 0, 1] });
    view.text(50, 14, "plays w_t, and your slopes ▲ ▼", "");
    slopes.forEach((z, i) => {
      const from = plays[i], up = from + 0.45 * z;
      top.arrow([i + 1.32, from], [i + 1.32, up], z > 0 ? "red" : "green");
    });
    top.line(plays.slice(0, t + 1).map((w, i) => [i + 1, w]), `line thin ${kind}`);
    plays.slice(0, t + 1).forEach((w, i) => top.dot(i + 1, w, i < t ? `dot ${kind}` : `hollow ${kind}`, 4.5));

    const high = Math.max(4, limit.at(-1)[1], ...regret) * 1.12;
    const low = view.plot({ x: [0.3, T + 1.5], y: [Math.min(0, ...regret), high], xticks, xlabel: "round t",
      box: [46, half + 22, view.W - 60, view.H - half - 64] });
    view.text(50, half + 14, "regret after t rounds", "");
    low.line(limit, "line thick pale");
    low.line(bounds, "line dash ink");
    low.line([[0, 0], ...regret.map((r, i) => [i + 1, r])], `line ${kind}`);
    regret.forEach((r, i) => low.dot(i + 1, r, `dot ${kind}`, 3));
    const end = view.narrow ? 8 : 11;
    low.text(end, limit[end][1], "worst case", "muted", 4, 18);
    if (bounds.length && bounds[2][1] < high) low.text(2, bounds[2][1], "bound", "", 0, -8);
    return [
      ["round", "rounds", String(t)],
      ["regret", "regret", num(t ? regret.at(-1) : 0)],
      ["worst", `worst case over slopes ±½, ±1`, num(limit[t][1])],
      ["bound", "bound 1/2η + ηt/2", eta === Infinity ? "none for the leader" : num(sharpBound(t, eta))],
      ["next", "next play", num(plays.at(-1), 2)],
    ];
  },
});
