// Build the scratch cell at the end of a page, and the button that restarts Python.
import { button, make } from "./dom.js";

/** Return the element with the text of the page, in the book theme or another one. */
export const place = () => document.querySelector("article.bd-article") ?? document.querySelector("article, [role=main]");

/** Return a fold with an empty cell, with the same structure as Sphinx's cells. */
export function scratchElement(onRestart) {
  const code = make("div", { className: "highlight" }, make("pre", { textContent: "" }));
  const cell = make("div", { className: "cell live-scratch" }, make("div", { className: "cell_input" }, code));
  const restart = button("Restart Python", onRestart, { title: "Deletes all variables; your code stays" });
  const tools = make("p", { className: "live-tools" }, restart, " Deletes all variables; your code stays.");
  return make("details", { className: "live-scratch-box" }, make("summary", { textContent: "Scratch cell: try anything with the names of this page" }), cell, tools);
}
