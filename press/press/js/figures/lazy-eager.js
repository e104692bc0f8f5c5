// 5. Lazy and eager descent side by side on the unit disk, step by step until they differ.
import { descents } from "./formulas.js";
import { figure, num } from "./kernel.js";

const circle = Array.from({ length: 120 }, (_, i) => [Math.cos(i * Math.PI / 60), Math.sin(i * Math.PI / 60)]);

figure("lazy-eager", {
  title: "Lazy and eager descent",
  label: "Lazy and eager gradient descent on the unit disk",
  controls: numbers => [
    { key: "stream", label: "losses", options: numbers.names },
    { key: "eta", label: "step η", name: "step eta", min: 0.05, max: 1, step: 0.05 },
    { key: "t", label: "after round", name: "after round", min: 0, max: numbers.T, step: 1, show: t => num(t, 0) },
  ],
  presets: () => ({
    "A wind that turns": { stream: "wind", eta: 0.3, t: 24 },
    "There and back": { stream: "back", eta: 0.3, t: 24 },
    "Chance": { stream: "random", eta: 0.5, t: 24 },
    "Inside they agree": { stream: "circle", eta: 0.2, t: 24 },
  }),
  play: { pace: 180, frames: (_, { T }) => Array.from({ length: T + 1 }, (_, t) => ({ t })) },
  guess: {
    ask: "There and back, η = 0.2. The hollow path is −η times the sum of the losses. In which round do the two plays differ for the first time? Click on the lower axis.",
    state: { stream: "back", eta: 0.2, t: 24 }, axes: "x", plot: 1, start: { x: 12, y: 0 },
    range: { x: [1, 25, 1] }, name: { x: "round" }, read: x => num(x, 0),
    judge: (guess, { stream, eta }, numbers) => {
      const first = descents(numbers.streams[stream], eta).part + 1;
      return (Math.abs(guess.x - first) < 1 ? "Yes. " : `You said ${Math.round(guess.x)}. `) +
        `They part in round ${first}. The sum left the disk long before, but while it runs straight out both plays rest on one point of the circle. The first loss that turns parts them: the eager play steps back into the disk, the lazy sum has a long way home.`;
    },
  },
  draw(view, { stream, eta, t }, numbers) {
    const path = descents(numbers.streams[stream], eta), shown = Math.round(t) + 1, { T } = numbers;
    const side = view.narrow ? view.H * 0.6 : Math.min(view.H, view.W * 0.5);
    const plot = view.plot({ x: [-1.3, 2.7], y: [-1.5, 1.9], equal: true, axes: false,
      box: view.narrow ? [4, 2, view.W - 8, side - 8] : [4, 4, side, view.H - 8] });
    plot.line(circle, "set", true);
    const sums = path.sum.slice(0, view.hide ? T + 1 : shown);
    plot.line(sums, "line thin muted");
    sums.forEach(p => plot.dot(...p, "hollow muted", 3));
    if (!view.hide) {
      if (shown > 1) plot.line([path.sum[shown - 1], path.lazy[shown - 1]], "line thin dash muted");
      for (const [way, kind] of [["eager", "purple"], ["lazy", "blue"]]) {
        const plays = path[way].slice(0, shown);
        plot.line(plays, `line ${kind}`);
        plays.forEach(p => plot.dot(...p, `dot ${kind}`, 3));
        plot.dot(...plays.at(-1), `dot ${kind}`, 6);
      }
    }
    const gaps = path.lazy.map((w, i) => Math.hypot(w[0] - path.eager[i][0], w[1] - path.eager[i][1]));
    const box = view.narrow ? [40, side + 14, view.W - 54, view.H - side - 58] : [side + 46, 40, view.W - side - 62, view.H - 100];
    const right = view.plot({ x: [0.5, T + 1.5], y: [0, 2.05], box, xlabel: "round", xticks: [1, 5, 10, 15, 20, 25], yticks: [0, 1, 2] });
    view.text(box[0], box[1] - 8, view.narrow ? "distance of the plays" : "distance between the two plays", "");
    if (!view.hide) {
      right.line(gaps.map((gap, i) => [i + 1, gap]), "line thin muted");
      right.line(gaps.slice(0, shown).map((gap, i) => [i + 1, gap]), "line red");
      right.handle(shown, gaps[shown - 1], ["t"], x => ({ t: x - 1 }), "red");
      view.text(8, 16, "lazy", "blue strong");
      view.text(44, 16, "eager", "purple strong");
      view.text(90, 16, "−ηZ_t", "muted");
    }
    const regret = way => num(shown > 1 ? path.regret[way][shown - 2] : 0);
    return [
      path.part < 0 ? ["part", "the plays", "never part"] : ["part", "the plays part in", `round ${path.part + 1}`],
      ["lazy", "regret, lazy", regret("lazy")],
      ["eager", "regret, eager", regret("eager")],
      ["gap", `distance in round ${shown}`, num(gaps[shown - 1])],
    ];
  },
});
