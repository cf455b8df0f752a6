//! Help texts for expressions that fail.

use gavel_check::{Invocation, Step};
use gavel_engine::env::Env;
use gavel_engine::value::Json;
use gavel_lint::NearKeys;

/// If an expression reads a missing key, suggests the key that was probably meant. `request` is the request that the policies decided, and
/// `env` the environment of stored expressions.
pub(super) fn add(steps: &mut [Step], request: &Json, env: &Env) {
    for step in steps {
        if let Step::Evaluated { invocation, .. } | Step::Mutated { invocation } = step {
            add_to(invocation, request, env);
        }
    }
}

fn add_to(invocation: &mut Invocation, request: &Json, env: &Env) {
    let value = |name: &str| match name {
        "request" => Some(request),
        name => request.get(name),
    };
    let mut keys = NearKeys::new(env);
    for ran in &mut invocation.runs {
        if let Err(error) = &ran.result {
            let help = keys.near(&ran.expression, error, &value);
            ran.help = help.unwrap_or_default();
        }
        // Later expressions can read this variable.
        if let Some(name) = &ran.variable {
            keys.declare(name, &ran.expression);
        }
    }
}
