//! Checks JSONPaths (client-go `util/jsonpath/parser.go`), with upstream's messages.

use std::sync::LazyLock;

use gavel_golang::integer::atoi;
use gavel_golang::quote::is_print;
use gavel_golang::regex::Regex;

/// Checks a path, such as `spec.validations[0].expression`.
///
/// # Errors
///
/// The path is invalid. The error is upstream's message.
pub(super) fn check(path: &str) -> Result<(), String> {
    Parser::new(path).parse().map(|_| ())
}

/// Parses the text `{path}`. A path between brackets gets its own parser. Parsers are nested only a few levels deep: a filter within a
/// filter needs an open quote around it, and there are two kinds of quotes.
struct Parser {
    text: Vec<char>,
    at: usize,
    /// The position of the first character that is not consumed yet.
    start: usize,
}

impl Parser {
    fn new(path: &str) -> Self {
        Parser {
            text: format!("{{{path}}}").chars().collect(),
            at: 0,
            start: 0,
        }
    }

    /// Parses the text. Returns whether the first path between braces ends in `..`.
    fn parse(mut self) -> Result<bool, String> {
        let mut first = None;
        while let Some(c) = self.next() {
            if c == '{' {
                self.consume();
                let is_recursive = self.action()?;
                first.get_or_insert(is_recursive);
            }
        }
        Ok(first.unwrap_or_default())
    }

    /// Parses a path after `{`. Returns whether it ends in `..`.
    fn action(&mut self) -> Result<bool, String> {
        let mut is_recursive = false;
        loop {
            if self.starts_with("[?(") {
                self.filter()?;
                is_recursive = false;
                continue;
            }
            if self.starts_with("..") {
                if is_recursive {
                    return Err("invalid multiple recursive descent".to_owned());
                }
                self.skip(2);
                is_recursive = true;
                if self.peek().is_some_and(is_alphanumeric) {
                    self.field();
                    is_recursive = false;
                }
                continue;
            }
            match self.next() {
                Some('}') => {
                    self.consume();
                    return Ok(is_recursive);
                }
                None | Some('\r' | '\n') => return Err("unclosed action".to_owned()),
                Some(' ' | '@' | '$') => {
                    self.consume();
                    continue;
                }
                Some('[') => is_recursive = self.array()?,
                Some(quote @ ('"' | '\'')) => {
                    self.quoted(quote)?;
                    is_recursive = false;
                }
                Some('.') => {
                    self.field();
                    is_recursive = false;
                }
                Some(c) if matches!(c, '+' | '-') || is_digit(c) => {
                    self.number()?;
                    is_recursive = false;
                }
                Some(c) if is_alphanumeric(c) => {
                    while self.peek().is_some_and(|c| !is_terminator(c)) {
                        self.at = self.at.saturating_add(1);
                    }
                    self.consume();
                    is_recursive = false;
                }
                Some(c) => {
                    let code = u32::from(c);
                    let shown = if is_print(c) {
                        format!(" '{c}'")
                    } else {
                        String::new()
                    };
                    return Err(format!(
                        "unrecognized character in action: U+{code:04X}{shown}"
                    ));
                }
            }
        }
    }

    fn field(&mut self) {
        self.consume();
        while let Some(c) = self.peek().filter(|c| !is_terminator(*c)) {
            self.skip_raw(if c == '\\' { 2 } else { 1 });
        }
        self.consume();
    }

    fn number(&mut self) -> Result<(), String> {
        while self.peek().is_some_and(|c| c == '.' || is_digit(c)) {
            self.skip_raw(1);
        }
        let text = self.consume();
        let is_plain = text
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '.' | '+' | '-'));
        let number = text
            .parse::<f64>()
            .ok()
            .filter(|number| is_plain && number.is_finite());
        match number {
            Some(_) => Ok(()),
            None => Err(format!("cannot parse number {text}")),
        }
    }

    /// Parses an index, a slice or a key after `[`. Returns whether a quoted key ends in `..`.
    fn array(&mut self) -> Result<bool, String> {
        loop {
            match self.next() {
                None | Some('\n') => return Err("unterminated array".to_owned()),
                Some(']') => break,
                Some(_) => {}
            }
        }
        let text = self.consume();
        let text = text
            .strip_prefix('[')
            .and_then(|text| text.strip_suffix(']'))
            .unwrap_or_default();
        let text = if text == "*" { ":" } else { text };
        if text.contains(',') {
            for part in text.split(',') {
                let part = part.trim_matches(' ');
                check(&format!("[{part}]"))?;
            }
            return Ok(false);
        }
        let key = text
            .strip_prefix('\'')
            .and_then(|text| text.strip_suffix('\''));
        if let Some(key) = key.filter(|key| !key.contains('\'')) {
            return Parser::new(&format!(".{key}")).parse();
        }
        slice(text)?;
        Ok(false)
    }

    fn filter(&mut self) -> Result<(), String> {
        self.skip(3);
        // Upstream detects only the first quoted string in a filter.
        let mut quote = None;
        let mut is_closed = false;
        loop {
            match self.next() {
                None | Some('\n') => return Err("unterminated filter".to_owned()),
                Some(c @ ('"' | '\'')) => match quote {
                    None => quote = Some(c),
                    Some(open) => is_closed |= open == c && !self.follows_backslash(),
                },
                Some(')') if quote.is_some() == is_closed => break,
                Some(_) => {}
            }
        }
        if self.next() != Some(']') {
            return Err("unclosed array expect ]".to_owned());
        }
        let text = self.consume();
        let text = text.strip_suffix(")]").unwrap_or_default();
        match comparison(text) {
            None => check(text),
            Some((left, right)) => {
                check(left)?;
                check(right)
            }
        }
    }

    fn quoted(&mut self, quote: char) -> Result<(), String> {
        loop {
            match self.next() {
                None | Some('\n') => return Err("unterminated quoted string".to_owned()),
                Some(c) if c == quote && !self.follows_backslash() => break,
                Some(_) => {}
            }
        }
        let text = self.consume();
        let inner = text
            .strip_prefix(quote)
            .and_then(|text| text.strip_suffix(quote));
        match inner.is_some_and(|inner| can_be_unquoted(inner, quote)) {
            true => Ok(()),
            false => Err(format!("unquote string {text} error invalid syntax")),
        }
    }

    /// Whether a backslash precedes the character that was read last.
    fn follows_backslash(&self) -> bool {
        let before = self.at.checked_sub(2).and_then(|at| self.text.get(at));
        before == Some(&'\\')
    }

    fn starts_with(&self, prefix: &str) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        prefix
            .chars()
            .enumerate()
            .all(|(n, c)| rest.get(n) == Some(&c))
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.skip_raw(1);
        Some(c)
    }

    fn skip_raw(&mut self, count: usize) {
        self.at = self.at.saturating_add(count).min(self.text.len());
    }

    fn skip(&mut self, count: usize) {
        self.skip_raw(count);
        self.consume();
    }

    /// The text read since the last call.
    fn consume(&mut self) -> String {
        let text = self.text.get(self.start..self.at).unwrap_or_default();
        self.start = self.at;
        text.iter().collect()
    }
}

/// Checks an index or a slice: `1`, `1:2` or `1:2:3`. Each number may be absent.
fn slice(text: &str) -> Result<(), String> {
    let parts: Vec<&str> = text.split(':').collect();
    let is_index = |text: &&str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    if parts.len() > 3 || !parts.iter().all(is_index) {
        return Err(format!("invalid array index {text}"));
    }
    for part in parts {
        if !part.is_empty() && atoi(part).is_err() {
            return Err(format!("array index {part} is not a number"));
        }
    }
    Ok(())
}

/// Splits a comparison such as `@.a == 1` into its two sides; `None` if there is no operator.
fn comparison(text: &str) -> Option<(&str, &str)> {
    let is_operator = |c: char| matches!(c, '!' | '<' | '>' | '=');
    let at = text.find(is_operator).filter(|at| *at > 0)?;
    let (left, rest) = text.split_at_checked(at)?;
    let right = rest.trim_start_matches(is_operator);
    match right {
        // If only operator characters follow, the last of them counts as the right side.
        "" if rest.len() > 1 => rest
            .get(rest.len().saturating_sub(1)..)
            .map(|right| (left, right)),
        "" => None,
        right => Some((left, right)),
    }
}

/// Whether Go can unquote a string with this text between its quotes.
fn can_be_unquoted(text: &str, quote: char) -> bool {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == quote {
            return false;
        }
        if c != '\\' {
            continue;
        }
        let is_valid = match chars.next() {
            Some('a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '\\') => true,
            Some('x') => number(&mut chars, 2, 16).is_some(),
            Some('u') => number(&mut chars, 4, 16).and_then(char::from_u32).is_some(),
            Some('U') => number(&mut chars, 8, 16).and_then(char::from_u32).is_some(),
            Some(first @ '0'..='7') => {
                let rest = number(&mut chars, 2, 8);
                rest.is_some() && first < '4'
            }
            Some(escaped) => escaped == quote,
            None => false,
        };
        if !is_valid {
            return false;
        }
    }
    true
}

fn number(chars: &mut std::str::Chars<'_>, digits: usize, radix: u32) -> Option<u32> {
    (0..digits).try_fold(0u32, |number, _| {
        let digit = chars.next()?.to_digit(radix)?;
        Some(number.wrapping_mul(radix).wrapping_add(digit))
    })
}

fn is_alphanumeric(c: char) -> bool {
    static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[_\pL\p{Nd}]").ok());
    is_of(&PATTERN, c)
}

fn is_digit(c: char) -> bool {
    static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\p{Nd}").ok());
    is_of(&PATTERN, c)
}

fn is_of(pattern: &Option<Regex>, c: char) -> bool {
    let mut bytes = [0; 4];
    let text = c.encode_utf8(&mut bytes);
    pattern
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(text))
}

fn is_terminator(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}'
    )
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn errors_name_the_fault() {
        let valid = |path: &str| assert_eq!(check(path), Ok(()), "{path}");
        let invalid =
            |path: &str, message: &str| assert_eq!(check(path), Err(message.to_owned()), "{path}");
        valid("spec.validations[0].expression");
        valid("a..b[*]['x.y'][1:2:-3][1,'a']");
        valid("a[?(@.b==\"c)\")] 'd\\n' -1.5 true");
        valid("a}b{c");
        invalid("a[", "unterminated array");
        invalid("a[b]", "invalid array index b");
        invalid("a[-]", "array index - is not a number");
        invalid("a[?(b", "unterminated filter");
        invalid("a[?(b)c", "unclosed array expect ]");
        invalid("....", "invalid multiple recursive descent");
        invalid("{", "unrecognized character in action: U+007B '{'");
        invalid("a {", "unrecognized character in action: U+007B '{'");
        invalid("'a", "unterminated quoted string");
        invalid("'\\q'", "unquote string '\\q' error invalid syntax");
        invalid("1.2.3", "cannot parse number 1.2.3");
        invalid("a\nb", "unclosed action");
    }

    #[test]
    fn depth_is_bounded() {
        let _ = check(&"[?(".repeat(100_000));
        let _ = check(&"['".repeat(100_000));
        let _ = check(&"[?(\"[?('\\\"".repeat(10_000));
    }
}
