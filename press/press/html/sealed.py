"""Add a Content-Security-Policy to every page: scripts from the book only, no contact with other hosts.

A late pass of `press.html`, because the policy contains the hashes of the inline scripts.
"""

import base64
import hashlib
import re

INLINE = re.compile(r"<script(?![^>]*\b(?:src=|type=\"application/json\"))[^>]*>(.*?)</script>", re.DOTALL)
HEAD = re.compile(r"<head>|<head [^>]*>")
# Python needs WebAssembly and a worker made from verified bytes (blob:); formulas have inline styles.
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'{hashes}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self' blob:; worker-src 'self' blob:; "
    "base-uri 'self'; form-action 'self'"
)
META = '<meta http-equiv="Content-Security-Policy" content="{policy}" />'


def policy(page):
    """Return the policy of a page, with the hashes of its inline scripts.

    >>> policy("<script>1</script>")[:77]
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' 'sha256-a4ayc/80/OGd"
    """
    digests = (hashlib.sha256(script.encode()).digest() for script in dict.fromkeys(INLINE.findall(page)))
    return POLICY.format(hashes="".join(f" 'sha256-{base64.b64encode(d).decode()}'" for d in digests))


def sealed(page):
    """Return the page with its policy first in the head, so that it applies to everything that follows."""
    if "Content-Security-Policy" in page:
        return page
    meta = META.format(policy=policy(page))
    return HEAD.sub(lambda match: f"{match[0]}\n  {meta}", page, count=1)


def seal(app, pages):
    """Add the policy to all written pages."""
    for file, text in pages.items():
        pages[file] = sealed(text)


def setup(app):
    return {"parallel_read_safe": True, "parallel_write_safe": True}
