//! Compiles and evaluates only the rules of a schema, for hosts with their own schema validation.

use gavel_apimachinery::server::Server;
use gavel_crd::rule::{
    self, Age, CompiledRule, NodeType, PER_CALL_LIMIT, RuleEnvs, RuleLimits, SchemaRules,
};
use gavel_engine::value::Json;
use gavel_protocol::server_of;
use gavel_schema::JsonSchema;
use serde_json::json;

use crate::arguments;
use crate::definition::{document, uncompiled};
use crate::environment::{flag, options};
use crate::error::{Failure, GavelError, GavelErrorKind, guard, guard_compiling};
use crate::json_value::GavelValue;
use crate::memory::{self, GavelBytes};
use crate::options::{GavelOptions, Limits};
use crate::resource::GavelValidation;

/// The compiled rules of a structural schema.
#[derive(Debug)]
pub struct GavelRules {
    rules: SchemaRules,
    per_call: u64,
}

/// The keys of the configuration of `gavel_rules_compile`.
const COMPILE_KEYS: &[&str] = &["server", "k8sVersion", "resource", "perCallLimit"];
/// The keys of the configuration of `gavel_rules_check`.
const CHECK_KEYS: &[&str] = &["server", "k8sVersion", "resource", "stored"];

/// Compiles the rules of a structural OpenAPI v3 schema and of all schemas in it. The rules are compiled as stored rules. `config` is JSON
/// with the keys `server`, `k8sVersion`, `resource` (whether the schema describes a whole object, with `apiVersion`, `kind` and `metadata`)
/// and `perCallLimit` (cost units).
///
/// # Safety
///
/// `schema` must be a value that was not freed. `config` must point to `config_len` bytes, and `out` to memory for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_rules_compile(
    schema: *const GavelValue,
    config: *const u8,
    config_len: usize,
    out: *mut *mut GavelRules,
) -> *mut GavelError {
    guard_compiling(|| {
        let out = arguments::out(out)?;
        // SAFETY: the caller vouches for the value.
        let schema = unsafe { arguments::handle(schema) }?;
        // SAFETY: the caller vouches for the bytes.
        let config = options(
            unsafe { arguments::bytes(config, config_len) }?,
            COMPILE_KEYS,
        )?;
        let schema = JsonSchema::read(&schema.0).map_err(uncompiled)?;
        let server = server_of(&config, Server::compatible)?;
        let is_resource = flag(&config, "resource")?;
        let rules = GavelRules {
            per_call: per_call_limit(&config)?,
            rules: SchemaRules::compile(schema, is_resource, server).map_err(uncompiled)?,
        };
        // SAFETY: the caller vouches for `out`.
        unsafe { memory::write_handle(out, rules) };
        Ok(())
    })
}

fn per_call_limit(config: &Json) -> Result<u64, Failure> {
    let Some(limit) = config.get("perCallLimit") else {
        return Ok(PER_CALL_LIMIT);
    };
    let units = limit.as_u64();
    units.ok_or_else(|| {
        let message = format!("perCallLimit must be a whole number from 0, not {limit}");
        GavelError::new(GavelErrorKind::Argument, message)
    })
}

/// Evaluates the rules of a schema on `value`. `path` is the field path of `value` in messages; it may be empty. `old` is the value before
/// an update; a null pointer or JSON null means that there was none. With `ratcheting`, violations by an unchanged value become warnings,
/// except for rules that use `oldSelf`. The cost limit in the options is the budget of all rules together.
///
/// # Safety
///
/// `rules` and `value` must be handles that were not freed. `old` must be null or a handle that was not freed. `path` must point to
/// `path_len` bytes, and `out` to memory for the answer. `options` must be null or point to options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_rules_validate(
    rules: *const GavelRules,
    path: *const u8,
    path_len: usize,
    value: *const GavelValue,
    old: *const GavelValue,
    ratcheting: bool,
    options: *const GavelOptions,
    out: *mut GavelValidation,
) -> *mut GavelError {
    guard(|| {
        let out = arguments::out(out)?;
        // SAFETY: the caller vouches for the rules.
        let rules = unsafe { arguments::handle(rules) }?;
        // SAFETY: the caller vouches for the text.
        let path = unsafe { arguments::text(path, path_len) }?;
        // SAFETY: the caller vouches for the value.
        let value = unsafe { arguments::handle(value) }?;
        // SAFETY: the caller vouches for the value.
        let old = unsafe { arguments::old(old) };
        // SAFETY: the caller vouches for the options.
        let limits = unsafe { Limits::read(options) };
        let interrupt = || limits.is_over();
        let bounds = RuleLimits {
            budget: limits.cost.unwrap_or(rule::COST_BUDGET),
            per_call: rules.per_call,
            interrupt: limits.interrupt(&interrupt),
        };
        let found = rules
            .rules
            .validate(path, &value.0, old, ratcheting, &bounds);
        limits.check()?;
        // SAFETY: the caller vouches for `out`.
        unsafe { memory::write(out, found.into()) };
        Ok(())
    })
}

/// Compiles the rules of one schema, but not the rules of schemas in it. `out` receives a JSON list with an entry for each rule: null for a
/// blank rule, otherwise an object with `error`, `usesOldSelf`, `maxCost`, `maxCardinality`, `messageError`, `messageMaxCost` and
/// `fieldPath`. `config` is JSON with the keys `server`, `k8sVersion`, `resource` and `stored`. `stored` contains two booleans for each
/// rule: whether the rule is already stored, and whether its messageExpression is.
///
/// # Safety
///
/// `schema` must be a value that was not freed. `config` must point to `config_len` bytes, and `out` to memory for bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_rules_check(
    schema: *const GavelValue,
    config: *const u8,
    config_len: usize,
    out: *mut GavelBytes,
) -> *mut GavelError {
    guard_compiling(|| {
        let out = arguments::out(out)?;
        // SAFETY: the caller vouches for the value.
        let schema = unsafe { arguments::handle(schema) }?;
        // SAFETY: the caller vouches for the bytes.
        let config = options(unsafe { arguments::bytes(config, config_len) }?, CHECK_KEYS)?;
        let checked = document(&check(&schema.0, &config)?)?;
        // SAFETY: the caller vouches for `out`.
        unsafe { memory::write(out, checked.into()) };
        Ok(())
    })
}

fn check(schema: &Json, config: &Json) -> Result<Vec<Json>, Failure> {
    let schema = JsonSchema::read(schema).map_err(uncompiled)?;
    let envs = RuleEnvs::new(server_of(config, Server::compatible)?).map_err(uncompiled)?;
    let node = NodeType::of(&schema, flag(config, "resource")?, envs.server());
    let node =
        node.ok_or_else(|| uncompiled("failed to convert to declType for CEL validation rules"))?;
    let age = |rule: &gavel_schema::ValidationRule, part: usize| {
        let position = schema
            .validations
            .iter()
            .position(|known| std::ptr::eq(known, rule));
        let pair = position.and_then(|n| config.get("stored")?.get(n)?.get(part));
        match pair {
            Some(Json::Bool(false)) => Age::New,
            _ => Age::Stored,
        }
    };
    let compiled = rule::compile(&schema, &node, &envs, |rule| (age(rule, 0), age(rule, 1)));
    let cardinality = rule::max_cardinality(&node);
    Ok(compiled
        .iter()
        .map(|rule| rule_json(rule, cardinality))
        .collect())
}

fn rule_json(compiled: &CompiledRule, cardinality: u64) -> Json {
    let rule = match &compiled.rule {
        Ok(None) => return Json::Null,
        Ok(Some(rule)) => rule,
        Err(error) => {
            let uses = compiled.uses_old_self;
            return json!({"error": error.to_string(), "usesOldSelf": uses});
        }
    };
    let message = compiled.message.as_deref();
    json!({
        "usesOldSelf": compiled.uses_old_self,
        "maxCost": rule.max_cost,
        "maxCardinality": cardinality,
        "messageError": message.and_then(|message| message.as_ref().err()).map(ToString::to_string),
        "messageMaxCost": message.and_then(|message| message.as_ref().ok()).map(|it| it.max_cost),
        "fieldPath": compiled.field_path.as_ref().map(ToString::to_string),
    })
}

/// Frees rules; null is ignored.
///
/// # Safety
///
/// The rules must come from this library, and no call may use them afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_rules_free(rules: *mut GavelRules) {
    // SAFETY: the caller gives up the rules.
    unsafe { memory::free(rules) };
}
