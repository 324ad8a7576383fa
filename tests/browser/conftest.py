"""A real browser without a window: Chromium, which `make browser` installs."""

import json
import shutil
from urllib.parse import urlsplit

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from tests.browser.hostile import WATCH
from tests.browser.reader import Reader
from tests.browser.visitor import Visitor

QUIET = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
SOFTWARE_GPU = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")
NO_GPU = ("--disable-3d-apis",)


@pytest.fixture(scope="session")
def chromium():
    """Give the paths of Chromium and of its driver."""
    programs = shutil.which("chromium"), shutil.which("chromedriver")
    if None in programs:
        pytest.fail(
            "The tests of pages need chromium and chromedriver, which `make browser` installs.",
            pytrace=False,
        )
    return programs


@pytest.fixture(scope="session")
def browser_with(chromium, tmp_path_factory):
    """Give a browser that was started with some flags; one for all tests that ask for the same."""
    started = {}

    def browser_with(flags):
        if flags not in started:
            started[flags] = start_browser(chromium, tmp_path_factory.mktemp("browser"), flags)
        return started[flags]

    yield browser_with
    for browser in started.values():
        browser.quit()


def start_browser(chromium, folder, flags):
    """Start a browser with some flags, whose profile is in a folder."""
    program, driver = chromium
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in (*QUIET, *flags, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options, Service(driver))
    browser.set_script_timeout(120)
    return browser


@pytest.fixture
def prepare(browser_with, tmp_path):
    """Give a browser whose pages must have been silent at the end.

    Silent: no error or warning written, and nothing asked of other hosts; that of a file is None.
    """
    used = []

    def prepare(flags, size, hosts):
        browser = browser_with(flags)
        _set_screen(browser, *size)
        saved = {"behavior": "allow", "downloadPath": str(tmp_path / "saved")}
        browser.execute_cdp_cmd("Browser.setDownloadBehavior", saved)
        if (browser, hosts) not in used:
            used.append((browser, hosts))
            _forget(browser)
        return browser

    yield prepare
    for browser, hosts in used:
        assert _complaints(browser) == []
        assert _hosts(browser) <= hosts
        _forget(browser)


@pytest.fixture
def open_page(prepare, tmp_path):
    """Open a page, which asks nothing of any network."""

    def open_page(path, flags=SOFTWARE_GPU, size=(1200, 1000)):
        browser = prepare(flags, size, {None})
        browser.get(path.as_uri())
        browser.execute_async_script(WAIT_FOR_MAPS)
        return Reader(browser, tmp_path / "saved")

    return open_page


@pytest.fixture
def visit(prepare, tmp_path):
    """Open an address on this machine, which asks nothing of any other."""

    def visit(address, size=(1440, 1000)):
        browser = prepare(NO_GPU, size, {"127.0.0.1", None})
        browser.get(address)
        return Visitor(browser, tmp_path / "saved")

    return visit


@pytest.fixture
def prefer(browser_with):
    """Set the color scheme, "light" or "dark", that pages are asked for."""

    def prefer(scheme, flags=SOFTWARE_GPU):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser_with(flags).execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        asked.add(flags)

    asked = set()
    yield prefer
    for flags in asked:
        browser_with(flags).execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.fixture
def unguarded(browser_with):
    """Let pages run what their policies forbid: text must not even become markup."""
    browser = browser_with(NO_GPU)
    browser.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})
    added = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
    yield browser
    browser.execute_cdp_cmd("Page.setBypassCSP", {"enabled": False})
    browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


def _forget(browser):
    """Leave the page, and forget what was logged: it is none of the next test's."""
    browser.get("about:blank")
    for log in ("browser", "performance"):
        browser.get_log(log)


def _set_screen(browser, width, height):
    """Show pages on a screen of some size; below 600 pixels it is a phone's."""
    is_phone = width < 600
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": is_phone})


def _complaints(browser):
    """Return what the page complained about; that a software GPU is slow is none of its doing."""
    entries = [entry for entry in browser.get_log("browser") if entry["level"] != "INFO"]
    return [entry for entry in entries if "GL Driver Message" not in entry["message"]]


def _hosts(browser):
    """Return the machines that the page asked, itself included, or opened a connection to."""
    log = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {entry["method"]: [] for entry in log}
    for entry in log:
        asked[entry["method"]].append(entry["params"])
    urls = [sent["request"]["url"] for sent in asked["Network.requestWillBeSent"]]
    urls += [opened["url"] for opened in asked.get("Network.webSocketCreated", ())]
    assert urls
    within = ("data:", "blob:", "about:")
    return {urlsplit(url).hostname for url in urls if not url.startswith(within)}


WAIT_FOR_MAPS = """
const done = arguments[0]
const look = () => {
  if (window.isosne && Bokeh.documents[0].is_idle) {
    requestAnimationFrame(() => requestAnimationFrame(() => done()))
  } else {
    setTimeout(look, 20)
  }
}
look()
"""
