//! The Go values that expressions can read. Since Kubernetes 1.37, structs, and the lists and maps within them, cannot become values of a
//! JSON patch (apiserver `pkg/cel/common/valuesschemalesstyped.go`).

use std::cell::LazyCell;
use std::collections::HashMap;

use gavel_apimachinery::server::{Difference, Server};
use gavel_engine::value::Value;
use gavel_schema::built_in::{Nested, each_nested};

use super::schemas::ObjectSchemas;
use super::version::ObjectsOfKind;
use crate::cel::Inputs;
use crate::fields::text_field;
use crate::resource::GroupVersionKind;

/// The fields of a request that are structs. `options` is none.
const REQUEST: [(&str, &str); 5] = [
    ("kind", "v1.GroupVersionKind"),
    ("requestKind", "v1.GroupVersionKind"),
    ("resource", "v1.GroupVersionResource"),
    ("requestResource", "v1.GroupVersionResource"),
    ("userInfo", "v1.UserInfo"),
];

/// The Go values that an expression can read. They are collected when the first list or map is looked up.
pub(super) struct GoStructs<'g>(LazyCell<Places, Box<dyn FnOnce() -> Places + 'g>>);

/// Go values by their places in memory.
#[derive(Default)]
struct Places(HashMap<(usize, bool), Nested>);

impl<'g> GoStructs<'g> {
    /// The Go values among the inputs of an expression; none for older servers.
    pub(super) fn new(
        inputs: &'g Inputs<'g>,
        params: Value<'g>,
        objects: &'g ObjectsOfKind<'g>,
        schemas: &'g ObjectSchemas,
        server: Server,
    ) -> Self {
        let places = move || Places::of(inputs, params, objects, schemas, server);
        GoStructs(LazyCell::new(Box::new(places)))
    }

    /// The error of converting a value for a JSON patch; `None` if the value is no Go value.
    pub(super) fn error(&self, value: Value<'_>) -> Option<String> {
        let place = place(value)?;
        let from = match self.0.0.get(&place)? {
            Nested::Struct(schema) => {
                let mut steps = schema.rsplit('.');
                let [name, package] = [(); 2].map(|()| steps.next().unwrap_or_default());
                format!("struct type {package}.{name} to *structpb.Value")
            }
            Nested::List => "'list(dyn)' to '*structpb.Value'".to_owned(),
            Nested::Map => "'map(dyn, dyn)' to '*structpb.Value'".to_owned(),
        };
        Some(format!("type conversion error from {from}"))
    }
}

impl Places {
    fn of(
        inputs: &Inputs<'_>,
        params: Value<'_>,
        objects: &ObjectsOfKind<'_>,
        schemas: &ObjectSchemas,
        server: Server,
    ) -> Self {
        let mut structs = Places::default();
        if !server.has(Difference::RequestsAreGoStructs) {
            return structs;
        }
        structs.add_request(inputs.request);
        structs.add(inputs.namespace_object, "v1", "Namespace", server);
        let [version, kind] = ["apiVersion", "kind"].map(|key| text_field(params, key));
        if schemas.is_typed(&GroupVersionKind::new(version, kind)) {
            structs.add(params, version, kind, server);
        }
        if schemas.is_typed(objects.kind) {
            let version = objects.kind.api_version();
            for object in objects.structs() {
                structs.add(object, &version, &objects.kind.kind, server);
            }
        }
        structs
    }

    fn add(&mut self, object: Value<'_>, version: &str, kind: &str, server: Server) {
        let insert = &mut |value: Value<'_>, nested| self.insert(value, nested);
        each_nested(object, version, kind, server, insert);
    }

    fn add_request(&mut self, request: Value<'_>) {
        self.insert(request, Nested::Struct("v1.AdmissionRequest"));
        for (name, ty) in REQUEST {
            self.insert(field(request, name), Nested::Struct(ty));
        }
        let user = field(request, "userInfo");
        let extra = field(user, "extra");
        self.insert(field(user, "groups"), Nested::List);
        self.insert(extra, Nested::Map);
        for (_, values) in extra.as_map().iter().flat_map(|map| map.iter().flatten()) {
            self.insert(values, Nested::List);
        }
    }

    fn insert(&mut self, value: Value<'_>, nested: Nested) {
        if let Some(place) = place(value) {
            self.0.insert(place, nested);
        }
    }
}

/// The address of a list or map, and whether it is a list: a list and its first element can have the same address.
fn place(value: Value<'_>) -> Option<(usize, bool)> {
    Some((value.address()?, value.as_list().is_some()))
}

fn field<'v>(value: Value<'v>, name: &str) -> Value<'v> {
    let found = value.as_map().map(|map| map.get_str(name));
    found.and_then(Result::ok).flatten().unwrap_or(Value::NULL)
}
