//! Adds a function to the language. One row declares its type, its body and its cost.

use std::error::Error;

use gavel::engine::body;
use gavel::engine::decl::{CallContext, Overload, row};
use gavel::{Activation, Arena, EnvSet, EvalOptions, Type, Value};

/// Returns the text without vowels. The result is allocated in the arena of the evaluation.
fn squeeze<'a>(call: &CallContext<'a>, text: &str) -> Value<'a> {
    let kept: String = text.chars().filter(|c| !"aeiou".contains(*c)).collect();
    call.arena.string(&kept)
}

const ROWS: &[Overload] = &[row(
    "squeeze",
    "string_squeeze",
    "string.() -> string",
    body!(squeeze),
    "'policy'.squeeze() == 'plcy'",
)];

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
    println!("cost: {}", evaluation.cost);
    assert_eq!(evaluation.result?.as_bool(), Some(true));
    Ok(())
}

#[cfg(test)]
#[test]
fn it_runs() {
    main().unwrap();
}
