//! Compiles the expressions of an object for validation. An expression that the old object had in the same field is compiled as a stored
//! expression, which may use functions that new expressions must not use yet.

use std::borrow::Cow;
use std::collections::BTreeSet;

use gavel_apimachinery::field::{BadValue, Error, ErrorType, ExpressionPlace, Path};
use gavel_apimachinery::json;
use gavel_apimachinery::server::Difference;
use gavel_engine::program::Interrupt;
use gavel_libraries::EnvSet;

use crate::api::Variable;
use crate::cel::{CompileErrorKind, Compiler, Declarations, Expression, ExpressionKind};

/// A compiler for new expressions, and one for expressions that are already stored.
#[derive(Debug, Clone)]
pub(super) struct Compilers {
    bases: EnvSet,
    new: Compiler,
    stored: Compiler,
}

/// The compilers of a validation, which an interrupt stops.
#[derive(Clone, Copy)]
pub(super) struct Interruptible<'c> {
    pub(super) compilers: &'c Compilers,
    pub(super) interrupt: Interrupt<'c>,
}

/// The compilers for the expressions of one object.
pub(super) struct Expressions<'c> {
    compilers: Cow<'c, Compilers>,
    interrupt: Interrupt<'c>,
}

impl Compilers {
    pub(super) fn new(bases: &EnvSet) -> Self {
        Compilers {
            new: Compiler::new(bases.new_expressions()),
            stored: Compiler::new(bases.stored_expressions()),
            bases: bases.clone(),
        }
    }
}

impl<'c> Interruptible<'c> {
    /// Compilers for expressions that cannot read variables.
    pub(super) fn plain(self) -> Expressions<'c> {
        Expressions {
            compilers: Cow::Borrowed(self.compilers),
            interrupt: self.interrupt,
        }
    }

    /// Compilers for expressions that can read variables.
    pub(super) fn composed(self) -> Expressions<'c> {
        let bases = &self.compilers.bases;
        let compilers = Compilers {
            new: Compiler::with_variables(bases.new_expressions()),
            stored: Compiler::with_variables(bases.stored_expressions()),
            bases: bases.clone(),
        };
        Expressions {
            compilers: Cow::Owned(compilers),
            interrupt: self.interrupt,
        }
    }
}

impl Expressions<'_> {
    /// Compiles an expression and returns its error, if any. `is_old` tells whether the old object had the expression. After an interrupt,
    /// every expression has an error.
    pub(super) fn check(
        &self,
        kind: ExpressionKind,
        text: &str,
        declarations: Declarations,
        is_old: bool,
        path: &Path<'_>,
    ) -> Option<Error> {
        if let Some(interrupted) = self.interrupted(path) {
            return Some(interrupted);
        }
        let Compilers { new, stored, .. } = &*self.compilers;
        let compiler = if is_old { stored } else { new };
        self.error(&compiler.compile(kind, text, declarations), path)
    }

    /// Like `check`, for fields whose expression is compiled without the white space around it. The position of the error is in the text
    /// with the white space.
    pub(super) fn check_trimmed(
        &self,
        kind: ExpressionKind,
        text: &str,
        declarations: Declarations,
        is_old: bool,
        path: &Path<'_>,
    ) -> Option<Error> {
        let error = self.check(kind, text.trim(), declarations, is_old, path)?;
        let (space, _) =
            text.split_at_checked(text.len().saturating_sub(text.trim_start().len()))?;
        Some(Error {
            expression: error.expression.map(|place| place.behind(space)),
            ..error
        })
    }

    /// Compiles a variable, declares it for later expressions, and returns its error, if any. `is_old` tells whether the old object had the
    /// expression.
    pub(super) fn check_variable(
        &mut self,
        Variable { name, expression }: &Variable,
        declarations: Declarations,
        is_old: bool,
        path: &Path<'_>,
    ) -> Option<Error> {
        if let Some(interrupted) = self.interrupted(path) {
            return Some(interrupted);
        }
        let Compilers { new, stored, .. } = self.compilers.to_mut();
        let (compiler, other) = if is_old { (stored, new) } else { (new, stored) };
        let expression = compiler.compile_variable(name, expression, declarations);
        if let Some(ty) = compiler.variable_type(name) {
            other.declare(name, ty.clone());
        }
        self.error(&expression, path)
    }

    /// The error of an expression that is not compiled because of an interrupt.
    fn interrupted(&self, path: &Path<'_>) -> Option<Error> {
        let is_over = self.interrupt.is_some_and(|interrupt| interrupt());
        is_over.then(|| self.internal(path, "operation interrupted"))
    }

    fn error(&self, expression: &Expression, path: &Path<'_>) -> Option<Error> {
        let error = expression.program().err()?;
        Some(match error.kind {
            CompileErrorKind::Invalid => Error::invalid(path, expression.text(), &error.message)
                .in_expression(ExpressionPlace::new(error.position)),
            CompileErrorKind::Internal => self.internal(path, &error.message),
        })
    }

    /// An internal error. Its value is the error itself, in Go's JSON form, or nothing in older versions.
    fn internal(&self, path: &Path<'_>, message: &str) -> Error {
        let server = self.compilers.bases.server();
        let value = match server.has(Difference::InternalErrorsHaveValues) {
            true => BadValue::Text(format!(
                "{{\"Type\":\"InternalError\",\"Detail\":{},\"Cause\":null}}",
                json::quoted(message)
            )),
            false => BadValue::Omitted,
        };
        Error::new(ErrorType::Internal, path, value, message)
    }
}

/// The expressions of the object before an update, for each field.
#[derive(Debug, Default)]
pub(super) struct OldExpressions<'o> {
    pub(super) match_conditions: BTreeSet<&'o str>,
    pub(super) validations: BTreeSet<&'o str>,
    pub(super) messages: BTreeSet<&'o str>,
    pub(super) audit_annotations: BTreeSet<&'o str>,
    pub(super) apply_configurations: BTreeSet<&'o str>,
}
