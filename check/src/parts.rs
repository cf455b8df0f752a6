//! The parts (sub-expressions) of an expression, and which of them an evaluation reaches.
//!
//! Each part can be evaluated by itself. A part within the body of a macro is evaluated for each element, as in `list.map(x, part)`. The
//! values of the parts then show which parts the whole evaluation reaches: `a && b` reaches `b` unless `a` is false.

use gavel_engine::ast::{Call, Expr, ExprKind, operators, unparse};
use gavel_engine::env::Env;
use gavel_engine::syntax::ParserOptions;

/// At most this many parts of an expression are examined.
const MAX_PARTS: usize = 200;

/// A sub-expression of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The text of the part.
    pub text: String,
    /// An expression that evaluates to the value of the part or, if the part is within the body of a macro, to the list of its values for
    /// all elements.
    pub probe: String,
    /// For a condition, two expressions: the first is true if an evaluation reaches the part and the part is true, the second if it is
    /// false; within the body of a macro, for any element. Conditions are the whole expression, the operands of `&&`, `||` and `!`, the tests
    /// of `?:`, and the bodies of `all` and similar macros. `None` for other parts.
    pub outcomes: Option<[String; 2]>,
    /// The nesting depth of the part.
    pub depth: usize,
    /// Whether the value of the part is worth showing: the part is not a constant, a name, or a list of these.
    pub is_informative: bool,
    parent: Option<usize>,
    guard: Guard,
}

/// The condition under which an evaluation that reaches a part's parent also reaches the part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guard {
    Always,
    /// The guarded part is reached unless the part at this index evaluates to this value.
    Unless(usize, &'static str),
    /// The guarded part is reached only if the part at this index evaluates to this value.
    If(usize, &'static str),
}

/// Lists the parts of an expression in the order of the text; a part precedes the parts within it. Empty if the expression cannot be
/// parsed.
pub(crate) fn parts(expression: &str) -> Vec<Part> {
    let options = ParserOptions {
        escaped_identifiers: true,
        ..ParserOptions::default()
    };
    // Without macro expansion, the tree matches the text.
    let env = Env::builder().parser(options).build();
    let parsed = env.ok().and_then(|env| env.parse(expression).ok());
    let mut walk = Walk {
        parts: Vec::new(),
        around: Vec::new(),
    };
    if let Some(ast) = &parsed {
        let root = Place {
            parent: None,
            guard: Guard::Always,
            depth: 0,
            is_condition: true,
        };
        walk.part(ast.root(), root);
    }
    walk.parts
}

/// Whether an evaluation reaches each part. `values` are the values of the parts; `None` stands for a part that failed.
pub(crate) fn reached(parts: &[Part], values: &[Option<String>]) -> Vec<bool> {
    let mut reached: Vec<bool> = Vec::with_capacity(parts.len());
    let value = |n: usize| values.get(n).and_then(Option::as_deref);
    for part in parts {
        let parent = part.parent.and_then(|n| reached.get(n)).copied();
        let is_open = match part.guard {
            Guard::Always => true,
            Guard::Unless(other, text) => value(other) != Some(text),
            Guard::If(other, text) => value(other) == Some(text),
        };
        reached.push(parent.unwrap_or(true) && is_open);
    }
    reached
}

struct Walk {
    parts: Vec<Part>,
    /// What surrounds the current part, from the outside to the inside.
    around: Vec<Around>,
}

/// Something around a part that determines whether, or how often, an evaluation reaches the part.
enum Around {
    /// The body of a macro, with the macro's range and variable.
    Body(String, String),
    /// A condition that must be true, such as `!a` for the right operand of `a || b`.
    Condition(String),
}

/// The context of a part.
#[derive(Clone, Copy)]
struct Place {
    parent: Option<usize>,
    guard: Guard,
    depth: usize,
    is_condition: bool,
}

impl Walk {
    // The depth of the tree is bounded by the parser, so this recursion is too.
    /// Adds an expression and the parts within it. Returns the index of the expression; `None` if there are too many parts, or if the
    /// expression cannot be written as text.
    fn part(&mut self, expr: Expr<'_>, place: Place) -> Option<usize> {
        let text = unparse(expr).filter(|_| self.parts.len() < MAX_PARTS)?;
        let outside = self.around.len();
        self.around.extend(self.condition(place.guard));
        let mut probe = text.clone();
        for around in self.around.iter().rev() {
            if let Around::Body(range, variable) = around {
                probe = format!("{range}.map({variable}, {probe})");
            }
        }
        let outcomes = [text.clone(), format!("!({text})")];
        let outcomes = place
            .is_condition
            .then(|| outcomes.map(|outcome| self.somewhere(outcome)));
        let n = self.parts.len();
        self.parts.push(Part {
            is_informative: is_informative(expr),
            depth: place.depth,
            parent: place.parent,
            guard: place.guard,
            outcomes,
            probe,
            text,
        });
        let within = Place {
            parent: Some(n),
            guard: Guard::Always,
            depth: place.depth.saturating_add(1),
            is_condition: false,
        };
        match expr.kind() {
            ExprKind::Call(call) => self.call(&call, within),
            ExprKind::List(list) => {
                for element in list.elements.iter() {
                    self.part(element, within);
                }
            }
            ExprKind::Map(map) => {
                for entry in map.iter() {
                    self.part(entry.key, within);
                    self.part(entry.value, within);
                }
            }
            ExprKind::Select(select) => self.operand(select.operand, within),
            _ => {}
        }
        self.around.truncate(outside);
        Some(n)
    }

    /// An expression that is true if an evaluation reaches the current part and `outcome` is true, for any element.
    fn somewhere(&self, outcome: String) -> String {
        let around = self.around.iter().rev();
        around.fold(outcome, |outcome, around| match around {
            Around::Body(range, variable) => format!("{range}.exists({variable}, {outcome})"),
            Around::Condition(condition) => format!("{condition} && ({outcome})"),
        })
    }

    /// The condition of a guard as an expression. It fails if the other part fails, although the guarded part of `a && b` is then reached.
    fn condition(&self, guard: Guard) -> Option<Around> {
        let (other, not) = match guard {
            Guard::Always => return None,
            Guard::Unless(other, "false") | Guard::If(other, "true") => (other, ""),
            Guard::Unless(other, _) | Guard::If(other, _) => (other, "!"),
        };
        let text = &self.parts.get(other)?.text;
        Some(Around::Condition(format!("{not}({text})")))
    }

    /// Adds the operand at the start of a chain of selections (`f()` in `f().a[b]`), unless the operand is a name or a constant.
    fn operand(&mut self, expr: Expr<'_>, within: Place) {
        match expr.kind() {
            ExprKind::Ident(_) | ExprKind::Constant(_) => {}
            ExprKind::Select(select) => self.operand(select.operand, within),
            ExprKind::Call(call) if is_path(&call) => {
                if let Some(first) = call.args.get(0) {
                    self.operand(first, within);
                }
            }
            _ => {
                self.part(expr, within);
            }
        }
    }

    fn call(&mut self, call: &Call<'_>, within: Place) {
        let condition = Place {
            is_condition: true,
            ..within
        };
        let args = call.args.to_vec();
        match (call.function, call.target, args.as_slice()) {
            (operators::LOGICAL_AND, None, &[left, right]) => {
                self.logical(left, right, condition, "false");
            }
            (operators::LOGICAL_OR, None, &[left, right]) => {
                self.logical(left, right, condition, "true");
            }
            (operators::LOGICAL_NOT, None, &[operand]) => {
                self.part(operand, condition);
            }
            (operators::CONDITIONAL, None, &[test, truthy, falsy]) => {
                let test = self.part(test, condition);
                for (branch, value) in [(truthy, "true"), (falsy, "false")] {
                    let guard = test.map_or(Guard::Always, |test| Guard::If(test, value));
                    self.part(branch, Place { guard, ..within });
                }
            }
            ("has", None, _) => {}
            (name, Some(range), &[variable, ref rest @ ..]) if is_macro(name, rest.len()) => {
                self.operand(range, within);
                self.body(name, range, variable, rest, within);
            }
            // Other macros also bind names, whose values are unknown outside of the macro.
            ("bind" | "transformList" | "transformMap" | "transformMapEntry", Some(range), _)
            | ("all" | "exists" | "existsOne" | "exists_one" | "sortBy", Some(range), _) => {
                self.operand(range, within);
            }
            (_, target, _) if is_path(call) => {
                let first = target.into_iter().chain(call.args.iter()).next();
                if let Some(first) = first {
                    self.operand(first, within);
                }
                for index in call.args.iter().skip(1) {
                    if index.as_constant().is_none() {
                        self.part(index, within);
                    }
                }
            }
            (_, target, arguments) => {
                for argument in target.iter().chain(arguments) {
                    self.part(*argument, within);
                }
            }
        }
    }

    /// Adds the operands of `left && right` or `left || right`. If the left operand has the value `decisive`, the right operand is not
    /// reached.
    fn logical(&mut self, left: Expr<'_>, right: Expr<'_>, place: Place, decisive: &'static str) {
        let left = self.part(left, place);
        let guard = left.map_or(Guard::Always, |left| Guard::Unless(left, decisive));
        self.part(right, Place { guard, ..place });
    }

    /// Adds the arguments of a macro that are evaluated for each element: the body and, for `map` with three arguments, the filter.
    fn body(
        &mut self,
        name: &str,
        range: Expr<'_>,
        variable: Expr<'_>,
        rest: &[Expr<'_>],
        within: Place,
    ) {
        let (Some(range), Some(variable)) = (receiver(range), variable.as_ident()) else {
            return;
        };
        self.around.push(Around::Body(range, variable.to_string()));
        let last = rest.len().saturating_sub(1);
        for (n, body) in rest.iter().enumerate() {
            let is_value = name == "map" && n == last;
            let place = Place {
                is_condition: !is_value,
                ..within
            };
            self.part(*body, place);
        }
        self.around.pop();
    }
}

/// Whether the value of a part is worth showing: the part is not a constant, a name, or a list of these.
fn is_informative(expr: Expr<'_>) -> bool {
    match expr.kind() {
        ExprKind::Constant(_) | ExprKind::Ident(_) => false,
        ExprKind::List(list) => list.elements.iter().any(is_informative),
        _ => true,
    }
}

/// The text of an expression before `.map(…)`: an operation, such as `a + b`, is in parentheses.
fn receiver(expr: Expr<'_>) -> Option<String> {
    let text = unparse(expr)?;
    let is_operation = match expr.kind() {
        ExprKind::Call(call) => {
            let is_named = call.function.starts_with(|c: char| c.is_ascii_alphabetic());
            !is_named && !is_path(&call)
        }
        _ => false,
    };
    Some(match is_operation {
        true => format!("({text})"),
        false => text,
    })
}

/// Whether a call is a selection: `a[b]`, `a.?b`, `a[?b]`.
fn is_path(call: &Call<'_>) -> bool {
    let steps = [
        operators::INDEX,
        operators::OPT_INDEX,
        operators::OPT_SELECT,
    ];
    steps.contains(&call.function)
}

/// Whether `name` is a macro that visits each element; `arguments` is the number of its arguments after the variable.
fn is_macro(name: &str, arguments: usize) -> bool {
    match name {
        "all" | "exists" | "exists_one" | "filter" => arguments == 1,
        "map" => matches!(arguments, 1 | 2),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(expression: &str) -> Vec<String> {
        let parts = parts(expression).into_iter();
        parts
            .map(|part| format!("{}{}", " ".repeat(part.depth), part.probe))
            .collect()
    }

    #[test]
    fn parts_are_what_is_written() {
        let expected = [
            "has(object.spec) && object.spec.replicas <= variables.max[0] + 1",
            " has(object.spec)",
            " object.spec.replicas <= variables.max[0] + 1",
            "  object.spec.replicas",
            "  variables.max[0] + 1",
            "   variables.max[0]",
            "   1",
        ];
        assert_eq!(
            texts("has(object.spec) && object.spec.replicas <= variables.max[0] + 1"),
            expected
        );
    }

    #[test]
    fn bodies_of_macros_become_lists_of_values() {
        let expected = [
            "object.list.all(x, x.items.exists(y, y > 0))",
            " object.list.map(x, x.items.exists(y, y > 0))",
            "  object.list.map(x, x.items.map(y, y > 0))",
            "   object.list.map(x, x.items.map(y, y))",
            "   object.list.map(x, x.items.map(y, 0))",
        ];
        assert_eq!(
            texts("object.list.all(x, x.items.exists(y, y > 0))"),
            expected
        );
    }

    #[test]
    fn outcomes_say_when_a_condition_is_reached() {
        let outcomes = |expression: &str| {
            let parts = parts(expression).into_iter();
            let outcomes = parts.filter_map(|part| part.outcomes).flatten();
            outcomes.collect::<Vec<_>>()
        };
        let expression = "(a + b).all(x, x > 0 || c)";
        let expected = [
            expression,
            "!((a + b).all(x, x > 0 || c))",
            "(a + b).exists(x, x > 0 || c)",
            "(a + b).exists(x, !(x > 0 || c))",
            "(a + b).exists(x, x > 0)",
            "(a + b).exists(x, !(x > 0))",
            "(a + b).exists(x, !(x > 0) && (c))",
            "(a + b).exists(x, !(x > 0) && (!(c)))",
        ];
        assert_eq!(outcomes(expression), expected);
        let expected = ["c", "!(c)", "(c) && (a)", "(c) && (!(a))"];
        let of_branch = outcomes("(c ? !a : 1) == 2");
        assert!(
            of_branch.ends_with(&expected.map(str::to_owned)),
            "{of_branch:?}"
        );
    }

    #[test]
    fn short_circuits_reach_nothing() {
        let parts = parts("a && (b || (c ? d : e))");
        let values = |of: &[(&str, &str)]| -> Vec<Option<String>> {
            let value = |part: &Part| {
                let found = of.iter().find(|(text, _)| *text == part.text);
                found.map(|(_, value)| (*value).to_owned())
            };
            parts.iter().map(value).collect()
        };
        let names = |values: &[Option<String>]| -> String {
            let reached = reached(&parts, values);
            let reached = parts.iter().zip(reached).filter(|(_, reached)| *reached);
            let names = reached.map(|(part, _)| part.text.as_str());
            names.filter(|text| text.len() == 1).collect()
        };
        assert_eq!(names(&values(&[("a", "false")])), "a");
        assert_eq!(names(&values(&[("a", "true"), ("b", "true")])), "ab");
        // `a` fails, which does not decide `a && …`: the right operand is reached.
        assert_eq!(names(&values(&[("b", "false"), ("c", "false")])), "abce");
    }
}
