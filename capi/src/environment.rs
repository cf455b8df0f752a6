//! Environments: the functions and variables that expressions can use.

use gavel_apimachinery::json;
use gavel_engine::env::Env;
use gavel_engine::value::Json;
use gavel_protocol::EvalRequest;

use crate::error::{Failure, GavelError, GavelErrorKind, guard};
use crate::memory;

/// The functions and variables that expressions can use.
#[derive(Debug)]
pub struct GavelEnv {
    pub(crate) env: Env,
    /// A request of the batch protocol with the environment's variables and sizes, but without an expression.
    pub(crate) template: EvalRequest,
}

/// Creates an environment. `spec` is a JSON object with the keys of the batch protocol's `eval` requests: `server`, `k8sVersion`,
/// `mode`, `vars`, `sizes`, `env`, `container`, `functions`, `disableMacros`, `disableCheck`, `checkOnly`.
///
/// # Safety
///
/// `spec` must point to `len` bytes, and `out` to memory for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_env_new(
    spec: *const u8,
    len: usize,
    out: *mut *mut GavelEnv,
) -> *mut GavelError {
    guard(|| {
        // SAFETY: the caller vouches for the bytes.
        let env = GavelEnv::read(unsafe { memory::bytes(spec, len) })?;
        // SAFETY: the caller vouches for `out`.
        unsafe { memory::write_handle(out, env) };
        Ok(())
    })
}

impl GavelEnv {
    fn read(spec: &[u8]) -> Result<Self, Failure> {
        let Json::Object(mut spec) = options(spec)? else {
            return Err(GavelError::new(
                GavelErrorKind::Argument,
                "the specification of an environment must be an object",
            ));
        };
        spec.insert("expr".to_owned(), "".into());
        let template = EvalRequest::from_json(Json::Object(spec))?;
        let env = template.environment.build();
        let env =
            env.map_err(|error| GavelError::new(GavelErrorKind::Argument, error.to_string()))?;
        Ok(GavelEnv { env, template })
    }
}

/// Parses options in JSON; an empty text means no options.
pub(crate) fn options(text: &[u8]) -> Result<Json, Failure> {
    if text.is_empty() {
        return Ok(Json::Object(serde_json::Map::new()));
    }
    json::read(text)
        .map_err(|error| GavelError::new(GavelErrorKind::Argument, format!("options: {error}")))
}

/// Frees an environment; null is ignored. Its programs stay valid.
///
/// # Safety
///
/// The environment must come from this library, and no call may use it afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_env_free(env: *mut GavelEnv) {
    // SAFETY: the caller gives up the environment.
    unsafe { memory::free(env) };
}
