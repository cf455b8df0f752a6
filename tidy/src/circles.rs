//! Finds cyclic dependencies between modules of a crate.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::modules::{Use, module_path};

/// Finds cyclic dependencies between sibling modules. Returns the uses that form each cycle. A module includes its submodules, so a module
/// and its submodules can use each other.
pub fn circles(src: &Path, uses: &BTreeSet<Use>) -> Vec<Vec<Use>> {
    let mut ties: BTreeMap<(Module, Module), Vec<&Use>> = BTreeMap::new();
    for each in uses {
        if let Some(pair) = side_by_side(src, each) {
            ties.entry(pair).or_default().push(each);
        }
    }
    let mut targets: BTreeMap<&Module, BTreeSet<&Module>> = BTreeMap::new();
    for (from, to) in ties.keys() {
        targets.entry(from).or_default().insert(to);
    }
    let mut circles: BTreeSet<BTreeSet<&Module>> = BTreeSet::new();
    for from in targets.keys() {
        let leads_back = |to: &&Module| reached(to, &targets).contains(from);
        circles.insert(
            reached(from, &targets)
                .into_iter()
                .filter(leads_back)
                .collect(),
        );
    }
    let within = |circle: &BTreeSet<&Module>| {
        let inside = ties
            .iter()
            .filter(|((from, to), _)| circle.contains(from) && circle.contains(to));
        inside
            .flat_map(|(_, uses)| uses.iter().map(|each| (*each).clone()))
            .collect()
    };
    circles
        .iter()
        .filter(|circle| !circle.is_empty())
        .map(within)
        .collect()
}

/// The path of a module.
type Module = Vec<String>;

/// The two sibling modules that a use connects. `None` if one module contains the other module.
fn side_by_side(src: &Path, each: &Use) -> Option<(Module, Module)> {
    let (from, to) = (module_path(src, &each.from)?, module_path(src, &each.to)?);
    let shared = from
        .iter()
        .zip(&to)
        .take_while(|(from, to)| from == to)
        .count();
    let beside = |path: &Module| path.get(..=shared).map(<[String]>::to_vec);
    Some((beside(&from)?, beside(&to)?))
}

/// The modules that a module uses directly or indirectly.
fn reached<'m>(
    from: &'m Module,
    targets: &BTreeMap<&'m Module, BTreeSet<&'m Module>>,
) -> BTreeSet<&'m Module> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(module) = open.pop() {
        let next = targets.get(module).into_iter().flatten();
        open.extend(next.filter(|next| seen.insert(**next)));
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_side_by_side_make_circles() {
        let check = |ties: &[(&str, &str)], expected: usize| {
            let uses = ties.iter().map(|(from, to)| Use {
                from: format!("src/{from}.rs").into(),
                to: format!("src/{to}.rs").into(),
                name: "x".to_owned(),
            });
            let found = circles(Path::new("src"), &uses.collect());
            assert_eq!(found.len(), expected, "{found:?}");
        };
        check(&[("a", "b"), ("b", "c")], 0);
        check(&[("a", "b"), ("b", "c"), ("c", "a")], 1);
        check(&[("a/x", "b"), ("b", "a/y")], 1);
        check(&[("a/x", "a/y"), ("a/y", "a/mod"), ("a/mod", "a/x")], 0);
        check(&[("lib", "a"), ("a", "lib")], 0);
    }
}
