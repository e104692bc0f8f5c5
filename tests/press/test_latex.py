"""Test that a builder other than HTML can process what our extensions put on a page."""

import subprocess
import sys

import pytest

CONF = """
ours = ["boxes", "formal", "concordance", "elsewhere", "figures", "images"]
extensions = ["sphinx.ext.autodoc", "sphinx_proof", *(f"press.sphinx.{part}" for part in ours)]
templates_path = []
"""
PAGE = """
A page
======

.. prf:theorem:: A name
   :label: a-theorem

   Something holds.

.. elsewhere:: formal

.. elsewhere:: books

.. concordance:: ox13

.. moving-figure:: fan

   .. image:: picture.png
      :alt: a picture
"""
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000000000500"
    "01a5f645400000000049454e44ae426082"
)


@pytest.mark.long
def test_latex_is_written_with_links_as_words_where_a_page_is_missing(tmp_path):
    (tmp_path / "conf.py").write_text(CONF, "utf8")
    (tmp_path / "index.rst").write_text(PAGE, "utf8")
    (tmp_path / "picture.png").write_bytes(PIXEL)
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "latex", tmp_path, tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (tex,) = (tmp_path / "out").glob("project*.tex")
    text = tex.read_text("utf8")
    assert "Lecture 13, Theorem 1" in text and "Something holds" in text
