//! What can be wrong with a kernel.

use crate::kernel::{Fold, Id, Kind};
use std::fmt;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The node that it is about, where it is about one.
    pub node: Option<Id>,
    /// The mistake.
    pub what: What,
}

/// A list of a kernel that nodes index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// `axes`.
    Axis,
    /// `args`.
    Arg,
    /// `dims`.
    Dim,
    /// `callees`.
    Callee,
    /// `outs` of a callee.
    Out,
}

/// The kinds of mistakes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// An operand does not precede its user.
    Order(Id),
    /// There is no such node.
    NoNode(Id),
    /// A run reaches past the links.
    Run,
    /// There is no such entry.
    No {
        /// Where.
        part: Part,
        /// Which.
        index: u32,
    },
    /// An operand of the wrong kind.
    Kind {
        /// The construct.
        of: &'static str,
        /// The operand's kind.
        found: Kind,
        /// The kinds that it takes.
        needs: &'static str,
    },
    /// Operands of different kinds.
    Mixed {
        /// The construct.
        of: &'static str,
        /// The kind of the first.
        first: Kind,
        /// The kind of another.
        other: Kind,
    },
    /// An argument or output and its number of indices.
    Rank {
        /// The argument or output.
        name: String,
        /// Its dimensions.
        rank: usize,
        /// The indices.
        places: usize,
    },
    /// An index that is no integer.
    Place {
        /// The argument or output.
        name: String,
        /// The index's kind.
        found: Kind,
    },
    /// A sum, product or reduction of nothing at all.
    Empty(&'static str),
    /// A power of 0, a huge one, or a negative one in an integer product.
    Power(i64),
    /// A reduction over something that is no axis.
    NotAnAxis,
    /// A reduction that names an axis twice.
    BoundTwice(String),
    /// A scan that cannot be.
    Scan(Fold),
    /// Reductions nested too deeply.
    Depth,
    /// An extent that depends on more than sizes.
    Extent,
    /// A name that is none.
    NotAName(String),
    /// A name that is taken.
    Twice(String),
    /// An output that nothing writes.
    NoStore(String),
    /// A sum of truth values.
    AddsTruth(String),
    /// A store of the wrong kind.
    Stores {
        /// The output.
        name: String,
        /// The value's kind.
        found: Kind,
        /// The output's.
        needs: Kind,
    },
    /// A store that loops over an axis twice.
    OverTwice(String),
    /// A store that needs an axis over which it does not loop.
    NotLooped {
        /// The output.
        name: String,
        /// The axis.
        axis: String,
    },
    /// A callee that has axes or dims.
    CalleeLoops(String),
    /// Callees nested too deeply.
    CallDepth(String),
    /// A callee with a fault.
    Callee {
        /// Its name.
        name: String,
        /// Its first fault.
        fault: Box<What>,
    },
    /// A call of a kernel that cannot be called; the kernel's own fault stands beside.
    Uncallable(String),
    /// A call with the wrong number of arguments.
    Arguments {
        /// The callee.
        name: String,
        /// How many it takes.
        takes: usize,
        /// How many there are.
        given: usize,
    },
    /// Spans that do not match the nodes.
    Spans {
        /// How many spans.
        spans: usize,
        /// How many nodes.
        nodes: usize,
    },
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            What::Order(id) => write!(f, "operand {} does not precede its user", id.0),
            What::NoNode(id) => write!(f, "there is no node {}", id.0),
            What::Run => write!(f, "the operands reach past the end of the list"),
            What::No { part, index } => {
                let part = match part {
                    Part::Axis => "axis",
                    Part::Arg => "argument",
                    Part::Dim => "extent",
                    Part::Callee => "callee",
                    Part::Out => "output of the callee",
                };
                write!(f, "there is no {part} {index}")
            }
            What::Kind { of, found, needs } => write!(f, "`{of}` takes {needs}, but gets {}", found.phrase()),
            What::Mixed { of, first, other } => {
                write!(f, "`{of}` takes operands of one kind, but gets {} and {}", first.phrase(), other.phrase())
            }
            What::Rank { name, rank, places } => {
                write!(
                    f,
                    "`{name}` has {}, but is indexed by {}",
                    counted(*rank, "dimension"),
                    counted(*places, "place")
                )
            }
            What::Place { name, found } => {
                write!(f, "`{name}` is indexed by {}, but an index is an integer", found.phrase())
            }
            What::Empty(of) => write!(f, "`{of}` needs at least one operand"),
            What::Power(0) => write!(f, "a factor cannot have the power 0"),
            What::Power(k) if k.unsigned_abs() > super::POWER => {
                write!(f, "a factor cannot have the power {k}; the limit is {}", super::POWER)
            }
            What::Power(k) => write!(f, "an integer factor cannot have the power {k}; use `quot`"),
            What::NotAnAxis => write!(f, "a reduction is over axes, not over other integers"),
            What::BoundTwice(axis) => write!(f, "the reduction names axis `{axis}` twice"),
            What::Scan(fold) => write!(f, "there is no running `{}`", fold.name()),
            What::Depth => write!(f, "reductions cannot be nested deeper than {}", super::DEPTH),
            What::Extent => write!(f, "an extent is integer arithmetic on sizes and constants alone"),
            What::NotAName(name) => write!(f, "`{name}` is no name; names hold letters, digits and `_`"),
            What::Twice(name) => write!(f, "the name `{name}` is used twice"),
            What::NoStore(name) => write!(f, "nothing is stored to `{name}`"),
            What::AddsTruth(name) => write!(f, "`{name}` holds truth values, which cannot be summed"),
            What::Stores { name, found, needs } => {
                write!(f, "`{name}` holds {}, but {} is stored", needs.phrase(), found.phrase())
            }
            What::OverTwice(axis) => write!(f, "the store loops over axis `{axis}` twice"),
            What::NotLooped { name, axis } => {
                write!(f, "what is stored to `{name}` varies along axis `{axis}`, over which the store does not loop")
            }
            What::CalleeLoops(name) => {
                write!(f, "`{name}` cannot be called in a kernel: it has axes or extents of its own")
            }
            What::CallDepth(name) => {
                write!(f, "calls cannot be nested deeper than {}, as that of `{name}` is", super::DEPTH)
            }
            What::Callee { name, fault } => write!(f, "in `{name}`: {fault}"),
            What::Uncallable(name) => write!(f, "`{name}` cannot be called"),
            What::Arguments { name, takes, given } => {
                write!(f, "`{name}` takes {}, but gets {given}", counted(*takes, "argument"))
            }
            What::Spans { spans, nodes } => {
                write!(f, "there are {} for {}", counted(*spans, "span"), counted(*nodes, "node"))
            }
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.what.fmt(f)
    }
}

impl std::error::Error for Fault {}

fn counted(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
