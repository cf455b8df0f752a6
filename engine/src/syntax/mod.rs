//! Parses the text of an expression to a tree: lexer, parser, macros (cel-go's `parser`).
//!
//! A fast parser handles valid expressions and gives up on all others. A second parser then finds and reports the errors. It walks the
//! grammar as cel-go's generated parser does, so that the messages are the same.

use crate::ast::Ast;
use crate::issues::{Issues, Phase};
use crate::source::{Location, Source};

mod builder;
mod grammar;
mod lexer;
mod literal;
mod macros;
mod parser;
mod recovery;
mod syntax_tree;
mod token;
mod visitor;

use recovery::Halt;

pub use macros::{
    BINDINGS, BLOCK, Expander, Expansion, Macro, MacroArguments, MacroCall, MacroContext,
    MacroError, Macros, OPTIONALS, Receiver, SORT_BY, STANDARD, TWO_VARIABLE,
};

/// The limit of the nesting depth of each grammar rule, and of the height of a tree.
const MAX_DEPTH: u32 = 250;

/// The options of the parser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParserOptions {
    /// Whether `a.?b`, `a[?b]`, `[?a]`, `{?a: b}` and `T{?a: b}` are accepted.
    pub optional_syntax: bool,
    /// Whether field names between backticks are accepted.
    pub escaped_identifiers: bool,
    /// The length limit of an expression, in code points.
    pub max_code_points: u32,
}

impl Default for ParserOptions {
    /// The options of Kubernetes since 1.28.
    fn default() -> Self {
        ParserOptions {
            optional_syntax: true,
            escaped_identifiers: false,
            max_code_points: 100_000,
        }
    }
}

/// Parses an expression and expands its macros.
///
/// # Errors
///
/// The text has syntax errors, or exceeds a limit of length, depth or nodes.
pub fn parse(source: Source, options: &ParserOptions, macros: &Macros) -> Result<Ast, Issues> {
    let (size, limit) = (source.code_points(), options.max_code_points);
    if size > limit {
        let mut issues = Issues::new(&source, Phase::Parse);
        issues.report(
            Location::NONE,
            format!("expression code point size exceeds limit: size: {size}, limit {limit}"),
        );
        return Err(issues);
    }
    parser::parse(source, options, macros).or_else(|source| explain(&source, options, macros))
}

/// Parses an invalid expression to find its errors.
#[cold]
fn explain(source: &Source, options: &ParserOptions, macros: &Macros) -> Result<Ast, Issues> {
    let mut issues = Issues::new(source, Phase::Parse);
    let parsed = recovery::read(source, &mut issues).and_then(|(tree, root)| {
        visitor::visit(source, options, macros, (&tree, root), &mut issues)
    });
    match parsed {
        Ok(Some(parsed)) if issues.is_empty() => return Ok(parsed),
        Ok(_) | Err(Halt::Reported) => {}
        Err(Halt::Limit(message)) => issues.report(Location::NONE, message),
    }
    Err(issues)
}

/// Whether a word is reserved: it can be neither a variable nor the name of a global function.
fn is_reserved(word: &str) -> bool {
    matches!(
        word,
        "as" | "break"
            | "const"
            | "continue"
            | "else"
            | "false"
            | "for"
            | "function"
            | "if"
            | "import"
            | "in"
            | "let"
            | "loop"
            | "package"
            | "namespace"
            | "null"
            | "return"
            | "true"
            | "var"
            | "void"
            | "while"
    )
}

#[cfg(test)]
mod tests;
