//! Checks mutations with the schema of the mutated object. An API server detects the same mistakes only when it applies the
//! mutation (apiserver `pkg/admission/plugin/policy/mutating/patch`).

use gavel_engine::ast::{Expr, ExprKind, MapEntry, Struct};
use gavel_engine::check::CheckedAst;
use gavel_engine::issues::{Issues, Phase};
use gavel_engine::source::ExprId;
use gavel_engine::types::Type;
use gavel_schema::merge::{MergeType, Shape};

use super::pointers;
use super::subject::Part;
use crate::cel::{JSON_PATCH, OBJECT_PATCH};

/// The operations of JSON patches.
const OPERATIONS: [&str; 6] = ["add", "remove", "replace", "move", "copy", "test"];

/// The errors of a mutation of objects with the type `root`; `None` if there are no errors or `part` is not a mutation.
pub(super) fn faults(part: Part, checked: &CheckedAst, root: MergeType<'_>) -> Option<Issues> {
    if !part.is_mutation() {
        return None;
    }
    let mut mutation = CheckedMutation {
        checked,
        root,
        is_applied: part == Part::ApplyConfiguration,
        issues: Issues::new(checked.ast().source(), Phase::Check),
    };
    for expr in checked.ast().walk() {
        match expr.kind() {
            ExprKind::Struct(literal) if literal.type_name == JSON_PATCH => {
                mutation.check_operation(expr.id, literal);
            }
            ExprKind::Struct(literal) => mutation.check_object(expr.id, literal),
            _ => {}
        }
    }
    (!mutation.issues.is_empty()).then_some(mutation.issues)
}

struct CheckedMutation<'c, 's> {
    checked: &'c CheckedAst,
    root: MergeType<'s>,
    /// Whether the mutation is an apply configuration, which is merged with the object.
    is_applied: bool,
    issues: Issues,
}

impl<'s> CheckedMutation<'_, 's> {
    fn report(&mut self, id: ExprId, message: String) {
        let ast = self.checked.ast();
        let location = ast.source().location(ast.offset(id));
        self.issues.report(location, message);
    }

    /// Checks an object initializer such as `Object.spec.template{…}`. The type name is the path of the initialized field in the mutated
    /// object.
    fn check_object(&mut self, id: ExprId, literal: Struct<'_>) {
        let Some(path) = literal.type_name.strip_prefix(OBJECT_PATCH) else {
            return;
        };
        let mut ty = self.root;
        for name in path.split('.').skip(1) {
            match fields_of(ty).field(name) {
                Some(field) => ty = field,
                // A JSON patch may use initializers with any type name.
                None if !self.is_applied => return,
                None => return self.report(id, undeclared(path)),
            }
        }
        let ty = fields_of(ty);
        // A map and the objects in it have the same type name, so the initializer could be either.
        let is_ambiguous = ty.entry().is_some_and(|entry| entry.takes(Shape::Map));
        if is_ambiguous || !ty.takes(Shape::Map) {
            return;
        }
        for field in literal.fields() {
            let path = format!("{path}.{}", field.name);
            match ty.field(field.name) {
                Some(ty) => self.check_value(field.value, ty, &path, &path),
                None => self.report(field.id, undeclared(&path)),
            }
        }
    }

    /// Checks the value of the field at `path`. If the value is an object initializer, its type must be `Object` followed by `names`, such
    /// as `Object.spec`. Type names contain no keys of maps, so `names` is the path of the map for a value inside a map.
    fn check_value(&mut self, value: Expr<'_>, ty: MergeType<'s>, path: &str, names: &str) {
        let found = self.checked.type_of(value.id);
        if let Some(message) = self.refusal(found, ty, path, names) {
            return self.report(value.id, message);
        }
        let ExprKind::Map(map) = value.kind() else {
            return;
        };
        for MapEntry { id, key, value, .. } in map.iter() {
            let Some(name) = key.as_text() else {
                continue;
            };
            let path = format!("{path}.{name}");
            match ty.field(name) {
                // Type names contain no keys of maps.
                Some(ty) => self.check_value(value, ty, &path, names),
                None => self.report(id, undeclared(&path)),
            }
        }
    }

    /// The error if no value of the CEL type `found` fits the schema type `ty`; `None` if values fit or if the CEL type is too general to
    /// decide.
    fn refusal(&self, found: &Type, ty: MergeType<'s>, path: &str, names: &str) -> Option<String> {
        if let Some(held) = found.as_optional() {
            return self.refusal(held, ty, path, names);
        }
        let shape = self.shape(found)?;
        if !ty.takes(shape) {
            return Some(format!("{path}: expected {}, got {found}", ty.expected()));
        }
        if self.is_applied && ty.is_atomic(shape) {
            return Some(format!(
                "may not mutate atomic arrays, maps or structs: {path}"
            ));
        }
        match found {
            Type::List(element) => self.refusal(element, ty.element()?, path, names),
            Type::Map(entry) => match (&entry.0, ty.entry()) {
                (Type::String | Type::Dyn, Some(ty)) => self.refusal(&entry.1, ty, path, names),
                (Type::String | Type::Dyn, None) => None,
                (key, _) => Some(format!(
                    "{path}: expected a map with keys of type string, got {key}"
                )),
            },
            Type::Struct(name) if self.is_applied => {
                let expected = format!("{OBJECT_PATCH}{names}");
                (is_object(name) && **name != *expected).then(|| {
                    format!(
                        "unexpected type name \"{name}\", expected \"{expected}\", which matches field name path from root Object type"
                    )
                })
            }
            _ => None,
        }
    }

    /// The JSON shape of the values of a CEL type; `None` if they can have different shapes.
    fn shape(&self, ty: &Type) -> Option<Shape> {
        let converted = |shape| match self.is_applied {
            true => Shape::Foreign,
            false => shape,
        };
        Some(match ty {
            Type::Bool => Shape::Bool,
            Type::Int | Type::Double => Shape::Number,
            Type::Uint => converted(Shape::Number),
            Type::String => Shape::Text,
            Type::Bytes | Type::Duration | Type::Timestamp => converted(Shape::Text),
            // An apply configuration cannot set null; a JSON patch can set null anywhere.
            Type::Null if self.is_applied => Shape::Foreign,
            Type::List(_) => Shape::List,
            Type::Map(_) => Shape::Map,
            // Values of the Kubernetes libraries, such as quantities, cannot be written to objects.
            Type::Struct(name) if !name.starts_with("kubernetes.") => Shape::Map,
            _ => return None,
        })
    }

    fn check_operation(&mut self, id: ExprId, literal: Struct<'_>) {
        let field = |name: &str| literal.fields().find(|field| field.name == name);
        let op = field("op").map(|field| field.value);
        match op.map(Expr::as_text) {
            None => self.report(id, "Unexpected kind: ".to_owned()),
            Some(Some(op)) if !OPERATIONS.contains(&op) => {
                self.report(id, format!("Unexpected kind: {op}"));
            }
            Some(_) => {}
        }
        if let Some(from) = field("from") {
            self.check_pointer(from.value);
        }
        let target = field("path").and_then(|path| self.check_pointer(path.value));
        if let (Some((ty, path)), Some(value)) = (target, field("value")) {
            let found = self.checked.type_of(value.value.id);
            if let Some(message) = self.refusal(found, ty, &path, "") {
                self.report(value.value.id, message);
            }
        }
    }

    /// Checks a JSON pointer. Returns the type of its target, and the pointer with `*` for unknown keys. Returns `None` if the pointer is
    /// invalid or the type of its target is unknown.
    fn check_pointer(&mut self, pointer: Expr<'_>) -> Option<(MergeType<'s>, String)> {
        let mut ty = self.root;
        let mut path = String::new();
        let steps = pointers::steps(pointer, self.checked);
        for step in steps.known {
            path.push('/');
            path.push_str(step.as_deref().unwrap_or("*"));
            match part(ty, step.as_deref()) {
                Ok(part) => ty = part?,
                Err(message) => {
                    self.report(pointer.id, format!("{path}: {message}"));
                    return None;
                }
            }
        }
        steps.is_whole.then_some((ty, path))
    }
}

/// The type of the value that a key of a JSON pointer selects. It is `None` if the type depends on a key that is computed.
fn part<'s>(ty: MergeType<'s>, step: Option<&str>) -> Result<Option<MergeType<'s>>, String> {
    let is_index = |step: &str| step == "-" || step.parse::<i64>().is_ok();
    let element = ty.element().filter(|_| step.is_none_or(is_index));
    let field = match step {
        Some(name) => ty.field(name),
        None => ty.entry(),
    };
    let part = element.or(field);
    match step {
        _ if part.is_some() => Ok(part),
        None if ty.takes(Shape::Map) => Ok(None),
        Some(_) if ty.takes(Shape::Map) => Err(UNDECLARED.to_owned()),
        Some(step) if ty.takes(Shape::List) => {
            Err(format!("value was not a proper array index: '{step}'"))
        }
        _ => Err("missing value".to_owned()),
    }
}

/// The type whose fields an initializer sets: for a list, the type of its elements.
fn fields_of(mut ty: MergeType<'_>) -> MergeType<'_> {
    while let (false, Some(element)) = (ty.takes(Shape::Map), ty.element()) {
        ty = element;
    }
    ty
}

const UNDECLARED: &str = "field not declared in schema";

fn undeclared(path: &str) -> String {
    format!("{path}: {UNDECLARED}")
}

fn is_object(name: &str) -> bool {
    let rest = name.strip_prefix(OBJECT_PATCH);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
