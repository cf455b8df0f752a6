//! Tests that a failure names the node that failed.

use gavel_engine::ast::ExprId;
use gavel_engine::check::CheckedAst;
use gavel_engine::error::{EvalError, EvalErrorKind};
use gavel_engine::program::EvalOptions;
use proptest::prelude::*;

use crate::{document, dyn_env, env, evaluate, random};

/// Expressions; under each, a mark at the failing node, and the message. The last three expressions fail during planning.
const FAILURES: &str = "\
1 + i / 0
      ^ division by zero
b && i / 0 > 1
       ^ division by zero
o.a.missing.b
   ^ no such key: missing
o[ka].missing
     ^ no such key: missing
o.b.missing
   ^ no such key: missing
has(o.missing.a)
     ^ no such key: missing
l[9]
 ^ index out of bounds: 9
l[i + 2]
 ^ index out of bounds: 9
o[[1, i]]
 ^ invalid qualifier type: *types.baseList
l[i / 0]
    ^ division by zero
!o
^ no such overload
b && o
  ^ no such overload
o || !b
  ^ no such overload
o ? 1 : 2
  ^ no such overload
b ? i / 0 : i
      ^ division by zero
x + s
  ^ no such overload
x < s
  ^ no such overload
x.size() > 0
      ^ no such overload: size
s.matches(s + '(')
         ^ error parsing regexp: missing closing ): `some text(`
[1, {i / 0: 2}]
       ^ division by zero
l.map(e, 6 / (e - 1))
           ^ division by zero
l.all(e, e > 0 && o.a.b.c[e] > 0)
                         ^ index out of bounds: 3
l.exists_one(e, 6 / (e - 1) > 9)
                  ^ division by zero
l.filter(e, l.map(f, e / (f - 1)) == [])
                       ^ division by zero
l.all(e, o)
     ^ no such overload
m.transformMapEntry(k, v, {'same': v})
                   ^ insert failed: key same already exists
x.all(e, e > 0)
     ^ got 'types.Int', expected iterable type
cel.bind(y, i / 0, 1 + y)
              ^ division by zero
cel.block([i / 0], cel.index(0) + 1)
             ^ division by zero
[1] == [int('text')]
           ^ type conversion error from 'string' to 'int'
l.all(e, s.matches('('))
                  ^ error parsing regexp: missing closing ): `(`
o[dyn([1])]
 ^ invalid qualifier type: *types.baseList
";

/// The failing node and the message, if planning or the evaluation fails.
fn failure(checked: &CheckedAst, env: &gavel_engine::env::Env) -> Option<(Option<ExprId>, String)> {
    let program = match env.plan(checked) {
        Ok(program) => program,
        Err(error) => return Some((error.expr_id(), error.to_string())),
    };
    let describe = |error: EvalError| {
        assert_eq!(error.kind(), EvalErrorKind::Evaluation);
        (error.expr_id(), error.to_string())
    };
    evaluate(
        &program,
        &document(),
        &EvalOptions::default(),
        |evaluation| evaluation.result.err().map(describe),
    )
}

#[test]
fn failures_are_at_the_node_that_fails() {
    let env = env();
    let mut lines = FAILURES.lines();
    while let Some(expression) = lines.next() {
        let checked = env.compile(expression).unwrap();
        let (id, actual) = failure(&checked, &env).unwrap();
        let offset = checked.ast().offset(id.unwrap()) as usize;
        let marked = format!("{:offset$}^ {actual}", "");
        assert_eq!(Some(marked.as_str()), lines.next(), "{expression}");
    }
}

#[test]
fn the_end_of_an_evaluation_has_no_place() {
    let env = env();
    let program = env.plan(&env.compile("l.map(e, e * 2)").unwrap()).unwrap();
    let limited = EvalOptions {
        cost_limit: Some(5),
        ..EvalOptions::default()
    };
    evaluate(&program, &document(), &limited, |evaluation| {
        assert_eq!(evaluation.result.unwrap_err().expr_id(), None);
    });
}

proptest! {
    #[test]
    fn every_failure_has_a_place(entropy in random::entropy()) {
        let expression = random::with_fields(&random::expression(&entropy));
        for env in [env(), dyn_env()] {
            let checked = env.compile(&expression).unwrap();
            if let Some((id, message)) = failure(&checked, &env) {
                prop_assert!(id.is_some(), "{}: {}", expression, message);
            }
        }
    }
}
