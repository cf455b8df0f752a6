//! Calls of functions: arguments, dispatch at run time, cost.

use std::fmt::Write;
use std::slice;

use smallvec::SmallVec;

use super::frame::Frame;
use super::overloads::accepts;
use super::step::truth_of;
use super::tree::{Callee, FunctionCall, ReadOnce, Step};
use crate::cost::{self, Formula};
use crate::decl::{CallContext, Function};
use crate::error::EvalError;
use crate::value::{Truth, Value, list_contains, map_contains};
use gavel_golang::work::{Interrupted, Work};

/// The size of a text or of bytes up to which the work of a call with a fixed cost is not counted, in bytes.
const SHORT: usize = 1 << 12;

type ArgumentValues<'a> = SmallVec<[Value<'a>; 3]>;

impl FunctionCall {
    /// Evaluates the call and stores its result in `place`.
    #[inline(never)]
    pub(super) fn eval_into<'a>(
        &'a self,
        place: &mut Value<'a>,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<(), EvalError> {
        // Most calls have one or two arguments. These stay on the stack.
        match &*self.arguments {
            [only] => {
                if let Some(read) = &self.read {
                    return self.eval_read(only, read, place, frame);
                }
                let mut value = Value::NULL;
                self.eval_first(only, &mut value, frame)?;
                self.finish(slice::from_ref(&value), place, frame)
            }
            [first, second] => {
                let mut values = [Value::NULL; 2];
                self.eval_both([first, second], &mut values, frame)?;
                if self.shares_first && values.iter().any(Value::may_change_operands) {
                    let [shared, _] = &mut values;
                    shared.replace_by_twin(frame.arena);
                }
                self.finish(&values, place, frame)
            }
            arguments => {
                let mut values = ArgumentValues::new();
                for argument in arguments {
                    match argument.eval(frame) {
                        Ok(value) => values.push(value),
                        Err(error) => return Err(self.fail(&values, error, frame)),
                    }
                }
                self.finish(&values, place, frame)
            }
        }
    }

    /// Like `eval_into`, for callers that need a bool.
    #[inline(never)]
    pub(super) fn eval_bool<'a>(&'a self, frame: &mut Frame<'_, 'a>) -> Result<Truth, EvalError> {
        match (&self.callee, &*self.arguments) {
            (Callee::OfTexts(test, _), [left, right]) => {
                self.test([left, right], frame, |text, part, _| Ok(test(text, part)))
            }
            (Callee::Matches(_, regex), [text, pattern]) => {
                self.test([text, pattern], frame, |text, _, work| {
                    regex.matches_within(text, work)
                })
            }
            (Callee::In(_), [element, container]) => self.contains([element, container], frame),
            _ => {
                let mut value = Value::NULL;
                self.eval_into(&mut value, frame)?;
                truth_of(&value)
            }
        }
    }

    /// Evaluates the first argument of a call.
    #[inline(always)]
    fn eval_first<'a>(
        &'a self,
        argument: &'a Step,
        value: &mut Value<'a>,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<(), EvalError> {
        match argument.eval_into(value, frame) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.fail(&[], error, frame)),
        }
    }

    /// Evaluates the two arguments of a call.
    #[inline(always)]
    fn eval_both<'a>(
        &'a self,
        arguments: [&'a Step; 2],
        values: &mut [Value<'a>; 2],
        frame: &mut Frame<'_, 'a>,
    ) -> Result<(), EvalError> {
        let ([first, second], [one, other]) = (arguments, values);
        self.eval_first(first, one, frame)?;
        match second.eval_into(other, frame) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.fail(slice::from_ref(one), error, frame)),
        }
    }

    /// Calls a test of two texts without building a value for its result.
    #[inline(always)]
    fn test<'a>(
        &'a self,
        arguments: [&'a Step; 2],
        frame: &mut Frame<'_, 'a>,
        test: impl FnOnce(&str, &str, &Work<'_>) -> Result<bool, Interrupted>,
    ) -> Result<Truth, EvalError> {
        let mut values = [Value::NULL; 2];
        self.eval_both(arguments, &mut values, frame)?;
        let [left, right] = &values;
        let (Some(text), Some(part)) = (left.as_str(), right.as_str()) else {
            return self.finish_bool(&values, frame);
        };
        let holds = test(text, part, frame.context().work_counter())
            .map_err(|error| EvalError::from(error).at(self.id))?;
        self.charge(&values, Some(&Value::from(holds)), frame)?;
        Ok(Truth::from(holds))
    }

    /// Evaluates `element in container` without building a value for its result.
    #[inline(always)]
    fn contains<'a>(
        &'a self,
        arguments: [&'a Step; 2],
        frame: &mut Frame<'_, 'a>,
    ) -> Result<Truth, EvalError> {
        let mut values = [Value::NULL; 2];
        self.eval_both(arguments, &mut values, frame)?;
        let [element, container] = &values;
        let host = frame.context().host();
        let (found, units) = match (container.as_list(), container.as_map(), self.cost.formula) {
            (Some(list), _, Formula::Fixed(units)) => (list_contains(list, element, host), units),
            (Some(list), ..) => (list_contains(list, element, host), list.len() as u64),
            (_, Some(map), Formula::Fixed(units)) => (map_contains(map, element, host), units),
            _ => return self.finish_bool(&values, frame),
        };
        match found {
            Err(error) if error.is_fatal() => Err(error.at(self.id)),
            found => {
                frame.charge(units)?;
                found.map(Truth::from).map_err(|error| error.at(self.id))
            }
        }
    }

    /// Evaluates a call that parses a text. If the result is constant or cached by an earlier call, the function does not run again, but the
    /// cost is the same.
    #[inline(always)]
    fn eval_read<'a>(
        &'a self,
        text: &'a Step,
        read: &'a ReadOnce,
        place: &mut Value<'a>,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<(), EvalError> {
        let (path, slot) = match read {
            ReadOnce::Constant(value, units) => {
                *place = value.as_value();
                frame.charge(*units)?;
                self.separate(place, frame);
                return Ok(());
            }
            ReadOnce::AtPath(path, slot) => (*path, *slot),
        };
        let mut value = Value::NULL;
        self.eval_first(text, &mut value, frame)?;
        let arguments = slice::from_ref(&value);
        if !frame.keeps(path) {
            return self.finish(arguments, place, frame);
        }
        let epoch = frame.epoch(slot);
        match frame.kept(path, epoch) {
            Some(value) => {
                value.store_in(place);
                self.charge(arguments, Some(place), frame)?;
            }
            None => {
                self.finish(arguments, place, frame)?;
                frame.keep(path, epoch, place);
            }
        }
        self.separate(place, frame);
        Ok(())
    }

    /// Replaces a parsed value by a copy, unless the step that uses the value only reads it.
    #[inline(always)]
    fn separate<'a>(&self, value: &mut Value<'a>, frame: &Frame<'_, 'a>) {
        if !self.is_only_read {
            value.replace_by_twin(frame.arena);
        }
    }

    /// Calls the function, charges for the call and stores its result in `place`.
    #[inline(never)]
    fn finish<'a>(
        &self,
        values: &[Value<'a>],
        place: &mut Value<'a>,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<(), EvalError> {
        let result = match self.function_for(values) {
            Some(function) => function(frame.context(), values),
            None => self.call_other(values, frame.context()),
        };
        match &result {
            Ok(value) if value.as_unread().is_none() => {
                value.store_in(place);
                self.charge(values, Some(place), frame)
            }
            _ => self.finish_other(result, values, place, frame),
        }
    }

    /// Finishes a call that failed or returned unread JSON.
    #[cold]
    fn finish_other<'a>(
        &self,
        result: Result<Value<'a>, EvalError>,
        values: &[Value<'a>],
        place: &mut Value<'a>,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<(), EvalError> {
        let result = self.checked(result, values);
        match result.and_then(|value| frame.read(value)) {
            Ok(value) => {
                *place = value;
                self.charge(values, Some(place), frame)
            }
            Err(error) if error.is_fatal() => Err(error.at(self.id)),
            Err(error) => {
                self.charge(values, None, frame)?;
                Err(error.at(self.id))
            }
        }
    }

    /// Like `finish`, for callers that need a bool.
    #[cold]
    fn finish_bool<'a>(
        &self,
        values: &[Value<'a>],
        frame: &mut Frame<'_, 'a>,
    ) -> Result<Truth, EvalError> {
        let mut value = Value::NULL;
        self.finish(values, &mut value, frame)?;
        truth_of(&value)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn charge<'a>(
        &self,
        values: &[Value<'a>],
        result: Option<&Value<'a>>,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<(), EvalError> {
        let units = match (self.cost.formula, values) {
            (Formula::Fixed(units), _) if self.reads_texts => {
                count_texts(values, frame)?;
                units
            }
            (Formula::Fixed(units), _) => units,
            (Formula::Traversal { argument, .. }, _)
                if let Some(text) = values.get(argument).and_then(Value::as_str) =>
            {
                cost::traversal_of(text)
            }
            (Formula::Sizes(formula), [left, right])
                if let (Some(left), Some(right)) = (left.as_str(), right.as_str()) =>
            {
                cost::of_texts(formula, [left, right])
            }
            _ => self.track(values, result)?,
        };
        frame.charge(units)
    }

    /// The cost of a call, computed from its arguments and its result.
    #[inline(never)]
    fn track<'a>(
        &self,
        values: &[Value<'a>],
        result: Option<&Value<'a>>,
    ) -> Result<u64, EvalError> {
        let units = match values {
            [only] => self.cost.track(&[Some(only)], result),
            [first, second] => self.cost.track(&[Some(first), Some(second)], result),
            _ => {
                let tracked: SmallVec<[_; 3]> = values.iter().map(Some).collect();
                self.cost.track(&tracked, result)
            }
        };
        units.map_err(|error| error.at(self.id))
    }

    /// The error of a call whose argument failed. Unless the call stops early, the remaining arguments are still evaluated, because upstream
    /// charges their cost.
    #[cold]
    fn fail<'a>(
        &'a self,
        before: &[Value<'a>],
        error: EvalError,
        frame: &mut Frame<'_, 'a>,
    ) -> EvalError {
        let mut later = self.arguments.iter().skip(before.len()).skip(1).peekable();
        // A call that stops early is charged only if the argument that failed is the last one, so that all arguments were evaluated.
        if error.is_fatal() || (self.stops_early && later.peek().is_some()) {
            return error;
        }
        let mut tracked: Vec<Option<Value<'a>>> = before.iter().copied().map(Some).collect();
        tracked.push(None);
        for argument in later {
            match argument.eval(frame) {
                Err(later) if later.is_fatal() => return later,
                value => tracked.push(value.ok()),
            }
        }
        let tracked: Vec<_> = tracked.iter().map(Option::as_ref).collect();
        let units = self.cost.track(&tracked, None);
        let units = units.map_err(|error| error.at(self.id));
        let charged = units.and_then(|units| frame.charge(units));
        charged.err().unwrap_or(error)
    }

    /// Calls the function without charging for it.
    pub(super) fn call<'a>(
        &self,
        values: &[Value<'a>],
        context: &CallContext<'a>,
    ) -> Result<Value<'a>, EvalError> {
        match self.function_for(values) {
            Some(function) => self.checked(function(context, values), values),
            None => self.call_other(values, context),
        }
    }

    /// The function that computes a call with these arguments; `None` if there is none, or if it takes a constant that the planner
    /// has read.
    #[inline(always)]
    fn function_for(&self, values: &[Value<'_>]) -> Option<Function> {
        match &self.callee {
            Callee::Known(function)
            | Callee::OfTexts(_, function)
            | Callee::In(function)
            | Callee::Trusted(function, _) => Some(*function),
            Callee::Guarded(function, overload) => accepts(overload, values).then_some(*function),
            Callee::Dispatched(overloads) => overloads.function_for(values),
            Callee::Compiled(..)
            | Callee::Matches(..)
            | Callee::Specialized(..)
            | Callee::Missing => None,
        }
    }

    /// Calls an implementation with a constant pattern or receiver. All other calls that `function_for` has no function for fail.
    #[inline(never)]
    fn call_other<'a>(
        &self,
        values: &[Value<'a>],
        context: &CallContext<'a>,
    ) -> Result<Value<'a>, EvalError> {
        match &self.callee {
            Callee::Compiled(function, regex) | Callee::Matches(function, regex) => {
                function(context, regex, values)
            }
            Callee::Specialized(calls, function, overload) => match calls.call(context, values) {
                Some(result) => result,
                None if accepts(overload, values) => function(context, values),
                None => Err(self.no_such_overload(values)),
            },
            Callee::Missing => Err(self.missing(values)),
            _ => Err(self.no_such_overload(values)),
        }
    }

    /// Replaces the error of a trusted function, if the types of the arguments do not fit.
    #[inline]
    fn checked<'a>(
        &self,
        result: Result<Value<'a>, EvalError>,
        values: &[Value<'a>],
    ) -> Result<Value<'a>, EvalError> {
        match &self.callee {
            Callee::Trusted(_, overload) if result.is_err() && !accepts(overload, values) => {
                Err(self.no_such_overload(values))
            }
            _ => result,
        }
    }

    #[cold]
    fn no_such_overload(&self, values: &[Value<'_>]) -> EvalError {
        let mut what = format!("{}(", self.function);
        for (n, value) in values.iter().enumerate() {
            // Writing to a string does not fail.
            let _ = write!(
                what,
                "{}{}",
                if n == 0 { "" } else { ", " },
                value.type_name()
            );
        }
        what.push(')');
        EvalError::no_such_overload_of(what)
    }

    #[cold]
    fn missing(&self, values: &[Value<'_>]) -> EvalError {
        match values {
            // Upstream asks the receiver to perform the call. The receiver does not know the function either.
            [first, ..] if first.has_methods() => EvalError::no_such_overload(),
            [_] | [_, _] => EvalError::no_such_overload_of(&self.function),
            _ => EvalError::no_such_overload_of(format!("{} {}", self.function, self.id.0)),
        }
    }
}

/// Counts the work of a call with long texts whose cost does not grow with them.
#[inline(always)]
fn count_texts(values: &[Value<'_>], frame: &Frame<'_, '_>) -> Result<(), EvalError> {
    let is_long = |value: &Value<'_>| value.text_bytes() > SHORT;
    let has_long = match values {
        [only] => is_long(only),
        _ => values.iter().any(is_long),
    };
    match has_long {
        true => count_long_texts(values, frame),
        false => Ok(()),
    }
}

#[cold]
fn count_long_texts(values: &[Value<'_>], frame: &Frame<'_, '_>) -> Result<(), EvalError> {
    let bytes = values.iter().map(Value::text_bytes);
    frame.context().work(bytes.fold(0, usize::saturating_add))
}
