//! Where `go.yaml.in/yaml/v2` reads a text differently from the parser, which reads YAML 1.2.

/// The message for a tab in the indentation of a line.
pub(super) const TAB: &str = "a tab must not be used as indentation";

/// Why kubectl reads a text without quotes differently, or not at all; `None` if it reads the same text.
pub(super) fn misread(text: &str, is_in_brackets: bool) -> Option<String> {
    let is_break = |c: &char| matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}');
    if let Some(c) = text.chars().find(is_break) {
        let c = c.escape_unicode();
        Some(format!(
            "a text with {c} must be in quotes: kubectl takes it for a line break"
        ))
    } else if is_in_brackets && (text.starts_with(':') || text.contains('?')) {
        let message = "this text must be in quotes: kubectl cannot read it within brackets";
        Some(message.to_owned())
    } else {
        None
    }
}

/// Whether a text without quotes within brackets ends with the colon that begins `behind`, as in `[001:db8::]`. The parser takes such a
/// colon for the end of a key; upstream requires a blank behind it.
pub(super) fn ends_with_colon(behind: &str) -> bool {
    let behind = behind.strip_prefix(':');
    behind.is_some_and(|behind| behind.starts_with([',', ']', '}']))
}

/// Whether a key within brackets and its colon are not on one line. `above` is the text in front of the key, `behind` the text behind it.
/// A key behind `?` may have several lines.
pub(super) fn is_key_of_several_lines(above: &str, key: &str, behind: &str) -> bool {
    let mut colon = behind.trim_start();
    while colon.starts_with('#') {
        let (_, below) = colon.split_once('\n').unwrap_or_default();
        colon = below.trim_start();
    }
    let gap = behind.strip_suffix(colon).unwrap_or_default();
    colon.starts_with(':')
        && !ends_with_colon(behind)
        && (key.contains('\n') || gap.contains('\n'))
        && !above.trim_end().ends_with('?')
}

/// The first escape of a text in double quotes that JSON has, but not YAML 1.1: `\/`, or half of a pair of surrogates.
pub(super) fn json_escape(text: &str) -> Option<String> {
    let mut escapes = text.split('\\').skip(1);
    while let Some(escape) = escapes.next() {
        if escape.is_empty() {
            // An escaped backslash.
            escapes.next();
            continue;
        }
        let code: String = escape.chars().take(5).collect();
        let code = code.to_ascii_lowercase();
        if code.starts_with('/') {
            return Some("\\/".to_owned());
        }
        if code.starts_with("ud") && code.get(2..3) >= Some("8") {
            return Some(format!("\\{code}"));
        }
    }
    None
}

/// The first tab in the indentation of a line between two tokens that are not within brackets: the number of lines from it to the end, and
/// its column, from 0. `gap` is the text between the tokens; it may begin in the middle of a line. If the first token is a text without
/// quotes, blank lines below it may have tabs from the column `tabs_from` on.
pub(super) fn tab_in_indentation(
    gap: &str,
    begins_line: bool,
    tabs_from: Option<u32>,
) -> Option<(usize, usize)> {
    let last = gap.matches('\n').count();
    let below = gap.trim_start().matches('\n').count();
    let blank_lines = last.saturating_sub(below);
    let lines = gap.split('\n').enumerate().skip((!begins_line).into());
    let mut tabs = lines.filter_map(|(n, line)| {
        let is_last = n == last;
        let is_indicator = |c: char| is_last && matches!(c, '-' | '?' | ':');
        let rest = line.trim_start_matches(|c| matches!(c, ' ' | '\t') || is_indicator(c));
        let indentation = line.strip_suffix(rest).unwrap_or_default();
        let column = indentation.find('\t')?;
        let is_blank = n <= blank_lines && !is_last;
        let is_allowed = is_blank
            && tabs_from
                .is_some_and(|from| u32::try_from(column).is_ok_and(|column| column >= from));
        (!is_allowed).then_some((last.saturating_sub(n), column))
    });
    tabs.next()
}

/// Whether a text in block style has a tab that kubectl takes for indentation: a tab in front of the column of the text, or a tab at its
/// beginning if the line of `|` or `>` does not tell the column. `source` is the text as it is written, `above` is the part of the file
/// above it, and `column` counts from 0.
pub(super) fn has_tab_in_indentation(text: &str, source: &str, above: &str, column: usize) -> bool {
    let header = above.trim_end().lines().next_back().unwrap_or_default();
    let header = header.split(" #").next().unwrap_or_default().trim_end();
    let tells_column = header
        .trim_end_matches(['+', '-'])
        .ends_with(|c: char| c.is_ascii_digit());
    let begins_with_tab = text.trim_start_matches('\n').starts_with('\t');
    let mut below = source.lines().skip(1);
    begins_with_tab && !tells_column
        || below.any(|line| line.bytes().take(column).find(|byte| *byte != b' ') == Some(b'\t'))
}
