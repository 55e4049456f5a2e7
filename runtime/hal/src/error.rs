use crate::DType;
use std::fmt;

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong at run time. The fields are values, so that a program can act on them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// Shapes that do not fit the operation.
    Shape {
        /// The operation, as the user wrote it.
        op: String,
        /// What is wrong, with both sides.
        message: String,
    },
    /// A dtype that the operation does not take.
    Dtype {
        /// The operation, as the user wrote it.
        op: String,
        /// The dtype that was given.
        given: DType,
        /// The dtypes that would have been accepted.
        accepted: Vec<DType>,
    },
    /// The device has no memory left for a request.
    Memory {
        /// The device, such as `cpu`.
        device: String,
        /// Bytes that were asked for; `usize::MAX` stands for any number beyond it.
        asked: usize,
        /// Bytes that this process holds on the device.
        held: usize,
    },
    /// The backend cannot do what it was asked to.
    Backend {
        /// The device, such as `cpu`.
        device: String,
        /// What it cannot do, and what it can.
        message: String,
    },
    /// A file could not be read or written.
    Io {
        /// The path as it was given.
        path: String,
        /// What the operating system says.
        message: String,
    },
    /// A record is damaged or does not fit the model: all faults at once.
    Record {
        /// The path or name of the record.
        record: String,
        /// One line a fault, with what was expected and what was found.
        misfits: Vec<String>,
    },
    /// An argument that is out of its range.
    Argument {
        /// The operation or function.
        op: String,
        /// What was given and what would have been accepted.
        message: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Shape { op, message } => write!(f, "{op}: {message}"),
            Error::Dtype { op, given, accepted } => {
                let names: Vec<String> = accepted.iter().map(|d| format!("`{d}`")).collect();
                write!(f, "{op}: dtype `{given}` cannot be used here; accepted: {}", names.join(", "))
            }
            Error::Memory { device, asked, held } => {
                let asked = if *asked == usize::MAX { "more than 2^64".into() } else { asked.to_string() };
                write!(f, "device `{device}` is out of memory: {asked} bytes asked, {held} bytes held by this process")
            }
            Error::Backend { device, message } => write!(f, "device `{device}`: {message}"),
            Error::Io { path, message } => write!(f, "`{path}`: {message}"),
            Error::Record { record, misfits } => {
                write!(f, "record `{record}`:")?;
                misfits.iter().try_for_each(|m| write!(f, "\n  {m}"))
            }
            Error::Argument { op, message } => write!(f, "{op}: {message}"),
        }
    }
}

impl std::error::Error for Error {}
