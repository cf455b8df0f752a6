//! `op=object`: validates a policy, a binding or a webhook configuration as the API server does.

use gavel_engine::value::Json;
use gavel_libraries::Server;
use gavel_policy::api::Resource;
use gavel_policy::validation::Validator;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::answer::{Answer, Problem};
use crate::field_error::FieldError;
use crate::line;
use crate::request::{Fields, RequestError};

/// An `object` request. The objects stay JSON text, because duplicate fields and the order of fields matter.
#[derive(Debug)]
pub(crate) struct ObjectRequest {
    object: String,
    old: Option<String>,
    of_status: bool,
    /// The API server.
    pub(crate) server: Server,
}

/// The answer to an `object` request whose object could be decoded.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ObjectAnswer<'a> {
    id: &'a Json,
    ok: bool,
    errors: Vec<FieldError>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown_fields: Vec<String>,
    defaulted: Box<RawValue>,
}

impl ObjectRequest {
    /// Reads the keys of an `object` request; `line` is the whole request.
    pub(crate) fn read(mut fields: Fields, line: &[u8]) -> Result<Self, RequestError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Objects<'l> {
            #[serde(borrow)]
            object: Option<&'l RawValue>,
            #[serde(borrow)]
            old_object: Option<&'l RawValue>,
        }
        let objects: Objects<'_> =
            serde_json::from_slice(line).map_err(|error| RequestError(error.to_string()))?;
        let object = objects
            .object
            .ok_or_else(|| RequestError("object must be set".to_owned()))?;
        Ok(ObjectRequest {
            object: text_of(object),
            old: objects.old_object.map(text_of),
            of_status: match fields.text("subresource")?.as_deref() {
                None | Some("") => false,
                Some("status") => true,
                Some(other) => {
                    return Err(RequestError(format!(
                        "subresource must be \"status\", not {other:?}"
                    )));
                }
            },
            server: fields.compatible_server()?,
        })
    }

    /// Appends the answer to `out`.
    pub(crate) fn answer(
        &self,
        id: &Json,
        validator: &Validator,
        out: &mut Vec<u8>,
    ) -> Result<(), RequestError> {
        let not_decoded = |message: String, out: &mut Vec<u8>| {
            let problem = Problem {
                phase: "decode",
                message,
            };
            let answer = Answer {
                id: Some(id),
                error: Some(problem),
                ..Answer::default()
            };
            Ok(line::write(&answer, out)?)
        };
        let decoded = match Resource::decode_for(&self.object, self.server) {
            Ok(decoded) => decoded,
            Err(error) => {
                return not_decoded(error.message, out);
            }
        };
        let object = decoded.object;
        let report = match &self.old {
            None => validator.create(&object, None),
            Some(old) => {
                let old = match Resource::decode_for(old, self.server) {
                    Ok(decoded) => decoded.object,
                    Err(error) => {
                        return not_decoded(format!("oldObject: {error}"), out);
                    }
                };
                let report = match (self.of_status, &object, &old) {
                    (false, object, old) => validator.update(object, old, None),
                    (
                        true,
                        Resource::ValidatingAdmissionPolicy(object),
                        Resource::ValidatingAdmissionPolicy(old),
                    ) => Some(validator.update_status(object, old)),
                    (true, ..) => {
                        let message = "subresource: only a ValidatingAdmissionPolicy has a status";
                        return Err(RequestError(message.to_owned()));
                    }
                };
                report.ok_or_else(|| RequestError("oldObject: another kind".to_owned()))?
            }
        };
        let defaulted = RawValue::from_string(object.to_json());
        let answer = ObjectAnswer {
            id,
            ok: report.errors.is_empty(),
            errors: FieldError::list(&report.errors),
            message: report.message(),
            warnings: report.warnings,
            unknown_fields: decoded.strict.iter().map(ToString::to_string).collect(),
            defaulted: defaulted.map_err(|error| RequestError(error.to_string()))?,
        };
        Ok(line::write(&answer, out)?)
    }
}

/// The JSON text of an object. The request contains the object as a JSON value, or as a string that holds the text.
fn text_of(value: &RawValue) -> String {
    serde_json::from_str(value.get()).unwrap_or_else(|_| value.get().to_owned())
}
