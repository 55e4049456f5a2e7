//! The rules of `#[kernel]`. Each function reports one rule, and its name is the rule's id.
//!
//! The stages call them where they can know: `syntax` and `signature` while the tokens are read, `dims`, `names`,
//! `calls`, `kinds`, `index` and `outputs` while the body is lowered.

pub(super) mod calls;
pub(super) mod dims;
pub(super) mod index;
pub(super) mod kinds;
pub(super) mod names;
pub(super) mod outputs;
pub(super) mod signature;
pub(super) mod syntax;

/// The entry of `known` that is most like `name`, as the end of a message.
pub(super) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// The entry of `known` that is most like `name`, if any is like it.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let like = |k: &str| {
        let score = strsim::jaro_winkler(k, name);
        // Of short names, one letter or two that changed places is the usual slip.
        let slip = name.len() > 2 && strsim::damerau_levenshtein(k, name) == 1;
        (score > 0.8 || slip).then_some(score)
    };
    let near = known.into_iter().filter_map(|k| Some((like(k)?, k)));
    near.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, k)| k)
}

/// `1 index`, `2 indices`.
fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
