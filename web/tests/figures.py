"""Prints what a visitor waits for: sizes, the start, and encodings on the CPU. Nothing is asserted: times depend on the
machine. `web/tests/figures.py` after web/build.
"""

from __future__ import annotations

import statistics
import subprocess
import time

from playwright.sync_api import sync_playwright

import driver
import native
from conftest import launched

# Reading and encoding in the worker, as the page does it, with the time of the way there and back.
TIMED = """async ([input, options]) => {
  const start = performance.now();
  const { seconds, nodes, edges, choice } = await client.encode(unpack(input), options);
  const whole = (performance.now() - start) / 1000;
  return { result: { whole, seconds, nodes, edges, predicted: choice.cpuSeconds } };
}"""


def sizes():
    module = driver.DIST / "pkg" / "fiedler_web_bg.wasm"
    packed = len(subprocess.run(["brotli", "-q", "11", "-c", module], capture_output=True, check=True).stdout)
    print(f"module: {module.stat().st_size:,} bytes, {packed:,} by brotli")
    own = sum(file.stat().st_size for file in driver.DIST.glob("*.*"))
    print(f"page: {own:,} bytes beside it")


def start(browser, site):
    """Times of a cold start: each page has a cache of its own."""
    paints, ready = [], []
    for _ in range(5):
        context = browser.new_context()
        page = context.new_page()
        begun = time.perf_counter()
        page.goto(site.url)
        page.locator("html[data-state=done]").wait_for(state="attached")
        ready.append(time.perf_counter() - begun)
        paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"
        paints.append(page.evaluate(paint) / 1000)
        context.close()
    print(f"first paint after {statistics.median(paints):.2f} s, a spectrum after {statistics.median(ready):.2f} s")


def encodings(browser, site):
    client = driver.Driven(browser.new_context().new_page(), site, backend="cpu")
    client.page.set_default_timeout(0)
    sources = [
        native.karate(),
        native.molecules(1000),
        native.generated("grid", "--rows", 100, "--columns", 200),
        native.generated("preferential", "--nodes", 20_000, "--links", 4),
    ]
    for source in sources:
        for k in (8, 16):
            # Two names, so that both times the file is read.
            files = [client.file(f"{k}-{turn}-{source.name}", source.data) for turn in range(2)]
            first, again = (client.answer(TIMED, [driver.packed(file), {"k": k}]) for file in files)
            print(
                f"{source.name}: {first['nodes']:,} nodes, {first['edges']:,} edges, k = {k}: read and encoded in "
                f"{first['whole']:.3f} s, again in {again['whole']:.3f} s ({again['seconds']:.3f} s of it encoding, "
                f"predicted {again['predicted']:.3f} s)"
            )


def main():
    sizes()
    site = driver.Site()
    with sync_playwright() as playwright:
        browser = launched(playwright)
        start(browser, site)
        encodings(browser, site)
        browser.close()
    site.close()


if __name__ == "__main__":
    main()
