// Parts of Python for the browser: only the very bytes that the book was built with.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { test } from "node:test";

const served = {};
globalThis.fetch = async (url) =>
  url in served ? new Response(served[url]) : new Response("", { status: 404 });
const { loadPart } = await import("../../press/press/js/live/store.js");

const part = (name, bytes) => ({ name, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") });
const load = (what) => loadPart("https://book/", what, () => {});

test("a part is unpacked, and every byte of it is counted", async () => {
  const bytes = gzipSync("what it holds");
  served["https://book/a.bin"] = bytes;
  let arrived = 0;
  const got = await loadPart("https://book/", part("a.bin", bytes), (n) => (arrived += n));
  assert.equal(Buffer.from(got).toString(), "what it holds");
  assert.equal(arrived, bytes.length);
});

test("another byte, a byte more, a byte less or nothing at all is refused", async () => {
  const bytes = Buffer.from("0123456789");
  const wanted = part("b.js", bytes);
  for (const other of ["0123456780", "0123456789!", "012345678"]) {
    served["https://book/b.js"] = other;
    await assert.rejects(load(wanted), /not the file that this book was built with/);
  }
  delete served["https://book/b.js"];
  await assert.rejects(load(wanted), /b\.js could not be loaded \(404\)/);
});
