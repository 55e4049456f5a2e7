//! From text to a kernel: expressions. Nodes are made as they are written, faults included, so that the verifier can be
//! tested on them.

use super::lex::{Token, lex};
use crate::build::Builder;
use crate::kernel::{Arg, Axis, Binary, Dim, Fold, Id, Kernel, Kind, Link, Node, Num, Unary};
use std::collections::HashMap;
use std::fmt;

/// Where and why a text is no kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line, from 1.
    pub line: u32,
    /// What could stand there.
    pub expected: String,
    /// What stands there.
    pub found: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: expected {}, found {}", self.line, self.expected, self.found)
    }
}

impl std::error::Error for ParseError {}

pub(super) type Result<T> = std::result::Result<T, ParseError>;

/// The last kernel of a text; those before it are there to be called. Callees live for the whole program, like those
/// of kernels in statics.
///
/// # Errors
/// The first line that is none of the form's, with what was expected there.
pub fn parse(text: &str) -> Result<Kernel> {
    Parser::new(text)?.kernels(false)
}

/// As [`parse`]; the span of each node is the line on which it stands first.
///
/// # Errors
/// As [`parse`].
pub fn parse_with_lines(text: &str) -> Result<Kernel> {
    Parser::new(text)?.kernels(true)
}

/// What a name stands for.
#[derive(Clone, Copy)]
pub(super) enum Named {
    Dim(Dim),
    Axis(Axis),
    Arg(Arg),
}

pub(super) struct Parser {
    tokens: Vec<(Token, u32)>,
    at: usize,
    depth: u32,
    pub(super) b: Builder,
    pub(super) names: HashMap<String, Named>,
    pub(super) lets: HashMap<u64, Id>,
    pub(super) callees: Vec<Kernel>,
    pub(super) leaked: HashMap<String, &'static Kernel>,
}

impl Parser {
    fn new(text: &str) -> Result<Parser> {
        Ok(Parser {
            tokens: lex(text)?,
            at: 0,
            depth: 0,
            b: Builder::default(),
            names: HashMap::new(),
            lets: HashMap::new(),
            callees: vec![],
            leaked: HashMap::new(),
        })
    }

    pub(super) fn peek(&self) -> &Token {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> &Token {
        self.tokens.get(self.at + ahead).map_or(&Token::End, |t| &t.0)
    }

    pub(super) fn line(&self) -> u32 {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |t| t.1)
    }

    pub(super) fn fail<T>(&self, expected: impl Into<String>) -> Result<T> {
        Err(ParseError { line: self.line(), expected: expected.into(), found: self.peek().phrase() })
    }

    pub(super) fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    pub(super) fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(s) if *s == sign)
    }

    pub(super) fn eat(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, sign: &str) -> Result<()> {
        if self.eat(sign) { Ok(()) } else { self.fail(format!("`{sign}`")) }
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(w) if w == word)
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    pub(super) fn word(&mut self, what: &str) -> Result<String> {
        match self.peek().clone() {
            Token::Word(word) => {
                self.at += 1;
                Ok(word)
            }
            Token::Int(_) | Token::Float(_) | Token::Sign(_) | Token::End => self.fail(what),
        }
    }

    pub(super) fn whole(&mut self, what: &str) -> Result<u64> {
        match *self.peek() {
            Token::Int(n) => {
                self.at += 1;
                Ok(n)
            }
            Token::Word(_) | Token::Float(_) | Token::Sign(_) | Token::End => self.fail(what),
        }
    }

    /// Expressions between signs, separated by commas.
    pub(super) fn list(&mut self, open: &str, close: &str) -> Result<Vec<Id>> {
        self.expect(open)?;
        let mut ids = vec![];
        while !self.eat(close) {
            if !ids.is_empty() {
                self.expect(",")?;
            }
            ids.push(self.expression()?);
        }
        Ok(ids)
    }

    pub(super) fn axis_named(&mut self) -> Result<Axis> {
        let (at, word) = (self.at, self.word("an axis")?);
        match self.names.get(&word) {
            Some(&Named::Axis(axis)) => Ok(axis),
            Some(Named::Dim(_) | Named::Arg(_)) | None => {
                self.at = at;
                self.fail("an axis")
            }
        }
    }

    /// A sum, or the one thing that it consists of.
    pub(super) fn expression(&mut self) -> Result<Id> {
        self.depth += 1;
        if self.depth > super::DEPTH {
            return self.fail("an expression that is nested less deeply");
        }
        let id = self.sum()?;
        self.depth -= 1;
        Ok(id)
    }

    fn sum(&mut self) -> Result<Id> {
        let lone = self.eat("+");
        let (mut terms, mut constant) = (Vec::<(Option<Literal>, bool, Id)>::new(), None);
        let mut minus = self.eat("-");
        loop {
            let literal = if self.is_inverse() { None } else { self.literal()? };
            match literal {
                Some(k) if self.eat("*") => {
                    let id = self.product()?;
                    terms.push((Some(k), minus, id));
                }
                Some(_) if constant.is_some() => return self.fail("one constant in a sum"),
                Some(k) => constant = Some((k, minus)),
                None => {
                    let id = self.product()?;
                    terms.push((None, minus, id));
                }
            }
            if self.eat("+") {
                minus = false;
            } else if self.eat("-") {
                minus = true;
            } else {
                break;
            }
        }
        match (terms.as_slice(), constant) {
            ([], Some((Literal::Bool(value), false))) => Ok(self.b.truth(value)),
            ([], Some((k, minus))) => {
                let kind = if matches!(k, Literal::Int(_)) { Kind::Int } else { Kind::Float };
                let value = self.number(k, minus, kind)?;
                Ok(self.b.constant(kind, value))
            }
            (&[(None, false, id)], None) if !lone => Ok(id),
            (_, _) => self.sum_of(&terms, constant),
        }
    }

    fn sum_of(&mut self, terms: &[(Option<Literal>, bool, Id)], constant: Option<(Literal, bool)>) -> Result<Id> {
        let kind = terms.first().map_or(Kind::Float, |t| self.b.kind(t.2));
        let float = kind == Kind::Float;
        let one = if float { Literal::Float(1.0) } else { Literal::Int(1) };
        let mut links = vec![];
        for &(k, minus, id) in terms {
            links.push(Link { k: self.number(k.unwrap_or(one), minus, kind)?, id });
        }
        let c = match constant {
            Some((k, minus)) => self.number(k, minus, kind)?,
            None if float => Num::NO_FLOAT,
            None => Num::int(0),
        };
        let terms = self.b.run(&links);
        Ok(self.b.intern(Node::Sum { kind, c, terms }))
    }

    fn number(&self, literal: Literal, minus: bool, kind: Kind) -> Result<Num> {
        match (literal, kind) {
            (Literal::Int(n), Kind::Int | Kind::Bool) => Ok(Num(if minus { n.wrapping_neg() } else { n })),
            (Literal::Int(n), Kind::Float) => Ok(Num::float(if minus { -(n as f64) } else { n as f64 })),
            (Literal::Float(x), Kind::Float) => Ok(Num::float(if minus { -x } else { x })),
            (Literal::Float(_), Kind::Int | Kind::Bool) => self.fail("an integer before this"),
            (Literal::Bool(_), Kind::Float | Kind::Int | Kind::Bool) => self.fail("a number before this"),
        }
    }

    fn literal(&mut self) -> Result<Option<Literal>> {
        let literal = match self.peek() {
            Token::Int(n) => Literal::Int(*n),
            Token::Float(x) => Literal::Float(*x),
            Token::Word(word) => match word.as_str() {
                "inf" => Literal::Float(f64::INFINITY),
                "nan" => Literal::Float(f64::NAN),
                "true" => Literal::Bool(true),
                "false" => Literal::Bool(false),
                _ => return Ok(None),
            },
            Token::Sign(_) | Token::End => return Ok(None),
        };
        let nan = self.is_word("nan");
        self.at += 1;
        if nan && self.eat("(") {
            let bits = self.whole("the bits of a NaN")?;
            self.expect(")")?;
            return Ok(Some(Literal::Float(f64::from_bits(bits))));
        }
        Ok(Some(literal))
    }

    /// Whether `1 /` follows, which begins a product whose first factor is a divisor.
    fn is_inverse(&self) -> bool {
        *self.peek() == Token::Int(1) && *self.peek_at(1) == Token::Sign("/")
    }

    fn product(&mut self) -> Result<Id> {
        let mut factors = vec![];
        if self.is_inverse() {
            self.next();
        } else {
            factors.push(self.factor(1)?);
        }
        loop {
            let sign = match (self.eat("*"), self.is("/")) {
                (true, _) => 1,
                (false, true) => -1,
                (false, false) => break,
            };
            if sign < 0 {
                self.next();
            }
            factors.push(self.factor(sign)?);
        }
        if let [(id, 1, false)] = factors[..] {
            return Ok(id);
        }
        let kind = factors.first().map_or(Kind::Float, |f| self.b.kind(f.0));
        let links: Vec<Link> = factors.iter().map(|&(id, k, _)| Link { k: Num::int(k), id }).collect();
        let factors = self.b.run(&links);
        Ok(self.b.intern(Node::Prod { kind, factors }))
    }

    /// A factor, its power, and whether the power was written.
    fn factor(&mut self, sign: i64) -> Result<(Id, i64, bool)> {
        let id = self.atom()?;
        if !self.eat("^") {
            return Ok((id, sign, false));
        }
        let minus = self.eat("-");
        let power = i64::try_from(self.whole("a power")?).unwrap_or(i64::MAX);
        Ok((id, sign * if minus { -power } else { power }, true))
    }

    fn atom(&mut self) -> Result<Id> {
        self.b.set_span(self.line());
        if self.eat("(") {
            return self.parenthesis();
        }
        if self.eat("%") {
            let at = self.at;
            let n = self.whole("the number of a name")?;
            return self.lets.get(&n).copied().map_or_else(
                || {
                    self.at = at;
                    self.fail("a name that is defined before")
                },
                Ok,
            );
        }
        if self.eat("@") {
            return self.call();
        }
        if let Some(k) = self.literal()? {
            let (kind, value) = match k {
                Literal::Bool(value) => (Kind::Bool, Num::bool(value)),
                Literal::Int(_) => (Kind::Int, self.number(k, false, Kind::Int)?),
                Literal::Float(_) => (Kind::Float, self.number(k, false, Kind::Float)?),
            };
            return Ok(self.b.constant(kind, value));
        }
        let at = self.at;
        let word = self.word("an expression")?;
        if self.is("(") {
            return self.function(at, &word);
        }
        let guard = self.eat("?");
        if !guard
            && self.is("[")
            && let Some(id) = self.reduction(&word)?
        {
            return Ok(id);
        }
        match self.names.get(&word).copied() {
            Some(Named::Dim(dim)) => Ok(self.b.size(dim)),
            Some(Named::Axis(axis)) => Ok(self.b.index(axis)),
            Some(Named::Arg(arg)) => {
                let places = if self.is("[") { self.list("[", "]")? } else { vec![] };
                let at = self.b.run_of(&places);
                Ok(self.b.intern(Node::Load { arg, at, guard }))
            }
            None => {
                self.at = at;
                self.fail("the name of an extent, an axis or an argument")
            }
        }
    }

    fn parenthesis(&mut self) -> Result<Id> {
        let a = self.expression()?;
        let compare = [Binary::Eq, Binary::Le, Binary::Lt].into_iter().find(|op| self.is(op.name()));
        let id = match compare {
            Some(op) => {
                self.next();
                let b = self.expression()?;
                self.b.intern(Node::Binary(op, a, b))
            }
            None => a,
        };
        self.expect(")")?;
        Ok(id)
    }

    fn function(&mut self, at: usize, word: &str) -> Result<Id> {
        let args = self.list("(", ")")?;
        let node = match args[..] {
            [a] if Unary::named(word).is_some() => Unary::named(word).map(|op| Node::Unary(op, a)),
            [a] => Kind::named(word).map(|kind| Node::Cast(kind, a)),
            [key, at] if word == "random" => Some(Node::Random { key, at }),
            [a, b] => Binary::named(word).map(|op| Node::Binary(op, a, b)),
            [q, a, b] if word == "select" => Some(Node::Select(q, a, b)),
            [..] => None,
        };
        match node {
            Some(node) => Ok(self.b.intern(node)),
            None => {
                self.at = at;
                let s = if args.len() == 1 { "" } else { "s" };
                self.fail(format!("a function of {} argument{s}", args.len()))
            }
        }
    }

    /// A reduction or a scan, if brackets and parentheses follow the word.
    fn reduction(&mut self, word: &str) -> Result<Option<Id>> {
        let fold = Fold::named(word);
        let scan = Fold::ALL.iter().copied().find(|f| f.scan_name() == word);
        let (start, is_arg) = (self.at, self.names.contains_key(word));
        let mut closing = 0;
        while !matches!(self.peek_at(closing), Token::Sign("]") | Token::End) {
            closing += 1;
        }
        let Some(fold) = fold.or(scan) else { return Ok(None) };
        if is_arg && *self.peek_at(closing + 1) != Token::Sign("(") {
            return Ok(None);
        }
        if scan.is_none() {
            let axes = self.list("[", "]")?;
            let axes = self.b.run_of(&axes);
            let body = self.body()?;
            return Ok(Some(self.b.intern(Node::Fold(fold, axes, body))));
        }
        self.at = start;
        self.expect("[")?;
        let axis = self.axis_named()?;
        let (mut reverse, mut exclusive) = (false, false);
        if self.eat(";") {
            reverse = self.eat_word("reverse");
            if !reverse || self.eat(",") {
                exclusive = self.eat_word("exclusive");
            }
        }
        self.expect("]")?;
        let body = self.body()?;
        Ok(Some(self.b.intern(Node::Scan { fold, axis, reverse, exclusive, body })))
    }

    fn body(&mut self) -> Result<Id> {
        self.expect("(")?;
        let body = self.expression()?;
        self.expect(")")?;
        Ok(body)
    }

    fn call(&mut self) -> Result<Id> {
        let at = self.at;
        let name = self.word("the name of a kernel")?;
        let Some(kernel) = self.callee(&name) else {
            self.at = at;
            return self.fail("the name of a kernel that is printed before");
        };
        self.expect(".")?;
        let at = self.at;
        let out = self.word("the name of an output")?;
        let Some(out) = kernel.outs.iter().position(|o| o.name == out) else {
            self.at = at;
            return self.fail(format!("an output of `{name}`"));
        };
        let args = self.list("(", ")")?;
        let callee = self.b.callee(kernel);
        Ok(self.b.call(callee, out as u32, &args))
    }

    fn callee(&mut self, name: &str) -> Option<&'static Kernel> {
        if let Some(&kernel) = self.leaked.get(name) {
            return Some(kernel);
        }
        let kernel = self.callees.iter().rfind(|k| k.name == name)?;
        let kernel: &'static Kernel = Box::leak(Box::new(kernel.clone()));
        self.leaked.insert(name.to_string(), kernel);
        Some(kernel)
    }
}

#[derive(Clone, Copy)]
enum Literal {
    Int(u64),
    Float(f64),
    Bool(bool),
}
