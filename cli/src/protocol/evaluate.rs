//! `op=eval`: what an expression comes to.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Map;

use gavel_engine::cost::SizeEstimate;
use gavel_engine::estimate::SizeTable;
use gavel_engine::program::Activation;
use gavel_engine::types::{Signature, Type};
use gavel_engine::value::{Arena, Json};
use gavel_libraries::KubeVersion;

use super::authorizer::{Attributes, TableAuthorizer};
use super::binding::Binder;
use super::request::{Fields, RequestError};
use super::types;
use crate::environment::{EnvironmentSpec, FunctionSpec, Language};
use crate::evaluation::PER_CALL_LIMIT;

/// An `eval` request.
#[derive(Debug)]
pub(crate) struct EvalRequest {
    /// The expression.
    pub(crate) expr: String,
    /// What it may use.
    pub(crate) environment: EnvironmentSpec,
    /// What is bound to the variables.
    pub(crate) bindings: Map<String, Json>,
    /// The size estimates of paths such as `xs` or `xs.@items`.
    pub(crate) sizes: SizeTable,
    /// The most that the evaluation may cost, in cost units.
    pub(crate) cost_limit: u64,
    /// Stop before evaluating.
    pub(crate) check_only: bool,
    /// Evaluate what was parsed, unchecked.
    pub(crate) disable_check: bool,
}

/// The values of the variables of a request.
#[derive(Debug)]
pub(crate) struct Bound<'a> {
    /// The values.
    pub(crate) activation: Activation<'a>,
    authorizers: Vec<Arc<TableAuthorizer>>,
}

/// Keys that only the environment of the specification has.
const CEL_ONLY: [&str; 4] = ["container", "disableMacros", "disableCheck", "functions"];

impl EvalRequest {
    /// Reads the keys of an `eval` request.
    pub(crate) fn read(mut fields: Fields) -> Result<Self, RequestError> {
        let missing = || RequestError("expr must be set: the expression to evaluate".to_owned());
        let expr = fields.text("expr")?.ok_or_else(missing)?;
        let stored = [("new", false), ("stored", true)];
        let stored = fields.choice("mode", &stored)?.unwrap_or(false);
        let version = version(&mut fields)?;
        let cel = [("kubernetes", false), ("cel", true)];
        let language = match fields.choice("env", &cel)?.unwrap_or(false) {
            true => Language::Cel {
                container: fields.text("container")?.unwrap_or_default(),
                macros: !fields.flag("disableMacros")?,
                functions: functions(&mut fields)?,
            },
            false => Language::Kubernetes { version, stored },
        };
        let disable_check =
            matches!(language, Language::Cel { .. }) && fields.flag("disableCheck")?;
        if let Some(key) = fields.first_of(&CEL_ONLY) {
            return Err(RequestError(format!(
                "{key} must not be set unless env is \"cel\""
            )));
        }
        Ok(EvalRequest {
            expr,
            environment: EnvironmentSpec {
                language,
                variables: variables(&mut fields)?,
            },
            bindings: fields.object("bindings")?,
            sizes: sizes(&mut fields)?,
            cost_limit: fields.whole("costLimit")?.unwrap_or(PER_CALL_LIMIT),
            check_only: fields.flag("checkOnly")?,
            disable_check,
        })
    }

    /// The values of the variables that are bound. An error comes with the name of the variable.
    pub(crate) fn bind<'a>(
        &'a self,
        arena: &'a Arena,
    ) -> Result<Bound<'a>, (&'a str, RequestError)> {
        let mut activation = Activation::new();
        let mut binder = Binder::new(arena);
        for (name, json) in &self.bindings {
            let undeclared = || {
                RequestError(format!(
                    "no such variable; declare it in vars, for example {{{name:?}: \"dyn\"}}"
                ))
            };
            let ty = self.environment.variables.get(name).ok_or_else(undeclared);
            let value = ty.and_then(|ty| binder.bind(ty, json));
            activation.bind(
                name.as_str(),
                value.map_err(|error| (name.as_str(), error))?,
            );
        }
        Ok(Bound {
            activation,
            authorizers: binder.authorizers,
        })
    }
}

impl Bound<'_> {
    /// What the authorizers were asked: all of the first one, then all of the next.
    pub(crate) fn authorizer_calls(&self) -> Vec<Attributes> {
        let calls = self.authorizers.iter().map(|authorizer| authorizer.calls());
        calls.flatten().collect()
    }
}

fn version(fields: &mut Fields) -> Result<KubeVersion, RequestError> {
    let Some(text) = fields.text("k8sVersion")? else {
        return Ok(KubeVersion::default());
    };
    crate::environment::kubernetes_version(&text)
        .map_err(|error| RequestError(error).within("k8sVersion"))
}

fn variables(fields: &mut Fields) -> Result<BTreeMap<String, Type>, RequestError> {
    let mut variables = BTreeMap::new();
    for (name, json) in fields.object("vars")? {
        let ty = types::read(&json).map_err(|error| error.within(&format!("vars[{name:?}]")))?;
        variables.insert(name, ty);
    }
    Ok(variables)
}

fn sizes(fields: &mut Fields) -> Result<SizeTable, RequestError> {
    let mut sizes = Vec::new();
    for (path, json) in fields.object("sizes")? {
        let within = |error: RequestError| error.within(&format!("sizes[{path:?}]"));
        let mut range = Fields::try_from(json).map_err(within)?;
        let min = range.whole("min").map_err(within)?.unwrap_or(0);
        let max = range.whole("max").map_err(within)?.unwrap_or(u64::MAX);
        sizes.push((path.into(), SizeEstimate { min, max }));
    }
    Ok(sizes.into_iter().collect())
}

fn functions(fields: &mut Fields) -> Result<Vec<FunctionSpec>, RequestError> {
    let mut functions = Vec::new();
    for (name, json) in fields.object("functions")? {
        let within = |error: RequestError| error.within(&format!("functions[{name:?}]"));
        let not_a_list = || RequestError("must be a list of overloads".to_owned());
        let Json::Array(overloads) = json else {
            return Err(within(not_a_list()));
        };
        for overload in overloads {
            functions.push(function(&name, overload).map_err(within)?);
        }
    }
    Ok(functions)
}

fn function(name: &str, json: Json) -> Result<FunctionSpec, RequestError> {
    let mut fields = Fields::try_from(json)?;
    let missing = |key: &str| RequestError(format!("{key} must be set"));
    let id = fields.text("id")?.ok_or_else(|| missing("id"))?;
    let member = fields.flag("member")?;
    let result = fields.text("result")?.ok_or_else(|| missing("result"))?;
    let mut parameters = Vec::new();
    for parameter in fields.list("params")? {
        match parameter {
            Json::String(text) => parameters.push(types::read_declared(&text)?),
            _ => return Err(RequestError("params must be texts".to_owned())),
        }
    }
    let signature = Signature::new(member, parameters, types::read_declared(&result)?);
    Ok(FunctionSpec {
        name: name.to_owned(),
        id,
        signature,
    })
}
