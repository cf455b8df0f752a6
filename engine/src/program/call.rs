//! Calls of functions: arguments, dispatch at run time, cost.

use std::fmt::Write;

use smallvec::SmallVec;

use super::frame::Frame;
use super::step::truth_of;
use super::tree::{Callee, FunctionCall, ReadOnce, Step};
use crate::cost::{self, Formula};
use crate::decl::{CallContext, OverloadDecl, TextTest};
use crate::error::EvalError;
use crate::types::Type;
use crate::value::{HeldError, Truth, Value, list_contains, map_contains};

type ArgumentValues<'a> = SmallVec<[Value<'a>; 3]>;

impl FunctionCall {
    #[inline(never)]
    pub(super) fn eval<'a>(&'a self, frame: &mut Frame<'_, 'a>) -> Result<Value<'a>, EvalError> {
        // Most calls have one or two arguments. These stay on the stack.
        match &*self.arguments {
            [first] => match first.eval(frame) {
                Ok(first) => match &self.read {
                    None => self.finish(&[first], frame),
                    Some(read) => self.finish_read(first, read, frame),
                },
                Err(error) => self.fail(&[], error, frame),
            },
            [first, second] => match first.eval(frame) {
                Ok(first) => match second.eval(frame) {
                    Ok(second) => self.finish(&[first, second], frame),
                    Err(error) => self.fail(&[first], error, frame),
                },
                Err(error) => self.fail(&[], error, frame),
            },
            arguments => {
                let mut values = ArgumentValues::new();
                for argument in arguments {
                    match argument.eval(frame) {
                        Ok(value) => values.push(value),
                        Err(error) => return self.fail(&values, error, frame),
                    }
                }
                self.finish(&values, frame)
            }
        }
    }

    /// Like `eval`, for callers that need a bool.
    #[inline(never)]
    pub(super) fn eval_bool<'a>(&'a self, frame: &mut Frame<'_, 'a>) -> Result<Truth, EvalError> {
        match (&self.callee, &*self.arguments) {
            (Callee::OfTexts(test, _), [left, right]) => self.test(*test, left, right, frame),
            (Callee::In(_), [element, container]) => self.contains(element, container, frame),
            _ => truth_of(self.eval(frame)?),
        }
    }

    /// Calls a test of two texts without building a value for its result.
    #[inline(always)]
    fn test<'a>(
        &'a self,
        test: TextTest,
        left: &'a Step,
        right: &'a Step,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<Truth, EvalError> {
        let left = match left.eval(frame) {
            Ok(left) => left,
            Err(error) => return truth_of(self.fail(&[], error, frame)?),
        };
        let right = match right.eval(frame) {
            Ok(right) => right,
            Err(error) => return truth_of(self.fail(&[left], error, frame)?),
        };
        let (Some(text), Some(part)) = (left.as_str(), right.as_str()) else {
            return truth_of(self.finish(&[left, right], frame)?);
        };
        let holds = test(text, part);
        self.charge(&[left, right], Some(Value::from(holds)), frame)?;
        Ok(Truth::from(holds))
    }

    /// Evaluates `element in container` without building a value for its result.
    #[inline(always)]
    fn contains<'a>(
        &'a self,
        element: &'a Step,
        container: &'a Step,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<Truth, EvalError> {
        let element = match element.eval(frame) {
            Ok(element) => element,
            Err(error) => return truth_of(self.fail(&[], error, frame)?),
        };
        let container = match container.eval(frame) {
            Ok(container) => container,
            Err(error) => return truth_of(self.fail(&[element], error, frame)?),
        };
        let work = frame.context().work_counter();
        let (found, units) = match (container.as_list(), container.as_map(), self.cost.formula) {
            (Some(list), _, Formula::Fixed(units)) => (list_contains(list, &element, work), units),
            (Some(list), ..) => (list_contains(list, &element, work), list.len() as u64),
            (_, Some(map), Formula::Fixed(units)) => (map_contains(map, &element), units),
            _ => return truth_of(self.finish(&[element, container], frame)?),
        };
        match found {
            Err(error) if error.is_fatal() => Err(error.at(self.id)),
            found => {
                frame.charge(units)?;
                found.map(Truth::from).map_err(|error| error.at(self.id))
            }
        }
    }

    /// Returns the result of a call that parses a text, and charges for the call. If the result is constant or cached by an earlier call,
    /// the function does not run again, but the cost is the same.
    fn finish_read<'a>(
        &'a self,
        text: Value<'a>,
        read: &'a ReadOnce,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<Value<'a>, EvalError> {
        let (path, epoch) = match read {
            ReadOnce::Constant(value) => {
                let value = value.as_value();
                self.charge(&[text], Some(value), frame)?;
                return Ok(self.twin(value, frame));
            }
            ReadOnce::AtPath(path, _) if !frame.keeps(*path) => {
                return self.finish(&[text], frame);
            }
            ReadOnce::AtPath(path, slot) => (*path, frame.epoch(*slot)),
        };
        if let Some(value) = frame.kept(path, epoch).copied() {
            self.charge(&[text], Some(value), frame)?;
            return Ok(self.twin(value, frame));
        }
        let value = self.finish(&[text], frame)?;
        let kept = self.twin(value, frame);
        frame.keep(path, epoch, kept);
        Ok(value)
    }

    /// Returns the value itself if the step that uses the value only reads it. Otherwise returns a copy, for types whose values can be
    /// distinguished from their copies (`Opaque::twin`).
    fn twin<'a>(&self, value: Value<'a>, frame: &Frame<'_, 'a>) -> Value<'a> {
        match self.is_only_read {
            true => value,
            false => value.twin(frame.arena).unwrap_or(value),
        }
    }

    /// Calls the function and charges for it.
    // Inlining saves a tenth of a call. In debug builds it would make the frames of nested calls too large for the stack.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn finish<'a>(
        &self,
        values: &[Value<'a>],
        frame: &mut Frame<'_, 'a>,
    ) -> Result<Value<'a>, EvalError> {
        let result = match self.call(values, frame.context()) {
            Ok(value) => value.read(frame.arena),
            failed => failed,
        };
        match result {
            Ok(value) => self.charge(values, Some(value), frame).map(|()| value),
            Err(error) if error.is_fatal() => Err(error.at(self.id)),
            Err(error) => {
                self.charge(values, None, frame)?;
                Err(error.at(self.id))
            }
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn charge<'a>(
        &self,
        values: &[Value<'a>],
        result: Option<Value<'a>>,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<(), EvalError> {
        let units = match (self.cost.formula, values) {
            (Formula::Fixed(units), _) => Ok(units),
            (Formula::Traversal { argument, .. }, _)
                if let Some(text) = values.get(argument).and_then(Value::as_str) =>
            {
                Ok(cost::traversal_of(text))
            }
            (_, [only]) => self.cost.track(&[Some(*only)], result),
            (_, [first, second]) => self.cost.track(&[Some(*first), Some(*second)], result),
            _ => {
                let tracked: SmallVec<[Option<Value<'a>>; 3]> =
                    values.iter().copied().map(Some).collect();
                self.cost.track(&tracked, result)
            }
        };
        frame.charge(units.map_err(|error| error.at(self.id))?)
    }

    /// Ends a call whose argument failed. Unless the call stops early, the remaining arguments are still evaluated, because upstream
    /// charges their cost.
    #[cold]
    fn fail<'a>(
        &'a self,
        before: &[Value<'a>],
        error: EvalError,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<Value<'a>, EvalError> {
        let mut later = self.arguments.iter().skip(before.len()).skip(1).peekable();
        // A call that stops early is charged only if the argument that failed is the last one, so that all arguments were evaluated.
        if error.is_fatal() || (self.stops_early && later.peek().is_some()) {
            return Err(error);
        }
        let mut tracked: Vec<Option<Value<'a>>> = before.iter().copied().map(Some).collect();
        tracked.push(None);
        for argument in later {
            match argument.eval(frame) {
                Err(later) if later.is_fatal() => return Err(later),
                value => tracked.push(value.ok()),
            }
        }
        let units = self.cost.track(&tracked, None);
        frame.charge(units.map_err(|error| error.at(self.id))?)?;
        Err(error)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn call<'a>(
        &self,
        values: &[Value<'a>],
        context: &CallContext<'a>,
    ) -> Result<Value<'a>, EvalError> {
        match &self.callee {
            Callee::Known(function) | Callee::OfTexts(_, function) | Callee::In(function) => {
                function(context, values)
            }
            Callee::Trusted(function, overload) => match function(context, values) {
                Err(_) if !accepts(overload, values) => Err(self.no_such_overload(values)),
                result => result,
            },
            Callee::Guarded(function, overload) => match accepts(overload, values) {
                true => function(context, values),
                false => Err(self.no_such_overload(values)),
            },
            Callee::Dispatched(overloads) => match overloads
                .iter()
                .find(|(_, overload)| accepts(overload, values))
            {
                Some((function, _)) => function(context, values),
                None => Err(self.no_such_overload(values)),
            },
            Callee::Compiled(function, regex) => function(context, regex, values),
            Callee::Missing => Err(self.missing(values)),
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

fn accepts(overload: &OverloadDecl, values: &[Value<'_>]) -> bool {
    let parameters = &overload.signature.parameters;
    parameters.len() == values.len()
        && parameters
            .iter()
            .zip(values)
            .all(|(ty, value)| is_of(value, ty))
}

/// Whether a value has a type. Like upstream, checks only the first element of a list and the first entry of a map.
fn is_of(value: &Value<'_>, ty: &Type) -> bool {
    if let Some((json, shape)) = value.as_unread() {
        return shape.look(json, |value| match value {
            Ok(value) => is_of(&value, ty),
            Err(error) => is_of(&Value::opaque(&HeldError(error)), ty),
        });
    }
    match ty {
        Type::Dyn | Type::Any | Type::Error | Type::Param(_) | Type::Var(_) => true,
        Type::Null => value.is_null(),
        Type::Bool => value.as_bool().is_some(),
        Type::Int => value.as_int().is_some(),
        Type::Uint => value.as_uint().is_some(),
        Type::Double => value.as_double().is_some(),
        Type::String => value.as_str().is_some(),
        Type::Bytes => value.as_bytes().is_some(),
        Type::Duration => value.as_duration().is_some(),
        Type::Timestamp => value.as_timestamp().is_some(),
        Type::Wrapper(primitive) => value.is_null() || is_of(value, &primitive.as_type()),
        Type::Type(_) => value.as_type().is_some(),
        Type::List(element) => match value.as_list() {
            Some(_) if matches!(**element, Type::Dyn) => true,
            Some(list) => list.get(0).is_none_or(|first| is_of(&first, element)),
            None => false,
        },
        Type::Map(entry) => match value.as_map().map(|map| map.iter().next()) {
            Some(Some(Ok((key, value)))) => is_of(&key, &entry.0) && is_of(&value, &entry.1),
            Some(_) => true,
            None => false,
        },
        Type::Opaque(opaque) => value.type_name() == opaque.name,
        Type::Struct(name) => value.type_name() == name.as_str(),
    }
}
