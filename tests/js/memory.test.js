// What a browser remembers, and what it takes from a file.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import * as memory from "../../press/press/js/live/memory.js";

class Storage {
  getItem(key) {
    return this[key] ?? null;
  }
  setItem(key, value) {
    this[key] = String(value);
  }
  removeItem(key) {
    delete this[key];
  }
}

const keep = (storage) => Object.defineProperty(globalThis, "localStorage", { value: storage, configurable: true });

beforeEach(() => keep(new Storage()));

test("a file takes all of it to another browser", () => {
  memory.saveEdit("page-3", "x = 1");
  memory.setDone("ex-twice");
  const file = memory.exportAll();
  memory.clearAll();
  assert.equal(memory.savedEdit("page-3"), null);
  assert.deepEqual(memory.doneExercises(), []);
  assert.equal(memory.importAll(file), "Loaded. Solved exercises: 1, changed cells: 1.");
  assert.equal(memory.savedEdit("page-3"), "x = 1");
  assert.ok(memory.isDone("ex-twice"));
});

test("a file of something else changes nothing", () => {
  memory.saveEdit("page-3", "mine");
  for (const text of ["", "[]", "{", '{"format": "ocolib progress 1"}', '{"format": "x", "done": {}, "edits": {}}',
    '{"format": "ocolib progress 1", "done": {}, "edits": {"page-3": 5}}']) {
    assert.match(memory.importAll(text), /Nothing was changed/);
  }
  assert.equal(memory.savedEdit("page-3"), "mine");
});

test("without storage nothing is kept and nothing fails", () => {
  keep({ getItem() { throw new Error("off"); }, setItem() { throw new Error("off"); } });
  assert.equal(memory.storageWorks(), false);
  assert.equal(memory.saveEdit("page-3", "x"), false);
  assert.equal(memory.savedEdit("page-3"), null);
  const file = '{"format": "ocolib progress 1", "done": {}, "edits": {"page-3": "x"}}';
  assert.match(memory.importAll(file), /The rest could not be stored/);
});

test("code from a file is never stored without its mark", () => {
  class Small extends Storage {
    setItem(key, value) {
      if (key.includes("foreign")) throw new Error("full"); // but a shorter text in place of a longer one fits
      super.setItem(key, value);
    }
  }
  keep(new Small());
  memory.saveEdit("page-3", "a long text of mine");
  const file = '{"format": "ocolib progress 1", "done": {"ex-twice": "x"}, "edits": {"page-3": "theirs"}}';
  assert.match(memory.importAll(file), /exercises: 1, changed cells: 0.*could not be stored/);
  assert.equal(memory.savedEdit("page-3"), "a long text of mine");
});
