"""A browser, a server of web/dist, and Client (client.js) driven from Python: arrays in, arrays out."""

from __future__ import annotations

import base64
import functools
import http.server
import importlib.machinery
import importlib.util
import os
import shutil
import threading
import time
import urllib.parse
from pathlib import Path

import numpy as np

WEB = Path(__file__).resolve().parents[1]
DIST = Path(os.environ.get("FIEDLER_WEB_DIST", WEB / "dist"))
CHROMIUM = os.environ.get("FIEDLER_CHROMIUM") or shutil.which("chromium") or "chromium"

# The site lies in a folder of its origin, as on GitHub Pages: a path that begins with a slash fails here.
FOLDER = "/fiedler/"

# Chromium's sandbox does not work in most containers, and their /dev/shm is small. SwiftShader is a part of Chromium,
# so that WebGPU's results are the same on every machine. Compiling on it takes longer than the watchdog waits.
FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run"]
WEBGPU = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--disable-gpu-watchdog"]


def handler():
    """The class of web/serve that knows the types of the files."""
    loader = importlib.machinery.SourceFileLoader("serve", str(WEB / "serve"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("serve", loader))
    loader.exec_module(module)
    return module.Handler


class Site:
    """Serves a folder on a free port. `slow` holds back paths that end so; `missing` answers 404 to them."""

    def __init__(self, folder=DIST):
        if not (folder / "index.html").is_file():
            raise FileNotFoundError(f"{folder} has no index.html; web/build makes it")
        self.slow: dict[str, float] = {}
        self.missing: set[str] = set()
        self.paths: list[str] = []
        site = self

        class Handler(handler()):
            def do_GET(self):
                path = urllib.parse.urlsplit(self.path).path
                site.paths.append(path)
                for end, seconds in list(site.slow.items()):
                    if path.endswith(end):
                        time.sleep(seconds)
                if path == FOLDER + "blank":
                    return self.blank()
                if not path.startswith(FOLDER) or any(path.endswith(end) for end in site.missing):
                    return self.send_error(404)
                self.path = "/" + self.path.removeprefix(FOLDER)
                return super().do_GET()

            def blank(self):
                """A page without anything, of the site's origin, which imports client.js."""
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(b'<!doctype html><html lang="en"><title>blank</title><link rel="icon" href="data:,">')

            def log_message(self, *_):
                pass

            def handle(self):
                try:
                    super().handle()
                except (BrokenPipeError, ConnectionResetError):
                    pass  # the page has left

        make = functools.partial(Handler, directory=str(folder))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), make)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}{FOLDER}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Watch:
    """What went wrong in a page, its workers included, and what it asked for."""

    def __init__(self, page, url):
        self.faults: list[str] = []
        self.requests: list[str] = []
        self.expected: list[str] = []
        self.url = url
        self.page = page
        page.on("pageerror", lambda error: self.faults.append(f"page error: {error}"))
        page.on("crash", lambda _: self.faults.append("the page crashed"))
        page.on("console", self._console)
        page.context.on("request", lambda request: self.requests.append(request.url))

    def _console(self, message):
        if message.type in ("error", "warning"):
            self.faults.append(f"console {message.type}: {message.text}")

    def check(self):
        """Fails if there was an error, a warning, or a request beyond the site's folder. Begins anew."""
        if not self.page.is_closed():
            self.page.evaluate("0")  # what happened before comes before the answer
        faults = [fault for fault in self.faults if not any(words in fault for words in self.expected)]
        faults += [f"request: {url}" for url in self.requests if not url.startswith((self.url, "data:", "blob:"))]
        self.faults.clear()
        self.requests.clear()
        assert not faults, faults


class Failed(Exception):
    """What a promise of Client was rejected with."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.name, self.kind, self.message = error["name"], error["kind"], error["message"]


SETUP = """async () => {
  const { Client } = await import("./client.js");
  window.Client = Client;
  window.client = new Client();
  window.files = {};
  const types = { Float32Array, Float64Array, Uint8Array, Uint32Array, Int32Array };
  window.pack = value => {
    if (ArrayBuffer.isView(value)) {
      const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
      return { $type: value.constructor.name, bytes: bytes.toBase64() };
    }
    if (Array.isArray(value)) return value.map(pack);
    if (value instanceof WebAssembly.Module) return null;
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, pack(part)]));
    }
    return value;
  };
  window.unpack = value => {
    if (Array.isArray(value)) return value.map(unpack);
    if (!value || typeof value !== "object") return value;
    if (value.$file) return window.files[value.$file];
    if (value.$type) return new types[value.$type](Uint8Array.fromBase64(value.bytes).buffer);
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, unpack(part)]));
  };
  window.settled = async promise => {
    try {
      return { result: pack(await promise) };
    } catch (error) {
      return { error: { name: error.name, kind: error.kind ?? null, message: error.message } };
    }
  };
}"""

CALL = "([name, args]) => settled(client[name](...unpack(args)))"
TYPES = {"Float32Array": "<f4", "Float64Array": "<f8", "Uint8Array": "u1", "Uint32Array": "<u4", "Int32Array": "<i4"}


def packed(value):
    """Arrays as the page unpacks them."""
    if isinstance(value, np.ndarray):
        name = next(name for name, kind in TYPES.items() if np.dtype(kind) == value.dtype)
        return {"$type": name, "bytes": base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()}
    if isinstance(value, bytes):
        return packed(np.frombuffer(value, np.uint8))
    if isinstance(value, dict):
        return {name: packed(part) for name, part in value.items()}
    return [packed(part) for part in value] if isinstance(value, (list, tuple)) else value


def unpacked(value):
    """What `pack` of the page has packed."""
    if isinstance(value, list):
        return [unpacked(part) for part in value]
    if not isinstance(value, dict):
        return value
    if "$type" in value:
        return np.frombuffer(base64.b64decode(value["bytes"]), TYPES[value["$type"]])
    return {name: unpacked(part) for name, part in value.items()}


def soon(stop):
    """Checks the demand that a stop takes at most half a second. `stop` returns the seconds of one. The best of three
    counts, because a busy machine adds to a time, and never takes anything off it.
    """
    times = []
    while not times or (times[-1] >= 0.5 and len(times) < 3):
        times.append(stop())
    assert times[-1] < 0.5, times


class Driven:
    """A Client in a blank page. Every method of it can be called; arguments and results may hold arrays."""

    def __init__(self, page, site, **options):
        self.page = page
        self.watch = Watch(page, site.url)
        page.goto(site.url + "blank")
        page.evaluate(SETUP)
        self.options = options
        self.info = self.open(options)

    def __getattr__(self, name):
        return lambda *args: self.answer(CALL, [name, packed(list(args))])

    def answer(self, script, argument=None):
        """The result of a script that returns what `settled` does, or Failed."""
        answer = self.page.evaluate(script, argument)
        if "error" in answer:
            raise Failed(answer["error"])
        return unpacked(answer["result"])

    def file(self, name, data):
        """Lays a file into the page, and returns the input for it: the same object each time, as a visitor's file."""
        script = "([name, data]) => { files[name] ??= new File([unpack(data)], name); }"
        self.page.evaluate(script, [name, packed(data)])
        return {"bytes": {"$file": name}, "name": name}
