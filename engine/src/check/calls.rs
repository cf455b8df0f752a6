//! Calls: which function is called, and which of its overloads the arguments allow (cel-go `checker/checker.go`).

use std::fmt::Write;

use smallvec::SmallVec;

use super::checker::{Checker, Declared, Rewrite};
use super::names::find_function;
use super::type_in;
use crate::ast::named;
use crate::ast::{Call, Expr, ExprId};
use crate::decl::{Fit, OperandTypes};
use crate::types::Type;

/// Most calls have at most this many possible overloads.
const USUAL_CANDIDATES: usize = 16;

impl<'c> Checker<'c> {
    /// Checks the arguments and looks up the function. Checks the receiver before the lookup, unless the receiver is the beginning of a
    /// dotted function name.
    pub(super) fn check_call(&mut self, id: ExprId, call: &Call<'c>) {
        if call.name == named::OPT_SELECT {
            return self.check_optional_select(id, call);
        }
        for argument in call.args.iter() {
            self.check(argument);
        }
        let (function, target) = match call.target {
            None => {
                let function = self.function(call);
                // In a container, or after a dot, the function has another name than the call.
                if let Some((_, function)) = function
                    && call.function != function.name
                {
                    self.rewrite(id, Rewrite::Renamed(function.name.clone()));
                }
                (function, None)
            }
            Some(target) => {
                // The receiver may be the first part of a function's name.
                let env = self.env;
                let qualified = self
                    .dotted
                    .find_function(target, call.function, env, |name| find_function(env, name));
                let qualified = qualified.and_then(|index| self.declared(index));
                if let Some((_, function)) = qualified {
                    self.rewrite(id, Rewrite::Global(function.name.clone()));
                    (qualified, None)
                } else {
                    self.check(target);
                    (self.function(call), Some(target))
                }
            }
        };
        match function {
            Some(function) => self.resolve_overload(id, function, &Call { target, ..*call }),
            None => {
                self.report_undeclared(id, call.function);
                self.set_type(id, Type::Error);
            }
        }
    }

    /// Checks `operand.?field`, for which the parser passes the field's name as a literal.
    fn check_optional_select(&mut self, id: ExprId, call: &Call<'c>) {
        let Some([operand, field]) = call.args.array() else {
            return;
        };
        let Some(field) = field.as_text() else {
            return;
        };
        let ty = self.check_field(id, operand, field, true);
        match self.function(call) {
            Some(function) => self.set_call(id, ty, function, 0),
            None => self.set_type(id, ty),
        }
    }

    /// Records the overloads that the arguments allow, and the type of the result: `dyn` if several overloads are possible and their results
    /// differ.
    fn resolve_overload(&mut self, id: ExprId, function: Declared<'_>, call: &Call<'c>) {
        let member = call.target.is_some();
        if matches!(call.name, named::LOGICAL_AND | named::LOGICAL_OR) {
            return self.resolve_logic(id, function, call);
        }
        let mut arguments: SmallVec<[&Type; 4]> = SmallVec::new();
        for argument in call.target.into_iter().chain(call.args.iter()) {
            arguments.push(type_in(&self.found.meanings, argument.id));
        }
        let mut result: Option<Type> = None;
        let first = self.found.candidates.len();
        let mut only = None;
        let types = OperandTypes::of(arguments.iter().copied());
        let overloads = function.1.shapes.iter().zip(&function.1.overloads);
        for (position, (shape, overload)) in (0u16..).zip(overloads) {
            if shape.member != member
                || (self.hides_mixed_comparisons && is_mixed_comparison(&overload.id))
            {
                continue;
            }
            // Every attempt, even a failed one, creates new variables for the signature's type parameters.
            let variables = self.bindings.fresh_block(shape.variables);
            let signature = &overload.signature;
            let ty = match shape.fit(types) {
                Fit::No => continue,
                Fit::Yes => signature.result.clone(),
                Fit::Unknown => match self.bindings.call(signature, &arguments, variables) {
                    Some(ty) => ty,
                    None => continue,
                },
            };
            if let Some(before) = only.take() {
                self.found.candidates.reserve(USUAL_CANDIDATES);
                self.found.candidates.push(before);
            }
            match result {
                None => only = Some(position),
                Some(_) => self.found.candidates.push(position),
            }
            result = match result {
                None => Some(ty),
                Some(Type::Dyn) => Some(Type::Dyn),
                Some(Type::Any) => Some(Type::Any),
                Some(first) if self.bindings.is_exact(&ty, &first) => Some(first),
                Some(_) => Some(Type::Dyn),
            };
        }
        drop(arguments);
        match (result, only) {
            (Some(ty), Some(only)) => self.set_call(id, ty, function, only),
            (Some(ty), None) => self.set_any_of(id, ty, function, first),
            (None, _) => {
                self.report_no_overload(id, &function.1.name, call);
                self.set_type(id, Type::Error);
            }
        }
    }

    /// Checks that each operand of `&&` or `||` is a bool, and reports each operand that is not.
    fn resolve_logic(&mut self, id: ExprId, function: Declared<'_>, call: &Call<'c>) {
        let mut agrees = true;
        for operand in call.args.iter() {
            let ty = type_in(&self.found.meanings, operand.id);
            if !self.bindings.assignable(ty, &Type::Bool) {
                let ty = ty.clone();
                self.report_mismatch(operand.id, &Type::Bool, &ty);
                agrees = false;
            }
        }
        match agrees {
            true => self.set_call(id, Type::Bool, function, 0),
            false => self.set_type(id, Type::Error),
        }
    }

    #[cold]
    fn report_no_overload(&mut self, id: ExprId, name: &str, call: &Call<'c>) {
        let mut signature = String::new();
        let resolved = |operand: Expr<'_>| {
            let ty = self.type_of(operand.id);
            self.bindings.resolved(ty).unwrap_or_else(|| ty.clone())
        };
        if let Some(receiver) = call.target {
            // Writing to a string does not fail.
            let _ = write!(signature, "{}.", resolved(receiver).in_message());
        }
        let mut separator = "(";
        for argument in call.args.iter() {
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
