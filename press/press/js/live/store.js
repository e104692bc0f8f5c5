// Load the parts of the runtime: download them once, verify their checksums, keep them in the browser's cache.

const CACHE = "live-python";
const fetchFile = globalThis.fetch.bind(globalThis); // kept here, because the worker replaces fetch for Pyodide

const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** Verify the checksum. SHA-256 needs https or localhost; otherwise fetch itself verifies it, see `download`. */
async function isIntact(bytes, part) {
  if (!globalThis.crypto?.subtle) return bytes.length === part.bytes;
  return hex(await crypto.subtle.digest("SHA-256", bytes)) === part.sha256;
}

const base64 = (digits) => btoa(digits.match(/../g).map((pair) => String.fromCharCode(parseInt(pair, 16))).join(""));

/** Return the cache, or undefined if storage is switched off. */
async function openCache() {
  try {
    return await globalThis.caches?.open(CACHE);
  } catch {
    return undefined;
  }
}

async function download(url, part, onBytes) {
  const integrity = globalThis.crypto?.subtle ? {} : { integrity: `sha256-${base64(part.sha256)}` };
  const response = await fetchFile(url, integrity);
  if (!response.ok) throw new Error(`${part.name} could not be loaded (${response.status})`);
  const bytes = new Uint8Array(part.bytes);
  let loaded = 0;
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    if (loaded + value.length > part.bytes) break;
    bytes.set(value, loaded);
    loaded += value.length;
    onBytes(value.length);
  }
  return bytes;
}

/** Return the bytes of one part, decompressed. Calls `onBytes(n)` when n bytes have arrived. */
export async function loadPart(base, part, onBytes) {
  const url = base + part.name;
  const cache = await openCache();
  const kept = await cache?.match(url);
  if (kept) {
    const bytes = new Uint8Array(await kept.arrayBuffer());
    if (await isIntact(bytes, part)) {
      onBytes(part.bytes);
      return unpack(bytes, part);
    }
    await cache.delete(url);
  }
  const bytes = await download(url, part, onBytes);
  if (!(await isIntact(bytes, part))) throw new Error(`${part.name} is not the file that this book was built with`);
  await cache?.put(url, new Response(bytes)).catch(() => {}); // a full cache is not fatal
  return unpack(bytes, part);
}

async function unpack(bytes, part) {
  if (!part.name.endsWith(".bin")) return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Delete parts of older builds from the cache. */
export async function tidy(base, parts) {
  const cache = await openCache();
  const wanted = new Set(Object.values(parts).map((part) => base + part.name));
  for (const request of (await cache?.keys()) ?? []) {
    if (request.url.startsWith(base) && !wanted.has(request.url)) await cache.delete(request);
  }
}
