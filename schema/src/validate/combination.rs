//! Validates values against schemas under `allOf`, `anyOf`, `oneOf` and `not` (kube-openapi `pkg/validation/validate/schema_props.go`). If
//! a value changed, errors in its unchanged parts are reported too.

use gavel_engine::value::Json;

use super::fault::{Cause, Outcome};
use super::node::Combination;
use super::trail::Trail;

impl Combination {
    pub(super) fn check<'f>(
        &'f self,
        value: &'f Json,
        trail: &Trail<'_, 'f>,
        outcome: &mut Outcome<'f>,
    ) {
        if !self.any_of.is_empty() {
            self.check_any(value, trail, outcome);
        }
        if !self.one_of.is_empty() {
            self.check_one(value, trail, outcome);
        }
        if !self.all_of.is_empty() {
            self.check_all(value, trail, outcome);
        }
        if let Some(not) = &self.not
            && not.outcome(value, trail).is_valid()
        {
            outcome.add(trail, Cause::Not);
        }
    }

    fn check_any<'f>(&'f self, value: &'f Json, trail: &Trail<'_, 'f>, outcome: &mut Outcome<'f>) {
        let mut best = None;
        for schema in &self.any_of {
            let found = schema.outcome(value, trail);
            if found.is_valid() {
                return outcome.merge(found);
            }
            keep_closer(&mut best, found);
        }
        outcome.add(trail, Cause::AnyOf);
        outcome.merge(best.unwrap_or_default());
    }

    fn check_one<'f>(&'f self, value: &'f Json, trail: &Trail<'_, 'f>, outcome: &mut Outcome<'f>) {
        let mut best = None;
        let mut first = None;
        let mut valid: usize = 0;
        for schema in &self.one_of {
            let found = schema.outcome(value, trail);
            if found.is_valid() {
                valid = valid.saturating_add(1);
                first.get_or_insert(found);
            } else if valid == 0 {
                keep_closer(&mut best, found);
            }
        }
        match valid {
            1 => outcome.merge(first.unwrap_or_default()),
            0 => {
                outcome.add(trail, Cause::OneOf { valid });
                outcome.merge(best.unwrap_or_default());
            }
            _ => outcome.add(trail, Cause::OneOf { valid }),
        }
    }

    fn check_all<'f>(&'f self, value: &'f Json, trail: &Trail<'_, 'f>, outcome: &mut Outcome<'f>) {
        let mut valid: usize = 0;
        for schema in &self.all_of {
            let found = schema.outcome(value, trail);
            valid = valid.saturating_add(usize::from(found.is_valid()));
            outcome.merge(found);
        }
        if valid != self.all_of.len() {
            outcome.add(trail, Cause::AllOf { valid });
        }
    }
}

/// Replaces `best` by `found` if `found` has more matches.
fn keep_closer<'f>(best: &mut Option<Outcome<'f>>, found: Outcome<'f>) {
    if best
        .as_ref()
        .is_none_or(|best| found.matches > best.matches)
    {
        *best = Some(found);
    }
}
