//! Words, numbers and signs, each with its line.

use super::ParseError;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Word(String),
    /// A number without point or exponent.
    Int(u64),
    Float(f64),
    Sign(&'static str),
    End,
}

impl Token {
    /// The token in a message.
    pub(super) fn phrase(&self) -> String {
        match self {
            Token::Word(word) => format!("`{word}`"),
            Token::Int(n) => format!("`{n}`"),
            Token::Float(n) => format!("`{n:?}`"),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end".to_string(),
        }
    }
}

const SIGNS: &[&str] =
    &["<=", "==", "<", "=", "+", "-", "*", "/", "^", "(", ")", "[", "]", ",", ":", "?", "@", ".", "%", ";"];

/// The tokens of a text. A `;` starts a comment unless it stands in brackets.
pub(super) fn lex(text: &str) -> Result<Vec<(Token, u32)>, ParseError> {
    let mut tokens = vec![];
    let mut line_number = 0;
    for line in text.lines() {
        line_number += 1;
        let (mut rest, mut brackets) = (line.trim_start(), 0i32);
        while !rest.is_empty() {
            let (token, len) = next(rest).ok_or_else(|| ParseError {
                line: line_number,
                expected: "a word, a number or a sign".to_string(),
                found: rest.chars().next().map_or(String::new(), |c| format!("`{c}`")),
            })?;
            match token {
                Token::Sign("[") => brackets += 1,
                Token::Sign("]") => brackets -= 1,
                Token::Sign(";") if brackets <= 0 => break,
                Token::Sign(_) | Token::Word(_) | Token::Int(_) | Token::Float(_) | Token::End => {}
            }
            tokens.push((token, line_number));
            rest = rest[len..].trim_start();
        }
    }
    tokens.push((Token::End, line_number));
    Ok(tokens)
}

fn next(text: &str) -> Option<(Token, usize)> {
    let first = text.chars().next()?;
    if first.is_ascii_alphabetic() || first == '_' {
        let len = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
        return Some((Token::Word(text[..len].to_string()), len));
    }
    if let Some(hex) = text.strip_prefix("0x") {
        let len = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
        return Some((Token::Int(u64::from_str_radix(&hex[..len], 16).ok()?), len + 2));
    }
    if first.is_ascii_digit() {
        return number(text);
    }
    let sign = SIGNS.iter().find(|s| text.starts_with(**s))?;
    Some((Token::Sign(sign), sign.len()))
}

fn number(text: &str) -> Option<(Token, usize)> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let whole = digits(0);
    let mut len = whole;
    if bytes.get(len) == Some(&b'.') && digits(len + 1) > 0 {
        len += 1 + digits(len + 1);
    }
    if matches!(bytes.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(len + 1), Some(b'-' | b'+')));
        if digits(len + 1 + sign) > 0 {
            len += 1 + sign + digits(len + 1 + sign);
        }
    }
    let token =
        if len == whole { Token::Int(text[..len].parse().ok()?) } else { Token::Float(text[..len].parse().ok()?) };
    Some((token, len))
}
