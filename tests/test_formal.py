"""The theorems in Coq: the list of what is proved, the certificates that are written out, and forged ones."""

import re
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path

import check
import generate
import pytest
import yaml
from folded import for_each

from ocolab import certificates as cert

ROOT = Path(__file__).resolve().parent.parent
FORMAL = ROOT / "formal"
COVERAGE = yaml.safe_load((FORMAL / "coverage.yml").read_text("utf8"))
STORED = cert.stored()
needs_coq = pytest.mark.skipif(bool(check.unusable()), reason=check.unusable() or "Coq is there")


# ---------------------------------------------------------------- the list of what is proved


def boxes():
    """The labels of all theorems, lemmas, propositions and corollaries of the pages."""
    pattern = re.compile(
        r"^`{3,}\{prf:(?:theorem|lemma|proposition|corollary)\}.*\n:label: (\S+)", re.MULTILINE
    )
    return {
        label for path in (ROOT / "pages").rglob("*.md") for label in pattern.findall(path.read_text("utf8"))
    }


def test_every_box_is_in_the_list():
    missing = boxes() - set(COVERAGE)
    assert not missing, f"formal/coverage.yml needs a line, at least a reason, for {sorted(missing)}"


def test_the_list_names_labels_of_pages():
    text = "\n".join(path.read_text("utf8") for path in (ROOT / "pages").rglob("*.md"))
    labels = set(re.findall(r":label: (\S+)", text)) | set(re.findall(r"^\((\S+)\)=", text, re.MULTILINE))
    assert set(COVERAGE) - labels == set()


@for_each("label", COVERAGE)
def test_the_list_names_theorems_or_a_reason(label):
    entry = COVERAGE[label]
    assert ("coq" in entry) != ("reason" in entry)
    assert set(entry) <= {"coq", "left", "reason"} and not ("left" in entry and "reason" in entry)
    for name in entry.get("coq", []):
        module, theorem = name.split(".")
        assert theorem in check.statements((FORMAL / f"{module}.v").read_text("utf8")), name


def test_nothing_is_admitted():
    for path in FORMAL.glob("*.v"):
        assert check.FORBIDDEN.search(check.bare(path.read_text("utf8"))) is None, path.name
    assert check.FORBIDDEN.search(check.bare("Lemma a : False. Proof. (* Qed *) Admitted."))
    assert check.FORBIDDEN.search(check.bare("(* Admitted (* twice *) *) Lemma a : True. Qed.")) is None


# ---------------------------------------------------------------- certificates as Coq terms


@cache
def generated():
    return "\n".join(generate.files(STORED).values())


def test_every_problem_reads_back():
    """Each certificate is there once, for the same problem, and claims the numbers that Python proves."""
    text = generated()
    problems = dict(re.findall(r"Definition p_(\d+) : problem :=\n  (.*)\.\n", text))
    assert len(problems) == len(STORED)
    fraction = r"Q2R \((-?\d+) # (\d+)\)"
    for number, (name, found) in enumerate(STORED.items(), 1):
        sizes = [Fraction(size) for size in found["problem"]["size2"]]
        assert generate.read_problem(problems[str(number)], sizes[0]) == cert.game(found), name
        theorem = re.search(rf"Theorem certificate_{number} :(.*?)Proof", text, re.DOTALL)[1]
        numbers = [Fraction(int(a), int(b)) for a, b in re.findall(fraction, theorem)]
        ends = cert.verify(found)
        if len(sizes) == 1:
            size, low, again, high = numbers
            assert size == again == sizes[0]
            assert ends[0][0] - Fraction(1, 10**9) <= low <= ends[0][0] <= ends[0][1] <= high
            assert high <= ends[0][1] + Fraction(1, 10**9)
        else:
            first, last, a, b, *same = numbers
            assert [first, last] == sizes and same == [a, b]
            assert [(a + b * size, a + b * size) for size in sizes] == ends


def test_the_comparisons_cover_the_long_steps():
    """For each T from 3 to 10 the intervals of R² follow one another, from 1/25 to 16/25 (η = ρ = 1)."""
    text = generated()
    for T in range(3, 11):
        fraction = r"Q2R \((\d+) # (\d+)\)"
        found = re.findall(rf"Theorem eager_worse_{T}_\d : forall s, \({fraction} <= s <= {fraction}\)", text)
        ends = sorted((Fraction(int(a), int(b)), Fraction(int(c), int(d))) for a, b, c, d in found)
        assert [low for low, _ in ends] + [ends[-1][1]] == [
            Fraction(1, 25), Fraction(1, 9), Fraction(1, 4), Fraction(4, 9), Fraction(16, 25)
        ]  # fmt: skip
        assert all(high == low for (_, high), (low, _) in pairwise(ends))
        for k in range(1, 5):
            for kind in ("eager", "lazy"):
                (problem,) = re.findall(rf"Definition {kind}_{T}_{k} : problem :=\n  (.*)\.\n", text)
                assert generate.read_problem(problem, 1) == cert.Descent(T, 1, 1, 1, kind)


def recombined(n, witness):
    """Σ d·v·vᵀ."""
    M = [[0] * n for _ in range(n)]
    for k, (d, v) in enumerate(witness[1]):
        for i, x in enumerate(v, k):
            for j, y in enumerate(v, k):
                M[i][j] += d * x * y
    return M


@pytest.mark.parametrize(
    "M", [[[2, 1], [1, 2]], [[1, 2], [2, 4]], [[0, 0], [0, 3]], [[3, 1, 1], [1, 1, 0], [1, 0, 1]]]
)
def test_a_witness_adds_up(M):
    for s, squares in filter(None, (generate.rounded(M, 16), generate.exact(M))):
        assert s > 0 and all(d >= 0 for d, _ in squares)
        sums = recombined(len(M), (s, squares))
        rest = [[s * x - y for x, y in zip(*rows, strict=True)] for rows in zip(M, sums, strict=True)]
        assert generate.dominant(rest)
    s, squares = generate.exact(M)
    assert recombined(len(M), (s, squares)) == [[s * x for x in row] for row in M]


@pytest.mark.parametrize("M", [[[1, 2], [2, 3]], [[0, 1], [1, 5]], [[-1]]])
def test_what_is_not_semidefinite_has_no_witness(M):
    assert generate.rounded(M, 32) is None
    with pytest.raises(cert.Refused):
        generate.exact(M)


# ---------------------------------------------------------------- Coq itself


def evaluated(terms):
    """What Coq computes for terms of type bool, with the theory loaded."""
    check.build(stored=False, jobs=1)
    body = "\n".join(f"Eval vm_compute in ({term})." for term in terms)
    with check.locked():
        (check.BUILD / "Trial.v").write_text(generate.HEAD.format(title="Trial") + body + "\n", "utf8")
        printed = check.coq("coqc", "-q", "-Q", ".", "Formal", "Trial.v")
    return [answer == "true" for answer in re.findall(r"= (true|false)", printed)]


def claim(found, low=None, high=None, problem=None, change_upper=str, change_lower=str):
    """The Coq term that decides a certificate of one size, after changes to its text."""
    p, size = cert.game(found), Fraction(found["problem"]["size2"][0])
    multipliers = {key: Fraction(x) for key, x in found["multipliers"].items()}
    proved = generate.ends(*cert.enclose(p, multipliers, found["grams"][0]))
    low, high = proved[0] if low is None else low, proved[1] if high is None else high
    upper = change_upper(generate.upper_text(p, multipliers))
    lower = change_lower(generate.lower_text(found["grams"][0]))
    problem = problem or generate.problem_text(p)
    return f"encloses ({problem}) ({upper}) ({lower}) {generate.q(size)} {generate.q(low)} {generate.q(high)}"


def changed(pattern, to):
    """A function that replaces the first match in a text, and insists that there is one."""

    def change(text):
        new, times = re.subn(pattern, to, text, count=1)
        assert times == 1
        return new

    return change


FORGED_ABOVE = [
    (r"\(Gradient 1, ", "(Gradient 1, -"),  # a negative multiplier
    (r"Gradient 1,", "Gradient 9,"),  # of a condition that does not exist
    (r"\(1, \[(\d+)", r"(2, [\1"),  # a square taken off twice
    (r"Upper (\d+)", lambda m: f"Upper {3 * int(m[1])}"),  # other steps
]
FORGED_BELOW = [
    (r"\[\((\d+)", lambda m: f"[({4 * int(m[1])}"),  # the first gradient is too long
    (r"Lower (\d+)", r"Lower (-\1)"),  # a negative denominator
    (r"\[\(1, \[", "[(-1, ["),  # minus a square
]


@needs_coq
def test_forged_certificates_are_refused():
    """One number changed in each, on either side: Coq says false, and true to the unchanged ones."""
    names = ["long steps, eager, ηρ/R = 2, T = 3", "schedule 1/√t, diameter, T = 3", "delay 1, T = 4"]
    right, forged = [], []
    for name in names:
        found = STORED[name]
        p = cert.game(found)
        ((low, high),) = cert.verify(found)
        right.append(claim(found))
        forged += [
            claim(found, low=high + Fraction(1, 100)),
            claim(found, high=low - Fraction(1, 100)),
            *(claim(found, change_upper=changed(*change)) for change in FORGED_ABOVE),
            *(claim(found, change_lower=changed(*change)) for change in FORGED_BELOW),
            # another problem
            claim(found, problem=generate.problem_text(cert.Descent(
                p.T, [q * 4 for q in p.eta2], p.size2, p.rho2, p.projection, p.within, p.delay))),
            claim(found, problem=generate.problem_text(cert.Descent(
                p.T, p.eta2, p.size2, p.rho2 / 2, p.projection, p.within, p.delay))),
        ]  # fmt: skip
    answers = evaluated(right + forged)
    assert len(answers) == len(right) + len(forged)
    assert all(answers[: len(right)])
    assert not any(answers[len(right) :]), [i for i, yes in enumerate(answers[len(right) :]) if yes]


@needs_coq
def test_the_lines_between_two_sizes_and_a_forged_one():
    found = STORED["range, eager, diameter, T = 3"]
    p, sizes = cert.game(found), [Fraction(size) for size in found["problem"]["size2"]]
    multipliers = {key: Fraction(x) for key, x in found["multipliers"].items()}
    a, b = cert.line(p, multipliers)
    games = " ".join(f"({generate.lower_text(gram)})" for gram in found["grams"])
    ends = " ".join(map(generate.q, sizes))

    def term(a, b):
        problem, upper = generate.problem_text(p), generate.upper_text(p, multipliers)
        return f"encloses_line ({problem}) ({upper}) {games} {ends} {generate.q(a)} {generate.q(b)}"

    assert (
        evaluated([term(a, b), term(a + 1, b), term(a - 1, b), term(a, b + 1), term(a, b / 2)])
        == [True] + [False] * 4
    )


@needs_coq
def test_the_assumptions_are_those_of_the_real_numbers():
    texts = check.build(stored=False, jobs=1)
    assert check.assumptions(texts) == check.allowed()
