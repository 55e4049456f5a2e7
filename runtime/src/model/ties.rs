//! Second names of parameters.

use crate::model::{Erased, Leaf, LeafMut, Path, join};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// From aliases to what they stand for, by full path. Either side may be a layer, and then ties all in it.
#[derive(Clone, Default)]
pub(crate) struct Ties(BTreeMap<String, String>);

impl Ties {
    /// The ties that a model declares.
    pub(crate) fn of(model: &dyn Erased) -> Ties {
        let mut ties = Ties::default();
        model.visit_leaves(&Path::ROOT, &mut |path, leaf| match leaf {
            Leaf::Tie { target } => {
                let owner = path.parent().map(Path::to_string).unwrap_or_default();
                ties.insert(path.to_string(), join(&owner, target));
            }
            Leaf::Param(_) | Leaf::State(_) => {}
        });
        ties
    }

    /// Adds a tie between full paths.
    pub(crate) fn insert(&mut self, alias: String, target: String) {
        self.0.insert(alias, target);
    }

    /// The path that owns the tensor found under `path`: `path` itself where it is no alias.
    pub(crate) fn owner<'a>(&self, path: &'a str) -> Cow<'a, str> {
        let mut path = Cow::Borrowed(path);
        // Each round follows one tie; a cycle ends after as many rounds as there are ties.
        for _ in 0..self.0.len() {
            let ends = path.match_indices('.').map(|(i, _)| i).chain([path.len()]);
            let next = ends.into_iter().find_map(|end| {
                let target = self.0.get(&path[..end])?;
                Some(format!("{target}{}", &path[end..]))
            });
            match next {
                Some(next) => path = Cow::Owned(next),
                None => break,
            }
        }
        path
    }

    /// All names of the tensor that `owner` owns, its own first.
    pub(crate) fn names(&self, owner: &str) -> Vec<String> {
        let mut names = vec![owner.to_owned()];
        let mut at = 0;
        while let Some(name) = names.get(at).cloned() {
            for (alias, target) in &self.0 {
                let Some(rest) = name.strip_prefix(target.as_str()).filter(|r| r.is_empty() || r.starts_with('.'))
                else {
                    continue;
                };
                let other = format!("{alias}{rest}");
                if !names.contains(&other) && self.owner(&other) == owner {
                    names.push(other);
                }
            }
            at += 1;
        }
        names
    }

    /// Gives each alias the tensor of its owner, where the model has both.
    pub(crate) fn share(&self, model: &mut dyn Erased) {
        if self.is_empty() {
            return;
        }
        let mut owners = BTreeMap::new();
        model.visit_leaves(&Path::ROOT, &mut |path, leaf| {
            if let Leaf::Param(param) = leaf {
                owners.insert(path.to_string(), param.tensor());
            }
        });
        model.visit_leaves_mut(&Path::ROOT, &mut |path, leaf| {
            let LeafMut::Param(param) = leaf else { return };
            let path = path.to_string();
            if self.is_alias(&path)
                && let Some(tensor) = owners.get(self.owner(&path).as_ref())
            {
                param.replace(tensor.clone());
            }
        });
    }

    /// Whether `path` is an alias.
    pub(crate) fn is_alias(&self, path: &str) -> bool {
        !self.0.is_empty() && self.owner(path) != path
    }

    /// Whether any tie is declared.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::Ties;

    #[test]
    fn aliases_are_followed_by_whole_segments() {
        let mut ties = Ties::default();
        ties.insert("head".into(), "wte".into());
        ties.insert("wte.weight".into(), "table".into());
        assert_eq!(ties.owner("head.weight"), "table");
        assert_eq!(ties.owner("head.bias"), "wte.bias");
        assert_eq!(ties.owner("header.weight"), "header.weight");
        assert_eq!(ties.names("table"), ["table", "wte.weight", "head.weight"]);
        assert_eq!(ties.names("wte.bias"), ["wte.bias", "head.bias"]);
        assert_eq!(ties.names("tables"), ["tables"]);
        ties.insert("a".into(), "b".into());
        ties.insert("b".into(), "a".into());
        assert!(ties.owner("a").len() == 1);
        assert!(ties.names("a").len() <= 2);
        ties.insert("c.d".into(), "c".into());
        assert!(ties.names("c.w").len() < 8);
    }
}
