//! A headless Chromium, spoken to over a pipe: no driver, no port, no library.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// Longest wait for an answer: a page of a thousand jobs takes a second.
const PATIENCE: Duration = Duration::from_mins(1);

/// Names under which systems have it.
const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// Where the browser is: `GRISTMILL_BROWSER`, or one of the usual names on the path.
pub fn find() -> Option<PathBuf> {
    if let Some(given) = std::env::var_os("GRISTMILL_BROWSER") {
        return Some(given.into());
    }
    let path = std::env::var_os("PATH")?;
    let places = std::env::split_paths(&path);
    places
        .flat_map(|place| NAMES.map(|name| place.join(name)))
        .find(|file| file.is_file())
}

/// A browser with one page.
pub struct Browser {
    process: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: String,
    next: u64,
    /// What went wrong in the page: exceptions, console errors and warnings, requests of anything
    /// but the page itself.
    pub complaints: Vec<String>,
    loaded: bool,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts the program at `browser`.
    pub fn start(browser: &Path) -> Self {
        let profile = tempfile::tempdir().expect("a directory for the profile");
        // The browser speaks on descriptors 3 and 4; the shell puts ours there.
        let mut process = Command::new("sh")
            .arg("-c")
            .arg("exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null")
            .arg(browser)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--no-first-run",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(profile.path().join("log")).expect("a log of the browser"))
            .spawn()
            .expect("the browser starts");
        let (send, from) = channel();
        let out = process.stdout.take().expect("it is piped");
        thread::spawn(move || {
            let mut out = BufReader::new(out);
            let mut message = Vec::new();
            while out.read_until(0, &mut message).is_ok_and(|bytes| bytes > 0) {
                message.pop();
                let value = serde_json::from_slice(&message).expect("the browser speaks JSON");
                if send.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let to = process.stdin.take().expect("it is piped");
        let mut browser = Self {
            process,
            to,
            from,
            session: String::new(),
            next: 0,
            complaints: Vec::new(),
            loaded: false,
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", &attach);
        let session = attached["sessionId"].as_str().expect("a session");
        session.clone_into(&mut browser.session);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    /// Calls a method of the `DevTools` protocol.
    pub fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.next += 1;
        let mut message = json!({"id": self.next, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = serde_json::to_vec(&message).expect("JSON");
        bytes.push(0);
        self.to.write_all(&bytes).expect("the browser listens");
        loop {
            let answer = self.receive();
            if answer["id"] == json!(self.next) {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
        }
    }

    fn receive(&mut self) -> Value {
        let message = self
            .from
            .recv_timeout(PATIENCE)
            .expect("the browser answers");
        self.listen(&message);
        message
    }

    fn listen(&mut self, message: &Value) {
        let what = &message["params"];
        let complaint = match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => Some(what["exceptionDetails"].to_string()),
            Some("Runtime.consoleAPICalled")
                if ["error", "warning", "assert"]
                    .contains(&what["type"].as_str().unwrap_or("")) =>
            {
                Some(what["args"].to_string())
            }
            Some("Log.entryAdded") if what["entry"]["level"] != "info" => {
                Some(what["entry"].to_string())
            }
            Some("Network.requestWillBeSent") => {
                let address = what["request"]["url"].as_str().unwrap_or("");
                let own = address.starts_with("file:") || address.starts_with("data:");
                (!own).then(|| format!("a request of {address}"))
            }
            Some("Page.loadEventFired") => {
                self.loaded = true;
                None
            }
            _ => None,
        };
        self.complaints.extend(complaint);
    }

    /// Opens a file and waits until its charts are there.
    pub fn open(&mut self, file: &Path) {
        self.loaded = false;
        let address = format!("file://{}", file.display());
        self.call("Page.navigate", &json!({"url": address}));
        while !self.loaded {
            self.receive();
        }
        let ready = "new Promise(done => { const look = () => document.documentElement.dataset.ready \
            || !document.scripts.length \
                     ? requestAnimationFrame(() => requestAnimationFrame(() => done(true))) \
                     : setTimeout(look, 20); look(); setTimeout(() => done(false), 20000); })";
        assert_eq!(
            self.run(ready),
            json!(true),
            "the page never got ready: {:?}",
            self.complaints
        );
    }

    /// Runs an expression in the page; a promise is waited for.
    pub fn run(&mut self, expression: &str) -> Value {
        let answer = self.call(
            "Runtime.evaluate",
            &json!({"expression": expression, "awaitPromise": true, "returnByValue": true}),
        );
        let wrong = &answer["exceptionDetails"];
        assert!(wrong.is_null(), "{expression}: {wrong}");
        answer["result"]["value"].clone()
    }

    /// Makes the window as large as asked, with `density` pixels of the device for one of the page.
    pub fn resize(&mut self, width: u32, height: u32, density: f64) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": density, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    /// What the system prefers: `light` or `dark`.
    pub fn prefer(&mut self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// Moves, presses or releases the mouse.
    pub fn mouse(&mut self, kind: &str, x: f64, y: f64) {
        let pressed = kind != "mouseMoved";
        let event = json!({
            "type": kind, "x": x, "y": y, "clickCount": u8::from(pressed),
            "button": if pressed { "left" } else { "none" },
        });
        self.call("Input.dispatchMouseEvent", &event);
    }

    /// A picture of the whole page, in base64.
    pub fn picture(&mut self) -> String {
        let area = "(({width, height}) => ({x: 0, y: 0, width, height, scale: 1}))(
            document.documentElement.getBoundingClientRect())";
        let clip = self.run(area);
        let wanted = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        let answer = self.call("Page.captureScreenshot", &wanted);
        answer["data"].as_str().expect("a picture").to_owned()
    }

    /// A picture of the window as it is.
    pub fn view(&mut self) -> String {
        let answer = self.call("Page.captureScreenshot", &json!({"format": "png"}));
        answer["data"].as_str().expect("a picture").to_owned()
    }

    /// The page on paper, a PDF in base64.
    pub fn print(&mut self) -> String {
        let wanted = json!({"printBackground": true, "preferCSSPageSize": true});
        let answer = self.call("Page.printToPDF", &wanted);
        answer["data"].as_str().expect("a document").to_owned()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may be gone already; then there is nothing to end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The bytes of what the browser gave in base64.
pub fn decoded(text: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let letters: Vec<u8> = text.bytes().filter(|letter| *letter != b'=').collect();
    let group = |four: &[u8]| {
        let all = four
            .iter()
            .fold(0_u32, |all, letter| all << 6 | u32::from(value(*letter)));
        let bytes = (all << (6 * (4 - four.len()))).to_be_bytes();
        bytes[1..four.len()].to_vec()
    };
    letters.chunks(4).flat_map(group).collect()
}
