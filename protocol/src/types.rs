//! The types of variables in requests (TYPE in `docs/batch.md`).

use gavel_engine::types::Type;
use gavel_engine::value::Json;
use gavel_libraries::Server;
use gavel_policy::cel::{NAMESPACE, REQUEST, declared_type};
use gavel_schema::JsonSchema;
use gavel_schema::cel::CelSchema;
use serde::Deserialize;

use crate::request::{RequestError, kind};

/// The name of the type `authorizer`.
pub const AUTHORIZER: &str = "kubernetes.authorization.Authorizer";
/// The name of the type `resourceCheck`.
pub(crate) const RESOURCE_CHECK: &str = "kubernetes.authorization.ResourceCheck";

/// The type of a variable in a request.
#[derive(Debug, Clone)]
pub enum Declared {
    /// A type of the language or of a library.
    Plain(Type),
    /// The type that a schema describes.
    Schema(CelSchema),
    /// A list: `{"list": TYPE}`.
    List(Box<Declared>),
    /// A map: `{"map": [TYPE, TYPE]}`.
    Map(Box<(Declared, Declared)>),
    /// An optional: `{"optional": TYPE}`.
    Optional(Box<Declared>),
}

impl Declared {
    /// The type in CEL.
    pub fn ty(&self) -> Type {
        match self {
            Declared::Plain(ty) => ty.clone(),
            // A schema without a type is rejected when it is read.
            Declared::Schema(schema) => schema.declared_type().unwrap_or(Type::Dyn),
            Declared::List(element) => Type::list(element.ty()),
            Declared::Map(entry) => Type::map(entry.0.ty(), entry.1.ty()),
            Declared::Optional(value) => Type::optional(value.ty()),
        }
    }
}

/// A schema that a variable's type contains.
#[derive(Debug, Clone)]
pub struct SchemaSpec {
    /// Identifies the schema: its JSON, and whether the request marks it as a `resource`.
    key: String,
    /// The schema. The name of its type is unique.
    pub schema: CelSchema,
}

impl PartialEq for SchemaSpec {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for SchemaSpec {}

impl std::hash::Hash for SchemaSpec {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

/// Reads the types of variables. Equal schemas are stored once.
#[derive(Debug, Default)]
pub(crate) struct TypeReader {
    /// The API server whose rules for schemas apply.
    pub(crate) server: Server,
    /// The schemas that were read so far.
    pub(crate) schemas: Vec<SchemaSpec>,
}

impl TypeReader {
    /// Reads a TYPE: a text such as `list(int)`, or `{"list": TYPE}`, `{"map": [TYPE, TYPE]}`, `{"optional": TYPE}`, or
    /// `{"schema": S, "resource": bool, "optional": bool}`.
    pub(crate) fn read(&mut self, json: &Json) -> Result<Declared, RequestError> {
        let object = match json {
            Json::String(text) => return read_text(text).map(Declared::Plain),
            Json::Object(object) => object,
            _ => return Err(no_type(json)),
        };
        if let Some(schema) = object.get("schema") {
            let resource = object.get("resource") == Some(&Json::Bool(true));
            let schema = Declared::Schema(self.schema(schema, resource)?);
            let optional = object.get("optional") == Some(&Json::Bool(true));
            return Ok(match optional {
                true => Declared::Optional(Box::new(schema)),
                false => schema,
            });
        }
        let mut entries = object.iter();
        match (entries.next(), entries.next()) {
            (Some((form, inner)), None) => self.form(form, inner),
            _ => Err(no_type(json)),
        }
    }

    fn form(&mut self, form: &str, inner: &Json) -> Result<Declared, RequestError> {
        match (form, inner) {
            ("list", element) => Ok(Declared::List(Box::new(self.read(element)?))),
            ("optional", value) => Ok(Declared::Optional(Box::new(self.read(value)?))),
            ("map", Json::Array(pair)) => match pair.as_slice() {
                [key, value] => {
                    let entry = (self.read(key)?, self.read(value)?);
                    Ok(Declared::Map(Box::new(entry)))
                }
                _ => {
                    let message = "\"map\" must hold two types: [key, value]";
                    Err(RequestError(message.to_owned()))
                }
            },
            _ => Err(no_type(&Json::from(form))),
        }
    }

    fn schema(&mut self, json: &Json, resource: bool) -> Result<CelSchema, RequestError> {
        let key = format!("{resource} {json}");
        if let Some(known) = self.schemas.iter().find(|known| known.key == key) {
            return Ok(known.schema.clone());
        }
        let within = |error: RequestError| error.within("schema");
        let schema = JsonSchema::deserialize(json)
            .map_err(|error| within(RequestError(error.to_string())))?;
        let number = self.schemas.len().saturating_add(1);
        let schema = CelSchema::for_server(&schema, resource, self.server)
            .named(format!("selfType{number}"));
        if schema.declared_type().is_none() {
            let message = "must have a type that expressions can know";
            return Err(within(RequestError(message.to_owned())));
        }
        self.schemas.push(SchemaSpec {
            key,
            schema: schema.clone(),
        });
        Ok(schema)
    }
}

/// Reads a type that is written as text, for example on the command line.
///
/// # Errors
///
/// The text is not a type, or values of the type cannot be written as JSON.
pub fn read_text(text: &str) -> Result<Type, RequestError> {
    match text {
        "authorizer" => return Ok(Type::Struct(AUTHORIZER.into())),
        "resourceCheck" => return Ok(Type::Struct(RESOURCE_CHECK.into())),
        "admissionRequest" => return Ok(declared_type(REQUEST)),
        "namespaceObject" => return Ok(declared_type(NAMESPACE)),
        _ => {}
    }
    let ty: Option<Type> = text.parse().ok().filter(is_bindable);
    ty.ok_or_else(|| no_type(&Json::from(text)))
}

/// Reads a type of a declared function, which may contain type parameters and abstract types.
pub(crate) fn read_declared(text: &str) -> Result<Type, RequestError> {
    text.parse().map_err(|_| no_type(&Json::from(text)))
}

fn no_type(found: &Json) -> RequestError {
    RequestError(format!(
        "{} is not a type; write for example \"int\", \"list(string)\", \"map(string, dyn)\", \"optional(int)\" or {{\"list\": \"int\"}}",
        kind(found)
    ))
}

/// Whether values of a type, and all values within them, can be written as JSON.
fn is_bindable(ty: &Type) -> bool {
    match ty {
        Type::Dyn | Type::Any | Type::Null | Type::Bool | Type::Int | Type::Uint | Type::Double => {
            true
        }
        Type::String | Type::Bytes | Type::Duration | Type::Timestamp => true,
        Type::List(element) => is_bindable(element),
        Type::Map(entry) => is_bindable(&entry.0) && is_bindable(&entry.1),
        Type::Opaque(_) => ty.as_optional().is_some_and(is_bindable),
        _ => false,
    }
}
