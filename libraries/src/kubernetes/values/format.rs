//! The CEL type `kubernetes.NamedFormat`: named formats that texts can be validated against.

use std::borrow::Cow;

use gavel_apimachinery::formats;
use gavel_apimachinery::names::{self, Faults};
use gavel_engine::error::EvalError;
use gavel_engine::value::{Opaque, OpaqueKey, Value};
use gavel_golang::url::Url;

/// The name of the type.
pub(crate) const NAMED_FORMAT: &str = "kubernetes.NamedFormat";

/// A named format of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `dns1123Label`
    Dns1123Label,
    /// `dns1123Subdomain`
    Dns1123Subdomain,
    /// `dns1035Label`
    Dns1035Label,
    /// `qualifiedName`
    QualifiedName,
    /// `dns1123LabelPrefix`
    Dns1123LabelPrefix,
    /// `dns1123SubdomainPrefix`
    Dns1123SubdomainPrefix,
    /// `dns1035LabelPrefix`
    Dns1035LabelPrefix,
    /// `labelValue`
    LabelValue,
    /// `uri`
    Uri,
    /// `uuid`
    Uuid,
    /// `byte`
    Byte,
    /// `date`
    Date,
    /// `datetime`
    DateTime,
}

impl Format {
    /// The format that `format.named` finds by a name; `None` if there is no such format.
    pub fn named(name: &str) -> Option<Format> {
        Some(match name {
            "dns1123Label" => Format::Dns1123Label,
            "dns1123Subdomain" => Format::Dns1123Subdomain,
            "dns1035Label" => Format::Dns1035Label,
            "qualifiedName" => Format::QualifiedName,
            "dns1123LabelPrefix" => Format::Dns1123LabelPrefix,
            "dns1123SubdomainPrefix" => Format::Dns1123SubdomainPrefix,
            "dns1035LabelPrefix" => Format::Dns1035LabelPrefix,
            "labelValue" => Format::LabelValue,
            "uri" => Format::Uri,
            "uuid" => Format::Uuid,
            "byte" => Format::Byte,
            "date" => Format::Date,
            "datetime" => Format::DateTime,
            _ => return None,
        })
    }

    /// The name by which upstream identifies the format.
    pub fn name(self) -> &'static str {
        match self {
            Format::Dns1123Label => "DNS1123Label",
            Format::Dns1123Subdomain => "DNS1123Subdomain",
            Format::Dns1035Label => "DNS1035Label",
            Format::QualifiedName => "QualifiedName",
            Format::Dns1123LabelPrefix => "DNS1123LabelPrefix",
            Format::Dns1123SubdomainPrefix => "DNS1123SubdomainPrefix",
            Format::Dns1035LabelPrefix => "DNS1035LabelPrefix",
            Format::LabelValue => "LabelValue",
            Format::Uri => "URI",
            Format::Uuid => "uuid",
            Format::Byte => "byte",
            Format::Date => "date",
            Format::DateTime => "datetime",
        }
    }

    /// The length of the longest pattern of a format, in code points.
    pub(crate) const LONGEST_PATTERN: u64 = 1103;

    /// The length of the format's pattern, in code points. It determines the cost of a check.
    pub(crate) fn pattern_size(self) -> u64 {
        match self {
            Format::Dns1123Label | Format::Dns1123LabelPrefix => 30,
            Format::Dns1035Label | Format::Dns1035LabelPrefix => 30,
            Format::Dns1123Subdomain | Format::Dns1123SubdomainPrefix | Format::QualifiedName => 60,
            Format::LabelValue => 40,
            Format::Uri => Format::LONGEST_PATTERN,
            Format::Uuid => 70,
            Format::Byte => 84,
            Format::Date | Format::DateTime => 71,
        }
    }

    /// The errors of a text, in upstream's words; empty if it is valid.
    pub fn validate(self, text: &str) -> Vec<String> {
        match self {
            Format::Dns1123Label => names::dns1123_label(text.as_bytes()),
            Format::Dns1123LabelPrefix => names::dns1123_label(&names::as_name(text)),
            Format::Dns1123Subdomain => names::dns1123_subdomain(text.as_bytes()),
            Format::Dns1123SubdomainPrefix => names::dns1123_subdomain(&names::as_name(text)),
            Format::Dns1035Label => names::dns1035_label(text.as_bytes()),
            Format::Dns1035LabelPrefix => names::dns1035_label(&names::as_name(text)),
            Format::QualifiedName => names::qualified_name(text),
            Format::LabelValue => names::label_value(text),
            Format::Uri => match Url::check_request_uri(text) {
                Ok(()) => Faults::new(),
                Err(error) => vec![error.to_string()],
            },
            Format::Uuid => unless(formats::is_uuid(text), "does not match the UUID format"),
            Format::Byte => unless(formats::is_base64(text), "invalid base64"),
            Format::Date => unless(formats::is_date(text), "invalid date"),
            Format::DateTime => unless(formats::is_date_time(text), "invalid datetime"),
        }
    }
}

fn unless(valid: bool, fault: &str) -> Faults {
    match valid {
        true => Faults::new(),
        false => vec![fault.to_owned()],
    }
}

impl Opaque for Format {
    fn type_name(&self) -> &'static str {
        NAMED_FORMAT
    }

    fn key(&self) -> OpaqueKey {
        OpaqueKey::Unhashable
    }

    fn go_type(&self) -> Cow<'static, str> {
        Cow::Borrowed("cel.Format")
    }

    fn equals(&self, other: &Value<'_>) -> Result<bool, EvalError> {
        let equal = other.as_opaque::<Format>().map(|other| self == other);
        equal.ok_or_else(EvalError::no_such_overload)
    }

    fn to_text(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.name())
    }
}
