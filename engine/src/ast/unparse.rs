//! Writes a syntax tree as CEL text, with no more parentheses than needed (cel-go's `parser/unparser.go`).

use std::fmt::Write;

use super::operators as op;
use super::{Call, Constant, Expr, ExprKind, Exprs, ListExpr, MapExpr, Select, Struct};

/// Writes CEL text that parses to this tree, apart from ids and positions; `None` if no text does.
///
/// No text exists for nodes that only macros produce: comprehensions, and names with `@` or `#`. A presence test is written as `has(a.b)`.
pub fn unparse(expr: Expr<'_>) -> Option<String> {
    let mut writer = Writer {
        text: String::new(),
    };
    writer.expr(expr, Level::Conditional)?;
    Some(writer.text)
}

/// Precedence levels, from the loosest to the tightest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Conditional,
    Or,
    And,
    Relation,
    Sum,
    Product,
    Unary,
    Member,
}

/// An infix operator: its symbol, its precedence level, and the lowest level of a right operand without parentheses. A left operand needs
/// parentheses below the operator's own level.
struct Infix {
    symbol: &'static str,
    level: Level,
    right: Level,
}

struct Writer {
    text: String,
}

impl Writer {
    /// Writes an expression, in parentheses if its precedence is lower than `place`.
    fn expr(&mut self, expr: Expr<'_>, place: Level) -> Option<()> {
        if level(expr) >= place {
            return self.bare(expr);
        }
        self.text.push('(');
        self.bare(expr)?;
        self.text.push(')');
        Some(())
    }

    fn bare(&mut self, expr: Expr<'_>) -> Option<()> {
        match expr.kind() {
            ExprKind::Constant(value) => self.constant(value),
            ExprKind::Ident(name) => self.name(name),
            ExprKind::Select(select) => self.select(select),
            ExprKind::Call(call) => self.call(expr, call),
            ExprKind::List(list) => self.list(list),
            ExprKind::Map(map) => self.map(map),
            ExprKind::Struct(literal) => self.structure(literal),
            ExprKind::Comprehension(_) => None,
        }
    }

    fn constant(&mut self, value: Constant<'_>) -> Option<()> {
        match value {
            Constant::Null => self.text.push_str("null"),
            Constant::Bool(value) => write!(self.text, "{value}").ok()?,
            Constant::Int(value) => write!(self.text, "{value}").ok()?,
            Constant::Uint(value) => write!(self.text, "{value}u").ok()?,
            Constant::Double(value) if !value.is_finite() => return None,
            Constant::Double(value) => write!(self.text, "{value:?}").ok()?,
            Constant::String(value) => self.string(value)?,
            Constant::Bytes(value) => self.bytes(value)?,
        }
        Some(())
    }

    fn string(&mut self, value: &str) -> Option<()> {
        self.text.push('"');
        for c in value.chars() {
            match c {
                '"' | '\\' => self.text.extend(['\\', c]),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                _ if c.is_control() => write!(self.text, "\\u{:04x}", u32::from(c)).ok()?,
                _ => self.text.push(c),
            }
        }
        self.text.push('"');
        Some(())
    }

    fn bytes(&mut self, value: &[u8]) -> Option<()> {
        self.text.push_str("b\"");
        for byte in value {
            match byte {
                b'"' | b'\\' => self.text.extend(['\\', char::from(*byte)]),
                b' '..=b'~' => self.text.push(char::from(*byte)),
                _ => write!(self.text, "\\x{byte:02x}").ok()?,
            }
        }
        self.text.push('"');
        Some(())
    }

    /// Writes the name of a variable, function or type. `None` if the name is not a sequence of identifiers separated by dots, possibly
    /// with a leading dot.
    fn name(&mut self, name: &str) -> Option<()> {
        if !name
            .strip_prefix('.')
            .unwrap_or(name)
            .split('.')
            .all(is_identifier)
        {
            return None;
        }
        self.text.push_str(name);
        Some(())
    }

    fn field(&mut self, name: &str) -> Option<()> {
        if is_identifier(name) {
            self.text.push_str(name);
            return Some(());
        }
        let quotable = |c: char| c.is_ascii_alphanumeric() || "_.-/ ".contains(c);
        if name.is_empty() || !name.chars().all(quotable) {
            return None;
        }
        write!(self.text, "`{name}`").ok()
    }

    fn select(&mut self, select: Select<'_>) -> Option<()> {
        if select.test_only {
            self.text.push_str("has(");
        }
        self.expr(select.operand, Level::Member)?;
        self.text.push('.');
        self.field(select.field)?;
        if select.test_only {
            self.text.push(')');
        }
        Some(())
    }

    fn call(&mut self, expr: Expr<'_>, call: Call<'_>) -> Option<()> {
        let args = call.args.to_vec();
        match (call.function, call.target, args.as_slice()) {
            (op::CONDITIONAL, None, &[condition, if_true, if_false]) => {
                self.expr(condition, Level::Or)?;
                self.text.push_str(" ? ");
                self.expr(if_true, Level::Or)?;
                self.text.push_str(" : ");
                self.expr(if_false, Level::Conditional)
            }
            (op::LOGICAL_NOT, None, &[operand]) => {
                self.text.push('!');
                self.expr(operand, Level::Member)
            }
            (op::NEGATE, None, &[operand]) => {
                self.text.push('-');
                let start = self.text.len();
                self.expr(operand, Level::Member)?;
                // Without parentheses, the parser would read the dash as the sign of the number.
                let is_number = |c: char| c == '-' || c.is_ascii_digit();
                if self.text.get(start..)?.starts_with(is_number) {
                    self.text.insert(start, '(');
                    self.text.push(')');
                }
                Some(())
            }
            (op::INDEX, None, &[operand, index]) => self.index(operand, "[", index),
            (op::OPT_INDEX, None, &[operand, index]) => self.index(operand, "[?", index),
            (op::OPT_SELECT, None, &[operand, field]) => {
                let field = field.as_text()?;
                self.expr(operand, Level::Member)?;
                self.text.push_str(".?");
                self.field(field)
            }
            (name, None, &[left, right]) if let Some(infix) = infix(name) => {
                self.infix(expr, name, &infix, left, right)
            }
            (name, None, _) => {
                self.name(name)?;
                self.args(call.args)
            }
            (name, Some(target), _) if is_identifier(name) => {
                self.expr(target, Level::Member)?;
                self.text.push('.');
                self.text.push_str(name);
                self.args(call.args)
            }
            _ => None,
        }
    }

    fn infix(
        &mut self,
        expr: Expr<'_>,
        name: &str,
        infix: &Infix,
        left: Expr<'_>,
        right: Expr<'_>,
    ) -> Option<()> {
        let left_place = match infix.level {
            Level::Or | Level::And if is_balanced(expr, name) => {
                return self.chain(expr, name, infix);
            }
            // The parser builds balanced chains only, so an unbalanced chain needs parentheses.
            Level::Or | Level::And => infix.right,
            level => level,
        };
        self.expr(left, left_place)?;
        write!(self.text, " {} ", infix.symbol).ok()?;
        self.expr(right, infix.right)
    }

    /// Writes the terms of a balanced chain.
    fn chain(&mut self, expr: Expr<'_>, name: &str, infix: &Infix) -> Option<()> {
        let Some((left, right)) = operands(expr, name) else {
            return self.expr(expr, infix.right);
        };
        self.chain(left, name, infix)?;
        write!(self.text, " {} ", infix.symbol).ok()?;
        self.chain(right, name, infix)
    }

    fn index(&mut self, operand: Expr<'_>, open: &str, index: Expr<'_>) -> Option<()> {
        self.expr(operand, Level::Member)?;
        self.text.push_str(open);
        self.expr(index, Level::Conditional)?;
        self.text.push(']');
        Some(())
    }

    fn args(&mut self, args: Exprs<'_>) -> Option<()> {
        self.text.push('(');
        for (index, arg) in args.iter().enumerate() {
            self.separate(index, false);
            self.expr(arg, Level::Conditional)?;
        }
        self.text.push(')');
        Some(())
    }

    /// Writes the separator before the element at `index`.
    fn separate(&mut self, index: usize, optional: bool) {
        if index > 0 {
            self.text.push_str(", ");
        }
        if optional {
            self.text.push('?');
        }
    }

    fn list(&mut self, list: ListExpr<'_>) -> Option<()> {
        self.text.push('[');
        for (index, element) in list.elements.iter().enumerate() {
            self.separate(index, list.is_optional(index));
            self.expr(element, Level::Conditional)?;
        }
        self.text.push(']');
        Some(())
    }

    fn map(&mut self, map: MapExpr<'_>) -> Option<()> {
        self.text.push('{');
        for (index, entry) in map.iter().enumerate() {
            self.separate(index, entry.optional);
            self.expr(entry.key, Level::Conditional)?;
            self.text.push_str(": ");
            self.expr(entry.value, Level::Conditional)?;
        }
        self.text.push('}');
        Some(())
    }

    fn structure(&mut self, literal: Struct<'_>) -> Option<()> {
        self.name(literal.type_name)?;
        self.text.push('{');
        for (index, field) in literal.fields().enumerate() {
            self.separate(index, field.optional);
            self.field(field.name)?;
            self.text.push_str(": ");
            self.expr(field.value, Level::Conditional)?;
        }
        self.text.push('}');
        Some(())
    }
}

fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !matches!(name, "in" | "true" | "false" | "null")
}

fn level(expr: Expr<'_>) -> Level {
    let ExprKind::Call(call) = expr.kind() else {
        return Level::Member;
    };
    match (call.function, call.args.len()) {
        (op::CONDITIONAL, 3) => Level::Conditional,
        (op::LOGICAL_NOT | op::NEGATE, 1) => Level::Unary,
        (name, 2) => infix(name).map_or(Level::Member, |infix| infix.level),
        _ => Level::Member,
    }
}

fn infix(name: &str) -> Option<Infix> {
    let (symbol, level, right) = match name {
        op::LOGICAL_OR => ("||", Level::Or, Level::And),
        op::LOGICAL_AND => ("&&", Level::And, Level::Relation),
        op::EQUALS => ("==", Level::Relation, Level::Sum),
        op::NOT_EQUALS => ("!=", Level::Relation, Level::Sum),
        op::LESS => ("<", Level::Relation, Level::Sum),
        op::LESS_EQUALS => ("<=", Level::Relation, Level::Sum),
        op::GREATER => (">", Level::Relation, Level::Sum),
        op::GREATER_EQUALS => (">=", Level::Relation, Level::Sum),
        op::IN => ("in", Level::Relation, Level::Sum),
        op::ADD => ("+", Level::Sum, Level::Product),
        op::SUBTRACT => ("-", Level::Sum, Level::Product),
        op::MULTIPLY => ("*", Level::Product, Level::Unary),
        op::DIVIDE => ("/", Level::Product, Level::Unary),
        op::MODULO => ("%", Level::Product, Level::Unary),
        _ => return None,
    };
    Some(Infix {
        symbol,
        level,
        right,
    })
}

/// The operands, if the expression is a call of the infix operator `name`.
fn operands<'e>(expr: Expr<'e>, name: &str) -> Option<(Expr<'e>, Expr<'e>)> {
    match expr.kind() {
        ExprKind::Call(call) if call.function == name => call.args.array().map(Into::into),
        _ => None,
    }
}

/// Whether a chain of operators is balanced, as the parser builds it: half of the operators, rounded down, are left of the root, and both
/// sides are balanced.
fn is_balanced(expr: Expr<'_>, name: &str) -> bool {
    let Some((left, right)) = operands(expr, name) else {
        return true;
    };
    let (before, after) = (count(left, name), count(right, name));
    let half = before.saturating_add(after).saturating_add(1) / 2;
    before == half && is_balanced(left, name) && is_balanced(right, name)
}

/// The number of operators in a chain.
fn count(expr: Expr<'_>, name: &str) -> usize {
    match operands(expr, name) {
        Some((left, right)) => count(left, name)
            .saturating_add(count(right, name))
            .saturating_add(1),
        None => 0,
    }
}
