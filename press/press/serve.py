"""Serve the built book with compression, as a web host would: python -m press serve [port] [folder]."""

import argparse
import errno
import gzip
from functools import lru_cache, partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

TEXT = (".html", ".css", ".js", ".mjs", ".json", ".svg", ".txt", ".ipynb", ".wasm", ".xml", ".py")


@lru_cache(256)
def packed(path, changed):
    """Return a file compressed; cached until it changes, for the last 256 files."""
    return gzip.compress(Path(path).read_bytes(), 6)


class Packing(SimpleHTTPRequestHandler):
    """Serve files: compress text, answer 304 if a file has not changed, show the book's own 404 page."""

    protocol_version = "HTTP/1.1"
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".woff": "font/woff",
        ".woff2": "font/woff2",
        ".wasm": "application/wasm",
    }

    def do_GET(self):
        """Send a text file compressed; leave other files to the base class."""
        file = Path(self.translate_path(self.path))
        if file.is_dir():
            file = file / "index.html"
        accepts = "gzip" in self.headers.get("Accept-Encoding", "")
        if not (accepts and file.is_file() and file.suffix in TEXT):
            return super().do_GET()
        changed = file.stat().st_mtime_ns
        tag = f'"{changed:x}"'
        fresh = self.headers.get("If-None-Match") == tag
        body = b"" if fresh else packed(str(file), changed)
        self.send_response(HTTPStatus.NOT_MODIFIED if fresh else HTTPStatus.OK)
        self.send_header("ETag", tag)
        self.send_header("Content-Type", self.guess_type(str(file)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        return None

    def end_headers(self):
        """Add the caching policy."""
        self.send_header("Cache-Control", "no-cache" if self.path.endswith((".html", "/")) else "max-age=60")
        super().end_headers()

    def send_error(self, code, message=None, explain=None):
        """Show the book's own page for an unknown address."""
        page = Path(self.directory) / "404.html"
        if code == HTTPStatus.NOT_FOUND and page.exists():
            body = page.read_bytes()
            self.send_response(code)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        else:
            super().send_error(code, message, explain)

    def log_message(self, *arguments):
        """Log nothing."""
        pass


def server(folder, port=0):
    """Return a server for the folder; port 0 means any free port."""
    return ThreadingHTTPServer(("localhost", port), partial(Packing, directory=str(folder)))


def opened(folder, port):
    """Return a server on this port; exit with a message if the port cannot be used."""
    try:
        return server(folder, int(port))
    except (ValueError, OverflowError):
        raise SystemExit(f"PORT must be a number from 0 to 65535, got {port!r}") from None
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        why = "in use, perhaps by another `make serve`" if error.errno == errno.EADDRINUSE else "reserved"
        another = f"make serve PORT={max(int(port) + 1, 8000) if int(port) < 65535 else 8000}"
        raise SystemExit(f"Port {port} is {why}. Free it or choose another: {another}") from None


def main(arguments):
    """Parse the command line and serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("port", nargs="?", default=8000)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("_build/html"))
    asked = parser.parse_args(arguments)
    port, folder = asked.port, asked.folder
    if not folder.is_dir():
        raise SystemExit(f"{folder} does not exist: run `make book` first")
    running = opened(folder, port)
    print(f"Serving on http://localhost:{running.server_port}  (Ctrl-C stops)", flush=True)
    try:
        running.serve_forever()
    except KeyboardInterrupt:
        running.server_close()
