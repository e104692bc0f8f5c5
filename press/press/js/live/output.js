// Show the output of a run below the cell, with a button that switches to the printed output.
import { button, make } from "./dom.js";
import { figure } from "./figure.js";
import { sanitised } from "./sanitise.js";
import { firstLines } from "./lines.js";

const LINES = 2000; // of text shown per run

export class Output {
  /** `cell` is the element of the cell; its printed output, if any, stays in the page. */
  constructor(cell) {
    this.printed = cell.querySelector(".cell_output");
    this.label = make("span", { className: "live-label" });
    this.swap = button("", () => this.show(!this.shown));
    this.body = make("div", { className: "live-output-body" });
    this.box = make("div", { className: "live-output", hidden: true }, this.body);
    this.bar = make("div", { className: "live-output-bar", hidden: true }, this.label, " ", this.swap);
    (this.printed ?? cell.querySelector(".cell_input")).after(this.bar, this.box);
    this.shown = false;
  }

  begin() {
    this.body.replaceChildren();
    this.stream = null;
  }

  /** Add one message of the worker. */
  add(kind, text) {
    if (kind === "stdout" || kind === "warning") return this.write(kind, text);
    this.stream = null;
    if (kind === "figure") return this.body.append(figure(JSON.parse(text)));
    if (kind === "html") {
      const block = make("div", { className: "output text_html" });
      block.append(sanitised(text));
      this.body.append(block);
    } else {
      this.body.append(make("pre", { className: `live-${kind}`, textContent: text }));
    }
  }

  write(kind, text) {
    if (this.stream?.kind !== kind) {
      const element = make("pre", { className: `live-${kind}` });
      this.body.append(element);
      this.stream = { kind, element, lines: 0 };
    }
    if (this.stream.full) return;
    const { kept, lines, full } = firstLines(text, LINES - this.stream.lines);
    this.stream.element.append(kept);
    this.stream.lines += lines;
    if (!full) return;
    this.add("capped", `Output stops here, after ${LINES.toLocaleString("en")} lines.`);
    this.stream = { kind, full: true };
  }

  /** Finish the output; `yours` if the reader's own code made it, `answered` if a verdict follows. */
  end(yours, answered) {
    this.label.textContent = yours ? "Yours" : "Run in your browser";
    this.box.classList.toggle("live-yours", yours);
    if (!this.body.hasChildNodes() && !answered) this.body.append(make("p", { className: "live-quiet", textContent: "(no output)" }));
    this.show(true);
  }

  /** Hide the printed output if it is out of date before anything ran here. */
  hidePrinted() {
    if (!this.printed) return;
    this.show(true);
    this.box.hidden = this.label.hidden = true;
  }

  show(shown) {
    this.shown = shown;
    this.box.hidden = !shown;
    this.bar.hidden = false;
    if (this.printed) this.printed.hidden = shown;
    this.swap.hidden = !this.printed;
    this.swap.textContent = shown ? "Show the printed output" : "Show yours again";
    this.label.hidden = !shown;
  }

  /** Note above the output that it is older than a change, with a button that calls `onRenew`. Without `words`,
   *  remove the note. */
  markOlder(words, onRenew) {
    this.older?.remove();
    this.older = null;
    const visible = this.shown ? this.box : this.printed;
    if (!words || !visible) return;
    this.older = make("p", { className: "live-older" }, `${words} `, button("Bring up to date", onRenew));
    (this.printed ?? this.bar).before(this.older);
  }

  /** Restore the printed output. */
  reset() {
    this.begin();
    this.show(false);
    this.bar.hidden = true;
  }
}
