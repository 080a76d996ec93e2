"""Looks at the pages of the dashboard in Chromium, by the WebDriver protocol.

browser.py check LINK TARGET...          tries what a person and an attacker would do; a line for each check
browser.py restart LINK                  looks at a page over a restart of the program that serves it
browser.py screenshots FOLDER LINK TARGET=NAME...
It speaks with the test on its standard streams: "act" asks for a change, or for the restart, and a line on standard input
says that it is done.
"""
import base64, glob, http.server, json, os, re, subprocess, sys, threading, time, urllib.error, urllib.request


class Browser:
    def __init__(self, *arguments):
        self.base = f"http://127.0.0.1:{self.start()}"
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                   "--no-first-run", "--disable-background-networking", *arguments]
        capabilities = {"goog:chromeOptions": {"args": options}, "goog:loggingPrefs": {"browser": "ALL"}}
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self.session = f"/session/{made['sessionId']}"

    def start(self):
        """Starts the driver, and returns its port. It takes one that is free for IPv4, and ends where another process has
        that for IPv6 by then: it is started again."""
        said = []
        for _ in range(5):
            self.driver = subprocess.Popen(
                ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            for line in self.driver.stdout:
                found = re.search(r"successfully on port (\d+)", line)
                if found:
                    return found.group(1)
                said.append(line)
            self.driver.wait()
        raise RuntimeError("chromedriver did not start: " + "".join(said))

    def call(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["error"])

    def open(self, address):
        self.call("POST", self.session + "/url", {"url": address})

    def run(self, script, *values):
        return self.call("POST", self.session + "/execute/sync", {"script": script, "args": list(values)})

    def run_later(self, script, *values):
        return self.call("POST", self.session + "/execute/async", {"script": script, "args": list(values)})

    def tools(self, command, **parameters):
        return self.call("POST", self.session + "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def look(self, width, scheme, height=900):
        self.tools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                   mobile=width < 600)
        self.tools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def keys(self, text):
        actions = []
        for key in text:
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.call("POST", self.session + "/actions", {"actions": [{"type": "key", "id": "k", "actions": actions}]})

    def source(self):
        return self.call("GET", self.session + "/source")

    def address(self):
        return self.call("GET", self.session + "/url")

    def log(self):
        return [line["message"] for line in self.call("POST", self.session + "/se/log", {"type": "browser"})
                if line["level"] in ("SEVERE", "WARNING")]

    def close(self):
        try:
            self.call("DELETE", self.session)
        finally:
            # A parent that ignores SIGTERM leaves that to its children.
            self.driver.kill()
            self.driver.wait()


def say(name, is_good, detail=""):
    print(("ok " if is_good else "not ok ") + name + (f": {detail}" if detail else ""), flush=True)


def wait(browser, script, seconds=20):
    end = time.time() + seconds
    while time.time() < end:
        if browser.run(script):
            return True
        time.sleep(0.02)
    return False


def act():
    print("act", flush=True)
    return float(sys.stdin.readline())


def axe():
    folder = os.path.dirname(os.path.dirname(sys.executable))
    return open(glob.glob(f"{folder}/lib/python3*/site-packages/axe_core_python/**/axe.min.js", recursive=True)[0]).read()


class Attacker(http.server.BaseHTTPRequestHandler):
    """A page of another site that has the person's browser send to the dashboard."""
    target = ""

    def do_GET(self):
        page = f"""<!DOCTYPE html><body><form id=f method=post action="{self.target}/actions" target=w>
        <input name=action value=cancel><input name=all value=1></form><iframe name=w></iframe>
        <iframe id=i src="{self.target}/"></iframe><script>
        document.getElementById("f").submit();
        fetch("{self.target}/", {{credentials: "include"}}).then(a => a.text()).then(t => window.read = t, e => window.read = "");
        </script>"""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(page.encode())

    def log_message(self, *_):
        pass


def check(link, targets):
    origin = re.match(r"http://[^/]+", link).group(0)
    port = origin.rsplit(":", 1)[1]
    browser = Browser(f"--host-resolver-rules=MAP evil.example 127.0.0.1")
    try:
        browser.open(link)
        say("a link signs in", wait(browser, "return location.pathname === '/' && !!document.querySelector('#rows')"))
        checker = axe()
        for target in targets:
            for width in (1280, 390):
                for scheme in ("light", "dark"):
                    browser.look(width, scheme)
                    browser.open(origin + target)
                    name = f"{target} at {width} pixels, {scheme}"
                    wide = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
                    say(f"{name} fits the window", wide <= 0, str(wide))
                    browser.run(checker)
                    found = browser.run_later(
                        "const done = arguments[0]; axe.run(document).then(r => done(r.violations.filter("
                        "v => ['serious', 'critical'].includes(v.impact)).map(v => v.id + ' ' + v.nodes.slice(0, 3)"
                        ".map(n => n.html.slice(0, 120) + ' ' + n.failureSummary.slice(0, 200)).join(' | '))))")
                    say(f"{name} has nothing serious for axe-core", not found, "; ".join(found))
        browser.look(1280, "light")

        browser.open(origin + "/")
        browser.run("window.mark = 1")
        say("the live switch is there", wait(browser, "return document.querySelector('#live .words').textContent === 'Live'"))
        browser.run("""
            window.seen = 0;
            const rows = document.querySelector('#rows');
            new MutationObserver(() => { if (!window.seen && rows.textContent.includes('fresh-1')) window.seen = Date.now(); })
                .observe(rows, {childList: true, subtree: true, characterData: true});""")
        done = act()
        shown = wait(browser, "return window.seen > 0")
        late = browser.run("return window.seen") - done if shown else -1
        say("a new job appears by itself, on the same page", shown and browser.run("return window.mark") == 1, f"{late:.0f} ms")
        has_second = "return document.querySelector('#rows').textContent.includes('fresh-2')"
        browser.run("document.querySelector('#live').click()")
        act()
        time.sleep(0.6)
        say("held back, nothing moves", not browser.run(has_second))
        browser.run("document.querySelector('#live').click()")
        say("let go, it catches up", wait(browser, has_second))

        browser.open(origin + "/")
        reached = []
        for _ in range(60):
            browser.keys("\ue004")
            reached.append(browser.run("const e = document.activeElement; return e.className === 'skip' ? 'skip' : e.id"
                                       " || e.name || e.getAttribute('href') || e.tagName"))
        wanted = ["skip", "/pipelines", "live", "q", "since", "/?state=failed"]
        say("the keyboard reaches everything", all(w in reached for w in wanted) and any(
            r.startswith("/jobs/") for r in reached), ", ".join(w for w in wanted if w not in reached))
        browser.open(origin + "/")
        for _ in range(60):
            browser.keys("\ue004")
            if browser.run("return document.activeElement.getAttribute('href') || ''").startswith("/jobs/"):
                break
        browser.keys("\ue007")
        say("Enter opens a job", wait(browser, "return location.pathname.startsWith('/jobs/')"))

        try:
            browser.call("GET", browser.session + "/alert/text")
            say("hostile texts run no script", False)
        except RuntimeError:
            say("hostile texts run no script", browser.run("return window.pwned") is None)
        # Those that were asked for: an address that is not there, and the streams of pages that were left.
        bad = [line for line in browser.log() if "Content Security Policy" in line or "Uncaught" in line]
        say("no page breaks its own policy, and no script fails", not bad, "; ".join(bad[:3]))

        browser.open(f"http://127.0.0.1:{port}/")
        say("the shared address sends a browser on", browser.address().startswith(origin), browser.address())
        browser.open(f"http://evil.example:{port}/")
        say("a name that was rebound is told nothing", "this is not evil.example" in browser.source())

        Attacker.target = origin
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Attacker)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser.open(f"http://127.0.0.1:{server.server_port}/")
        wait(browser, "return window.read !== undefined")
        say("another site reads nothing", browser.run("return window.read") == "")
        time.sleep(0.5)
        framed = browser.run("try { return document.getElementById('i').contentDocument ? 'open' : '' } catch { return '' }")
        say("another site frames nothing", framed == "" and not any("signed" in l for l in browser.log()))
        server.shutdown()

        browser.open(origin + "/")
        browser.tools("Emulation.setScriptExecutionDisabled", value=True)
        for target in targets:
            browser.open(origin + target)
            source = browser.source()
            say(f"{target} without script", "<h1" in source and "hidden=" in source.split("<main")[0])
    finally:
        browser.close()


def restart(link):
    browser = Browser()
    try:
        browser.open(link)
        say("the page is live", wait(browser, "return document.querySelector('#live .words')?.textContent === 'Live'"))
        act()
        say("a page whose session is gone asks to sign in",
            wait(browser, "return document.querySelector('h1')?.textContent === 'Sign in'"))
    finally:
        browser.close()


def screenshots(folder, link, targets):
    origin = re.match(r"http://[^/]+", link).group(0)
    browser = Browser()
    try:
        browser.open(link)
        wait(browser, "return location.pathname === '/'")
        for pair in targets:
            target, name = pair.rsplit("=", 1)
            for width, scheme in ((1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")):
                browser.look(width, scheme, 844 if width < 600 else 900)
                browser.open(origin + target)
                if "jobs/" in target:
                    browser.run("const d = document.querySelector('.exchange'); if (d) d.open = true")
                time.sleep(0.4)
                size = browser.run("return Math.min(3000, document.documentElement.scrollHeight)")
                shot = browser.tools("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                                     clip={"x": 0, "y": 0, "width": width, "height": size, "scale": 1})
                with open(f"{folder}/{name}-{width}-{scheme}.png", "wb") as file:
                    file.write(base64.b64decode(shot["data"]))
                if width == 1280 and name in ("jobs", "job-waiting"):
                    small = browser.tools("Page.captureScreenshot", format="webp", quality=82, captureBeyondViewport=True,
                                          clip={"x": 0, "y": 0, "width": width, "height": 820, "scale": 0.75})
                    with open(f"{folder}/dashboard-{name}-{scheme}.webp", "wb") as file:
                        file.write(base64.b64decode(small["data"]))
                print("ok", name, width, scheme, flush=True)
    finally:
        browser.close()


if sys.argv[1] == "check":
    check(sys.argv[2], sys.argv[3:])
elif sys.argv[1] == "restart":
    restart(sys.argv[2])
else:
    screenshots(sys.argv[2], sys.argv[3], sys.argv[4:])
