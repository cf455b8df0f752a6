//! Paths of fields in rules and selectable fields, such as `.spec['a.b'].color` (apiextensions-apiserver
//! `pkg/apiserver/schema/cel/validation.go`, `ValidFieldPath`).

use std::fmt;

use gavel_schema::JsonSchema;

/// A path from a schema node to a field below it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct FieldPath(Vec<FieldPathStep>);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum FieldPathStep {
    /// A declared field.
    Field(String),
    /// A key of a map.
    Key(String),
}

/// Whether fields can be written in brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Brackets {
    /// Brackets are allowed.
    Allowed,
    /// Brackets are rejected.
    Refused,
}

/// The error for a text that is not the path of a field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FieldPathError(String);

impl FieldPath {
    /// Resolves the path of a field below a schema node. Returns the path and the schema of the field. The schema is `None` for a value of
    /// a map whose values have no schema.
    ///
    /// ```
    /// use gavel_crd::rule::{Brackets, FieldPath};
    /// use gavel_schema::JsonSchema;
    /// use serde_json::json;
    ///
    /// let schema: JsonSchema = serde_json::from_value(json!({"properties": {
    ///     "labels": {"additionalProperties": {"type": "string"}},
    /// }}))?;
    /// let (path, field) = FieldPath::resolve(".labels['a.b']", &schema, Brackets::Allowed)?;
    /// assert_eq!(path.to_string(), "labels[a.b]");
    /// assert_eq!(field.map(|field| field.kind.as_str()), Some("string"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The text is not a path, or the schema has no such field.
    pub fn resolve<'s>(
        text: &str,
        schema: &'s JsonSchema,
        brackets: Brackets,
    ) -> Result<(FieldPath, Option<&'s JsonSchema>), FieldPathError> {
        let mut path = FieldPath::default();
        let mut node = Some(schema);
        let mut tokens = Tokens(text);
        while let Some(token) = tokens.next() {
            match token {
                "[" if brackets == Brackets::Refused => {
                    return Err(FieldPathError::new("array notation is not allowed"));
                }
                "[" => {
                    let quoted = tokens.expect()?;
                    let name = quoted
                        .strip_prefix('\'')
                        .and_then(|rest| rest.strip_suffix('\''));
                    let name = name.ok_or_else(|| {
                        FieldPathError(format!("expected single quoted string but got {quoted}"))
                    })?;
                    let name = unescape(name).map_err(|error| {
                        FieldPathError(format!("invalid string literal: {error}"))
                    })?;
                    node = path.push(node, name)?;
                    match tokens.expect()? {
                        "]" => {}
                        other => return Err(FieldPathError(format!("expected ] but got {other}"))),
                    }
                }
                "." => {
                    let name = tokens.expect()?;
                    node = path.push(node, name.to_owned())?;
                }
                other => {
                    return Err(FieldPathError(format!("expected [ or . but got: {other}")));
                }
            }
        }
        Ok((path, node))
    }

    /// Whether the first field has this name.
    pub fn starts_with(&self, name: &str) -> bool {
        matches!(self.0.first(), Some(FieldPathStep::Field(first)) if first == name)
    }

    /// Adds a step to the path. If the values of a map have no schema, every name directly below the map is treated as a key, and a longer
    /// path is rejected; upstream crashes on such paths.
    fn push<'s>(
        &mut self,
        node: Option<&'s JsonSchema>,
        name: String,
    ) -> Result<Option<&'s JsonSchema>, FieldPathError> {
        let unknown = || FieldPathError::new("does not refer to a valid field");
        let node = node.ok_or_else(unknown)?;
        if node.properties.is_empty() {
            node.additional_properties.as_ref().ok_or_else(unknown)?;
            self.0.push(FieldPathStep::Key(name));
            return Ok(node.value().map(|value| &**value));
        }
        let field = node.properties.get(&name).ok_or_else(unknown)?;
        self.0.push(FieldPathStep::Field(name));
        Ok(Some(field))
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, step) in self.0.iter().enumerate() {
            match step {
                // Upstream treats a step without a name as an index.
                FieldPathStep::Field(name) if name.is_empty() => f.write_str("[]")?,
                FieldPathStep::Field(name) if n == 0 => f.write_str(name)?,
                FieldPathStep::Field(name) => write!(f, ".{name}")?,
                FieldPathStep::Key(key) => write!(f, "[{key}]")?,
            }
        }
        Ok(())
    }
}

impl FieldPathError {
    fn new(message: &str) -> Self {
        FieldPathError(message.to_owned())
    }
}

/// The tokens of a path: `.`, `[`, `]`, strings in single quotes, and the names between these tokens.
struct Tokens<'t>(&'t str);

impl<'t> Tokens<'t> {
    fn expect(&mut self) -> Result<&'t str, FieldPathError> {
        self.next()
            .ok_or_else(|| FieldPathError::new("unexpected end of JSON path"))
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let text = self.0;
        let bytes = text.as_bytes();
        let end = match bytes.first()? {
            b'\'' => {
                let mut previous = b'\'';
                let closing = bytes.iter().skip(1).position(|byte| {
                    let closes = *byte == b'\'' && previous != b'\\';
                    previous = *byte;
                    closes
                });
                closing.map(|at| at.saturating_add(2))
            }
            b'.' | b'[' | b']' => Some(1),
            _ => text.find(['.', '[', ']']),
        };
        let (token, rest) = text.split_at_checked(end.unwrap_or(text.len()))?;
        self.0 = rest;
        Some(token)
    }
}

fn unescape(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('a') => out.push('\u{7}'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('v') => out.push('\u{b}'),
            Some(quoted @ ('\'' | '\\')) => out.push(quoted),
            // Upstream's pattern for escapes does not match line breaks.
            Some('\n') => out.push_str("\\\n"),
            None => out.push('\\'),
            Some(other) => return Err(format!("invalid escape char \\{other}")),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        let schema = JsonSchema::read(&json!({"properties": {
            "a": {"type": "string"},
            "a.b": {"properties": {"c": {}, "": {}}},
            "m": {"additionalProperties": {"properties": {"x": {}}}},
            "any": {"additionalProperties": true},
            "it's": {},
            "l": {"items": {"properties": {"a": {}}}},
        }}))
        .unwrap();
        let found = FieldPath::resolve(text, &schema, Brackets::Allowed)
            .map(|(path, _)| path.to_string())
            .map_err(|error| error.to_string());
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn fields_are_found() {
        check("", Ok(""));
        check(".a", Ok("a"));
        check("['a']", Ok("a"));
        check("['a.b'].c", Ok("a.b.c"));
        check("['a.b']['']", Ok("a.b[]"));
        check(".m.foo.x", Ok("m[foo].x"));
        check(".m['a.b']['x']", Ok("m[a.b].x"));
        check(".any.x", Ok("any[x]"));
        check("['it\\'s']", Ok("it's"));
    }

    #[test]
    fn paths_that_are_no_field_are_rejected() {
        let unknown = Err("does not refer to a valid field");
        for text in [".b", ".a.b", ".l.a", ".any.x.y", ".a ", "..a", ".l['a']"] {
            check(text, unknown);
        }
        check("a", Err("expected [ or . but got: a"));
        check("$.a", Err("expected [ or . but got: $"));
        check(".", Err("unexpected end of JSON path"));
        check(".a[0]", Err("expected single quoted string but got 0"));
        check("['a'", Err("unexpected end of JSON path"));
        check("['a'.", Err("expected ] but got ."));
        check("['", Err("expected single quoted string but got '"));
        check(
            "['\\x']",
            Err("invalid string literal: invalid escape char \\x"),
        );
    }

    #[test]
    fn brackets_may_be_refused() {
        let schema = JsonSchema::default();
        let found = FieldPath::resolve("['a']", &schema, Brackets::Refused);
        assert_eq!(
            found,
            Err(FieldPathError::new("array notation is not allowed"))
        );
    }
}
