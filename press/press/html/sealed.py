"""Add a Content-Security-Policy to every page: scripts from the book only, no contact with other hosts."""

import base64
import hashlib
import re

INLINE = re.compile(r"<script(?![^>]*\b(?:src=|type=\"application/json\"))[^>]*>(.*?)</script>", re.DOTALL)
HEAD = re.compile(r"<head>|<head [^>]*>")
# Python in the page needs WebAssembly and a worker made from checked bytes; formulas carry their measures.
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'{hashes}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self' blob:; worker-src 'self' blob:; "
    "base-uri 'self'; form-action 'self'"
)
META = '<meta http-equiv="Content-Security-Policy" content="{policy}" />'


def policy(page):
    """The policy for a page: inline scripts that the book put there are known by their hash.

    >>> policy("<script>1</script>")[:77]
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' 'sha256-a4ayc/80/OGd"
    """
    digests = (hashlib.sha256(script.encode()).digest() for script in dict.fromkeys(INLINE.findall(page)))
    return POLICY.format(hashes="".join(f" 'sha256-{base64.b64encode(d).decode()}'" for d in digests))


def sealed(page):
    """The page with its policy as the first thing in its head, so that it binds all that follows."""
    if "Content-Security-Policy" in page:
        return page
    meta = META.format(policy=policy(page))
    return HEAD.sub(lambda match: f"{match[0]}\n  {meta}", page, count=1)


def seal(app, pages):
    for file, text in pages.items():
        pages[file] = sealed(text)


def setup(app):
    return {"parallel_read_safe": True, "parallel_write_safe": True}
