//! The authorizer that a request binds to a variable. It decides with the table in that request, and records the calls to it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Map;

use gavel_engine::value::Json;
use gavel_libraries::authorizer::{
    Authorizer, AuthorizerAttributes, AuthorizerRequest, Decision, ResourceAttributes, UserInfo,
    Verdict,
};
use gavel_libraries::kubernetes::authorizer::{AuthorizerValue, ResourceCheck};

use crate::request::{Fields, RequestError, kind};

/// Attributes of an authorization request, by name. In a row of the table, they are the attributes of the requests that the row matches.
pub type Attributes = Map<String, Json>;

/// An authorizer that decides by the first matching row of a table. If no row matches, it has no opinion.
#[derive(Debug, Default)]
pub(crate) struct TableAuthorizer {
    rows: Vec<(Attributes, Decision)>,
    calls: Mutex<Vec<Attributes>>,
}

/// The contents of a binding of type `authorizer` or `resourceCheck`: the user, the table and, for a `resourceCheck`, the resource.
#[derive(Debug)]
pub(crate) struct AuthorizerBinding {
    user: Arc<UserInfo>,
    /// The table.
    pub(crate) authorizer: Arc<TableAuthorizer>,
    resource: ResourceAttributes,
}

const KEYS: [&str; 12] = [
    "verb",
    "apiGroup",
    "apiVersion",
    "resource",
    "subresource",
    "namespace",
    "name",
    "path",
    "user",
    "fieldSelector",
    "labelSelector",
    "resourceRequest",
];

const VERDICTS: [(&str, Verdict); 3] = [
    ("allow", Verdict::Allow),
    ("deny", Verdict::Deny),
    ("noOpinion", Verdict::NoOpinion),
];

impl AuthorizerBinding {
    /// Reads `{"user": …, "decisions": […], "resource": …}`; null is the same as `{}`.
    pub(crate) fn read(json: &Json) -> Result<Self, RequestError> {
        let mut fields = match json {
            Json::Null => Fields::default(),
            other => Fields::try_from(other.clone())?,
        };
        let user = user(fields.nested("user")?).map_err(|error| error.within("user"))?;
        let resource =
            resource(fields.nested("resource")?).map_err(|error| error.within("resource"))?;
        let mut rows = Vec::new();
        for (n, row) in fields.list("decisions")?.into_iter().enumerate() {
            let row = Fields::try_from(row).and_then(decision);
            rows.push(row.map_err(|error| error.within(&format!("decisions[{n}]")))?);
        }
        Ok(AuthorizerBinding {
            user: Arc::new(user),
            authorizer: Arc::new(TableAuthorizer {
                rows,
                calls: Mutex::default(),
            }),
            resource,
        })
    }

    /// The value of an `authorizer`.
    pub(crate) fn authorizer(&self) -> AuthorizerValue {
        AuthorizerValue::new(Arc::clone(&self.user), Arc::clone(&self.authorizer) as _)
    }

    /// The value of a `resourceCheck`.
    pub(crate) fn resource_check(&self) -> ResourceCheck {
        ResourceCheck::new(self.authorizer(), self.resource.clone())
    }
}

impl TableAuthorizer {
    /// The attributes of all calls so far, in order.
    pub(crate) fn calls(&self) -> Vec<Attributes> {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.clone()
    }
}

impl Authorizer for TableAuthorizer {
    fn authorize(&self, attributes: &AuthorizerAttributes) -> Decision {
        let row_attributes = asked_attributes(attributes);
        let fits = |(row, _): &&(Attributes, Decision)| {
            row.iter()
                .all(|(key, wanted)| match row_attributes.get(key) {
                    Some(value) => value == wanted,
                    None => wanted == "",
                })
        };
        let decision = self.rows.iter().find(fits).map(|(_, decision)| decision);
        let decision = decision.cloned().unwrap_or_default();
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.push(row_attributes);
        decision
    }
}

/// Reads the user of an authorizer: `{"name", "uid", "groups", "extra"}`.
///
/// # Errors
///
/// A key has a value of the wrong type.
pub fn read_user(json: Json) -> Result<UserInfo, RequestError> {
    Fields::try_from(json).and_then(user)
}

/// Reads the resource of a `resourceCheck`: `{"group", "resource", "subresource", "namespace", "name"}`.
///
/// # Errors
///
/// A key has a value of the wrong type.
pub fn read_resource(json: Json) -> Result<ResourceAttributes, RequestError> {
    Fields::try_from(json).and_then(resource)
}

fn user(mut fields: Fields) -> Result<UserInfo, RequestError> {
    let mut extra = BTreeMap::new();
    for (key, values) in fields.object("extra")? {
        let values = Some(values).filter(|values| !values.is_null()).map(texts);
        let values = values.transpose();
        let values = values.map_err(|error| error.within(&format!("extra[{key:?}]")))?;
        extra.insert(key, values);
    }
    let groups = Json::Array(fields.list("groups")?);
    Ok(UserInfo {
        name: fields.text("name")?.unwrap_or_default(),
        uid: fields.text("uid")?.unwrap_or_default(),
        groups: texts(groups).map_err(|error| error.within("groups"))?,
        extra,
    })
}

fn texts(json: Json) -> Result<Vec<String>, RequestError> {
    let not_texts = |found: &Json| {
        let message = format!("must be a list of strings, not {}", kind(found));
        RequestError(message)
    };
    let Json::Array(items) = json else {
        return Err(not_texts(&json));
    };
    let text = |item| match item {
        Json::String(text) => Ok(text),
        other => Err(not_texts(&other)),
    };
    items.into_iter().map(text).collect()
}

fn resource(mut fields: Fields) -> Result<ResourceAttributes, RequestError> {
    let mut text = |key| fields.text(key).map(Option::unwrap_or_default);
    Ok(ResourceAttributes {
        api_group: text("group")?,
        resource: text("resource")?,
        subresource: text("subresource")?,
        namespace: text("namespace")?,
        name: text("name")?,
        ..ResourceAttributes::default()
    })
}

/// Reads a row: the attributes that it matches, and the answer.
fn decision(mut fields: Fields) -> Result<(Attributes, Decision), RequestError> {
    let about = fields.object("match")?;
    if let Some(key) = about.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let message = format!("must be one of {}, not {key:?}", KEYS.join(", "));
        return Err(RequestError(message).within("match"));
    }
    let decision = Decision {
        verdict: fields.choice("decision", &VERDICTS)?.unwrap_or_default(),
        reason: fields.text("reason")?.unwrap_or_default(),
        error: fields.text("error")?.filter(|error| !error.is_empty()),
    };
    Ok((about, decision))
}

/// The attributes of a request, with the keys that rows of the table use.
pub fn asked_attributes(attributes: &AuthorizerAttributes) -> Attributes {
    let mut named = Attributes::new();
    let mut insert = |key: &str, value: Json| {
        named.insert(key.to_owned(), value);
    };
    let is_resource = matches!(attributes.request, AuthorizerRequest::Resource(_));
    insert("verb", attributes.verb.as_str().into());
    insert("user", attributes.user.name.as_str().into());
    insert("resourceRequest", is_resource.into());
    match &attributes.request {
        AuthorizerRequest::Path(path) => insert("path", path.as_str().into()),
        AuthorizerRequest::Resource(resource) => {
            insert("apiGroup", resource.api_group.as_str().into());
            insert("apiVersion", resource.api_version.as_str().into());
            insert("resource", resource.resource.as_str().into());
            insert("subresource", resource.subresource.as_str().into());
            insert("namespace", resource.namespace.as_str().into());
            insert("name", resource.name.as_str().into());
            match &resource.field_selector {
                Ok(terms) if terms.is_empty() => {}
                Ok(terms) => insert("fieldSelector", joined(terms)),
                Err(error) => insert("fieldSelectorError", error.to_string().into()),
            }
            match &resource.label_selector {
                Ok(terms) if terms.is_empty() => {}
                Ok(terms) => insert("labelSelector", joined(terms)),
                Err(error) => insert("labelSelectorError", error.to_string().into()),
            }
        }
    }
    named
}

fn joined(terms: &[impl ToString]) -> Json {
    let terms: Vec<String> = terms.iter().map(ToString::to_string).collect();
    terms.join(",").into()
}
