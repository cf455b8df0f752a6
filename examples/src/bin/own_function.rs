//! Adds a function to the language. One row declares its type, its body and its cost.

use std::error::Error;

use gavel::engine::body;
use gavel::engine::cost::{CallEstimate, Cost, TRAVERSAL_FACTOR};
use gavel::engine::decl::{CallContext, Overload, row};
use gavel::engine::error::EvalError;
use gavel::{Activation, Arena, EnvSet, EvalOptions, Type, Value};

/// Returns the text without vowels. The result is allocated in the arena of the evaluation, within the arena's memory limit.
fn squeeze<'a>(call: &CallContext<'a>, text: &str) -> Result<Value<'a>, EvalError> {
    call.arena.reserve(text.len())?;
    let kept: String = text.chars().filter(|c| !"aeiou".contains(*c)).collect();
    Ok(call.arena.string(&kept))
}

/// A call costs a tenth of the text's length, rounded up, as for other functions that read a text once.
const COST: Cost = Cost::traversal(0, |call| {
    CallEstimate::new(call.size(0).costs(TRAVERSAL_FACTOR))
});

const ROWS: &[Overload] = &[row(
    "squeeze",
    "string_squeeze",
    "string.() -> string",
    body!(squeeze),
    "'policy'.squeeze() == 'plcy'",
)
.cost(COST)];

fn main() -> Result<(), Box<dyn Error>> {
    let kubernetes = EnvSet::new("1.36".parse()?)?;
    let env = kubernetes
        .new_expressions()
        .extend()
        .overloads(ROWS)
        .variable("name", Type::String)
        .build()?;
    let program = env.plan(&env.compile("name.squeeze() == 'gvl'")?)?;

    let (arena, mut activation) = (Arena::new(), Activation::new());
    activation.bind("name", "gavel");
    let evaluation = program.eval(&activation, &arena, &EvalOptions::default());
    assert_eq!(evaluation.cost, 3);
    assert_eq!(evaluation.result?.as_bool(), Some(true));
    Ok(())
}

#[cfg(test)]
#[test]
fn it_runs() {
    main().unwrap();
}
