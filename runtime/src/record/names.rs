//! Values by name, in memory of their own size.

/// Values by name, in the names' order. A file may claim millions of tiny ones, for which a map would take ten times as
/// much.
#[derive(Clone, Debug)]
pub(super) struct Names<T>(Vec<(Box<str>, T)>);

impl<T> Default for Names<T> {
    fn default() -> Self {
        Names(Vec::new())
    }
}

impl<T> Names<T> {
    pub(super) fn new(mut list: Vec<(Box<str>, T)>) -> Self {
        list.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        Names(list)
    }

    /// The names that more than one value has.
    pub(super) fn twice(&self) -> impl Iterator<Item = &str> {
        self.0.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| &*pair[0].0)
    }

    pub(super) fn get(&self, name: &str) -> Option<&T> {
        let at = self.0.binary_search_by(|(own, _)| (**own).cmp(name)).ok()?;
        Some(&self.0[at].1)
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }
}
