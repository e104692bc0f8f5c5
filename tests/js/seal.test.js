import assert from "node:assert/strict";
import { test } from "node:test";
import { seal } from "../../press/press/js/live/seal.js";

test("a way out is closed on the object and above it, and stays closed", () => {
  "use strict";
  const above = { fetch: () => "sent" };
  const scope = Object.create(above, { XMLHttpRequest: { value: class {}, configurable: true, writable: true } });
  scope.navigator = Object.create({ sendBeacon: () => true, storage: {} });
  seal(scope);
  assert.equal(scope.fetch, undefined);
  assert.equal(above.fetch, undefined);
  assert.equal(scope.XMLHttpRequest, undefined);
  assert.equal(scope.navigator.sendBeacon, undefined);
  assert.equal(scope.navigator.storage, undefined);
  assert.throws(() => { scope.fetch = () => "sent"; }, TypeError);
  assert.throws(() => Object.defineProperty(scope, "fetch", { value: 1 }), TypeError);
});
