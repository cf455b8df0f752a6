//! Enumerations (kube-openapi `pkg/validation/validate/validator.go`).

use std::hash::{BuildHasher, RandomState};

use gavel_engine::value::Json;

use super::convert::{character, truncate, widen};
use crate::OptionalList;
use crate::equal::{Numeric, Same, deep_equal};

/// The listed values that are compared one by one. Longer lists are searched by hash.
const FEW: usize = 16;

/// The values that an `enum` lists.
#[derive(Debug, Default)]
pub(super) struct Enumeration {
    allowed: OptionalList<Json>,
    /// The hashes of the values with their positions, sorted by hash; `None` for a short list.
    index: Option<Box<Index>>,
}

#[derive(Debug)]
struct Index {
    hasher: RandomState,
    positions: Box<[(u64, usize)]>,
}

impl Enumeration {
    pub(super) fn new(allowed: OptionalList<Json>) -> Self {
        let index = (allowed.len() > FEW).then(|| {
            let hasher = RandomState::new();
            let hashes = allowed.iter().map(|value| hasher.hash_one(Same(value)));
            let mut positions: Box<[_]> = hashes.zip(0..).collect();
            positions.sort_unstable();
            Box::new(Index { hasher, positions })
        });
        Enumeration { allowed, index }
    }

    /// The listed values, in the order of the schema.
    pub(super) fn values(&self) -> &[Json] {
        &self.allowed
    }

    /// Whether a value equals one of the listed values. Null equals no listed value.
    ///
    /// As in upstream, numbers are first converted to the Go type of the listed value. An integer becomes a double, or a string with the
    /// character of this code point. A double becomes an integer, without its fraction.
    pub(super) fn lists(&self, value: &Json) -> bool {
        let Some(index) = &self.index else {
            return self
                .allowed
                .iter()
                .any(|allowed| is_converted(value, allowed));
        };
        let holds = |value: &Json| self.holds(index, value);
        match value {
            Json::Null => false,
            Json::Number(number) => match Numeric::from(number) {
                Numeric::Int(int) => {
                    holds(value)
                        || holds(&widen(int).into())
                        || holds(&character(int).to_string().into())
                }
                Numeric::Double(double) => holds(value) || holds(&truncate(double).into()),
            },
            value => holds(value),
        }
    }

    fn holds(&self, index: &Index, value: &Json) -> bool {
        let hash = index.hasher.hash_one(Same(value));
        let begin = index.positions.partition_point(|(other, _)| *other < hash);
        let alike = index.positions.iter().skip(begin);
        let mut alike = alike.take_while(|(other, _)| *other == hash);
        alike.any(|(_, position)| {
            let allowed = self.allowed.get(*position);
            allowed.is_some_and(|allowed| deep_equal(value, allowed))
        })
    }
}

fn is_converted(value: &Json, allowed: &Json) -> bool {
    match (value, allowed) {
        (Json::Null, _) => false,
        (Json::Number(value), Json::Number(allowed)) => {
            match (Numeric::from(value), Numeric::from(allowed)) {
                (Numeric::Int(value), Numeric::Double(allowed)) => widen(value) == allowed,
                (Numeric::Double(value), Numeric::Int(allowed)) => truncate(value) == allowed,
                (value, allowed) => value == allowed,
            }
        }
        (Json::Number(value), Json::String(allowed)) => match Numeric::from(value) {
            Numeric::Int(value) => {
                let mut text = allowed.chars();
                text.next() == Some(character(value)) && text.next().is_none()
            }
            Numeric::Double(_) => false,
        },
        (value, allowed) => deep_equal(value, allowed),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn long_lists_hold_what_short_lists_hold() {
        let listed = [
            json!(null),
            json!(true),
            json!(7),
            json!(2.0),
            json!(-0.0),
            json!(9.5),
            json!(u64::MAX),
            json!("A"),
            json!("\u{fffd}"),
            json!("text"),
            json!([1, {"a": "b"}]),
            json!({"a": [1.0]}),
        ];
        let others = [
            json!(false),
            json!(2),
            json!(0),
            json!(7.0),
            json!(7.9),
            json!(9),
            json!(65),
            json!(65.0),
            json!(-1),
            json!(u64::MAX as f64),
            json!("text "),
            json!([1, {"a": "c"}]),
            json!({"a": [1]}),
        ];
        let of = |values: Vec<Json>| Enumeration::new(values.into_iter().collect());
        let padded = |value: &Json| {
            let padding = (0..100).map(|n| json!(format!("other {n}")));
            of(padding.chain([value.clone()]).collect())
        };
        for allowed in &listed {
            let (short, long) = (of(vec![allowed.clone()]), padded(allowed));
            assert!(short.index.is_none() && long.index.is_some());
            for value in listed.iter().chain(&others) {
                let expected = short.lists(value);
                assert_eq!(long.lists(value), expected, "{value} in [{allowed}]");
            }
        }
    }

    #[test]
    fn equal_values_may_be_listed_twice() {
        let values = (0..100).map(|n| json!(n / 50));
        let long = Enumeration::new(values.collect());
        assert!(long.lists(&json!(1)) && !long.lists(&json!(2)));
    }
}
