//! Functions that return a changed copy of a text, and `split` and `join`.

use bumpalo::collections::{String, Vec};
use gavel_engine::decl::CallContext;
use gavel_engine::error::EvalError;
use gavel_engine::value::{Arena, List, Value, ValueKind};
use memchr::{memchr, memchr_iter};

use crate::cel::limit::push_str;

/// The largest initial capacity of a joined text, in bytes.
const MOST_EXPECTED: usize = 64;

/// The units of work for a character that is copied individually.
const WORK_PER_CHARACTER: usize = 8;

/// `text.lowerAscii()`
pub(super) fn lower_ascii<'a>(call: &CallContext<'a>, text: &'a str) -> Result<&'a str, EvalError> {
    if !text.bytes().any(|b| b.is_ascii_uppercase()) {
        return Ok(text);
    }
    call.reserve(text.len())?;
    let lower = call.arena.bump().alloc_str(text);
    lower.make_ascii_lowercase();
    Ok(lower)
}

/// `text.upperAscii()`
pub(super) fn upper_ascii<'a>(call: &CallContext<'a>, text: &'a str) -> Result<&'a str, EvalError> {
    if !text.bytes().any(|b| b.is_ascii_lowercase()) {
        return Ok(text);
    }
    call.reserve(text.len())?;
    let upper = call.arena.bump().alloc_str(text);
    upper.make_ascii_uppercase();
    Ok(upper)
}

/// `text.reverse()`, code point by code point.
pub(super) fn reverse<'a>(call: &CallContext<'a>, text: &str) -> Result<&'a str, EvalError> {
    call.reserve(text.len())?;
    let mut reversed = String::with_capacity_in(text.len(), call.arena.bump());
    for c in text.chars().rev() {
        call.work(WORK_PER_CHARACTER)?;
        reversed.push(c);
    }
    Ok(reversed.into_bump_str())
}

/// `strings.quote(text)`: the text in double quotes, with CEL's escapes. Characters without an escape are unchanged.
pub(super) fn quote<'a>(call: &CallContext<'a>, text: &str) -> Result<&'a str, EvalError> {
    let escapes = |byte: &u8| matches!(byte, 0x07..=0x0d | b'\\' | b'"');
    let escaped = text.bytes().filter(escapes).count();
    let capacity = text.len().saturating_add(escaped).saturating_add(2);
    call.reserve(capacity)?;
    let mut quoted = String::with_capacity_in(capacity, call.arena.bump());
    quoted.push('"');
    for c in text.chars() {
        call.work(WORK_PER_CHARACTER)?;
        match c {
            '\x07' => quoted.push_str("\\a"),
            '\x08' => quoted.push_str("\\b"),
            '\x0c' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\x0b' => quoted.push_str("\\v"),
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    Ok(quoted.into_bump_str())
}

/// `text.replace(old, new)`
pub(super) fn replace<'a>(
    call: &CallContext<'a>,
    text: &'a str,
    old: &str,
    new: &str,
) -> Result<&'a str, EvalError> {
    replaced(call, text, old, new, usize::MAX)
}

/// `text.replace(old, new, count)`; a negative count means all.
pub(super) fn replace_some<'a>(
    call: &CallContext<'a>,
    text: &'a str,
    old: &str,
    new: &str,
    count: i64,
) -> Result<&'a str, EvalError> {
    replaced(call, text, old, new, limit(count))
}

/// Replaces `old`; an empty `old` is found before every code point and at the end.
fn replaced<'a>(
    call: &CallContext<'a>,
    text: &'a str,
    old: &str,
    new: &str,
    limit: usize,
) -> Result<&'a str, EvalError> {
    call.work(text.len())?;
    let mut found = text.match_indices(old).take(limit).peekable();
    if old == new || found.peek().is_none() {
        return Ok(text);
    }
    let mut count = 0_usize;
    for _ in found {
        call.work(WORK_PER_CHARACTER)?;
        count = count.saturating_add(1);
    }
    let removed = count.saturating_mul(old.len());
    let added = count.saturating_mul(new.len());
    let length = text.len().saturating_sub(removed).saturating_add(added);
    call.reserve(length)?;
    let mut result = String::with_capacity_in(length, call.arena.bump());
    let mut copied = 0;
    for (at, old) in text.match_indices(old).take(limit) {
        call.work(WORK_PER_CHARACTER.saturating_add(new.len()))?;
        result.push_str(text.get(copied..at).unwrap_or_default());
        result.push_str(new);
        copied = at.saturating_add(old.len());
    }
    result.push_str(text.get(copied..).unwrap_or_default());
    Ok(result.into_bump_str())
}

/// `text.split(separator)`
pub(super) fn split<'a>(
    call: &CallContext<'a>,
    text: &'a str,
    separator: &str,
) -> Result<&'a [Value<'a>], EvalError> {
    parts(call, text, separator, usize::MAX)
}

/// `text.split(separator, count)`: at most `count` parts; all parts if `count` is negative.
pub(super) fn split_some<'a>(
    call: &CallContext<'a>,
    text: &'a str,
    separator: &str,
    count: i64,
) -> Result<&'a [Value<'a>], EvalError> {
    parts(call, text, separator, limit(count))
}

/// The parts of a text. The last of `limit` parts holds the rest. An empty separator splits the text into code points.
pub(super) fn parts<'a>(
    call: &CallContext<'a>,
    text: &'a str,
    separator: &str,
    limit: usize,
) -> Result<&'a [Value<'a>], EvalError> {
    call.work(text.len())?;
    let expected = match separator.as_bytes() {
        [] => 0,
        [one] => memchr_iter(*one, text.as_bytes()).count().saturating_add(1),
        _ => text.matches(separator).count().saturating_add(1),
    };
    let expected = expected.min(limit);
    call.reserve(expected.saturating_mul(size_of::<Value<'_>>()))?;
    let mut parts = Vec::with_capacity_in(expected, call.arena.bump());
    let mut rest = text;
    if let Some(cuts) = limit.checked_sub(1).filter(|_| !separator.is_empty()) {
        for _ in 0..cuts {
            let Some((part, after)) = split_once(rest, separator) else {
                break;
            };
            call.push(&mut parts, Value::from(part))?;
            rest = after;
        }
        call.push(&mut parts, Value::from(rest))?;
        return Ok(parts.into_bump_slice());
    }
    while !rest.is_empty() && parts.len() < limit {
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let last = parts.len().saturating_add(1) == limit;
        let end = if last { rest.len() } else { first };
        let (part, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        call.push(&mut parts, Value::from(part))?;
        rest = after;
    }
    Ok(parts.into_bump_slice())
}

/// The text before and after the first separator; `None` if the text does not contain the separator.
fn split_once<'a>(text: &'a str, separator: &str) -> Option<(&'a str, &'a str)> {
    match separator.as_bytes() {
        [one] => {
            let at = memchr(*one, text.as_bytes())?;
            Some((text.get(..at)?, text.get(at.saturating_add(1)..)?))
        }
        _ => text.split_once(separator),
    }
}

/// `list.join()`
pub(super) fn join_all<'a>(call: &CallContext<'a>, list: List<'a>) -> Result<&'a str, EvalError> {
    join(call, list, "")
}

/// `list.join(separator)`
pub(super) fn join<'a>(
    call: &CallContext<'a>,
    list: List<'a>,
    separator: &str,
) -> Result<&'a str, EvalError> {
    joined(call, list, separator, |_, element| {
        element.as_str().ok_or_else(|| {
            let element = element.in_message();
            EvalError::new(format!("join: invalid input: {element}"))
        })
    })
}

/// Like [`join_all`], but converts each element to a Go string. Elements may also be optionals or values of libraries' types.
pub(super) fn join_all_converted<'a>(
    call: &CallContext<'a>,
    list: List<'a>,
) -> Result<&'a str, EvalError> {
    join_converted(call, list, "")
}

/// Like [`join`], but converts each element to a Go string.
pub(super) fn join_converted<'a>(
    call: &CallContext<'a>,
    list: List<'a>,
    separator: &str,
) -> Result<&'a str, EvalError> {
    joined(call, list, separator, native_string)
}

/// The Go string for a value, as cel-go's `ConvertToNative` converts it; each type has its own error message.
fn native_string<'a>(arena: &'a Arena, mut value: Value<'a>) -> Result<&'a str, EvalError> {
    while let Some(Some(held)) = value.as_optional() {
        value = *held;
    }
    let source = match value.kind() {
        ValueKind::String(text) => return Ok(text),
        ValueKind::Opaque(opaque) => return Ok(arena.bump().alloc_str(&opaque.to_text())),
        ValueKind::Optional(_) => return Err(EvalError::new("optional.none() dereference")),
        ValueKind::Type(_) => {
            return Err(EvalError::new("type conversion not supported for 'type'"));
        }
        ValueKind::Int(_) | ValueKind::Uint(_) => {
            let source = value.type_name();
            return Err(EvalError::new(format!(
                "unsupported type conversion from '{source}' to string"
            )));
        }
        ValueKind::Double(_) => "Double",
        ValueKind::Bytes(_) => "Bytes",
        ValueKind::Null => "'null_type'",
        ValueKind::Duration(_) => "'Duration'",
        ValueKind::Timestamp(_) => "'Timestamp'",
        _ => value.type_name(),
    };
    Err(EvalError::new(format!(
        "type conversion error from {source} to 'string'"
    )))
}

fn joined<'a>(
    call: &CallContext<'a>,
    list: List<'a>,
    separator: &str,
    text_of: impl Fn(&'a Arena, Value<'a>) -> Result<&'a str, EvalError>,
) -> Result<&'a str, EvalError> {
    let each = separator.len().saturating_add(8);
    let expected = list.len().saturating_mul(each).min(MOST_EXPECTED);
    let mut result = String::with_capacity_in(expected, call.arena.bump());
    let mut next_separator = "";
    list.try_each(|element| {
        let before = std::mem::replace(&mut next_separator, separator);
        match element.as_str() {
            Some(text) => append(call, &mut result, before, text),
            None => {
                append(call, &mut result, before, "")?;
                append(call, &mut result, "", text_of(call.arena, element)?)
            }
        }
    })?;
    Ok(result.into_bump_str())
}

/// Appends a separator and a text.
#[inline(never)]
fn append<'a>(
    call: &CallContext<'a>,
    result: &mut String<'a>,
    separator: &str,
    text: &str,
) -> Result<(), EvalError> {
    if !separator.is_empty() {
        push_str(call, result, separator)?;
    }
    push_str(call, result, text)
}

/// The limit for a count argument; a negative count means no limit.
fn limit(count: i64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
