//! Runs a page in a headless Chromium and returns what the page reports. A local server hands out the page, because
//! WebGPU exists only in secure contexts. The pages of 127.0.0.1 are secure contexts; files are not.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};
use std::{env, thread};

/// The environment variable with the path of a Chromium that is not on the search path.
const PATH: &str = "FIEDLER_CHROMIUM";
/// The environment variable that lists the adapters that have to be there. SwiftShader is a part of Chromium.
const REQUIRE: &str = "FIEDLER_REQUIRE_ADAPTERS";
/// The names of Chromium's and Chrome's commands.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The flags besides the folder of the profile. SwiftShader is the WebGPU adapter on every machine, so that the
/// results do not depend on the machine. Chromium offers it to pages only if unsafe adapters are enabled. Chromium's
/// sandbox does not work in most containers. The watchdog would end a GPU process that compiles for a long time.
const FLAGS: [&str; 8] = [
    "--headless=new",
    "--no-sandbox",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--enable-unsafe-webgpu",
    "--use-webgpu-adapter=swiftshader",
    "--disable-gpu-watchdog",
];

/// The time after which a connection without a request is closed. Chromium opens connections in advance, and may never
/// use them.
const REQUEST_LIMIT: Duration = Duration::from_secs(30);

/// Returns the path of Chromium.
///
/// # Errors
/// If this machine has no Chromium. The message says where it was looked for.
pub fn find() -> Result<PathBuf, String> {
    if let Some(path) = env::var_os(PATH).map(PathBuf::from) {
        return if path.is_file() { Ok(path) } else { Err(format!("{PATH}={} is no file", path.display())) };
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&folders)
        .flat_map(|folder| NAMES.map(|name| folder.join(name)))
        .find(|path| path.is_file())
        .ok_or_else(|| format!("no {} is on the search path, and {PATH} is not set", NAMES.join(", ")))
}

/// Returns why a test that needs Chromium cannot run: if this machine has no Chromium, and neither the path of one nor
/// SwiftShader was asked for.
pub fn missing() -> Option<String> {
    let required = env::var_os(PATH).is_some() || env::var(REQUIRE).is_ok_and(|names| names.contains("SwiftShader"));
    find().err().filter(|_| !required)
}

/// Runs `page` in Chromium. The page may fetch `data`, and has to post its report to `report`.
///
/// # Errors
/// If there is no Chromium, or if it ends or the time is over before the page has reported. The message contains the
/// last lines that Chromium printed.
pub fn report(page: &'static str, data: String, limit: Duration) -> Result<String, String> {
    let failed = |what: &'static str| move |e: io::Error| format!("cannot {what}: {e}");
    let chromium = find()?;
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(failed("listen on 127.0.0.1"))?;
    listener.set_nonblocking(true).map_err(failed("listen without waiting"))?;
    let address = listener.local_addr().map_err(failed("find the port"))?;
    let folder = tempfile::tempdir().map_err(failed("make a folder for Chromium"))?;
    let log = folder.path().join("log");
    let out = File::create(&log).map_err(failed("make a file for Chromium's output"))?;
    let started = Instant::now();
    let mut browser = Command::new(&chromium);
    browser.args(FLAGS).arg(format!("--user-data-dir={}", folder.path().join("profile").display()));
    browser
        .env("TMPDIR", folder.path())
        .arg(format!("http://{address}/"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(out);
    let mut browser = Browser(browser.spawn().map_err(|e| format!("cannot start {}: {e}", chromium.display()))?);
    let data = Arc::new(data);
    let (sender, reports) = channel();
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                let (data, sender) = (Arc::clone(&data), sender.clone());
                // A failed connection has no consequence but that the page reports nothing.
                thread::spawn(move || answer(&stream, page, &data, &sender));
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => thread::sleep(Duration::from_millis(5)),
            Err(e) => return Err(failed("accept a connection")(e)),
        }
        if let Ok(report) = reports.try_recv() {
            return Ok(report);
        }
        let ended = browser.0.try_wait().map_err(failed("wait for Chromium"))?;
        let why = match ended {
            Some(status) => format!("Chromium ended with {status}"),
            None if started.elapsed() > limit => format!("the page did not report within {} s", limit.as_secs()),
            None => continue,
        };
        return Err(format!("{why}; the last lines that Chromium printed:\n{}", end(&log)));
    }
}

/// A Chromium that ends when it is dropped. Its other processes end with the one that was started.
struct Browser(Child);

impl Drop for Browser {
    fn drop(&mut self) {
        // Either call fails only if the process has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Answers the request of a connection. Sends the body of a request to `/report` to `reports`.
fn answer(stream: &TcpStream, page: &str, data: &str, reports: &Sender<String>) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(REQUEST_LIMIT))?;
    let mut reader = BufReader::new(stream);
    let mut request = String::new();
    reader.read_line(&mut request)?;
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut writer = stream;
    let mut reply = |status: &str, kind: &str, body: &str| {
        let head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n", body.len());
        writer.write_all(format!("{head}Connection: close\r\n\r\n{body}").as_bytes())
    };
    match request.split(' ').nth(1) {
        Some("/") => reply("200 OK", "text/html; charset=utf-8", page),
        Some("/data") => reply("200 OK", "application/json", data),
        Some("/report") => {
            let mut body = Vec::new();
            reader.take(length).read_to_end(&mut body)?;
            reply("200 OK", "text/plain", "")?;
            // The receiver is gone if the time was over.
            let _ = reports.send(String::from_utf8_lossy(&body).into_owned());
            Ok(())
        }
        _ => reply("404 Not Found", "text/plain", ""),
    }
}

/// Returns the last lines of a file.
fn end(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}
