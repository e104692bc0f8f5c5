// Store changed cells and solved exercises in the reader's browser. Each has its own key, so that two tabs
// overwrite each other only if both change the same cell. Without storage everything works, but nothing is kept.

export const NAME = typeof STORE === "undefined" ? "ocolib" : STORE; // replaced by the build
const EDIT = `${NAME}:edit:`;
const DONE = `${NAME}:done:`;
const RIGHT = `${NAME}:right:`; // the code that passed
const FOREIGN = `${NAME}:foreign:`; // cells with code from a file that the reader has not run yet
const HINTS = `${NAME}:hints:`; // number of hints opened, see questions.js
const FORMAT = `${NAME} progress 1`;

function attempt(action, otherwise) {
  try {
    return action();
  } catch {
    return otherwise;
  }
}

export const storageWorks = () =>
  attempt(() => {
    localStorage.setItem(`${NAME}:probe`, "1");
    localStorage.removeItem(`${NAME}:probe`);
    return true;
  }, false);

const read = (key) => attempt(() => localStorage.getItem(key), null);
const write = (key, value) => attempt(() => (localStorage.setItem(key, value), true), false);
const erase = (key) => attempt(() => localStorage.removeItem(key));
const keys = (prefix) => attempt(() => Object.keys(localStorage).filter((key) => key.startsWith(prefix)), []);

export const savedEdit = (cell) => read(EDIT + cell);
export const saveEdit = (cell, source) => write(EDIT + cell, source);
export const forgetEdit = (cell) => erase(EDIT + cell);

/** Return whether the code of a cell came from a file; it runs only when the reader presses its own Run. */
export const isForeign = (cell) => read(FOREIGN + cell) !== null;
export const trust = (cell) => erase(FOREIGN + cell);

export const rightAnswer = (exercise) => read(RIGHT + exercise);
export const keepRight = (exercise, source) => write(RIGHT + exercise, source);

export const isDone = (exercise) => read(DONE + exercise) !== null;
export const setDone = (exercise) => write(DONE + exercise, new Date().toISOString().slice(0, 10));
export const doneExercises = () => keys(DONE).map((key) => key.slice(DONE.length));

/** Return everything as the text of a file. */
export function exportAll() {
  const entries = (prefix) => Object.fromEntries(keys(prefix).map((key) => [key.slice(prefix.length), read(key)]));
  return JSON.stringify({ format: FORMAT, done: entries(DONE), edits: entries(EDIT) }, null, 1);
}

/** Load a file: solved exercises are added, cells in the file replace those here. Return a message. */
export function importAll(text) {
  const data = attempt(() => JSON.parse(text), null);
  const isTable = (table) =>
    table && typeof table === "object" && Object.values(table).every((value) => typeof value === "string");
  if (data?.format !== FORMAT || !isTable(data.done) || !isTable(data.edits)) {
    return "This file was not saved by this book. Nothing was changed.";
  }
  const put = (table, store) => Object.entries(table).filter(([name, value]) => store(name, value)).length;
  const ticks = put(data.done, (name, value) => write(DONE + name, value));
  const cells = put(data.edits, (name, value) => write(FOREIGN + name, "1") && write(EDIT + name, value)); // never code without its mark
  const all = ticks === Object.keys(data.done).length && cells === Object.keys(data.edits).length;
  return `Loaded. Solved exercises: ${ticks}, changed cells: ${cells}.${all ? "" : " The rest could not be stored: the browser's storage is full or off."}`;
}

export const clearAll = () => [DONE, EDIT, HINTS, RIGHT, FOREIGN].flatMap(keys).forEach(erase);

/** Call onEdit(cell, source or null) or onDone() when another tab changes something. */
export function watchOtherTabs(onEdit, onDone) {
  addEventListener("storage", ({ key, newValue }) => {
    if (key === null || key.startsWith(DONE)) onDone();
    if (key?.startsWith(EDIT)) onEdit(key.slice(EDIT.length), newValue);
  });
}
