//! Requests: JSON objects, one per line, read key by key so that each error names the key.

use serde::Deserialize;
use serde_json::Map;

use gavel_apimachinery::json;
use gavel_engine::value::Json;

use crate::depth;
use crate::line::LineTooLong;
use crate::run::ValuesTooLarge;

/// Why a request cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RequestError(pub String);

impl From<LineTooLong> for RequestError {
    fn from(error: LineTooLong) -> Self {
        RequestError(error.to_string())
    }
}

impl From<ValuesTooLarge> for RequestError {
    fn from(error: ValuesTooLarge) -> Self {
        RequestError(error.to_string())
    }
}

impl RequestError {
    /// Puts the name of the key that contains the error in front of the message.
    pub fn within(self, key: &str) -> Self {
        let separator = if self.0.starts_with('[') { "" } else { ": " };
        RequestError(format!("{key}{separator}{}", self.0))
    }
}

/// A request before its `op` is read.
#[derive(Debug)]
pub(crate) struct Request {
    /// The request's `id`, which the answer repeats; null if absent.
    pub(crate) id: Json,
    /// The keys other than `op` and `id`.
    pub(crate) fields: Fields,
}

/// The keys of a JSON object that have not been read yet. A key whose value is null is treated as absent.
#[derive(Debug, Default)]
pub(crate) struct Fields(Map<String, Json>);

impl Request {
    /// Reads a line.
    ///
    /// # Errors
    ///
    /// The request cannot be understood. The error has the request's `id` if it could be read.
    pub(crate) fn read(line: &[u8]) -> Result<Request, (Json, RequestError)> {
        match json::read(line) {
            Ok(Json::Object(mut fields)) => {
                let id = fields.remove("id").unwrap_or_default();
                Ok(Request {
                    id,
                    fields: Fields(fields),
                })
            }
            Ok(other) => {
                let message = format!("a request must be a JSON object, not {}", kind(&other));
                Err((Json::Null, RequestError(message)))
            }
            Err(error) => {
                let message = match depth::path_too_deep(line) {
                    Some(path) => {
                        format!(
                            "the request is nested deeper than {} at {path}",
                            depth::MAX_DEPTH
                        )
                    }
                    None => format!("the request is not valid JSON: {error}"),
                };
                Err((salvaged_id(line), RequestError(message)))
            }
        }
    }
}

/// The `id` of a request that is JSON but is nested too deeply or contains a number that is too large.
fn salvaged_id(line: &[u8]) -> Json {
    #[derive(Deserialize)]
    struct Id {
        #[serde(default)]
        id: Json,
    }
    serde_json::from_slice(line).map_or(Json::Null, |Id { id }| id)
}

impl Fields {
    /// Reads a string.
    pub(crate) fn text(&mut self, key: &str) -> Result<Option<String>, RequestError> {
        match self.take(key) {
            None => Ok(None),
            Some(Json::String(text)) => Ok(Some(text)),
            Some(other) => Err(unexpected(key, "a string", &other)),
        }
    }

    /// Reads a string; `None` if the key is absent or the string is empty.
    pub(crate) fn name(&mut self, key: &str) -> Result<Option<String>, RequestError> {
        Ok(self.text(key)?.filter(|text| !text.is_empty()))
    }

    /// Reads a string that must be one of `choices`, and returns its value there; `None` if the key is absent or the string is empty.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        key: &str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, RequestError> {
        let Some(text) = self.name(key)? else {
            return Ok(None);
        };
        let found = choices.iter().find(|(name, _)| *name == text);
        let names: Vec<String> = choices
            .iter()
            .map(|(name, _)| format!("{name:?}"))
            .collect();
        match found {
            Some((_, choice)) => Ok(Some(*choice)),
            None => Err(RequestError(format!(
                "{key} must be {}, not {text:?}",
                names.join(" or ")
            ))),
        }
    }

    /// Reads `true` or `false`; false if the key is absent.
    pub(crate) fn flag(&mut self, key: &str) -> Result<bool, RequestError> {
        Ok(self.optional_flag(key)?.unwrap_or(false))
    }

    /// Reads `true` or `false`; `None` if the key is absent.
    pub(crate) fn optional_flag(&mut self, key: &str) -> Result<Option<bool>, RequestError> {
        match self.take(key) {
            None => Ok(None),
            Some(Json::Bool(flag)) => Ok(Some(flag)),
            Some(other) => Err(unexpected(key, "true or false", &other)),
        }
    }

    /// Reads a whole number that may be negative.
    pub(crate) fn integer(&mut self, key: &str) -> Result<Option<i64>, RequestError> {
        let Some(json) = self.take(key) else {
            return Ok(None);
        };
        let integer = json.as_i64();
        integer.map_or_else(
            || Err(unexpected(key, "a whole number", &json)),
            |n| Ok(Some(n)),
        )
    }

    /// Reads a whole number from 0 to 2^64 - 1.
    pub(crate) fn whole(&mut self, key: &str) -> Result<Option<u64>, RequestError> {
        let Some(json) = self.take(key) else {
            return Ok(None);
        };
        let whole = json.as_u64();
        whole.map_or_else(
            || Err(unexpected(key, "a whole number of at least 0", &json)),
            |n| Ok(Some(n)),
        )
    }

    /// Reads a list; empty if the key is absent.
    pub(crate) fn list(&mut self, key: &str) -> Result<Vec<Json>, RequestError> {
        match self.take(key) {
            None => Ok(Vec::new()),
            Some(Json::Array(list)) => Ok(list),
            Some(other) => Err(unexpected(key, "a list", &other)),
        }
    }

    /// Reads an object; empty if the key is absent.
    pub(crate) fn object(&mut self, key: &str) -> Result<Map<String, Json>, RequestError> {
        match self.take(key) {
            None => Ok(Map::new()),
            Some(Json::Object(object)) => Ok(object),
            Some(other) => Err(unexpected(key, "an object", &other)),
        }
    }

    /// Returns the keys of an object, to be read one by one; empty if the key is absent.
    pub(crate) fn nested(&mut self, key: &str) -> Result<Fields, RequestError> {
        self.object(key).map(Fields)
    }

    /// The first of these keys that is present and not null.
    pub(crate) fn first_of<'k>(&self, keys: &[&'k str]) -> Option<&'k str> {
        let set = |key: &&&str| self.0.get(**key).is_some_and(|json| !json.is_null());
        keys.iter().find(set).copied()
    }

    /// Reads any value, including null.
    pub(crate) fn raw(&mut self, key: &str) -> Option<Json> {
        self.0.remove(key)
    }

    /// Reads any value except null.
    pub(crate) fn take(&mut self, key: &str) -> Option<Json> {
        self.0.remove(key).filter(|json| !json.is_null())
    }
}

impl TryFrom<Json> for Fields {
    type Error = RequestError;

    fn try_from(json: Json) -> Result<Self, RequestError> {
        match json {
            Json::Object(fields) => Ok(Fields(fields)),
            other => Err(RequestError(format!(
                "must be an object, not {}",
                kind(&other)
            ))),
        }
    }
}

fn unexpected(key: &str, what: &str, found: &Json) -> RequestError {
    RequestError(format!("{key} must be {what}, not {}", kind(found)))
}

/// Describes a JSON value in messages: a short scalar by its value, any other value by its type.
pub(crate) fn kind(json: &Json) -> String {
    match json {
        Json::Null => "null".to_owned(),
        Json::Bool(_) | Json::Number(_) => json.to_string(),
        Json::String(text) if text.len() <= 40 => json.to_string(),
        Json::String(_) => "a string".to_owned(),
        Json::Array(_) => "a list".to_owned(),
        Json::Object(_) => "an object".to_owned(),
    }
}
