// An answer whose checking line was deleted is told so, and which line it was.
import assert from "node:assert/strict";
import { test } from "node:test";
import { checksOf, nothingChecked } from "../../press/press/js/live/checks.js";

const ANSWER = "def my_double(x):\n    assert x\n    return 2 * x\n";
const SHORT = 'exercises.check("ex-twice", my_double)';
const LONG = 'exercises.check(\n    "ex-twice",\n    lambda x: my_double(x),\n    part=2,\n)';

test("a check is found whole, on one line or on many", () => {
  assert.deepEqual(checksOf(`${ANSWER}\n${SHORT}`), [SHORT]);
  assert.deepEqual(checksOf(`${ANSWER}\n${SHORT}\n\n${LONG}\nprint(1)`), [SHORT, LONG]);
  assert.deepEqual(checksOf("assert twice(3) == 6, 'no'\nassert_it = 1"), ["assert twice(3) == 6, 'no'"]);
  assert.deepEqual(checksOf(`${ANSWER}\n# ${SHORT}`), [], "neither a comment nor the inside of a function");
});

test("what was deleted is named, and only that", () => {
  const printed = `${ANSWER}\n${SHORT}\n\n${LONG}`;
  assert.equal(nothingChecked(printed, ANSWER).lines, `${SHORT}\n\n${LONG}`);
  assert.equal(nothingChecked(printed, `${ANSWER}\n${SHORT}`).lines, LONG);
  assert.match(nothingChecked(printed, ANSWER).words, /no longer has the line that checks your answer/);
});

test("a check that is there but did not run is not called missing", () => {
  const { lines, words } = nothingChecked(`${ANSWER}\n${SHORT}`, `${ANSWER}\nclass exercises:\n    check = print\n\n${SHORT}`);
  assert.equal(lines, "");
  assert.match(words, /did not run/);
});
