"""Test the glossary: sorted, each term once, and nearly every term linked to its definition."""

import re

from folded import for_each

from press import ledger

TEXT = (ledger.ROOT / "book/glossary.md").read_text("utf8")
BODY = re.search(r"```\{glossary\}\n(.+?)\n```", TEXT, re.DOTALL)[1]
ENTRIES = [entry.split("\n") for entry in BODY.split("\n\n")]
TERMS = [line for entry in ENTRIES for line in entry if not line.startswith("  ")]
PLAIN = {"horizon", "slack"}  # defined in the glossary itself


def test_the_terms_stand_in_order_and_once():
    first = [entry[0].casefold() for entry in ENTRIES]
    assert first == sorted(first)
    assert len(set(map(str.casefold, TERMS))) == len(TERMS)


@for_each("entry", ENTRIES, lambda entry: entry[0])
def test_a_term_has_its_meaning_and_its_place(entry):
    meaning = [line for line in entry if line.startswith("  ")]
    assert len(meaning) == 1 and meaning[0].endswith(".")
    assert entry[0] in PLAIN or re.search(r"\{(prf:ref|ref|doc)\}`", meaning[0])


def test_terms_used_on_pages_are_in_the_glossary():
    pages = [*ledger.ROOT.glob("pages/**/*.md"), *ledger.ROOT.glob("book/*.md")]
    used = {
        name
        for page in pages
        for name in re.findall(r"\{term\}`(?:[^`<]*<)?([^`<>]+)>?`", page.read_text("utf8"))
    }
    assert used and used <= set(TERMS)
