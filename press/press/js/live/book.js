// The live cells of one page: which run first, which is running, and what a change means for the printed pictures.
import { make } from "./dom.js";
import { Cell } from "./cell.js";
import { place, scratchElement } from "./scratch.js";
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
    this.clock = 0; // counts runs and changes, so that an output can be older than a change
    this.others = []; // cells that only Jupyter can run: {element, needs}
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

  /** One empty cell at the end of the page, with the page's names. */
  addScratch(number) {
    const box = scratchElement(() => this.restart());
    place()?.append(box);
    this.scratch = new Cell(box.querySelector("div.cell"), { number, key: "scratch", needs: [] }, this);
    this.scratch.isScratch = true;
  }

  /** Cells above that must run first: those that have not run yet, and those that use what these will change.
   *  Answers and solutions are left out, unless the cell uses their names. */
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

  /** The code above an answer as it was printed: [[number, code], …], without answers and solutions. */
  printedAbove(cell) {
    const above = this.cells.slice(0, this.cells.indexOf(cell)).filter((other) => !other.exercise && !other.isSolution && !other.isFigure);
    return above.map((other) => [other.number, other.printed]);
  }

  /** Those of these cells that the reader has changed. */
  changedAmong(numbers) {
    return this.cells.filter((other) => other.isYours && numbers.includes(other.number)).map((other) => other.number);
  }

  run(cell) {
    if (cell.runButton.getAttribute("aria-disabled") === "true") return;
    cell.own(); // its code stands above the button that was pressed
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
      if (cell.isScratch) cell.needs = await this.engine.needs(cell.source, this.sources());
      const above = cell.task ? [] : this.missingAbove(cell); // an answer is judged in a clean room
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

  /** The code of the page as it stands, without answers and solutions: [[number, code], …]. */
  sources() {
    return this.cells.filter((other) => !other.exercise && !other.isSolution && !other.isFigure).map((other) => [other.number, other.source]);
  }

  /** The code whose names a cell can use: what is above it, and the imports of a figure. */
  namesAbove(cell) {
    const end = cell.isScratch ? this.cells.length : this.cells.indexOf(cell);
    const above = this.cells.slice(0, end).filter((other) => !other.exercise && !other.isSolution);
    return [...above.map((other) => other.source), cell.prelude ?? ""].join("\n");
  }

  askToRead(cell, other) {
    cell.say(`Cell ${other.number} holds code from a file that you have not run yet: read it, then press its Run or Reset.`);
    other.element.scrollIntoView({ block: "center" });
  }

  /** Run one cell; `shown` puts what it says below it. A cell that fails is always shown. */
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

  /** A cell that failed runs again before the next one; one that the reader stopped does not. */
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
    if (lost) cell.say("Python starts anew with the next Run, which runs the cells above again.");
    else cell.say({ ok: `Done${first}${time}`, stopped: "Stopped", error: "Ended with an error" }[end]);
  }

  giveUp(cell, other, { end, lost }) {
    if (lost) return cell.say(`${lost} Run again starts from the top.`);
    if (end === "error") return cell.say(`Cell ${other.number} above ended with an error, so this one did not run.`);
    cell.say("Stopped before this cell ran.");
  }

  /** Stop what runs for this cell; one that still waits leaves the queue, and nothing else stops. */
  stop(cell) {
    if (cell !== this.running) {
      cell.ticket = null;
      cell.setBusy(false);
      return cell.say("Taken out of the queue: it did not run.");
    }
    this.cancelled = true;
    this.engine.stop();
  }

  /** Python anew, without any variable; what the reader wrote stays. */
  restart() {
    for (const cell of [...this.cells, this.scratch]) if (cell.ticket && cell !== this.running && cell.isBusy) this.stop(cell);
    if (this.running && !this.engine.current) return this.scratch.say("Python is just starting.");
    this.cancelled = true;
    this.engine.lose("Python was restarted: this run was ended.");
    this.startOver();
    this.scratch.say("Python starts anew with the next Run. What you wrote is kept.");
  }

  /** No cell has run: each runs again when it is needed. */
  startOver() {
    this.epoch = (this.epoch ?? 0) + 1;
    for (const cell of this.cells) cell.ran = false;
  }

  /** A cell is as printed again. What its own code has left behind goes, with all other variables. */
  undo(cell) {
    if (cell.lastRun !== undefined && cell.lastRun !== cell.printed) {
      cell.changedAt = ++this.clock;
      cell.lastRun = undefined;
      this.engine.forget();
      this.startOver();
    }
    this.changed();
  }

  /** The change that a live cell's visible output is older than: the number of the cell, or nothing. */
  olderThan(cell) {
    if (cell.exercise || cell.isSolution) return undefined; // answers are judged in a clean room
    const before = this.cells.filter((other) => cell.needs.includes(other.number));
    const isNewer = (other) =>
      cell.output.shown ? (other.changedAt ?? 0) > (cell.ranAt ?? 0) : other.isYours && other.output.shown;
    return before.find(isNewer)?.number;
  }

  /** Run every cell whose output is older than a change above it. */
  renew() {
    for (const cell of this.cells) if (this.olderThan(cell) !== undefined) this.run(cell);
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
