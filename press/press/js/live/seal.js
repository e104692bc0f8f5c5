// Prevent code in cells from sending anything, even to the server of the page: remove every network function
// before any cell runs. The worker has kept what it needs itself: see interrupt.js and store.js.

const WAYS_OUT = [
  "fetch", "fetchLater", "XMLHttpRequest", "WebSocket", "WebSocketStream", "WebTransport", "EventSource", "importScripts",
  "Worker", "SharedWorker", "FontFace", "fonts", "caches", "indexedDB", "Notification", "BroadcastChannel", "RTCPeerConnection", "eval",
  "webkitRequestFileSystem", "webkitRequestFileSystemSync", "webkitResolveLocalFileSystemURL", "webkitResolveLocalFileSystemSyncURL",
  "loadPyodide", "_createPyodideModule", // Pyodide's own loader imports scripts
];

/** Remove each function permanently: it can neither be called nor restored. */
export function seal(scope) {
  for (const name of WAYS_OUT) close(scope, name);
  for (const name of ["sendBeacon", "storage", "locks", "serviceWorker"]) if (scope.navigator) close(scope.navigator, name);
}

function close(scope, name) {
  for (let at = scope; at; at = Object.getPrototypeOf(at)) {
    if (Object.hasOwn(at, name)) Reflect.deleteProperty(at, name);
  }
  Object.defineProperty(scope, name, { value: undefined, writable: false, configurable: false });
}
