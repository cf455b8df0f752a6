//! The names in an expression that a Kubernetes version lacks and a later version has.

use gavel_apimachinery::server::Server;
use gavel_apimachinery::version::KubeVersion;
use gavel_engine::ast::{Ast, Call, Expr, ExprKind};
use gavel_engine::syntax::{Macro, Receiver};

use crate::base_env::{FEATURES, Feature, Gated};

/// A function, operator or macro, and the first version that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Newer {
    /// The name: `quantity`, `sets.contains`, `sortBy`.
    pub name: String,
    /// The version.
    pub since: KubeVersion,
}

/// The names in the expression that `version` lacks and a later version has. Each name is listed once, in the order of the expression.
///
/// The expression must be parsed without expanding macros, so that macros appear as calls.
pub fn newer_names(ast: &Ast, version: KubeVersion) -> Vec<Newer> {
    let mut newer: Vec<Newer> = Vec::new();
    for expr in ast.walk() {
        let ExprKind::Call(call) = expr.kind() else {
            continue;
        };
        if let Some(found) = find(&call, version)
            && !newer.contains(&found)
        {
            newer.push(found);
        }
    }
    newer
}

fn find(call: &Call<'_>, version: KubeVersion) -> Option<Newer> {
    let qualified = call.target.and_then(qualifier);
    let qualified = qualified.map(|qualifier| format!("{qualifier}.{}", call.function));
    let name = qualified
        .filter(|name| {
            FEATURES
                .iter()
                .any(|gated| has_function(&gated.feature, name))
        })
        .unwrap_or_else(|| call.function.to_string());
    let offers =
        |gated: &&Gated| has_function(&gated.feature, &name) || has_macro(&gated.feature, call);
    let offering = || FEATURES.iter().filter(offers);
    match offering().any(|gated| gated.is_in(Server::new(version))) {
        true => None,
        false => offering()
            .map(|gated| gated.introduced)
            .min()
            .map(|since| Newer { name, since }),
    }
}

fn has_function(feature: &Feature, name: &str) -> bool {
    feature.rows().any(|row| row.function == name)
}

fn has_macro(feature: &Feature, call: &Call<'_>) -> bool {
    let is_called = |row: &Macro| {
        let receiver = match row.receiver {
            Receiver::None => call.target.is_none(),
            Receiver::Any => call.target.is_some(),
            Receiver::Namespace(name) => call.target.and_then(qualifier).as_deref() == Some(name),
        };
        receiver
            && row.name == call.function
            && row.arguments.is_none_or(|count| count == call.args.len())
    };
    matches!(feature, Feature::Macros(table) if table.iter().any(is_called))
}

/// The name, if the expression is a name such as `sets` or two names such as `a.b`.
fn qualifier(expr: Expr<'_>) -> Option<String> {
    match expr.kind() {
        ExprKind::Ident(name) => Some(name.to_string()),
        ExprKind::Select(select) if !select.test_only => {
            let name = select.operand.as_ident()?;
            Some(format!("{name}.{}", select.field))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env_set::EnvSet;
    use gavel_engine::syntax::Macros;

    fn check(version: u32, expression: &str, expected: &[(&str, u32)]) {
        let set = EnvSet::new(Server::new(KubeVersion::v1(version))).unwrap();
        let env = set.stored_expressions().extend().macros(Macros::default());
        let ast = env.build().unwrap().parse(expression).unwrap();
        let expected: Vec<Newer> = expected
            .iter()
            .map(|(name, minor)| Newer {
                name: (*name).to_owned(),
                since: KubeVersion::v1(*minor),
            })
            .collect();
        assert_eq!(
            newer_names(&ast, KubeVersion::v1(version)),
            expected,
            "{expression}"
        );
    }

    #[test]
    fn names_what_is_not_there_yet() {
        check(27, "self.size() > 1 && has(self.a)", &[]);
        check(
            27,
            "sets.contains([1], [1]) && 'a'.format([])",
            &[("sets.contains", 29), ("format", 29)],
        );
        check(
            33,
            "xs.sortBy(x, x.a).first().flatten()",
            &[("sortBy", 34), ("flatten", 34)],
        );
        check(31, "xs.all(x, true) && xs.all(i, x, true)", &[("all", 32)]);
        check(27, "a.?b", &[("_?._", 28)]);
        check(26, "authorizer.path('/')", &[("path", 27)]);
        check(26, "nobody.knows()", &[]);
    }
}
