//! Builds [`World`]s for the suites of kaptest, which have no bindings. The policies apply to every request, and are used even if an API
//! server would reject them.

use gavel_engine::value::Json;
use gavel_libraries::{EnvSet, Server};
use gavel_policy::PolicyIndex;
use gavel_state::State;
use serde_json::json;

use crate::kinds::Kinds;
use crate::role::{Role, kind_of, name_of};
use crate::world::{World, binding};

impl World {
    /// Builds a world from objects. Each policy gets a binding that denies; the other objects are namespaces and params. `param` is the
    /// namespace and name of the param that policies with a `paramKind` use; if it is `None`, such policies use all objects of that kind as
    /// params.
    ///
    /// # Errors
    ///
    /// A policy cannot be read.
    pub(crate) fn of_bare_policies<'o>(
        server: Server,
        objects: impl Iterator<Item = &'o Json> + Clone,
        param: Option<(&str, &str)>,
    ) -> Result<Self, String> {
        let environments = EnvSet::new(server).map_err(|error| error.to_string())?;
        let mut index = PolicyIndex::new(&environments);
        let mut kinds = Kinds::default();
        objects.clone().for_each(|object| kinds.define(object));
        for object in objects {
            match Role::of(object) {
                Role::Policy => {
                    for object in bare(object, param) {
                        index.apply(object).map_err(|error| error.to_string())?;
                    }
                }
                Role::Surrounding if object.get("kind") == Some(&json!("Namespace")) => {
                    let applied = index.apply(object.clone());
                    applied.map_err(|error| error.to_string())?;
                }
                _ => index.apply_param(kinds.placed(object.clone(), "default")),
            }
        }
        Ok(World::new(State::of_index(index, server), server, kinds))
    }
}

/// Whether an object is a MutatingAdmissionPolicy.
pub(crate) fn is_mutating(object: &Json) -> bool {
    Role::of(object) == Role::Policy && kind_of(object) == "MutatingAdmissionPolicy"
}

/// A policy whose errors deny, and its binding. If it is a validating policy, it matches everything.
pub(crate) fn bare(policy: &Json, param: Option<(&str, &str)>) -> [Json; 2] {
    let has_params = policy.pointer("/spec/paramKind").is_some();
    let bound = binding(
        kind_of(policy),
        name_of(policy),
        has_params.then_some(param),
    );
    let mut policy = policy.clone();
    let is_mutating = is_mutating(&policy);
    if let Some(Json::Object(spec)) = policy.get_mut("spec") {
        spec.insert("failurePolicy".to_owned(), "Fail".into());
        if !is_mutating {
            let all = json!(["*"]);
            let rule =
                json!({"apiGroups": all, "apiVersions": all, "operations": all, "resources": all});
            let constraints = json!({"resourceRules": [rule]});
            spec.insert("matchConstraints".to_owned(), constraints);
        }
    }
    [policy, bound]
}
