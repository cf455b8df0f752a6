//! Plans programs from checked expressions (cel-go `interpreter/planner.go`).

use std::borrow::Cow;
use std::fmt;

use smallvec::{SmallVec, smallvec};
use smol_str::SmolStr;

use self::invariants::Readings;
use super::path::{Further, KeptPaths, PathId, SlotId, Start};
use super::tree::{
    Attribute, Base, Element, Field, ListLiteral, MapLiteral, Qualifier, QualifierKey, Step,
    StructLiteral,
};
use super::{Program, well_known};
use crate::ast::{Constant, Expr, ExprId, ExprKind, ListExpr, MapExpr, Select, Struct};
use crate::check::{CheckedAst, Reference, resolve_name};
use crate::decl::Declarations;
use crate::error::EvalError;
use crate::types::Type;
use crate::value::{FieldKey, FieldPlace, ObjectKind, OwnedValue, Value};

mod calls;
mod constants;
mod folds;
mod invariants;
mod operators;

/// The error of an expression that cannot be planned, for example because a constant part such as `int('x')` fails.
#[derive(Debug, Clone)]
pub struct PlanError(Box<Failure>);

/// What a plan fails with. It is boxed, because every planned step is returned beside it.
#[derive(Debug, Clone)]
struct Failure {
    message: String,
    expr_id: Option<ExprId>,
}

impl PlanError {
    fn new(message: impl fmt::Display) -> Self {
        PlanError(Box::new(Failure {
            message: message.to_string(),
            expr_id: None,
        }))
    }

    /// Attaches the node that failed, unless the error has a node already.
    fn at(mut self, id: ExprId) -> Self {
        self.0.expr_id.get_or_insert(id);
        self
    }

    /// The innermost node that failed; `None` if no node is known.
    pub fn expr_id(&self) -> Option<ExprId> {
        self.0.expr_id
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for PlanError {}

impl From<EvalError> for PlanError {
    fn from(error: EvalError) -> Self {
        PlanError(Box::new(Failure {
            message: error.message().to_owned(),
            expr_id: error.expr_id(),
        }))
    }
}

/// Plans an expression: computes constant parts, resolves names to slots and variables, and binds overloads if the types decide them.
///
/// # Errors
///
/// A constant part of the expression fails, or a part cannot be planned, such as a struct literal of an unknown type.
pub fn plan(checked: &CheckedAst, env: &Declarations) -> Result<Program, PlanError> {
    let mut planner = Planner {
        env,
        checked,
        variables: SmallVec::new(),
        scopes: SmallVec::new(),
        selections: 0,
        slots: 0,
        innermost: 0,
        paths: KeptPaths::default(),
        reads: Readings::default(),
        invariants: 0,
    };
    let root = planner.plan(checked.ast().root())?;
    let specified = env.follows_specification();
    let corrections = env.corrections();
    Ok(Program {
        root,
        variables: planner.variables,
        slots: planner.slots,
        keeps: planner.paths.keeps(),
        invariants: planner.invariants,
        specified,
        keeps_held_values: corrections.held_values,
        checks_receivers_of_or: corrections.receivers_of_or,
    })
}

struct Planner<'e> {
    env: &'e Declarations,
    checked: &'e CheckedAst,
    variables: SmallVec<[SmolStr; 2]>,
    /// The loop variables and accumulators in scope with their slots, innermost last.
    scopes: SmallVec<[(Cow<'e, str>, SlotId); 2]>,
    /// The number of selections that directly enclose the expression that is planned next: 2 for `a` in `a.b.c`.
    selections: usize,
    slots: SlotId,
    /// The first slot of the innermost loop. Earlier slots do not change while this loop runs.
    innermost: SlotId,
    paths: KeptPaths<'e>,
    reads: Readings,
    /// The number of invariant steps planned so far.
    invariants: usize,
}

impl<'e> Planner<'e> {
    // The parser bounds the depth of the tree, and thus the depth of this recursion.
    fn plan(&mut self, expr: Expr<'e>) -> Result<Step, PlanError> {
        let selections = std::mem::take(&mut self.selections);
        let planned = match expr.kind_inlined() {
            ExprKind::Constant(constant) => plan_constant(constant),
            ExprKind::Ident(name) => self.plan_ident(expr, name, selections),
            ExprKind::Select(select) => self.plan_select(expr, &select, selections),
            ExprKind::Call(call) => self.plan_call(expr, &call),
            ExprKind::List(list) => self.plan_list(expr, &list),
            ExprKind::Map(map) => self.plan_map(expr, map),
            ExprKind::Struct(literal) => self.plan_struct(expr, literal),
            ExprKind::Comprehension(fold) => self.plan_comprehension(expr, &fold),
        };
        planned.map_err(|error| error.at(expr.id))
    }

    fn plan_ident(
        &mut self,
        expr: Expr<'e>,
        name: &'e str,
        selections: usize,
    ) -> Result<Step, PlanError> {
        match self.checked.reference(expr.id) {
            Some(Reference::Variable) => {
                // The checker keeps the leading dot of a name if a loop variable has the same name. A name with a dot is thus never the
                // loop variable.
                let base = match name.strip_prefix('.') {
                    Some(absolute) => self.variable(absolute),
                    None => self.place(name),
                };
                let mut chain = Attribute::new(expr.id, base);
                chain.fields.reserve_exact(selections);
                Ok(Step::from(chain))
            }
            Some(Reference::Type) => self.plan_type(name.strip_prefix('.').unwrap_or(name)),
            Some(Reference::Constant(value)) => plan_constant(Constant::Int(value)),
            Some(Reference::Call { .. }) | None => self.plan_unchecked(expr, name),
        }
    }

    /// The slot or the variable of the activation that a name refers to.
    fn place(&mut self, name: &str) -> Base {
        if let Some(slot) = self.slot_of(name) {
            self.reads.current.add_slot(slot);
            return Base::Slot(slot);
        }
        self.variable(name)
    }

    /// The index of a variable in the activation. Adds the variable if the program has not read it before.
    fn variable(&mut self, name: &str) -> Base {
        if self.env.is_varying(name) {
            self.reads.current.varying = true;
        }
        let known = self.variables.iter().position(|variable| variable == name);
        Base::Variable(known.unwrap_or_else(|| {
            self.variables.push(name.into());
            self.variables.len().saturating_sub(1)
        }))
    }

    fn slot_of(&self, name: &str) -> Option<SlotId> {
        self.scopes
            .iter()
            .rev()
            .find(|(known, _)| *known == name)
            .map(|(_, slot)| *slot)
    }

    fn plan_type(&self, name: &str) -> Result<Step, PlanError> {
        if self.has_type_value(name) {
            Ok(Step::from(OwnedValue::copy_of(&Value::type_named(name))?))
        } else {
            Err(PlanError::new(format_args!(
                "reference to undefined type: {name}"
            )))
        }
    }

    fn has_type_value(&self, name: &str) -> bool {
        is_standard_type(name) || self.env.has_library_type(name)
    }

    /// Plans a name of an unchecked expression: a variable in scope, a variable of the environment, or a type.
    fn plan_unchecked(&mut self, expr: Expr<'e>, name: &'e str) -> Result<Step, PlanError> {
        if self.slot_of(name).is_some() {
            return Ok(attribute(expr, self.place(name)));
        }
        let env = self.env;
        let variable = |candidate: &str| env.variable(candidate).map(|_| SmolStr::new(candidate));
        if let Some(name) = resolve_name(env.container(), name, variable) {
            return Ok(attribute(expr, self.variable(&name)));
        }
        let ty = |candidate: &str| {
            self.has_type_value(candidate)
                .then(|| SmolStr::new(candidate))
        };
        match resolve_name(env.container(), name, ty) {
            Some(name) => self.plan_type(&name),
            None => Ok(attribute(expr, Base::Unbound(name.into()))),
        }
    }

    fn plan_select(
        &mut self,
        expr: Expr<'e>,
        select: &Select<'e>,
        selections: usize,
    ) -> Result<Step, PlanError> {
        if !select.test_only
            && let Some(name) = self.dotted_variable(select)
        {
            return Ok(attribute(expr, self.variable(&name)));
        }
        let is_open = self.is_open(select.operand);
        let place = self.place_of(select);
        self.selections = selections.saturating_add(1);
        let operand = self.plan(select.operand)?;
        let mut chain = into_attribute(expr.id, operand);
        if is_open {
            let key = QualifierKey::Declared(select.field.into());
            qualify(&mut chain, key, false, expr.id);
            chain.presence = select.test_only;
        } else {
            self.select(&mut chain, select.field, place, expr.id);
            chain.presence = select.test_only;
        }
        Ok(Step::Attribute(chain))
    }

    /// Whether the static type of an expression is an object type that accepts any field.
    fn is_open(&self, operand: Expr<'_>) -> bool {
        let host = self.env.provider();
        let kind = match self.checked.type_of(operand.id) {
            Type::Struct(name) => host.object_kind(name),
            _ => None,
        };
        kind == Some(ObjectKind::Open)
    }

    /// The position of a field in the static type of its object; unknown if the checker does not know the type.
    fn place_of(&self, select: &Select<'_>) -> FieldPlace {
        match self.checked.type_of(select.operand.id) {
            Type::Struct(name) => self.env.provider().field_place(name, select.field),
            _ => FieldPlace::UNKNOWN,
        }
    }

    /// Adds the selection of a field to a chain.
    fn select(&mut self, chain: &mut Attribute, name: &'e str, place: FieldPlace, id: ExprId) {
        if !chain.qualifiers.is_empty() {
            let key = QualifierKey::Field(FieldKey::new(name.into(), place));
            return qualify(chain, key, false, id);
        }
        let path = self.path(chain, Further::Field, name);
        chain.paths.add(path);
        chain.fields.push(Field {
            key: FieldKey::new(name.into(), place),
            path,
            id,
        });
    }

    /// Extends the path of a chain by one step.
    fn path(&mut self, chain: &Attribute, further: Further, name: &'e str) -> PathId {
        let (base, is_repeated) = match chain.base {
            Base::Variable(index) => {
                let index = u32::try_from(index).unwrap_or(u32::MAX);
                (Start::Variable(index), !self.scopes.is_empty())
            }
            Base::Slot(slot) => (Start::Slot(slot), slot < self.innermost),
            _ => return PathId::NONE,
        };
        let start = match chain.fields.last() {
            Some(Field { path, .. }) if *path == PathId::NONE => return PathId::NONE,
            Some(field) => Start::Path(field.path),
            None => base,
        };
        self.paths.follow(start, further, name, is_repeated)
    }

    /// The declared variable with a dotted name, such as `a.b`, that a selection in an unchecked expression refers to. `None` if no such
    /// variable is declared.
    fn dotted_variable(&self, select: &Select<'_>) -> Option<SmolStr> {
        let mut names: SmallVec<[&str; 8]> = smallvec![select.field];
        let mut operand = select.operand;
        loop {
            if self.checked.reference(operand.id).is_some() {
                return None;
            }
            match operand.kind() {
                ExprKind::Ident(name) if self.slot_of(name).is_some() => return None,
                ExprKind::Ident(name) => {
                    names.push(name);
                    break;
                }
                ExprKind::Select(select) if !select.test_only => {
                    names.push(select.field);
                    operand = select.operand;
                }
                _ => return None,
            }
        }
        let parts: Vec<&str> = names.iter().rev().copied().collect();
        resolve_name(self.env.container(), &parts.join("."), |candidate| {
            self.env
                .variable(candidate)
                .map(|_| SmolStr::new(candidate))
        })
    }

    fn plan_list(&mut self, expr: Expr<'e>, list: &ListExpr<'e>) -> Result<Step, PlanError> {
        let mut elements = Vec::with_capacity(list.elements.len());
        for (n, element) in list.elements.iter().enumerate() {
            elements.push(Element {
                value: self.plan(element)?,
                optional: list.is_optional(n),
            });
        }
        constants::fold_list(ListLiteral {
            id: expr.id,
            elements: elements.into(),
        })
    }

    fn plan_map(&mut self, expr: Expr<'e>, map: MapExpr<'e>) -> Result<Step, PlanError> {
        let mut planned = Vec::with_capacity(map.len());
        for entry in map.iter() {
            let key = self.plan(entry.key)?;
            planned.push((
                key,
                Element {
                    value: self.plan(entry.value)?,
                    optional: entry.optional,
                },
            ));
        }
        constants::fold_map(MapLiteral {
            id: expr.id,
            entries: planned.into(),
            specified: self.env.follows_specification(),
        })
    }

    fn plan_struct(&mut self, expr: Expr<'e>, literal: Struct<'e>) -> Result<Step, PlanError> {
        // Some hosts do not allow struct literals of their types. The planner does not check this; the evaluation fails.
        let host = self.env.provider();
        let known = |candidate: &str| {
            let is_known = well_known::is_known(candidate) || host.find_type(candidate).is_some();
            is_known.then(|| SmolStr::new(candidate))
        };
        let Some(type_name) = resolve_name(self.env.container(), literal.type_name, known) else {
            return Err(PlanError::new(format_args!(
                "unknown type: {}",
                literal.type_name
            )));
        };
        let mut fields = Vec::new();
        for field in literal.fields() {
            let value = self.plan(field.value)?;
            fields.push((
                field.name.into(),
                Element {
                    value,
                    optional: field.optional,
                },
            ));
        }
        let object = match well_known::is_known(&type_name) {
            true => None,
            false => host.object_kind(&type_name),
        };
        Ok(Step::Struct(Box::new(StructLiteral {
            id: expr.id,
            type_name,
            object,
            fields: fields.into(),
        })))
    }
}

/// Adds a selection or index to a chain. Chains are numerous and mostly short, so the list of qualifiers is allocated without spare room.
fn qualify(chain: &mut Attribute, key: QualifierKey, optional: bool, id: ExprId) {
    chain.qualifiers.reserve_exact(1);
    chain.qualifiers.push(Qualifier { key, optional, id });
}

fn plan_constant(constant: Constant<'_>) -> Result<Step, PlanError> {
    Ok(Step::from(match constant {
        Constant::String(text) => OwnedValue::from_text(text.into()),
        constant => OwnedValue::copy_of(&literal(constant))?,
    }))
}

fn attribute(expr: Expr<'_>, base: Base) -> Step {
    Step::from(Attribute::new(expr.id, base))
}

/// Returns the chain if the node is a chain, otherwise the node as the error.
fn as_chain(node: Step) -> Result<Box<Attribute>, Step> {
    match node {
        Step::Attribute(chain) | Step::Local(_, chain) => Ok(chain),
        node => Err(node),
    }
}

/// Returns the node itself if it is a chain that can be extended. Otherwise returns a new chain with the node as its operand.
fn into_attribute(id: ExprId, node: Step) -> Box<Attribute> {
    let operand = match as_chain(node) {
        Ok(chain) if !chain.presence => return chain,
        Ok(chain) => Step::Attribute(chain),
        Err(node) => node,
    };
    Box::new(Attribute::new(id, Base::Operand(operand)))
}

fn literal(constant: Constant<'_>) -> Value<'_> {
    match constant {
        Constant::Null => Value::NULL,
        Constant::Bool(value) => Value::from(value),
        Constant::Int(value) => Value::from(value),
        Constant::Uint(value) => Value::from(value),
        Constant::Double(value) => Value::from(value),
        Constant::String(text) => Value::from(text),
        Constant::Bytes(bytes) => Value::from(bytes),
    }
}

/// Whether a type of the language can be used as a value. The checker also accepts the names of other protocol buffer types as values, but
/// planning rejects them.
fn is_standard_type(name: &str) -> bool {
    matches!(
        name,
        "bool"
            | "bytes"
            | "double"
            | "int"
            | "list"
            | "map"
            | "null_type"
            | "string"
            | "type"
            | "uint"
            | "google.protobuf.Duration"
            | "google.protobuf.Timestamp"
            | well_known::EMPTY
    )
}
