//! The words of a label selector.

/// The kind of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    End,
    ClosedParenthesis,
    Comma,
    Not,
    DoubleEquals,
    Equals,
    Greater,
    Identifier,
    In,
    Less,
    NotEquals,
    NotIn,
    OpenParenthesis,
}

/// Splits a selector into words; the last word is [`Token::End`]. A NUL ends a word, and at the start of a word it ends the selector.
pub(super) fn words(text: &str) -> Vec<(Token, &str)> {
    let mut words = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(is_space);
        let (word, after) = match rest.chars().next() {
            None | Some('\0') => break,
            Some(c) if is_symbol(c) => {
                let double = matches!(rest.get(..2), Some("==" | "!="));
                rest.split_at_checked(if double { 2 } else { 1 })
            }
            Some(_) => {
                let end = rest.find(|c| is_symbol(c) || is_space(c) || c == '\0');
                rest.split_at_checked(end.unwrap_or(rest.len()))
            }
        }
        .unwrap_or((rest, ""));
        words.push((token(word), word));
        rest = after.strip_prefix('\0').unwrap_or(after);
    }
    words.push((Token::End, ""));
    words
}

fn token(word: &str) -> Token {
    match word {
        ")" => Token::ClosedParenthesis,
        "," => Token::Comma,
        "!" => Token::Not,
        "==" => Token::DoubleEquals,
        "=" => Token::Equals,
        ">" => Token::Greater,
        "in" => Token::In,
        "<" => Token::Less,
        "!=" => Token::NotEquals,
        "notin" => Token::NotIn,
        "(" => Token::OpenParenthesis,
        _ => Token::Identifier,
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn is_symbol(c: char) -> bool {
    matches!(c, '=' | '!' | '(' | ')' | ',' | '>' | '<')
}
