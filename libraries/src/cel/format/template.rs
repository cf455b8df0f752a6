//! Templates: text with clauses such as `%s` and `%.2f`.

use std::fmt;

use gavel_golang::integer::{AtoiError, atoi};

/// The parts of a template, up to the first malformed one.
pub(super) struct Template<'t> {
    rest: &'t str,
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece<'t> {
    /// Text that is written unchanged; `%%` is a `%`.
    Text(&'t str),
    /// A clause, which is replaced by a value. Even a malformed clause consumes a value.
    Clause(Result<Clause, TemplateError>),
}

/// A clause such as `%d` or `%.2f`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Clause {
    /// How the value is written.
    pub(super) verb: Verb,
    /// The number after the point; `None` if the clause has no point.
    pub(super) precision: Option<u64>,
}

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    /// `%s`
    String,
    /// `%d`
    Decimal,
    /// `%f`
    Fixed,
    /// `%e`
    Scientific,
    /// `%b`
    Binary,
    /// `%x`
    Hex,
    /// `%X`
    UpperHex,
    /// `%o`
    Octal,
}

/// Why a template is malformed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TemplateError {
    /// The template ends after a `%`.
    UnexpectedEnd,
    /// The template ends after a precision.
    EndlessPrecision,
    /// The number after the point is missing or too large.
    Precision(AtoiError),
    /// The byte in the position of the verb is not a verb.
    UnrecognizedVerb(u8),
}

/// The message for a clause without a value.
pub(super) fn missing_value(index: usize) -> String {
    format!("index {index} out of range")
}

impl<'t> Template<'t> {
    pub(super) fn new(template: &'t str) -> Self {
        Template { rest: template }
    }

    /// Reads the clause after a `%`.
    #[inline]
    fn clause(&mut self) -> Result<Clause, TemplateError> {
        let mut rest = std::mem::take(&mut self.rest);
        let mut precision = None;
        if let Some(digits) = rest.strip_prefix('.') {
            let end = digits.find(|c: char| !c.is_ascii_digit());
            let (digits, after) = end
                .and_then(|end| digits.split_at_checked(end))
                .ok_or(TemplateError::EndlessPrecision)?;
            let number = atoi(digits).map_err(TemplateError::Precision)?;
            precision = Some(number.unsigned_abs());
            rest = after;
        }
        let verb = match rest.bytes().next() {
            None => return Err(TemplateError::UnexpectedEnd),
            Some(b's') => Verb::String,
            Some(b'd') => Verb::Decimal,
            Some(b'f') => Verb::Fixed,
            Some(b'e') => Verb::Scientific,
            Some(b'b') => Verb::Binary,
            Some(b'x') => Verb::Hex,
            Some(b'X') => Verb::UpperHex,
            Some(b'o') => Verb::Octal,
            Some(other) => return Err(TemplateError::UnrecognizedVerb(other)),
        };
        self.rest = rest.get(1..).unwrap_or_default();
        Ok(Clause { verb, precision })
    }
}

impl<'t> Iterator for Template<'t> {
    type Item = Piece<'t>;

    #[inline]
    fn next(&mut self) -> Option<Piece<'t>> {
        if let Some(after) = self.rest.strip_prefix('%') {
            self.rest = after;
            return match after.strip_prefix('%') {
                Some(after) => {
                    self.rest = after;
                    Some(Piece::Text("%"))
                }
                None => Some(Piece::Clause(self.clause())),
            };
        }
        // Templates are too short for `memchr` to pay off.
        let percent = self.rest.bytes().position(|byte| byte == b'%');
        let end = percent.unwrap_or(self.rest.len());
        let (text, after) = self.rest.split_at_checked(end)?;
        self.rest = after;
        (end > 0).then_some(Piece::Text(text))
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == TemplateError::UnexpectedEnd {
            return f.write_str("unexpected end of string");
        }
        f.write_str("could not parse formatting clause: ")?;
        match self {
            TemplateError::UnexpectedEnd => Ok(()),
            TemplateError::EndlessPrecision => f.write_str(
                "error while parsing precision: could not find end of precision specifier",
            ),
            TemplateError::Precision(error) => write!(
                f,
                "error while parsing precision: error while converting precision to integer: {error}"
            ),
            // Upstream treats the byte as a character.
            TemplateError::UnrecognizedVerb(byte) => {
                write!(
                    f,
                    "unrecognized formatting clause \"{}\"",
                    char::from(*byte)
                )
            }
        }
    }
}
