//! Tests the programs that the planner makes of expressions.

use crate::{env, golden};

#[test]
fn expressions_are_planned_as_listed() {
    let env = env();
    golden::check("plans", |expression| {
        let checked = env.compile(expression).unwrap();
        match env.plan(&checked) {
            Ok(program) => format!("{program:?}"),
            Err(error) => format!("not planned: {error}"),
        }
    });
}

#[test]
fn unchecked_names_are_resolved_by_the_planner() {
    let env = env();
    let unchecked = |text: &str| {
        let checked = gavel_engine::check::CheckedAst::unchecked(env.parse(text).unwrap());
        format!("{:?}", env.plan(&checked).unwrap())
    };
    assert_eq!(unchecked("o.a"), "o.a\n");
    assert_eq!(unchecked("unknown.a"), "unbound unknown.a\n");
    assert_eq!(unchecked("int"), "type int\n");
    assert_eq!(unchecked("nothing(1)"), "call nothing: missing\n  int 1\n");
}
