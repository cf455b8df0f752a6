//! Validates objects (kube-openapi `pkg/validation/validate/object_validator.go`).

use gavel_engine::value::Json;
use serde_json::Map;

use super::fault::{Cause, Outcome};
use super::node::{MapRules, NodeRules, Others, Properties, PropertyRules};
use super::trail::Trail;
use crate::correlate::Correlated;

impl Properties {
    /// Properties, sorted by name.
    pub(super) fn new(sorted: impl Iterator<Item = PropertyRules>) -> Self {
        Properties(sorted.collect())
    }

    /// The property of this name.
    pub(super) fn get(&self, name: &str) -> Option<&PropertyRules> {
        self.get_after(name, &mut 0)
    }

    /// The property with this name. The search begins at `next`: objects and schemas are sorted by name, so consecutive fields usually have
    /// consecutive properties.
    fn get_after(&self, name: &str, next: &mut usize) -> Option<&PropertyRules> {
        let property = match self.0.get(*next) {
            Some(property) if *property.name == *name => property,
            _ => {
                let found = self
                    .0
                    .binary_search_by(|property| (*property.name).cmp(name));
                *next = found.ok()?;
                self.0.get(*next)?
            }
        };
        *next = next.saturating_add(1);
        Some(property)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = &NodeRules> {
        self.0.iter().map(|property| &*property.node)
    }
}

impl MapRules {
    pub(super) fn check<'f>(
        &'f self,
        fields: &'f Map<String, Json>,
        trail: &Trail<'_, 'f>,
        was: Option<&Correlated<'_, '_>>,
        outcome: &mut Outcome<'f>,
    ) {
        self.check_size(fields, trail, outcome);
        // As in upstream, `apiVersion` and `kind` are validated like those of a new object.
        let is_root = trail.is_root();
        let was_field = |name: &str| match (was?, name) {
            (_, "apiVersion" | "kind") if is_root => None,
            (was, name) => was.key(name),
        };
        if let Some(others) = &self.others {
            for (name, value) in fields {
                if !trail.goes_on(1) {
                    return;
                }
                match others {
                    _ if self.properties.get(name).is_some() => {}
                    Others::None => outcome.add(trail, Cause::UnknownProperty { name }),
                    Others::Schema(schema) => {
                        let trail = trail.entry(name);
                        schema.check(value, &trail, was_field(name).as_ref(), outcome);
                    }
                }
            }
        }
        let (mut next, mut present) = (0, 0_usize);
        for (name, value) in fields {
            if let Some(property) = self.properties.get_after(name, &mut next) {
                present = present.saturating_add(usize::from(property.is_required));
                let trail = trail.property(name);
                let was = was_field(name);
                property.node.check(value, &trail, was.as_ref(), outcome);
            }
        }
        // If all required fields were found above, they are not looked up again.
        let required = match present == self.required.len() {
            true => &[][..],
            false => &*self.required,
        };
        for name in required {
            if !trail.goes_on(1) {
                return;
            }
            if !fields.contains_key(name.as_str()) {
                outcome.add(&trail.entry(name), Cause::Required);
            }
        }
    }

    fn check_size<'f>(
        &self,
        fields: &Map<String, Json>,
        trail: &Trail<'_, 'f>,
        outcome: &mut Outcome<'f>,
    ) {
        let actual = i64::try_from(fields.len()).unwrap_or(i64::MAX);
        let mut fault = |cause| outcome.add(trail, cause);
        if let Some(least) = self.min_properties.filter(|least| actual < *least) {
            fault(Cause::TooFewProperties { least, actual });
        }
        if let Some(most) = self.max_properties.filter(|most| actual > *most) {
            fault(Cause::TooManyProperties { most, actual });
        }
    }
}
