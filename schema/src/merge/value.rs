//! Values for structured-merge-diff: JSON, and results of expressions that have no JSON form.

use std::collections::BTreeMap;
use std::fmt::Write;

use gavel_engine::value::Json;
use gavel_golang::float;
use gavel_golang::quote::quote;

/// A value of a patch: plain data, or a Go value without a JSON form.
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
    /// A string.
    String(String),
    /// A list.
    List(Vec<Plain>),
    /// A nil slice of Go: an empty list that Go writes as null.
    NilList,
    /// A map.
    Map(BTreeMap<String, Plain>),
    /// A value of another Go type.
    Foreign(Box<Foreign>),
}

/// A Go value that is not plain data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// The name of the type: the output of `%T`.
    pub go_type: String,
    /// The output of `%v`.
    pub text: String,
    /// The output of `%#v`.
    pub source: String,
    /// The value as JSON in Go's `structpb`; `None` if `structpb` rejects the type.
    pub json: Option<Json>,
}

impl Plain {
    /// The value as JSON. Nil slices become empty lists, and their JSON pointers are added to `nil_lists`. Foreign values, and numbers
    /// without a JSON form, become null.
    pub fn into_json(self, nil_lists: &mut Vec<String>) -> Json {
        let mut found = Vec::new();
        let json = self.json_at(&mut found);
        nil_lists.extend(found.into_iter().map(|steps: Vec<String>| {
            let steps = steps.iter().rev();
            steps.map(|step| format!("/{step}")).collect::<String>()
        }));
        json
    }

    /// The value as JSON. The paths of nil slices are added to `nil_lists`, each with its last step first.
    // This recursion is bounded: documents and patches are at most 400 levels deep.
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

    /// The value at a JSON pointer.
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

/// The kind of a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum MergedKind<'v> {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    String(&'v str),
    List,
    Map,
    Foreign(&'v Foreign),
}

/// A value of the patch or of the object. Code that handles both uses this trait.
pub(super) trait Data: Sized {
    fn kind(&self) -> MergedKind<'_>;
    fn items(&self) -> &[Self];
    fn fields(&self) -> impl Iterator<Item = (&str, &Self)>;
    fn field(&self, name: &str) -> Option<&Self>;

    /// Whether the value is a nil slice of Go.
    fn is_nil_list(&self) -> bool {
        false
    }
}

impl Data for Json {
    fn kind(&self) -> MergedKind<'_> {
        match self {
            Json::Null => MergedKind::Null,
            Json::Bool(value) => MergedKind::Bool(*value),
            Json::Number(number) => match number.as_i64() {
                Some(int) => MergedKind::Int(int),
                None => MergedKind::Double(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => MergedKind::String(text),
            Json::Array(_) => MergedKind::List,
            Json::Object(_) => MergedKind::Map,
        }
    }

    fn items(&self) -> &[Self] {
        self.as_array().map_or(&[], Vec::as_slice)
    }

    fn fields(&self) -> impl Iterator<Item = (&str, &Self)> {
        let fields = self.as_object().into_iter().flatten();
        fields.map(|(name, value)| (name.as_str(), value))
    }

    fn field(&self, name: &str) -> Option<&Self> {
        self.get(name)
    }
}

impl Data for Plain {
    fn kind(&self) -> MergedKind<'_> {
        match self {
            Plain::Null => MergedKind::Null,
            Plain::Bool(value) => MergedKind::Bool(*value),
            Plain::Int(value) => MergedKind::Int(*value),
            Plain::Double(value) => MergedKind::Double(*value),
            Plain::String(text) => MergedKind::String(text),
            Plain::List(_) | Plain::NilList => MergedKind::List,
            Plain::Map(_) => MergedKind::Map,
            Plain::Foreign(foreign) => MergedKind::Foreign(foreign),
        }
    }

    fn items(&self) -> &[Self] {
        match self {
            Plain::List(items) => items,
            _ => &[],
        }
    }

    fn fields(&self) -> impl Iterator<Item = (&str, &Self)> {
        let fields = match self {
            Plain::Map(fields) => Some(fields),
            _ => None,
        };
        let fields = fields.into_iter().flatten();
        fields.map(|(name, value)| (name.as_str(), value))
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
        MergedKind::Null => "<nil>",
        MergedKind::Bool(_) => "bool",
        MergedKind::Int(_) => "int64",
        MergedKind::Double(_) => "float64",
        MergedKind::String(_) => "string",
        MergedKind::List => "[]interface {}",
        MergedKind::Map => "map[string]interface {}",
        MergedKind::Foreign(foreign) => &foreign.go_type,
    }
}

pub(super) fn go_text(value: &impl Data) -> String {
    match value.kind() {
        MergedKind::Null => "<nil>".to_owned(),
        MergedKind::Bool(value) => value.to_string(),
        MergedKind::Int(value) => value.to_string(),
        MergedKind::Double(value) => float::format_shortest(value),
        MergedKind::String(text) => text.to_owned(),
        MergedKind::List => {
            let items: Vec<String> = value.items().iter().map(go_text).collect();
            format!("[{}]", items.join(" "))
        }
        MergedKind::Map => {
            let fields = value.fields();
            let fields: Vec<String> = fields
                .map(|(name, value)| format!("{name}:{}", go_text(value)))
                .collect();
            format!("map[{}]", fields.join(" "))
        }
        MergedKind::Foreign(foreign) => foreign.text.clone(),
    }
}

pub(super) fn go_source(value: &impl Data) -> String {
    match value.kind() {
        MergedKind::Null => "interface {}(nil)".to_owned(),
        MergedKind::String(text) => quote(text),
        MergedKind::List if value.is_nil_list() => "[]interface {}(nil)".to_owned(),
        MergedKind::List => {
            let items: Vec<String> = value.items().iter().map(go_source).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        MergedKind::Map => {
            let mut out = "map[string]interface {}{".to_owned();
            for (n, (name, value)) in value.fields().enumerate() {
                let separator = if n == 0 { "" } else { ", " };
                // Writing to a String does not fail.
                let _ = write!(out, "{separator}{}:{}", quote(name), go_source(value));
            }
            out.push('}');
            out
        }
        MergedKind::Foreign(foreign) => foreign.source.clone(),
        MergedKind::Bool(_) | MergedKind::Int(_) | MergedKind::Double(_) => go_text(value),
    }
}
