//! The language server protocol: messages in JSON, each behind its length.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// The server process; it ends when this is dropped.
pub(crate) struct Wire {
    server: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    requests: i64,
    /// Whether the server has nothing left to load.
    quiescent: bool,
}

impl Drop for Wire {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Wire {
    pub(crate) fn start(folder: &Path) -> Result<Wire, String> {
        let mut server = Command::new("rust-analyzer")
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("`rust-analyzer` cannot be run: {e}"))?;
        let (Some(to), Some(out)) = (server.stdin.take(), server.stdout.take()) else {
            return Err("`rust-analyzer` has no pipes".into());
        };
        let (sender, from) = mpsc::channel();
        std::thread::spawn(move || {
            let mut out = BufReader::new(out);
            while let Some(message) = receive(&mut out) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        Ok(Wire { server, to, from, requests: 0, quiescent: false })
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) -> Result<(), String> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    /// The result of a request, or its error.
    pub(crate) fn request(&mut self, method: &str, params: &Value, within: Duration) -> Result<Value, String> {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        let end = Instant::now() + within;
        loop {
            let message = self.next(end).map_err(|e| format!("`{method}`: {e}"))?;
            if message.get("method").is_none() && message.get("id").and_then(Value::as_i64) == Some(id) {
                return Ok(message.get("result").or(message.get("error")).cloned().unwrap_or(Value::Null));
            }
            self.serve(&message)?;
        }
    }

    /// Waits until the server has loaded all there is.
    pub(crate) fn settle(&mut self, within: Duration) -> Result<(), String> {
        let end = Instant::now() + within;
        while !self.quiescent {
            let message = self.next(end).map_err(|e| format!("loading the crate: {e}"))?;
            self.serve(&message)?;
        }
        Ok(())
    }

    /// Answers what the server asks, and notes what it says of itself.
    fn serve(&mut self, message: &Value) -> Result<(), String> {
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        if method == "experimental/serverStatus" {
            let status = &message["params"];
            if status["health"] == "error" {
                return Err(format!("`rust-analyzer` is ill: {}", status["message"]));
            }
            self.quiescent = status["quiescent"] == true;
        }
        match message.get("id") {
            Some(id) => self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": null })),
            None => Ok(()),
        }
    }

    fn next(&mut self, end: Instant) -> Result<Value, String> {
        let left = end.saturating_duration_since(Instant::now());
        self.from.recv_timeout(left).map_err(|e| format!("no answer of `rust-analyzer`: {e}"))
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let text = message.to_string();
        let sent = write!(self.to, "Content-Length: {}\r\n\r\n{text}", text.len()).and_then(|()| self.to.flush());
        sent.map_err(|e| format!("`rust-analyzer` does not listen: {e}"))
    }
}

/// The next message, or `None` at the end of the stream.
fn receive(out: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if out.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.trim().parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    out.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
