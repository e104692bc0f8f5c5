// 8. Delay: what late gradients cost a crew of workers, with a timeline of reads and writes.
import { figure, num } from "./kernel.js";

figure("delay", {
  title: "What late gradients cost",
  label: "Regret of a crew of workers that hand in late gradients, and their timeline",
  controls: numbers => [
    { key: "crew", label: "crew", options: { equal: "equal workers", slow: "one ten times slower" }, matters: ({ m }) => m > 1 },
    { key: "m", label: "workers", name: "number of workers", values: numbers.workers, show: String },
    { key: "s", label: "round", name: "round to look at", min: 1, max: numbers.shown, step: 1, show: s => String(Math.round(s)) },
  ],
  presets: () => ({
    "Eight workers": { crew: "equal", m: 8, s: 6 },
    "Alone": { crew: "equal", m: 1, s: 6 },
    "One slow worker": { crew: "slow", m: 8, s: 8 },
    "Sixty-four": { crew: "equal", m: 64, s: 6 },
  }),
  guess: {
    ask: ({ T, crews }) => `One worker alone has regret ${num(crews.equal[0].careless, 0)} after ${T} examples. Sixty-four need ${num(crews.equal.at(-1).time, 0)} hours for what took it ${num(crews.equal[0].time, 0)}, but their gradients are late by ${num(crews.equal.at(-1).delay, 0)} rounds on average. What is their regret, with the step that ignores the delay? Click at that height.`,
    state: { crew: "equal", m: 64, s: 1 }, axes: "y", plot: 1, start: { x: 1, y: 1.3 },
    range: { y: [1, 3.2] }, name: { y: "regret" }, read: y => num(10 ** y, 0),
    judge: (guess, { crew, m }, numbers) => {
      const i = numbers.workers.indexOf(m), { careless, careful } = numbers.crews[crew][i];
      const ratio = 10 ** guess.y / careless;
      return (ratio > 0.8 && ratio < 1.25 ? "Yes. " : `You said ${num(10 ** guess.y, 0)}. `) +
        `It is ${num(careless, 1)}, and ${num(careful, 1)} with the smaller step that the theorem asks for. On random examples neighbouring gradients do not conspire; the bound is for streams that do.`;
    },
  },
  play: { pace: 300, frames: (_, { shown }) => Array.from({ length: shown }, (_, i) => ({ s: i + 1 })) },
  draw(view, { crew, m, s }, numbers) {
    const { workers, crews } = numbers, index = workers.indexOf(m), now = crews[crew][index];
    const split = view.H * 0.5, rows = Math.max(...now.bars.map(bar => bar[0])) + 1, pick = Math.round(s) - 1;
    const ends = now.bars.map(bar => bar[2]).sort((a, b) => a - b), long = ends[Math.floor(ends.length * 0.9)] * 1.1;
    const time = view.plot({ x: [-0.02 * long, long], y: [rows, -0.3], box: [72, 22, view.W - 86, split - 44], yticks: [], xlabel: "" });
    view.text(8, 14, "who reads ○ and who writes ●, over time", "");
    if (rows <= 8) for (let i = 0; i < rows; i++) view.text(66, time.py(i + 0.5) + 4, `worker ${i + 1}`, "muted end");
    const [, from, to, late] = now.bars[pick];
    time.line([[from, 0], [from, rows]], "line thin red");
    time.line([[to, 0], [to, rows]], "line thin red");
    now.bars.forEach(([who, start, end], i) => {
      const kind = i === pick ? "red" : i > pick && i <= pick + late ? "blue" : "muted";
      time.line([[start, who + 0.5], [end, who + 0.5]], `line ${i === pick ? "thick " : ""}${kind}`);
      const r = rows > 10 ? 2 : 3, beside = (when, by) => time.ix(time.px(when) + by);
      time.dot(beside(end, -r), who + 0.5, `dot ${kind}`, r);
      time.dot(beside(start, r), who + 0.5, `hollow ${kind}`, r);
    });

    // both axes are logarithmic: workers to base 2, regret to base 10
    const plot = view.plot({ x: [-0.2, workers.length - 1 + (view.narrow ? 2.2 : 1.5)], y: [1, 3.2], axes: false,
      box: [72, split + 24, view.W - 86, view.H - split - 66] });
    const { left, top, width, height } = plot;
    for (const y of [10, 30, 100, 300, 1000]) {
      const at = plot.py(Math.log10(y));
      view.add("line", { class: "grid", x1: left, x2: left + width, y1: at, y2: at });
      view.text(left - 6, at + 4, String(y), "muted end");
    }
    workers.forEach((n, i) => view.text(plot.px(i), top + height + 16, String(n), "muted middle"));
    view.text(left + width / 2, top + height + 34, "workers", "middle");
    view.text(8, split + 14, `regret after ${numbers.T} examples`, "");
    const curves = [["bound", "dash ink", "bound", "ink"], ["careful", "purple", "theorem's step", "purple"], ["careless", "orange", "undelayed step", "orange"]];
    for (const [key, kind, name, colour] of curves) {
      const points = crews[crew].map((row, i) => [i, Math.log10(row[key])]);
      const known = view.hide ? points.slice(0, 1) : points;
      plot.line(known, `line ${kind}`);
      known.forEach(([x, y], i) => plot.dot(x, y, `dot ${colour}`, i === index ? 5 : 2.5));
      if (!view.hide) plot.text(...points.at(-1), view.narrow ? name.split(" ")[0].replace("'s", "") : name, colour, 8, 4);
    }
    if (!view.hide) plot.handle(index, Math.log10(now.careless), ["m"], x => ({ m: workers[Math.min(Math.max(Math.round(x), 0), workers.length - 1)] }), "orange");
    return [
      ["delay", "mean delay τ", num(now.delay, 2)],
      ["careful", "regret, theorem's step", num(now.careful, 2)],
      ["careless", "undelayed step", num(now.careless, 2)],
      ["bound", "bound", num(now.bound, 2)],
      ["late", `round ${pick + 1} is late by`, `${now.bars[pick][3]} rounds`],
      ["time", "hours", num(now.time, 1)],
    ];
  },
});
