//! Character classes: `[a-z]`, `\d`, `[:alpha:]`, `\p{Greek}` (`parseClass` of Go's `regexp/syntax/parse.go`).

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::consumed;
use super::error::{Problem, RegexError};
use super::escape::parse_escape;
use crate::unicode;

/// The number of ranges of named classes in brackets from which on equal and overlapping ranges are merged before the bracket is closed. All
/// named classes together have fewer ranges.
const MAX_GROUP_RANGES: usize = 1 << 16;

/// Reads a class in brackets at the start of `text`; returns the class and the rest of the text.
pub(super) fn parse_bracketed(text: &str, fold: bool) -> Result<(ClassUnicode, &str), RegexError> {
    let mut rest = text.strip_prefix('[').unwrap_or(text);
    let negated = rest.strip_prefix('^');
    rest = negated.unwrap_or(rest);
    let (mut ranges, mut groups) = (Vec::new(), Vec::new());
    let mut first = true;
    loop {
        if !first && let Some(after) = rest.strip_prefix(']') {
            rest = after;
            break;
        }
        first = false;
        if let Some((class, after)) = parse_group(rest, fold)? {
            groups.extend_from_slice(class.ranges());
            // A pattern can name large classes many times.
            if groups.len() > MAX_GROUP_RANGES {
                groups = ClassUnicode::new(groups).ranges().to_vec();
            }
            rest = after;
            continue;
        }
        let range = rest;
        let (low, after) = parse_class_char(rest, text)?;
        rest = after;
        let mut high = low;
        // A hyphen before the closing bracket stands for itself.
        if let Some(after) = rest
            .strip_prefix('-')
            .filter(|after| !after.is_empty() && !after.starts_with(']'))
        {
            (high, rest) = parse_class_char(after, text)?;
            if high < low {
                return Err(RegexError::syntax(
                    Problem::InvalidCharRange,
                    consumed(range, rest),
                ));
            }
        }
        push_range(&mut ranges, low, high);
    }
    let mut class = ClassUnicode::new(ranges);
    if fold {
        unicode::fold_case(&mut class);
    }
    class.union(&ClassUnicode::new(groups));
    if negated.is_some() {
        unicode::negate(&mut class);
    }
    Ok((class, rest))
}

/// Reads a named class within brackets, such as `[:alpha:]`, `\pL` or `\d`.
fn parse_group(text: &str, fold: bool) -> Result<Option<(ClassUnicode, &str)>, RegexError> {
    if let Some(name) = text.strip_prefix("[:")
        && let Some((name, rest)) = name.split_once(":]")
    {
        return match posix_class(name, fold) {
            Some(class) => Ok(Some((class, rest))),
            None => Err(RegexError::syntax(
                Problem::InvalidCharRange,
                consumed(text, rest),
            )),
        };
    }
    parse_escaped(text, fold)
}

/// Reads a class such as `\pL` or `\d`; `None` if the text does not start with a backslash and a class.
pub(super) fn parse_escaped(
    text: &str,
    fold: bool,
) -> Result<Option<(ClassUnicode, &str)>, RegexError> {
    let mut rest = text.chars();
    if rest.next() != Some('\\') {
        return Ok(None);
    }
    let letter = rest.next();
    if let Some('p' | 'P') = letter {
        return parse_unicode(text, rest.as_str(), fold).map(Some);
    }
    Ok(letter
        .and_then(|letter| perl_class(letter, fold))
        .map(|class| (class, rest.as_str())))
}

/// Reads the name after `\p` or `\P`: a letter, or a name in braces, which a leading `^` negates.
fn parse_unicode<'p>(
    text: &'p str,
    after_letter: &'p str,
    fold: bool,
) -> Result<(ClassUnicode, &'p str), RegexError> {
    let invalid = |expression: &str| RegexError::syntax(Problem::InvalidCharRange, expression);
    let (name, rest) = match after_letter.strip_prefix('{') {
        Some(braced) => braced.split_once('}').ok_or_else(|| invalid(text))?,
        None => {
            let mut rest = after_letter.chars();
            rest.next();
            (consumed(after_letter, rest.as_str()), rest.as_str())
        }
    };
    let bare = name.strip_prefix('^');
    let negated = text.starts_with(r"\P") != bare.is_some();
    let mut class = unicode::named_class(bare.unwrap_or(name), fold)
        .ok_or_else(|| invalid(consumed(text, rest)))?;
    if negated {
        unicode::negate(&mut class);
    }
    Ok((class, rest))
}

/// Reads a character or escape within brackets. `class` is the text from the opening bracket on, for the error message.
fn parse_class_char<'p>(text: &'p str, class: &str) -> Result<(u32, &'p str), RegexError> {
    let mut rest = text.chars();
    match rest.next() {
        None => Err(RegexError::syntax(Problem::MissingBracket, class)),
        Some('\\') => parse_escape(text),
        Some(c) => Ok((u32::from(c), rest.as_str())),
    }
}

/// Adds a range of code points. Surrogates at its ends are left out, because texts cannot contain them.
fn push_range(ranges: &mut Vec<ClassUnicodeRange>, low: u32, high: u32) {
    let low = char::from_u32(low).unwrap_or('\u{e000}');
    let high = char::from_u32(high).unwrap_or('\u{d7ff}');
    if low <= high {
        ranges.push(ClassUnicodeRange::new(low, high));
    }
}

/// The class of `\d`, `\s` or `\w`, or its negation. `\d`, `\s` and `\w` match ASCII characters; with `fold`, also characters that differ
/// from them only in case.
fn perl_class(letter: char, fold: bool) -> Option<ClassUnicode> {
    let ranges: &[(char, char)] = match letter.to_ascii_lowercase() {
        'd' => &[('0', '9')],
        's' => &[('\t', '\n'), ('\x0c', '\r'), (' ', ' ')],
        'w' => WORD,
        _ => return None,
    };
    Some(ascii_class(ranges, letter.is_ascii_uppercase(), fold))
}

const WORD: &[(char, char)] = &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];

/// The class named between `[:` and `:]`, such as `alpha` or `^alpha`.
fn posix_class(name: &str, fold: bool) -> Option<ClassUnicode> {
    let bare = name.strip_prefix('^');
    let ranges: &[(char, char)] = match bare.unwrap_or(name) {
        "alnum" => &[('0', '9'), ('A', 'Z'), ('a', 'z')],
        "alpha" => &[('A', 'Z'), ('a', 'z')],
        "ascii" => &[('\0', '\x7f')],
        "blank" => &[('\t', '\t'), (' ', ' ')],
        "cntrl" => &[('\0', '\x1f'), ('\x7f', '\x7f')],
        "digit" => &[('0', '9')],
        "graph" => &[('!', '~')],
        "lower" => &[('a', 'z')],
        "print" => &[(' ', '~')],
        "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "space" => &[('\t', '\r'), (' ', ' ')],
        "upper" => &[('A', 'Z')],
        "word" => WORD,
        "xdigit" => &[('0', '9'), ('A', 'F'), ('a', 'f')],
        _ => return None,
    };
    Some(ascii_class(ranges, bare.is_some(), fold))
}

fn ascii_class(ranges: &[(char, char)], negated: bool, fold: bool) -> ClassUnicode {
    let mut class = ClassUnicode::new(
        ranges
            .iter()
            .map(|(low, high)| ClassUnicodeRange::new(*low, *high)),
    );
    if fold {
        unicode::fold_case(&mut class);
    }
    if negated {
        unicode::negate(&mut class);
    }
    class
}
