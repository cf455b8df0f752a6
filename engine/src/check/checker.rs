//! The type checker: gives every node a type and resolves every name (cel-go `checker/checker.go`).
//!
//! Recursion is bounded by the depth of the tree, which the parser limits.

use std::fmt;
use std::sync::OnceLock;

use smol_str::SmolStr;

use super::dotted::DottedName;
use super::names::{Scopes, find_function};
use super::unify::Bindings;
use super::{CheckedAst, Findings, Meaning, Referent, Validator, type_in};
use crate::ast::{Ast, Call, Comprehension, Constant, Expr, ExprId, ExprKind, Select};
use crate::decl::{Declarations, FunctionDecl, FunctionIndex};
use crate::issues::{Issues, Phase};
use crate::types::Type;

/// Checks a parsed expression, then runs the validators in their order.
///
/// # Errors
///
/// All problems that were found. The validators only run if the check itself finds none.
pub fn check(ast: Ast, env: &Declarations, validators: &[Validator]) -> Result<CheckedAst, Issues> {
    let mut checked = CheckedAst {
        ast,
        found: Findings::default(),
        functions: env.shared_functions(),
        patterns: OnceLock::new(),
    };
    let rewritten = {
        let mut checker = Checker::new(env, &checked.ast);
        checker.check(checked.ast.root());
        checker.finish();
        if let Some(issues) = checker.issues {
            return Err(issues);
        }
        checked.found = checker.found;
        checker.rewritten
    };
    let ast = &mut checked.ast;
    for (id, rewrite) in rewritten {
        match rewrite {
            Rewrite::Ident(name) => ast.set_ident(id, &name),
            Rewrite::Renamed(name) => ast.rename(id, &name, false),
            Rewrite::Global(name) => ast.rename(id, &name, true),
        }
    }
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

/// A function of the environment.
pub(super) type Declared<'d> = (FunctionIndex, &'d FunctionDecl);

/// What a node becomes.
#[derive(Debug)]
pub(super) enum Rewrite {
    /// A name: the selection spells the dotted name of a variable.
    Ident(SmolStr),
    /// A call of the function, or a literal of the type, with this full name.
    Renamed(SmolStr),
    /// A global call: the receiver is a part of the function's name.
    Global(SmolStr),
}

/// The state of a check.
pub(super) struct Checker<'c> {
    pub(super) env: &'c Declarations,
    ast: &'c Ast,
    pub(super) bindings: Bindings,
    pub(super) scopes: Scopes<'c>,
    pub(super) found: Findings,
    /// The nodes that are not as the parser built them. The tree stays as it is while it is checked.
    rewritten: Vec<(ExprId, Rewrite)>,
    issues: Option<Issues>,
    /// Whether overloads that compare numbers of different types are hidden. Like upstream, the checker no longer hides them after the
    /// first comprehension.
    pub(super) hides_mixed_comparisons: bool,
    pub(super) dotted: DottedName<'c>,
}

impl<'c> Checker<'c> {
    fn new(env: &'c Declarations, ast: &'c Ast) -> Self {
        Checker {
            env,
            ast,
            bindings: Bindings::new(),
            scopes: Scopes::default(),
            found: Findings::of(ast.id_bound()),
            rewritten: Vec::new(),
            issues: None,
            hides_mixed_comparisons: !env.options().cross_type_numeric_comparisons,
            dotted: DottedName::default(),
        }
    }

    /// Replaces the type variables in all types.
    fn finish(&mut self) {
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
                self.ast.root().id,
                format_args!("the types of the expression are too large"),
            );
        }
    }

    pub(super) fn check(&mut self, expr: Expr<'c>) {
        match expr.kind_inlined() {
            ExprKind::Constant(constant) => {
                let ty = type_of_constant(constant);
                self.set_type(expr.id, ty);
            }
            ExprKind::Ident(name) => self.check_ident(expr.id, name),
            ExprKind::Select(select) => self.check_select(expr, &select),
            ExprKind::Call(call) => self.check_call(expr.id, &call),
            ExprKind::List(list) => self.check_list(expr.id, &list),
            ExprKind::Map(map) => self.check_map(expr.id, map),
            ExprKind::Struct(message) => self.check_struct(expr.id, message),
            ExprKind::Comprehension(fold) => self.check_comprehension(expr.id, &fold),
        }
    }

    fn check_ident(&mut self, id: ExprId, name: &'c str) {
        if let Some(ty) = self.scopes.find_plain(self.env, name) {
            let ty = ty.clone();
            return self.set(id, ty, Referent::Variable);
        }
        if let Some(declared) = self.scopes.find(self.env, name) {
            self.set(id, declared.ty, declared.referent);
            if declared.name != name {
                self.rewrite(id, Rewrite::Ident(declared.name));
            }
            return;
        }
        self.set_type(id, Type::Error);
        self.report_undeclared(id, name);
    }

    /// Checks a selection. If the selection's dotted name is declared, as a variable, type or enumeration constant, the selection becomes
    /// an identifier with this name.
    fn check_select(&mut self, expr: Expr<'c>, select: &Select<'c>) {
        if let Some(declared) = self.dotted.find(expr, &self.scopes, self.env) {
            self.set(expr.id, declared.ty, declared.referent);
            return self.rewrite(expr.id, Rewrite::Ident(declared.name));
        }
        let ty = self.check_field(expr.id, select.operand, select.field, false);
        self.set_type(expr.id, if select.test_only { Type::Bool } else { ty });
    }

    /// The type of a field of `operand`, which is checked first. `optional` means that the field is selected with `.?`.
    pub(super) fn check_field(
        &mut self,
        id: ExprId,
        operand: Expr<'c>,
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
            let ty = self.bindings.bounded(ty);
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
            return Some(self.bindings.bounded(ty));
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

    fn check_comprehension(&mut self, id: ExprId, fold: &Comprehension<'c>) {
        self.check(fold.iter_range());
        self.check(fold.accu_init());
        let range_id = fold.iter_range().id;
        let range = self.bindings.substitute(self.type_of(range_id));
        let accu_type = self.type_of(fold.accu_init().id).clone();
        self.hides_mixed_comparisons = false;
        let outside = self.scopes.depth();
        self.scopes.enter(fold.accu_var(), accu_type.clone());
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
        match fold.iter_var2() {
            None => self.scopes.enter(fold.iter_var(), one),
            Some(second) => {
                self.scopes.enter(fold.iter_var(), two.0);
                self.scopes.enter(second, two.1);
            }
        }
        self.check(fold.loop_condition());
        self.expect(fold.loop_condition().id, &Type::Bool);
        self.check(fold.loop_step());
        self.expect(fold.loop_step().id, &accu_type);
        self.scopes.leave_to(loop_scope);
        self.check(fold.result());
        self.scopes.leave_to(outside);
        let result = self.bindings.substitute(self.type_of(fold.result().id));
        self.set_type(id, result);
    }

    /// Reports a problem if the node does not have the expected type.
    fn expect(&mut self, id: ExprId, expected: &Type) {
        let actual = self.type_of(id).clone();
        if !self.bindings.assignable(expected, &actual) {
            self.report_mismatch(id, expected, &actual);
        }
    }

    /// The function that a call means, without its receiver.
    pub(super) fn function(&self, call: &Call<'_>) -> Option<Declared<'c>> {
        match self.env.container().is_empty() && !call.function.starts_with('.') {
            true => self.declared(self.env.called(call)?),
            false => self.declared(find_function(self.env, call.function)?),
        }
    }

    pub(super) fn declared(&self, index: FunctionIndex) -> Option<Declared<'c>> {
        Some((index, self.env.function_at(index)?))
    }

    pub(super) fn type_of(&self, id: ExprId) -> &Type {
        type_in(&self.found.meanings, id)
    }

    pub(super) fn set_type(&mut self, id: ExprId, ty: Type) {
        if let Some(meaning) = self.found.meanings.get_mut(id.index()) {
            meaning.ty = ty;
        }
    }

    pub(super) fn rewrite(&mut self, id: ExprId, rewrite: Rewrite) {
        self.rewritten.push((id, rewrite));
    }

    /// Records the type and the referent of a node.
    pub(super) fn set(&mut self, id: ExprId, ty: Type, referent: Referent) {
        let ty = match referent {
            Referent::Variable => self.bindings.bounded(ty),
            _ => ty,
        };
        if let Some(meaning) = self.found.meanings.get_mut(id.index()) {
            *meaning = Meaning { ty, referent };
        }
    }

    /// Records that a node calls the only possible overload of a function.
    pub(super) fn set_call(&mut self, id: ExprId, ty: Type, function: Declared<'_>, overload: u16) {
        self.found.add_call(id, function.1.literals);
        let function = function.0;
        self.set(id, ty, Referent::Call { function, overload });
    }

    /// Records that a node calls a function with several possible overloads: the candidates from `first` on.
    pub(super) fn set_any_of(
        &mut self,
        id: ExprId,
        ty: Type,
        function: Declared<'_>,
        first: usize,
    ) {
        self.found.add_call(id, function.1.literals);
        let place = |index| u32::try_from(index).unwrap_or(u32::MAX);
        let referent = Referent::AnyOf {
            function: function.0,
            first: place(first),
            end: place(self.found.candidates.len()),
        };
        self.set(id, ty, referent);
    }

    #[cold]
    pub(super) fn report(&mut self, id: ExprId, message: fmt::Arguments<'_>) {
        let source = self.ast.source();
        let location = source.location(self.ast.offset(id));
        self.issues
            .get_or_insert_with(|| Issues::new(source, Phase::Check))
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

fn type_of_constant(constant: Constant<'_>) -> Type {
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
