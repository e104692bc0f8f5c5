// Manage the live cells of one page: which run first, which is running, and which results a change makes outdated.
import { make } from "./dom.js";
import { Cell } from "./cell.js";
import { place, scratchElement } from "./scratch.js";
import { Engine, loadFigures } from "./engine.js";
import { Exercise } from "./exercise.js";
import { watchOtherTabs } from "./memory.js";

export class Book {
  /** `page` is {name, jupyter, cells}, from the build; `progress` shows solved exercises in the sidebar. */
  constructor(page, runtime, progress) {
    Object.assign(this, { page: page.name, runtime, progress });
    this.engine = new Engine(runtime);
    this.queue = Promise.resolve();
    this.cells = [];
    this.clock = 0; // counts runs and changes, to tell whether an output is older than a change
    this.others = []; // cells that only run in Jupyter: {element, needs}
    const elements = document.querySelectorAll("div.cell");
    page.cells.forEach((data, index) => this.take(elements[index], { ...data, number: index + 1 }, page.jupyter));
    this.addScratch(page.cells.length + 1);
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

  /** Add an empty cell at the end of the page, which can use the page's names. */
  addScratch(number) {
    const box = scratchElement(() => this.restart());
    place()?.append(box);
    this.scratch = new Cell(box.querySelector("div.cell"), { number, key: "scratch", needs: [] }, this);
    this.scratch.isScratch = true;
  }

  /** Return the cells above that must run first: those that have not run yet, and those that depend on them.
   *  Answers, solutions and figures are left out, unless the cell uses their names. */
  missingAbove(cell) {
    const renewed = new Set();
    const all = cell.isScratch ? this.cells : this.cells.slice(0, this.cells.indexOf(cell));
    return all.filter((other) => {
      if (cell.isScratch && !cell.needs.includes(other.number)) return false;
      if ((other.exercise || other.isSolution || other.isFigure) && !cell.needs.includes(other.number)) return false;
      if (other.ran && !other.needs.some((number) => renewed.has(number))) return false;
      if (other.source !== other.lastRun) renewed.add(other.number);
      return true;
    });
  }

  /** Return the printed code above an answer, [[number, code], …], without answers, solutions and figures. */
  printedAbove(cell) {
    const above = this.cells.slice(0, this.cells.indexOf(cell)).filter((other) => !other.exercise && !other.isSolution && !other.isFigure);
    return above.map((other) => [other.number, other.printed]);
  }

  /** Return those of these cells that the reader has changed. */
  changedAmong(numbers) {
    return this.cells.filter((other) => other.isYours && numbers.includes(other.number)).map((other) => other.number);
  }

  run(cell) {
    if (cell.runButton.getAttribute("aria-disabled") === "true") return;
    cell.own(); // the reader sees the code above the button
    cell.setBusy(true);
    cell.say("Waiting");
    const ticket = (cell.ticket = {});
    this.queue = this.queue.then(() => cell.ticket === ticket && this.runNow(cell)).catch(() => {});
  }

  async runNow(cell) {
    this.cancelled = false;
    this.running = cell;
    try {
      await this.engine.start((text, loaded, total) => cell.showProgress(text, loaded, total));
      cell.meter.hidden = true;
      if (this.cancelled) return cell.say("Stopped before this cell ran.");
      if (cell.isForeign) return this.askToRead(cell, cell); // replaced in another tab while it waited
      if (cell.isScratch) cell.needs = await this.engine.needs(cell.source, this.sources());
      const above = cell.task ? [] : this.missingAbove(cell); // an answer is judged in a fresh namespace
      for (const [index, other] of above.entries()) {
        if (other.isForeign) return this.askToRead(cell, other);
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
      this.running = null;
      cell.setBusy(false);
    }
  }

  /** Return the current code of the page, [[number, code], …], without answers, solutions and figures. */
  sources() {
    return this.cells.filter((other) => !other.exercise && !other.isSolution && !other.isFigure).map((other) => [other.number, other.source]);
  }

  /** Return the code whose names a cell can use: the cells above it, and the imports of a figure. */
  namesAbove(cell) {
    const end = cell.isScratch ? this.cells.length : this.cells.indexOf(cell);
    const above = this.cells.slice(0, end).filter((other) => !other.exercise && !other.isSolution);
    return [...above.map((other) => other.source), cell.prelude ?? ""].join("\n");
  }

  askToRead(cell, other) {
    cell.say(`Cell ${other.number} has code from a file that you have not run yet: read it, then press its Run or Reset.`);
    other.element.scrollIntoView({ block: "center" });
  }

  /** Run one cell; with `shown` its output appears below it. The output of a cell that fails always appears. */
  async execute(cell, shown) {
    const { output, task } = cell;
    const source = cell.source;
    const epoch = this.epoch;
    output.begin();
    task?.begin();
    if (shown) output.show(true);
    const above = task && JSON.stringify(this.printedAbove(cell));
    const outcome = await this.engine.run({ source, name: cell.name, exercise: Boolean(task), above, setting: { prelude: cell.prelude, width: cell.element.clientWidth } }, (kind, text) => {
      if (kind === "verdict") return task.hear(JSON.parse(text));
      if (kind === "room") return task.hearRoom(this.changedAmong(JSON.parse(text)));
      if (kind === "chain") return this.drawChain(cell, JSON.parse(text));
      output.add(kind, text);
    });
    if (outcome.lost) {
      this.cells.forEach((other) => (other.ran = false));
      output.add("error", outcome.lost);
    } else if (epoch === this.epoch) {
      this.remember(cell, source, outcome.end);
    }
    if (shown || outcome.end !== "ok") output.end(cell.isYours, Boolean(task));
    if (task?.end(outcome.end === "ok", source)) this.progress.update();
    this.changed();
    return outcome;
  }

  /** Note that a cell has run. One that failed runs again before the next cell; one that was stopped does not. */
  remember(cell, source, end) {
    cell.ranAt = ++this.clock;
    if (source !== (cell.lastRun ?? cell.printed)) cell.changedAt = this.clock;
    if (source !== cell.lastRun) {
      for (const other of this.cells) if (other.needs.includes(cell.number)) other.ran = false;
    }
    cell.lastRun = source;
    cell.ran = end !== "error" && cell.source === source;
  }

  report(cell, { end, lost, milliseconds }, before) {
    const first = before ? ` after ${before} ${before === 1 ? "cell" : "cells"} above` : "";
    const time = lost || milliseconds < 100 ? "" : ` in ${(milliseconds / 1000).toFixed(1)} s`;
    if (lost) cell.say("The next Run restarts Python and runs the cells above again.");
    else cell.say({ ok: `Done${first}${time}`, stopped: "Stopped", error: "Ended with an error" }[end]);
  }

  giveUp(cell, other, { end, lost }) {
    if (lost) return cell.say(`${lost} The next Run starts from the top.`);
    if (end === "error") return cell.say(`Cell ${other.number} above ended with an error, so this one did not run.`);
    cell.say("Stopped before this cell ran.");
  }

  /** Stop what runs for this cell, or remove a waiting cell from the queue. */
  stop(cell) {
    if (cell !== this.running) {
      cell.ticket = null;
      cell.setBusy(false);
      return cell.say("Removed from the queue: it did not run.");
    }
    this.cancelled = true;
    this.engine.stop();
  }

  /** Restart Python without any variables; the reader's code stays. */
  restart() {
    for (const cell of [...this.cells, this.scratch]) if (cell.ticket && cell !== this.running && cell.isBusy) this.stop(cell);
    if (this.running && !this.engine.current) return this.scratch.say("Python is still starting.");
    this.cancelled = true;
    this.engine.lose("Python was restarted, which ended this run.");
    this.startOver();
    this.scratch.say("The next Run restarts Python. Your code is kept.");
  }

  /** Mark every cell as not run, so that each runs again when it is needed. */
  startOver() {
    this.epoch = (this.epoch ?? 0) + 1;
    for (const cell of this.cells) cell.ran = false;
  }

  /** After a reset, delete all variables if the cell had run with other code. */
  undo(cell) {
    if (cell.lastRun !== undefined && cell.lastRun !== cell.printed) {
      cell.changedAt = ++this.clock;
      cell.lastRun = undefined;
      this.engine.forget();
      this.startOver();
    }
    this.changed();
  }

  /** Return the number of a changed cell that this cell's visible output is older than, or undefined. */
  olderThan(cell) {
    if (cell.exercise || cell.isSolution) return undefined; // answers are judged in a fresh namespace
    const before = this.cells.filter((other) => cell.needs.includes(other.number));
    const isNewer = (other) =>
      cell.output.shown ? (other.changedAt ?? 0) > (cell.ranAt ?? 0) : other.isYours && other.output.shown;
    return before.find(isNewer)?.number;
  }

  /** Run every cell whose output is older than a change above it, up to one with code that was not read yet. */
  renew() {
    for (const cell of this.cells) {
      if (this.olderThan(cell) === undefined) continue;
      if (cell.isForeign) return this.askToRead(cell, cell);
      this.run(cell);
    }
  }

  /** Draw the waterfall of a proof that was just evaluated; if that fails, the table shows the same numbers. */
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
    for (const cell of this.cells) {
      const number = this.olderThan(cell);
      cell.output.markOlder(number === undefined ? "" : `Older than your change in cell ${number}.`, () => this.renew());
    }
    const changed = new Set(this.cells.filter((cell) => cell.isYours && cell.output.shown).map((cell) => cell.number));
    for (const { element, needs } of this.others) {
      const printed = element.querySelector(".cell_output");
      const touched = needs.some((number) => changed.has(number));
      let note = element.querySelector(".live-printed");
      if (printed && touched && !note) {
        note = make("p", { className: "live-printed", textContent: "From the printed run, without your change above." });
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
  const last = error.message.trim().split("\n").pop(); // the last line of a traceback has the reason
  return `Python could not start: ${last}. Try again, or read on: the printed results stay as they are.`;
}
