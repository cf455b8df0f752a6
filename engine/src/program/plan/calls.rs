//! Plans calls of functions and operators.

use std::sync::Arc;

use smol_str::SmolStr;

use super::operators::{
    PlannedArguments, only, pair, plan_conditional, plan_equality, plan_junction, two,
};
use super::{PlanError, Planner, Step, as_chain, constants, into_attribute, qualify};
use crate::ast::{self, Expr, ExprId, Exprs};
use crate::check::{CheckedAst, Reference, resolve_name};
use crate::cost::{Cost, Formula};
use crate::decl::{
    CallContext, Form, Function, FunctionDecl, Implementation, OverloadDecl, PatternFunction, Reads,
};
use crate::program::attribute::is_key;
use crate::program::overloads::Overloads;
use crate::program::path::Further;
use crate::program::tree::{
    Base, Callee, Comparison, FunctionCall, Operands, Operator, QualifierKey, ReadOnce,
};
use crate::types::Type;
use crate::value::{Arena, FieldKey, FieldPlace, OwnedValue, Value};
use gavel_golang::regex::Regex;

/// The resolved target of a call.
struct CallTarget<'e> {
    receiver: Option<Expr<'e>>,
    args: Exprs<'e>,
    name: SmolStr,
    function: Option<&'e FunctionDecl>,
    overload: Option<&'e Arc<OverloadDecl>>,
    /// The regular expression of the first argument after the receiver, if the checker parsed it.
    pattern: Option<&'e Regex>,
}

impl<'p> Planner<'p> {
    pub(super) fn plan_call(
        &mut self,
        expr: Expr<'p>,
        call: &ast::Call<'p>,
    ) -> Result<Step, PlanError> {
        let target = self.resolve(expr, call);
        let form = target.form();
        if form == Some(Form::Block) {
            return self.plan_block(call);
        }
        if let (Some(Form::Index | Form::OptionalIndex), Some([operand, index])) =
            (form, call.args.array())
        {
            let optional = form == Some(Form::OptionalIndex);
            return self.plan_index(expr.id, operand, index, optional);
        }
        let before = std::mem::take(&mut self.reads.current);
        let mut arguments = PlannedArguments::new();
        for operand in target.operands() {
            arguments.push(self.plan(operand)?);
            self.end_operand();
        }
        let shares_first = target.mark_read(&mut arguments);
        self.end_call(target.operands(), &mut arguments, before);
        match form {
            Some(Form::And) => plan_junction::<false>(expr.id, arguments),
            Some(Form::Or) => plan_junction::<true>(expr.id, arguments),
            Some(Form::Conditional) => plan_conditional(expr.id, arguments),
            Some(Form::Equal) => plan_equality(expr.id, target.function, arguments, false),
            Some(Form::NotEqual) => plan_equality(expr.id, target.function, arguments, true),
            Some(Form::Not) => Ok(Step::Not(Box::new(only(arguments)?), expr.id)),
            Some(Form::NotStrictlyFalse) => Ok(Step::NotStrictlyFalse(Box::new(only(arguments)?))),
            Some(Form::OptionalOr) if arguments.len() == 2 => {
                Ok(Step::OptionalOr(pair(arguments)?))
            }
            Some(Form::OptionalOrValue) if arguments.len() == 2 => {
                Ok(Step::OptionalOrValue(pair(arguments)?, expr.id))
            }
            _ => {
                let name = target.function.map_or(call.function, |known| &known.name);
                let mut step = plan_function(expr, self.checked, target, arguments)?;
                if let Step::Call(call) = &mut step {
                    call.shares_first = shares_first;
                    if form == Some(Form::Parse) {
                        call.read = self.read_once(call, name);
                    }
                }
                Ok(step)
            }
        }
    }

    /// How the result of a call that parses a text is reused; `None` if it is not reused.
    fn read_once(&mut self, call: &FunctionCall, name: &'p str) -> Option<ReadOnce> {
        let [text] = &*call.arguments else {
            return None;
        };
        match text {
            Step::Constant(text) => {
                let (arena, text) = (Arena::new(), text.as_value());
                let value = call.call(&[text], &CallContext::new(&arena)).ok()?;
                let units = call.cost.track(&[Some(&text)], Some(&value)).ok()?;
                let value = OwnedValue::copy_of(&value).ok()?;
                Some(ReadOnce::Constant(value, units))
            }
            Step::Attribute(chain) | Step::Local(_, chain)
                if chain.qualifiers.is_empty() && !chain.presence =>
            {
                let path = self.path(chain, Further::Read, name);
                let slot = match chain.base {
                    Base::Slot(slot) => Some(slot),
                    _ => None,
                };
                Some(ReadOnce::AtPath(path, slot))
            }
            _ => None,
        }
    }

    /// Resolves a call. In an unchecked expression, the receiver can be a part of the function's name.
    fn resolve(&self, expr: Expr<'p>, call: &ast::Call<'p>) -> CallTarget<'p> {
        let (checked, env) = (self.checked, self.env);
        if let Some(Reference::Call { function, .. }) = checked.reference(expr.id) {
            let pattern = call.args.get(0);
            let pattern = pattern.and_then(|first| checked.pattern(first.id));
            return CallTarget {
                receiver: call.target,
                args: call.args,
                name: function.name.clone(),
                function: Some(function),
                overload: checked.overload(expr.id),
                pattern: call.target.and(pattern),
            };
        }
        let find = |name: &str| resolve_name(env.container(), name, |name| env.function(name));
        let qualified = match call.target {
            None => find(call.function),
            Some(target) => target
                .dotted_name()
                .and_then(|prefix| find(&format!("{prefix}.{}", call.function))),
        };
        if let Some(function) = qualified {
            return CallTarget {
                receiver: None,
                args: call.args,
                name: function.name.clone(),
                function: Some(function),
                overload: None,
                pattern: None,
            };
        }
        let name = match &call.target {
            None => {
                let name = call.function.strip_prefix('.');
                name.unwrap_or(call.function).into()
            }
            Some(_) => SmolStr::new(call.function),
        };
        CallTarget {
            receiver: call.target,
            args: call.args,
            function: env.function(&name),
            name,
            overload: None,
            pattern: None,
        }
    }

    fn plan_index(
        &mut self,
        id: ExprId,
        operand: Expr<'p>,
        index: Expr<'p>,
        optional: bool,
    ) -> Result<Step, PlanError> {
        let operand = self.plan(operand)?;
        let key = match index.as_text() {
            Some(name) if !optional => {
                let mut chain = into_attribute(id, operand);
                self.select(&mut chain, name, FieldPlace::UNKNOWN, id);
                return Ok(Step::Attribute(chain));
            }
            Some(name) => QualifierKey::Field(FieldKey::new(name.into(), FieldPlace::UNKNOWN)),
            None => match self.plan(index)? {
                Step::Constant(value) => self.constant_key(*value)?,
                node => match as_chain(node) {
                    Ok(chain) => QualifierKey::Attribute(chain),
                    Err(node) => QualifierKey::Computed(node),
                },
            },
        };
        let mut chain = into_attribute(id, operand);
        qualify(&mut chain, key, optional, id);
        Ok(Step::Attribute(chain))
    }

    fn constant_key(&self, constant: OwnedValue) -> Result<QualifierKey, PlanError> {
        let value = constant.as_value();
        if let Some(name) = value.as_str() {
            let key = FieldKey::new(name.into(), FieldPlace::UNKNOWN);
            return Ok(QualifierKey::Field(key));
        }
        match is_key(&value) {
            true => Ok(QualifierKey::Constant(constant)),
            // Under the rules of CEL's specification, an index of such a type is not an error of the plan. The lookup fails at run time.
            false if self.env.follows_specification() => {
                Ok(QualifierKey::Computed(Step::from(constant)))
            }
            false => Err(PlanError::new(format_args!(
                "invalid qualifier type: {}",
                value.go_type()
            ))),
        }
    }
}

impl<'e> CallTarget<'e> {
    /// The receiver, if any, and the arguments.
    fn operands(&self) -> impl Iterator<Item = Expr<'e>> {
        self.receiver.into_iter().chain(self.args.iter())
    }

    /// Marks the operands that the call only reads. Returns whether the first operand is among them only because the call copies it before
    /// changing it.
    fn mark_read(&self, arguments: &mut [Step]) -> bool {
        let reads = self
            .overload
            .map_or(Reads::Unsaid, |overload| overload.calls.reads);
        let shares_first = reads == Reads::Later
            && matches!(arguments, [Step::Call(first), _] if first.read.is_some());
        let from = match reads {
            Reads::Unsaid => return false,
            Reads::Later => usize::from(!shares_first),
            Reads::All => 0,
        };
        for argument in arguments.iter_mut().skip(from) {
            if let Step::Call(call) = argument {
                call.is_only_read = true;
            }
        }
        shares_first
    }

    /// Whether a parameter of the overload is a text or bytes, or the overload is only known at run time.
    fn may_take_texts(&self) -> bool {
        let is_text = |ty: &Type| matches!(ty, Type::String | Type::Bytes);
        self.overload
            .is_none_or(|overload| overload.signature.parameters.iter().any(is_text))
    }

    /// How the call is planned; `None` for a plain call. If the overload is only known at run time, the function's first overload with a
    /// form decides.
    fn form(&self) -> Option<Form> {
        match (self.overload, self.function) {
            (Some(overload), _) => overload.calls.form,
            (None, Some(function)) => function
                .overloads
                .iter()
                .find_map(|overload| overload.calls.form),
            (None, None) => None,
        }
    }
}

fn plan_function(
    expr: Expr<'_>,
    checked: &CheckedAst,
    target: CallTarget<'_>,
    mut arguments: PlannedArguments,
) -> Result<Step, PlanError> {
    let form = target.form();
    let cost = call_cost(&target);
    let reads_texts = matches!(cost.formula, Formula::Fixed(_)) && target.may_take_texts();
    if let [_, pattern, ..] = arguments.as_slice()
        && let Some(pattern) = pattern.constant().and_then(|pattern| pattern.as_str())
        && let Some(function) = of_pattern(&target)
    {
        let parsed = target
            .pattern
            .cloned()
            .map_or_else(|| Regex::deferred(pattern), Ok);
        let regex = parsed.map_err(PlanError::new)?;
        let regex = Box::new(regex);
        let callee = match form {
            Some(Form::Match) => Callee::Matches(function, regex),
            _ => Callee::Compiled(function, regex),
        };
        // As upstream plans it, the call can have any number of arguments, and it stops at the first argument that fails.
        let call = FunctionCall {
            id: expr.id,
            function: target.name,
            callee,
            arguments,
            stops_early: true,
            cost,
            reads_texts,
            read: None,
            is_only_read: false,
            shares_first: false,
        };
        return Ok(Step::Call(Box::new(call)));
    }
    if form == Some(Form::Membership)
        && target.overload.is_some()
        && let [_, list] = arguments.as_slice()
        && list.constant().is_some()
    {
        let [element, list] = two(arguments)?;
        let list_value = list.constant().unwrap_or(Value::NULL);
        match constants::membership(expr.id, element, &list_value) {
            Ok(node) => return Ok(node),
            Err(element) => arguments = PlannedArguments::from_buf([element, list]),
        }
    }
    let (callee, any_number) = callee(&target, checked);
    let callee = specialized(callee, &arguments);
    if let Some(operator) = form.and_then(Operator::of)
        && let Callee::Known(function) = callee
        && arguments.len() == 2
    {
        let [left, right] = two(arguments)?;
        let operands = Operands {
            id: expr.id,
            left,
            right,
            cost,
        };
        return Ok(Step::Comparison(Box::new(Comparison {
            operands,
            operator,
            function,
        })));
    }
    if arguments.is_empty() && matches!(callee, Callee::Missing) {
        return Err(PlanError::new(format_args!(
            "no such overload: {}()",
            target.name
        )));
    }
    let stops_early = any_number || arguments.len() > 2;
    let call = FunctionCall {
        id: expr.id,
        function: target.name,
        callee,
        arguments,
        stops_early,
        cost,
        reads_texts,
        read: None,
        is_only_read: false,
        shares_first: false,
    };
    match form {
        Some(Form::Conversion) => constants::fold_conversion(call),
        _ => Ok(Step::Call(Box::new(call))),
    }
}

/// The implementation for constant patterns; `None` if the function has none. Like upstream, the planner finds it by the function's name
/// alone.
fn of_pattern(target: &CallTarget<'_>) -> Option<PatternFunction> {
    let overloads = &target.function?.overloads;
    overloads.iter().find_map(|overload| overload.calls.pattern)
}

/// Adds the implementation for a constant receiver to a callee, if there is one.
fn specialized(callee: Callee, arguments: &[Step]) -> Callee {
    if let Callee::Guarded(function, overload) = &callee
        && let Some(specialize) = overload.calls.specialize
        && let Some(receiver) = arguments.first().and_then(Step::constant)
        && let Some(calls) = receiver.as_str().and_then(specialize)
    {
        return Callee::Specialized(calls, *function, Arc::clone(overload));
    }
    callee
}

/// The callee for an overload whose function checks its arguments itself.
fn shared(function: Function, overload: &OverloadDecl) -> Callee {
    match (overload.calls.test, overload.calls.form) {
        (Some(test), _) => Callee::OfTexts(test, function),
        (None, Some(Form::Membership)) => Callee::In(function),
        (None, _) => Callee::Known(function),
    }
}

/// The callee, and whether upstream implements the function with one body for any number of arguments (`FunctionOp`).
fn callee(target: &CallTarget<'_>, checked: &CheckedAst) -> (Callee, bool) {
    let guarded = |implementation, overload: &Arc<OverloadDecl>| {
        let parameters = overload.signature.parameters.as_slice();
        let types = target
            .operands()
            .filter(|operand| has_certain_type(checked, *operand))
            .map(|operand| checked.type_of(operand.id));
        let known = parameters.iter().eq(types);
        // An implementation that returns its argument unchanged possibly does not check the argument's type, so the call checks it.
        let result = std::slice::from_ref(&overload.signature.result);
        let may_pass = !overload.signature.member && parameters == result;
        match known && !may_pass {
            true => Callee::Trusted(implementation, Arc::clone(overload)),
            false => Callee::Guarded(implementation, Arc::clone(overload)),
        }
    };
    if let Some(overload) = target.overload {
        match overload.calls.implementation {
            Implementation::Typed(function) => return (guarded(function, overload), false),
            Implementation::Variadic(function) => return (guarded(function, overload), true),
            Implementation::Shared(function) => return (shared(function, overload), false),
            Implementation::Planned | Implementation::Declared => {}
        }
    }
    let overloads = target
        .function
        .iter()
        .flat_map(|function| &function.overloads);
    let mut typed = Vec::new();
    let mut variadic = false;
    for overload in overloads {
        match overload.calls.implementation {
            Implementation::Shared(function) => return (shared(function, overload), false),
            Implementation::Typed(function) => typed.push((function, Arc::clone(overload))),
            Implementation::Variadic(function) => {
                variadic = true;
                typed.push((function, Arc::clone(overload)));
            }
            Implementation::Planned | Implementation::Declared => {}
        }
    }
    if typed.len() > 1 {
        return (
            Callee::Dispatched(Box::new(Overloads::new(typed.into_iter()))),
            true,
        );
    }
    match typed.pop() {
        Some((function, overload)) => (Callee::Guarded(function, overload), variadic),
        None => (Callee::Missing, false),
    }
}

/// Whether the value of an operand has the operand's static type. This is true for all values of some types, and for objects that the call of
/// an overload returns. Other values can have a different type at run time: the checker can infer the static type from a type parameter whose
/// operand is `dyn`.
fn has_certain_type(checked: &CheckedAst, operand: Expr<'_>) -> bool {
    match checked.type_of(operand.id) {
        Type::Bool
        | Type::Int
        | Type::Uint
        | Type::Double
        | Type::String
        | Type::Bytes
        | Type::Duration
        | Type::Timestamp
        | Type::Opaque(_) => true,
        Type::Struct(_) => {
            let overload = checked.overload(operand.id);
            overload.is_some_and(|called| matches!(called.signature.result, Type::Struct(_)))
        }
        _ => false,
    }
}

/// The cost of a call. If the types determine the overload, this is the overload's cost. Otherwise, it is the cost of the function's first
/// overload whose cost applies to every call of the function ([`Cost::by_name`]). If there is no such overload, it is one unit.
fn call_cost(target: &CallTarget<'_>) -> Cost {
    match (target.overload, target.function) {
        (Some(overload), _) => overload.calls.cost,
        (None, Some(function)) => {
            let mut costs = function
                .overloads
                .iter()
                .map(|overload| overload.calls.cost);
            costs.find(|cost| cost.by_name).unwrap_or(Cost::ONE)
        }
        (None, None) => Cost::ONE,
    }
}
