"""Test that the page on other proofs and books names items that exist here, and a pinned version."""

import re

import pytest

from press import ledger
from press.sphinx import elsewhere

DATA = elsewhere.load()
KNOWN = {entry["id"]: entry for entry in ledger.entries(ledger.load())}


@pytest.mark.parametrize("entry", DATA["formal"], ids=lambda entry: entry["theorem"])
def test_a_formal_proof_names_items_and_the_version_read(entry):
    assert set(entry) == {"items", "system", "repository", "file", "theorem", "commit", "proves", "differs"}
    assert all(ledger.done(KNOWN[item]) for item in entry["items"])
    assert re.fullmatch(r"[0-9a-f]{40}", entry["commit"]) and entry["system"] in ("Lean 4", "Coq")
    assert entry in elsewhere.proved(entry["items"][0])
    assert elsewhere.address(entry).endswith(f"{entry['commit']}/{entry['file']}")


@pytest.mark.parametrize("row", DATA["books"]["rows"], ids=lambda row: row["item"])
def test_a_row_for_other_books_names_an_item_and_known_books(row):
    assert ledger.done(KNOWN[row["item"]])
    books = set(row) - {"item", "topic"}
    assert books and books <= set(DATA["books"]["columns"])


def test_an_item_without_a_formal_proof_has_none():
    assert elsewhere.proved("ma17.thm17.4") == elsewhere.cell("ma17.thm17.4") == []


def test_the_cell_of_the_concordance_links_every_proof():
    links = [node["refuri"] for node in elsewhere.cell("ma17.claim.logN") if hasattr(node, "attributes")]
    assert (
        links == [elsewhere.address(entry) for entry in elsewhere.proved("ma17.claim.logN")]
        and len(links) == 2
    )
