//! The paths of the fields that an expression reads, tests with `has()` or loops over.

use gavel_engine::ast::{Comprehension, Expr, ExprKind, operators};
use gavel_engine::check::CheckedAst;
use gavel_engine::types::Type;
use gavel_schema::cel::unescape;
use smol_str::SmolStr;

/// A variable and the fields below it. The elements of a list are [`ELEMENT`], the values of a map [`VALUE`].
pub(crate) type FieldPath = Vec<SmolStr>;

/// The step to the elements of a list.
pub(crate) const ELEMENT: &str = "[]";
/// The step to the values of a map.
pub(crate) const VALUE: &str = "{}";

/// The uses of fields in an expression.
#[derive(Debug, Default)]
pub(crate) struct Reads<'e> {
    /// The reads that fail if their field is absent, each with its node.
    pub(crate) fields: Vec<(Expr<'e>, FieldPath)>,
    /// The fields that the expression tests for.
    pub(crate) tested: Vec<FieldPath>,
    /// The nested loops over the same list, each with the list.
    pub(crate) nested: Vec<(Expr<'e>, FieldPath)>,
    /// The nodes that name a variable of the environment.
    pub(crate) variables: Vec<(Expr<'e>, &'e str)>,
}

/// The variables of a policy that are aliases of fields, each with the path of its field.
pub(crate) type Aliases = Vec<(SmolStr, FieldPath)>;

impl<'e> Reads<'e> {
    /// The uses in an expression.
    pub(crate) fn of(checked: &'e CheckedAst, aliases: &Aliases) -> Self {
        let mut walk = Walk {
            checked,
            aliases,
            scopes: Vec::new(),
            ranges: Vec::new(),
            reads: Reads::default(),
        };
        walk.expr(checked.ast().root());
        walk.reads
    }
}

/// The path of the field that an expression consists of; `None` if the expression is anything else.
pub(crate) fn path_of(checked: &CheckedAst, aliases: &Aliases) -> Option<FieldPath> {
    path_at(checked, aliases, checked.ast().root())
}

/// Like [`path_of`], for a part of the expression. The part must not be inside of a loop.
pub(crate) fn path_at(
    checked: &CheckedAst,
    aliases: &Aliases,
    expr: Expr<'_>,
) -> Option<FieldPath> {
    let walk = Walk {
        checked,
        aliases,
        scopes: Vec::new(),
        ranges: Vec::new(),
        reads: Reads::default(),
    };
    walk.path(expr)
}

struct Walk<'e, 'a> {
    checked: &'e CheckedAst,
    aliases: &'a Aliases,
    /// The variables of the enclosing loops, each with the path of its values; `None` if the values are not fields.
    scopes: Vec<(&'e str, Option<FieldPath>)>,
    /// The lists that the surrounding loops iterate over.
    ranges: Vec<FieldPath>,
    reads: Reads<'e>,
}

impl<'e> Walk<'e, '_> {
    /// Visits an expression. The recursion is as deep as the tree; the parser limits this depth.
    fn expr(&mut self, expr: Expr<'e>) {
        match expr.kind() {
            ExprKind::Ident(name) => {
                if !self.scopes.iter().any(|(known, _)| *known == name) {
                    self.reads.variables.push((expr, name));
                }
            }
            ExprKind::Select(select) => {
                self.expr(select.operand);
                let path = self.path(select.operand);
                let Some(mut path) = path else { return };
                path.push(field_name(select.field));
                match select.test_only {
                    true => self.reads.tested.push(path),
                    false if self.is_optional(select.operand) => {}
                    false => self.reads.fields.push((expr, path)),
                }
            }
            ExprKind::Call(call) => {
                expr.for_each_child(|child| self.expr(child));
                let tested = match (call.function, call.args.array()) {
                    (operators::IN, Some([key, map])) => Some((map, key)),
                    (operators::OPT_SELECT | operators::OPT_INDEX, Some([operand, key])) => {
                        Some((operand, key))
                    }
                    _ => None,
                };
                if let Some((operand, key)) = tested
                    && let Some(name) = text(key)
                    && let Some(mut path) = self.path(operand)
                {
                    path.push(field_name(name));
                    self.reads.tested.push(path);
                }
            }
            ExprKind::Comprehension(fold) => self.fold(expr, &fold),
            _ => expr.for_each_child(|child| self.expr(child)),
        }
    }

    fn fold(&mut self, expr: Expr<'e>, fold: &Comprehension<'e>) {
        self.expr(fold.iter_range());
        self.expr(fold.accu_init());
        let range = self.path(fold.iter_range());
        let scopes = self.scopes.len();
        let accumulator = self.path(fold.accu_init());
        self.scopes.push((fold.accu_var(), accumulator));
        let ty = self.checked.type_of(fold.iter_range().id);
        let is_map = matches!(ty, Type::Map(_));
        let below = |step| {
            let mut path = range.clone()?;
            path.push(SmolStr::new_static(step));
            Some(path)
        };
        match fold.iter_var2() {
            None if is_map => self.scopes.push((fold.iter_var(), None)),
            None => self.scopes.push((fold.iter_var(), below(ELEMENT))),
            Some(second) => {
                self.scopes.push((fold.iter_var(), None));
                let step = if is_map { VALUE } else { ELEMENT };
                self.scopes.push((second, below(step)));
            }
        }
        let ranges = self.ranges.len();
        if let Some(range) = range {
            if self.ranges.contains(&range) {
                self.reads.nested.push((expr, range.clone()));
            }
            self.ranges.push(range);
        }
        self.expr(fold.loop_condition());
        self.expr(fold.loop_step());
        self.ranges.truncate(ranges);
        self.scopes.truncate(scopes.saturating_add(1));
        self.expr(fold.result());
        self.scopes.truncate(scopes);
    }

    /// The path of the field that an expression consists of; `None` if the expression is anything else.
    fn path(&self, expr: Expr<'_>) -> Option<FieldPath> {
        match expr.kind() {
            ExprKind::Ident(name) => {
                let scope = self.scopes.iter().rev().find(|(known, _)| *known == name);
                match scope {
                    Some((_, path)) => path.clone(),
                    None => Some(vec![name.into()]),
                }
            }
            ExprKind::Select(select) if !select.test_only => {
                let mut path = self.path(select.operand)?;
                if let [variables] = path.as_slice()
                    && variables == "variables"
                {
                    let alias = self.aliases.iter().rev();
                    let mut alias = alias.filter(|(name, _)| *name == select.field);
                    return alias.next().map(|(_, path)| path.clone());
                }
                path.push(self.step(select.operand, select.field));
                Some(path)
            }
            ExprKind::Call(call) => match (call.function, call.args.array()) {
                (operators::INDEX, Some([operand, key])) => {
                    let mut path = self.path(operand)?;
                    path.push(match self.checked.type_of(operand.id) {
                        Type::Map(_) => SmolStr::new_static(VALUE),
                        _ => match text(key) {
                            Some(name) => name.into(),
                            None => SmolStr::new_static(ELEMENT),
                        },
                    });
                    Some(path)
                }
                (operators::OPT_SELECT, Some([operand, key])) => {
                    let mut path = self.path(operand)?;
                    path.push(field_name(text(key)?));
                    Some(path)
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn step(&self, operand: Expr<'_>, field: &str) -> SmolStr {
        match self.checked.type_of(operand.id) {
            Type::Map(_) => SmolStr::new_static(VALUE),
            _ => field_name(field),
        }
    }

    /// Whether a selection from the expression is optional, so that an absent field is not an error.
    fn is_optional(&self, expr: Expr<'_>) -> bool {
        self.checked.type_of(expr.id).as_optional().is_some() || is_optional_chain(expr)
    }
}

fn is_optional_chain(mut expr: Expr<'_>) -> bool {
    loop {
        match expr.kind() {
            ExprKind::Select(select) => expr = select.operand,
            ExprKind::Call(call) => match (call.function, call.args.array()) {
                (operators::OPT_SELECT | operators::OPT_INDEX, _) => return true,
                (operators::INDEX, Some([operand, _])) => expr = operand,
                _ => return false,
            },
            _ => return false,
        }
    }
}

/// A constant text.
pub(crate) fn text(expr: Expr<'_>) -> Option<&str> {
    expr.as_text()
}

/// The name that a field has in the document. Expressions escape some names: `foo__dot__bar` is `foo.bar`.
pub(crate) fn field_name(field: &str) -> SmolStr {
    unescape(field).map_or_else(|| field.into(), |name| SmolStr::new(&*name))
}
