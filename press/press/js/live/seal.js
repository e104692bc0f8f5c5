// Code in a cell sends nothing, not even to the server of the page: every way out is taken away before any
// of it runs. What the worker itself still needs, it has kept: see interrupt.js and store.js.

const WAYS_OUT = [
  "fetch", "fetchLater", "XMLHttpRequest", "WebSocket", "WebSocketStream", "WebTransport", "EventSource", "importScripts",
  "Worker", "SharedWorker", "FontFace", "fonts", "caches", "indexedDB", "Notification", "BroadcastChannel", "RTCPeerConnection", "eval",
];

/** Close each way for good: it can be neither called nor put back. */
export function seal(scope) {
  for (const name of WAYS_OUT) close(scope, name);
  if (scope.navigator) close(scope.navigator, "sendBeacon");
}

function close(scope, name) {
  for (let at = scope; at; at = Object.getPrototypeOf(at)) {
    if (Object.hasOwn(at, name)) Reflect.deleteProperty(at, name);
  }
  Object.defineProperty(scope, name, { value: undefined, writable: false, configurable: false });
}
