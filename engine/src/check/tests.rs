//! Tests of the checker's types and messages. The expected values come from upstream.

use std::sync::Arc;

use super::{Reference, resolve_name, validators};
use crate::ast::ExprKind;

use crate::decl::{LiteralRule, Overload, TypeProvider, declared};
use crate::env::{Env, EnvBuilder, EnvOptions};
use crate::stdlib;
use crate::syntax::{Macros, STANDARD, TWO_VARIABLE};
use crate::types::Type;

/// A type provider with one type: `Book {title: string, tags: list(string), parent: Book}`.
#[derive(Debug)]
struct Books;

impl TypeProvider for Books {
    fn find_type(&self, name: &str) -> Option<Type> {
        (name == "lib.Book").then(|| Type::Struct(name.into()))
    }

    fn field_type(&self, type_name: &str, field: &str) -> Option<Type> {
        match field {
            "title" => Some(Type::String),
            "tags" => Some(Type::list(Type::String)),
            "parent" => self.find_type(type_name),
            _ => None,
        }
    }
}

const ROWS: &[Overload] = &[
    declared(
        "_?._",
        "select_optional_field",
        "(dyn, string) -> optional_type(V)",
    ),
    declared(
        "_[?_]",
        "list_optindex_optional_int",
        "(list(V), int) -> optional_type(V)",
    ),
    declared(
        "_[?_]",
        "map_optindex_optional_value",
        "(map(K, V), K) -> optional_type(V)",
    ),
    declared("optional.of", "optional_of", "(V) -> optional_type(V)"),
    declared("optional.none", "optional_none", "() -> optional_type(V)"),
    declared("value", "optional_value", "optional_type(V).() -> V"),
    declared("sum", "sum_int", "list(int).() -> int"),
    declared("sum", "sum_double", "list(double).() -> double"),
    declared("format", "string_format", "string.(list(dyn)) -> string")
        .literals(LiteralRule::Mixed),
    declared("lib.read", "lib_read", "(lib.Book) -> string"),
    declared("token", "token", "() -> net.Token()"),
    declared("quantity", "quantity", "() -> kubernetes.Quantity"),
];

fn builder() -> EnvBuilder {
    stdlib::TABLES
        .iter()
        .fold(Env::builder(), |builder, rows| builder.overloads(rows))
        .overloads(stdlib::DURATION_OF_INT)
        .overloads(ROWS)
        .macros(Macros::new(&[STANDARD, TWO_VARIABLE]))
        .provider(Arc::new(Books))
        .variable("d", Type::Dyn)
        .variable("a", Type::Any)
        .variable("b", Type::Bool)
        .variable("i", Type::Int)
        .variable("w", "wrapper(int)".parse().unwrap())
        .variable("ls", Type::list(Type::String))
        .variable("m", Type::map(Type::String, Type::Int))
        .variable("o", Type::optional(Type::map(Type::String, Type::Int)))
        .variable("book", Type::Struct("lib.Book".into()))
        .variable("x.y", Type::Int)
        .variable("x.y.z", Type::String)
        .variable("t", Type::Type(None))
}

/// The type of a valid expression in the wording of messages, or the error messages with their columns.
fn answer(env: &Env, expression: &str) -> String {
    let checked = env.compile(expression);
    match checked {
        Ok(checked) => checked.output_type().in_message().to_string(),
        Err(issues) => {
            let issues = issues.sorted();
            let lines = issues
                .iter()
                .map(|issue| format!("{}: {}", issue.location.column, issue.message));
            lines.collect::<Vec<_>>().join("; ")
        }
    }
}

/// Checks lines such as `1 + 1 => int`: an expression and its [`answer`].
fn check_all(env: &Env, cases: &str) {
    for case in cases.lines() {
        let (expression, expected) = case.split_once(" => ").unwrap();
        assert_eq!(answer(env, expression), expected, "{expression}");
    }
}

#[test]
fn names_are_variables_types_or_constants() {
    let cases = "\
i => int
w => wrapper(int)
int => type(int)
list => type(list(dyn))
type => type(type)
null_type => type(null)
google.protobuf.Timestamp => type(timestamp)
google.protobuf.Int32Value => type(wrapper(int))
google.protobuf.NullValue.NULL_VALUE => int
lib.Book => type(lib.Book)
timestamp => 0: undeclared reference to 'timestamp' (in container '')
google.protobuf.NullValue => 0: undeclared reference to 'google' (in container '')
.int => type(int)
.i => int
x.y => int
x.y.z => string
x.y.q => 3: type 'int' does not support field selection
x.q => 0: undeclared reference to 'x' (in container '')
has(x.y) => 4: undeclared reference to 'x' (in container '')
";
    check_all(&builder().build().unwrap(), cases);
}

#[test]
fn containers_prefix_names() {
    let cases = "\
Book => type(lib.Book)
.Book => 1: undeclared reference to '.Book' (in container 'lib.sub')
Book{title: 'a'}.title => string
read(book) => string
nope(book) => 4: undeclared reference to 'nope' (in container 'lib.sub')
size(ls) => int
";
    check_all(&builder().container("lib.sub").build().unwrap(), cases);
    let mut tried = Vec::new();
    resolve_name("a.b", "x", |name| -> Option<()> {
        tried.push(name.to_owned());
        None
    });
    assert_eq!(tried, ["a.b.x", "a.x", "x"]);
}

#[test]
fn selection_follows_types() {
    let cases = "\
m.a => int
o.a => optional_type(int)
m.?a => optional_type(int)
o.?a => optional_type(int)
d.a.b => dyn
a.b => dyn
book.parent.tags => list(string)
book.?parent.title => optional_type(string)
book.nope => 4: undefined field 'nope'
has(book.title) => bool
i.a => 1: type 'int' does not support field selection
ls.?a => 2: type 'list(string)' does not support field selection
[][0].a => dyn
token().a => 7: type 'net.Token' does not support field selection
quantity().a => 10: unexpected failed resolution of 'kubernetes.Quantity'
";
    check_all(&builder().build().unwrap(), cases);
}

#[test]
fn calls_take_the_overloads_that_fit() {
    let cases = "\
1 + 1 => int
d + 1 => int
d + d => dyn
1 == 1.0 => 2: found no matching overload for '_==_' applied to '(int, double)'
1 < 1.0 => bool
w + 1 => int
w == null => bool
i == null => 2: found no matching overload for '_==_' applied to '(int, null)'
null < null => bool
b ? 1 : d => dyn
b ? [] : [1] => list(int)
[] == {} => 3: found no matching overload for '_==_' applied to '(list(dyn), map(dyn, dyn))'
[].sum() => int
d.sum() => dyn
1 in [1.0] => 2: found no matching overload for '@in' applied to '(int, list(double))'
m['a'] => int
m[?'a'] => optional_type(int)
{}[?d] => optional_type(dyn)
optional.of(1).value() => int
optional.none() => optional_type(dyn)
optional.of(1) == null => bool
type(1) == t => bool
lib.read(book) => string
lib.read(1) => 8: found no matching overload for 'lib.read' applied to '(int)'
i.startsWith('a') => 12: found no matching overload for 'startsWith' applied to 'int.(string)'
foo.bar(1) => 0: undeclared reference to 'foo' (in container ''); 7: undeclared reference to 'bar' (in container '')
i && 'a' => 0: expected type 'bool' but found 'int'; 5: expected type 'bool' but found 'string'
[] && b => 0: expected type 'bool' but found 'list(_var0)'
";
    check_all(&builder().build().unwrap(), cases);
}

#[test]
fn literals_join_their_elements() {
    let cases = "\
[1, 'a'] => list(dyn)
[1, d] => list(dyn)
[[], [1]] => list(list(int))
[null, timestamp(0)] => list(timestamp)
[timestamp(0), null] => list(null)
{1: 'a', 'b': 2} => map(dyn, dyn)
{} => map(dyn, dyn)
[?optional.of(1)] => list(int)
[?1] => 2: expected type 'optional_type(int)' but found 'int'
{?'a': 1} => 7: expected type 'optional_type(int)' but found 'int'
google.protobuf.Int64Value{value: 1} => wrapper(int)
google.protobuf.Value{string_value: 'a'} => dyn
google.protobuf.Int64Value{value: null} => 32: expected type of field 'value' is 'int' but provided type is 'null'
lib.Book{title: 'a', ?tags: optional.of(['b'])} => lib.Book
lib.Book{title: 1, nope: 2} => 14: expected type of field 'title' is 'string' but provided type is 'int'; 23: undefined field 'nope'
list{} => 4: 'list' is not a message type
m{a: 1} => 1: 'map' is not a type; 3: unexpected failed resolution of 'm'
nope{a: b} => 4: undeclared reference to 'nope' (in container '')
null_type{a: 1} => 11: unexpected failed resolution of 'google.protobuf.NullValue'
";
    check_all(&builder().build().unwrap(), cases);
}

#[test]
fn comprehensions_declare_their_variables() {
    let cases = "\
ls.map(s, size(s)) => list(int)
m.all(k, k == 'a') => bool
m.all(k, v, k == 'a' && v == 1) => bool
ls.transformList(i, s, i) => list(int)
d.map(x, x) => list(dyn)
a.map(x, x) => 0: expression of type 'any' cannot be range of a comprehension (must be list, map, or dynamic)
i.all(x, true) => 0: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)
ls.all(s, 1) => 10: expected type 'bool' but found 'int'
ls.all(s, s == 'a') && s => 23: undeclared reference to 's' (in container '')
ls.map(i, i) => list(string)
[[]].all(x, x) => 12: expected type 'bool' but found 'list(_var0)'
";
    check_all(&builder().build().unwrap(), cases);
}

#[test]
fn mixed_comparisons_are_hidden_up_to_the_first_comprehension() {
    let options = EnvOptions {
        cross_type_numeric_comparisons: false,
        ..EnvOptions::default()
    };
    let cases = "\
1 < 1.5 => 2: found no matching overload for '_<_' applied to '(int, double)'
1 >= 1u => 2: found no matching overload for '_>=_' applied to '(int, uint)'
1 < 2 => bool
[1].all(x, true) && 1 < 1.5 => bool
";
    check_all(&builder().options(options).build().unwrap(), cases);
}

#[test]
fn the_tree_is_rewritten_to_full_names() {
    let env = builder().build().unwrap();
    let rewritten = |expression: &str| {
        let checked = env.compile(expression).unwrap();
        let root = checked.ast().root();
        let reference = format!(
            "{:?}",
            checked.reference(root.id).map(|reference| match reference {
                Reference::Variable => "variable".to_owned(),
                Reference::Type => "type".to_owned(),
                Reference::Constant(constant) => format!("{constant:?}"),
                Reference::Call {
                    function,
                    candidates,
                } => format!(
                    "{} {:?}",
                    function.name,
                    candidates.iter().collect::<Vec<_>>()
                ),
            })
        );
        let node = match root.kind() {
            ExprKind::Ident(name) => name.to_string(),
            ExprKind::Call(call) => format!("{} {}", call.function, call.target.is_some()),
            other => format!("{other:?}"),
        };
        format!("{node} {reference}")
    };
    assert_eq!(rewritten("x.y.z"), r#"x.y.z Some("variable")"#);
    assert_eq!(rewritten(".i"), r#"i Some("variable")"#);
    assert_eq!(
        rewritten("optional.of(1)"),
        r#"optional.of false Some("optional.of [0]")"#
    );
    assert_eq!(rewritten("d.sum()"), r#"sum true Some("sum [0, 1]")"#);
    assert_eq!(
        rewritten("google.protobuf.NullValue.NULL_VALUE"),
        r#"google.protobuf.NullValue.NULL_VALUE Some("0")"#
    );
}

#[test]
fn validators_look_at_literals() {
    let validators = [
        validators::homogeneous_literals,
        validators::duration_literals,
        validators::timestamp_literals,
        validators::regex_literals,
    ];
    let env = validators
        .into_iter()
        .fold(builder(), |builder, validator| builder.validator(validator));
    let cases = "\
[1, 'a', 2u] => 4: expected type 'int' but found 'string'
[1, d] => 4: expected type 'int' but found 'dyn'
[w, 1] => list(wrapper(int))
[optional.none(), optional.of('a')] => list(optional_type(string))
{1: 'a', 'b': 2} => 9: expected type 'int' but found 'string'; 14: expected type 'string' but found 'int'
[?d, 1] => 5: expected type 'dyn' but found 'int'
'%s'.format([1, 'a']) => string
'%s'.format([[1, 'a']]) => string
duration('1h') < duration('x') => 26: invalid duration argument
duration(null) => 9: invalid duration argument
timestamp(1) => timestamp
timestamp('2020') => 10: invalid timestamp argument
'a'.matches('[') => 12: invalid matches argument
matches('[', 'a') => 8: invalid matches argument
matches('a', '[') => bool
[1, 'a'] == [nope] => 13: undeclared reference to 'nope' (in container '')
";
    check_all(&env.build().unwrap(), cases);
}

#[test]
fn types_too_large_to_look_at_are_refused() {
    let env = builder().build().unwrap();
    let expression = format!("[0]{}", ".map(a, {a: a})".repeat(60));
    assert_eq!(
        answer(&env, &expression),
        "892: the types of the expression are too large"
    );
}
