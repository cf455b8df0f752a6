//! Validates lists (kube-openapi `pkg/validation/validate/slice_validator.go`).

use std::collections::HashSet;

use gavel_engine::value::Json;

use super::fault::{Cause, Outcome};
use super::node::ListRules;
use super::trail::Trail;
use crate::correlate::Correlated;
use crate::equal::Same;

/// The units of work for checking that one element is unique.
const WORK_PER_MEMBER: usize = 256;

impl ListRules {
    pub(super) fn check<'f>(
        &'f self,
        items: &'f [Json],
        trail: &Trail<'_, 'f>,
        was: Option<&Correlated<'_, '_>>,
        outcome: &mut Outcome<'f>,
    ) {
        if let Some(schema) = &self.items {
            for (index, item) in items.iter().enumerate() {
                if !trail.goes_on(1) {
                    return;
                }
                let was = was.and_then(|was| was.index(index));
                schema.check(item, &trail.index(index), was.as_ref(), outcome);
            }
        }
        let actual = i64::try_from(items.len()).unwrap_or(i64::MAX);
        let mut fault = |cause| outcome.add(trail, cause);
        if let Some(least) = self.min_items.filter(|least| actual < *least) {
            fault(Cause::TooFewItems { least, actual });
        }
        if let Some(most) = self.max_items.filter(|most| actual > *most) {
            fault(Cause::TooManyItems { most, actual });
        }
        if self.unique_items {
            let mut seen = HashSet::new();
            let is_new = |item| !trail.goes_on(WORK_PER_MEMBER) || seen.insert(Same(item));
            if !items.iter().all(is_new) {
                fault(Cause::NotUnique);
            }
        }
    }
}
