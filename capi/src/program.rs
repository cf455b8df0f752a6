//! Compiles and evaluates expressions.

use std::collections::BTreeMap;
use std::sync::Arc;

use gavel_engine::program::{Activation, EvalOptions};
use gavel_engine::types::Type;
use gavel_engine::value::{Arena, Json, MEMORY_LIMIT, Value, ValueKind};
use gavel_libraries::authorizer::{Authorizer, NoOpinion};
use gavel_libraries::kubernetes::authorizer::{AuthorizerValue, ResourceCheck};
use gavel_policy::cel::{NAMESPACE, PER_CALL_LIMIT, REQUEST};
use gavel_protocol::line::LineTooLong;
use gavel_protocol::{
    Binder, Compiled, Declared, EvalRequest, Failure as EvalFailure, TypedValue, line,
    read_resource, read_user,
};

use crate::arguments;
use crate::callbacks::GavelCallbacks;
use crate::environment::GavelEnv;
use crate::error::{Failure, GavelError, GavelErrorKind, guard, guard_compiling};
use crate::flat::{Flavour, Given, Reader, tag};
use crate::memory::{self, GavelBytes, GavelSlice};
use crate::options::{GavelOptions, Limits};

/// A compiled expression.
#[derive(Debug)]
pub struct GavelProgram {
    compiled: Compiled,
    variables: BTreeMap<String, Type>,
    declared: BTreeMap<String, Declared>,
    ty: Option<[String; 2]>,
}

/// The static properties of an expression. The texts live as long as the program.
#[repr(C)]
#[derive(Debug)]
pub struct GavelStatics {
    /// Whether the estimate is known.
    pub has_estimate: bool,
    /// The lower bound of the cost of an evaluation, in cost units.
    pub estimate_min: u64,
    /// The upper bound of the cost of an evaluation, in cost units.
    pub estimate_max: u64,
    /// The type, such as `list(string)`; empty if unknown.
    pub type_name: GavelSlice,
    /// The type as Kubernetes' messages print it.
    pub type_in_messages: GavelSlice,
}

/// The kind of a value.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GavelValueKind {
    /// No value: the expression was only checked, or it is null in a list of expressions.
    None = 0,
    /// The value `null`.
    Null = 1,
    /// A bool: `number` is 0 or 1.
    Bool = 2,
    /// An int: `number` is the value.
    Int = 3,
    /// A uint: `number` holds its bits.
    Uint = 4,
    /// A double: `number` holds its bits.
    Double = 5,
    /// A string: `bytes` is its UTF-8.
    String = 6,
    /// Bytes: `bytes` is the value.
    Bytes = 7,
    /// A timestamp: `number` seconds since 1970 and `nanos` nanoseconds.
    Timestamp = 8,
    /// A duration: `number` nanoseconds.
    Duration = 9,
    /// Any other value: `bytes` is typed JSON, as in the batch protocol.
    Typed = 10,
    /// An error: `bytes` is the message. Only functions that evaluate several expressions return this kind.
    Error = 11,
}

/// The outcome of an evaluation.
#[repr(C)]
#[derive(Debug)]
pub struct GavelOutcome {
    /// The cost in cost units, even if the evaluation failed; 0 if the expression was not evaluated. Only `gavel_program_eval` sets it.
    pub cost: u64,
    /// Whether the expression was evaluated. Only `gavel_program_eval` sets it.
    pub evaluated: bool,
    /// The kind of the value.
    pub kind: GavelValueKind,
    /// The nanoseconds within the second of a timestamp.
    pub nanos: u32,
    /// The value, or its bits, if `kind` is `Bool`, `Int`, `Uint`, `Double`, `Timestamp` or `Duration`.
    pub number: i64,
    /// The value or the message, if `kind` is `String`, `Bytes`, `Typed` or `Error`. The host frees the bytes.
    pub bytes: GavelBytes,
}

/// Compiles an expression. If the expression does not compile, the function returns an error. If the type is known nevertheless, for example
/// because only a constant part fails, `out` also receives a program, from which the host can read the type and the estimate. The host frees
/// this program too: set `*out` to null before the call, and free it after the call.
///
/// # Safety
///
/// `env` must be an environment that was not freed. `text` must point to `len` bytes, and `out` to memory for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_env_compile(
    env: *const GavelEnv,
    text: *const u8,
    len: usize,
    out: *mut *mut GavelProgram,
) -> *mut GavelError {
    guard_compiling(|| {
        let out = arguments::out(out)?;
        // SAFETY: the caller vouches for the environment.
        let env = unsafe { arguments::handle(env) }?;
        // SAFETY: the caller vouches for the text.
        let text = unsafe { arguments::text(text, len) }?;
        let program = GavelProgram::compile(env, text);
        let failure = program.failure();
        if failure.is_none() || program.ty.is_some() {
            // SAFETY: the caller vouches for `out`.
            unsafe { memory::write_handle(out, program) };
        }
        failure.map_or(Ok(()), Err)
    })
}

impl GavelProgram {
    fn compile(env: &GavelEnv, text: &str) -> Self {
        let request = EvalRequest {
            expr: text.to_owned(),
            ..env.template.clone()
        };
        let compiled = Compiled::new(&env.env, &request);
        let ty = compiled.output_type();
        GavelProgram {
            ty: ty.map(|ty| [ty.to_string(), ty.in_message().to_string()]),
            compiled,
            variables: request.environment.variables,
            declared: request.declared,
        }
    }

    fn failure(&self) -> Option<Failure> {
        let failure = self.compiled.failure()?;
        Some(self.located(failure))
    }

    fn located(&self, failure: &EvalFailure) -> Failure {
        let position = match failure {
            EvalFailure::Issues(issues) => issues.position(),
            _ => self.compiled.locate(failure).and_then(|it| it.position()),
        };
        GavelError::of_expression(failure, position)
    }
}

/// Returns the static properties of a program.
///
/// # Safety
///
/// `program` must be a program that was not freed, and `out` must point to memory for the answer. The texts in the answer live as long as
/// the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_program_statics(
    program: *const GavelProgram,
    out: *mut GavelStatics,
) -> *mut GavelError {
    guard(|| {
        let out = arguments::out(out)?;
        // SAFETY: the caller vouches for the program.
        let program = unsafe { arguments::handle(program) }?;
        let estimate = program.compiled.estimate();
        let [name, shown] = match &program.ty {
            Some([name, shown]) => [name.as_bytes(), shown.as_bytes()],
            None => [&[][..]; 2],
        };
        let statics = GavelStatics {
            has_estimate: estimate.is_some(),
            estimate_min: estimate.map_or(0, |estimate| estimate.min),
            estimate_max: estimate.map_or(0, |estimate| estimate.max),
            type_name: name.into(),
            type_in_messages: shown.into(),
        };
        // SAFETY: the caller vouches for `out`.
        unsafe { memory::write(out, statics) };
        Ok(())
    })
}

/// Evaluates a program. `variables` maps names to values: an object in the flat encoding, or JSON text with tag 32. No bytes are no
/// variables. If the evaluation fails, `out` still receives the cost.
///
/// # Safety
///
/// `program` must be a program that was not freed. `variables` must point to `len` bytes, in which all handles are valid, and `out` to
/// memory for the outcome. `options` must be null or point to options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_program_eval(
    program: *const GavelProgram,
    variables: *const u8,
    len: usize,
    options: *const GavelOptions,
    out: *mut GavelOutcome,
) -> *mut GavelError {
    guard(|| {
        let out = arguments::out(out)?;
        // SAFETY: the caller vouches for the program.
        let program = unsafe { arguments::handle(program) }?;
        // SAFETY: the caller vouches for the bytes.
        let variables = unsafe { arguments::bytes(variables, len) }?;
        // SAFETY: the caller vouches for the options.
        let limits = unsafe { Limits::read(options) };
        let mut outcome = GavelOutcome::NOTHING;
        // SAFETY: the caller vouches for the handles within the bytes.
        let result = unsafe { program.eval(variables, &limits, &mut outcome) };
        // SAFETY: the caller vouches for `out`.
        unsafe { memory::write(out, outcome) };
        result
    })
}

/// The value of a variable, as it was read from the flat encoding.
enum Input<'b> {
    /// JSON that is read according to the variable's type.
    Json(Json),
    /// The JSON value of a handle.
    Shared(&'b Json),
    /// A CEL value, built from the flat encoding.
    Flat(Value<'b>),
}

impl GavelProgram {
    /// Evaluates the program with variables in the flat encoding.
    ///
    /// # Safety
    ///
    /// Handles within the bytes must be values that were not freed.
    unsafe fn eval(
        &self,
        variables: &[u8],
        limits: &Limits<'_>,
        out: &mut GavelOutcome,
    ) -> Result<(), Failure> {
        let interrupt = || limits.is_over();
        let arena = Arena::new();
        // SAFETY: the caller vouches for the handles.
        let inputs = unsafe { self.inputs(variables, limits, &arena) }?;
        let mut activation = Activation::new();
        let mut binder = Binder::new(&arena);
        for (name, ty, input) in &inputs {
            let json = match input {
                Input::Flat(value) => {
                    activation.bind(name, *value);
                    continue;
                }
                Input::Json(json) => json,
                Input::Shared(json) => *json,
            };
            let value = match self.declared.get(*name) {
                Some(declared) => binder.bind_declared(declared, json),
                None => binder.bind(ty, json),
            };
            let value = value.map_err(|error| unfit(name, &error.to_string()))?;
            activation.bind(name, value);
        }
        arena.set_limit(limits.memory.unwrap_or(MEMORY_LIMIT));
        let options = EvalOptions {
            cost_limit: Some(limits.cost.map_or(PER_CALL_LIMIT, i64::cast_unsigned)),
            interrupt: limits.interrupt(&interrupt),
        };
        let outcome = self.compiled.run(&activation, &arena, &options);
        out.evaluated = outcome.cost.is_some();
        out.cost = outcome.cost.unwrap_or(0);
        match outcome.result {
            Ok(None) => Ok(()),
            Ok(Some(value)) => out
                .set(value)
                .map_err(|error| GavelError::new(GavelErrorKind::MemoryLimit, error.to_string())),
            Err(failure) => Err(self.located(&failure)),
        }
    }

    /// Reads the variables.
    ///
    /// # Safety
    ///
    /// The requirements of [`GavelProgram::eval`].
    unsafe fn inputs<'a>(
        &'a self,
        variables: &'a [u8],
        limits: &Limits<'_>,
        arena: &'a Arena,
    ) -> Result<Vec<(&'a str, &'a Type, Input<'a>)>, Failure> {
        let mut inputs = Vec::new();
        // SAFETY: the caller vouches for the handles.
        let mut reader = unsafe { Reader::new(variables) }?;
        reader.variables(|name, given| {
            let declared = self.variables.get_key_value(name);
            let (name, ty) = declared.ok_or_else(|| unfit(name, "no such variable"))?;
            let input = match given {
                Given::Json(json) => Input::Json(json),
                Given::Next(reader) => self.input(reader, name, ty, limits, arena)?,
            };
            inputs.push((name.as_str(), ty, input));
            Ok(())
        })?;
        Ok(inputs)
    }

    /// Reads one variable.
    fn input<'a>(
        &self,
        reader: &mut Reader<'a>,
        name: &str,
        ty: &Type,
        limits: &Limits<'_>,
        arena: &'a Arena,
    ) -> Result<Input<'a>, Failure> {
        Ok(match reader.peek()? {
            tag::JSON => {
                reader.tag()?;
                let json = reader.json_text();
                Input::Json(json.map_err(|error| error.within(&format!("variable {name:?}")))?)
            }
            tag::HANDLE => {
                reader.tag()?;
                Input::Shared(reader.handle()?)
            }
            tag::AUTHORIZER | tag::RESOURCE_CHECK => {
                Input::Flat(read_authorizer(reader, &limits.callbacks, arena)?)
            }
            _ if self.declared.contains_key(name) => Input::Json(reader.json(0)?),
            _ => {
                let value = reader.value(arena, flavour(ty), 0)?;
                match fits(ty, value) {
                    true => Input::Flat(value),
                    false => {
                        let found = value.type_name();
                        return Err(unfit(name, &format!("must be of type {ty}, not {found}")));
                    }
                }
            }
        })
    }
}

/// Reads the value of an authorizer or a resource check: a number, the user and, for a resource check, the resource.
pub(crate) fn read_authorizer<'a>(
    reader: &mut Reader<'_>,
    callbacks: &GavelCallbacks,
    arena: &'a Arena,
) -> Result<Value<'a>, Failure> {
    let is_check = reader.tag()? == tag::RESOURCE_CHECK;
    let number = reader.u64()?;
    let user = Arc::new(read_user(reader.json_text()?)?);
    let authorizer = callbacks.authorizer(number);
    let authorizer = authorizer.unwrap_or_else(|| Arc::new(NoOpinion) as Arc<dyn Authorizer>);
    let value = AuthorizerValue::new(user, authorizer);
    if !is_check {
        return Ok(arena.opaque(value));
    }
    let resource = read_resource(reader.json_text()?)?;
    Ok(arena.opaque(ResourceCheck::new(value, resource)))
}

/// The representation of lists and objects in variables of type `ty`.
fn flavour(ty: &Type) -> Flavour {
    match ty {
        Type::Dyn | Type::Any | Type::Struct(_) => Flavour::Json,
        _ => Flavour::Cel,
    }
}

/// Whether a value can be bound to a variable of type `ty`. The elements of lists and maps are not checked: the host is responsible for
/// them.
fn fits(ty: &Type, value: Value<'_>) -> bool {
    match ty {
        Type::Dyn | Type::Any => true,
        Type::Struct(name) => {
            value.is_null()
                || matches!(name.as_str(), REQUEST | NAMESPACE) && value.as_map().is_some()
        }
        Type::Null => value.is_null(),
        Type::Bool => matches!(value.kind(), ValueKind::Bool(_)),
        Type::Int => matches!(value.kind(), ValueKind::Int(_)),
        Type::Uint => matches!(value.kind(), ValueKind::Uint(_)),
        Type::Double => matches!(value.kind(), ValueKind::Double(_)),
        Type::String => matches!(value.kind(), ValueKind::String(_)),
        Type::Bytes => matches!(value.kind(), ValueKind::Bytes(_)),
        Type::Timestamp => matches!(value.kind(), ValueKind::Timestamp(_)),
        Type::Duration => matches!(value.kind(), ValueKind::Duration(_)),
        Type::List(_) => value.is_null() || value.as_list().is_some(),
        Type::Map(_) => value.is_null() || value.as_map().is_some(),
        _ => matches!(value.kind(), ValueKind::Optional(_)),
    }
}

pub(crate) fn unfit(name: &str, what: &str) -> Failure {
    GavelError::new(
        GavelErrorKind::Argument,
        format!("variable {name:?}: {what}"),
    )
}

impl GavelOutcome {
    pub(crate) const NOTHING: GavelOutcome = GavelOutcome {
        cost: 0,
        evaluated: false,
        kind: GavelValueKind::None,
        nanos: 0,
        number: 0,
        bytes: GavelBytes::NONE,
    };

    /// Sets the value.
    ///
    /// # Errors
    ///
    /// The value would take more than [`line::MAX_BYTES`] as typed JSON.
    pub(crate) fn set(&mut self, value: Value<'_>) -> Result<(), LineTooLong> {
        let (kind, number) = match value.kind() {
            ValueKind::Null => (GavelValueKind::Null, 0),
            ValueKind::Bool(b) => (GavelValueKind::Bool, i64::from(b)),
            ValueKind::Int(int) => (GavelValueKind::Int, int),
            ValueKind::Uint(uint) => (GavelValueKind::Uint, uint.cast_signed()),
            ValueKind::Double(double) => (GavelValueKind::Double, double.to_bits().cast_signed()),
            ValueKind::Duration(duration) => (GavelValueKind::Duration, duration.0),
            ValueKind::Timestamp(time) => {
                self.nanos = time.nanos;
                (GavelValueKind::Timestamp, time.seconds)
            }
            ValueKind::String(text) => {
                self.bytes = text.as_bytes().to_vec().into();
                (GavelValueKind::String, 0)
            }
            ValueKind::Bytes(bytes) => {
                self.bytes = bytes.to_vec().into();
                (GavelValueKind::Bytes, 0)
            }
            _ => {
                let mut typed = Vec::new();
                line::write(&TypedValue::new(value), &mut typed)?;
                // The line feed.
                typed.pop();
                self.bytes = typed.into();
                (GavelValueKind::Typed, 0)
            }
        };
        (self.kind, self.number) = (kind, number);
        Ok(())
    }
}

/// Frees a program; null is ignored.
///
/// # Safety
///
/// The program must come from this library, and no call may use it afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_program_free(program: *mut GavelProgram) {
    // SAFETY: the caller gives up the program.
    unsafe { memory::free(program) };
}
