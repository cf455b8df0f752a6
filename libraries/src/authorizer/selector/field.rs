//! Field selectors: `spec.nodeName=n1,status.phase!=Running`.

use std::fmt;

use super::SelectorError;

/// A term of a field selector: a field must, or must not, have a certain value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FieldRequirement {
    /// The path of the field.
    pub field: String,
    /// Whether the field must have the value; otherwise it must not have it.
    pub equal: bool,
    /// The value.
    pub value: String,
}

impl fmt::Display for FieldRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operator = if self.equal { "=" } else { "!=" };
        write!(f, "{}{operator}{}", self.field, self.value)
    }
}

/// Reads a field selector. The terms of the result are sorted.
///
/// # Errors
///
/// The text is not a field selector.
pub fn parse_field_selector(text: &str) -> Result<Vec<FieldRequirement>, SelectorError> {
    let mut terms = split_terms(text);
    terms.sort_unstable();
    let mut requirements = Vec::new();
    for term in terms.into_iter().filter(|term| !term.is_empty()) {
        let (field, operator, value) = split_term(term).ok_or_else(|| {
            SelectorError(format!(
                "invalid selector: '{text}'; can't understand '{term}'"
            ))
        })?;
        let value = unescape(value)?;
        // An operator without operands is not a requirement.
        if !(field.is_empty() && value.is_empty()) {
            requirements.push(FieldRequirement {
                field: field.to_owned(),
                equal: operator != "!=",
                value,
            });
        }
    }
    Ok(requirements)
}

/// Splits a selector at its commas. A comma after a backslash does not split.
fn split_terms(text: &str) -> Vec<&str> {
    let mut escaped = false;
    text.split(|c| {
        let separates = c == ',' && !escaped;
        escaped = c == '\\' && !escaped;
        separates
    })
    .collect()
}

/// Splits a term at its first operator into the field, the operator and the value. `None` if the term has no operator.
fn split_term(term: &str) -> Option<(&str, &str, &str)> {
    term.char_indices().find_map(|(at, _)| {
        let (field, rest) = term.split_at_checked(at)?;
        let operator = ["!=", "==", "="]
            .into_iter()
            .find(|operator| rest.starts_with(operator))?;
        Some((field, operator, rest.strip_prefix(operator)?))
    })
}

fn unescape(text: &str) -> Result<String, SelectorError> {
    let invalid = |sequence: String| {
        SelectorError(format!(
            "invalid field selector: invalid escape sequence: {sequence}"
        ))
    };
    let mut value = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(escaped @ ('\\' | ',' | '=')) => value.push(escaped),
                Some(other) => return Err(invalid(format!("\\{other}"))),
                None => return Err(invalid("\\".to_owned())),
            },
            // Upstream prints the character as a number.
            ',' | '=' => {
                let number = u32::from(c);
                return Err(SelectorError(format!(
                    "invalid field selector: unescaped character in value: {number}"
                )));
            }
            _ => value.push(c),
        }
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_field_selectors() {
        let check = |text: &str, expected: Result<&str, &str>| {
            let read = parse_field_selector(text).map(|requirements| {
                let terms: Vec<String> = requirements.iter().map(ToString::to_string).collect();
                terms.join(" ")
            });
            let read = read.as_deref().map_err(|error| error.0.as_str());
            assert_eq!(read, expected, "{text}");
        };
        check("", Ok(""));
        check("b=1,a==2,c!=3,,d=x\\,y", Ok("a=2 b=1 c!=3 d=x,y"));
        check("=", Ok(""));
        check("!=", Ok(""));
        check("=a", Ok("=a"));
        check("a=", Ok("a="));
        check("a=\\\\\\=", Ok("a=\\="));
        check("a\\,b=c", Ok("a\\,b=c"));
        check("b", Err("invalid selector: 'b'; can't understand 'b'"));
        check(
            "z=1,b",
            Err("invalid selector: 'z=1,b'; can't understand 'b'"),
        );
        check(
            "a=b=c",
            Err("invalid field selector: unescaped character in value: 61"),
        );
        check(
            "b=\\x",
            Err("invalid field selector: invalid escape sequence: \\x"),
        );
        check(
            "b=\\",
            Err("invalid field selector: invalid escape sequence: \\"),
        );
    }
}
