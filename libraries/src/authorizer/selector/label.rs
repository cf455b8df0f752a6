//! Label selectors: `app=web,tier in (a,b),!canary`.

use std::collections::BTreeSet;
use std::fmt;
use std::iter::Peekable;
use std::vec;

use gavel_apimachinery::field::{self, Error, Path};
use gavel_apimachinery::names;
use gavel_golang::integer;
use gavel_golang::sort::sort_by_less;

use super::SelectorError;
use super::lexer::{Token, words};

/// A requirement of a label selector.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LabelRequirement {
    /// The key of the label.
    pub key: String,
    /// How the label is compared.
    pub operator: LabelOperator,
    /// The values to compare with, sorted; empty if the operator only tests the presence of the label.
    pub values: Vec<String>,
}

/// How a label is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LabelOperator {
    /// `key`
    Exists,
    /// `!key`
    DoesNotExist,
    /// `key=value`
    Equals,
    /// `key==value`
    DoubleEquals,
    /// `key!=value`
    NotEquals,
    /// `key in (value,…)`
    In,
    /// `key notin (value,…)`
    NotIn,
    /// `key>value`
    GreaterThan,
    /// `key<value`
    LessThan,
}

impl fmt::Display for LabelRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LabelRequirement {
            key,
            operator,
            values,
        } = self;
        let values = values.join(",");
        match operator {
            LabelOperator::Exists => f.write_str(key),
            LabelOperator::DoesNotExist => write!(f, "!{key}"),
            LabelOperator::Equals => write!(f, "{key}={values}"),
            LabelOperator::DoubleEquals => write!(f, "{key}=={values}"),
            LabelOperator::NotEquals => write!(f, "{key}!={values}"),
            LabelOperator::In => write!(f, "{key} in ({values})"),
            LabelOperator::NotIn => write!(f, "{key} notin ({values})"),
            LabelOperator::GreaterThan => write!(f, "{key}>{values}"),
            LabelOperator::LessThan => write!(f, "{key}<{values}"),
        }
    }
}

/// Reads a label selector. The requirements of the result are sorted by key.
///
/// # Errors
///
/// The text is not a label selector.
pub fn parse_label_selector(text: &str) -> Result<Vec<LabelRequirement>, SelectorError> {
    let mut parser = Parser {
        words: words(text).into_iter().peekable(),
    };
    let mut requirements = parser.requirements()?;
    sort_by_less(&mut requirements, |left, right| left.key < right.key);
    Ok(requirements)
}

struct Parser<'t> {
    words: Peekable<vec::IntoIter<(Token, &'t str)>>,
}

impl<'t> Parser<'t> {
    fn requirements(&mut self) -> Result<Vec<LabelRequirement>, SelectorError> {
        let mut requirements = Vec::new();
        loop {
            match self.peek() {
                (Token::Identifier | Token::Not, _) => {}
                (Token::End, _) => return Ok(requirements),
                (_, word) => {
                    return found(word, ", expected: !, identifier, or 'end of string'");
                }
            }
            let requirement = self.requirement().map_err(|error| {
                SelectorError(format!("unable to parse requirement: {}", error.0))
            })?;
            requirements.push(requirement);
            match self.next() {
                (Token::End, _) => return Ok(requirements),
                (Token::Comma, _) => match self.peek() {
                    (Token::Identifier | Token::Not, _) => {}
                    (_, word) => return found(word, ", expected: identifier after ','"),
                },
                (_, word) => return found(word, ", expected: ',' or 'end of string'"),
            }
        }
    }

    fn requirement(&mut self) -> Result<LabelRequirement, SelectorError> {
        let mut next = self.next();
        let negated = next.0 == Token::Not;
        if negated {
            next = self.next();
        }
        let (Token::Identifier, key) = next else {
            return found(next.1, ", expected: identifier");
        };
        let faults = names::qualified_name(key);
        if !faults.is_empty() {
            let error = Error::invalid(&Path::root(), key, faults.join("; "));
            return Err(SelectorError(error.to_string()));
        }
        if negated || matches!(self.peek().0, Token::End | Token::Comma) {
            return Ok(LabelRequirement {
                key: key.to_owned(),
                operator: if negated {
                    LabelOperator::DoesNotExist
                } else {
                    LabelOperator::Exists
                },
                values: Vec::new(),
            });
        }
        let operator = self.operator()?;
        let values = match operator {
            LabelOperator::In | LabelOperator::NotIn => self.values()?,
            _ => self.exact_value()?,
        };
        compared(key, operator, values)
    }

    fn operator(&mut self) -> Result<LabelOperator, SelectorError> {
        Ok(match self.words.next().unwrap_or((Token::End, "")) {
            (Token::In, _) => LabelOperator::In,
            (Token::Equals, _) => LabelOperator::Equals,
            (Token::DoubleEquals, _) => LabelOperator::DoubleEquals,
            (Token::Greater, _) => LabelOperator::GreaterThan,
            (Token::Less, _) => LabelOperator::LessThan,
            (Token::NotIn, _) => LabelOperator::NotIn,
            (Token::NotEquals, _) => LabelOperator::NotEquals,
            (_, word) => return found(word, ", expected: in, notin, =, ==, !=, gt, lt"),
        })
    }

    /// `(a,b)`
    fn values(&mut self) -> Result<BTreeSet<&'t str>, SelectorError> {
        let (Token::OpenParenthesis, _) = self.peek() else {
            return found(self.peek().1, " expected: '('");
        };
        self.next();
        match self.peek() {
            (Token::Identifier | Token::Comma, _) => self.listed(),
            (Token::ClosedParenthesis, _) => {
                self.next();
                Ok(BTreeSet::from([""]))
            }
            (_, word) => found(word, ", expected: ',', ')' or identifier"),
        }
    }

    /// Reads values separated by commas, up to and including the closing parenthesis. A missing value next to a comma is an empty value.
    fn listed(&mut self) -> Result<BTreeSet<&'t str>, SelectorError> {
        let mut values = BTreeSet::new();
        loop {
            match self.next() {
                (Token::Identifier, word) => {
                    values.insert(word);
                    match self.peek() {
                        (Token::Comma, _) => {}
                        (Token::ClosedParenthesis, _) => break,
                        (_, word) => return found(word, ", expected: ',' or ')'"),
                    }
                }
                (Token::Comma, _) => {
                    let next = self.peek().0;
                    if values.is_empty() || matches!(next, Token::ClosedParenthesis | Token::Comma)
                    {
                        values.insert("");
                    }
                    if next == Token::ClosedParenthesis {
                        break;
                    }
                }
                (_, word) => return found(word, ", expected: ',', or identifier"),
            }
        }
        self.next();
        Ok(values)
    }

    fn exact_value(&mut self) -> Result<BTreeSet<&'t str>, SelectorError> {
        match self.peek() {
            (Token::End | Token::Comma, _) => Ok(BTreeSet::from([""])),
            (Token::Identifier, word) => {
                self.next();
                Ok(BTreeSet::from([word]))
            }
            (_, word) => found(word, ", expected: identifier"),
        }
    }

    /// The next word, read as a key or a value: `in` and `notin` are ordinary words, not operators. Does not consume the word.
    fn peek(&mut self) -> (Token, &'t str) {
        as_value(self.words.peek().copied())
    }

    fn next(&mut self) -> (Token, &'t str) {
        as_value(self.words.next())
    }
}

fn as_value(word: Option<(Token, &str)>) -> (Token, &str) {
    match word {
        Some((Token::In | Token::NotIn, text)) => (Token::Identifier, text),
        Some(word) => word,
        None => (Token::End, ""),
    }
}

fn found<T>(word: &str, expected: &str) -> Result<T, SelectorError> {
    Err(SelectorError(format!("found '{word}'{expected}")))
}

/// Creates a requirement after validating its values.
fn compared(
    key: &str,
    operator: LabelOperator,
    values: BTreeSet<&str>,
) -> Result<LabelRequirement, SelectorError> {
    let mut errors = Vec::new();
    let path = Path::new("values");
    if matches!(
        operator,
        LabelOperator::GreaterThan | LabelOperator::LessThan
    ) {
        for (n, value) in values.iter().enumerate() {
            if integer::parse_int(value).is_none() {
                let detail = "for 'Gt', 'Lt' operators, the value must be an integer";
                errors.push(Error::invalid(&path.index(n), *value, detail));
            }
        }
    }
    for (n, value) in values.iter().enumerate() {
        let faults = names::label_value(value);
        if !faults.is_empty() {
            let element = path.index(n);
            errors.push(Error::invalid(&element.key(key), *value, faults.join("; ")));
        }
    }
    match field::aggregate(&errors) {
        Some(problem) => Err(SelectorError(problem)),
        None => Ok(LabelRequirement {
            key: key.to_owned(),
            operator,
            values: values.into_iter().map(str::to_owned).collect(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        let read = parse_label_selector(text).map(|requirements| {
            let terms: Vec<String> = requirements.iter().map(ToString::to_string).collect();
            terms.join(",")
        });
        let read = read.as_deref().map_err(|error| error.0.as_str());
        assert_eq!(read, expected, "{text:?}");
    }

    #[test]
    fn reads_label_selectors() {
        check("", Ok(""));
        check(" \t", Ok(""));
        check(
            "tier in (b,a), app==web,!x, z, y>3, w notin (a), v!=1,u in ()",
            Ok("app==web,tier in (a,b),u in (),v!=1,w notin (a),!x,y>3,z"),
        );
        check("a in (,)", Ok("a in ()"));
        check("a in (b,,c,)", Ok("a in (,b,c)"));
        check("in in (in,notin)", Ok("in in (in,notin)"));
        check("notin", Ok("notin"));
        check("a=,b==", Ok("a=,b=="));
        check("example.com/a<1", Ok("example.com/a<1"));
        check("a\0,b", Ok("a,b"));
        check("a,b \0 =", Ok("a,b"));
        check("a=\0b", Ok("a=b"));
        let many = "a=9,a=8,a=7,a=6,a=5,a=4,a=3,a=2,a=1,a=0,a=x,a=y,a=z";
        check(many, Ok(many));
    }

    #[test]
    fn errors_name_the_fault() {
        check("a=b=c", Err("found '=', expected: ',' or 'end of string'"));
        check(
            "!a in (b)",
            Err("found 'in', expected: ',' or 'end of string'"),
        );
        check(
            "(",
            Err("found '(', expected: !, identifier, or 'end of string'"),
        );
        check("a,", Err("found '', expected: identifier after ','"));
        for (text, message) in [
            ("!", "found '', expected: identifier"),
            ("a b", "found 'b', expected: in, notin, =, ==, !=, gt, lt"),
            ("a in", "found '' expected: '('"),
            ("a in (", "found '', expected: ',', ')' or identifier"),
            ("a in (b", "found '', expected: ',' or ')'"),
            ("a in (b,", "found '', expected: ',', or identifier"),
            ("a in (,=)", "found '=', expected: ',', or identifier"),
            ("a=(", "found '(', expected: identifier"),
            (
                "a>x",
                "values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
            ),
        ] {
            check(
                text,
                Err(&format!("unable to parse requirement: {message}")),
            );
        }
    }

    #[test]
    fn all_faults_of_a_requirement_are_reported() {
        let check = |text: &str, faults: &str| {
            check(text, Err(&format!("unable to parse requirement: {faults}")));
        };
        let fault = names::qualified_name("-").join("; ");
        check("-", &format!("<nil>: Invalid value: \"-\": {fault}"));
        let fault = names::label_value("-").join("; ");
        let value = format!("values[0][a]: Invalid value: \"-\": {fault}");
        check("a=-", &value);
        let number = "values[0]: Invalid value: \"-\": for 'Gt', 'Lt' operators, the value must be an integer";
        check("a>-", &format!("[{number}, {value}]"));
    }
}
