// An exercise in the page: what the checker says, hints one by one, and the tick.
import { button, make, status } from "./dom.js";
import { isDone, setDone } from "./memory.js";

const FIELDS = [["input", "Input"], ["got", "You have"], ["expected", "Expected"]];

export class Exercise {
  constructor(cell) {
    this.slug = cell.exercise;
    this.box = document.getElementById(this.slug);
    this.verdict = status("live-verdict");
    cell.element.append(this.verdict);
    this.title = this.box?.querySelector(".admonition-title");
    this.tick = make("span", { className: "live-tick" });
    this.title?.append(this.tick);
    this.offerHints(cell);
    this.showTick();
  }

  showTick() {
    this.tick.textContent = isDone(this.slug) ? " ✓ solved" : "";
  }

  begin() {
    this.verdicts = [];
    this.verdict.replaceChildren();
  }

  hear(verdict) {
    this.verdicts.push(verdict);
  }

  /** After the run of the student's cell. A tick needs a check, and every check passed. */
  end(ok) {
    const passed = ok && this.verdicts.length > 0 && this.verdicts.every((verdict) => verdict.passed);
    this.verdict.classList.toggle("live-passed", passed);
    for (const verdict of this.verdicts) this.verdict.append(...told(verdict));
    if (passed) setDone(this.slug);
    this.showTick();
    return passed;
  }

  /** Boxes of the class `hint` between the exercise and its cell, or inside the exercise, appear one by one. */
  offerHints(cell) {
    const hints = [...(this.box?.querySelectorAll(".admonition.hint") ?? [])];
    for (let next = this.box?.nextElementSibling; next && next !== cell.element; next = next.nextElementSibling) {
      if (next.matches(".admonition.hint")) hints.push(next);
    }
    if (!hints.length) return;
    hints.forEach((hint) => (hint.hidden = true));
    let seen = 0;
    const label = () => `Hint ${seen + 1} of ${hints.length}`;
    const more = button(label(), () => {
      hints[seen].classList.remove("toggle-hidden"); // a folded box opens
      hints[seen].hidden = false;
      hints[seen].tabIndex = -1;
      hints[seen].focus();
      seen += 1;
      more.hidden = seen === hints.length;
      more.textContent = label();
    });
    cell.editButton.after(more);
  }
}

/** A verdict as text: what is right or wrong, and where there is one an input that shows it. */
function told({ passed, pending, message, ...rest }) {
  const line = make("p", { textContent: `${passed ? "✓" : pending ? "…" : "✗"} ${message}` });
  const facts = FIELDS.filter(([key]) => rest[key] !== undefined);
  if (!facts.length) return [line];
  const list = make("dl", {});
  for (const [key, label] of facts) list.append(make("dt", { textContent: label }), make("dd", { textContent: rest[key] }));
  return [line, list];
}
