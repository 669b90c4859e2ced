"""The page's form, its link, its words for failures, and the names of its downloads."""

from __future__ import annotations

import pytest

from test_encode import grid
from test_page import WASM, opened, shown, wait, wait_from_error


def test_the_focus_outlives_the_loading(tab, site):
    """A sample that is pressed while the program loads keeps the focus, and is computed."""
    site.slow[WASM] = 1
    page = tab()
    page.goto(site.url)
    button = page.locator("#samples button", has_text="Mesh")
    button.focus()
    page.keyboard.press("Enter")
    wait(page, "done")
    assert page.evaluate("document.activeElement.dataset.sample") == "mesh"
    assert "mesh" in page.locator("#title").inner_text()
    names = page.locator("#samples button").evaluate_all("all => all.map(button => button.dataset.sample)")
    assert len(names) == len(set(names)) >= 6


def test_a_stopped_comparison(tab, plain, site):
    page = shown(tab(plain), site.url, "#grid30,k=64")
    page.locator("#compare").click()
    page.locator("#stop").click()
    wait(page, "stopped")
    assert "comparison was stopped" in page.locator("#status").inner_text()
    assert page.locator("#compare").inner_text() in page.locator("#status").inner_text()


@pytest.mark.parametrize(("hash", "written"), [
    ("#karate,graph=999999999", "#karate,k=8"),
    ("#ties,graph=999999999", "#ties,k=8,graph=40"),
    ("#karate,no-symmetrization", "#karate,k=8"),
])
def test_the_link_is_what_is_shown(tab, site, hash, written):
    page = shown(tab(), site.url, hash)
    assert page.url == site.url + written


def test_an_option_of_a_file_is_not_in_the_link_of_a_sample(tab, site):
    page = shown(tab(), site.url)
    opened(page, "grid.mtx", grid("mtx"))
    page.locator("#title", has_text="grid.mtx").wait_for()
    page.locator("#symmetrize").select_option("error")
    wait(page, "done")
    assert "no-symmetrization" in page.url
    page.locator("#samples button", has_text="Karate").click()
    page.locator("#title", has_text="karate").wait_for()
    wait(page, "done")
    assert page.url == site.url + "#karate,k=8"


def test_dropped_text(tab, site):
    """It is left to the browser, which puts it into fields."""
    page = shown(tab(), site.url)
    script = """() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.setData("text/plain", "12");
      const drop = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
      return document.getElementById("k").dispatchEvent(drop);
    }"""
    assert page.evaluate(script), "the drop was taken"
    assert page.locator("[role=alert]").inner_text() == ""


@pytest.mark.parametrize(("form", "stem"), [("npz", "grid-encoding"), ("csv", "grid-encoding"), ("mtx", "grid")])
def test_names_of_downloads(tab, site, form, stem):
    """No download has the name of the file that was read."""
    page = shown(tab(), site.url)
    opened(page, f"grid.{form}", grid(form))
    page.locator("#title", has_text=f"grid.{form}").wait_for()
    wait(page, "done")
    names = [page.locator(f"#{kind}").get_attribute("download") for kind in ("npz", "csv", "svg")]
    assert names == [f"{stem}.{kind}" for kind in ("npz", "csv", "svg")]


def test_words_of_a_graph_that_is_too_large(tab, plain, site):
    """They are about the page, not about variables of a program; then the page works on."""
    page = tab(plain)
    page.goto(site.url + "#grid300,k=1000")
    page.locator("html[data-state=error]").wait_for(state="attached")
    alert = page.locator("[role=alert]").inner_text()
    assert "FIEDLER" not in alert and "graph 0" not in alert
    assert "512 MiB" in alert and "smaller k" in alert
    page.locator("#samples button", has_text="Karate").click()
    wait_from_error(page)


def test_words_without_an_adapter(tab, plain, site):
    page = tab(plain)
    page.goto(site.url + "#karate,gpu")
    page.locator("html[data-state=error]").wait_for(state="attached")
    alert = page.locator("[role=alert]")
    assert "The browser offers no GPU" in alert.inner_text() and "doctor" not in alert.inner_text()
    alert.locator("button").click()
    wait_from_error(page)


def test_words_that_are_kept(cpu):
    """A sentence of the library about memory that names no variable is shown."""
    script = """async () => {
      const { failure } = await import("./words.js");
      return { result: failure({ kind: "limit", message: "the file has 600 MB" }, "a.txt")[1] };
    }"""
    assert cpu.answer(script).startswith("The file has 600 MB.")
