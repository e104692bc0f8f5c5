// A live cell: its code, printed or changed, the buttons below it, and its output.
import { button, make, megabytes, status } from "./dom.js";
import { loadEditor } from "./engine.js";
import { forgetEdit, isForeign, savedEdit, saveEdit, storageWorks, trust } from "./memory.js";
import { Output } from "./output.js";

const KEYS = "In the editor: Shift+Enter or Ctrl+Enter";

export class Cell {
  /** `data` comes from the build: {number, key, needs, exercise, figure, prelude}; `book` runs the cells. */
  constructor(element, data, book) {
    Object.assign(this, { element, book, number: data.number, needs: data.needs, exercise: data.exercise, prelude: data.prelude });
    this.key = `${book.page}:${data.key}`;
    this.isFigure = Boolean(data.figure); // made live by the build: runs only for cells that use its names
    this.isSolution = element.classList.contains("tag_solution");
    this.highlighted = element.querySelector(".cell_input .highlight");
    this.printed = this.highlighted.querySelector("pre").textContent.replace(/\n$/, "");
    this.output = new Output(element);
    this.ran = false;
    this.build();
    this.source = this.printed;
    const saved = savedEdit(this.key);
    if (saved !== null) this.adopt(saved);
    this.warn();
  }

  get name() {
    return `<cell ${this.number}>`; // the file name in tracebacks
  }

  get isYours() {
    return this.source !== this.printed;
  }

  build() {
    const label = this.exercise ? "Run and check" : "Run";
    this.runButton = button(label, () => this.book.run(this), { className: "live-button live-run", title: KEYS });
    this.editButton = button("Edit", () => this.edit());
    this.stopButton = button("Stop", () => this.book.stop(this), { hidden: true });
    this.resetButton = button("Reset", () => this.reset(), { hidden: true, title: "Back to the printed code" });
    for (const [element, what] of [[this.runButton, label], [this.editButton, "Edit"], [this.stopButton, "Stop"], [this.resetButton, "Reset"]]) {
      element.setAttribute("aria-label", `${what}: cell ${this.number}`);
    }
    this.meter = make("progress", { className: "live-meter", hidden: true });
    this.meter.setAttribute("aria-label", "Loading Python");
    this.state = status("live-state");
    const number = make("span", { className: "live-number", textContent: this.number, title: `Cell ${this.number}` });
    this.bar = make("div", { className: "live-bar" }, number, this.runButton, this.stopButton, this.editButton, this.resetButton, this.meter, this.state);
    this.draft = make("pre", { className: "live-draft", hidden: true });
    this.element.querySelector(".cell_input").append(this.draft, this.bar);
    this.element.classList.add("live-cell");
    if (this.exercise) this.highlighted.addEventListener("click", () => getSelection().isCollapsed && this.edit());
    this.draft.addEventListener("click", () => getSelection().isCollapsed && this.edit());
  }

  say(text) {
    this.state.textContent = text;
  }

  // ------------------------------------------------------------ code

  /** Replace the code, in the editor if it is open. */
  adopt(source) {
    this.change(source);
    this.editor?.set(source);
    if (!this.editor) this.showDraft();
  }

  showDraft() {
    this.draft.textContent = this.source;
    this.draft.hidden = !this.isYours;
    this.highlighted.hidden = this.isYours;
  }

  change(source) {
    if (source === this.source) return;
    this.source = source;
    this.ran = false;
    this.resetButton.hidden = !this.isYours;
    this.element.classList.toggle("live-changed", this.isYours);
  }

  async edit() {
    if (!this.editor) {
      this.say("Loading the editor");
      try {
        const { create } = await loadEditor(this.book.runtime);
        this.openEditor(create);
        this.say("Shift+Enter or Ctrl+Enter runs, Tab indents or takes a name, Escape leaves.");
      } catch (error) {
        this.openEditor(plainEditor);
        this.say(`${error.message}: using a plain text field instead.`);
      }
    }
    this.editor.focus();
  }

  openEditor(create) {
    if (this.editor) return;
    const host = make("div", { className: "live-editor" });
    this.highlighted.after(host);
    this.editor = create({
      host,
      source: this.source,
      label: `Code of cell ${this.number}. Shift+Enter or Ctrl+Enter runs it, Tab indents or takes a name, Escape leaves.`,
      onChange: (source) => this.keep(source),
      onRun: () => this.book.run(this),
      onLeave: () => this.runButton.focus(),
      above: () => this.book.namesAbove(this),
      members: (path) => this.book.engine.members(path),
    });
    this.highlighted.hidden = this.draft.hidden = true;
    this.editButton.hidden = true;
  }

  /** Warn about code from a file, which is not run for another cell before the reader has run it here. */
  warn() {
    this.isForeign = this.isYours && isForeign(this.key);
    if (this.isForeign) this.say("This code came from a file. Read it; it runs only when you press Run here.");
  }

  /** Trust this code, because the reader has seen it. */
  own() {
    this.isForeign = false;
    trust(this.key);
  }

  keep(source) {
    if (this.editor?.hasFocus()) this.own(); // typed here, not changed by another tab
    this.change(source);
    if (!this.isYours) return forgetEdit(this.key);
    if (!saveEdit(this.key, source)) {
      this.say(storageWorks() ? "The browser's storage is full: this change is lost on reload." : "Storage is switched off in this browser: your changes are lost on reload.");
    }
  }

  /** Add lines at the end of the reader's code. */
  append(lines) {
    const source = `${this.source.trimEnd()}\n\n${lines}`;
    this.adopt(source);
    this.keep(source);
    this.runButton.focus();
  }

  /** Take over a change from another tab, unless the reader is typing here. */
  hearOtherTab(source) {
    if (this.editor?.hasFocus()) return this.say("Also changed in another tab; what you type here is kept.");
    this.adopt(source ?? this.printed);
    this.say("Changed in another tab.");
    this.warn();
  }

  reset() {
    forgetEdit(this.key);
    this.own();
    this.adopt(this.printed);
    this.output.reset();
    this.say("The printed code and output are restored.");
    this.runButton.focus();
    this.book.undo(this);
  }

  // ------------------------------------------------------------ running

  setBusy(busy) {
    this.isBusy = busy;
    this.runButton.setAttribute("aria-disabled", busy);
    this.stopButton.hidden = !busy;
    if (!busy && document.activeElement === document.body) this.runButton.focus({ preventScroll: true });
    if (!busy) this.meter.hidden = true;
  }

  showProgress(text, loaded, total) {
    this.meter.hidden = false;
    Object.assign(this.meter, { max: total, value: loaded });
    this.say(loaded < total ? `${text}: ${megabytes(loaded)} of ${megabytes(total)} MB, once` : "Starting Python");
  }
}

/** Return a plain text field, for when the editor cannot be loaded. */
function plainEditor({ host, source, label, onChange, onRun, onLeave }) {
  const field = make("textarea", { value: source, rows: source.split("\n").length + 1, spellcheck: false });
  field.setAttribute("aria-label", label);
  field.addEventListener("input", () => onChange(field.value));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.shiftKey || event.ctrlKey || event.metaKey)) event.preventDefault(), onRun();
    if (event.key === "Escape") onLeave();
  });
  host.append(field);
  return {
    focus: () => field.focus(),
    hasFocus: () => document.activeElement === field,
    set: (text) => (field.value = text),
  };
}
