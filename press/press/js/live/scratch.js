// The scratch cell at the end of a page, and Restart.
import { button, make } from "./dom.js";

/** Where a page of the book theme ends, or of another one. */
export const place = () => document.querySelector("article.bd-article") ?? document.querySelector("article, [role=main]");

/** A folded box with an empty cell, shaped as Sphinx shapes one. */
export function scratchElement(onRestart) {
  const code = make("div", { className: "highlight" }, make("pre", { textContent: "" }));
  const cell = make("div", { className: "cell live-scratch" }, make("div", { className: "cell_input" }, code));
  const restart = button("Restart Python", onRestart, { title: "All variables go; what you wrote stays" });
  const tools = make("p", { className: "live-tools" }, restart, " All variables go; what you wrote stays.");
  return make("details", { className: "live-scratch-box" }, make("summary", { textContent: "Scratch cell: try anything with the names of this page" }), cell, tools);
}
