//! Finding positions and texts at positions.

use gavel_engine::decl::CallContext;
use gavel_engine::error::EvalError;
use gavel_engine::value::Value;

/// `text.charAt(index)`; the empty text at the end.
pub(super) fn char_at<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [Value::String(text), Value::Int(index)] = args else {
        return Err(EvalError::no_such_overload());
    };
    let rest = text_from(text, *index)?;
    let end = rest.chars().next().map_or(0, char::len_utf8);
    Ok(Value::String(rest.get(..end).unwrap_or(rest)))
}

/// `text.substring(start)`
pub(super) fn substring_from<'a>(
    _: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    match args {
        [Value::String(text), Value::Int(start)] => text_from(text, *start).map(Value::String),
        _ => Err(EvalError::no_such_overload()),
    }
}

/// `text.substring(start, end)`
pub(super) fn substring<'a>(
    _: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    let [Value::String(text), Value::Int(start), Value::Int(end)] = args else {
        return Err(EvalError::no_such_overload());
    };
    let Some(length) = end.checked_sub(*start).filter(|length| *length >= 0) else {
        // Only a range from below zero can be too long for an int.
        return Err(match start > end {
            true => EvalError::new(format!(
                "invalid substring range. start: {start}, end: {end}"
            )),
            false => out_of_range(*start),
        });
    };
    let rest = text_from(text, *start)?;
    let end = byte_at(rest, length).ok_or_else(|| out_of_range(*end))?;
    Ok(Value::String(rest.get(..end).unwrap_or(rest)))
}

/// `text.indexOf(part)`
pub(super) fn index_of<'a>(
    _: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    match args {
        [Value::String(text), Value::String(part)] => first_index(text, part, 0),
        _ => Err(EvalError::no_such_overload()),
    }
}

/// `text.indexOf(part, from)`
pub(super) fn index_of_from<'a>(
    _: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    match args {
        [Value::String(text), Value::String(part), Value::Int(from)] => {
            first_index(text, part, *from)
        }
        _ => Err(EvalError::no_such_overload()),
    }
}

/// The first position, not below `from`, at which `part` is. The empty part is where the search starts, anywhere.
fn first_index<'a>(text: &str, part: &str, from: i64) -> Result<Value<'a>, EvalError> {
    if part.is_empty() {
        return Ok(Value::Int(from));
    }
    if from < 0 {
        return Err(out_of_range(from));
    }
    let found = byte_at(text, from).and_then(|start| {
        let rest = text.get(start..)?;
        rest.get(..rest.find(part)?)
    });
    let index = found.map(|before| from.saturating_add(code_points(before)));
    Ok(Value::Int(index.unwrap_or(-1)))
}

/// `text.lastIndexOf(part)`
pub(super) fn last_index_of<'a>(
    _: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    match args {
        [Value::String(text), Value::String(part)] => {
            let index = text.rfind(*part).and_then(|at| text.get(..at));
            Ok(Value::Int(index.map_or(-1, code_points)))
        }
        _ => Err(EvalError::no_such_overload()),
    }
}

/// `text.lastIndexOf(part, from)`: the last position, not above `from`, at which `part` is.
pub(super) fn last_index_of_from<'a>(
    _: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    let [Value::String(text), Value::String(part), Value::Int(from)] = args else {
        return Err(EvalError::no_such_overload());
    };
    if part.is_empty() {
        return Ok(Value::Int(*from));
    }
    if *from < 0 {
        return Err(out_of_range(*from));
    }
    let found = byte_at(text, *from)
        .filter(|start| *start < text.len())
        .and_then(|start| {
            let mut end = start.saturating_add(part.len()).min(text.len());
            // Nothing that is found ends within a character.
            while !text.is_char_boundary(end) {
                end = end.saturating_sub(1);
            }
            let at = text.get(..end)?.rfind(part)?;
            text.get(..at)
        });
    Ok(Value::Int(found.map_or(-1, code_points)))
}

/// [`index_of_from`], of which the position must be within the text.
pub(super) fn index_of_within<'a>(
    call: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    check_within(args)?;
    index_of_from(call, args)
}

/// [`last_index_of_from`], of which the position must be within the text.
pub(super) fn last_index_of_within<'a>(
    call: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    check_within(args)?;
    last_index_of_from(call, args)
}

fn check_within(args: &[Value<'_>]) -> Result<(), EvalError> {
    let [Value::String(text), Value::String(part), Value::Int(from)] = args else {
        return Err(EvalError::no_such_overload());
    };
    let within = byte_at(text, *from).is_some_and(|byte| byte < text.len());
    if within || part.is_empty() {
        Ok(())
    } else {
        Err(out_of_range(*from))
    }
}

/// What follows the first `start` code points.
fn text_from(text: &str, start: i64) -> Result<&str, EvalError> {
    byte_at(text, start)
        .and_then(|byte| text.get(byte..))
        .ok_or_else(|| out_of_range(start))
}

/// The byte at which a code point begins, or where the text ends. `None` before and past that.
fn byte_at(text: &str, index: i64) -> Option<usize> {
    let index = usize::try_from(index).ok()?;
    let head = text.as_bytes().get(..index)?;
    if head.is_ascii() {
        return Some(index);
    }
    let mut chars = text.chars();
    if let Some(before) = index.checked_sub(1) {
        chars.nth(before)?;
    }
    text.len().checked_sub(chars.as_str().len())
}

fn code_points(text: &str) -> i64 {
    i64::try_from(text.chars().count()).unwrap_or(i64::MAX)
}

#[cold]
fn out_of_range(index: i64) -> EvalError {
    EvalError::new(format!("index out of range: {index}"))
}
