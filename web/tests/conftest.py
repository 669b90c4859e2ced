"""Browsers and pages of the tests. Every page is watched: an error, a warning or a request beyond the folder fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

import driver

# How long one call in the page may take. SwiftShader compiles each kernel for seconds.
LIMIT_MS = 240_000


@pytest.fixture(scope="session")
def site():
    site = driver.Site()
    yield site
    site.close()


@pytest.fixture(scope="session")
def playwright():
    with sync_playwright() as playwright:
        yield playwright


def launched(playwright, *flags):
    return playwright.chromium.launch(executable_path=driver.CHROMIUM, args=[*driver.FLAGS, *flags])


@pytest.fixture(scope="session")
def chromium(playwright):
    """A browser with WebGPU on SwiftShader."""
    browser = launched(playwright, *driver.WEBGPU)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def plain(playwright):
    """A browser as it starts without flags. On machines without a GPU, it offers pages no adapter."""
    browser = launched(playwright)
    yield browser
    browser.close()


@pytest.fixture
def tab(request, chromium, site):
    """Makes pages that are watched: `tab(browser, color_scheme="dark")`."""
    watches = []
    contexts = []

    def make(browser=chromium, **settings):
        context = browser.new_context(**settings)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(LIMIT_MS)
        page.watch = driver.Watch(page, site.url)
        watches.append(page.watch)
        return page

    yield make
    site.slow.clear()
    site.missing.clear()
    for context in contexts:
        context.close()
    for watch in watches:
        watch.check()


def driven(browser, site, **options):
    page = browser.new_context().new_page()
    page.set_default_timeout(LIMIT_MS)
    return driver.Driven(page, site, **options)


# Clients that the tests of a file share, since opening a device and compiling its kernels takes long.
@pytest.fixture(scope="session")
def _cpu(chromium, site):
    return driven(chromium, site, backend="cpu")


@pytest.fixture(scope="session")
def _gpu(chromium, site):
    return driven(chromium, site, backend="gpu", software=True)


@pytest.fixture
def cpu(_cpu):
    """A client on the CPU."""
    _cpu.side = "cpu"
    yield _cpu
    _cpu.watch.check()


@pytest.fixture
def gpu(_gpu):
    """A client on SwiftShader."""
    _gpu.side = "gpu"
    yield _gpu
    _gpu.watch.check()


@pytest.fixture(params=["cpu", "gpu"])
def either(request):
    """A client on either side; `either.side` is where it computes."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def shots(tmp_path_factory):
    """The folder of the screenshots, which a person looks at."""
    folder = Path(os.environ.get("FIEDLER_SHOTS") or tmp_path_factory.mktemp("shots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
