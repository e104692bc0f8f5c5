// Show an exercise on the page: the checker's verdict and the tick. For hints see questions.js.
import { nothingChecked } from "./checks.js";
import { button, make, status } from "./dom.js";
import { isDone, keepRight, rightAnswer, setDone } from "./memory.js";

const FIELDS = [["line", "Your line"], ["input", "Input"], ["got", "You have"], ["expected", "Expected"]];

export class Exercise {
  constructor(cell) {
    this.slug = cell.exercise;
    this.cell = cell;
    this.box = document.getElementById(this.slug);
    this.verdict = status("live-verdict");
    cell.element.append(this.verdict);
    this.title = this.box?.querySelector(".admonition-title");
    this.tick = make("span", { className: "live-tick" });
    this.title?.append(this.tick);
    this.showTick();
    if (isDone(this.slug)) this.recall();
  }

  /** After a reload, show that the exercise is solved instead of the printed "not yet". */
  recall() {
    const right = rightAnswer(this.slug) === this.cell.source;
    if (!right && !this.cell.isYours) return;
    const words = right ? "✓ Solved: this is the code that passed." : "✓ Solved earlier. Run and check judges this code.";
    this.verdict.replaceChildren(make("p", { textContent: words }));
    this.verdict.classList.add("live-passed");
    this.cell.output.hidePrinted();
  }

  showTick() {
    this.tick.textContent = isDone(this.slug) ? " ✓ solved" : "";
  }

  begin() {
    this.verdicts = [];
    this.left = [];
    this.verdict.replaceChildren();
  }

  hear(verdict) {
    this.verdicts.push(verdict);
  }

  /** Take the changed cells that the answer builds on; it was judged with the printed ones. */
  hearRoom(changed) {
    this.left = changed;
  }

  /** Show the verdicts after a run. The exercise is solved if there was a check and every check passed. */
  end(ok, source) {
    const passed = ok && this.verdicts.length > 0 && this.verdicts.every((verdict) => verdict.passed);
    this.verdict.classList.toggle("live-passed", passed);
    for (const verdict of this.verdicts) this.verdict.append(...told(verdict));
    if (ok && !this.verdicts.length) this.tellMissing(source);
    if (this.left.length && this.verdicts.length) {
      const which = `${this.left.length === 1 ? "cell" : "cells"} ${this.left.join(", ")}`;
      const words = `Your answer builds on ${which}, which you changed: it was judged with the printed code.`;
      this.verdict.append(make("p", { className: "live-quiet", textContent: words }));
    }
    if (passed) setDone(this.slug), keepRight(this.slug, source);
    this.showTick();
    return passed;
  }

  /** Explain that the cell ran but nothing was checked: usually its last line was deleted. */
  tellMissing(source) {
    const { words, lines } = nothingChecked(this.cell.printed, source);
    this.verdict.append(make("p", { textContent: `✗ ${words}` }));
    if (!lines) return;
    const back = button("Put it back", () => {
      this.cell.append(lines);
      this.verdict.replaceChildren(make("p", { textContent: "The check is back at the end of this cell. Press Run and check." }));
    });
    this.verdict.append(make("pre", { textContent: lines }), back);
  }
}

/** Return a verdict as elements: the message, and if available the input with actual and expected result. */
function told({ passed, pending, message, ...rest }) {
  const line = make("p", { textContent: `${passed ? "✓" : pending ? "…" : "✗"} ${message}` });
  const facts = FIELDS.filter(([key]) => rest[key] !== undefined);
  if (!facts.length) return [line];
  const list = make("dl", {});
  for (const [key, label] of facts) list.append(make("dt", { textContent: label }), make("dd", { textContent: rest[key] }));
  return [line, list];
}
