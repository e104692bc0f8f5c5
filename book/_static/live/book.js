// The live cells of one page: which run first, which is running, and what a change means for the printed pictures.
import { make } from "./dom.js";
import { Cell } from "./cell.js";
import { Engine, loadFigures } from "./engine.js";
import { Exercise } from "./exercise.js";
import { watchOtherTabs } from "./memory.js";

export class Book {
  /** `page` is {name, jupyter, cells}, from the build; `progress` shows the ticks elsewhere. */
  constructor(page, runtime, progress) {
    Object.assign(this, { page: page.name, runtime, progress });
    this.engine = new Engine(runtime);
    this.queue = Promise.resolve();
    this.cells = [];
    this.others = []; // cells that only Jupyter can run: {element, needs}
    const elements = document.querySelectorAll("div.cell");
    page.cells.forEach((data, index) => this.take(elements[index], { ...data, number: index + 1 }, page.jupyter));
    watchOtherTabs(
      (key, source) => this.cells.find((cell) => cell.key === key)?.hearOtherTab(source),
      () => (this.cells.forEach((cell) => cell.task?.showTick()), this.progress.update()),
    );
  }

  take(element, data, jupyter) {
    if (element.classList.contains("tag_live")) {
      const cell = new Cell(element, data, this);
      if (cell.exercise) cell.task = new Exercise(cell);
      this.cells.push(cell);
    } else {
      this.others.push({ element, needs: data.needs ?? [] });
      if (data.why) pointToJupyter(element, data.why, jupyter);
    }
  }

  /** Cells above that must run first: those that have not run yet, and those that use what these will change.
   *  Answers and solutions are left out, unless the cell uses their names. */
  missingAbove(cell) {
    const renewed = new Set();
    return this.cells.slice(0, this.cells.indexOf(cell)).filter((other) => {
      if ((other.exercise || other.isSolution) && !cell.needs.includes(other.number)) return false;
      if (other.ran && !other.needs.some((number) => renewed.has(number))) return false;
      if (other.source !== other.lastRun) renewed.add(other.number);
      return true;
    });
  }

  run(cell) {
    if (cell.runButton.getAttribute("aria-disabled") === "true") return;
    cell.setBusy(true);
    cell.say("Waiting");
    this.queue = this.queue.then(() => this.runNow(cell)).catch(() => {});
  }

  async runNow(cell) {
    this.cancelled = false;
    try {
      await this.engine.start((text, loaded, total) => cell.showProgress(text, loaded, total));
      cell.meter.hidden = true;
      const above = this.missingAbove(cell);
      for (const [index, other] of above.entries()) {
        cell.say(`Running the cells above first: ${index + 1} of ${above.length}`);
        const outcome = await this.execute(other, other.isYours);
        const harmless = outcome.end === "error" && !cell.needs.includes(other.number);
        if (this.cancelled || !(outcome.end === "ok" || harmless)) return this.giveUp(cell, other, outcome);
      }
      cell.say("Running");
      this.report(cell, await this.execute(cell, true), above.length);
    } catch (error) {
      cell.say(whyNot(error));
    } finally {
      cell.setBusy(false);
    }
  }

  /** Run one cell; `shown` puts what it says below it. A cell that fails is always shown. */
  async execute(cell, shown) {
    const { output, task } = cell;
    const source = cell.source;
    output.begin();
    task?.begin();
    if (shown) output.show(true);
    const outcome = await this.engine.run({ source, name: cell.name, exercise: Boolean(task) }, (kind, text) => {
      if (kind === "verdict") return task.hear(JSON.parse(text));
      if (kind === "chain") return this.drawChain(cell, JSON.parse(text));
      output.add(kind, text);
    });
    if (outcome.lost) {
      this.cells.forEach((other) => (other.ran = false));
      output.add("error", outcome.lost);
    } else {
      this.remember(cell, source, outcome.end);
    }
    if (shown || outcome.end !== "ok") output.end(cell.isYours, task?.verdicts.length > 0);
    if (task?.end(outcome.end === "ok")) this.progress.update();
    this.changed();
    return outcome;
  }

  /** A cell that failed runs again before the next one; one that the reader stopped does not. */
  remember(cell, source, end) {
    if (source !== cell.lastRun) {
      for (const other of this.cells) if (other.needs.includes(cell.number)) other.ran = false;
    }
    cell.lastRun = source;
    cell.ran = end !== "error" && cell.source === source;
  }

  report(cell, { end, lost, milliseconds }, before) {
    const first = before ? ` after ${before} ${before === 1 ? "cell" : "cells"} above` : "";
    const time = lost || milliseconds < 100 ? "" : ` in ${(milliseconds / 1000).toFixed(1)} s`;
    if (lost) cell.say("Python starts anew with the next Run, which runs the cells above again.");
    else cell.say({ ok: `Done${first}${time}`, stopped: "Stopped", error: "Ended with an error" }[end]);
  }

  giveUp(cell, other, { end, lost }) {
    if (lost) return cell.say(`${lost} Run again starts from the top.`);
    if (end === "error") return cell.say(`Cell ${other.number} above ended with an error, so this one did not run.`);
    cell.say("Stopped before this cell ran.");
  }

  stop() {
    this.cancelled = true;
    this.engine.stop();
  }

  /** The waterfall of a proof that was just evaluated. Without it the table says the same. */
  async drawChain(cell, chain) {
    if (!cell.output.shown) return;
    const place = make("div", { className: "live-chain" });
    cell.output.body.append(place);
    try {
      (await loadFigures()).waterfall(place, chain);
    } catch {
      place.remove();
    }
  }

  /** Mark the printed results that depend on a cell the reader has changed. */
  changed() {
    const changed = new Set(this.cells.filter((cell) => cell.isYours && cell.output.shown).map((cell) => cell.number));
    for (const { element, needs } of this.others) {
      const printed = element.querySelector(".cell_output");
      const touched = needs.some((number) => changed.has(number));
      let note = element.querySelector(".live-printed");
      if (printed && touched && !note) {
        note = make("p", { className: "live-printed", textContent: "From the printed run: your change above is not in it." });
        printed.before(note);
      }
      if (note && !touched) note.remove();
    }
  }
}

function pointToJupyter(element, why, address) {
  const link = make("a", { href: address, textContent: "run it in Jupyter" });
  const note = make("p", { className: "live-elsewhere" }, `This cell needs ${why}: `, link, ".");
  element.querySelector(".cell_input")?.append(note);
}

function whyNot(error) {
  if (/memory|allocat/i.test(error.message)) {
    return "This device has too little memory for Python in the browser. The printed results stay as they are.";
  }
  const last = error.message.trim().split("\n").pop(); // of a traceback the last line says why
  return `Python could not start: ${last}. Try again, or read on: the printed results stay as they are.`;
}
