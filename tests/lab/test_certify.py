"""Certificates are found again: those that ship come out of the search, and its parts are what they say."""

import json
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import takewhile

import numpy as np
import pytest
from folded import for_each

from ocolab import certificates, certify
from ocolab.certificates import Descent

STORED = certificates.stored()
SEARCHED = list(certify.searched())
extended = pytest.mark.skipif(np.finfo(certify.REAL).eps > 1e-18, reason="needs extended precision")


def test_the_stored_certificates_are_those_of_the_list():
    closed = [name for name in STORED if name.startswith(("range", "short steps"))]
    assert list(STORED) == closed + [name for name, _, _ in SEARCHED]
    assert all(STORED[name]["problem"] == problem for name, problem, _ in SEARCHED)
    assert {unit for name, _, unit in SEARCHED if "5/4" in name} == {0.8}
    assert all(unit == 1.0 for name, _, unit in SEARCHED if name.startswith(("schedule", "delay")))


def test_closed_forms_are_those_stored():
    short = list(takewhile(lambda pair: not pair[0].endswith("T = 4"), certify.closed_forms()))
    assert len(short) == 4 + 6 + 6 and all(STORED[name] == made for name, made in short)


@extended
@for_each("name", [
    "long steps, lazy, ηρ/R = 5/4, T = 3", "long steps, eager, ηρ/R = 5/4, T = 3",
    "schedule 1/√t, ball, T = 2", "schedule 1/√t, diameter, T = 2", "delay 1, T = 3",
])  # fmt: skip
def test_a_search_finds_what_is_stored(name):
    problem, unit = next((problem, unit) for found, problem, unit in SEARCHED if found == name)
    found = certify.enclosure(problem, unit)
    assert found == STORED[name]
    ((low, high),) = certificates.verify(found)
    assert 0 < high - low <= 2 * certify.WIDTH * unit


@extended
def test_the_end_of_the_central_path_is_so_far_from_both_sides():
    """Σ λb − C • G = μ·(size + conditions), and A • G = b − μ/λ for every condition."""
    problem, gap = Descent(2, eta2=Fraction(1, 2)), 1e-3
    names, x, G = certify.central_path(problem, gap)
    listed, A, b, C = certify.matrices(problem)
    mu = gap / (len(C) + len(A))
    assert names == listed == list(problem.conditions())
    assert x @ b - (C * G).sum() == pytest.approx(gap, rel=1e-4)
    assert [(a * G).sum() for a in A] == pytest.approx(list(b - mu / x), abs=1e-6)
    assert (x > 0).all() and np.linalg.eigvalsh(G.astype(float)).min() > 0


def test_matrices_are_the_forms_of_the_problem():
    problem = Descent(2, eta2=Fraction(1, 4), size2=3)
    names, A, b, C = certify.matrices(problem)
    x = np.random.default_rng(0).standard_normal((len(C), 3))
    G = x @ x.T
    for form, M in [
        (problem.objective(), C),
        *zip((f for f, _, _ in problem.conditions().values()), A, strict=True),
    ]:
        value = sum(float(c) * G[i, j] for (i, j), c in form.items())
        assert float((M * G).sum()) == pytest.approx(value) and (M == M.T).all()
    assert b.tolist() == [float(bound) for _, _, bound in problem.conditions().values()] and len(
        names
    ) == len(b)


def test_a_factor_and_its_solution_by_hand():
    L = certify.cholesky(np.array([[4.0, 2.0], [2.0, 10.0]], dtype=certify.REAL))
    assert L.tolist() == [[2.0, 0.0], [1.0, 3.0]]
    assert certify.solve(L, np.array([8.0, 22.0])).tolist() == [1.0, 2.0]
    assert certify.solve(L, np.eye(2)) == pytest.approx(np.array([[10.0, -2.0], [-2.0, 4.0]]) / 36)
    assert certify.cholesky(np.array([[1.0, 2.0], [2.0, 4.0]])) is None, "singular"
    assert certify.cholesky(np.array([[1.0, 2.0], [2.0, 3.0]])) is None


def test_rounded_is_the_nearest_decimal_number():
    assert [certify.rounded(np.float64(x), 2) for x in (0.126, 0.124, -0.126, 7.0)] == [
        "0.13",
        "0.12",
        "-0.13",
        "7",
    ]


def test_without_luck_there_is_no_enclosure(monkeypatch):
    monkeypatch.setattr(certify, "central_path", lambda game, gap: (["gradient z1"], np.zeros(1), np.eye(2)))
    with pytest.raises(RuntimeError, match="no certificate of width ≤ 1e-06 was found for Descent"):
        certify.enclosure(certify.data(1, 1, [1]))


def test_all_that_is_found_is_written_a_line_each(tmp_path, monkeypatch, capsys):
    closed, (name, problem, unit) = ("a", {"statement": "η"}), ("b", {"T": 3}, 0.5)
    monkeypatch.setattr(certify, "FILE", tmp_path / "found.json")
    monkeypatch.setattr(certify, "ProcessPoolExecutor", ThreadPoolExecutor)
    monkeypatch.setattr(certify, "closed_forms", lambda: [closed])
    monkeypatch.setattr(certify, "searched", lambda: [(name, problem, unit)])
    monkeypatch.setattr(certify, "enclosure", lambda problem, unit: [problem, unit])
    certify.main()
    text = certify.FILE.read_text("utf8")
    assert json.loads(text) == {"a": {"statement": "η"}, "b": [{"T": 3}, 0.5]}
    assert text == '{\n"a":{"statement":"η"},\n"b":[{"T":3},0.5]\n}\n'
    assert "2 certificates, 0 kB" in capsys.readouterr().out
    monkeypatch.setattr(certify, "REAL", np.float64)
    with pytest.raises(SystemExit, match="extended precision"):
        certify.main()
