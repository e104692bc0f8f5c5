"""The moving figures, moved by mouse and by keyboard; what they print is what ocolib computes."""

import json
import re

import numpy as np
import pytest
import yaml
from contrast import contrast
from playwright.sync_api import expect

from ocolab import limits
from ocolib import adversaries, oracle, theorems
from ocolib.game import play
from ocolib.games import HedgeFrom, duality_gap, play_game
from ocolib.learners import FTL, FTRL, OGD, DelayedOGD, Hedge, Perceptron
from ocolib.losses import hinge, perceptron_loss
from ocolib.phi import HingeLoss, PerceptronLoss, TubeLoss
from ocolib.regularizers import SquaredNorm
from ocolib.sets import Ball, Box, Hull, L1Ball, Simplex
from press import ledger
from press.figure_numbers import PROOFS, crew, sunspot_losses
from press.print.static_figures import fixture, picture
from press.sphinx import figures

pytestmark = pytest.mark.browser

NAMES = list(figures.NAMES)
every_figure = pytest.mark.parametrize("name", NAMES)
DISK, INTERVAL = Ball(2), Box([-1], [1])
STATE = "() => document.querySelector('moving-figure').state"
EXAMPLES = "[aria-label='Try this'] button:not(.mf-begin)"
SAID = """() => Object.fromEntries([...document.querySelectorAll('.mf-say [data-key]')]
  .map(node => [node.dataset.key, node.textContent]))"""
WAYS = {
    "light": {"viewport": {"width": 900, "height": 900}},
    "dark": {"viewport": {"width": 900, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True},
    "calm": {"viewport": {"width": 900, "height": 900}, "reduced_motion": "reduce"},
}


def printed(x, digits=4):
    """As the page prints it."""
    return f"{round(float(x), 9) + 0.0:.{digits}f}".replace("-", "−")


def known(name):
    return json.loads(figures.numbers(name))


# ---------------------------------------------------------------- what ocolib says of a state


def projection(state):
    sets = {"ball": DISK, "box": Box([-1, -0.6], [1, 0.6]), "simplex": Simplex(2), "l1": L1Ball(2)}
    y = np.array([state["x"], state["y"]])
    z = sets[state["set"]].project(y)
    return {"z": f"({printed(z[0])}, {printed(z[1])})", "distance": printed(np.linalg.norm(y - z))}


def fan(state):
    losses = {
        "perceptron": (PerceptronLoss(), 1.0),
        "hinge": (HingeLoss(), 1.0),
        "absolute": (TubeLoss(), 0.0),
    }
    (phi, label), w, z = losses[state["f"]], state["w"], state["z"]
    U = np.arange(-200, 201) / 100
    height = (phi.value(w, label) + z * (U - w) - phi.value(U, label)).max()
    low, high = phi.subdifferential(w, label)
    inside = low - 1e-9 <= z <= high + 1e-9
    verdict = "z is a subgradient at w" if inside else "the line cuts through f: no subgradient"
    return {"excess": printed(max(height, 0)), "verdict": verdict}


def adversary(state):
    z = np.array([[{"M": -1.0, "m": -0.5, "p": 0.5, "P": 1.0}[letter]] for letter in state["z"]])
    leader = FTL(INTERVAL) if state["learner"] == "FTL" else FTRL(INTERVAL, SquaredNorm(), state["eta"])
    trace = play(leader, z)
    said = {"regret": printed(trace.regret(INTERVAL)), "round": str(len(z))}
    if state["learner"] == "FTRL":
        said["bound"] = printed(theorems.FTRLSharp(0.5, np.ones(len(z)), state["eta"]).bound)
    return said


def duel(state):
    z = np.array([[{"M": -1.0, "m": -0.5, "p": 0.5, "P": 1.0}[letter]] for letter in state["z"]])
    leader = FTL(INTERVAL) if state["learner"] == "FTL" else FTRL(INTERVAL, SquaredNorm(), 0.25)
    worst = (
        theorems.Example2(16).bound
        if state["learner"] == "FTL"
        else theorems.FTRLSharp(0.5, np.ones(16), 0.25).bound
    )
    return {
        "regret": printed(play(leader, z).regret(INTERVAL), 2),
        "round": f"{len(z)} of 16",
        "limit": printed(worst, 2),
    }


def step(state):
    T, eta = state["T"], state["eta"]
    Z = {
        "spiral": lambda: adversaries.spiral(1.0, 1.0, T, eta),
        "straight": lambda: np.tile([1.0, 0.0], (T, 1)),
        "back": lambda: np.tile([[1.0, 0.0], [-1.0, 0.0]], (T // 2, 1)),
        "random": lambda: adversaries.random_directions(T, 2, seed=T),
    }[state["adversary"]]()
    said = {
        "regret": printed(play(OGD(DISK, eta), Z).regret(DISK)),
        "bound": printed(theorems.FTRL(2.0, np.ones(T), eta).bound),
        "floor": printed(limits.ball(1.0, 1.0, T)),
    }
    return said | ({"worst": printed(limits.descent(1.0, 1.0, T, eta))} if 1 / T <= eta <= 1 else {})


def lazy_eager(state):
    Z = np.array(known("lazy-eager")["streams"][state["stream"]])[: state["t"]]
    return {
        way: printed(play(OGD(DISK, state["eta"], way), Z).regret(DISK)) if len(Z) else "0.0000"
        for way in ("lazy", "eager")
    }


def hedge(state):
    losses = sunspot_losses()[0] if state["stream"] == "sun" else np.eye(4)[np.arange(120) % 4]
    trace = play(Hedge(losses.shape[1], state["eta"]), losses)
    return {"regret": printed(trace.regret(Simplex(losses.shape[1])))}


def perceptron(state):
    rows = [part.split("_") for part in state["pts"].split(".")]
    X = np.array([[float(a), float(b)] for a, b, _ in rows]) / 100
    y = np.array([1.0 if sign == "p" else -1.0 for *_, sign in rows])
    rounds = np.arange(int(state["t"])) % len(y)
    updates = play(Perceptron(2), perceptron_loss(X[rounds], y[rounds])).updates.sum() if len(rounds) else 0
    gamma = np.linalg.norm(Hull(y[:, None] * X).project(np.zeros(2)))
    R = np.linalg.norm(X, axis=1).max()
    bound = printed(theorems.Perceptron(R, gamma).bound) if gamma > 1e-9 else "none: no margin"
    return {"updates": str(updates), "bound": bound}


def delay(state):
    """The crew's delays, fed to the game round by round."""
    T, m = known("delay")["T"], state["m"]
    X, y, _ = adversaries.separable(T, 6, margin=0.02, seed=3)
    y = np.where(np.random.default_rng(3).random(T) < 0.1, -y, y)
    losses, over, G = hinge(X, y), Ball(6, 3.0), np.linalg.norm(X, axis=1).max()
    speeds = np.where((np.arange(m) == m - 1) & (state["crew"] == "slow") & (m > 1), 0.1, 1.0)
    eta = 3.0 / (G * np.sqrt(T))
    late = [row[3] for row in crew(speeds, eta, losses, over, m)[1]]
    trace = play(DelayedOGD(over, eta, late), losses)
    regret = trace.regret(against=oracle.best_point(losses, over))
    return {"delay": printed(np.mean(late), 2), "careless": printed(regret, 2)}


def waterfall(state):
    chain = PROOFS[state["proof"]][1](state["play"], state["c"])
    said = {"first": printed(chain.values[0]), "last": printed(chain.values[-1])}
    if state["proof"] == "descent":
        assert said["last"] == printed(theorems.FTRL(2.0, np.ones(16), state["c"] / 4).bound)
    return said


def triangle(state):
    rps = np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    starts, hint = ([0.5, 0.3, 0.2], [0.3, 0.3, 0.4]), state["learner"] == "optimistic"
    pair = [HedgeFrom(start, state["eta"], float(hint)) for start in starts]
    trace = play_game(rps, *pair, rounds=state["t"])
    return {
        "last": printed(duality_gap(rps, trace.x[-1], trace.y[-1])),
        "average": printed(trace.gap),
        "x": "(" + ", ".join(printed(p, 3) for p in trace.x[-1]) + ")",
    }


EXPECTED = {name: globals()[name.replace("-", "_")] for name in NAMES}
# a key to move with the keyboard and, for the mouse, either a handle (its key, how far) or a native input
MOVES = {
    "projection": ("x", ("handle", "x", (-60, 25))),
    "fan": ("z", ("handle", "z", (0, -40))),
    "adversary": ("eta", ("click", "text=take back")),
    "duel": (None, ("click", "text=Take back")),
    "step": ("eta", ("handle", "eta", (30, 0))),
    "lazy-eager": ("eta", ("handle", "t", (-40, 0))),
    "hedge": ("eta", ("input", "eta", 0.7)),
    "perceptron": ("x", ("click", "text=add the point")),
    "delay": ("m", ("handle", "m", (60, 0))),
    "waterfall": ("c", ("input", "c", 0.9)),
    "triangle": ("eta", ("handle", "t", (-40, 0))),
}


@pytest.fixture
def show(visit, tmp_path):
    """Open one figure from a file; an error in the page, or a request, is an error here."""
    pages = []

    def show(name, address="", theme="light", page=None, **settings):
        file = tmp_path / f"{name}-{theme}.html"
        if not file.exists():
            file.write_text(fixture(name, theme=theme, width="800px"), "utf8")
        page = visit(file.as_uri() + address, page=page, **(settings or WAYS["light"]))
        settle(page)
        pages.append(page)
        return page

    yield show
    for page in pages:
        assert not [url for url in page.asked if "file:" not in url]


def settle(page):
    """Wait for a glide to end, and for the picture after it."""
    page.evaluate(
        """async () => {
      const frame = () => new Promise(requestAnimationFrame);
      do { await frame(); await frame(); } while (document.querySelector('moving-figure').landing);
    }"""
    )


def check(page, name):
    state, said = page.evaluate(STATE), page.evaluate(SAID)
    for key, text in EXPECTED[name](state).items():
        assert said[key] == text, (key, state)
    return state


def unfold(page):
    for fold in page.locator(".mf-more > summary").all():
        fold.click()


def by_mouse(page, move):
    kind, what, *how = move
    if kind == "click":
        page.click(what)
    elif kind == "input":
        box = page.locator(f"input[data-key={what}]").bounding_box()
        page.mouse.click(box["x"] + how[0] * box["width"], box["y"] + box["height"] / 2)
    else:
        box = page.locator(f".handle[data-keys~={what}]").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + how[0][0] / 2, y + how[0][1] / 2)
        page.mouse.move(x + how[0][0], y + how[0][1])
        page.mouse.up()
    settle(page)


@pytest.mark.parametrize(
    "way", ["light", "phone", "calm", pytest.param("dark", marks=pytest.mark.long)]
)  # in the dark other colours, which are tested in the book; the numbers are the same
@every_figure
def test_it_moves_and_prints_what_ocolib_computes(name, way, show):
    page = show(name, theme="dark" if way == "dark" else "light", **WAYS[way])
    if name == "adversary":
        page.select_option("select", "FTRL")
    unfold(page)
    settle(page)
    states = [check(page, name)]
    key, move = MOVES[name]
    if key is None:  # it has buttons only
        page.focus(".mf-actions button")
        page.keyboard.press("Enter")
    else:
        page.focus(f"input[data-key={key}]")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
    settle(page)
    states.append(check(page, name))
    by_mouse(page, move)
    states.append(check(page, name))
    assert states[0] != states[1] != states[2]
    width = page.evaluate("() => document.documentElement.scrollWidth")
    assert width <= page.viewport_size["width"]


CONTROLS = """() => [...document.querySelectorAll('.mf-panel :is(button, select, input)')]
  .filter(node => node.checkVisibility({visibilityProperty: true})).length"""
IDLE = """() => {
  const figure = document.querySelector('moving-figure');
  const look = () => (figure.render(), figure.root.outerHTML + figure.says.textContent);
  const set = (node, value) => {
    node.value = value;
    node.dispatchEvent(new Event(node.options ? 'change' : 'input'));
  };
  const idle = node => {
    const was = node.value, plain = look();
    const values = node.options ? [...node.options].map(option => option.value) : [node.min, node.max];
    const changed = values.filter(value => value !== was).some(value => (set(node, value), look() !== plain));
    set(node, was);
    figure.render();
    return !changed;
  };
  return [...document.querySelectorAll('.mf-panel :is(select, input)')]
    .filter(node => node.checkVisibility({visibilityProperty: true}) && node.getClientRects().length)
    .filter(idle).map(node => node.ariaLabel);
}"""


@every_figure
def test_every_preset_prints_what_ocolib_computes_and_every_control_does_something(name, show):
    page = show(name, **WAYS["calm"])
    number = "Moving figure " + str(NAMES.index(name)) if name != "duel" else None
    assert page.evaluate("document.querySelector('.mf-number')?.textContent ?? null") == number
    assert len(page.text_content(".mf-title")) > 20
    buttons = page.locator(EXAMPLES)
    assert 2 <= buttons.count() <= 5
    seen = []
    for button in buttons.all():
        button.click()
        settle(page)
        state = page.evaluate(STATE)
        if (
            state.get("z") != ""
            and state.get("pts") != ""
            and state.get("stream") not in ("chance", "phases")
        ):
            check(page, name)
        seen.append(json.dumps(state))
        assert page.evaluate(CONTROLS) <= 8
        idle = page.evaluate(IDLE)
        assert not idle, f"these change nothing after {button.text_content()}: {idle}"
    assert len(set(seen)) == len(seen)


@every_figure
def test_a_handle_is_a_native_input_and_two_are_enough(name, show):
    page = show(name)
    inputs = page.eval_on_selector_all("input[data-key]", "all => all.map(node => node.dataset.key)")
    assert len(inputs) <= 2
    handles = page.eval_on_selector_all(".handle", "all => all.flatMap(node => node.dataset.keys.split(' '))")
    assert set(handles) <= set(inputs)
    unnamed = "all => all.filter(node => !node.getAttribute('aria-label')).length"
    assert page.eval_on_selector_all("input, select", unnamed) == 0
    assert page.get_attribute(".mf-stage > svg", "aria-label")


GUESSED = ["projection", "step", "lazy-eager", "hedge", "perceptron", "delay", "waterfall", "triangle"]


@pytest.mark.parametrize("name", GUESSED)
def test_a_guess_comes_before_the_answer(name, show):
    page = show(name, **WAYS["calm"])
    page.click("text=Guess first")
    question = page.text_content(".mf-verdict")
    page.click("text=Not now")
    assert len(question) > 40 and not page.is_visible(".mf-verdict")
    for hand in ("mouse", "keyboard"):
        page.click("text=Guess first")
        assert not page.is_visible(".mf-say") and page.text_content(".mf-verdict") == question
        before = page.eval_on_selector_all("[data-guess]", "all => all.map(node => node.value)")
        if hand == "mouse":
            box = page.locator(".mf-stage").bounding_box()
            page.mouse.click(box["x"] + 0.72 * box["width"], box["y"] + 0.72 * box["height"])
        else:
            page.keyboard.press("ArrowRight")
            page.keyboard.press("ArrowRight")
        after = page.eval_on_selector_all("[data-guess]", "all => all.map(node => node.value)")
        assert before != after
        page.click("text=Reveal")
        settle(page)
        assert page.is_visible(".mf-say") and page.text_content(".mf-verdict") != question
        check(page, name) if name not in ("hedge",) else None
    page.locator(EXAMPLES).first.click()
    settle(page)
    assert not page.is_visible(".mf-verdict")


def test_the_state_is_in_the_address(show):
    page = show("step", "#eta=0.25&T=256", **WAYS["calm"])
    state = check(page, "step")
    assert (state["eta"], state["T"]) == (0.25, 256)
    page.focus("input[data-key=eta]")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => location.hash.includes('figure=step')")
    words = page.evaluate("() => location.hash")
    again = show("step", words, **WAYS["calm"])
    assert again.evaluate(STATE) == page.evaluate(STATE)
    page.evaluate("() => { location.hash = '#figure=hedge&eta=1'; }")  # meant for another figure
    settle(page)
    assert page.evaluate(STATE) == again.evaluate(STATE)


WRITTEN = "() => location.hash === document.querySelector('moving-figure').link()"


@pytest.mark.parametrize(("name", "preset"), [("fan", "The hinge"), ("adversary", "An empty board")])
def test_a_copied_link_opens_what_a_preset_shows(name, preset, show):
    """After a glide, and where the state is empty."""
    page = show(name)
    page.locator(EXAMPLES).nth(1 if name == "fan" else 0).click()
    settle(page)
    other = page.evaluate(SAID)
    page.click(f"button:text-is('{preset}')")
    settle(page)
    page.wait_for_function(WRITTEN)
    words = page.evaluate("() => location.hash")
    page.click("button:text-is('Copy link')")
    page.get_by_text(re.compile("Link copied|address bar")).wait_for()
    assert page.evaluate("() => location.hash") == words
    again = show(name, words)
    assert again.evaluate(STATE) == page.evaluate(STATE)
    assert again.evaluate(SAID) == page.evaluate(SAID) != other


@pytest.mark.parametrize(("name", "key"), [("projection", "x"), ("fan", "z"), ("perceptron", "x")])
def test_a_finger_moves_a_handle_up_and_down_and_the_page_stays(name, key, show):
    page = show(name, **WAYS["phone"])
    page.add_style_tag(content="body { padding: 30px 0 2000px; }")
    page.evaluate("() => scrollTo(0, 20)")
    finger = page.context.new_cdp_session(page)
    for down in (60, -60):
        box = page.locator(f".handle[data-keys~={key}]").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        before = page.evaluate(STATE)
        for kind, part in [("touchStart", 0), *(("touchMove", step / 6) for step in range(1, 7))]:
            spots = [{"x": x + 15 * part, "y": y + down * part}]
            finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": spots})
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        settle(page)
        assert page.evaluate(STATE) != before and page.evaluate("() => scrollY") == 20


def test_what_would_do_nothing_is_not_shown(show):
    page = show("adversary")
    assert not page.locator("input[data-key=eta]").is_visible(), "follow the leader has no step"
    page.select_option("select", "FTRL")
    settle(page)
    assert page.locator("input[data-key=eta]").is_visible()
    page = show("waterfall", **WAYS["calm"])
    page.click("text=The mistake bound")
    settle(page)
    assert not page.locator("input[data-key=c]").is_visible()


@pytest.mark.parametrize(
    "name", [*NAMES[:3], *(pytest.param(name, marks=pytest.mark.long) for name in NAMES[3:])]
)
def test_play_shows_many_states_and_a_touch_ends_it(name, show):
    page = show(name)
    page.click(".mf-play")
    assert "Pause" in page.text_content(".mf-play")
    page.locator(EXAMPLES).nth(1).click()
    assert "Play" in page.text_content(".mf-play"), "a touch ends it"
    settle(page)

    page.evaluate(
        """() => {
      const figure = document.querySelector('moving-figure'), render = figure.render.bind(figure);
      window.seen = new Set([JSON.stringify(figure.state)]);
      figure.render = () => { render(); seen.add(JSON.stringify(figure.state)); };
      figure.spec.play = {...figure.spec.play, pace: 30};
    }"""
    )
    page.click(".mf-play")
    page.wait_for_function("() => document.querySelector('.mf-play').textContent.includes('Play')")
    assert page.evaluate("() => seen.size") >= 3
    page.wait_for_function(f"() => location.hash.includes('figure={name}')")


def test_no_line_crosses_a_formula_of_the_waterfall(show):
    page = show("waterfall", **WAYS["phone"])
    for button in page.locator(EXAMPLES).all():
        button.click()
        settle(page)
        crossed = page.evaluate("""() => {
          const box = node => node.getBoundingClientRect();
          const lines = [...document.querySelectorAll('.mf-stage line.thin')].map(box);
          return [...document.querySelectorAll('.mf-stage text:not(.muted)')].filter(text => {
            const b = box(text);
            return lines.some(l => l.left > b.left && l.left < b.right
              && l.top < b.bottom - 3 && l.bottom > b.top + 3);
          }).map(text => text.textContent);
        }""")
        assert crossed == []


@every_figure
def test_the_stage_is_in_view_after_guess_first(name, show):
    page = show(name, **WAYS["phone"])
    if not page.locator("text=Guess first").count():
        return
    page.locator("text=Guess first").scroll_into_view_if_needed()
    page.click("text=Guess first")
    settle(page)
    box = page.locator(".mf-stage").bounding_box()
    assert box["y"] > -1 and box["y"] + box["height"] < page.viewport_size["height"] + 1


def test_a_bad_address_changes_nothing(show):
    page = show("step")
    plain = check(page, "step")
    for words in (
        "#eta=abc",
        "#eta=",
        "#T=1e999",
        "#adversary=<b>",
        "#adversary=constructor",
        "#figure=step",
        "#fig-1",
    ):
        assert check(show("step", words, page=page), "step") == plain, words


def test_numbers_out_of_range_are_brought_back(show):
    page = show("projection", "#x=99&y=-0.333", **WAYS["calm"])
    state = check(page, "projection")
    assert (state["x"], state["y"]) == (2, -0.35)


def test_points_can_be_clicked_in(show):
    page = show("perceptron", **WAYS["calm"])
    page.click("text=An empty sheet")
    box = page.locator(".mf-stage").bounding_box()
    centre = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.click(centre[0] + 80, centre[1] - 40)
    page.select_option("select", "m")
    page.mouse.click(centre[0] - 60, centre[1] - 70)
    page.click("button:text-is('step')")
    settle(page)
    state = check(page, "perceptron")
    assert [part[-1] for part in state["pts"].split(".")] == ["p", "m"] and state["t"] == "1"


def test_the_adversary_can_be_played(show):
    page = show("adversary", **WAYS["calm"])
    page.click("text=An empty board")
    unfold(page)
    for slope in ("−½", "+1", "−1", "worst move"):
        page.click(f"button:text-is('{slope}')")
    settle(page)
    state = check(page, "adversary")
    assert state["z"] == "mPMP" and page.evaluate(SAID)["regret"] == printed(theorems.Example2(4).bound)


@every_figure
def test_full_screen_is_large_and_dark(name, show):
    page = show(name)
    small = page.evaluate("() => document.querySelector('.mf-stage text').getBoundingClientRect().height")
    page.click(".mf-full-button")
    settle(page)
    box = page.locator("moving-figure").bounding_box()
    assert (box["width"], box["height"]) == (page.viewport_size["width"], page.viewport_size["height"])
    paper = page.eval_on_selector("moving-figure", "node => getComputedStyle(node).backgroundColor")
    assert max(map(int, re.findall(r"\d+", paper))) < 60
    large = page.evaluate("() => document.querySelector('.mf-stage text').getBoundingClientRect().height")
    assert large > 1.15 * small
    check(page, name)
    page.click(".mf-full-button")
    settle(page)
    assert page.locator("moving-figure").bounding_box()["height"] < page.viewport_size["height"] + 100
    assert not page.evaluate("() => document.querySelector('moving-figure').classList.contains('mf-full')")


@every_figure
def test_the_picture_is_the_figure_before_any_touch(name, visit):
    page = visit("about:blank", viewport={"width": 700, "height": 900})
    assert picture(page, name) == (figures.SOURCE / "static" / f"{name}.svg").read_text("utf8")


def test_a_preset_comes_at_once_where_motion_is_unwelcome(show):
    jump = """() => {
      document.querySelectorAll('.mf-group button')[1].click();
      const figure = document.querySelector('moving-figure');
      return [figure.state.x, Boolean(figure.landing)];
    }"""
    assert show("projection", **WAYS["calm"]).evaluate(jump) == [1.6, False]
    assert show("projection").evaluate(jump)[1], "it glides"


def test_a_page_can_draw_a_chain_of_its_own(show):
    page = show("waterfall")
    lines = [
        {"value": 1.0, "formula": "Σ f_t"},
        {"value": 2.5, "formula": "w_{t+1}"},
        {"value": 2.0, "formula": "end"},
    ]
    drawn = page.evaluate(
        """lines => {
      const place = document.createElement('div');
      document.body.append(place);
      ocoFigures.waterfall(place, {title: 'mine', lines});
      return [place.querySelectorAll('rect').length, place.querySelectorAll('rect.orange').length,
              place.querySelector('svg').getAttribute('aria-label')];
    }""",
        lines,
    )
    assert drawn == [3, 1, "mine: from 1.0000 to 2.0000 in 3 lines"]  # a line that falls is marked


# ---------------------------------------------------------------- in the book

HTML = ledger.ROOT / "_build" / "html"
PLACED = {
    name: path.relative_to(HTML).as_posix()
    for path in HTML.rglob("book/**/*.html")
    for name in re.findall(r'<moving-figure [^>]*data-figure="([\w-]+)"', path.read_text("utf8"))
}
placed = pytest.mark.parametrize("name", PLACED)
HEIGHTS = """() => {
  window.heights = [];
  const seen = new ResizeObserver(list => list.forEach(entry => heights.push(entry.contentRect.height)));
  new MutationObserver(() => document.querySelectorAll('moving-figure').forEach(node => seen.observe(node)))
    .observe(document, {childList: true, subtree: true});
}"""
CONTRAST = """() => [...document.querySelectorAll('moving-figure :is(text, button, select, span, b, output)')]
  .filter(node => node.textContent.trim() && node.getClientRects().length)
  .map(node => [node.textContent.slice(0, 30),
    getComputedStyle(node)[node.localName === 'text' ? 'fill' : 'color'],
    /button|select/.test(node.localName) ? getComputedStyle(node).backgroundColor
      : getComputedStyle(node.closest('moving-figure')).backgroundColor])"""


# Without the fading from one colour to the other.
THEME = """theme => {
  document.documentElement.dataset.theme = theme;
  document.getAnimations().forEach(fading => fading.finish());
}"""


def rgb(colour):
    return [float(value) for value in re.findall(r"[\d.]+", colour)]


def test_every_figure_has_its_page_and_numbers_follow_the_book():
    toc = yaml.safe_load((ledger.ROOT / "_toc.yml").read_text("utf8"))
    order = [toc["root"], *(page["file"] for part in toc["parts"] for page in part["chapters"])]
    placed = {name: order.index(page.removesuffix(".html")) for name, page in PLACED.items()}
    assert sorted(placed, key=placed.get) == NAMES


def moved(page, name):
    """Press a preset; the words below the figure must change."""
    live = page.locator(f"moving-figure[data-figure={name}]")
    assert live.locator(".mf-stage > svg > *").count() > 3
    before = live.locator(".mf-say").text_content()
    live.locator(EXAMPLES).nth(1).click()
    page.wait_for_function(
        "([name, before]) => document.querySelector(`moving-figure[data-figure=${name}] "
        ".mf-say`).textContent !== before",
        arg=[name, before],
    )


def has_its_height_from_the_first_frame_on(page, name):
    """What is below a figure does not move when the figure comes to life."""
    page.evaluate("() => window.MathJax?.startup.promise")  # only where no node set the formulas
    page.wait_for_function("() => heights.length")  # the first height is reported after the first frame
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert len(set(page.evaluate("() => heights"))) == 1
    assert 0 < page.locator(f"#figure-{name}").bounding_box()["y"] < 450


def can_be_read_in(theme, page):
    page.evaluate(THEME, theme)
    for words, *colours in page.evaluate(CONTRAST):
        assert contrast(*map(rgb, colours)) > 4.5, (theme, words, colours)


def prints_as_a_picture(page, name):
    image = page.locator(f"moving-figure[data-figure={name}] .mf-static img.face-light")
    assert len(image.get_attribute("alt")) > 60
    expect(image).not_to_be_visible()
    page.emulate_media(media="print")
    expect(image).to_be_visible()
    expect(page.locator(f"moving-figure[data-figure={name}] .mf-panel")).not_to_be_visible()
    page.emulate_media(media="screen")


@placed
def test_on_its_page_it_moves_prints_and_can_be_read_by_day_and_by_night(name, visit, address):
    page = visit(f"{address}/{PLACED[name]}#figure={name}", script=f"({HEIGHTS})()")
    has_its_height_from_the_first_frame_on(page, name)
    moved(page, name)
    for theme in ("dark", "light"):
        can_be_read_in(theme, page)
    prints_as_a_picture(page, name)


@placed
def test_it_has_its_height_on_a_phone(name, visit, address):
    size = {"width": 390, "height": 900}
    page = visit(f"{address}/{PLACED[name]}#figure={name}", script=f"({HEIGHTS})()", viewport=size)
    has_its_height_from_the_first_frame_on(page, name)


@pytest.mark.parametrize(
    "name",
    [*sorted(PLACED)[:3], *(pytest.param(name, marks=pytest.mark.long) for name in sorted(PLACED)[3:])],
)
def test_it_moves_where_the_book_is_a_file(name, visit, html):
    moved(visit(f"{(html / PLACED[name]).as_uri()}#figure={name}"), name)


@placed
def test_a_strict_policy_would_let_it_pass(name, html):
    text = (html / PLACED[name]).read_text("utf8")
    element = re.search(rf'<moving-figure [^>]*data-figure="{name}".*?</moving-figure>', text, re.DOTALL)[0]
    assert not re.search(r"<script|<style|\sstyle=|\son\w+=", element)
