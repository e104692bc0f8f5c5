// The front page's game: sixteen slopes against a learner on [−1, 1], four buttons, one number to beat.
import { game, worst } from "./formulas.js";
import { figure, num } from "./kernel.js";

const T = 16;
const ETA = { FTL: Infinity, FTRL: 0.25 };
const SLOPE = { M: -1, m: -0.5, p: 0.5, P: 1 };
const numbers = word => [...word].map(letter => SLOPE[letter]);
const short = x => String(+x.toFixed(2));
const add = letter => ({ z }) => ({ z: z.length < T ? z + letter : z });

figure("duel", {
  title: "Beat this learner: 16 rounds",
  label: "A game of sixteen rounds: you choose the losses, the learner answers",
  controls: () => [
    { key: "learner", pattern: /^(FTL|FTRL)$/, start: "FTL" },
    { key: "z", pattern: /^[MmpP]{0,16}$/, start: "" },
  ],
  presets: () => ({
    "From round 5": { learner: "FTL", z: "mPMP" },
    "New game": { learner: "FTL", z: "" },
    "Now the regularised learner": { learner: "FTRL", z: "" },
  }),
  moves: "Your slope",
  actions: {
    "▲ +1": add("P"), "▲ +½": add("p"), "▼ −½": add("m"), "▼ −1": add("M"),
    "Take back": ({ z }) => ({ z: z.slice(0, -1) }),
  },
  play: { pace: 300, frames: ({ z }) => [...(z || "mPMP"), ""].map((_, i) => ({ z: (z || "mPMP").slice(0, i) })) },
  draw(view, { learner, z }) {
    const eta = ETA[learner], slopes = numbers(z), t = slopes.length;
    const { plays, regret } = game(slopes, eta);
    const kind = learner === "FTL" ? "orange" : "blue", half = view.H * 0.45;
    const limit = worst(T, eta).value, now = t ? regret.at(-1) : 0;

    const top = view.plot({ x: [0.3, T + 1.5], y: [-1.6, 1.6], box: [46, 24, view.W - 60, half - 36], xticks: [], yticks: [-1, 0, 1] });
    view.text(50, 15, "its numbers, and the slopes you chose", "");
    slopes.forEach((slope, i) => top.arrow([i + 1.32, plays[i]], [i + 1.32, plays[i] + 0.5 * slope], slope > 0 ? "red" : "green"));
    top.line(plays.slice(0, Math.min(t + 1, T)).map((w, i) => [i + 1, w]), `line thin ${kind}`);
    plays.slice(0, Math.min(t + 1, T)).forEach((w, i) => top.dot(i + 1, w, i < t ? `dot ${kind}` : `hollow ${kind}`, 4.5));

    const low = view.plot({ x: [0.3, T + 1.5], y: [Math.min(0, ...regret), Math.max(limit, 4) * 1.35],
      xticks: view.narrow ? [1, 4, 8, 12, 16] : Array.from({ length: T }, (_, i) => i + 1), xlabel: "round",
      box: [46, half + 24, view.W - 60, view.H - half - 66] });
    view.text(50, half + 15, "its regret", "");
    low.line([[0.3, limit], [T + 1.5, limit]], "line dash ink");
    low.text(1, limit, `the most anybody can get in 16 rounds: ${short(limit)}`, "muted", 0, -7);
    low.line([[0, 0], ...regret.map((r, i) => [i + 1, r])], `line ${kind}`);
    regret.forEach((r, i) => low.dot(i + 1, r, `dot ${kind}`, 3));

    const done = t === T;
    const verdict = !done ? `round ${t + 1}: which slope hurts where it stands (the ring)?`
      : now >= limit - 1e-9 ? "the most there is: you found the worst case"
      : learner === "FTL" && now > 6 ? "you beat it: its regret grows with every round"
      : learner === "FTRL" ? "it held: no losses push it above the dashed line" : "it got away: look where it stands before you choose";
    return [
      ["round", "rounds played", `${t} of ${T}`],
      ["regret", "its regret", num(now, 2)],
      ["limit", "worst case", num(limit, 2)],
      ["verdict", "", verdict],
    ];
  },
});
