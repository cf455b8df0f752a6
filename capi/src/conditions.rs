//! Compiles and evaluates single expressions of policies and webhooks, for hosts with their own admission code.

use std::sync::{PoisonError, RwLock};

use gavel_apimachinery::server::Server;
use gavel_engine::value::{Arena, Json};
use gavel_libraries::EnvSet;
use gavel_policy::cel::{Bindings, COST_BUDGET, Composition, Declarations, Expression, Outcome};
use gavel_protocol::server_of;

use crate::arguments;
use crate::definition::uncompiled;
use crate::environment::{flag, options};
use crate::error::{Failure, GavelError, GavelErrorKind, guard, guard_compiling};
use crate::flat::{Flavour, Given, Reader, tag};
use crate::memory::{self, GavelBytes};
use crate::options::{GavelOptions, Limits};
use crate::program::{GavelOutcome, GavelValueKind, read_authorizer, unfit};

/// A compiler of expressions, with the variables that expressions can read.
#[derive(Debug)]
pub struct GavelConditions(RwLock<Composition>);

/// A compiled expression.
#[derive(Debug)]
pub struct GavelCondition(Expression);

/// The variables that an expression can read in addition to `object`, `oldObject`, `request` and `namespaceObject`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct GavelDeclarations {
    /// Whether `params` is declared.
    pub params: bool,
    /// Whether `authorizer` and `authorizer.requestResource` are declared.
    pub authorizer: bool,
    /// Whether the types and functions of mutations (`Object`, `JSONPatch`) are declared.
    pub patch_types: bool,
}

impl From<GavelDeclarations> for Declarations {
    fn from(declared: GavelDeclarations) -> Self {
        Declarations {
            params: declared.params,
            authorizer: declared.authorizer,
            patch_types: declared.patch_types,
        }
    }
}

/// The keys of the configuration of a compiler.
const KEYS: &[&str] = &["server", "k8sVersion", "mode", "variables"];

/// Creates a compiler. `config` is JSON with the keys `server`, `k8sVersion`, `mode` ("new" or "stored") and `variables` (whether
/// expressions can read `variables`).
///
/// # Safety
///
/// `config` must point to `config_len` bytes, and `out` to memory for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_conditions_new(
    config: *const u8,
    config_len: usize,
    out: *mut *mut GavelConditions,
) -> *mut GavelError {
    guard_compiling(|| {
        let out = arguments::out(out)?;
        // SAFETY: the caller vouches for the bytes.
        let config = options(unsafe { arguments::bytes(config, config_len) }?, KEYS)?;
        let environments =
            EnvSet::new(server_of(&config, Server::compatible)?).map_err(uncompiled)?;
        let base = match config.get("mode").and_then(Json::as_str) {
            Some("stored") => environments.stored_expressions(),
            _ => environments.new_expressions(),
        };
        let variables = flag(&config, "variables")?;
        let conditions = GavelConditions(RwLock::new(Composition::new(base, variables)));
        // SAFETY: the caller vouches for `out`.
        unsafe { memory::write_handle(out, conditions) };
        Ok(())
    })
}

/// Compiles a variable and declares it for later expressions. A variable that does not compile is declared too, but expressions that read
/// it fail. `type_name` receives the type of the variable. The call waits until the running evaluations of this compiler have ended, so
/// a callback of an evaluation must not use the compiler.
///
/// # Safety
///
/// `conditions` must be a compiler that was not freed. `name` and `text` must point to as many bytes as their lengths say, and `type_name`
/// to memory for bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_conditions_variable(
    conditions: *const GavelConditions,
    name: *const u8,
    name_len: usize,
    text: *const u8,
    text_len: usize,
    declared: GavelDeclarations,
    type_name: *mut GavelBytes,
) -> *mut GavelError {
    guard_compiling(|| {
        let type_name = arguments::out(type_name)?;
        // SAFETY: the caller vouches for the compiler.
        let conditions = unsafe { arguments::handle(conditions) }?;
        // SAFETY: the caller vouches for the text.
        let name = unsafe { arguments::text(name, name_len) }?;
        // SAFETY: the caller vouches for the text.
        let text = unsafe { arguments::text(text, text_len) }?;
        let mut composition = conditions.0.write().unwrap_or_else(PoisonError::into_inner);
        let ty = composition.variable(name, text, declared.into());
        let ty = ty.map_err(|error| {
            GavelError::new(GavelErrorKind::Compile, error.message).at(error.position)
        })?;
        // SAFETY: the caller vouches for `type_name`.
        unsafe { memory::write(type_name, ty.to_string().into_bytes().into()) };
        Ok(())
    })
}

/// Compiles an expression of any type. `type_name` receives the type of the expression.
///
/// # Safety
///
/// `conditions` must be a compiler that was not freed. `text` must point to `text_len` bytes, `out` to memory for a handle, and `type_name`
/// to memory for bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_conditions_compile(
    conditions: *const GavelConditions,
    text: *const u8,
    text_len: usize,
    declared: GavelDeclarations,
    out: *mut *mut GavelCondition,
    type_name: *mut GavelBytes,
) -> *mut GavelError {
    guard_compiling(|| {
        let out = arguments::out(out)?;
        let type_name = arguments::out(type_name)?;
        // SAFETY: the caller vouches for the compiler.
        let conditions = unsafe { arguments::handle(conditions) }?;
        // SAFETY: the caller vouches for the text.
        let text = unsafe { arguments::text(text, text_len) }?;
        let composition = conditions.0.read().unwrap_or_else(PoisonError::into_inner);
        let (expression, ty) = composition.compile(text, declared.into());
        if let Err(error) = expression.program() {
            let message = error.message.clone();
            return Err(GavelError::new(GavelErrorKind::Compile, message).at(error.position));
        }
        // SAFETY: the caller vouches for `out`.
        unsafe { memory::write_handle(out, GavelCondition(expression)) };
        // SAFETY: the caller vouches for `type_name`.
        unsafe { memory::write(type_name, ty.to_string().into_bytes().into()) };
        Ok(())
    })
}

/// Evaluates expressions of this compiler in order. A null expression has an empty outcome. `variables` is an object in the flat encoding,
/// or JSON text with tag 32: `object`, `oldObject`, `request`, `params`, `namespaceObject`, `authorizer`, `authorizer.requestResource`. Each
/// variable may be absent, but the last two only together; no bytes are no variables. The cost limit in the options is the budget of all
/// expressions together. `remaining` receives the rest of the budget. If the budget was exceeded, `remaining` is -1, and no outcome is
/// written. An outcome of kind `Error` contains the message.
///
/// # Safety
///
/// `conditions` must be a compiler that was not freed. `expressions` must point to `count` handles, each null or not freed; `variables` to
/// `variables_len` bytes, in which all handles are valid; `outcomes` to memory for `count` outcomes; and `remaining` to memory for a
/// number. `options` must be null or point to options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_conditions_eval(
    conditions: *const GavelConditions,
    expressions: *const *const GavelCondition,
    count: usize,
    variables: *const u8,
    variables_len: usize,
    options: *const GavelOptions,
    outcomes: *mut GavelOutcome,
    remaining: *mut i64,
) -> *mut GavelError {
    guard(|| {
        let remaining = arguments::out(remaining)?;
        // SAFETY: the caller vouches for the compiler.
        let conditions = unsafe { arguments::handle(conditions) }?;
        if count > 0 && (expressions.is_null() || outcomes.is_null()) {
            let message = "expressions and outcomes must not be null";
            return Err(GavelError::new(GavelErrorKind::Argument, message));
        }
        // SAFETY: the caller vouches for the handles.
        let expressions = unsafe { memory::optional_handles(expressions, count) };
        let expressions: Vec<Option<&Expression>> = expressions
            .iter()
            .map(|one| one.map(|one| &one.0))
            .collect();
        // SAFETY: the caller vouches for the bytes.
        let variables = unsafe { arguments::bytes(variables, variables_len) }?;
        // SAFETY: the caller vouches for the options.
        let limits = unsafe { Limits::read(options) };
        let composition = conditions.0.read().unwrap_or_else(PoisonError::into_inner);
        let interrupt = || limits.is_over();
        let arena = Arena::new();
        // SAFETY: the caller vouches for the handles within the bytes.
        let bindings = unsafe { bindings(variables, &limits, &arena) }?;
        let mut budget = limits.cost.unwrap_or(COST_BUDGET);
        let interrupt = limits.interrupt(&interrupt);
        let found = composition.evaluate(&expressions, &bindings, interrupt, &mut budget, &arena);
        limits.check()?;
        let Some(found) = found else {
            // SAFETY: the caller vouches for `remaining`.
            unsafe { memory::write(remaining, -1) };
            return Ok(());
        };
        for (n, outcome) in found.iter().enumerate() {
            // SAFETY: the caller vouches for memory for `count` outcomes, and there are as many expressions.
            let out = unsafe { outcomes.add(n) };
            // SAFETY: `out` points to an element of the caller's memory for outcomes.
            unsafe { out.write(written(outcome)) };
        }
        // SAFETY: the caller vouches for `remaining`.
        unsafe { memory::write(remaining, budget) };
        Ok(())
    })
}

/// Converts an outcome for the host.
fn written(outcome: &Outcome<'_>) -> GavelOutcome {
    let mut written = GavelOutcome::NOTHING;
    let error = match outcome {
        None => return written,
        Some(Ok(value)) => written.set(*value).err().map(|error| error.to_string()),
        Some(Err(message)) => Some((*message).to_owned()),
    };
    if let Some(message) = error {
        written.kind = GavelValueKind::Error;
        written.bytes = message.into_bytes().into();
    }
    written
}

/// Reads the variables.
///
/// # Safety
///
/// Handles within the bytes must be values that are not freed as long as the bytes live.
unsafe fn bindings<'a>(
    variables: &'a [u8],
    limits: &Limits<'_>,
    arena: &'a Arena,
) -> Result<Bindings<'a>, Failure> {
    let mut bindings = Bindings::default();
    let mut authorizer = [None, None];
    // SAFETY: the caller vouches for the handles.
    let mut reader = unsafe { Reader::new(variables) }?;
    reader.variables(|name, given| {
        let value = || match given {
            Given::Json(json) => Ok(arena.document(json)),
            Given::Next(reader) => match reader.peek()? {
                tag::AUTHORIZER | tag::RESOURCE_CHECK => {
                    read_authorizer(reader, &limits.callbacks, arena)
                }
                _ => reader.value(arena, Flavour::Json, 0),
            },
        };
        match name {
            "object" => bindings.object = value()?,
            "oldObject" => bindings.old_object = value()?,
            "request" => bindings.request = value()?,
            "params" => bindings.params = value()?,
            "namespaceObject" => bindings.namespace_object = value()?,
            "authorizer" => authorizer[0] = Some(value()?),
            "authorizer.requestResource" => authorizer[1] = Some(value()?),
            other => return Err(unfit(other, "no such variable")),
        }
        Ok(())
    })?;
    bindings.authorizer = match authorizer {
        [Some(authorizer), Some(resource)] => Some((authorizer, resource)),
        [None, None] => None,
        _ => {
            let message =
                "authorizer and authorizer.requestResource must be passed together, or not at all";
            return Err(GavelError::new(GavelErrorKind::Argument, message));
        }
    };
    Ok(bindings)
}

/// Frees an expression; null is ignored.
///
/// # Safety
///
/// The expression must come from this library, and no call may use it afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_condition_free(condition: *mut GavelCondition) {
    // SAFETY: the caller gives up the expression.
    unsafe { memory::free(condition) };
}

/// Frees a compiler; null is ignored. Its expressions must not be evaluated any more.
///
/// # Safety
///
/// The compiler must come from this library, and no call may use it afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_conditions_free(conditions: *mut GavelConditions) {
    // SAFETY: the caller gives up the compiler.
    unsafe { memory::free(conditions) };
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;
    use crate::error::{GavelErrorView, gavel_error_free, gavel_error_read};

    #[test]
    fn an_authorizer_has_a_resource_check() {
        // SAFETY: there are no options.
        let limits = unsafe { Limits::read(ptr::null()) };
        let arena = Arena::new();
        let is_read = |json: &str| {
            let length = u32::try_from(json.len()).unwrap().to_le_bytes();
            let flat = [&[tag::JSON][..], &length, json.as_bytes()].concat();
            // SAFETY: there are no handles.
            unsafe { bindings(&flat, &limits, &arena) }.is_ok()
        };
        assert!(is_read("{}"));
        assert!(is_read(
            r#"{"authorizer": 1, "authorizer.requestResource": 1}"#
        ));
        assert!(!is_read(r#"{"authorizer": 1}"#));
        assert!(!is_read(r#"{"authorizer.requestResource": 1}"#));
    }

    #[test]
    fn lists_of_expressions_and_outcomes_must_not_be_null() {
        let mut conditions = ptr::null_mut();
        // SAFETY: there is no configuration, and `conditions` is memory for a handle.
        let error = unsafe { gavel_conditions_new(ptr::null(), 0, &raw mut conditions) };
        assert!(error.is_null());
        let (none, mut remaining) = ([ptr::null()], 0);
        for expressions in [ptr::null(), none.as_ptr()] {
            // SAFETY: the compiler was not freed, and the list has one handle, which is null.
            let error = unsafe {
                gavel_conditions_eval(
                    conditions,
                    expressions,
                    1,
                    ptr::null(),
                    0,
                    ptr::null(),
                    ptr::null_mut(),
                    &raw mut remaining,
                )
            };
            assert!(!error.is_null());
            let mut view = std::mem::MaybeUninit::<GavelErrorView>::uninit();
            // SAFETY: the error was not freed, and `view` is memory for a view.
            unsafe { gavel_error_read(error, view.as_mut_ptr()) };
            // SAFETY: the error is not null, so the view was written.
            assert_eq!(unsafe { view.assume_init() }.kind, GavelErrorKind::Argument);
            // SAFETY: nothing uses the error any more.
            unsafe { gavel_error_free(error) };
        }
        // SAFETY: nothing uses the compiler any more.
        unsafe { gavel_conditions_free(conditions) };
    }
}
