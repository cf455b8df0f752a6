//! `op=eval`: evaluates an expression.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Map;

use gavel_engine::cost::SizeEstimate;
use gavel_engine::estimate::{SizeSource, SizeTable};
use gavel_engine::program::Activation;
use gavel_engine::types::{Signature, Type};
use gavel_engine::value::{Arena, Json};
use gavel_policy::cel::PER_CALL_LIMIT;
use gavel_schema::cel::CelSchema;

use crate::authorizer::{Attributes, TableAuthorizer};
use crate::binding::Binder;
use crate::environment::{EnvironmentSpec, FunctionSpec, Language};
use crate::request::{Fields, RequestError};
use crate::types::{self, Declared, TypeReader};

/// An `eval` request.
#[derive(Debug, Clone)]
pub struct EvalRequest {
    /// The expression.
    pub expr: String,
    /// The environment.
    pub environment: EnvironmentSpec,
    /// The types of the variables, which may be schemas.
    pub declared: BTreeMap<String, Declared>,
    /// The bindings of the variables.
    pub bindings: Map<String, Json>,
    /// The size estimates of paths such as `xs` or `xs.@items`.
    pub sizes: SizeTable,
    /// The cost limit of the evaluation, in cost units.
    pub cost_limit: u64,
    /// Whether to compile the expression without evaluating it.
    pub check_only: bool,
    /// Whether to evaluate the expression without checking its types.
    pub disable_check: bool,
}

/// The values of the variables of a request.
#[derive(Debug)]
pub struct Bound<'a> {
    /// The values of the variables.
    pub activation: Activation<'a>,
    authorizers: Vec<Arc<TableAuthorizer>>,
}

/// The keys that are only valid with the environment of the CEL specification.
const CEL_ONLY: [&str; 4] = ["container", "disableMacros", "disableCheck", "functions"];

impl EvalRequest {
    /// Reads an `eval` request from its JSON object.
    ///
    /// # Errors
    ///
    /// A key is missing or has a value of the wrong type.
    pub fn from_json(json: Json) -> Result<Self, RequestError> {
        Self::read(Fields::try_from(json)?)
    }

    /// Reads the keys of an `eval` request.
    pub(crate) fn read(mut fields: Fields) -> Result<Self, RequestError> {
        let missing = || RequestError("expr must be set: the expression to evaluate".to_owned());
        let expr = fields.text("expr")?.ok_or_else(missing)?;
        let stored = [("new", false), ("stored", true)];
        let stored = fields.choice("mode", &stored)?.unwrap_or(false);
        let server = fields.server()?;
        let cel = [("kubernetes", false), ("cel", true)];
        let language = match fields.choice("env", &cel)?.unwrap_or(false) {
            true => Language::Cel {
                container: fields.text("container")?.unwrap_or_default(),
                macros: !fields.flag("disableMacros")?,
                functions: functions(&mut fields)?,
            },
            false => Language::Kubernetes { server, stored },
        };
        let disable_check =
            matches!(language, Language::Cel { .. }) && fields.flag("disableCheck")?;
        if let Some(key) = fields.first_of(&CEL_ONLY) {
            return Err(RequestError(format!(
                "{key} must not be set unless env is \"cel\""
            )));
        }
        let mut reader = TypeReader {
            server,
            ..TypeReader::default()
        };
        let declared = declared(&mut fields, &mut reader)?;
        let variables = declared.iter();
        let variables = variables
            .map(|(name, ty)| (name.clone(), ty.ty()))
            .collect();
        Ok(EvalRequest {
            expr,
            environment: EnvironmentSpec {
                language,
                variables,
                schemas: reader.schemas,
            },
            declared: declared
                .into_iter()
                .filter(|(_, ty)| !matches!(ty, Declared::Plain(_)))
                .collect(),
            bindings: fields.object("bindings")?,
            sizes: sizes(&mut fields)?,
            cost_limit: fields.whole("costLimit")?.unwrap_or(PER_CALL_LIMIT),
            check_only: fields.flag("checkOnly")?,
            disable_check,
        })
    }

    /// The values of the bound variables.
    ///
    /// # Errors
    ///
    /// A binding does not fit the type of its variable, or its variable is not declared. The error includes the name of the variable.
    pub fn bind<'a>(&'a self, arena: &'a Arena) -> Result<Bound<'a>, (&'a str, RequestError)> {
        let mut activation = Activation::new();
        let mut binder = Binder::new(arena);
        for (name, json) in &self.bindings {
            let undeclared = || {
                RequestError(format!(
                    "no such variable; declare it in vars, for example {{{name:?}: \"dyn\"}}"
                ))
            };
            let ty = self.environment.variables.get(name).ok_or_else(undeclared);
            let value = ty.and_then(|ty| match self.declared.get(name) {
                Some(declared) => binder.bind_declared(declared, json),
                None => binder.bind(ty, json),
            });
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

impl EvalRequest {
    /// The size estimates of the variables.
    pub(crate) fn size_source(&self) -> Sizes<'_> {
        let schemas: BTreeMap<&str, &CelSchema> = self
            .declared
            .iter()
            .filter_map(|(name, declared)| match declared {
                Declared::Schema(schema) => Some((name.as_str(), schema)),
                _ => None,
            })
            .collect();
        let only = || schemas.values().next().filter(|_| schemas.len() == 1);
        Sizes {
            table: &self.sizes,
            variables: &self.environment.variables,
            other: schemas.get("self").or_else(only).copied(),
            schemas,
        }
    }
}

/// The size estimates of a request, and of its schemas.
#[derive(Debug)]
pub struct Sizes<'r> {
    table: &'r SizeTable,
    variables: &'r BTreeMap<String, Type>,
    schemas: BTreeMap<&'r str, &'r CelSchema>,
    /// The schema for paths that do not begin with the name of a known variable: the schema of `self`; without it, the schema of the
    /// request if it is the only one; otherwise `None`. Upstream ignores the name if there is only one schema.
    other: Option<&'r CelSchema>,
}

impl SizeSource for Sizes<'_> {
    fn size(&self, path: &[&str], ty: &Type) -> Option<SizeEstimate> {
        if let Some(size) = self.table.size(path, ty) {
            return Some(size);
        }
        let (variable, steps) = path.split_first()?;
        let other = || {
            self.other
                .filter(|_| !self.variables.contains_key(*variable))
        };
        let schema = self.schemas.get(variable).copied().or_else(other)?;
        schema.size_at(steps)
    }
}

impl Bound<'_> {
    /// The calls to all authorizers, grouped by authorizer.
    pub fn authorizer_calls(&self) -> Vec<Attributes> {
        let calls = self.authorizers.iter().map(|authorizer| authorizer.calls());
        calls.flatten().collect()
    }
}

fn declared(
    fields: &mut Fields,
    reader: &mut TypeReader,
) -> Result<BTreeMap<String, Declared>, RequestError> {
    let mut vars: Vec<(String, Json)> = fields.object("vars")?.into_iter().collect();
    // `self` is read first, so that its schema gets the type name `selfType1`.
    vars.sort_by_key(|(name, _)| name != "self");
    let mut declared = BTreeMap::new();
    for (name, json) in vars {
        let ty = reader.read(&json);
        let ty = ty.map_err(|error| error.within(&format!("vars[{name:?}]")))?;
        declared.insert(name, ty);
    }
    Ok(declared)
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
