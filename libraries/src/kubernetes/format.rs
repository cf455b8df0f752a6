//! Named formats of texts (apiserver `pkg/cel/library/format.go`).

use gavel_apimachinery::names;
use gavel_engine::body;
use gavel_engine::cost::{
    CallEstimate, Cost, CostEstimate, REGEX_FACTOR, SizeEstimate, TRAVERSAL_FACTOR, formulas,
    tracked_size,
};
use gavel_engine::decl::{CallContext, Function, Overload, row};
use gavel_engine::value::Value;

use super::values::format::Format;

/// The functions of named formats.
#[rustfmt::skip] // One row per line.
pub const FORMATS: &[Overload] = &[
    constant("format.dns1123Label", |call, _| Ok(call.arena.opaque(Format::Dns1123Label)), "!format.dns1123Label().validate('my-name').hasValue()"),
    constant("format.dns1123Subdomain", |call, _| Ok(call.arena.opaque(Format::Dns1123Subdomain)), "!format.dns1123Subdomain().validate('a.example.com').hasValue()"),
    constant("format.dns1035Label", |call, _| Ok(call.arena.opaque(Format::Dns1035Label)), "!format.dns1035Label().validate('my-name').hasValue()"),
    constant("format.qualifiedName", |call, _| Ok(call.arena.opaque(Format::QualifiedName)), "!format.qualifiedName().validate('example.com/MyName').hasValue()"),
    constant("format.dns1123LabelPrefix", |call, _| Ok(call.arena.opaque(Format::Dns1123LabelPrefix)), "!format.dns1123LabelPrefix().validate('my-').hasValue()"),
    constant("format.dns1123SubdomainPrefix", |call, _| Ok(call.arena.opaque(Format::Dns1123SubdomainPrefix)), "!format.dns1123SubdomainPrefix().validate('a.my-').hasValue()"),
    constant("format.dns1035LabelPrefix", |call, _| Ok(call.arena.opaque(Format::Dns1035LabelPrefix)), "!format.dns1035LabelPrefix().validate('my-').hasValue()"),
    constant("format.labelValue", |call, _| Ok(call.arena.opaque(Format::LabelValue)), "!format.labelValue().validate('').hasValue()"),
    constant("format.uri", |call, _| Ok(call.arena.opaque(Format::Uri)), "!format.uri().validate('http://example.com').hasValue()"),
    constant("format.uuid", |call, _| Ok(call.arena.opaque(Format::Uuid)), "!format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()"),
    constant("format.byte", |call, _| Ok(call.arena.opaque(Format::Byte)), "!format.byte().validate('aGVsbG8=').hasValue()"),
    constant("format.date", |call, _| Ok(call.arena.opaque(Format::Date)), "!format.date().validate('2021-01-01').hasValue()"),
    constant("format.datetime", |call, _| Ok(call.arena.opaque(Format::DateTime)), "!format.datetime().validate('2021-01-01T00:00:00Z').hasValue()"),
    row("format.named", "format-named", "(string) -> optional(kubernetes.NamedFormat)", body!(named), "format.named('uuid').value() == format.uuid()").cost(Cost::ONE.of_name()),
    row("validate", "format-validate", "kubernetes.NamedFormat.(string) -> optional(list(string))", body!(validate), "format.uuid().validate('x').value() == ['does not match the UUID format']").cost(VALIDATE),
];

/// The row of `validate` on servers that lack [`gavel_apimachinery::server::Difference::LengthLimitsAreInBytes`].
#[rustfmt::skip] // One row per line.
pub const FORMATS_IN_CHARACTERS: &[Overload] = &[
    row("validate", "format-validate", "kubernetes.NamedFormat.(string) -> optional(list(string))", body!(validate_in_characters), "format.uuid().validate('x').value() == ['does not match the UUID format']").cost(VALIDATE),
];

/// The cost of `validate`. Kubernetes' estimate assumes a pattern of [`MAX_PATTERN`] code points, and is zero for an empty text.
/// The bound assumes the longest pattern.
const VALIDATE: Cost = Cost::split(
    |call| {
        if call.is_bound() {
            let pattern = SizeEstimate::exact(Format::LONGEST_PATTERN);
            return CallEstimate::new(formulas::regex_cost(call.size(1), pattern));
        }
        let text = call.size(1).costs(TRAVERSAL_FACTOR);
        CallEstimate::new(text.scaled(MAX_PATTERN * REGEX_FACTOR))
    },
    |arguments, _| match arguments {
        [Some(format), text] => {
            let format = format.as_opaque::<Format>();
            let pattern = format.map(|format| SizeEstimate::exact(format.pattern_size()));
            let text = SizeEstimate::exact(tracked_size(*text));
            let cost = pattern.map(|pattern| formulas::regex_cost(text, pattern));
            Ok(cost.unwrap_or(CostEstimate::exact(1)).max)
        }
        _ => Ok(1),
    },
)
.of_name();

/// The length of a format's pattern that Kubernetes' estimate assumes, in code points. The pattern of `format.uri` is longer.
const MAX_PATTERN: f64 = 128.0;

/// A row of a function that returns a format. The function's name is also the overload's id.
const fn constant(function: &'static str, body: Function, example: &'static str) -> Overload {
    row(
        function,
        function,
        "() -> kubernetes.NamedFormat",
        body,
        example,
    )
}

fn named<'a>(call: &CallContext<'a>, name: &str) -> Value<'a> {
    match Format::named(name) {
        Some(format) => call.arena.some(call.arena.opaque(format)),
        None => Value::NONE,
    }
}

/// The errors of the text; `optional.none()` if the text is valid.
fn validate<'a>(call: &CallContext<'a>, format: &Format, text: &str) -> Value<'a> {
    optional_list(call, format.validate(text))
}

/// Like `validate`, with the messages of servers without `Difference::LengthLimitsAreInBytes`: these messages give length limits in
/// characters instead of bytes, and call a label key a qualified name.
fn validate_in_characters<'a>(call: &CallContext<'a>, format: &Format, text: &str) -> Value<'a> {
    let faults = format.validate(text);
    optional_list(
        call,
        faults.iter().map(|fault| names::as_before(fault)).collect(),
    )
}

fn optional_list<'a>(call: &CallContext<'a>, faults: names::Faults) -> Value<'a> {
    if faults.is_empty() {
        return Value::NONE;
    }
    let faults: Vec<_> = faults
        .iter()
        .map(|fault| call.arena.string(fault))
        .collect();
    call.arena.some(call.arena.list(&faults))
}
