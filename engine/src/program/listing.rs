//! Prints the plan of a program, for tests and debugging. Each node is on its own line, with its children indented below it.

use std::fmt::{self, Display};

use super::Program;
use super::path::PathId;
use super::tree::{
    Attribute, Base, Callee, FoldKind, FoldStep, FunctionCall, Insert, Junction, Operands,
    Operator, QualifierKey, ReadOnce, Step,
};
use crate::cost::{Cost, Formula};
use crate::value::OwnedValue;

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut listing = Listing {
            program: self,
            out: f,
            depth: 0,
        };
        listing.node("", &self.root)
    }
}

struct Listing<'p, 'f, 'b> {
    program: &'p Program,
    out: &'f mut fmt::Formatter<'b>,
    depth: usize,
}

impl Listing<'_, '_, '_> {
    /// Writes a node. The label says which role it has in the node above it.
    fn node(&mut self, label: &str, node: &Step) -> fmt::Result {
        match node {
            Step::Constant(value) => self.line(label, ConstantText(value)),
            Step::Failure(error) => self.line(label, format_args!("failure: {error}")),
            Step::Attribute(attribute) | Step::Local(_, attribute) => {
                self.attribute(label, attribute)
            }
            Step::And(junction) => self.junction(label, "&&", junction),
            Step::Or(junction) => self.junction(label, "||", junction),
            Step::Not(operand, _) => self.nodes(label, "!", [&**operand]),
            Step::Equality(equality) => {
                let operator = if equality.negated { "!=" } else { "==" };
                self.operands(label, operator, &equality.operands)
            }
            Step::Comparison(comparison) => {
                let operator = match comparison.operator {
                    Operator::Less => "<",
                    Operator::LessEquals => "<=",
                    Operator::Greater => ">",
                    Operator::GreaterEquals => ">=",
                };
                self.operands(label, operator, &comparison.operands)
            }
            Step::Call(call) => self.call(label, call),
            Step::Membership(membership) => {
                let members = membership.set.iter().map(ConstantText);
                let head = format_args!("in set {{{}}}", Separated(members, ", "));
                self.nodes(label, head, [&membership.element])
            }
            Step::NotStrictlyFalse(argument) => {
                self.nodes(label, "not strictly false", [&**argument])
            }
            Step::OptionalOr(terms) => self.nodes(label, "or", terms.iter()),
            Step::OptionalOrValue(terms, _) => self.nodes(label, "orValue", terms.iter()),
            Step::List(list) => {
                self.line(label, "list")?;
                self.below(|listing| {
                    let mut elements = list.elements.iter();
                    elements.try_for_each(|element| {
                        listing.node(optional(element.optional), &element.value)
                    })
                })
            }
            Step::Map(map) => {
                self.line(label, "map")?;
                self.below(|listing| {
                    map.entries.iter().try_for_each(|(key, element)| {
                        listing.node("key", key)?;
                        listing.node(optional(element.optional), &element.value)
                    })
                })
            }
            Step::Struct(literal) => {
                self.line(label, format_args!("struct {}", literal.type_name))?;
                self.below(|listing| {
                    literal.fields.iter().try_for_each(|(name, element)| {
                        let optional = optional(element.optional);
                        listing.node(&format!("{optional}{name}"), &element.value)
                    })
                })
            }
            Step::Fold(fold) => self.fold(label, fold),
            Step::Invariant(invariant) => {
                let head = format_args!("invariant {}", invariant.position);
                self.nodes(label, head, [&invariant.step])
            }
            Step::Block(block) => {
                self.line(label, "block")?;
                self.below(|listing| {
                    for (slot, part) in &block.parts {
                        listing.node(&format!("${slot}"), part)?;
                    }
                    listing.node("result", &block.result)
                })
            }
        }
    }

    fn attribute(&mut self, label: &str, attribute: &Attribute) -> fmt::Result {
        let program = self.program;
        let kept = |path: PathId| match program.keeps.has(path) {
            true => format!("#{}", path.index()),
            false => String::new(),
        };
        let fields = attribute.fields.iter();
        let fields = fields.map(|field| format!(".{}{}", field.key.name(), kept(field.path)));
        let qualifiers = attribute.qualifiers.iter().map(|qualifier| {
            let optional = optional(qualifier.optional);
            match &qualifier.key {
                QualifierKey::Field(key) => format!(".{optional}{}", key.name()),
                QualifierKey::Declared(name) => format!(".{optional}{name}!"),
                QualifierKey::Constant(value) => format!("[{optional}{}]", ConstantText(value)),
                QualifierKey::Attribute(_) | QualifierKey::Computed(_) => format!("[{optional}…]"),
            }
        });
        let base = match &attribute.base {
            Base::Variable(index) => program.variables.get(*index).map_or("", |name| name),
            Base::Slot(slot) => &format!("${slot}"),
            Base::Operand(_) => "(…)",
            Base::Conditional(_) => "?:",
            Base::Unbound(name) => &format!("unbound {name}"),
        };
        let presence = if attribute.presence { "has " } else { "" };
        let (fields, qualifiers) = (Separated(fields, ""), Separated(qualifiers, ""));
        self.line(label, format_args!("{presence}{base}{fields}{qualifiers}"))?;
        self.below(|listing| listing.parts_of(attribute))
    }

    /// Writes the steps that a chain evaluates: its operand and computed keys.
    fn parts_of(&mut self, attribute: &Attribute) -> fmt::Result {
        match &attribute.base {
            Base::Operand(operand) => self.node("", operand)?,
            Base::Conditional(conditional) => {
                self.node("if", &conditional.condition)?;
                self.attribute("then", &conditional.truthy)?;
                self.attribute("else", &conditional.falsy)?;
            }
            Base::Variable(_) | Base::Slot(_) | Base::Unbound(_) => {}
        }
        for qualifier in &attribute.qualifiers {
            match &qualifier.key {
                QualifierKey::Attribute(key) => self.attribute("at", key)?,
                QualifierKey::Computed(key) => self.node("at", key)?,
                QualifierKey::Field(_) | QualifierKey::Declared(_) | QualifierKey::Constant(_) => {}
            }
        }
        Ok(())
    }

    fn operands(&mut self, label: &str, operator: &str, operands: &Operands) -> fmt::Result {
        let head = format_args!("{operator}{}", Units(operands.cost));
        self.nodes(label, head, [&operands.left, &operands.right])
    }

    fn call(&mut self, label: &str, call: &FunctionCall) -> fmt::Result {
        let callee = match &call.callee {
            Callee::Known(_) | Callee::OfTexts(..) | Callee::In(_) => "known".to_owned(),
            Callee::Trusted(_, overload) => format!("trusted {}", overload.id),
            Callee::Guarded(_, overload) => format!("guarded {}", overload.id),
            Callee::Dispatched(overloads) => {
                let ids = overloads.iter().map(|overload| &overload.id);
                format!("dispatched {}", Separated(ids, " | "))
            }
            Callee::Compiled(..) | Callee::Matches(..) => "compiled pattern".to_owned(),
            Callee::Specialized(_, _, overload) => format!("specialized {}", overload.id),
            Callee::Missing => "missing".to_owned(),
        };
        let stops_early = if call.stops_early {
            ", stops early"
        } else {
            ""
        };
        let read = match &call.read {
            None => "",
            Some(ReadOnce::Constant(..)) => ", read when planned",
            Some(ReadOnce::AtPath(..)) => ", read once",
        };
        let (function, cost) = (&call.function, Units(call.cost));
        let head = format_args!("call {function}{cost}: {callee}{stops_early}{read}");
        self.nodes(label, head, call.arguments.iter())
    }

    fn fold(&mut self, label: &str, fold: &FoldStep) -> fmt::Result {
        let kind = match &fold.kind {
            FoldKind::Quantifier { decisive: true, .. } => "exists",
            FoldKind::Quantifier { .. } => "all",
            FoldKind::ExistsOne { .. } => "exists_one",
            FoldKind::List { .. } => "collect list",
            FoldKind::Map { .. } => "collect map",
            FoldKind::General(_) => "fold",
        };
        let var = fold.var;
        match fold.var2 {
            None => self.line(label, format_args!("{kind} ${var}"))?,
            Some(var2) => self.line(label, format_args!("{kind} ${var} ${var2}"))?,
        }
        self.below(|listing| {
            listing.node("range", &fold.range)?;
            listing.body(&fold.kind)
        })
    }

    fn junction(&mut self, label: &str, operator: &str, junction: &Junction) -> fmt::Result {
        self.line(label, operator)?;
        self.below(|listing| {
            junction
                .terms
                .iter()
                .try_for_each(|term| match term.ladder {
                    0 => listing.node("", &term.step),
                    tests => listing.node(&format!("ladder of {tests}"), &term.step),
                })
        })
    }

    fn body(&mut self, kind: &FoldKind) -> fmt::Result {
        match kind {
            FoldKind::Quantifier {
                predicate,
                test: Some(_),
                ..
            } => self.node("predicate, over ints at once", predicate),
            FoldKind::Quantifier { predicate, .. } | FoldKind::ExistsOne { predicate } => {
                self.node("predicate", predicate)
            }
            FoldKind::List { filter, element } => {
                self.filter(filter.as_ref())?;
                self.node("element", element)
            }
            FoldKind::Map { filter, insert } => {
                self.filter(filter.as_ref())?;
                match insert {
                    Insert::Entry { key, value } => {
                        self.node("key", key)?;
                        self.node("value", value)
                    }
                    Insert::Entries(entries) => self.node("entries", entries),
                }
            }
            FoldKind::General(general) => {
                self.node(&format!("${}", general.accu), &general.init)?;
                self.node("while", &general.condition)?;
                self.node("step", &general.step)?;
                self.node("result", &general.result)
            }
        }
    }

    fn filter(&mut self, filter: Option<&Step>) -> fmt::Result {
        filter.map_or(Ok(()), |filter| self.node("filter", filter))
    }

    /// Writes a line and, below it, the nodes.
    fn nodes<'n>(
        &mut self,
        label: &str,
        head: impl Display,
        nodes: impl IntoIterator<Item = &'n Step>,
    ) -> fmt::Result {
        self.line(label, head)?;
        self.below(|listing| {
            nodes
                .into_iter()
                .try_for_each(|node| listing.node("", node))
        })
    }

    fn below(&mut self, write: impl FnOnce(&mut Self) -> fmt::Result) -> fmt::Result {
        self.depth = self.depth.saturating_add(1);
        let written = write(self);
        self.depth = self.depth.saturating_sub(1);
        written
    }

    fn line(&mut self, label: &str, text: impl Display) -> fmt::Result {
        let colon = if label.is_empty() { "" } else { ": " };
        let indent = self.depth.saturating_mul(2);
        writeln!(self.out, "{:indent$}{label}{colon}{text}", "")
    }
}

fn optional(optional: bool) -> &'static str {
    if optional { "?" } else { "" }
}

/// A constant with its type.
struct ConstantText<'v>(&'v OwnedValue);

impl Display for ConstantText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.0.as_value();
        write!(f, "{} {}", value.type_name(), value.in_message())
    }
}

/// Prints the cost of a call, unless the call costs one unit.
struct Units(Cost);

impl Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.formula {
            Formula::Fixed(1) => Ok(()),
            Formula::Fixed(units) => write!(f, " ({units})"),
            Formula::Sizes(_) | Formula::Traversal { .. } | Formula::Split { .. } => {
                f.write_str(" (by size)")
            }
        }
    }
}

/// Items with a separator between them.
struct Separated<I>(I, &'static str);

impl<I: Iterator<Item: Display> + Clone> Display for Separated<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, item) in self.0.clone().enumerate() {
            let separator = if n == 0 { "" } else { self.1 };
            write!(f, "{separator}{item}")?;
        }
        Ok(())
    }
}
