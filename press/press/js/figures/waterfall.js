// 9. The waterfall of a proof: the slack of each line, in a game of your choice.
import { drawChain, figure, num, swing } from "./kernel.js";

const chainOf = ({ proof, play, c }, numbers) => {
  const { formulas, reasons, values } = numbers.chains[proof], row = values[play][numbers.scales.indexOf(c)] ?? values[play][0];
  return { lines: row.map((value, i) => ({ value, formula: formulas[i], reason: reasons[i] })) };
};
const gifts = chain => chain.lines.map(({ value }, i) => (i ? value - chain.lines[i - 1].value : -Infinity));
const largest = chain => gifts(chain).reduce((best, gift, i, all) => (gift > all[best] ? i : best), 1);

figure("waterfall", {
  title: "Where a proof loses",
  label: "A proof as a chain of numbers, from the regret to the bound",
  controls: numbers => [
    { key: "proof", label: "proof", options: Object.fromEntries(Object.entries(numbers.chains).map(([k, v]) => [k, v.title])) },
    { key: "play", label: "game", options: numbers.games },
    { key: "c", label: "η / best η", name: "step, in units of the one that makes the sharp bound least", values: numbers.scales, show: c => (c < 1 ? `1/${Math.round(1 / c)}` : String(c)),
      matters: ({ proof, play }, { chains }) => chains[proof].values[play].length > 1 },
  ],
  presets: () => ({
    "Theorem 2, the lecture's chain": { proof: "descent", play: "random", c: 1 },
    "Theorem 2, the sharp chain": { proof: "sharp", play: "random", c: 1 },
    "No line gives anything away": { proof: "sharp", play: "hostile", c: 1 },
    "The mistake bound": { proof: "mistakes", play: "random", c: 1 },
  }),
  guess: {
    ask: "Theorem 2 by the lecture's chain, on one loss, again and again. Which line gives away most? Click on it.",
    state: { proof: "descent", play: "straight", c: 1 }, axes: "y", rows: true, start: { x: 0, y: 2.5 },
    range: { y: [1.5, 4.5, 1] }, name: { y: "line" }, read: y => String(Math.floor(y) + 1),
    judge: (guess, state, numbers) => {
      const chain = chainOf(state, numbers), best = largest(chain), mine = Math.floor(guess.y);
      const name = chain.lines[best].reason;
      return mine === best ? `Yes: “${name}” costs ${num(gifts(chain)[best], 2)}.`
        : `That line costs ${num(gifts(chain)[mine], 2)}. The one that costs most, ${num(gifts(chain)[best], 2)}, is justified by “${name}”.`;
    },
  },
  play: {
    pace: 700,
    frames: (state, numbers) => (numbers.chains[state.proof].values[state.play].length > 1 ? swing("c", numbers.scales)(state) : Object.keys(numbers.games).map(play => ({ play }))),
  },
  draw(view, state, numbers) {
    const chain = chainOf(state, numbers), best = largest(chain), { lines } = chain;
    const given = lines.at(-1).value - lines[0].value;
    drawChain(view, chain, view.hide || given < 1e-6 ? -1 : best);
    return [
      ["first", "first line", num(lines[0].value)],
      ["last", "last line", num(lines.at(-1).value)],
      ["given", "given away", num(given)],
      ["most", "largest part by", given > 1e-6 ? lines[best].reason : "no line"],
    ];
  },
});
