// Entry point of the page: check what this browser supports, then make the cells live.
import { make } from "./dom.js";
import { SCRIPT } from "./here.js";
import { Book } from "./book.js";
import { Progress } from "./progress.js";

/** Return why this page cannot run code, or undefined. */
function obstacle() {
  if (location.protocol === "file:") {
    return `This page was opened as a file. To run its code, serve the book with “${SERVE}” and open it from there.`;
  }
  const lacking = ["WebAssembly", "Worker", "DecompressionStream"].find((name) => !(name in globalThis));
  return lacking && `This browser cannot run Python here (it has no ${lacking}). The printed results stay as they are.`;
}

function begin() {
  delete document.documentElement.dataset.live; // removes the space reserved for the buttons, see live.css
  const base = new URL("live/", SCRIPT).href;
  const reason = obstacle();
  const data = document.getElementById("live-page");
  if (reason) {
    const first = document.querySelector("div.cell.tag_live .cell_input");
    first?.append(make("p", { className: "live-elsewhere", textContent: reason }));
    return;
  }
  const progress = new Progress(base);
  if (data) new Book(JSON.parse(data.textContent), { parts: PARTS, base }, progress);
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
else begin();
