//! Go's regular expressions (`regexp`, `regexp/syntax`): RE2's syntax and meaning, Go's error texts.
//!
//! A pattern is read by Go's rules into regex-syntax's intermediate form, and regex-automata searches with it, in time
//! linear in the text. Texts are valid UTF-8.

use std::ops::Range;

use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::{Input, meta};
use regex_syntax::hir::Look;

mod class;
mod error;
mod escape;
mod limits;
mod node;
mod parse;

pub use error::RegexError;

/// The most memory in bytes of one automaton of a pattern. Patterns that people write take some kilobytes;
/// `\pL{1000}`, as large as a pattern of a few characters can be, takes about 20 MB.
const MAX_AUTOMATON_BYTES: usize = 64 << 20;

/// A compiled regular expression.
#[derive(Debug, Clone)]
pub struct Regex {
    regex: meta::Regex,
    groups: usize,
    /// Whether `\B` occurs, which also matches within the bytes of a character.
    splits_characters: bool,
}

impl Regex {
    /// Compiles a pattern for [`is_match`](Self::is_match) and [`find_iter`](Self::find_iter).
    pub fn new(pattern: &str) -> Result<Regex, RegexError> {
        Regex::compile(pattern, false)
    }

    /// Compiles a pattern whose groups are of interest, see [`captures_iter`](Self::captures_iter).
    pub fn with_groups(pattern: &str) -> Result<Regex, RegexError> {
        Regex::compile(pattern, true)
    }

    /// Whether Go takes the pattern, without compiling it.
    pub fn validate(pattern: &str) -> Result<(), RegexError> {
        parse::parse(pattern, false).map(|_| ())
    }

    fn compile(pattern: &str, keep_groups: bool) -> Result<Regex, RegexError> {
        let parsed = parse::parse(pattern, keep_groups)?;
        if parsed.height > 100 {
            return Err(RegexError::too_much_memory());
        }
        let captures = if keep_groups { WhichCaptures::All } else { WhichCaptures::Implicit };
        let config = meta::Config::new().nfa_size_limit(Some(MAX_AUTOMATON_BYTES)).which_captures(captures);
        let built = meta::Builder::new().configure(config).build_from_hir(&parsed.hir);
        let splits_characters = parsed.hir.properties().look_set().contains(Look::WordAsciiNegate);
        built
            .map(|regex| Regex { regex, groups: parsed.groups, splits_characters })
            .map_err(|_| RegexError::too_much_memory())
    }

    /// Whether the pattern matches anywhere in the text.
    pub fn is_match(&self, text: &str) -> bool {
        // The quick search stops within a character and then misses matches that are not.
        if self.splits_characters { self.find(text).is_some() } else { self.regex.is_match(text) }
    }

    /// The first match, as a range of bytes.
    pub fn find(&self, text: &str) -> Option<Range<usize>> {
        self.regex.find(text).map(|found| found.range())
    }

    /// The matches that Go's `FindAll` finds, from left to right: an empty one does not directly follow another.
    pub fn find_iter<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
        matches(text, |input| self.regex.find(input).map(|found| found.range()), Range::clone)
    }

    /// The number of groups that capture.
    pub fn group_count(&self) -> usize {
        self.groups
    }

    /// The matches of [`find_iter`](Self::find_iter), each with the ranges of what its groups matched; the first is the
    /// whole match. Needs a pattern compiled by [`with_groups`](Self::with_groups).
    pub fn captures_iter<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Vec<Option<Range<usize>>>> + 't {
        let mut captures = self.regex.create_captures();
        let search = move |input| {
            self.regex.captures(input, &mut captures);
            let group = |index| captures.get_group(index).map(|span| span.range());
            captures.is_match().then(|| (0..=self.groups).map(group).collect::<Vec<_>>())
        };
        matches(text, search, |groups| groups.first().cloned().flatten().unwrap_or_default())
    }
}

/// Repeats a search as Go does: an empty match where the search began moves on by a character, and does not count where
/// the match before it ended.
fn matches<'t, M>(
    text: &'t str,
    mut search: impl FnMut(Input<'t>) -> Option<M> + 't,
    range: impl Fn(&M) -> Range<usize> + 't,
) -> impl Iterator<Item = M> + 't {
    let mut position = Some(0);
    let mut previous_end = None;
    std::iter::from_fn(move || {
        loop {
            let start = position?;
            let found = search(Input::new(text).range(start..));
            let Range { start: found_start, end } = found.as_ref().map(&range)?;
            let counts = if end == start {
                position =
                    text.get(start..).and_then(|rest| rest.chars().next()).map(|c| start.saturating_add(c.len_utf8()));
                previous_end != Some(found_start)
            } else {
                position = Some(end);
                true
            };
            previous_end = Some(end);
            if counts {
                return found;
            }
        }
    })
}

/// What of a text was read, by what is left of it.
fn consumed<'t>(whole: &'t str, rest: &str) -> &'t str {
    whole.get(..whole.len().saturating_sub(rest.len())).unwrap_or(whole)
}

#[cfg(test)]
mod tests;
