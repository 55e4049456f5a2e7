//! A model as a table of its tensors.

use crate::model::{Erased, Leaf, Model, Path, Ties};
use cotangent_hal::DType;
use std::fmt;

/// The tensors of a model, in order.
#[derive(Clone, Debug)]
pub struct Summary {
    /// [`Model::NAME`].
    pub name: &'static str,
    /// One row a tensor.
    pub rows: Vec<Row>,
}

/// One tensor.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its path.
    pub path: String,
    /// Its extents.
    pub shape: Vec<usize>,
    /// The type of an element.
    pub dtype: DType,
    /// What it is.
    pub mark: Mark,
}

/// What a tensor of a model is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A parameter that is trained.
    Param,
    /// A parameter that is not.
    Frozen,
    /// State.
    State,
    /// A second name of another row.
    Tied,
}

impl Summary {
    /// The table of a model.
    pub fn of<M: Model>(model: &M) -> Summary {
        Summary { name: M::NAME, rows: rows(model) }
    }

    /// The number of elements in parameters, trained or frozen; tied ones once.
    pub fn parameters(&self) -> usize {
        self.count(&[Mark::Param, Mark::Frozen])
    }

    fn count(&self, marks: &[Mark]) -> usize {
        self.rows.iter().filter(|r| marks.contains(&r.mark)).map(Row::numel).sum()
    }
}

impl Row {
    /// The number of elements.
    pub fn numel(&self) -> usize {
        self.shape.iter().product()
    }
}

fn rows(model: &dyn Erased) -> Vec<Row> {
    let ties = Ties::of(model);
    let mut rows = Vec::new();
    model.visit_leaves(&Path::ROOT, &mut |path, leaf| {
        let path = path.to_string();
        let (tensor, mark) = match leaf {
            Leaf::Param(param) if param.requires_grad() => (param.tensor(), Mark::Param),
            Leaf::Param(param) => (param.tensor(), Mark::Frozen),
            Leaf::State(state) => (state.get(), Mark::State),
            Leaf::Tie { .. } => return,
        };
        let mark = if ties.is_alias(&path) { Mark::Tied } else { mark };
        rows.push(Row { path, shape: tensor.shape().to_vec(), dtype: tensor.dtype(), mark });
    });
    rows
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cells: Vec<[String; 4]> = self
            .rows
            .iter()
            .map(|row| {
                let mark = match row.mark {
                    Mark::Param => "",
                    Mark::Frozen => "frozen",
                    Mark::State => "state",
                    Mark::Tied => "tied",
                };
                [row.path.clone(), format!("{:?}", row.shape), row.numel().to_string(), mark.to_owned()]
            })
            .collect();
        let width = |column: usize| cells.iter().map(|c| c[column].chars().count()).max().unwrap_or(0);
        let (path, shape, count) = (width(0), width(1), width(2));
        writeln!(f, "{}", self.name)?;
        for [name, extents, numel, mark] in &cells {
            let line = format!("  {name:<path$}  {extents:<shape$}  {numel:>count$}  {mark}");
            writeln!(f, "{}", line.trim_end())?;
        }
        let bytes: usize = self.rows.iter().filter(|r| r.mark != Mark::Tied).map(|r| r.numel() * r.dtype.size()).sum();
        write!(f, "{} parameters", self.parameters())?;
        let (frozen, state) = (self.count(&[Mark::Frozen]), self.count(&[Mark::State]));
        if frozen > 0 {
            write!(f, " ({frozen} frozen)")?;
        }
        if state > 0 {
            write!(f, ", {state} numbers of state")?;
        }
        write!(f, ", {bytes} bytes")
    }
}
