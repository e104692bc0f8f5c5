"""What has moved is still found at its old address."""

import notebooks
import redirects
import yaml

RENAMED = (("book/a/old", ""), ("book/b/new", ""))
MOVED = (("book/b/new", "thm1"), ("book/b/next", "thm1"))


def test_every_redirect_of_the_book_leads_somewhere():
    files = [path for ending in ("md", "ipynb") for path in notebooks.BOOK.rglob(f"*.{ending}")]
    pages = {path.relative_to(notebooks.ROOT).with_suffix("").as_posix() for path in files}
    assert list(redirects.faults(redirects.load(), pages)) == []


def test_a_redirect_that_leads_nowhere_is_named():
    pages = {"book/b/new", "book/b/next"}
    assert list(redirects.faults([RENAMED, MOVED], pages)) == []
    assert "no page of the book" in next(redirects.faults([RENAMED], set()))
    assert "still a page" in next(redirects.faults([RENAMED], {*pages, "book/a/old"}))
    assert "the page is gone" in next(redirects.faults([MOVED], {"book/b/next"}))


def test_the_table_is_read_as_addresses(tmp_path):
    file = tmp_path / "redirects.yml"
    file.write_text(yaml.safe_dump({"a/old": "b/new", "b/new#thm1": "b/next#thm1"}))
    assert redirects.load(file) == [RENAMED, MOVED]


def test_the_old_page_links_to_the_new_one():
    page = redirects.old_page("book/a/old", "book/b/new", "")
    assert page.count("../b/new.html") == 3 and 'src="../../_static/redirect.js"' in page
    assert "../b/new.html#thm1" in redirects.old_page("book/a/old", "book/b/new", "thm1")
