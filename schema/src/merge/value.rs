//! Values as structured-merge-diff sees them: JSON, and what an expression makes that JSON does not have.

use std::collections::BTreeMap;
use std::fmt::Write;

use gavel_engine::value::Json;
use gavel_golang::float;
use gavel_golang::quote::quote;

/// What a patch is made of: plain data, and values of Go that are none, which fit no type.
#[derive(Debug, Clone, PartialEq)]
pub enum Plain {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A 64-bit signed integer.
    Int(i64),
    /// An IEEE 754 number.
    Double(f64),
    /// Text.
    String(String),
    /// A list.
    List(Vec<Plain>),
    /// A list that Go has no memory for: an empty list, which it writes as null.
    NilList,
    /// A map.
    Map(BTreeMap<String, Plain>),
    /// A value of another type of Go.
    Foreign(Box<Foreign>),
}

/// A value of a Go type that is no plain data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// The type: what `%T` prints.
    pub go_type: String,
    /// What `%v` prints.
    pub text: String,
    /// What `%#v` prints.
    pub source: String,
}

impl Plain {
    /// The value as JSON, with empty lists for those that Go writes as null: their JSON pointers are added to `nil_lists`.
    /// Foreign values, and numbers that JSON does not have, are null.
    pub fn into_json(self, nil_lists: &mut Vec<String>) -> Json {
        let mut found = Vec::new();
        let json = self.json_at(&mut found);
        nil_lists.extend(found.into_iter().map(|steps: Vec<String>| {
            let steps = steps.iter().rev();
            steps.map(|step| format!("/{step}")).collect::<String>()
        }));
        json
    }

    /// The value as JSON; the steps to lists that Go writes as null are added to `nil_lists`, the last one first.
    // Documents are at most 127 levels deep, and patches as deep as expressions; so is this recursion.
    fn json_at(self, nil_lists: &mut Vec<Vec<String>>) -> Json {
        let mut within = |value: Plain, step: &dyn Fn() -> String| {
            let before = nil_lists.len();
            let json = value.json_at(nil_lists);
            let found = nil_lists.iter_mut().skip(before);
            found.for_each(|steps| steps.push(step()));
            json
        };
        match self {
            Plain::Null | Plain::Foreign(_) => Json::Null,
            Plain::Bool(value) => value.into(),
            Plain::Int(value) => value.into(),
            Plain::Double(value) => value.into(),
            Plain::String(text) => text.into(),
            Plain::NilList => {
                nil_lists.push(Vec::new());
                Json::Array(Vec::new())
            }
            Plain::List(items) => {
                let items = items.into_iter().enumerate();
                items
                    .map(|(n, item)| within(item, &|| n.to_string()))
                    .collect()
            }
            Plain::Map(fields) => {
                let fields = fields.into_iter().map(|(name, value)| {
                    let value = within(value, &|| name.replace('~', "~0").replace('/', "~1"));
                    (name, value)
                });
                Json::Object(fields.collect())
            }
        }
    }

    /// The value that a JSON pointer leads to.
    pub fn pointer_mut(&mut self, pointer: &str) -> Option<&mut Plain> {
        let mut current = self;
        for step in pointer.split('/').skip(1) {
            current = match current {
                Plain::Map(fields) => {
                    fields.get_mut(step.replace("~1", "/").replace("~0", "~").as_str())?
                }
                Plain::List(items) => items.get_mut(step.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(current)
    }
}

impl From<Json> for Plain {
    fn from(json: Json) -> Self {
        match json {
            Json::Null => Plain::Null,
            Json::Bool(value) => Plain::Bool(value),
            Json::Number(number) => match number.as_i64() {
                Some(int) => Plain::Int(int),
                None => Plain::Double(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Plain::String(text),
            Json::Array(items) => Plain::List(items.into_iter().map(Plain::from).collect()),
            Json::Object(fields) => {
                let fields = fields.into_iter();
                Plain::Map(fields.map(|(name, value)| (name, value.into())).collect())
            }
        }
    }
}

/// What a value is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind<'v> {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    String(&'v str),
    List,
    Map,
    Foreign(&'v Foreign),
}

/// A value that can be walked.
pub(super) trait Data: Sized {
    fn kind(&self) -> Kind<'_>;
    fn items(&self) -> &[Self];
    fn fields(&self) -> Box<dyn Iterator<Item = (&str, &Self)> + '_>;
    fn field(&self, name: &str) -> Option<&Self>;

    /// Whether this is a list that Go has no memory for.
    fn is_nil_list(&self) -> bool {
        false
    }
}

impl Data for Json {
    fn kind(&self) -> Kind<'_> {
        match self {
            Json::Null => Kind::Null,
            Json::Bool(value) => Kind::Bool(*value),
            Json::Number(number) => match number.as_i64() {
                Some(int) => Kind::Int(int),
                None => Kind::Double(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Kind::String(text),
            Json::Array(_) => Kind::List,
            Json::Object(_) => Kind::Map,
        }
    }

    fn items(&self) -> &[Self] {
        self.as_array().map_or(&[], Vec::as_slice)
    }

    fn fields(&self) -> Box<dyn Iterator<Item = (&str, &Self)> + '_> {
        let fields = self.as_object().into_iter().flatten();
        Box::new(fields.map(|(name, value)| (name.as_str(), value)))
    }

    fn field(&self, name: &str) -> Option<&Self> {
        self.get(name)
    }
}

impl Data for Plain {
    fn kind(&self) -> Kind<'_> {
        match self {
            Plain::Null => Kind::Null,
            Plain::Bool(value) => Kind::Bool(*value),
            Plain::Int(value) => Kind::Int(*value),
            Plain::Double(value) => Kind::Double(*value),
            Plain::String(text) => Kind::String(text),
            Plain::List(_) | Plain::NilList => Kind::List,
            Plain::Map(_) => Kind::Map,
            Plain::Foreign(foreign) => Kind::Foreign(foreign),
        }
    }

    fn items(&self) -> &[Self] {
        match self {
            Plain::List(items) => items,
            _ => &[],
        }
    }

    fn fields(&self) -> Box<dyn Iterator<Item = (&str, &Self)> + '_> {
        let fields = match self {
            Plain::Map(fields) => Some(fields),
            _ => None,
        };
        let fields = fields.into_iter().flatten();
        Box::new(fields.map(|(name, value)| (name.as_str(), value)))
    }

    fn field(&self, name: &str) -> Option<&Self> {
        match self {
            Plain::Map(fields) => fields.get(name),
            _ => None,
        }
    }

    fn is_nil_list(&self) -> bool {
        matches!(self, Plain::NilList)
    }
}

/// The name of the Go type: `%T`.
pub(super) fn go_type(value: &impl Data) -> &str {
    match value.kind() {
        Kind::Null => "<nil>",
        Kind::Bool(_) => "bool",
        Kind::Int(_) => "int64",
        Kind::Double(_) => "float64",
        Kind::String(_) => "string",
        Kind::List => "[]interface {}",
        Kind::Map => "map[string]interface {}",
        Kind::Foreign(foreign) => &foreign.go_type,
    }
}

pub(super) fn go_text(value: &impl Data) -> String {
    match value.kind() {
        Kind::Null => "<nil>".to_owned(),
        Kind::Bool(value) => value.to_string(),
        Kind::Int(value) => value.to_string(),
        Kind::Double(value) => float::format_shortest(value),
        Kind::String(text) => text.to_owned(),
        Kind::List => {
            let items: Vec<String> = value.items().iter().map(go_text).collect();
            format!("[{}]", items.join(" "))
        }
        Kind::Map => {
            let fields = value.fields();
            let fields: Vec<String> = fields
                .map(|(name, value)| format!("{name}:{}", go_text(value)))
                .collect();
            format!("map[{}]", fields.join(" "))
        }
        Kind::Foreign(foreign) => foreign.text.clone(),
    }
}

pub(super) fn go_source(value: &impl Data) -> String {
    match value.kind() {
        Kind::Null => "interface {}(nil)".to_owned(),
        Kind::String(text) => quote(text),
        Kind::List if value.is_nil_list() => "[]interface {}(nil)".to_owned(),
        Kind::List => {
            let items: Vec<String> = value.items().iter().map(go_source).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Kind::Map => {
            let mut out = "map[string]interface {}{".to_owned();
            for (n, (name, value)) in value.fields().enumerate() {
                let separator = if n == 0 { "" } else { ", " };
                // Writing to a String does not fail.
                let _ = write!(out, "{separator}{}:{}", quote(name), go_source(value));
            }
            out.push('}');
            out
        }
        Kind::Foreign(foreign) => foreign.source.clone(),
        Kind::Bool(_) | Kind::Int(_) | Kind::Double(_) => go_text(value),
    }
}
