//! Random expressions over the variables of the tests. All of them compile; some fail during the evaluation.

use proptest::collection::vec;
use proptest::prelude::*;

/// Random bytes that determine an expression. Fewer bytes make a smaller expression.
pub(crate) fn entropy() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..120)
}

/// An expression of any type.
pub(crate) fn expression(entropy: &[u8]) -> String {
    let mut choices = Choices::new(entropy);
    match choices.below(3) {
        0 => choices.bool(4),
        1 => choices.int(4),
        _ => choices.list(4),
    }
}

/// A bool expression over numbers only. Each call costs one unit, whether its overload is known or not.
pub(crate) fn arithmetic(entropy: &[u8]) -> String {
    let mut choices = Choices::new(entropy);
    choices.arithmetic = true;
    choices.bool(5)
}

struct Choices<'e> {
    entropy: std::slice::Iter<'e, u8>,
    arithmetic: bool,
    /// The number of enclosing loops.
    loops: usize,
}

impl<'e> Choices<'e> {
    fn new(entropy: &'e [u8]) -> Self {
        Choices {
            entropy: entropy.iter(),
            arithmetic: false,
            loops: 0,
        }
    }

    /// A number below `n`; 0 if no random bytes are left.
    fn below(&mut self, n: u8) -> u8 {
        self.entropy.next().map_or(0, |byte| byte % n)
    }

    fn bool(&mut self, depth: usize) -> String {
        let Some(deeper) = depth.checked_sub(1) else {
            return ["true", "b", "false"][usize::from(self.below(3))].to_owned();
        };
        match self.below(if self.arithmetic { 7 } else { 14 }) {
            0 => format!("{} < {}", self.int(deeper), self.int(deeper)),
            1 => format!("{} >= {}", self.int(deeper), self.int(deeper)),
            2 => format!("{} == {}", self.int(deeper), self.int(deeper)),
            3 => format!("!({})", self.bool(deeper)),
            4 => format!("({} && {})", self.bool(deeper), self.bool(deeper)),
            5 => format!("({} || {})", self.bool(deeper), self.bool(deeper)),
            6 => format!(
                "({} ? {} : {})",
                self.bool(deeper),
                self.bool(deeper),
                self.bool(deeper)
            ),
            7 => self.quantifier("all", deeper),
            8 => self.quantifier("exists", deeper),
            9 => self.quantifier("exists_one", deeper),
            10 => format!("has(o{}.{})", self.chain(), self.field()),
            11 => format!("{} in {}", self.int(deeper), self.list(deeper)),
            12 => format!("{} == {}", self.list(deeper), self.list(deeper)),
            _ => format!("o{} == o{}", self.chain(), self.chain()),
        }
    }

    fn int(&mut self, depth: usize) -> String {
        let Some(deeper) = depth.checked_sub(1) else {
            return match self.below(6) {
                0 => "i".to_owned(),
                1 => "j".to_owned(),
                2 if self.loops > 0 => format!("e{}", self.loops),
                n => n.to_string(),
            };
        };
        match self.below(if self.arithmetic { 7 } else { 10 }) {
            0 => self.int(0),
            1 => format!("({} + {})", self.int(deeper), self.int(deeper)),
            2 => format!("({} - {})", self.int(deeper), self.int(deeper)),
            3 => format!("({} * {})", self.int(deeper), self.int(deeper)),
            4 => format!("({} / {})", self.int(deeper), self.int(deeper)),
            5 => format!("({} % {})", self.int(deeper), self.int(deeper)),
            6 => format!(
                "({} ? {} : {})",
                self.bool(deeper),
                self.int(deeper),
                self.int(deeper)
            ),
            7 => format!("size({})", self.list(deeper)),
            8 => format!("{}[{}]", self.list(deeper), self.int(deeper)),
            _ => format!("int(o{})", self.chain()),
        }
    }

    fn list(&mut self, depth: usize) -> String {
        let Some(deeper) = depth.checked_sub(1) else {
            return "l".to_owned();
        };
        match self.below(6) {
            0 => "l".to_owned(),
            1 => format!("[{}, {}]", self.int(deeper), self.int(deeper)),
            2 => format!("({} + {})", self.list(deeper), self.list(deeper)),
            3 => {
                let range = self.list(deeper);
                let (var, element) = self.within(|choices| choices.int(deeper));
                format!("{range}.map({var}, {element})")
            }
            4 => {
                let range = self.list(deeper);
                let (var, predicate) = self.within(|choices| choices.bool(deeper));
                format!("{range}.filter({var}, {predicate})")
            }
            _ => {
                let range = self.list(deeper);
                let (var, element) = self.within(|choices| choices.int(deeper));
                format!("{range}.transformList(n, {var}, n != 1, n + {element})")
            }
        }
    }

    fn quantifier(&mut self, name: &str, depth: usize) -> String {
        let range = self.list(depth);
        let (var, predicate) = self.within(|choices| choices.bool(depth));
        format!("{range}.{name}({var}, {predicate})")
    }

    /// The variable and the body of a loop.
    fn within(&mut self, inner: impl FnOnce(&mut Self) -> String) -> (String, String) {
        self.loops += 1;
        let inner = inner(self);
        let var = format!("e{}", self.loops);
        self.loops -= 1;
        (var, inner)
    }

    /// A chain of field selections, some of which fail. Each is written as `~field`; `with_fields` and `with_indices` replace the `~`.
    fn chain(&mut self) -> String {
        (0..self.below(4))
            .map(|_| format!("~{}", self.field()))
            .collect()
    }

    fn field(&mut self) -> &'static str {
        ["a", "b", "c"][usize::from(self.below(3))]
    }
}

/// Writes each `~` in an expression as a selection, such as `o.a.b` for `o~a~b`.
pub(crate) fn with_fields(expression: &str) -> String {
    expression.replace('~', ".")
}

/// Writes each `~` in an expression as an index, such as `o[ka][kb]` for `o~a~b`. The values of the variables `ka` and `kb` are the names
/// of the fields.
pub(crate) fn with_indices(expression: &str) -> String {
    let fields = ["a", "b", "c"].iter();
    fields.fold(expression.to_owned(), |text, field| {
        text.replace(&format!("~{field}"), &format!("[k{field}]"))
    })
}
