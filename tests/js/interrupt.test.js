// Stop: Python is told to stop when, and only when, the page has revoked the address.
import assert from "node:assert/strict";
import { test } from "node:test";
import { StopButton } from "../../press/press/js/live/interrupt.js";

let now = 0, asked = 0, answer = 200;
Object.defineProperty(globalThis, "performance", { value: { now: () => now } });
globalThis.XMLHttpRequest = class {
  open() {}
  send() {
    asked += 1;
    if (answer === null) throw new Error("gone");
    this.status = answer;
  }
};

test("a look asks at most four times a second", () => {
  const stop = new StopButton();
  assert.equal(stop.buffer[0], 0);
  assert.equal(asked, 0); // no cell runs
  stop.watch("blob:x");
  for (now = 0; now < 1000; now += 10) assert.equal(stop.buffer[0], 0);
  assert.equal(asked, 3);
  answer = null;
  assert.equal(stop.buffer[0], 2);
  now += 300;
  answer = 404;
  assert.equal(stop.buffer[0], 2);
  stop.watch(null);
  assert.equal(stop.buffer[0], 0);
});

test("only a blob: address is asked for", () => {
  const stop = new StopButton(), before = asked;
  for (const address of ["/leak", "http://blob:x", ["blo"], { toString: () => "/leak", startsWith: () => true }]) {
    stop.watch(address);
    now += 1000;
    assert.equal(stop.buffer[0], 0);
  }
  assert.equal(asked, before);
});
