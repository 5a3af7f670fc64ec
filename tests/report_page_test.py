#!/usr/bin/env python3
"""The report page in a real browser: charts drawn, no errors, no network, no overflow on a phone, dark mode, print, tool tips.

    report_page_test.py PROGRAM DIRECTORY     PROGRAM is report_page_test, which writes the pages into DIRECTORY
    report_page_test.py --look PAGE DIRECTORY  writes screenshots of a page (desktop, phone, dark, print) to look at

Chromium is driven over its debugging pipe. Exit code 77 (skipped) when it is not installed.
"""

import base64
import fcntl
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
         "--remote-debugging-pipe"]
DESKTOP = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}
PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}


class Browser:
    """Chromium with one page, spoken to in the DevTools protocol: JSON messages that end with a zero byte."""

    def __init__(self, chromium):
        self.profile = tempfile.TemporaryDirectory(prefix="lrnn-chromium-", ignore_cleanup_errors=True)
        # The browser reads file descriptor 3 and writes 4. High numbers first, so that none of the four ends is 3 or 4.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in os.pipe() + os.pipe()]
        their_input, self.output, self.input, their_output = ends

        def connect():
            os.dup2(their_input, 3)
            os.dup2(their_output, 4)

        self.process = subprocess.Popen([chromium, *FLAGS, f"--user-data-dir={self.profile.name}"], preexec_fn=connect,
                                        pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(their_input)
        os.close(their_output)
        self.buffer, self.count, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            if not select.select([self.input], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("chromium did not answer in time")
            data = os.read(self.input, 1 << 20)
            if not data:
                raise RuntimeError("chromium ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + 60
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, page, metrics=DESKTOP, scheme="light"):
        """Loads the page anew and waits until it is drawn."""
        self.events = []
        self.call("Emulation.setDeviceMetricsOverride", **metrics)
        self.call("Emulation.setEmulatedMedia", media="screen", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=page.resolve().as_uri())
        deadline = time.monotonic() + 60
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive(deadline))
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def errors(self):
        """What the console shows in red, and exceptions nobody caught."""
        found = []
        for event in self.events:
            method, parameters = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                details = parameters["exceptionDetails"]
                found.append(details.get("exception", {}).get("description", details["text"]))
            elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
                found.append(str(parameters["args"]))
            elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                found.append(parameters["entry"]["text"])
        return found

    def requests(self):
        return [event["params"]["request"]["url"] for event in self.events if event["method"] == "Network.requestWillBeSent"]

    def screenshot(self, path):
        self.call("Emulation.setScrollbarsHidden", hidden=True)
        image = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(image))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (RuntimeError, TimeoutError, OSError):
            pass
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.profile.cleanup()


class Checks:
    """Collects what is wrong, so that one run shows all of it."""

    def __init__(self):
        self.failures = []

    def equal(self, what, got, expected):
        if got != expected:
            self.failures.append(f"{what}: expected {expected!r}, got {got!r}")

    def true(self, what, condition, got=""):
        if not condition:
            self.failures.append(f"{what} {got}".rstrip())


def count(browser, selector):
    return browser.evaluate(f"document.querySelectorAll({json.dumps(selector)}).length")


def text(browser, selector="main"):
    return browser.evaluate(f"document.querySelector({json.dumps(selector)}).textContent").replace("\u00a0", " ")


# Elements that reach beyond the right edge, but for those inside a box that scrolls by itself.
OVERFLOW = """[...document.querySelectorAll("main *")].filter((element) => !element.closest(".scroll, pre") &&
  element.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5).map((element) => element.outerHTML.slice(0, 80))"""

# The smallest contrast of text or series colours with the background (WCAG).
CONTRAST = """(() => {
  const probe = document.body.appendChild(document.createElement("i"));
  const light = (color) => {
    probe.style.color = color;
    const [r, g, b] = getComputedStyle(probe).color.match(/[\\d.]+/g).map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const back = light("var(--surface)");
  const names = ["text", "muted", ...[0, 1, 2, 3, 4, 5].map((i) => `series-${i}`)];
  const ratios = names.map((name) => light(`var(--${name})`))
    .map((fore) => (Math.max(fore, back) + 0.05) / (Math.min(fore, back) + 0.05));
  probe.remove();
  return Math.min(...ratios);
})()"""


def check_loaded(browser, checks, page, name):
    checks.equal(f"{name}: errors", browser.errors(), [])
    outside = [url for url in browser.requests() if url != page.resolve().as_uri() and not url.startswith("data:")]
    checks.equal(f"{name}: requests beside the page", outside, [])


def check_charts(browser, checks, page):
    browser.open(page)
    check_loaded(browser, checks, page, "desktop")
    for selector, expected in {
            "h1": 1,
            "#results tbody tr": 4,
            "#by-length .plot svg": 2,
            "#by-length g.curve path": 4,
            "#by-length rect[aria-label='training lengths']": 2,
            "#long .plot svg": 2,
            "#long g.test circle": 4,
            "#spectrum .plot svg": 8,
            "#spectrum rect[aria-label='declared range']": 8,
            "#learning .plot svg": 2,
            "#learning g.curve path": 8,
            "#learning .legend li": 4,
            "#cost tbody tr": 4,
            "#reproduce details": 4,
            "figure": 4,
            "figure > figcaption": 4,
            "figure details table": 4,
            ".plot svg:not([role=img]), .plot svg:not([aria-label])": 0,
            "table:not(:has(caption)), tbody tr:not(:has(th[scope=row])), thead th:not([scope=col])": 0,
    }.items():
        checks.equal(f"number of {selector}", count(browser, selector), expected)
    drawn = browser.evaluate("""[...document.querySelectorAll("g.curve path")].every((path) => path.getTotalLength() > 20)""")
    checks.true("every curve has a length", drawn)
    bars = browser.evaluate("""[...document.querySelectorAll("#spectrum g.histogram")].map((g) => g.children.length)""")
    checks.true("every histogram has bars", len(bars) == 8 and min(bars) > 3, bars)
    dashes = browser.evaluate("""[...document.querySelectorAll("#by-length g.curve")].map((g) => g.getAttribute("stroke-dasharray"))""")
    checks.equal("dashes of the curves by length", dashes, ["5 4", None, "5 4", None])
    colors = browser.evaluate("""[...document.querySelectorAll("#by-length g.curve")].map((g) => getComputedStyle(g).stroke)""")
    checks.true("one colour for each layer", colors[0] == colors[1] != colors[2] == colors[3], colors)
    results = text(browser, "#results")
    for expected in ("Mamba [0, 1]", "DeltaNet [\u22121, 1]", "529,856", "40 to 256 tokens", "100,000 tokens", "Table 3 of the paper"):
        checks.true(f"the table says {expected}", expected in results, results)
    checks.true("commands are shown", "lrnn report " in text(browser, "#reproduce pre"))
    checks.true("hardware is named", "sample data, not measured, 2 threads" in text(browser, "#cost"))


def check_tooltip(browser, checks, page):
    browser.open(page)
    browser.evaluate("""document.querySelector("#by-length").scrollIntoView()""")
    box = browser.evaluate("""(({x, y, width, height}) => ({x, y, width, height}))(
        document.querySelector("#by-length .plot svg").getBoundingClientRect())""")
    for step in (0.5, 0.6):
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=box["x"] + step * box["width"], y=box["y"] + 40)
    browser.evaluate("new Promise((done) => setTimeout(done, 300))")
    tip = text(browser, "#by-length .plot svg g[aria-label=tip]")
    checks.true("a tool tip with the numbers", "scaled accuracy 1.000" in tip and "95 % interval" in tip, tip)


def check_phone(browser, checks, page):
    browser.open(page, PHONE)
    check_loaded(browser, checks, page, "phone")
    checks.equal("phone: width of the layout", browser.evaluate("document.documentElement.clientWidth"), 390)
    checks.equal("phone: width of the document", browser.evaluate("document.documentElement.scrollWidth"), 390)
    checks.equal("phone: elements beyond the right edge", browser.evaluate(OVERFLOW), [])
    scrolled = browser.evaluate("""[...document.querySelectorAll("#results .scroll")].map((box) => box.scrollWidth - box.clientWidth)""")
    checks.equal("phone: the table of results fits", scrolled, [0])
    small = browser.evaluate("""Math.min(...[...document.querySelectorAll("#by-length svg text")].filter((text) => text.textContent)
        .map((text) => parseFloat(getComputedStyle(text).fontSize)))""")
    checks.true("phone: text of figures is at least 10 pixels", small >= 10, small)
    # Turned to landscape, the panels are drawn anew at the new width.
    browser.call("Emulation.setDeviceMetricsOverride", **{**PHONE, "width": 844, "height": 390})
    browser.evaluate("new Promise((done) => setTimeout(done, 300))")
    widths = browser.evaluate("""[...document.querySelectorAll("#by-length .plot")].map((box) =>
        Math.abs(box.clientWidth - box.querySelector("svg").getAttribute("width")))""")
    checks.true("phone: panels are redrawn for landscape", max(widths) <= 1, widths)


def check_colors(browser, checks, page):
    for scheme in ("light", "dark"):
        browser.open(page, scheme=scheme)
        light = browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        checks.equal(f"{scheme}: white background", light, scheme == "light")
        contrast = browser.evaluate(CONTRAST)
        checks.true(f"{scheme}: contrast of at least 4", contrast >= 4, contrast)


def check_print(browser, checks, page):
    browser.open(page, scheme="dark")
    pdf = base64.b64decode(browser.call("Page.printToPDF", printBackground=False, preferCSSPageSize=False)["data"])
    checks.true("print: a document with pages", pdf.startswith(b"%PDF") and len(pdf) > 20000, len(pdf))
    browser.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    checks.equal("print: background", browser.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")


def check_partial(browser, checks, page):
    browser.open(page)
    check_loaded(browser, checks, page, "partial")
    checks.equal("partial: injected elements", count(browser, "#injected, main b:not(.score b)"), 0)
    content = text(browser)
    for expected in ("interrupted at step 300 of 600", "not tested", "No run has a spectrum yet", "Not evaluated yet: DeltaNet [\u22121, 1]",
                     '</script><b id=\\"injected\\">'):
        checks.true(f"partial: says {expected}", expected in content)
    checks.equal("partial: curves by length", count(browser, "#by-length g.curve path"), 1)


def check_experiment(browser, checks, page):
    browser.open(page)
    check_loaded(browser, checks, page, "experiment")
    for selector, expected in {
            "h1": 1,
            "#results table": 2,
            "#results tbody tr": 12,
            "#by-length .plot svg[role=img]": 12,
            "#by-length g.curve path": 18,
            "#by-length g.paper path": 18,
            "#by-length rect[aria-label='training lengths']": 12,
            "#learning .plot svg": 3,
            "#learning g.curve path": 18,
            "#cost tbody tr": 18,
            "#failures li": 1,
            "#reproduce details": 18,
            ".plot svg:not([aria-hidden]):is(:not([role=img]), :not([aria-label]))": 0,
            "table:not(:has(caption)), tbody tr:not(:has(th[scope=row])), thead th:not([scope=col])": 0,
    }.items():
        checks.equal(f"experiment: number of {selector}", count(browser, selector), expected)
    drawn = browser.evaluate("""[...document.querySelectorAll("g.curve path, g.paper path")].every((path) => path.getTotalLength() > 20)""")
    checks.true("experiment: every curve has a length", drawn)
    results = text(browser, "#results")
    for expected in ("Modular arithmetic, no brackets", "paper 0.612", "paper 0.422 \u00b1 0.189", "3 seeds", "2 seeds", "Table 5"):
        checks.true(f"experiment: the table says {expected}", expected in results, results)
    checks.true("experiment: the failed run", "the loss is nan at step 17" in text(browser, "#failures"))
    checks.true("experiment: the command", "lrnn reproduce table3 --budget short" in text(browser, "#reproduce pre"))
    browser.open(page, PHONE)
    check_loaded(browser, checks, page, "experiment on a phone")
    checks.equal("experiment on a phone: width of the document", browser.evaluate("document.documentElement.scrollWidth"), 390)
    checks.equal("experiment on a phone: elements beyond the right edge", browser.evaluate(OVERFLOW), [])
    check_print(browser, checks, page)


def test(program, directory):
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("report_page_test: skipped: chromium is not installed (tools/setup.sh installs it)")
        return SKIPPED
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    subprocess.run([program, str(directory)], check=True)
    checks, browser = Checks(), Browser(chromium)
    try:
        for check in (check_charts, check_tooltip, check_phone, check_colors, check_print):
            check(browser, checks, directory / "report.html")
        check_partial(browser, checks, directory / "partial.html")
        check_experiment(browser, checks, directory / "experiment.html")
    finally:
        browser.close()
    for failure in checks.failures:
        print(f"report_page_test: {failure}")
    return 1 if checks.failures else 0


def look(page, directory):
    directory.mkdir(parents=True, exist_ok=True)
    browser = Browser(shutil.which("chromium"))
    try:
        for name, metrics, scheme in (("desktop", DESKTOP, "light"), ("dark", DESKTOP, "dark"), ("phone", PHONE, "light")):
            browser.open(page, metrics, scheme)
            browser.screenshot(directory / f"{name}.png")
        browser.open(page)
        pdf = browser.call("Page.printToPDF", printBackground=False, paperWidth=8.27, paperHeight=11.69, preferCSSPageSize=True)["data"]
        (directory / "print.pdf").write_bytes(base64.b64decode(pdf))
    finally:
        browser.close()
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--look":
        sys.exit(look(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])))
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(test(sys.argv[1], pathlib.Path(sys.argv[2])))
