//! The Go values that expressions read (apiserver `pkg/cel/common/valuesschemalesstyped.go`). Since Kubernetes 1.37, requests, namespaces,
//! and objects and params of built-in kinds are Go structs, and so are the structs, lists and maps within them. Their Go types determine
//! how they are compared, and they cannot become values of a JSON patch.

use std::cell::OnceCell;
use std::fmt;

use gavel_apimachinery::server::{Difference, Server};
use gavel_engine::error::EvalError;
use gavel_engine::value::{Arena, HostTypes, List, Map, Reach, Value};
use gavel_schema::built_in::{Nested, each_nested, structs_equal};

use crate::cel::{Inputs, TypedInputs};
use crate::fields::{field, text_field};

/// The fields of a request that are structs. `options` is none.
const REQUEST: [(&str, &str); 5] = [
    ("kind", "v1.GroupVersionKind"),
    ("requestKind", "v1.GroupVersionKind"),
    ("resource", "v1.GroupVersionResource"),
    ("requestResource", "v1.GroupVersionResource"),
    ("userInfo", "v1.UserInfo"),
];

/// The Go values that an expression can read. They are collected when the first list or map is looked up.
pub(crate) struct GoValues<'g> {
    inputs: &'g Inputs<'g>,
    /// Whether `object` and `oldObject` are Go values if their kind is built in.
    are_typed: [bool; 2],
    /// The params, if they are a Go value; otherwise null.
    params: Value<'g>,
    server: Server,
    arena: &'g Arena,
    places: OnceCell<&'g [(Place, Nested)]>,
}

/// The address of a list or map, and whether it is a list: a list and its first element can have the same address.
type Place = (usize, bool);

impl<'g> GoValues<'g> {
    /// Stores inputs in the arena. Returns them with their types, and the Go values among them, which are these types; `None` for servers
    /// that read the inputs as JSON. `are_typed` tells whether `object` and `oldObject` are Go values if their kind is built in.
    pub(crate) fn of(
        inputs: Inputs<'g>,
        are_typed: [bool; 2],
        params: Value<'g>,
        server: Server,
        arena: &'g Arena,
    ) -> (TypedInputs<'g>, Option<&'g Self>) {
        let inputs = &*arena.bump().alloc(inputs);
        let make = || GoValues {
            inputs,
            are_typed,
            params,
            server,
            arena,
            places: OnceCell::new(),
        };
        let has_go_values = server.has(Difference::RequestsAreGoStructs);
        let go_values = has_go_values.then(|| &*arena.bump().alloc_with(make));
        let inputs = TypedInputs {
            values: inputs,
            types: go_values.map(|values| values as _),
        };
        (inputs, go_values)
    }

    /// The error of converting a value for a JSON patch; `None` if the value is no Go value.
    pub(crate) fn conversion_error(&self, value: Value<'_>) -> Option<String> {
        let from = match self.type_of(&value)? {
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

    fn type_of(&self, value: &Value<'_>) -> Option<Nested> {
        let wanted = place(value)?;
        let places = self.places.get_or_init(|| self.collect());
        let found = places.binary_search_by_key(&wanted, |(place, _)| *place);
        Some(places.get(found.ok()?)?.1)
    }

    fn collect(&self) -> &'g [(Place, Nested)] {
        let mut places = Vec::new();
        let insert = &mut |value: Value<'_>, nested| {
            places.extend(place(&value).map(|place| (place, nested)));
        };
        let inputs = self.inputs;
        for request in [inputs.request, inputs.original_request] {
            each_of_request(request, insert);
        }
        for namespace in [inputs.namespace_object, inputs.whole_namespace] {
            each_nested(namespace, "v1", "Namespace", self.server, insert);
        }
        let objects = [inputs.object, inputs.old_object];
        let typed = objects.into_iter().zip(self.are_typed);
        let typed = typed.filter_map(|(object, is_typed)| is_typed.then_some(object));
        for object in typed.chain([self.params]) {
            let [version, kind] = ["apiVersion", "kind"].map(|key| text_field(object, key));
            each_nested(object, version, kind, self.server, insert);
        }
        places.sort_unstable_by_key(|(place, _)| *place);
        self.arena.bump().alloc_slice_copy(&places)
    }
}

fn each_of_request(request: Value<'_>, insert: &mut dyn FnMut(Value<'_>, Nested)) {
    let field = |of, name| field(of, name).unwrap_or(Value::NULL);
    insert(request, Nested::Struct("v1.AdmissionRequest"));
    for (name, ty) in REQUEST {
        insert(field(request, name), Nested::Struct(ty));
    }
    let user = field(request, "userInfo");
    let extra = field(user, "extra");
    insert(field(user, "groups"), Nested::List);
    insert(extra, Nested::Map);
    for (_, values) in extra.as_map().iter().flat_map(|map| map.iter().flatten()) {
        insert(values, Nested::List);
    }
}

impl HostTypes for GoValues<'_> {
    fn go_type(&self, value: &Value<'_>) -> Option<&'static str> {
        Some(match self.type_of(value)? {
            Nested::Struct(_) => "*common.reflectSchemalessTypedStruct",
            Nested::List => "*common.reflectSchemalessTypedList",
            Nested::Map => "*common.reflectSchemalessTypedMap",
        })
    }

    fn equals(
        &self,
        left: &Value<'_>,
        right: &Value<'_>,
        reach: &mut Reach<'_>,
    ) -> Option<Result<bool, EvalError>> {
        let ty = self.type_of(left)?;
        if let (Nested::Struct(name), Some(Nested::Struct(other))) = (ty, self.type_of(right)) {
            if name != other {
                return Some(Ok(false));
            }
            // The structs of requests have no schema; their fields are compared.
            if let Some(equal) = structs_equal(*left, *right, name, self.server, reach) {
                return Some(equal);
            }
        }
        Some(match (left.as_list(), right.as_list()) {
            (Some(left), Some(right)) => lists_equal(left, right, reach),
            _ => match (left.as_map(), right.as_map()) {
                (Some(left), Some(right)) => {
                    maps_equal(left, right, matches!(ty, Nested::Struct(_)), reach)
                }
                _ => Err(right.no_such_overload()),
            },
        })
    }
}

/// Whether a Go list has the elements of another list. Elements that cannot be compared differ.
fn lists_equal(left: List<'_>, right: List<'_>, reach: &mut Reach<'_>) -> Result<bool, EvalError> {
    if left.len() != right.len() {
        return Ok(false);
    }
    reach.within(left.len(), |reach| {
        for (left, right) in left.iter().zip(right.iter()) {
            reach.step(&left)?;
            match left.equals_within(&right, reach) {
                Ok(true) => {}
                Err(error) if error.is_fatal() => return Err(error),
                _ => return Ok(false),
            }
        }
        Ok(true)
    })
}

/// Whether a Go map or struct has the entries of another map. Values that cannot be compared differ in a map. In a struct, their error is
/// the result.
fn maps_equal(
    left: Map<'_>,
    right: Map<'_>,
    is_struct: bool,
    reach: &mut Reach<'_>,
) -> Result<bool, EvalError> {
    if left.len() != right.len() {
        return Ok(false);
    }
    reach.within(left.len(), |reach| {
        for entry in left.iter() {
            let (key, left) = entry?;
            reach.step(&left)?;
            let Ok(Some(right)) = right.get(&key) else {
                return Ok(false);
            };
            match left.equals_within(&right, reach) {
                Ok(true) => {}
                Err(error) if is_struct || error.is_fatal() => return Err(error),
                _ => return Ok(false),
            }
        }
        Ok(true)
    })
}

fn place(value: &Value<'_>) -> Option<Place> {
    Some((value.address()?, value.as_list().is_some()))
}

impl fmt::Debug for GoValues<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GoValues").finish_non_exhaustive()
    }
}
