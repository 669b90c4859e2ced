"""What the page says where something is missing: the program, WebAssembly, JavaScript, the device."""

from __future__ import annotations

import pytest

from conftest import launched
from driver import WEBGPU
from test_page import WASM, shown, side, wait, wait_from_error


def test_the_program_is_missing(tab, site, shots):
    """A failed download has words and a button, which loads it again."""
    site.missing.add(WASM)
    page = tab()
    page.watch.expected = ["404"]  # which Chromium writes to the console itself
    page.goto(site.url)
    page.locator("html[data-state=error]").wait_for(state="attached")
    alert = page.locator("[role=alert]")
    assert "could not be loaded" in alert.inner_text()
    page.screenshot(path=shots / "not-loaded.png")
    site.missing.clear()
    alert.locator("button").click()
    wait_from_error(page)
    assert alert.inner_text() == ""


def test_no_webassembly(tab, site, shots):
    page = tab()
    page.add_init_script("delete globalThis.WebAssembly")
    page.goto(site.url)
    page.locator("html[data-state=unsupported]").wait_for(state="attached")
    assert "WebAssembly" in page.locator("[role=alert]").inner_text()
    assert page.locator("#compute").is_disabled()
    page.screenshot(path=shots / "no-webassembly.png")


def test_no_javascript(tab, site, shots):
    page = tab(java_script_enabled=False)
    page.goto(site.url)
    page.screenshot(path=shots / "no-javascript.png")
    assert page.locator("noscript p").is_visible()  # its text is beyond get_by_text
    assert "JavaScript is turned off" in page.locator("noscript p").inner_text()


def test_the_device_is_lost(playwright, tab, site, shots):
    """The next computation says so, and a button opens the device again. The CPU needs none."""
    browser = launched(playwright, *WEBGPU)
    page = shown(tab(browser), site.url)
    page.locator("#use-software").check()
    page.locator("#backend option[value=gpu]:not([disabled])").wait_for(state="attached")
    wait(page, "done")
    page.locator("#backend").select_option("gpu")
    page.locator("html[data-side=gpu]").wait_for(state="attached")
    wait(page, "done")
    page.watch.expected = ["WebGPU", "GPU", "device"]  # which Chromium says about the process that has ended
    browser.new_browser_cdp_session().send("Browser.crashGpuProcess")
    page.locator("#k").fill("6")
    page.locator("#compute").click()
    page.locator("html[data-state=error]").wait_for(state="attached")
    alert = page.locator("[role=alert]")
    assert "The GPU was lost" in alert.inner_text()
    page.screenshot(path=shots / "device-lost.png")
    alert.locator("button").click()
    wait_from_error(page)
    page.locator("#backend").select_option("cpu")
    page.locator("html[data-side=cpu]").wait_for(state="attached")
    wait(page, "done")
    assert side(page) == "cpu"
    page.context.close()
    browser.close()


@pytest.mark.parametrize("hash", ["#karate,k=1000", "#grid2,k=8", "#karate,k=1", "#karate,k=1,drop-trivial"])
def test_odd_numbers_of_pairs(tab, site, hash):
    """More pairs than nodes, and too few for a drawing: a result without an error."""
    page = shown(tab(), site.url, hash)
    assert page.locator("#canvas").is_visible() or page.locator("#undrawn").inner_text()
