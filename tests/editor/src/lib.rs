//! A session with rust-analyzer over one file of a small crate: it types, and asks what the editor would show.

mod project;
mod wire;

use serde_json::{Value, json};
use std::time::{Duration, Instant};
use wire::Wire;

pub use project::Project;

/// How long the server may take to load the crate, and to answer one question.
const LOADING: Duration = Duration::from_secs(300);
const ANSWER: Duration = Duration::from_secs(180);
/// The error of an answer that a later change has overtaken.
const CONTENT_MODIFIED: i64 = -32801;
/// What stands for the cursor in a text.
const CURSOR: &str = "$0";

/// A running rust-analyzer with the file of a [`Project`] open.
pub struct Session {
    wire: Wire,
    uri: String,
    version: i64,
    /// What the file holds on disk: edits are made to it.
    text: String,
}

impl Session {
    /// Starts rust-analyzer on the project and waits until it has loaded it.
    ///
    /// # Errors
    /// A text that says what failed.
    pub fn start(project: &Project) -> Result<Session, String> {
        let wire = Wire::start(project.folder())?;
        let uri = format!("file://{}", project.file().display());
        let text = std::fs::read_to_string(project.file()).map_err(|e| e.to_string())?;
        let mut session = Session { wire, uri, version: 1, text };
        let root = format!("file://{}", project.folder().display());
        let capabilities = json!({
            "experimental": { "serverStatusNotification": true },
            "textDocument": { "hover": { "contentFormat": ["plaintext"] } },
        });
        session.wire.request(
            "initialize",
            &json!({
                "processId": std::process::id(),
                "rootUri": root,
                "capabilities": capabilities,
                "initializationOptions": project.settings(),
            }),
            ANSWER,
        )?;
        session.wire.notify("initialized", &json!({}))?;
        let item = json!({ "uri": session.uri, "languageId": "rust", "version": 1, "text": session.text });
        session.wire.notify("textDocument/didOpen", &json!({ "textDocument": item }))?;
        session.wire.settle(LOADING)?;
        Ok(session)
    }

    /// The labels that are offered at the cursor, where the one `old` of the file is `new`, with `$0` at the cursor.
    ///
    /// # Errors
    /// A text that says what failed.
    pub fn completion(&mut self, old: &str, new: &str) -> Result<Vec<String>, String> {
        let answer = self.ask("textDocument/completion", old, new)?;
        let items = answer.get("items").unwrap_or(&answer).as_array().cloned().unwrap_or_default();
        Ok(items.iter().filter_map(|item| Some(item.get("label")?.as_str()?.to_owned())).collect())
    }

    /// What is shown for the name at the cursor; empty for nothing.
    ///
    /// # Errors
    /// A text that says what failed.
    pub fn hover(&mut self, old: &str, new: &str) -> Result<String, String> {
        let answer = self.ask("textDocument/hover", old, new)?;
        Ok(answer.pointer("/contents/value").and_then(Value::as_str).unwrap_or_default().to_owned())
    }

    /// Where the name at the cursor is declared: the file and the text of its line.
    ///
    /// # Errors
    /// A text that says what failed.
    pub fn definition(&mut self, old: &str, new: &str) -> Result<Vec<(String, String)>, String> {
        let answer = self.ask("textDocument/definition", old, new)?;
        let places = answer.as_array().cloned().unwrap_or_default();
        places.iter().map(|place| self.place(place)).collect()
    }

    fn place(&self, place: &Value) -> Result<(String, String), String> {
        let uri = place.get("uri").and_then(Value::as_str).ok_or_else(|| format!("a place without a file: {place}"))?;
        let line = place.pointer("/range/start/line").and_then(Value::as_u64).unwrap_or(0) as usize;
        let path = uri.strip_prefix("file://").unwrap_or(uri);
        let text = match uri == self.uri {
            true => self.text.clone(),
            false => std::fs::read_to_string(path).map_err(|e| format!("`{path}`: {e}"))?,
        };
        Ok((path.to_owned(), text.lines().nth(line).unwrap_or_default().trim().to_owned()))
    }

    /// Edits the file and asks at the cursor. An answer that came too late is asked for again.
    fn ask(&mut self, method: &str, old: &str, new: &str) -> Result<Value, String> {
        let count = self.text.matches(old).count();
        if count != 1 {
            return Err(format!("the file has {count} places `{old}`, expected 1"));
        }
        let edited = self.text.replacen(old, new, 1);
        let at = edited.find(CURSOR).ok_or_else(|| format!("`{new}` has no cursor"))?;
        let text = edited.replacen(CURSOR, "", 1);
        let (line, start) = (text[..at].matches('\n').count(), text[..at].rfind('\n').map_or(0, |n| n + 1));
        let document = json!({ "uri": self.uri, "version": self.version + 1 });
        self.version += 1;
        let change = json!({ "textDocument": document, "contentChanges": [{ "text": text }] });
        self.wire.notify("textDocument/didChange", &change)?;
        let question = json!({
            "textDocument": { "uri": self.uri },
            "position": { "line": line, "character": text[start..at].encode_utf16().count() },
        });
        let end = Instant::now() + ANSWER;
        loop {
            let answer = self.wire.request(method, &question, ANSWER)?;
            let late = answer.get("code").and_then(Value::as_i64) == Some(CONTENT_MODIFIED);
            match late && Instant::now() < end {
                true => std::thread::sleep(Duration::from_millis(200)),
                false => return Ok(answer),
            }
        }
    }
}
