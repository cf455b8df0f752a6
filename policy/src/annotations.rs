//! The audit annotations of a policy (apiserver `pkg/admission/plugin/policy/validating/dispatcher.go`).

use crate::decision::Decision;

/// The size limit of an audit annotation's value, in bytes.
const MAX_ANNOTATION_BYTES: usize = 10 * 1024;

/// The audit annotations of one policy. Each key has the distinct values from all bindings and params.
#[derive(Debug, Default)]
pub(crate) struct Annotations(Vec<(String, Vec<String>)>);

impl Annotations {
    /// Adds a value, unless it is there already.
    pub(crate) fn add(&mut self, key: &str, value: &str) {
        let value = shortened(value);
        let position = self.0.iter().position(|(known, _)| known == key);
        match position.and_then(|position| self.0.get_mut(position)) {
            Some((_, values)) if values.contains(&value) => {}
            Some((_, values)) => values.push(value),
            None => self.0.push((key.to_owned(), vec![value])),
        }
    }

    /// Adds these annotations to the audit event, under the name of their policy.
    #[inline]
    pub(crate) fn publish(&self, policy: &str, decision: &mut Decision) {
        for (key, values) in &self.0 {
            decision.annotate(format!("{policy}/{key}"), values.join(", "));
        }
    }
}

/// The value, truncated to the size limit. As in Go, the limit may split a code point: each of its remaining bytes becomes a replacement
/// character.
fn shortened(value: &str) -> String {
    if value.len() <= MAX_ANNOTATION_BYTES {
        return value.to_owned();
    }
    let end = value.floor_char_boundary(MAX_ANNOTATION_BYTES);
    let (kept, _) = value.split_at(end);
    let broken = MAX_ANNOTATION_BYTES.saturating_sub(end);
    format!("{kept}{}", "\u{fffd}".repeat(broken))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kubernetes 1.36 returns the same values.
    #[test]
    fn long_values_are_cut_within_code_points() {
        let letters = |count| "a".repeat(count);
        for (value, expected) in [
            (letters(10_240), letters(10_240)),
            (letters(10_241), letters(10_240)),
            (letters(10_239) + "é", letters(10_239) + "\u{fffd}"),
            (letters(10_238) + "世", letters(10_238) + "\u{fffd}\u{fffd}"),
            (letters(10_236) + "😀z", letters(10_236) + "😀"),
        ] {
            assert_eq!(shortened(&value), expected);
        }
    }
}
