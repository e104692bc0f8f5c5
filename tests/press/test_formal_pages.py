"""Test the Coq pages: files are shown completely, and folds claim no more than was proved."""

import re

import yaml
from docutils import nodes
from folded import for_each

from press import ROOT
from press.sphinx import formal

MODULES = sorted(path.stem for path in formal.FOLDER.glob("*.v"))


def test_every_file_has_a_page_and_every_page_its_file():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))
    named = {
        section["file"]
        for part in toc["parts"]
        for chapter in part["chapters"]
        for section in chapter.get("sections", [])
        if chapter["file"] == "book/formal"
    }
    assert {formal.docname(module) for module in MODULES} | {"book/formal/list"} == named
    for module in MODULES:
        page = (ROOT / f"{formal.docname(module)}.md").read_text("utf8")
        assert f"`formal/{module}.v`" in page and f"```{{coq}} {module}\n```" in page


@for_each("module", MODULES)
def test_a_file_is_shown_whole(module):
    """Blocks and proofs, put together again, are the file without its blank lines."""
    source = (formal.FOLDER / f"{module}.v").read_text("utf8")
    shown = "\n".join(part for b in formal.blocks(module) for part in (b.text, b.proof) if part)
    assert re.sub(r"\n\s*\n", "\n", shown).split() == source.split()
    assert all(b.names for b in formal.blocks(module) if b.text.startswith(("Theorem", "Lemma", "Corollary")))


def folds():
    return {label: entry for label, entry in formal.coverage().items() if "coq" in entry}


@for_each("label", folds())
def test_a_fold_has_comment_statement_and_links(label):
    entry = folds()[label]
    content = formal.mark(entry)
    text = "\n".join(node.astext() for node in content)
    for full in entry["coq"]:
        module, name = full.split(".")
        (block,) = [b for b in formal.blocks(module) if name in b.names]
        assert block.about, f"{full} has no comment above it"
        assert block.text in text and block.given in text and f"{full}, with its proof" in text
        assert not block.proof or block.proof not in text
    assert ("Not proved in Coq" in text) == ("left" in entry)
    assert ", in part" in content[0].astext() or "left" not in entry


def test_section_hypotheses_are_shown():
    (block,) = [b for b in formal.blocks("Winnow") if "winnow_bound" in b.names]
    assert "Hypothesis Htheta : 1 <= theta." in block.given and "Variables (n : nat)" in block.given
    (other,) = [b for b in formal.blocks("Winnow") if "winnow_bound_half" in b.names]
    assert other.given == ""


def test_the_key_knows_no_bound_names():
    """In Logarithmic.v H is a number; in Experts.v it is the entropy."""
    (block,) = [b for b in formal.blocks("Logarithmic") if "logarithmic_regret" in b.names]
    words = [name for name, *_ in formal.key("Logarithmic", block)]
    assert "H" not in words and {"Space", "convex_set", "eager_descent", "strong_subgradient"} <= set(words)
    (block,) = [b for b in formal.blocks("Experts") if "lemma_17_1" in b.names]
    assert "H" in [name for name, *_ in formal.key("Experts", block)]


def test_comments_become_paragraphs_and_lists():
    comment = "(** ** A title (x.y)\n\n    - [S]: convex;\n    - u: any point.\n    The end. *)"
    rubric, items, end = formal.prose(comment)
    assert isinstance(rubric, nodes.rubric) and rubric.astext() == "A title (x.y)"
    assert [item.astext() for item in items] == ["S: convex;", "u: any point"] and end.astext() == "The end."


def test_the_concordance_says_yes_in_part_or_nothing():
    assert formal.cell("ox13.thm1")[0].astext() == "yes"
    assert formal.cell("ox13.eq11")[0].astext() == "in part"
    assert formal.cell("ma17.thm17.4") == [] and formal.cell("no.such") == []
