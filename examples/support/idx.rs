//! Reads the idx format of MNIST: a big-endian header (two zero bytes, the element type, the rank, one extent an axis)
//! and unsigned bytes, gzip-compressed or plain.

use flate2::read::GzDecoder;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// Images and their labels.
#[derive(Debug)]
pub(crate) struct Digits {
    /// Rows of an image.
    pub(crate) rows: usize,
    /// Columns of an image.
    pub(crate) cols: usize,
    /// Grey values, image after image, row after row.
    pub(crate) pixels: Vec<u8>,
    /// The class of each image.
    pub(crate) labels: Vec<u8>,
}

/// An array of bytes as the file holds it.
#[derive(Debug)]
pub(crate) struct Idx {
    /// Extents, first axis first.
    pub(crate) shape: Vec<usize>,
    /// Elements, last axis fastest.
    pub(crate) bytes: Vec<u8>,
}

/// Why a file could not be used.
#[derive(Debug)]
pub(crate) struct IdxError {
    path: PathBuf,
    fault: Fault,
}

#[derive(Debug)]
enum Fault {
    Io(io::Error),
    Gzip(io::Error),
    Magic([u8; 4]),
    Rank { expected: usize, got: usize },
    Header { rank: usize },
    TooLarge { shape: Vec<usize> },
    Length { shape: Vec<usize>, expected: usize, got: usize },
    Trailing { shape: Vec<usize>, expected: usize },
    Count { images: usize, labels: usize },
    Label { at: usize, label: u8, classes: u8 },
}

/// No array is taken whose header promises more than this: a damaged header must not exhaust memory.
const LIMIT: usize = 1 << 31;

impl Digits {
    /// Reads `{set}-images-idx3-ubyte` and `{set}-labels-idx1-ubyte` in `dir`, each with or without `.gz`.
    pub(crate) fn read(dir: &Path, set: &str, classes: u8) -> Result<Digits, IdxError> {
        let images_path = find(dir, &format!("{set}-images-idx3-ubyte"));
        let labels_path = find(dir, &format!("{set}-labels-idx1-ubyte"));
        let images = Idx::read(&images_path, 3)?;
        let labels = Idx::read(&labels_path, 1)?;
        let fail = |fault| Err(IdxError { path: labels_path.clone(), fault });
        if images.shape[0] != labels.shape[0] {
            return fail(Fault::Count { images: images.shape[0], labels: labels.shape[0] });
        }
        if let Some(at) = labels.bytes.iter().position(|&l| l >= classes) {
            return fail(Fault::Label { at, label: labels.bytes[at], classes });
        }
        Ok(Digits { rows: images.shape[1], cols: images.shape[2], pixels: images.bytes, labels: labels.bytes })
    }

    /// How many images there are.
    pub(crate) fn len(&self) -> usize {
        self.labels.len()
    }

    /// The grey values of one image; empty past the end.
    pub(crate) fn image(&self, at: usize) -> &[u8] {
        let n = self.rows * self.cols;
        self.pixels.get(at * n..(at + 1) * n).unwrap_or(&[])
    }
}

impl Idx {
    /// Reads a file that must hold an array of unsigned bytes with `rank` axes.
    pub(crate) fn read(path: &Path, rank: usize) -> Result<Idx, IdxError> {
        let parse = || {
            let mut file = BufReader::new(File::open(path).map_err(Fault::Io)?);
            let gzip = io::BufRead::fill_buf(&mut file).map_err(Fault::Io)?.starts_with(&[0x1f, 0x8b]);
            if !gzip {
                return Idx::parse(file, rank);
            }
            let whole = |fault| if let Fault::Io(e) = fault { Fault::Gzip(e) } else { fault };
            Idx::parse(GzDecoder::new(file), rank).map_err(whole)
        };
        parse().map_err(|fault| IdxError { path: path.to_path_buf(), fault })
    }

    fn parse(mut from: impl Read, rank: usize) -> Result<Idx, Fault> {
        let mut magic = [0; 4];
        read_header(&mut from, &mut magic, rank)?;
        if magic[..3] != [0, 0, 8] {
            return Err(Fault::Magic(magic));
        }
        if usize::from(magic[3]) != rank {
            return Err(Fault::Rank { expected: rank, got: magic[3].into() });
        }
        let mut shape = Vec::with_capacity(rank);
        for _ in 0..rank {
            let mut extent = [0; 4];
            read_header(&mut from, &mut extent, rank)?;
            shape.push(u32::from_be_bytes(extent) as usize);
        }
        let size = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).filter(|&n| n <= LIMIT);
        let Some(expected) = size else { return Err(Fault::TooLarge { shape }) };
        let mut bytes = Vec::new();
        from.take(expected as u64 + 1).read_to_end(&mut bytes).map_err(Fault::Io)?;
        match bytes.len() {
            got if got < expected => Err(Fault::Length { shape, expected, got }),
            got if got > expected => Err(Fault::Trailing { shape, expected }),
            _ => Ok(Idx { shape, bytes }),
        }
    }
}

fn read_header(from: &mut impl Read, into: &mut [u8; 4], rank: usize) -> Result<(), Fault> {
    let short = |e: &io::Error| e.kind() == io::ErrorKind::UnexpectedEof;
    from.read_exact(into).map_err(|e| if short(&e) { Fault::Header { rank } } else { Fault::Io(e) })
}

fn find(dir: &Path, name: &str) -> PathBuf {
    let plain = dir.join(name);
    if plain.exists() { plain } else { dir.join(format!("{name}.gz")) }
}

impl fmt::Display for IdxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.path.display(), self.fault)
    }
}

impl std::error::Error for IdxError {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Io(e) => write!(f, "{e}"),
            Fault::Gzip(e) => write!(f, "starts as a gzip stream, expected a whole one: {e}"),
            Fault::Magic([a, b, kind, _]) => write!(
                f,
                "not an idx file of unsigned bytes: it starts with `{a:02x} {b:02x} {kind:02x}`, expected `00 00 08`"
            ),
            Fault::Rank { expected, got } => {
                write!(f, "holds an array of {got} axes, expected {expected} (3 for images, 1 for labels)")
            }
            Fault::Header { rank } => {
                write!(f, "ends inside its header, expected {} bytes of it", 4 + 4 * rank)
            }
            Fault::TooLarge { shape } => {
                write!(f, "the header promises an array of shape {shape:?}, expected at most {LIMIT} bytes")
            }
            Fault::Length { shape, expected, got } => {
                write!(f, "holds {got} bytes of data, expected {expected} for shape {shape:?}")
            }
            Fault::Trailing { shape, expected } => {
                write!(f, "holds more than the {expected} bytes expected for shape {shape:?}")
            }
            Fault::Count { images, labels } => write!(f, "holds {labels} labels, expected {images}, one an image"),
            Fault::Label { at, label, classes } => {
                write!(f, "label {at} is {label}, expected a class below {classes}")
            }
        }
    }
}
