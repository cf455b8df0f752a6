//! Constructors and setters of the rows that declare functions.

use super::{
    Calls, Form, Function, Implementation, LiteralRule, Overload, PatternFunction, Reads,
    Specialize, TextTest, Yield,
};
use crate::cost::Cost;

/// A row of an overload. The types of the arguments decide whether it is called. A call costs one unit. The signature is written as
/// `(string, int) -> bool` for `f(a, b)`, and as `string.(int) -> bool` for `a.f(b)`.
pub const fn row(
    function: &'static str,
    id: &'static str,
    signature: &'static str,
    body: Function,
    example: &'static str,
) -> Overload {
    declared(function, id, signature)
        .body(body)
        .example(example)
}

/// A row that is declared for checking only.
pub const fn declared(
    function: &'static str,
    id: &'static str,
    signature: &'static str,
) -> Overload {
    Overload {
        function,
        id,
        signature,
        calls: Calls::DECLARED,
        example: "true",
    }
}

/// A row, without a body, of an operator for which the planner has its own code.
pub const fn planned(
    function: &'static str,
    id: &'static str,
    signature: &'static str,
    form: Form,
    example: &'static str,
) -> Overload {
    declared(function, id, signature)
        .implementation(Implementation::Planned)
        .form(form)
        .example(example)
}

impl Overload {
    /// Sets the cost of a call.
    pub const fn cost(self, cost: Cost) -> Self {
        self.calls(Calls { cost, ..self.calls })
    }

    /// Sets the body.
    pub const fn body(self, body: Function) -> Self {
        self.implementation(Implementation::Typed(body))
    }

    /// Makes the body compute the calls of all overloads of the function. The body checks the types of its arguments itself.
    pub const fn shared(self) -> Self {
        match self.calls.implementation {
            Implementation::Typed(body) => self.implementation(Implementation::Shared(body)),
            _ => self,
        }
    }

    /// Marks a function that upstream implements with one body for any number of arguments. A call of such a function stops at the first
    /// argument that fails; later arguments are not evaluated.
    pub const fn variadic(self) -> Self {
        match self.calls.implementation {
            Implementation::Typed(body) => self.implementation(Implementation::Variadic(body)),
            _ => self,
        }
    }

    /// Sets a second implementation, which takes two Rust strings and returns a bool.
    pub const fn test(self, test: TextTest) -> Self {
        let test = Some(test);
        self.calls(Calls { test, ..self.calls })
    }

    /// Sets the function that computes calls whose second argument, the pattern, is a constant.
    pub const fn pattern(self, of_constant: PatternFunction) -> Self {
        let pattern = Some(of_constant);
        self.calls(Calls {
            pattern,
            ..self.calls
        })
    }

    /// Sets the function that reads the receiver of a call if it is a constant text.
    pub const fn specialize(self, specialize: Specialize) -> Self {
        let specialize = Some(specialize);
        self.calls(Calls {
            specialize,
            ..self.calls
        })
    }

    /// Sets how the planner plans calls.
    pub const fn form(self, form: Form) -> Self {
        let form = Some(form);
        self.calls(Calls { form, ..self.calls })
    }

    /// Sets the known properties of the calls' results.
    pub const fn yields(self, yields: Yield) -> Self {
        self.calls(Calls {
            yields,
            ..self.calls
        })
    }

    /// Sets the operands that calls only read.
    pub const fn reads(self, reads: Reads) -> Self {
        self.calls(Calls {
            reads,
            ..self.calls
        })
    }

    /// Sets the rule by which validators check literals in a call.
    pub const fn literals(self, rule: LiteralRule) -> Self {
        let literals = Some(rule);
        self.calls(Calls {
            literals,
            ..self.calls
        })
    }

    /// Sets the example.
    pub const fn example(self, example: &'static str) -> Self {
        Overload { example, ..self }
    }

    const fn implementation(self, implementation: Implementation) -> Self {
        self.calls(Calls {
            implementation,
            ..self.calls
        })
    }

    const fn calls(self, calls: Calls) -> Self {
        Overload { calls, ..self }
    }
}
