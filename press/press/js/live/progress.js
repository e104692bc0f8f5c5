// Show solved exercises in the sidebar, and on the page that lists all exercises.
import { button, make, status } from "./dom.js";
import { NAME, clearAll, doneExercises, exportAll, importAll, isDone, storageWorks } from "./memory.js";

/** Mark pages in the sidebar with "2/3", or a tick if all are solved. `list` is {page: [exercises]}. */
function markSidebar(list) {
  document.querySelectorAll(".live-count").forEach((mark) => mark.remove());
  for (const link of document.querySelectorAll(".bd-sidebar-primary a.reference.internal")) {
    const exercises = list[pageOf(link.href)] ?? [];
    const solved = exercises.filter(isDone).length;
    if (!solved) continue;
    const text = solved === exercises.length ? "✓" : `${solved}/${exercises.length}`;
    const mark = make("span", { className: "live-count", textContent: ` ${text}`, title: `${solved} of ${exercises.length} exercises solved` });
    link.append(mark);
  }
}

const root = () => new URL(document.documentElement.dataset.content_root ?? "./", location.href).href;
const pageOf = (address) => address.split("#")[0].replace(root(), "").replace(/\.html$/, "");

export class Progress {
  /** `base` is the folder of the live files. */
  constructor(base) {
    this.base = base;
    this.overview = document.querySelector(".live-exercises");
    if (this.overview) this.buildTools();
    this.update();
  }

  async update() {
    if (this.overview) this.markOverview();
    if (!doneExercises().length && !this.list) return; // nothing to show, so do not load the list
    this.list ??= await fetch(`${this.base}exercises.json`).then((response) => response.json()).catch(() => ({}));
    markSidebar(this.list);
  }

  markOverview() {
    const links = [...this.overview.querySelectorAll("li a")];
    for (const link of links) {
      const solved = isDone(link.hash.slice(1));
      link.closest("li").classList.toggle("live-solved", solved);
      link.parentElement.querySelector(".live-done")?.remove();
      if (solved) link.after(make("span", { className: "live-done", textContent: " ✓ solved" }));
    }
    this.filter();
    const solved = links.filter((link) => isDone(link.hash.slice(1))).length;
    this.sum.textContent = `${solved} of ${links.length} solved in this browser.`;
  }

  buildTools() {
    this.sum = status("live-sum");
    this.note = status("live-note");
    const file = make("input", { type: "file", accept: ".json,application/json", hidden: true });
    file.addEventListener("change", async () => {
      if (file.files[0]) this.note.textContent = importAll(await file.files[0].text());
      file.value = "";
      this.update();
    });
    const tools = make(
      "div",
      { className: "live-tools" },
      this.sum,
      button("Save to a file", () => this.save()),
      button("Load a file", () => file.click()),
      button("Clear", () => this.clear()),
      file,
      this.note,
    );
    if (!storageWorks()) this.note.textContent = "Storage is switched off in this browser: your progress is not kept.";
    this.overview.prepend(tools, this.buildFilters());
  }

  /** Return the filters (level, kind, chapter, state) and the link to the next unsolved exercise. */
  buildFilters() {
    const choose = (label, options) => {
      const list = make("select", {}, ...options.map(([value, text]) => make("option", { value, textContent: text })));
      list.addEventListener("change", () => this.filter());
      this.chosen.push(list);
      return make("label", { textContent: `${label} ` }, list);
    };
    this.chosen = [];
    this.chapters = [...this.overview.querySelectorAll(".chapter")];
    const names = this.chapters.map((chapter, place) => [String(place), chapter.querySelector(".rubric").textContent]);
    this.next = make("a", { textContent: "Next unsolved exercise" });
    this.left = status("live-left");
    return make(
      "div",
      { className: "live-tools live-filters" },
      choose("Level", [["", "all"], ["warm-up", "warm-up"], ["standard", "standard"], ["challenge", "challenge"]]),
      choose("Kind", [["", "all"], ["code", "code"], ["proof", "proof"]]),
      choose("Chapter", [["", "all"], ...names]),
      choose("State", [["", "all"], ["open", "not yet solved"], ["solved", "solved"]]),
      this.left,
      this.next,
    );
  }

  filter() {
    const [level, kind, chapter, state] = this.chosen.map((list) => list.value);
    const shown = [...this.overview.querySelectorAll(".chapter li")].filter((item) => {
      const solved = item.classList.contains("live-solved");
      const fits =
        (!level || item.classList.contains(`level-${level}`)) &&
        (!kind || item.classList.contains(`kind-${kind}`)) &&
        (!chapter || item.closest(".chapter") === this.chapters[Number(chapter)]) &&
        (!state || solved === (state === "solved"));
      item.hidden = !fits;
      return fits;
    });
    for (const box of this.overview.querySelectorAll(".lesson, .chapter")) box.hidden = !box.querySelector("li:not([hidden])");
    const open = shown.find((item) => !item.classList.contains("live-solved"));
    this.left.textContent = `${shown.length} shown.`;
    this.next.hidden = !open;
    if (open) this.next.href = open.querySelector("a").href;
  }

  save() {
    const address = URL.createObjectURL(new Blob([exportAll()], { type: "application/json" }));
    make("a", { href: address, download: `${NAME}-progress.json` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
    this.note.textContent = `Solved exercises and changed cells are saved to ${NAME}-progress.json.`;
  }

  clear() {
    if (!confirm("Delete all solved exercises and all changed cells from this browser?")) return;
    clearAll();
    this.note.textContent = "All progress was deleted from this browser.";
    this.update();
  }
}
