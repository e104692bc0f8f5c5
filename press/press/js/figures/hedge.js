// 6. Hedge: the weights of the experts over time, for a step of your choice.
import { hedge, hedgeBound } from "./formulas.js";
import { figure, num, swing } from "./kernel.js";

const KINDS = ["green", "blue", "purple", "orange"];

figure("hedge", {
  title: "How Hedge shares its weight",
  label: "The weights that Hedge gives to experts over time",
  controls: numbers => [
    { key: "stream", label: "losses", options: Object.fromEntries(Object.entries(numbers.streams).map(([k, s]) => [k, s.title])) },
    { key: "eta", label: "step η", name: "step eta", values: numbers.eta, show: eta => num(eta, 3) },
  ],
  presets: () => ({
    "Sunspots, a good step": { stream: "sun", eta: 0.25 },
    "Sunspots, a bold step": { stream: "sun", eta: 8 },
    "Spite, a bold step": { stream: "spite", eta: 8 },
    "Spite, a good step": { stream: "spite", eta: 0.25 },
    "Leaders that change": { stream: "phases", eta: 0.25 },
  }),
  guess: {
    ask: "Coins: on average expert 1 errs in 3 of 10 rounds, three others in 5 of 10; 120 rounds, η = 0.25. What weight will expert 1 have at the end? Click at that height.",
    state: { stream: "chance", eta: 0.25 }, axes: "y", start: { x: 0, y: 0.25 },
    range: { y: [0, 1] }, name: { y: "weight" },
    judge: (guess, { stream, eta }, numbers) => {
      const total = numbers.streams[stream].L.at(-1), last = hedge(total, eta)[0];
      const lead = Math.min(...total.slice(1)) - total[0];
      return (Math.abs(guess.y - last) < 0.06 ? "Yes. " : `You said ${num(guess.y, 2)}. `) +
        `It is ${num(last, 2)}: its lead of ${lead} errors, times η, stands in the exponent.`;
    },
  },
  play: { pace: 150, frames: (state, numbers) => swing("eta", numbers.eta)(state) },
  draw(view, { stream, eta }, numbers) {
    const { L, x, experts, T, regret, xlabel } = numbers.streams[stream];
    const weights = L.map(row => hedge(row, eta)), last = weights.at(-1);
    const order = last.map((_, j) => j).sort((a, b) => L.at(-1)[a] - L.at(-1)[b]);
    const room = view.narrow ? 98 : 118;
    const plot = view.plot({ x: [x[0], x.at(-1)], y: [0, 1.02], xlabel, box: [40, 24, view.W - 46 - room, view.H - 66],
      yticks: [0, 0.25, 0.5, 0.75, 1], xticks: numbers.streams[stream].ticks.filter((_, i) => !view.narrow || i % 2 === 0) });
    view.text(42, 14, "weight", "");
    if (!view.hide) {
      [...order].reverse().forEach(j => {
        const kind = KINDS[order.indexOf(j)] ?? "muted";
        plot.line(weights.map((w, i) => [x[i], w[j]]), `line ${kind}`);
      });
      // labels at the right end, at least one line apart, the largest weight on top
      let free = Infinity;
      [...order].slice(0, 4).sort((a, b) => last[b] - last[a]).forEach((j, i, all) => {
        const y = Math.max(plot.py(last[j]) + 4, i ? free : -Infinity);
        const bottom = plot.top + plot.height + 4 - 15 * (all.length - 1 - i);
        free = Math.min(y, bottom) + 15;
        view.text(plot.left + plot.width + 6, Math.min(y, bottom), experts[j], KINDS[order.indexOf(j)]);
      });
    }
    return [
      ["regret", "regret", num(regret[numbers.eta.indexOf(eta)])],
      ["bound", "bound ln N/η + ηT/8", num(hedgeBound(experts.length, T, eta))],
      ["weight", `weight of the best, ${experts[order[0]]}`, num(last[order[0]])],
    ];
  },
});
