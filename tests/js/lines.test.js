import assert from "node:assert/strict";
import { test } from "node:test";
import { firstLines } from "../../press/press/js/live/lines.js";

test("2,001 lines show 2,000, and 2,000 lines show all", () => {
  const text = (count) => Array.from({ length: count }, (_, i) => `${i}\n`).join("");
  assert.deepEqual(firstLines(text(2001), 2000), { kept: text(2000), lines: 2000, full: true });
  assert.deepEqual(firstLines(text(2000), 2000), { kept: text(2000), lines: 2000, full: false });
  assert.deepEqual(firstLines("a\nb", 2000), { kept: "a\nb", lines: 1, full: false });
  assert.deepEqual(firstLines("more", 0), { kept: "", lines: 0, full: true });
});
