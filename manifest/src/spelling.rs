//! Names that were probably meant.

/// The candidate that differs least from a name. A difference is a letter that is added, removed, changed, or swapped with its neighbour;
/// upper and lower case are the same. Candidates that are equal to the name are skipped. `None` if all others have more than 3 differences,
/// or more differences than a third of the name's letters, rounded up.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let most = name.chars().count().div_ceil(3).min(3);
    nearest_within(most, name, candidates)
}

/// Like [`nearest`], but `None` if all other candidates have more than `most` differences.
pub fn nearest_within<'c>(
    most: usize,
    name: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    let wanted = name.to_lowercase();
    let candidates = candidates.into_iter().filter(|known| *known != name);
    let measured = candidates.map(|known| {
        let lower = known.to_lowercase();
        (strsim::damerau_levenshtein(&wanted, &lower), known)
    });
    let nearest = measured.filter(|(distance, _)| *distance <= most);
    nearest.min().map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found() {
        let fields = ["replicas", "selector", "template", "revisionHistoryLimit"];
        assert_eq!(nearest("replica", fields), Some("replicas"));
        assert_eq!(nearest("Template", fields), Some("template"));
        assert_eq!(nearest("tempalte", fields), Some("template"));
        assert_eq!(nearest("strategy", fields), None);
        assert_eq!(nearest("x", ["y"]), Some("y"));
    }
}
