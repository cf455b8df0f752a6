//! Functions that find positions in a text, or return the text at a position.

use gavel_engine::error::EvalError;
use gavel_golang::utf8;

/// `text.charAt(index)`: the code point at `index` as a string; the empty string if `index` is the length of `text`.
pub(super) fn char_at(text: &str, index: i64) -> Result<&str, EvalError> {
    let rest = substring_from(text, index)?;
    let end = rest.chars().next().map_or(0, char::len_utf8);
    Ok(rest.get(..end).unwrap_or(rest))
}

/// `text.substring(start)`: the text after the first `start` code points.
pub(super) fn substring_from(text: &str, start: i64) -> Result<&str, EvalError> {
    byte_at(text, start)
        .and_then(|byte| text.get(byte..))
        .ok_or_else(|| out_of_range(start))
}

/// `text.substring(start, end)`
pub(super) fn substring(text: &str, start: i64, end: i64) -> Result<&str, EvalError> {
    let Some(length) = end.checked_sub(start).filter(|length| *length >= 0) else {
        // If `start` is not above `end`, the length overflowed, so `start` is negative.
        return Err(match start > end {
            true => EvalError::new(format!(
                "invalid substring range. start: {start}, end: {end}"
            )),
            false => out_of_range(start),
        });
    };
    let rest = substring_from(text, start)?;
    let end = byte_at(rest, length).ok_or_else(|| out_of_range(end))?;
    Ok(rest.get(..end).unwrap_or(rest))
}

/// `text.indexOf(part)`
pub(super) fn index_of(text: &str, part: &str) -> Result<i64, EvalError> {
    index_of_from(text, part, 0)
}

/// `text.indexOf(part, from)`: the first position, not below `from`, at which `part` begins. An empty `part` is found at `from`, even
/// past the end.
pub(super) fn index_of_from(text: &str, part: &str, from: i64) -> Result<i64, EvalError> {
    if part.is_empty() {
        return Ok(from);
    }
    if from < 0 {
        return Err(out_of_range(from));
    }
    let found = byte_at(text, from).and_then(|start| {
        let rest = text.get(start..)?;
        rest.get(..rest.find(part)?)
    });
    let index = found.map(|before| from.saturating_add(code_points(before)));
    Ok(index.unwrap_or(-1))
}

/// `text.lastIndexOf(part)`
pub(super) fn last_index_of(text: &str, part: &str) -> i64 {
    let index = text.rfind(part).and_then(|at| text.get(..at));
    index.map_or(-1, code_points)
}

/// `text.lastIndexOf(part, from)`: the last position, not above `from`, at which `part` begins; -1 if `from` is not below the length of
/// `text`. An empty `part` is found at `from`, even past the end.
pub(super) fn last_index_of_from(text: &str, part: &str, from: i64) -> Result<i64, EvalError> {
    if part.is_empty() {
        return Ok(from);
    }
    if from < 0 {
        return Err(out_of_range(from));
    }
    let found = byte_at(text, from)
        .filter(|start| *start < text.len())
        .and_then(|start| {
            // A match never ends within a character.
            let end = text.floor_char_boundary(start.saturating_add(part.len()));
            let at = text.get(..end)?.rfind(part)?;
            text.get(..at)
        });
    Ok(found.map_or(-1, code_points))
}

/// Like [`index_of_from`], except for an empty `part`: a position below zero is an error, and past the end the part is found at the end.
pub(super) fn index_of_from_zero(text: &str, part: &str, from: i64) -> Result<i64, EvalError> {
    match part {
        _ if from < 0 => Err(out_of_range(from)),
        "" => Ok(code_points(text).min(from)),
        part => index_of_from(text, part, from),
    }
}

/// Like [`last_index_of_from`], except for an empty `part`: a position below zero is an error, and past the end the part is found at the
/// end.
pub(super) fn last_index_of_from_zero(text: &str, part: &str, from: i64) -> Result<i64, EvalError> {
    match part {
        "" => index_of_from_zero(text, part, from),
        part => last_index_of_from(text, part, from),
    }
}

/// Like [`index_of_from`]; the position must be within the text unless `part` is empty.
pub(super) fn index_of_within(text: &str, part: &str, from: i64) -> Result<i64, EvalError> {
    check_within(text, part, from)?;
    index_of_from(text, part, from)
}

/// Like [`last_index_of_from`]; the position must be within the text unless `part` is empty.
pub(super) fn last_index_of_within(text: &str, part: &str, from: i64) -> Result<i64, EvalError> {
    check_within(text, part, from)?;
    last_index_of_from(text, part, from)
}

fn check_within(text: &str, part: &str, from: i64) -> Result<(), EvalError> {
    let within = byte_at(text, from).is_some_and(|byte| byte < text.len());
    match within || part.is_empty() {
        true => Ok(()),
        false => Err(out_of_range(from)),
    }
}

/// Converts an index in code points to an index in bytes; the length of the text is a valid index. `None` if the index is negative or past
/// the end.
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
    i64::try_from(utf8::rune_count(text)).unwrap_or(i64::MAX)
}

#[cold]
fn out_of_range(index: i64) -> EvalError {
    EvalError::new(format!("index out of range: {index}"))
}
