//! Which parameters a pattern freezes.

use crate::model::{Erased, Leaf, LeafMut, Path, Ties, matches};
use crate::raise::raise;
use cotangent_hal::Error;
use std::collections::BTreeSet;

/// How many close paths an error names.
const MOST: usize = 5;

/// Freezes (`false`) or trains (`true`) what matches, under all names of a tied parameter.
#[track_caller]
pub(super) fn require(model: &mut dyn Erased, pattern: &str, on: bool) {
    let ties = Ties::of(model);
    let owners = matching(model, &ties, pattern, if on { "unfreeze" } else { "freeze" });
    model.visit_leaves_mut(&Path::ROOT, &mut |path, leaf| {
        if let LeafMut::Param(param) = leaf
            && owners.contains(ties.owner(&path.to_string()).as_ref())
        {
            param.set_requires_grad(on);
        }
    });
}

/// Whether all that matches is frozen.
#[track_caller]
pub(super) fn all_frozen(model: &dyn Erased, pattern: &str) -> bool {
    let owners = matching(model, &Ties::of(model), pattern, "is_frozen");
    let mut frozen = true;
    model.visit_leaves(&Path::ROOT, &mut |path, leaf| {
        if let Leaf::Param(param) = leaf
            && owners.contains(&path.to_string())
        {
            frozen &= !param.requires_grad();
        }
    });
    frozen
}

/// The owners of the parameters that match; raises where there are none.
#[track_caller]
fn matching(model: &dyn Erased, ties: &Ties, pattern: &str, op: &str) -> BTreeSet<String> {
    let (mut owners, mut paths) = (BTreeSet::new(), Vec::new());
    model.visit_leaves(&Path::ROOT, &mut |path, leaf| {
        if let Leaf::Param(_) = leaf {
            let path = path.to_string();
            if matches(pattern, &path) {
                owners.insert(ties.owner(&path).into_owned());
            }
            paths.push(path);
        }
    });
    if owners.is_empty() {
        let message = match closest(pattern, &paths).as_slice() {
            [] => format!("no parameter matches `{pattern}`; the model has none"),
            near => format!("no parameter matches `{pattern}`; the closest are `{}`", near.join("`, `")),
        };
        raise(Error::Argument { op: op.into(), message });
    }
    owners
}

/// The parameters and layers whose paths take the fewest edits to become the pattern.
fn closest(pattern: &str, paths: &[String]) -> Vec<String> {
    let mut names = BTreeSet::new();
    for path in paths {
        names.extend(path.match_indices('.').map(|(i, _)| &path[..i]).chain([path.as_str()]));
    }
    let mut ranked: Vec<(usize, &str)> = names.into_iter().map(|name| (edits(pattern, name), name)).collect();
    ranked.sort_unstable();
    ranked.into_iter().take(MOST).map(|(_, name)| name.to_owned()).collect()
}

/// Levenshtein's distance in characters.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j].min(diagonal) + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{closest, edits};

    #[test]
    fn close_paths_come_first() {
        assert_eq!(edits("kitten", "sitting"), 3);
        let paths = ["encoder.fc.weight", "decoder.fc.weight", "head.bias"].map(str::to_owned);
        assert_eq!(closest("encodr", &paths)[..2], ["encoder", "decoder"]);
        assert!(closest("x", &[]).is_empty());
    }
}
