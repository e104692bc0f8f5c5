"""Read the settings and the table of contents of the build at hand: the book, an edition or a course."""

from functools import cache

import yaml

from press import ROOT

FILES = {"folder": ROOT}  # where _config.yml and _toc.yml are


def use(folder):
    """Read _config.yml and _toc.yml from this folder from now on."""
    FILES["folder"] = folder
    contents.cache_clear()
    parts.cache_clear()


def settings():
    """Return the content of _config.yml."""
    return yaml.safe_load((FILES["folder"] / "_config.yml").read_text("utf8"))


def site(config):
    """Return the address of the published book: from _config.yml, or GitHub Pages, or an empty string."""
    said = (config.get("html") or {}).get("baseurl", "")
    owner, _, name = config["repository"]["url"].rstrip("/").partition("github.com/")[2].partition("/")
    return said.rstrip("/") or (f"https://{owner.lower()}.github.io/{name}" if name else "")


@cache
def contents():
    """Return the table of contents."""
    return yaml.safe_load((FILES["folder"] / "_toc.yml").read_text("utf8"))


@cache
def parts():
    """Return {docname: caption of its part of the book} in reading order."""
    toc = contents().get("parts", [])
    return {chapter["file"]: part["caption"] for part in toc for chapter in part["chapters"]}
