//! Go's regular expressions (`regexp`, `regexp/syntax`): RE2's syntax and meaning, Go's error texts.
//!
//! A pattern is read by Go's rules into regex-syntax's intermediate form. regex-automata searches with it, but for
//! patterns so large or deep that its automata would not pay: those run on a machine in Go's manner, slower and small.
//! Both take time linear in the text. Texts are valid UTF-8.

use std::ops::Range;
use std::sync::Arc;

use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::{Input, meta};
use regex_syntax::hir::Look;

mod class;
mod error;
mod escape;
mod limits;
mod machine;
mod node;
mod parse;
mod program;

pub use error::RegexError;

use machine::NOWHERE;
use parse::Parsed;
use program::Program;

/// The most memory in bytes of an automaton, which takes about 50 ms to build. Patterns that people write take some
/// kilobytes; `\pL{1000}`, as large as a pattern of a few characters can be, would take 15 MB.
const MAX_AUTOMATON_BYTES: usize = 1 << 20;
/// The most levels of a pattern with an automaton. Its construction is recursive.
const MAX_AUTOMATON_HEIGHT: u32 = 100;

/// A compiled regular expression.
#[derive(Debug, Clone)]
pub struct Regex {
    matcher: Matcher,
    groups: usize,
}

#[derive(Debug, Clone)]
enum Matcher {
    Automaton {
        regex: meta::Regex,
        /// Whether `\B` occurs, which also matches within the bytes of a character.
        splits_characters: bool,
    },
    Machine(Arc<Program>),
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
        let matcher = match automaton(&parsed, keep_groups) {
            Some(matcher) => matcher,
            None => Matcher::Machine(Arc::new(Program::compile(&parsed.hir)?)),
        };
        Ok(Regex {
            matcher,
            groups: parsed.groups,
        })
    }

    /// Whether the pattern matches anywhere in the text.
    pub fn is_match(&self, text: &str) -> bool {
        match &self.matcher {
            // The quick search stops within a character and then misses matches that are not.
            Matcher::Automaton {
                regex,
                splits_characters: false,
            } => regex.is_match(text),
            Matcher::Automaton { regex, .. } => regex.find(text).is_some(),
            Matcher::Machine(program) => program.search(text, 0, 0).is_some(),
        }
    }

    /// The first match, as a range of bytes.
    pub fn find(&self, text: &str) -> Option<Range<usize>> {
        self.find_at(text, 0)
    }

    fn find_at(&self, text: &str, start: usize) -> Option<Range<usize>> {
        match &self.matcher {
            Matcher::Automaton { regex, .. } => regex
                .find(Input::new(text).range(start..))
                .map(|found| found.range()),
            Matcher::Machine(program) => range(program.search(text, start, 2)?.as_slice()),
        }
    }

    /// The matches that Go's `FindAll` finds, from left to right: an empty one does not directly follow another.
    pub fn find_iter<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
        matches(text, |start| self.find_at(text, start), Range::clone)
    }

    /// The number of groups that capture.
    pub fn group_count(&self) -> usize {
        self.groups
    }

    /// The matches of [`find_iter`](Self::find_iter), each with the ranges of what its groups matched; the first is the
    /// whole match. Needs a pattern compiled by [`with_groups`](Self::with_groups).
    pub fn captures_iter<'t>(
        &'t self,
        text: &'t str,
    ) -> impl Iterator<Item = Vec<Option<Range<usize>>>> + 't {
        let whole = |groups: &Vec<Option<Range<usize>>>| {
            groups.first().cloned().flatten().unwrap_or_default()
        };
        matches(text, |start| self.captures_at(text, start), whole)
    }

    fn captures_at(&self, text: &str, start: usize) -> Option<Vec<Option<Range<usize>>>> {
        match &self.matcher {
            Matcher::Automaton { regex, .. } => {
                let mut captures = regex.create_captures();
                regex.captures(Input::new(text).range(start..), &mut captures);
                let group = |index| captures.get_group(index).map(|span| span.range());
                captures
                    .is_match()
                    .then(|| (0..=self.groups).map(group).collect())
            }
            Matcher::Machine(program) => {
                let slots = self.groups.saturating_add(1).saturating_mul(2);
                Some(
                    program
                        .search(text, start, slots)?
                        .chunks(2)
                        .map(range)
                        .collect(),
                )
            }
        }
    }
}

/// Builds an automaton unless it would be too large.
fn automaton(parsed: &Parsed, keep_groups: bool) -> Option<Matcher> {
    if parsed.height > MAX_AUTOMATON_HEIGHT {
        return None;
    }
    let captures = if keep_groups {
        WhichCaptures::All
    } else {
        WhichCaptures::Implicit
    };
    let config = meta::Config::new()
        .nfa_size_limit(Some(MAX_AUTOMATON_BYTES))
        .which_captures(captures);
    let regex = meta::Builder::new()
        .configure(config)
        .build_from_hir(&parsed.hir)
        .ok()?;
    let splits_characters = parsed
        .hir
        .properties()
        .look_set()
        .contains(Look::WordAsciiNegate);
    Some(Matcher::Automaton {
        regex,
        splits_characters,
    })
}

/// What a group matched, by its two positions.
fn range(slots: &[usize]) -> Option<Range<usize>> {
    match slots {
        [start, end] if *start != NOWHERE && *end != NOWHERE => Some(*start..*end),
        _ => None,
    }
}

/// Repeats a search as Go does: an empty match where the search began moves on by a character, and does not count where
/// the match before it ended.
fn matches<'t, M>(
    text: &'t str,
    search: impl Fn(usize) -> Option<M> + 't,
    range: impl Fn(&M) -> Range<usize> + 't,
) -> impl Iterator<Item = M> + 't {
    let mut position = Some(0);
    let mut previous_end = None;
    std::iter::from_fn(move || {
        loop {
            let start = position?;
            let found = search(start);
            let Range {
                start: found_start,
                end,
            } = found.as_ref().map(&range)?;
            let counts = if end == start {
                position = text
                    .get(start..)
                    .and_then(|rest| rest.chars().next())
                    .map(|c| start.saturating_add(c.len_utf8()));
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
    whole
        .get(..whole.len().saturating_sub(rest.len()))
        .unwrap_or(whole)
}

#[cfg(test)]
mod tests;
