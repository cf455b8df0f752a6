//! Evaluates comprehensions. Macros such as `all` expand to comprehensions.
//!
//! Macro expansions are evaluated in dedicated loops, which charge exactly the cost of the expansion. A list or map grows in place, so the
//! time of an iteration does not depend on the number of elements collected so far.

use bumpalo::collections::Vec as ArenaVec;

use super::frame::{Frame, Slot};
use super::step::truth_of;
use super::tree::{FoldKind, FoldStep, General, Insert, IntTest, Step};
use crate::cost;
use crate::error::EvalError;
use crate::value::{List, MapBuilder, Truth, Value};

/// The largest initial capacity of a collected list, in elements.
const MOST_EXPECTED: usize = 16;

/// The units of work counted for each entry that is added to a map.
const WORK_PER_ENTRY: usize = 128;

impl FoldStep {
    /// Evaluates the comprehension and stores its value in `place`.
    #[inline(never)]
    pub(super) fn eval_into<'a>(
        &'a self,
        place: &mut Value<'a>,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<(), EvalError> {
        let mut range = Value::NULL;
        self.range.eval_into(&mut range, frame)?;
        let result = match &self.kind {
            FoldKind::Quantifier {
                decisive,
                predicate,
                test,
            } => {
                let quantifier = Quantifier::new(*decisive, predicate);
                let value = self.quantify(&range, quantifier, test.as_ref(), frame);
                value.map(|value| *place = Value::from(value))
            }
            FoldKind::ExistsOne { predicate } => {
                let value = self.exists_one(&range, predicate, frame);
                value.map(|value| *place = Value::from(value))
            }
            FoldKind::List { filter, element } => {
                let list = self.collect_list(&range, filter.as_ref(), element, frame);
                list.map(|list| *place = Value::from(list))
            }
            FoldKind::Map { filter, insert } => {
                let map = self.collect_map(&range, filter.as_ref(), insert, frame);
                map.map(|map| *place = map)
            }
            FoldKind::General(general) => self.general(&range, general, place, frame),
        };
        result.map_err(|error| error.at(self.id))
    }

    /// Whether this is `all` or `exists`, whose value is always a bool.
    pub(super) fn is_quantifier(&self) -> bool {
        matches!(self.kind, FoldKind::Quantifier { .. })
    }

    /// Like `eval_into`, for callers that need a bool.
    #[inline(never)]
    pub(super) fn eval_bool<'a>(&'a self, frame: &mut Frame<'_, 'a>) -> Result<Truth, EvalError> {
        let FoldKind::Quantifier {
            decisive,
            predicate,
            test,
        } = &self.kind
        else {
            let mut value = Value::NULL;
            self.eval_into(&mut value, frame)?;
            return truth_of(&value);
        };
        let mut range = Value::NULL;
        self.range.eval_into(&mut range, frame)?;
        let quantifier = Quantifier::new(*decisive, predicate);
        self.quantify(&range, quantifier, test.as_ref(), frame)
            .map_err(|error| error.at(self.id))
    }

    fn quantify<'a>(
        &self,
        range: &Value<'a>,
        mut quantifier: Quantifier<'a>,
        test: Option<&IntTest>,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<Truth, EvalError> {
        match (test, range.as_list()) {
            (Some(test), Some(list)) => self.scan(list, &mut quantifier, test, frame)?,
            _ => self.each(range, frame, |frame| {
                quantifier.step(frame).map(Truth::holds)
            })?,
        }
        frame.charge(1)?;
        quantifier.result()
    }

    /// Evaluates the predicate for one element after the other, but skips runs of elements for which `test` shows that they do not decide
    /// the result.
    fn scan<'a>(
        &self,
        list: List<'a>,
        quantifier: &mut Quantifier<'a>,
        test: &IntTest,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<(), EvalError> {
        let mut next = 0_usize;
        loop {
            if !quantifier.decided {
                let units = quantifier.condition().saturating_add(1);
                let passed = test.pass_over(quantifier.decisive, list, next, units, frame)?;
                next = next.saturating_add(passed);
            }
            let Some(element) = list.get(next) else {
                return Ok(());
            };
            self.set_element(0, frame, |place| *place = element);
            if !quantifier.step(frame)?.holds() {
                return Ok(());
            }
            frame.iterate()?;
            next = next.saturating_add(1);
        }
    }

    /// Whether the predicate `p` is true for exactly one element. With the accumulator `A`, the loop step is `p ? A + 1 : A`, and the
    /// result is `A == 1`.
    fn exists_one<'a>(
        &self,
        range: &Value<'a>,
        predicate: &'a Step,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<Truth, EvalError> {
        let mut accu: Result<u64, EvalError> = Ok(0);
        self.each(range, frame, |frame| {
            match predicate.eval_bool(frame) {
                Ok(Truth::True) => {
                    frame.charge_each(2)?;
                    accu = accu
                        .as_ref()
                        .map(|count| count.saturating_add(1))
                        .map_err(Clone::clone);
                }
                Ok(Truth::False) => {}
                Err(error) if error.is_fatal() => return Err(error),
                Err(error) => accu = Err(error),
            }
            Ok(true)
        })?;
        frame.charge_each(2)?;
        accu.map(|count| Truth::from(count == 1))
    }

    /// Collects the elements of a list. With the accumulator `A`, the loop step is `A + [element]`, or `filter ? A + [element] : A`.
    fn collect_list<'a>(
        &self,
        range: &Value<'a>,
        filter: Option<&'a Step>,
        element: &'a Step,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<&'a [Value<'a>], EvalError> {
        let mut failure = None;
        let expected = range
            .as_list()
            .map_or(0, |list| list.len().min(MOST_EXPECTED));
        let mut collected = ArenaVec::with_capacity_in(expected, frame.arena.bump());
        // A list literal of constants was built when the expression was planned, so it costs nothing now.
        let list_cost = if element.constant().is_some() {
            0
        } else {
            cost::LIST
        };
        self.each(range, frame, |frame| {
            if !passes(filter, &mut failure, frame)? {
                return Ok(true);
            }
            frame.charge(1)?;
            // If the list has room, the element is evaluated where it is stored. Otherwise the list grows afterwards, so that an error of the
            // element is returned before an error of the memory limit.
            let has_room = collected.len() < collected.capacity();
            let mut outside = Value::NULL;
            let place = match has_room {
                true => {
                    collected.push(Value::NULL);
                    collected.last_mut().unwrap_or(&mut outside)
                }
                false => &mut outside,
            };
            let evaluated = element.eval_into(place, frame);
            if let Err(error) = &evaluated
                && error.is_fatal()
            {
                return evaluated.map(|()| true);
            }
            frame.charge(list_cost)?;
            frame.charge(1)?;
            match evaluated {
                Ok(()) if has_room => frame.context().count_element()?,
                Ok(()) => frame.context().push(&mut collected, outside)?,
                Err(error) => {
                    if has_room {
                        collected.pop();
                    }
                    failure = failure.take().or(Some(error));
                }
            }
            Ok(true)
        })?;
        frame.charge(1)?;
        match failure {
            Some(error) => Err(error),
            None => Ok(collected.into_bump_slice()),
        }
    }

    /// Collects the entries of a map. The loop step is `cel.@mapInsert(A, k, v)` or `cel.@mapInsert(A, m)`. With a filter `p`, it is
    /// `p ? cel.@mapInsert(…) : A`.
    fn collect_map<'a>(
        &self,
        range: &Value<'a>,
        filter: Option<&'a Step>,
        insert: &'a Insert,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<Value<'a>, EvalError> {
        let mut failure = None;
        let mut collected = MapBuilder::new();
        self.each(range, frame, |frame| {
            if !passes(filter, &mut failure, frame)? {
                return Ok(true);
            }
            frame.charge(1)?;
            let step = match insert {
                // The accumulator has failed. A call with three arguments stops at the first argument that fails.
                Insert::Entry { .. } if failure.is_some() => return Ok(true),
                Insert::Entry { key, value } => insert_entry(key, value, &mut collected, frame),
                Insert::Entries(entries) => insert_entries(entries, &mut collected, frame),
            };
            match step {
                Err(error) if error.is_fatal() => return Err(error),
                Err(error) => failure = failure.take().or(Some(error)),
                Ok(()) => {}
            }
            Ok(true)
        })?;
        frame.charge(1)?;
        match failure {
            Some(error) => Err(error),
            None => Ok(collected.build(frame.arena)),
        }
    }

    fn general<'a>(
        &self,
        range: &Value<'a>,
        general: &'a General,
        place: &mut Value<'a>,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<(), EvalError> {
        let outer = frame.take_slot(general.accu);
        frame.set_slot(general.accu, Slot::Unread(&general.init));
        self.each(range, frame, |frame| {
            match general.condition.eval(frame) {
                Ok(value) if value.as_bool() == Some(false) => return Ok(false),
                Err(error) if error.is_fatal() => return Err(error),
                // Only false ends the loop, not a failure or a value that is not a bool.
                _ => {}
            }
            let step = general.step.eval(frame);
            if let Err(error) = &step
                && error.is_fatal()
            {
                return Err(error.clone());
            }
            frame.set_slot(general.accu, Slot::from(step));
            Ok(true)
        })?;
        let result = general.result.eval_into(place, frame);
        match outer {
            Some(outer) => frame.set_slot(general.accu, outer),
            None => drop(frame.take_slot(general.accu)),
        }
        result
    }
}

/// The state of `all` or `exists`.
struct Quantifier<'a> {
    /// The predicate value that decides the result: false for `all`, true for `exists`.
    decisive: bool,
    predicate: &'a Step,
    /// Whether an element has decided the result.
    decided: bool,
    /// The first failure, which is the result unless a later element decides.
    failure: Option<EvalError>,
}

impl<'a> Quantifier<'a> {
    fn new(decisive: bool, predicate: &'a Step) -> Self {
        Quantifier {
            decisive,
            predicate,
            decided: false,
            failure: None,
        }
    }

    fn result(self) -> Result<Truth, EvalError> {
        match self.failure {
            Some(error) => Err(error),
            None => Ok(Truth::from(self.decided == self.decisive)),
        }
    }

    /// The cost of the loop condition, in cost units: `@not_strictly_false(A)` for `all`, `@not_strictly_false(!A)` for `exists`.
    fn condition(&self) -> u64 {
        if self.decisive { 3 } else { 2 }
    }

    /// Computes the loop step for one element: `A && p` for `all`, `A || p` for `exists`. Returns whether the loop continues.
    fn step(&mut self, frame: &mut Frame<'_, 'a>) -> Result<Truth, EvalError> {
        if self.decided {
            frame.charge_each(self.condition())?;
            return Ok(Truth::False);
        }
        frame.charge_each(self.condition().saturating_add(1))?;
        match self.predicate.eval_bool(frame) {
            Ok(value) if value.holds() == self.decisive => {
                self.decided = true;
                self.failure = None;
            }
            Ok(_) => {}
            Err(error) if error.is_fatal() => return Err(error),
            Err(error) => {
                self.failure.get_or_insert(error);
            }
        }
        Ok(Truth::True)
    }
}

/// Whether the filter accepts the current element. If the filter fails, stores its error in `failure`.
fn passes<'a>(
    filter: Option<&'a Step>,
    failure: &mut Option<EvalError>,
    frame: &mut Frame<'_, 'a>,
) -> Result<bool, EvalError> {
    let Some(filter) = filter else {
        return Ok(true);
    };
    match filter.eval_bool(frame) {
        Err(error) if !error.is_fatal() => {
            *failure = Some(error);
            Ok(false)
        }
        passes => passes.map(Truth::holds),
    }
}

/// Checks that the map has room for another entry, and announces the work of adding it.
fn grow<'a>(collected: &MapBuilder<'a>, frame: &Frame<'_, 'a>) -> Result<(), EvalError> {
    frame.arena.reserve(collected.held_bytes())?;
    frame.context().work(WORK_PER_ENTRY)
}

fn insert_entry<'a>(
    key: &'a Step,
    value: &'a Step,
    collected: &mut MapBuilder<'a>,
    frame: &mut Frame<'_, 'a>,
) -> Result<(), EvalError> {
    let key = key.eval(frame)?;
    let value = value.eval(frame);
    if let Err(error) = &value
        && error.is_fatal()
    {
        return Err(error.clone());
    }
    // The call is charged even if `value`, its last argument, failed.
    frame.charge(1)?;
    grow(collected, frame)?;
    collected.insert_new(key, value?)
}

fn insert_entries<'a>(
    entries: &'a Step,
    collected: &mut MapBuilder<'a>,
    frame: &mut Frame<'_, 'a>,
) -> Result<(), EvalError> {
    let entries = entries.eval(frame);
    if let Err(error) = &entries
        && error.is_fatal()
    {
        return Err(error.clone());
    }
    frame.charge(1)?;
    let entries = entries?;
    let Some(map) = entries.as_map() else {
        return Err(EvalError::no_such_overload_of(format!(
            "cel.@mapInsert(map, {})",
            entries.type_name()
        )));
    };
    for entry in map.iter() {
        let (key, value) = entry?;
        grow(collected, frame)?;
        collected.insert_new(key, value)?;
    }
    Ok(())
}
