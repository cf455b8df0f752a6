//! Calls: which function is called, and which of its overloads the arguments allow (cel-go `checker/checker.go`).

use std::fmt::Write;

use smallvec::SmallVec;

use super::checker::Checker;
use super::names::find_function;
use super::type_in;
use crate::ast::{Call, Constant, Expr, ExprId, ExprKind, operators};
use crate::decl::{FunctionDecl, FunctionIndex};
use crate::types::Type;

/// A function of the environment.
type Declared<'d> = (FunctionIndex, &'d FunctionDecl);

impl Checker<'_> {
    /// Checks the arguments and looks up the function. Checks the receiver before the lookup, unless the receiver is the beginning of a
    /// dotted function name.
    pub(super) fn check_call(&mut self, id: ExprId, call: &mut Call) {
        if call.function == operators::OPT_SELECT {
            return self.check_optional_select(id, call);
        }
        for argument in &mut call.args {
            self.check(argument);
        }
        let function = match &mut call.target {
            None => {
                let function = self.function(&call.function);
                // In a container, or after a dot, the function has another name than the call.
                if let Some(function) = function.and_then(|index| self.env.function_at(index))
                    && call.function != function.name
                {
                    call.function = function.name.clone();
                }
                function
            }
            Some(target) => {
                // The receiver may be the first part of a function's name.
                let env = self.env;
                let qualified = self
                    .dotted
                    .find_function(target, &call.function, env, |name| find_function(env, name));
                if let Some(function) = qualified.and_then(|index| env.function_at(index)) {
                    call.function = function.name.clone();
                    call.target = None;
                    qualified
                } else {
                    self.check(target);
                    self.function(&call.function)
                }
            }
        };
        let env = self.env;
        match function.and_then(|index| Some((index, env.function_at(index)?))) {
            Some(function) => self.resolve_overload(id, function, call),
            None => {
                self.report_undeclared(id, &call.function);
                self.set_type(id, Type::Error);
            }
        }
    }

    /// Checks `operand.?field`, for which the parser passes the field's name as a literal.
    fn check_optional_select(&mut self, id: ExprId, call: &mut Call) {
        let [operand, field] = call.args.as_mut_slice() else {
            return;
        };
        let ExprKind::Constant(Constant::String(field)) = &field.kind else {
            return;
        };
        let ty = self.check_field(id, operand, field, true);
        let env = self.env;
        let function = self.function(operators::OPT_SELECT);
        match function.and_then(|index| Some((index, env.function_at(index)?))) {
            Some(function) => self.set_only_call(id, ty, function),
            None => self.set_type(id, ty),
        }
    }

    /// Records the overloads that the arguments allow, and the type of the result: `dyn` if several overloads are possible and their results
    /// differ.
    fn resolve_overload(&mut self, id: ExprId, function: Declared<'_>, call: &Call) {
        let member = call.target.is_some();
        if matches!(
            &*function.1.name,
            operators::LOGICAL_AND | operators::LOGICAL_OR
        ) {
            return self.resolve_logic(id, function, call);
        }
        let mut arguments: SmallVec<[&Type; 4]> = SmallVec::new();
        for argument in call.target.iter().chain(&call.args) {
            arguments.push(type_in(&self.found.meanings, argument.id));
        }
        let mut result: Option<Type> = None;
        let first = self.found.candidates.len();
        for (position, overload) in (0u16..).zip(&function.1.overloads) {
            if overload.signature.member != member
                || (self.hides_mixed_comparisons && is_mixed_comparison(&overload.id))
            {
                continue;
            }
            let Some(ty) = self.bindings.call(&overload.signature, &arguments) else {
                continue;
            };
            self.found.candidates.push(position);
            result = match result {
                None => Some(ty),
                Some(Type::Dyn) => Some(Type::Dyn),
                Some(Type::Any) => Some(Type::Any),
                Some(first) if self.bindings.is_exact(&ty, &first) => Some(first),
                Some(_) => Some(Type::Dyn),
            };
        }
        drop(arguments);
        match result {
            Some(ty) => self.set_call(id, ty, function, first),
            None => {
                self.report_no_overload(id, &function.1.name, call);
                self.set_type(id, Type::Error);
            }
        }
    }

    /// Checks that each operand of `&&` or `||` is a bool, and reports each operand that is not.
    fn resolve_logic(&mut self, id: ExprId, function: Declared<'_>, call: &Call) {
        let mut agrees = true;
        for operand in &call.args {
            let ty = type_in(&self.found.meanings, operand.id);
            if !self.bindings.assignable(ty, &Type::Bool) {
                let ty = ty.clone();
                self.report_mismatch(operand.id, &Type::Bool, &ty);
                agrees = false;
            }
        }
        match agrees {
            true => self.set_only_call(id, Type::Bool, function),
            false => self.set_type(id, Type::Error),
        }
    }

    /// Records that a node calls the first overload of a function.
    fn set_only_call(&mut self, id: ExprId, ty: Type, function: Declared<'_>) {
        let first = self.found.candidates.len();
        self.found.candidates.push(0);
        self.set_call(id, ty, function, first);
    }

    #[cold]
    fn report_no_overload(&mut self, id: ExprId, name: &str, call: &Call) {
        let mut signature = String::new();
        let resolved = |operand: &Expr| {
            let ty = self.type_of(operand.id);
            self.bindings.resolved(ty).unwrap_or_else(|| ty.clone())
        };
        if let Some(receiver) = &call.target {
            // Writing to a string does not fail.
            let _ = write!(signature, "{}.", resolved(receiver).in_message());
        }
        let mut separator = "(";
        for argument in &call.args {
            let _ = write!(signature, "{separator}{}", resolved(argument).in_message());
            separator = ", ";
        }
        signature.push_str(if separator == "(" { "()" } else { ")" });
        let message =
            format_args!("found no matching overload for '{name}' applied to '{signature}'");
        self.report(id, message);
    }
}

/// Whether an overload compares numbers of different types, such as `less_int64_double`.
pub fn is_mixed_comparison(id: &str) -> bool {
    ["less_", "less_equals_", "greater_", "greater_equals_"]
        .iter()
        .any(|comparison| {
            matches!(
                id.strip_prefix(comparison),
                Some(
                    "int64_double"
                        | "int64_uint64"
                        | "uint64_double"
                        | "uint64_int64"
                        | "double_int64"
                        | "double_uint64"
                )
            )
        })
}
