//! The total cost of the rules of a schema, and the errors if the cost exceeds the limit (apiextensions `validation/cel_validation.go`).

use gavel_apimachinery::field::{Error, Errors, Path};

/// The cost limit of one rule for all its evaluations in one object, in cost units.
pub const RULE_LIMIT: u64 = 10_000_000;
/// The cost limit of all rules of a schema, in cost units.
pub const SCHEMA_LIMIT: u64 = 100_000_000;
/// The maximum number of expressions that are reported if the total exceeds the limit. The most expensive expressions are reported.
const MOST_EXPENSIVE: usize = 4;

/// The cost of the rules of a schema.
#[derive(Debug, Clone, Default)]
pub(in crate::definition) struct TotalCost {
    /// The sum, in cost units.
    pub(in crate::definition) total: u64,
    /// The costs and paths of the most expensive expressions that use at least 1 % of the limit, sorted by descending cost.
    most_expensive: Vec<(u64, String)>,
}

impl TotalCost {
    /// Adds the cost of an expression.
    pub(in crate::definition) fn add(&mut self, path: &Path<'_>, cost: u64) {
        self.total = self.total.saturating_add(cost);
        if cost < SCHEMA_LIMIT / 100 {
            return;
        }
        let at = self
            .most_expensive
            .partition_point(|(known, _)| *known >= cost);
        if at < MOST_EXPENSIVE {
            self.most_expensive.insert(at, (cost, path.to_string()));
            self.most_expensive.truncate(MOST_EXPENSIVE);
        }
    }

    /// Appends errors if the sum exceeds the limit; `path` is the path of the schema.
    pub(in crate::definition) fn check(&self, path: &Path<'_>, errors: &mut Errors) {
        if self.total <= SCHEMA_LIMIT {
            return;
        }
        for (_, path) in &self.most_expensive {
            let detail = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
            errors.push(Error::forbidden(&Path::new(path), detail));
        }
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        let detail = excess(what, self.total, SCHEMA_LIMIT);
        errors.push(Error::forbidden(path, detail));
    }
}

/// The message for a cost that exceeds its limit. The message begins with `what` and states the cost as a multiple of the limit.
#[expect(clippy::cast_precision_loss, reason = "upstream divides doubles")]
pub(in crate::definition) fn excess(what: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let factor = match factor {
        100.0.. if factor > 100.0 => "more than 100x".to_owned(),
        ..1.5 => format!("{factor:.6}x"),
        _ => format!("{factor:.1}x"),
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_as_precise_as_they_are_small() {
        let check = |cost, expected: &str| {
            let text = excess("rule", cost, RULE_LIMIT);
            let start = format!("rule exceeds budget by factor of {expected} (try");
            assert!(text.starts_with(&start), "{text}");
        };
        check(12_809_600, "1.280960x");
        check(14_999_999, "1.500000x");
        check(20_000_000, "2.0x");
        check(1_000_000_000, "100.0x");
        check(1_000_001_000, "more than 100x");
        check(u64::MAX, "more than 100x");
    }

    #[test]
    fn the_four_most_expensive_expressions_are_reported() {
        let mut total = TotalCost::default();
        let root = Path::new("schema");
        for (name, cost) in [
            ("a", 999_999),
            ("b", 50_000_000),
            ("c", 1_000_000),
            ("d", 50_000_000),
            ("e", 2_000_000),
            ("f", u64::MAX),
            ("g", 1),
        ] {
            total.add(&root.child(name), cost);
        }
        assert_eq!(total.total, u64::MAX);
        let mut findings = Errors::default();
        total.check(&root, &mut findings);
        let errors = findings.into_vec();
        let fields: Vec<_> = errors.iter().map(|error| error.field.as_str()).collect();
        let expected = ["schema.f", "schema.b", "schema.d", "schema.e", "schema"];
        assert_eq!(fields, expected);
    }
}
