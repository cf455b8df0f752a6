//! Suggestions for keys that an expression does not find in an object.

use gavel_engine::ast::{ExprKind, operators};
use gavel_engine::check::CheckedAst;
use gavel_engine::env::Env;
use gavel_engine::value::Json;
use gavel_policy::cel::{Compiler, Declarations};

use crate::expressions::path::{Aliases, ELEMENT, FieldPath, Reads, VALUE, path_at, path_of, text};
use gavel_manifest::nearest;

/// Help that names the existing key that is nearest to the missing one; `None` if no key is near. `error` is the error of the expression,
/// and `value` returns the value of a variable.
pub fn near_key<'v>(
    checked: &CheckedAst,
    error: &str,
    value: &dyn Fn(&str) -> Option<&'v Json>,
) -> Option<String> {
    near(checked, &Aliases::new(), error, value)
}

/// Suggests existing keys for the missing keys in a policy's expressions. The expressions may read the policy's variables.
#[derive(Debug)]
pub struct NearKeys {
    compiler: Compiler,
    aliases: Aliases,
}

impl NearKeys {
    /// Creates the suggester of one policy. No variables are declared yet; see `declare`. `env` is the environment of stored expressions.
    pub fn new(env: &Env) -> Self {
        NearKeys {
            compiler: Compiler::with_variables(env),
            aliases: Aliases::new(),
        }
    }

    /// Declares a variable of the policy.
    pub fn declare(&mut self, name: &str, expression: &str) {
        let checked = self.compiler.check_variable(name, expression, ALL);
        if let Some(path) = checked
            .ok()
            .and_then(|checked| path_of(&checked, &self.aliases))
        {
            self.aliases.push((name.into(), path));
        }
    }

    /// Like [`near_key`], for the text of an expression, which may read the declared variables.
    pub fn near<'v>(
        &self,
        expression: &str,
        error: &str,
        value: &dyn Fn(&str) -> Option<&'v Json>,
    ) -> Option<String> {
        // Most errors are not about a missing key.
        key(error)?;
        let checked = self.compiler.check(expression, ALL).ok()?;
        near(&checked, &self.aliases, error, value)
    }
}

/// Declares every variable that some expression of a policy can read.
const ALL: Declarations = Declarations {
    patch_types: true,
    ..Declarations::with_authorizer(true)
};

/// The missing key that an error names; `None` for other errors.
fn key(error: &str) -> Option<&str> {
    let (_, key) = error.split_once("no such key: ")?;
    key.lines().next()
}

fn near<'v>(
    checked: &CheckedAst,
    aliases: &Aliases,
    error: &str,
    value: &dyn Fn(&str) -> Option<&'v Json>,
) -> Option<String> {
    let key = key(error)?;
    let reads = Reads::of(checked, aliases);
    let fields = reads.fields.iter().filter_map(|(_, path)| {
        let (last, parent) = path.split_last()?;
        (last == key).then(|| parent.to_vec())
    });
    let indexes = checked.ast().walk().filter_map(|expr| match expr.kind() {
        ExprKind::Call(call) if call.function == operators::INDEX => {
            let [operand, index] = call.args.array()?;
            path_at(checked, aliases, operand).filter(|_| text(index) == Some(key))
        }
        _ => None,
    });
    let parents: Vec<FieldPath> = fields.chain(indexes).collect();
    let mut found = parents.iter().flat_map(|parent| values(parent, value));
    let meant = found.find_map(|parent| {
        let names = parent.as_object()?.keys().map(String::as_str);
        let is_there = parent.get(key).is_some();
        nearest(key, names).filter(|_| !is_there)
    })?;
    Some(format!("did you mean `{meant}`?"))
}

/// The values that a path leads to.
fn values<'v>(path: &FieldPath, value: &dyn Fn(&str) -> Option<&'v Json>) -> Vec<&'v Json> {
    let Some((variable, steps)) = path.split_first() else {
        return Vec::new();
    };
    let mut found: Vec<&Json> = value(variable).into_iter().collect();
    for step in steps {
        found = match step.as_str() {
            ELEMENT => found
                .into_iter()
                .filter_map(Json::as_array)
                .flatten()
                .collect(),
            VALUE => found
                .into_iter()
                .filter_map(Json::as_object)
                .flat_map(|fields| fields.values())
                .collect(),
            name => found
                .into_iter()
                .filter_map(|each| each.get(name))
                .collect(),
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use gavel_libraries::{EnvSet, Server};
    use serde_json::json;

    use super::*;

    #[test]
    fn missing_keys_suggest_similar_ones() {
        let set = EnvSet::new(Server::default()).unwrap();
        let mut keys = NearKeys::new(set.stored_expressions());
        keys.declare("spec", "object.spec");
        let object = json!({
            "metadata": {"labels": {"owner": "a"}},
            "spec": {"replicas": 1, "ports": [{"number": 1}, {"number": 2}]},
        });
        let value = |name: &str| (name == "object").then_some(&object);
        for (expression, key, expected) in [
            ("object.spec.replica > 1", "replica", "replicas"),
            ("variables.spec.replica > 1", "replica", "replicas"),
            ("object.spec.ports.all(p, p.numbr > 1)", "numbr", "number"),
            ("object.metadata.labels['onwer'] == 'a'", "onwer", "owner"),
            ("object.spec.somethingElse > 1", "somethingElse", ""),
            ("oldObject.spec.replica > 1", "replica", ""),
        ] {
            let found = keys.near(expression, &format!("no such key: {key}"), &value);
            let expected = (!expected.is_empty()).then(|| format!("did you mean `{expected}`?"));
            assert_eq!(found, expected, "{expression}");
        }
        assert_eq!(keys.near("1 / 0 > 1", "division by zero", &value), None);
    }
}
