//! Environments: the functions and variables that expressions can use.

use gavel_apimachinery::json;
use gavel_engine::env::Env;
use gavel_engine::value::Json;
use gavel_protocol::EvalRequest;

use crate::arguments;
use crate::error::{Failure, GavelError, GavelErrorKind, guard_compiling};
use crate::memory;

/// The functions and variables that expressions can use.
#[derive(Debug)]
pub struct GavelEnv {
    pub(crate) env: Env,
    /// A request of the batch protocol with the environment's variables and sizes, but without an expression.
    pub(crate) template: EvalRequest,
}

/// The keys of the specification of an environment.
const KEYS: &[&str] = &[
    "server",
    "k8sVersion",
    "mode",
    "vars",
    "sizes",
    "env",
    "container",
    "functions",
    "disableMacros",
    "disableCheck",
    "checkOnly",
];

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
    guard_compiling(|| {
        let out = arguments::out(out)?;
        // SAFETY: the caller vouches for the bytes.
        let env = GavelEnv::read(unsafe { arguments::bytes(spec, len) }?)?;
        // SAFETY: the caller vouches for `out`.
        unsafe { memory::write_handle(out, env) };
        Ok(())
    })
}

impl GavelEnv {
    fn read(spec: &[u8]) -> Result<Self, Failure> {
        let mut spec = options(spec, KEYS)?;
        if let Json::Object(keys) = &mut spec {
            keys.insert("expr".to_owned(), "".into());
        }
        let template = EvalRequest::from_json(spec)?;
        if template.environment.variables.contains_key("") {
            return Err(wrong("vars: the name of a variable must not be empty"));
        }
        let env = template.environment.build();
        let env = env.map_err(|error| wrong(error.to_string()))?;
        Ok(GavelEnv { env, template })
    }
}

/// Parses options, which are a JSON object; an empty text means no options.
///
/// # Errors
///
/// The text is not a JSON object, a key is not in `known`, or `mode` is unknown.
pub(crate) fn options(text: &[u8], known: &[&str]) -> Result<Json, Failure> {
    if text.is_empty() {
        return Ok(Json::Object(serde_json::Map::new()));
    }
    let options: Json = json::read(text).map_err(|error| wrong(format!("options: {error}")))?;
    let keys = options.as_object();
    let keys = keys.ok_or_else(|| wrong("options must be a JSON object"))?;
    if let Some(key) = keys.keys().find(|key| !known.contains(&key.as_str())) {
        let known = known.join(", ");
        return Err(wrong(format!("unknown key {key:?}; known: {known}")));
    }
    match keys.get("mode").map(Json::as_str) {
        None | Some(Some("new" | "stored")) => Ok(options),
        Some(_) => Err(wrong("mode: must be \"new\" or \"stored\"")),
    }
}

/// Reads an option that is true or false. An absent option is false.
///
/// # Errors
///
/// The option has another type.
pub(crate) fn flag(options: &Json, key: &str) -> Result<bool, Failure> {
    match options.get(key) {
        None => Ok(false),
        Some(Json::Bool(flag)) => Ok(*flag),
        Some(other) => Err(wrong(format!("{key} must be true or false, not {other}"))),
    }
}

fn wrong(message: impl Into<String>) -> Failure {
    GavelError::new(GavelErrorKind::Argument, message)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_true_or_false() {
        let options: Json = serde_json::from_str(r#"{"a": true, "b": "true"}"#).unwrap();
        assert!(flag(&options, "a").unwrap());
        assert!(!flag(&options, "c").unwrap());
        assert_eq!(
            flag(&options, "b").unwrap_err().message(),
            "b must be true or false, not \"true\""
        );
    }

    #[test]
    fn what_a_host_misspells_is_an_error() {
        let check = |text: &str, expected: Option<&str>| {
            let error = GavelEnv::read(text.as_bytes()).err();
            let message = error.as_ref().map(|error| error.message());
            assert_eq!(message, expected, "{text}");
        };
        check("", None);
        check(r#"{"server": "1.37", "vars": {"x": "int"}}"#, None);
        check(
            r#"{"serverr": "1.36"}"#,
            Some(
                "unknown key \"serverr\"; known: server, k8sVersion, mode, vars, sizes, env, container, functions, disableMacros, disableCheck, checkOnly",
            ),
        );
        check("[]", Some("options must be a JSON object"));
        check(
            r#"{"mode": "storde"}"#,
            Some("mode: must be \"new\" or \"stored\""),
        );
        for version in ["1.33", "1.38"] {
            let range = "the version must be from 1.34 to 1.37";
            let message = format!("server: Kubernetes {version} is unknown; {range}");
            check(&format!(r#"{{"server": "{version}"}}"#), Some(&message));
        }
        check(
            r#"{"vars": {"": "int"}}"#,
            Some("vars: the name of a variable must not be empty"),
        );
    }
}
