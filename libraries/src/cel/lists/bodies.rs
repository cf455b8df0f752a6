//! The functions that return a part or a rearrangement of a list, except sorting.

use bumpalo::collections::Vec;
use gavel_engine::decl::CallContext;
use gavel_engine::error::EvalError;
use gavel_engine::value::{List, ListView, Reach, Value};

use crate::cel::members::Members;

/// `list.slice(start, end)`, which shares the list's memory if possible.
pub(super) fn slice<'a>(
    call: &CallContext<'a>,
    list: List<'a>,
    start: i64,
    end: i64,
) -> Result<List<'a>, EvalError> {
    let fail = |why: &str| EvalError::new(format!("cannot slice({start}, {end}), {why}"));
    let (Ok(from), Ok(to)) = (usize::try_from(start), usize::try_from(end)) else {
        return Err(fail("negative indexes not supported"));
    };
    if from > to {
        return Err(fail("start index must be less than or equal to end index"));
    }
    list.slice(from..to, call.arena)?
        .ok_or_else(|| fail(&format!("list is length {}", list.len())))
}

/// `list.flatten()`, `list.flatten(depth)`. Checks the types of its arguments itself.
pub(super) fn flatten<'a>(
    call: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    let (list, depth) = match args {
        [list] => (list.as_list(), Some(1)),
        [list, depth] => (list.as_list(), depth.as_int()),
        _ => return Err(EvalError::no_such_overload()),
    };
    let (Some(list), Some(depth)) = (list, depth) else {
        let mut types = args
            .iter()
            .map(|value| Value::type_named(value.type_name()));
        let receiver = types.next().unwrap_or(Value::NULL);
        let argument = types.next().map(|ty| ty.in_message().to_string());
        return Err(EvalError::no_such_overload_of(format_args!(
            "{}.flatten({})",
            receiver.in_message(),
            argument.unwrap_or_default()
        )));
    };
    let Ok(depth) = usize::try_from(depth) else {
        return Err(EvalError::new("level must be non-negative"));
    };
    let mut flat = Vec::new_in(call.arena.bump());
    let mut reach = Reach::new(call.work_counter());
    let mut open = vec![list.iter()];
    while let Some(innermost) = open.last_mut() {
        match innermost.next() {
            None => {
                open.pop();
            }
            Some(element) => match element.as_list() {
                Some(nested) if open.len() <= depth => {
                    reach.meet(nested.len().saturating_add(1))?;
                    open.push(nested.iter());
                }
                _ => call.push(&mut flat, element)?,
            },
        }
    }
    Ok(Value::from(flat.into_bump_slice()))
}

/// `lists.range(size)`
pub(super) fn range<'a>(call: &CallContext<'a>, size: i64) -> Value<'a> {
    let size = usize::try_from(size).unwrap_or(0);
    Value::list_view(call.arena.bump().alloc(Range(size)))
}

/// The limit of [`bounded_range`].
const MAX_RANGE: i64 = 1_000_000;

/// Like [`range`]; the size must be between zero and [`MAX_RANGE`].
pub(super) fn bounded_range<'a>(call: &CallContext<'a>, size: i64) -> Result<Value<'a>, EvalError> {
    match size {
        ..0 => Err(EvalError::new(format!(
            "lists.range: size must be non-negative, got {size}"
        ))),
        0..=MAX_RANGE => Ok(range(call, size)),
        _ => Err(EvalError::new(format!(
            "lists.range: size {size} exceeds maximum allowed ({MAX_RANGE})"
        ))),
    }
}

/// The list of the ints from 0 up to, but not including, this number. Each element is computed when it is read. A stored list could exhaust
/// the memory, because the cost of `lists.range` is only counted after the call.
#[derive(Debug)]
struct Range(usize);

impl ListView for Range {
    fn len(&self) -> usize {
        self.0
    }

    fn get(&self, index: usize) -> Option<Value<'_>> {
        let int = i64::try_from(index).ok()?;
        (index < self.0).then_some(Value::from(int))
    }
}

/// `list.reverse()`
pub(super) fn reverse<'a>(call: &CallContext<'a>, list: List<'a>) -> Result<Value<'a>, EvalError> {
    call.reserve(list.len().saturating_mul(size_of::<Value<'_>>()))?;
    let mut reversed = Vec::with_capacity_in(list.len(), call.arena.bump());
    for index in (0..list.len()).rev() {
        if let Some(element) = list.get(index) {
            call.push(&mut reversed, element)?;
        }
    }
    Ok(Value::from(reversed.into_bump_slice()))
}

/// `list.distinct()`: of equal elements, the first is kept. As upstream, returns an empty list itself, which is never zero if it belongs to
/// an object with a schema.
pub(super) fn distinct<'a>(call: &CallContext<'a>, list: List<'a>) -> Result<Value<'a>, EvalError> {
    if list.is_empty() {
        return Ok(list.into());
    }
    call.reserve(Members::bytes(list))?;
    let mut members = Members::default();
    for element in list {
        if !members.contain(&element, call.host())? {
            members.insert(element);
        }
    }
    Ok(call.arena.list(members.values()))
}
