"""What axe finds, in light and dark and on a phone, and whether everything fits and can be reached by keyboard."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from test_page import WASM, opened, shown, wait

LOOKS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 900}},
    "phone": {"color_scheme": "light", "viewport": {"width": 320, "height": 640}, "has_touch": True},
    "dark phone": {"color_scheme": "dark", "viewport": {"width": 360, "height": 740}, "has_touch": True},
}


def loading(page, site):
    site.slow[WASM] = 20
    page.goto(site.url)
    page.locator("html[data-state=loading]").wait_for(state="attached")


def one_graph(page, site):
    shown(page, site.url)


def many_graphs(page, site):
    shown(page, site.url, "#ties")
    for details in page.locator("details").all():
        details.locator("summary").click()


def compared(page, site):
    shown(page, site.url)
    page.locator("#compare").click()
    page.locator("#timing table").wait_for()
    wait(page, "done")


def computing(page, site):
    page.goto(site.url + "#grid300,k=64")
    wait(page, "computing")


def stopped(page, site):
    computing(page, site)
    page.locator("#stop").click()
    wait(page, "stopped")


def refused(page, site):
    shown(page, site.url)
    opened(page, "a-long-name-without-a-space-that-does-not-fit-a-phone.txt", b"0 1\n1 two three four\n")
    page.locator("html[data-state=error]").wait_for(state="attached")


def unsupported(page, site):
    page.add_init_script("delete globalThis.WebAssembly")
    page.goto(site.url)
    page.locator("html[data-state=unsupported]").wait_for(state="attached")


STATES = [loading, one_graph, many_graphs, compared, computing, stopped, refused, unsupported]


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
@pytest.mark.parametrize("look", LOOKS)
def test_axe(tab, plain, site, shots, look, state):
    page = tab(plain, **LOOKS[look])
    state(page, site)
    page.screenshot(path=shots / f"{look} {state.__name__}.png".replace(" ", "-"), full_page=True)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    width = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width[0] <= width[1], f"{width[0]} pixels wide on {width[1]}"


def test_by_keyboard(tab, plain, site):
    """Tab reaches every control, and each one shows that it has the focus."""
    page = shown(tab(plain), site.url)
    focus = """() => {
      const element = document.activeElement;
      const inside = element.matches("input[type=file], input[type=checkbox]"); // which the label may show
      const seen = (inside ? [element, element.closest("label")] : [element]).some(one => {
        const style = getComputedStyle(one);
        return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 || style.boxShadow !== "none";
      });
      return [element === document.body ? "" : element.id || element.textContent.trim(), seen];
    }"""
    reached = {}
    for _ in range(60):
        page.keyboard.press("Tab")
        name, seen = page.evaluate(focus)
        if not name:
            break
        reached[name] = seen
    wanted = {"file", "k", "laplacian", "which", "backend", "drop", "compute", "compare", "npz", "csv", "svg"}
    assert wanted <= reached.keys(), wanted - reached.keys()
    assert all(reached.values()), [name for name, seen in reached.items() if not seen]


def test_without_motion(tab, plain, site):
    """Who wants less motion gets none."""
    page = shown(tab(plain, reduced_motion="reduce"), site.url)
    moving = "document.getAnimations().filter(one => one.playState === 'running').length"
    assert page.evaluate(moving) == 0
