use gavel_libraries::EnvSet;

use super::*;

const BOTH: Declarations = Declarations::with_authorizer(true);

fn compiler() -> Compiler {
    let server = "1.36".parse().expect("a version");
    let environments = EnvSet::new(server).expect("environments");
    Compiler::with_variables(environments.stored_expressions())
}

fn message(expression: &Expression) -> &str {
    match expression.program() {
        Ok(_) => "",
        Err(error) => &error.message,
    }
}

#[test]
fn expressions_come_to_what_they_are_for() {
    use ExpressionKind::*;
    let check = |kind, text: &str, expected: &str| {
        let expression = compiler().compile(kind, text, BOTH);
        assert_eq!(message(&expression), expected, "{text}");
    };
    check(Validation, "object.spec.replicas < 5", "");
    check(
        Validation,
        "object.spec.paused",
        "must evaluate to bool but got dyn",
    );
    check(Message, "1", "must evaluate to string but got int");
    check(AuditAnnotation, "null", "");
    check(
        AuditAnnotation,
        "[1]",
        "must evaluate to one of [string null_type] but got list(int)",
    );
    check(Variable, "[optional.of(1)]", "");
    check(
        MatchCondition,
        "request.userInfo.extra['a'][0] == namespaceObject.metadata.UID",
        "",
    );
    check(
        Validation,
        "int('x') == 1",
        "program instantiation failed: type conversion error from 'string' to 'int'",
    );
    check(
        Validation,
        "request.uid == ''",
        "compilation failed: ERROR: <input>:1:8: undefined field 'uid'\n | request.uid == ''\n | .......^",
    );
}

#[test]
fn expressions_see_what_is_declared_for_them() {
    let check = |text: &str, declarations, expected: bool| {
        let expression = compiler().compile(ExpressionKind::Validation, text, declarations);
        assert_eq!(expression.program().is_ok(), expected, "{text}");
    };
    let neither = Declarations::default();
    check("params == null", BOTH, true);
    check("params == null", neither, false);
    check(
        "authorizer.requestResource.check('get').allowed()",
        BOTH,
        true,
    );
    check(
        "authorizer.requestResource.check('get').allowed()",
        neither,
        false,
    );
}

#[test]
fn variables_have_the_types_of_what_came_before() {
    let mut compiler = compiler();
    let mut declare = |name: &str, text: &str, expected: &str| {
        let expression = compiler.compile_variable(name, text, BOTH);
        let message = message(&expression);
        assert!(message.contains(expected), "{message}");
    };
    declare("later", "variables.list", "undefined field 'list'");
    declare("list", "[1, 2]", "");
    declare("sum", "variables.list.sum() + variables.later", "");
    declare("bad", "variables.list['x']", "found no matching overload");
    declare("request", "request", "");
    declare("dyn", "variables.request.whatever", "");
}

#[test]
fn patches_have_types_of_their_own() {
    use ExpressionKind::*;
    let check = |kind, text: &str, expected: &str| {
        let declarations = Declarations {
            patch_types: true,
            ..BOTH
        };
        let expression = compiler().compile(kind, text, declarations);
        let message = message(&expression);
        assert!(
            message.starts_with(expected) && message.is_empty() == expected.is_empty(),
            "{text}: {message}"
        );
    };
    check(ApplyConfiguration, "Object{spec: Object.other{a: 1}}", "");
    check(
        ApplyConfiguration,
        "Object.spec{}",
        "must evaluate to Object but got Object.spec",
    );
    check(
        ApplyConfiguration,
        "Object{}.x",
        "must evaluate to Object but got dyn",
    );
    check(
        ApplyConfiguration,
        "Object.x",
        "must evaluate to Object but got type(Object.x)",
    );
    check(
        JsonPatch,
        "[JSONPatch{op: 'a', value: object, ?path: optional.of('a')}]",
        "",
    );
    check(
        JsonPatch,
        "[]",
        "must evaluate to list(JSONPatch) but got list(dyn)",
    );
    check(
        JsonPatch,
        "[JSONPatch{op: jsonpatch.escapeKey('a/b'), wrong: dyn(1)}]",
        "",
    );
    check(
        JsonPatch,
        "[JSONPatch{wrong: 1}]",
        "compilation failed: ERROR: <input>:1:17: expected type of field 'wrong' is '' but provided type is 'int'",
    );
    check(
        JsonPatch,
        "[JSONPatch{}].filter(p, p.wrong == 1)",
        "compilation failed: ERROR: <input>:1:33: found no matching overload for '_==_' applied to '(, int)'",
    );
    check(
        JsonPatch,
        "[JSONPatch{}].map(p, p.wrong.x)",
        "compilation failed: ERROR: <input>:1:29: type '' does not support field selection",
    );
    check(
        JsonPatch,
        "[type(JSONPatch{}) == JSONPatch ? JSONPatch{} : JSONPatch{}]",
        "program instantiation failed: reference to undefined type: JSONPatch",
    );
}

#[test]
fn equal_expressions_share_a_program() {
    let shares = |one: &Expression, other: &Expression| {
        std::ptr::eq(one.program().unwrap(), other.program().unwrap())
    };
    let kind = ExpressionKind::Validation;
    let (compiler, other) = (compiler(), compiler());
    let first = compiler.compile(kind, "1 < 2", BOTH);
    assert!(shares(&first, &compiler.compile(kind, "1 < 2", BOTH)));
    let neither = Declarations::default();
    assert!(!shares(&first, &compiler.compile(kind, "1 < 2", neither)));
    assert!(!shares(&first, &other.compile(kind, "1 < 2", BOTH)));

    // Copies of a compiler share programs, but not those that read the variables of a policy.
    let [mut ints, mut texts] = [compiler.clone(), compiler];
    ints.compile_variable("x", "1", BOTH);
    texts.compile_variable("x", "'a'", BOTH);
    assert!(shares(&first, &ints.compile(kind, "1 < 2", BOTH)));
    let read = "variables.x == 1";
    assert_eq!(message(&ints.compile(kind, read, BOTH)), "");
    assert!(
        texts
            .compile(kind, read, BOTH)
            .program()
            .is_err_and(|error| error.message.contains("found no matching overload"))
    );
}
