//! Validates the lengths, patterns and formats of strings (kube-openapi `pkg/validation/validate/{validator,values,formats}.go`).

use gavel_golang::utf8;

use super::fault::Cause;
use super::node::{NodeRules, TextRules};
use super::trail::Trail;

impl TextRules {
    /// The first error in the length or pattern of a string.
    pub(super) fn check<'f>(&'f self, text: &'f str, trail: &Trail<'_, 'f>) -> Option<Cause<'f>> {
        // No string has more code points than bytes.
        let is_short = |most: i64| i64::try_from(text.len()).is_ok_and(|bytes| bytes <= most);
        if !self.max_length.is_none_or(is_short) || self.min_length.is_some() {
            let length = i64::try_from(utf8::rune_count(text)).unwrap_or(i64::MAX);
            if let Some(most) = self.max_length.filter(|most| length > *most) {
                return Some(Cause::TooLong { most });
            }
            if let Some(least) = self.min_length.filter(|least| length < *least) {
                return Some(Cause::TooShort { least, text });
            }
        }
        let pattern = self.pattern.as_deref()?;
        let is_match = trail.counts(|work| pattern.is_match(text, work))?;
        (!is_match).then_some(Cause::Pattern { pattern, text })
    }
}

impl NodeRules {
    /// Whether the schema has a format for strings.
    pub(super) fn has_text_format(&self) -> bool {
        self.format
            .as_ref()
            .is_some_and(|format| format.of_texts.is_some())
    }

    /// The error if a string does not have the format of the schema.
    pub(super) fn check_format<'f>(&'f self, text: &'f str) -> Option<Cause<'f>> {
        let format = self.format.as_ref()?;
        let valid = format.of_texts?.is_valid(text);
        (!valid).then_some(Cause::Type {
            expected: &format.name,
            found: text,
        })
    }
}
