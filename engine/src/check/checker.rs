//! The type checker: gives every node a type and resolves every name (cel-go `checker/checker.go`).
//!
//! Recursion is bounded by the depth of the tree, which the parser limits.

use std::fmt;
use std::sync::OnceLock;

use super::dotted::DottedName;
use super::names::{Scopes, find_function};
use super::unify::Bindings;
use super::{CheckedAst, Findings, Meaning, Referent, Validator, type_in};
use crate::ast::{Ast, Comprehension, Constant, Expr, ExprId, ExprKind, Select};
use crate::decl::{Declarations, FunctionDecl, FunctionIndex};
use crate::issues::{Issues, Phase};
use crate::source::{Offset, Source};
use crate::types::Type;

/// Checks a parsed expression, then runs the validators in their order.
///
/// # Errors
///
/// All problems that were found. The validators only run if the check itself finds none.
pub fn check(ast: Ast, env: &Declarations, validators: &[Validator]) -> Result<CheckedAst, Issues> {
    let (source, mut root, offsets) = ast.into_parts();
    let mut checker = Checker::new(env, &source, &offsets);
    checker.check(&mut root);
    let found = checker.finish(root.id)?;
    let checked = CheckedAst {
        ast: Ast::new(source, root, offsets),
        found,
        functions: env.shared_functions(),
        patterns: OnceLock::new(),
    };
    if validators.is_empty() {
        return Ok(checked);
    }
    let mut issues = Issues::new(checked.ast().source(), Phase::Check);
    for validate in validators {
        validate(&checked, &mut issues);
    }
    if issues.is_empty() {
        Ok(checked)
    } else {
        Err(issues)
    }
}

/// The state of a check.
pub(super) struct Checker<'c> {
    pub(super) env: &'c Declarations,
    source: &'c Source,
    offsets: &'c [Offset],
    pub(super) bindings: Bindings,
    pub(super) scopes: Scopes,
    pub(super) found: Findings,
    issues: Option<Issues>,
    /// Whether overloads that compare numbers of different types are hidden. Like upstream, the checker no longer hides them after the
    /// first comprehension.
    pub(super) hides_mixed_comparisons: bool,
    pub(super) dotted: DottedName,
}

impl<'c> Checker<'c> {
    fn new(env: &'c Declarations, source: &'c Source, offsets: &'c [Offset]) -> Self {
        Checker {
            env,
            source,
            offsets,
            bindings: Bindings::new(),
            scopes: Scopes::default(),
            found: Findings::of(offsets.len()),
            issues: None,
            hides_mixed_comparisons: !env.options().cross_type_numeric_comparisons,
            dotted: DottedName::default(),
        }
    }

    /// Returns the findings, or the problems that were found. The types contain no type variables.
    fn finish(mut self, root: ExprId) -> Result<Findings, Issues> {
        for Meaning { ty, referent } in &mut self.found.meanings {
            if let Some(resolved) = self.bindings.resolved(ty) {
                *ty = resolved;
            }
            // Upstream treats a variable whose values are types as the name of a type.
            if let (Type::Type(_), Referent::Variable) = (ty, &referent) {
                *referent = Referent::Type;
            }
        }
        if self.bindings.is_exhausted() {
            self.report(
                root,
                format_args!("the types of the expression are too large"),
            );
        }
        match self.issues {
            Some(issues) => Err(issues),
            None => Ok(self.found),
        }
    }

    pub(super) fn check(&mut self, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Constant(constant) => {
                let ty = type_of_constant(constant);
                self.set_type(expr.id, ty);
            }
            ExprKind::Ident(_) => self.check_ident(expr),
            ExprKind::Select(_) => self.check_select(expr),
            ExprKind::Call(call) => self.check_call(expr.id, call),
            ExprKind::List(list) => self.check_list(expr.id, list),
            ExprKind::Map(entries) => self.check_map(expr.id, entries),
            ExprKind::Struct(message) => self.check_struct(expr.id, message),
            ExprKind::Comprehension(fold) => self.check_comprehension(expr.id, fold),
        }
    }

    fn check_ident(&mut self, expr: &mut Expr) {
        let ExprKind::Ident(name) = &mut expr.kind else {
            return;
        };
        if let Some(ty) = self.scopes.find_plain(self.env, name) {
            let ty = ty.clone();
            return self.set(expr.id, ty, Referent::Variable);
        }
        if let Some(declared) = self.scopes.find(self.env, name) {
            self.set(expr.id, declared.ty, declared.referent);
            *name = declared.name;
            return;
        }
        self.set_type(expr.id, Type::Error);
        let name = name.clone();
        self.report_undeclared(expr.id, &name);
    }

    /// Checks a selection. If the selection's dotted name is declared, as a variable, type or enumeration constant, the selection becomes
    /// an identifier with this name.
    fn check_select(&mut self, expr: &mut Expr) {
        if let Some(declared) = self.dotted.find(expr, &self.scopes, self.env) {
            self.set(expr.id, declared.ty, declared.referent);
            expr.kind = ExprKind::Ident(declared.name);
            return;
        }
        let ExprKind::Select(select) = &mut expr.kind else {
            return;
        };
        let Select {
            operand,
            field,
            test_only,
        } = &mut **select;
        let ty = self.check_field(expr.id, operand, field, false);
        self.set_type(expr.id, if *test_only { Type::Bool } else { ty });
    }

    /// The type of a field of `operand`, which is checked first. `optional` means that the field is selected with `.?`.
    pub(super) fn check_field(
        &mut self,
        id: ExprId,
        operand: &mut Expr,
        field: &str,
        optional: bool,
    ) -> Type {
        self.check(operand);
        // Most operands have the type `dyn` or an object type. These contain no type variables.
        let known = match self.type_of(operand.id) {
            Type::Dyn => Some(Type::Dyn),
            Type::Struct(name) => self.env.provider().field_type(name, field),
            _ => None,
        };
        if let Some(ty) = known {
            return match optional {
                true => Type::optional(ty),
                false => ty,
            };
        }
        let operand_type = self.bindings.substitute(self.type_of(operand.id));
        let unwrapped = operand_type.as_optional();
        let target = unwrapped.unwrap_or(&operand_type);
        let ty = match target {
            Type::Map(entry) => entry.1.clone(),
            Type::Struct(name) => self.field_type(id, name, field).unwrap_or(Type::Error),
            Type::Dyn | Type::Any | Type::Error | Type::Param(_) => Type::Dyn,
            Type::Var(_) => {
                // Binds the operand's type to `dyn`, so that a later use cannot bind it to a type without fields.
                self.bindings.assignable(&Type::Dyn, target);
                Type::Dyn
            }
            other => {
                let message = format_args!(
                    "type '{}' does not support field selection",
                    other.in_message()
                );
                self.report(id, message);
                Type::Dyn
            }
        };
        let ty = if optional || unwrapped.is_some() {
            Type::optional(ty)
        } else {
            ty
        };
        self.bindings.substitute(&ty)
    }

    /// The type of a field of a named type; reports a problem at `id` if the type has no such field.
    pub(super) fn field_type(&mut self, id: ExprId, type_name: &str, field: &str) -> Option<Type> {
        let host = self.env.provider();
        if let Some(ty) = host.field_type(type_name, field) {
            return Some(ty);
        }
        let found = match host.find_type(type_name) {
            Some(_) => None,
            None if Type::of_message(type_name).is_some() => {
                Type::of_message_field(type_name, field)
            }
            None => {
                let message = format_args!("unexpected failed resolution of '{type_name}'");
                self.report(id, message);
                return None;
            }
        };
        if found.is_none() {
            self.report(id, format_args!("undefined field '{field}'"));
        }
        found
    }

    fn check_comprehension(&mut self, id: ExprId, fold: &mut Comprehension) {
        self.check(&mut fold.iter_range);
        self.check(&mut fold.accu_init);
        let range_id = fold.iter_range.id;
        let range = self.bindings.substitute(self.type_of(range_id));
        let accu_type = self.type_of(fold.accu_init.id).clone();
        self.hides_mixed_comparisons = false;
        let outside = self.scopes.depth();
        self.scopes.enter(fold.accu_var.clone(), accu_type.clone());
        // `one` is the type of a single loop variable. `two` holds the types of the first and second of two loop variables.
        let (one, two) = match &range {
            Type::List(element) => (Type::clone(element), (Type::Int, Type::clone(element))),
            Type::Map(entry) => (entry.0.clone(), (entry.0.clone(), entry.1.clone())),
            Type::Dyn | Type::Error | Type::Var(_) | Type::Param(_) => {
                self.bindings.assignable(&Type::Dyn, &range);
                (Type::Dyn, (Type::Dyn, Type::Dyn))
            }
            other => {
                let message = format_args!(
                    "expression of type '{}' cannot be range of a comprehension (must be list, map, or dynamic)",
                    other.in_message()
                );
                self.report(range_id, message);
                (Type::Error, (Type::Error, Type::Error))
            }
        };
        let loop_scope = self.scopes.depth();
        match &fold.iter_var2 {
            None => self.scopes.enter(fold.iter_var.clone(), one),
            Some(second) => {
                self.scopes.enter(fold.iter_var.clone(), two.0);
                self.scopes.enter(second.clone(), two.1);
            }
        }
        self.check(&mut fold.loop_condition);
        self.expect(fold.loop_condition.id, &Type::Bool);
        self.check(&mut fold.loop_step);
        self.expect(fold.loop_step.id, &accu_type);
        self.scopes.leave_to(loop_scope);
        self.check(&mut fold.result);
        self.scopes.leave_to(outside);
        let result = self.bindings.substitute(self.type_of(fold.result.id));
        self.set_type(id, result);
    }

    /// Reports a problem if the node does not have the expected type.
    fn expect(&mut self, id: ExprId, expected: &Type) {
        let actual = self.type_of(id).clone();
        if !self.bindings.assignable(expected, &actual) {
            self.report_mismatch(id, expected, &actual);
        }
    }

    pub(super) fn function(&self, name: &str) -> Option<FunctionIndex> {
        find_function(self.env, name)
    }

    pub(super) fn type_of(&self, id: ExprId) -> &Type {
        type_in(&self.found.meanings, id)
    }

    pub(super) fn set_type(&mut self, id: ExprId, ty: Type) {
        if let Some(meaning) = self.found.meanings.get_mut(id.index()) {
            meaning.ty = ty;
        }
    }

    /// Records the type and the referent of a node.
    pub(super) fn set(&mut self, id: ExprId, ty: Type, referent: Referent) {
        if let Some(meaning) = self.found.meanings.get_mut(id.index()) {
            *meaning = Meaning { ty, referent };
        }
    }

    /// Records that a node calls a function. The possible overloads are the candidates from `first` on.
    pub(super) fn set_call(
        &mut self,
        id: ExprId,
        ty: Type,
        function: (FunctionIndex, &FunctionDecl),
        first: usize,
    ) {
        self.found.literals = self.found.literals.union(function.1.literals);
        let place = |index| u32::try_from(index).unwrap_or(u32::MAX);
        let referent = Referent::Call {
            function: function.0,
            first: place(first),
            end: place(self.found.candidates.len()),
        };
        self.set(id, ty, referent);
    }

    #[cold]
    pub(super) fn report(&mut self, id: ExprId, message: fmt::Arguments<'_>) {
        let offset = self.offsets.get(id.index()).copied().unwrap_or(0);
        let location = self.source.location(offset);
        self.issues
            .get_or_insert_with(|| Issues::new(self.source, Phase::Check))
            .report(location, message.to_string());
    }

    #[cold]
    pub(super) fn report_mismatch(&mut self, id: ExprId, expected: &Type, actual: &Type) {
        let (expected, actual) = (expected.in_message(), actual.in_message());
        let message = format_args!("expected type '{expected}' but found '{actual}'");
        self.report(id, message);
    }

    #[cold]
    pub(super) fn report_undeclared(&mut self, id: ExprId, name: &str) {
        let container = self.env.container();
        let message = format_args!("undeclared reference to '{name}' (in container '{container}')");
        self.report(id, message);
    }
}

fn type_of_constant(constant: &Constant) -> Type {
    match constant {
        Constant::Null => Type::Null,
        Constant::Bool(_) => Type::Bool,
        Constant::Int(_) => Type::Int,
        Constant::Uint(_) => Type::Uint,
        Constant::Double(_) => Type::Double,
        Constant::String(_) => Type::String,
        Constant::Bytes(_) => Type::Bytes,
    }
}
