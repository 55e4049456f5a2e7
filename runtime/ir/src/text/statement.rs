//! From text to a kernel: statements.

use super::lex::Token;
use super::parse::{Named, Parser, Result};
use crate::build::Builder;
use crate::kernel::{Axis, Id, Kernel, Kind, Mode, Store};

impl Parser {
    pub(super) fn kernels(mut self, lines: bool) -> Result<Kernel> {
        loop {
            if !self.eat_word("kernel") {
                return self.fail("`kernel`");
            }
            let kernel = self.kernel(lines)?;
            if *self.peek() == Token::End {
                return Ok(kernel);
            }
            self.leaked.remove(kernel.name.as_ref());
            self.callees.push(kernel);
        }
    }

    fn kernel(&mut self, lines: bool) -> Result<Kernel> {
        let name = self.word("a name")?;
        self.b = Builder::new(&name);
        self.names.clear();
        self.lets.clear();
        let mut spans = vec![];
        loop {
            self.b.set_span(self.line());
            if self.eat("%") {
                self.definition()?;
            } else if self.eat_word("dim") {
                self.dims()?;
            } else if self.eat_word("axis") {
                self.axes()?;
            } else if self.eat_word("arg") {
                self.arg()?;
            } else if self.eat_word("out") {
                self.output()?;
            } else if self.eat_word("spans") {
                while let Token::Int(n) = *self.peek() {
                    self.next();
                    spans.push(u32::try_from(n).unwrap_or(u32::MAX));
                }
            } else if self.is_word("kernel") || *self.peek() == Token::End {
                break;
            } else {
                return self.fail("`dim`, `axis`, `arg`, `out`, `spans`, `kernel` or a definition");
            }
        }
        let mut kernel = self.b.finish();
        if !lines {
            kernel.spans = spans.into();
        }
        Ok(kernel)
    }

    fn definition(&mut self) -> Result<()> {
        let n = self.whole("the number of a name")?;
        self.expect("=")?;
        let id = self.expression()?;
        self.lets.insert(n, id);
        Ok(())
    }

    /// A name that is not taken; the builder would give a taken one a number.
    fn new_name(&mut self, what: &str) -> Result<String> {
        if let Token::Word(word) = self.peek()
            && self.names.contains_key(word)
        {
            return self.fail(format!("{what} that is not taken"));
        }
        self.word(what)
    }

    fn dims(&mut self) -> Result<()> {
        loop {
            let name = self.new_name("the name of an extent")?;
            let dim = self.b.dim(&name);
            self.names.insert(name, Named::Dim(dim));
            if !self.eat(",") {
                return Ok(());
            }
        }
    }

    fn axes(&mut self) -> Result<()> {
        loop {
            let name = self.new_name("the name of an axis")?;
            self.expect("<")?;
            let extent = self.expression()?;
            let axis = self.b.axis(&name, extent);
            self.names.insert(name, Named::Axis(axis));
            if !self.eat(",") {
                return Ok(());
            }
        }
    }

    fn typed(&mut self) -> Result<(Kind, Vec<Id>)> {
        self.expect(":")?;
        let kind = if let Token::Word(word) = self.peek() { Kind::named(word) } else { None };
        let Some(kind) = kind else { return self.fail("`float`, `int` or `bool`") };
        self.next();
        let dims = if self.is("[") { self.list("[", "]")? } else { vec![] };
        Ok((kind, dims))
    }

    fn arg(&mut self) -> Result<()> {
        let name = self.new_name("the name of an argument")?;
        let (kind, dims) = self.typed()?;
        let arg = self.b.arg(&name, kind, &dims);
        self.names.insert(name, Named::Arg(arg));
        Ok(())
    }

    fn output(&mut self) -> Result<()> {
        let name = self.word("the name of an output")?;
        let (kind, dims) = self.typed()?;
        // An output may be called `add`, and its stores then begin with that word.
        let begins_store = |p: &Parser| matches!(p.peek_at(1), Token::Sign("[" | "="));
        let mode = if begins_store(self) {
            Mode::Set
        } else if self.eat_word("sparse") {
            Mode::SetSparse
        } else if self.eat_word("add") {
            Mode::Add
        } else {
            Mode::Set
        };
        let mut stores = vec![];
        while self.is_word(&name) && begins_store(self) {
            stores.push(self.store()?);
        }
        self.b.output_of(&name, kind, &dims, mode, stores);
        Ok(())
    }

    fn store(&mut self) -> Result<Store> {
        self.next();
        let at = if self.is("[") { self.list("[", "]")? } else { vec![] };
        let mut over: Vec<Axis> = vec![];
        if self.eat_word("over") {
            while !self.is("=") {
                if !over.is_empty() {
                    self.expect(",")?;
                }
                over.push(self.axis_named()?);
            }
        } else {
            over.extend(at.iter().filter_map(|&id| self.b.as_index(id)));
        }
        self.expect("=")?;
        let node = self.expression()?;
        Ok(Store { over: over.into(), at: at.into(), node })
    }
}
