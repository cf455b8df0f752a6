//! The lists and maps within `request` and `namespaceObject` as Go values. Since Kubernetes 1.37 they are Go structs, lists and maps, which
//! cannot become values of a JSON patch (apiserver `pkg/cel/common/valuesschemalesstyped.go`).

use std::collections::HashMap;

use gavel_apimachinery::server::{Difference, Server};
use gavel_engine::value::Value;

use crate::cel::Inputs;

/// The Go type of a value.
enum GoType {
    /// A struct: its name, and its fields that are structs, lists or maps.
    Struct(&'static str, &'static [(&'static str, GoType)]),
    List(&'static GoType),
    Map(&'static GoType),
    Text,
}

const TEXTS: GoType = GoType::List(&GoType::Text);
const TEXTS_BY_NAME: GoType = GoType::Map(&GoType::Text);
const KIND: GoType = GoType::Struct("v1.GroupVersionKind", &[]);
const RESOURCE: GoType = GoType::Struct("v1.GroupVersionResource", &[]);

const USER: GoType = GoType::Struct(
    "v1.UserInfo",
    &[("groups", TEXTS), ("extra", GoType::Map(&TEXTS))],
);

// `options` is not a struct.
const REQUEST: GoType = GoType::Struct(
    "v1.AdmissionRequest",
    &[
        ("kind", KIND),
        ("requestKind", KIND),
        ("resource", RESOURCE),
        ("requestResource", RESOURCE),
        ("userInfo", USER),
    ],
);

const METADATA: GoType = GoType::Struct(
    "v1.ObjectMeta",
    &[
        ("labels", TEXTS_BY_NAME),
        ("annotations", TEXTS_BY_NAME),
        ("finalizers", TEXTS),
    ],
);

const CONDITION: GoType = GoType::Struct("v1.NamespaceCondition", &[]);

const NAMESPACE: GoType = GoType::Struct(
    "v1.Namespace",
    &[
        ("metadata", METADATA),
        (
            "spec",
            GoType::Struct("v1.NamespaceSpec", &[("finalizers", TEXTS)]),
        ),
        (
            "status",
            GoType::Struct(
                "v1.NamespaceStatus",
                &[("conditions", GoType::List(&CONDITION))],
            ),
        ),
    ],
);

/// The Go values that an expression can read, by their addresses.
#[derive(Default)]
pub(super) struct GoStructs(HashMap<usize, &'static GoType>);

impl GoStructs {
    /// The Go values among the inputs of an expression; none for older servers.
    pub(super) fn new(inputs: &Inputs<'_>, server: Server) -> Self {
        let mut structs = GoStructs::default();
        if server.has(Difference::RequestsAreGoStructs) {
            structs.add(inputs.request, &REQUEST);
            structs.add(inputs.namespace_object, &NAMESPACE);
        }
        structs
    }

    /// The error of converting a value for a JSON patch; `None` if the value is no Go value.
    pub(super) fn error(&self, value: Value<'_>) -> Option<String> {
        let found = self.0.get(&value.address()?)?;
        Some(match found {
            GoType::Struct(name, _) => {
                format!("type conversion error from struct type {name} to *structpb.Value")
            }
            GoType::List(_) => {
                "type conversion error from 'list(dyn)' to '*structpb.Value'".to_owned()
            }
            _ => "type conversion error from 'map(dyn, dyn)' to '*structpb.Value'".to_owned(),
        })
    }

    // The recursion ends with the tables above.
    fn add(&mut self, value: Value<'_>, ty: &'static GoType) {
        let Some(address) = value.address() else {
            return;
        };
        self.0.insert(address, ty);
        match (ty, value.as_map(), value.as_list()) {
            (GoType::Struct(_, fields), Some(map), _) => {
                for (name, ty) in *fields {
                    if let Ok(Some(value)) = map.get_str(name) {
                        self.add(value, ty);
                    }
                }
            }
            (GoType::Map(ty), Some(map), _) => {
                map.iter()
                    .flatten()
                    .for_each(|(_, value)| self.add(value, ty));
            }
            (GoType::List(ty), _, Some(list)) => {
                list.iter().for_each(|value| self.add(value, ty));
            }
            _ => {}
        }
    }
}
