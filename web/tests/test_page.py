"""The page: what a visitor sees and does, in every state, with WebGPU and without."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

import native
from conftest import launched
from driver import soon
from sameness import compare, same_bits

WASM = "fiedler_web_bg.wasm"


def wait(page, *states):
    """Waits for one of the states. An error that is not waited for fails with its words."""
    end = {*states, "error"}
    page.locator(", ".join(f"html[data-state={state}]" for state in sorted(end))).wait_for(state="attached")
    state = page.locator("html").get_attribute("data-state")
    assert state in states, page.locator("#alert").inner_text()


def shown(page, url, hash=""):
    page.goto(url + hash)
    wait(page, "done")
    return page


def side(page):
    return page.locator("html").get_attribute("data-side")


def opened(page, name, data):
    """Chooses a file, as by the dialog."""
    page.set_input_files("#file", {"name": name, "mimeType": "application/octet-stream", "buffer": data})


def downloaded(page, link):
    with page.expect_download() as download:
        page.locator(link).click()
    path = download.value.path()
    return download.value.suggested_filename, path.read_bytes()


def test_the_first_sight(tab, site, shots):
    """Without a link, the page shows the karate club."""
    page = shown(tab(), site.url)
    assert side(page) == "cpu"
    assert "Karate" in page.locator("#title").inner_text() or "karate" in page.locator("#title").inner_text()
    assert page.locator("#status").inner_text().startswith("Done")
    assert "Converged" in page.locator("#certificates").inner_text()
    label = page.locator("#canvas").get_attribute("aria-label")
    assert "34 nodes" in label and "78 edges" in label
    assert "nothing is uploaded" in page.locator("body").inner_text()
    page.screenshot(path=shots / "done.png", full_page=True)


def test_paint_before_the_program(tab, site, shots):
    """The page has words within a second, while the program is still on its way. That is a demand, not a benchmark."""
    site.slow[WASM] = 3
    page = tab()
    page.goto(site.url)
    page.locator("h1").wait_for(timeout=1000)
    assert page.locator("html").get_attribute("data-state") == "loading"
    assert "Loading" in page.locator("#status").inner_text()
    page.screenshot(path=shots / "loading.png")
    wait(page, "done")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    assert paint < 1000


def test_without_an_adapter(tab, plain, site, shots):
    """A browser without WebGPU's adapter computes on the CPU, and says so."""
    page = shown(tab(plain), site.url)
    assert side(page) == "cpu"
    words = page.locator("#device").inner_text()
    assert "Everything is computed on the CPU" in words and "no GPU" in words
    assert page.locator("#backend option[value=gpu]").is_disabled()
    page.locator("#compare").click()
    page.locator("#timing table").wait_for()
    wait(page, "done")
    page.screenshot(path=shots / "without-adapter.png", full_page=True)


def test_without_webgpu(playwright, site, tab, shots):
    """`navigator.gpu` is missing where a page comes by HTTP from another machine."""
    browser = launched(playwright, "--host-resolver-rules=MAP insecure.test 127.0.0.1")
    page = tab(browser)
    page.watch.url = site.url.replace("127.0.0.1", "insecure.test")
    shown(page, page.watch.url)
    assert not page.evaluate("'gpu' in navigator")
    assert side(page) == "cpu"
    assert "Everything is computed on the CPU" in page.locator("#device").inner_text()
    page.screenshot(path=shots / "without-webgpu.png", full_page=True)
    page.context.close()
    browser.close()


def test_the_software_adapter(tab, site, shots):
    """It is offered, not used; once it is allowed, the GPU can be chosen, and compared."""
    page = shown(tab(), site.url)
    assert page.locator("#software").is_visible()
    page.locator("#use-software").check()
    wait(page, "done")
    page.locator("#device", has_text="Software adapter").wait_for()
    page.locator("#backend").select_option("gpu")
    page.locator("html[data-side=gpu]").wait_for(state="attached")
    wait(page, "done")
    assert "on the GPU" in page.locator("#status").inner_text()
    page.locator("#compare").click()
    page.locator("#timing .verdict", has_text="software").wait_for()
    wait(page, "done")
    assert "software" in page.locator("#timing").inner_text()
    page.screenshot(path=shots / "compared.png", full_page=True)


@pytest.mark.parametrize("way", ["chosen", "dropped"])
def test_a_file_and_its_downloads(tab, site, way):
    """The files of the page are what the command writes for the same file."""
    source = native.molecules()
    page = shown(tab(accept_downloads=True), site.url)
    if way == "chosen":
        opened(page, source.name, source.data)
    else:
        drop = """([name, bytes]) => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File([Uint8Array.from(bytes)], name));
          for (const type of ["dragenter", "dragover", "drop"]) {
            document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
          }
        }"""
        page.evaluate(drop, [source.name, list(source.data)])
    page.locator("#title", has_text=source.name).wait_for()
    wait(page, "done")
    assert source.name in page.locator("#chosen").inner_text()
    name, data = downloaded(page, "#npz")
    assert name == "molecules.npz"
    compare(source.graphs, "symmetric", native.npz(data), native.encode(source))
    name, data = downloaded(page, "#csv")
    assert name == "molecules.csv" and data.count(b"\n") == 1 + sum(n for n, _ in source.graphs)
    name, data = downloaded(page, "#svg")
    assert name == "molecules.svg" and data.startswith(b"<svg") and b"<script" not in data


def test_the_sample_and_the_file(tab, site):
    """The karate club as a sample gives the bytes of the file in examples/data."""
    page = shown(tab(), site.url)
    sample = native.npz(downloaded(page, "#npz")[1])
    source = native.karate()
    opened(page, source.name, source.data)
    page.locator("#title", has_text=source.name).wait_for()
    wait(page, "done")
    file = native.npz(downloaded(page, "#npz")[1])
    same_bits({name: sample[name] for name in ("eigenvalues", "eigenvectors", "tie_group")}, {
        name: file[name] for name in ("eigenvalues", "eigenvectors", "tie_group")
    })
    assert file["node_ids"].tolist() == list(range(1, 35))


def test_a_refused_file(tab, site, shots, tmp_path):
    """The alert has the words of the parser, which are the command's; then the page works on."""
    text = b"0 1\n1 2\n2 three four five\n"
    page = shown(tab(), site.url)
    opened(page, "cut.txt", text)
    page.locator("html[data-state=error]").wait_for(state="attached")
    alert = page.locator("[role=alert]").inner_text()
    (tmp_path / "cut.txt").write_bytes(text)
    call = [native.COMMAND, "encode", tmp_path / "cut.txt", "-o", tmp_path / "x.npz"]
    words = subprocess.run(call, capture_output=True, text=True, check=False).stderr
    words = words.replace(str(tmp_path / "cut.txt"), "cut.txt").removeprefix("fiedler: ").strip().splitlines()[0]
    assert words.casefold().rstrip(".") in alert.casefold(), words
    page.screenshot(path=shots / "refused.png", full_page=True)
    page.locator("#samples button", has_text="Grid").click()
    wait_from_error(page)


def wait_from_error(page):
    """Waits for a result after an error: its state is there until the next computation begins."""
    page.locator("html:not([data-state=error])").wait_for(state="attached")
    wait(page, "done")


def test_links(tab, site):
    """A link carries the sample and the options, both ways."""
    page = shown(tab(), site.url, "#grid30,k=8,rw")

    def fields():
        values = {name: page.locator(f"#{name}").input_value() for name in ("k", "laplacian", "which", "backend")}
        return {**values, "drop": page.locator("#drop").is_checked()}

    pressed = "#samples [aria-pressed=true]"
    plain = {"k": "8", "laplacian": "random-walk", "which": "smallest", "backend": "auto", "drop": False}
    assert fields() == plain
    assert page.locator(pressed).inner_text() == "Grid"
    label = page.locator("#canvas").get_attribute("aria-label")
    assert "900 nodes" in label and "random-walk" in label
    page.evaluate("location.hash = '#karate,k=3,comb,largest,drop-trivial'")
    page.locator("#title", has_text="karate").wait_for()
    wait(page, "done")
    changed = {"k": "3", "laplacian": "combinatorial", "which": "largest", "backend": "auto", "drop": True}
    assert fields() == changed
    page.locator("#k").fill("5")
    page.locator("#compute").click()
    page.locator("#values tbody tr:nth-child(5)").wait_for(state="attached")
    wait(page, "done")
    page.reload()
    wait(page, "done")
    assert fields() == {**changed, "k": "5"}
    page.evaluate("location.hash = '#no-such,k=8'")
    page.locator("[role=alert]", has_text="no-such").wait_for()
    wait(page, "done")


def graph_is(page, number):
    page.locator("#certificates").get_by_role("columnheader", name=f"Graph {number}", exact=True).wait_for()


def test_a_set_of_graphs(tab, site, shots):
    """One graph of a set is drawn; the others are a step away, by keyboard too."""
    page = shown(tab(), site.url, "#ties,graph=2")
    number = page.locator("#number")
    assert number.input_value() == "2" and page.locator("#of").inner_text() == "of 40"
    first = page.locator("#canvas").get_attribute("aria-label")
    page.locator("#next").focus()
    page.keyboard.press("Enter")
    graph_is(page, 3)
    assert number.input_value() == "3" and page.locator("#canvas").get_attribute("aria-label") != first
    number.fill("40")
    number.press("Enter")
    graph_is(page, 40)
    assert page.locator("#next").is_disabled()
    assert "graph=40" in page.url
    page.screenshot(path=shots / "set.png", full_page=True)


def test_every_graph_of_a_set_can_be_shown(tab, site):
    """Also those of one node, without edges, and in components: a drawing, or a word why there is none."""
    source = native.tied()
    page = shown(tab(), site.url)
    opened(page, source.name, source.data)
    page.locator("#title", has_text=source.name).wait_for()
    wait(page, "done")
    for graph in range(1, len(source.graphs) + 1):
        graph_is(page, graph)
        words = page.locator("#undrawn").inner_text() if page.locator("#undrawn").is_visible() else ""
        assert page.locator("#canvas").is_visible() or words, f"graph {graph}"
        if graph < len(source.graphs):
            page.locator("#next").click()


STOP = """() => new Promise(resolve => {
  const start = performance.now();
  const root = document.documentElement;
  new MutationObserver(() => {
    if (root.dataset.state === "stopped") resolve((performance.now() - start) / 1000);
  }).observe(root, { attributeFilter: ["data-state"] });
  document.getElementById("stop").click();
})"""


def test_stop(tab, site, shots):
    """The button ends a long computation within half a second, and the next one works."""
    page = tab()
    page.goto(site.url + "#grid300,k=64")
    wait(page, "computing")

    def stop():
        if page.locator("html").get_attribute("data-state") == "stopped":
            page.locator("#compute").click()
            wait(page, "computing")
        page.wait_for_timeout(500)
        page.screenshot(path=shots / "computing.png")
        return page.evaluate(STOP)

    soon(stop)
    assert "Stopped" in page.locator("#status").inner_text()
    page.screenshot(path=shots / "stopped.png")
    page.locator("#samples button", has_text="Karate").click()
    wait(page, "done")
    value = page.locator("#values tbody tr:nth-child(2) td").first.text_content()
    assert np.isclose(float(value), 0.1322722, atol=1e-5)


@pytest.mark.parametrize("pause", [50, 230, 260])
def test_quick_changes(tab, site, pause):
    """Changes that come faster than the worker restarts, which takes 200 ms and the loading: the last one is shown."""
    page = tab()
    page.goto(site.url + "#grid300,k=64")
    wait(page, "computing")
    page.wait_for_timeout(500)
    site.slow["pkg/fiedler_web.js"] = 0.15
    changes = """async pause => {
      for (const hash of ["#grid300,k=63", "#grid300,k=62", "#karate,k=5"]) {
        location.hash = hash;
        await new Promise(resolve => setTimeout(resolve, pause));
      }
    }"""
    page.evaluate(changes, pause)
    page.locator("#title", has_text="karate").wait_for()
    wait(page, "done")
    assert page.locator("#values tbody tr").count() == 5
