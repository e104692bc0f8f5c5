// What the reader's own browser remembers: changed cells and solved exercises, one key each, so that two tabs
// overwrite each other's work only where both change the same cell. Where storage is switched off everything works, and nothing is kept.

export const NAME = typeof STORE === "undefined" ? "ocolib" : STORE; // put in by the build
const EDIT = `${NAME}:edit:`;
const DONE = `${NAME}:done:`;
const RIGHT = `${NAME}:right:`; // the code that passed
const FOREIGN = `${NAME}:foreign:`; // cells whose code came from a file and was not looked at yet
const HINTS = `${NAME}:hints:`; // how many were opened: see questions.js
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

/** Whether the code of a cell came from a file; it runs only where the reader presses its own Run. */
export const isForeign = (cell) => read(FOREIGN + cell) !== null;
export const trust = (cell) => erase(FOREIGN + cell);

export const rightAnswer = (exercise) => read(RIGHT + exercise);
export const keepRight = (exercise, source) => write(RIGHT + exercise, source);

export const isDone = (exercise) => read(DONE + exercise) !== null;
export const setDone = (exercise) => write(DONE + exercise, new Date().toISOString().slice(0, 10));
export const doneExercises = () => keys(DONE).map((key) => key.slice(DONE.length));

/** Everything, as the text of a file. */
export function exportAll() {
  const entries = (prefix) => Object.fromEntries(keys(prefix).map((key) => [key.slice(prefix.length), read(key)]));
  return JSON.stringify({ format: FORMAT, done: entries(DONE), edits: entries(EDIT) }, null, 1);
}

/** Take over a file: ticks are added, cells in the file replace those here. Returns a sentence. */
export function importAll(text) {
  const data = attempt(() => JSON.parse(text), null);
  const isTable = (table) =>
    table && typeof table === "object" && Object.values(table).every((value) => typeof value === "string");
  if (data?.format !== FORMAT || !isTable(data.done) || !isTable(data.edits)) {
    return "This is not a file that was saved here. Nothing was changed.";
  }
  Object.keys(data.edits).forEach((name) => write(FOREIGN + name, "1"));
  const put = (prefix, table) => Object.entries(table).filter(([name, value]) => write(prefix + name, value)).length;
  const [ticks, cells] = [put(DONE, data.done), put(EDIT, data.edits)];
  const all = ticks === Object.keys(data.done).length && cells === Object.keys(data.edits).length;
  return `Taken over: solved exercises ${ticks}, changed cells ${cells}.${all ? "" : " The browser refused the rest: its storage is full or off."}`;
}

export const clearAll = () => [DONE, EDIT, HINTS, RIGHT, FOREIGN].flatMap(keys).forEach(erase);

/** Call back when another tab changes something: onEdit(cell, source or null), onDone(). */
export function watchOtherTabs(onEdit, onDone) {
  addEventListener("storage", ({ key, newValue }) => {
    if (key === null || key.startsWith(DONE)) onDone();
    if (key?.startsWith(EDIT)) onEdit(key.slice(EDIT.length), newValue);
  });
}
