//! Go's regular expressions (`regexp`, `regexp/syntax`): RE2's syntax and semantics, with Go's error messages.
//!
//! This module parses a pattern by Go's rules into the syntax tree of regex-syntax. regex-automata compiles the tree and searches texts.
//! If its automaton would be too large or the tree is too deep, a virtual machine like Go's runs the pattern; it is slower and needs
//! little memory. Both take time linear in the length of the text. Texts are valid UTF-8.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

mod automaton;
mod class;
mod error;
mod escape;
mod limits;
mod machine;
mod node;
mod parse;
mod program;
mod stepping;
mod table;
mod tree;

pub use error::RegexError;

use crate::work::{Interrupted, Work};
use automaton::Automaton;
use machine::NOWHERE;
use parse::Parsed;
use program::Program;
use stepping::Reached;

/// The size limit, in instructions, of patterns that are compiled only when they are first used. Compiling a pattern of this size cannot
/// fail.
const MAX_DEFERRED: u64 = 1000;

/// A compiled regular expression.
#[derive(Debug, Clone)]
pub struct Regex {
    search: Arc<Search>,
    groups: usize,
}

#[derive(Debug)]
struct Search {
    /// The pattern, if the first search compiles it; otherwise empty.
    pattern: Box<str>,
    matcher: OnceLock<Matcher>,
}

#[derive(Debug)]
enum Matcher {
    Automaton(Box<Automaton>),
    Machine(Program),
}

impl Regex {
    /// Compiles a pattern for [`is_match`](Self::is_match) and [`find_iter`](Self::find_iter).
    ///
    /// # Errors
    ///
    /// The pattern is invalid.
    pub fn new(pattern: &str) -> Result<Regex, RegexError> {
        Regex::compile(pattern, false, &Work::unbounded())
    }

    /// Like [`new`](Self::new), but counts its work in `work`, which can interrupt the call.
    ///
    /// # Errors
    ///
    /// The pattern is invalid, or the work was interrupted.
    pub fn new_within(pattern: &str, work: &Work<'_>) -> Result<Regex, RegexError> {
        Regex::compile(pattern, false, work)
    }

    /// Compiles a pattern for [`captures_iter`](Self::captures_iter), which also returns the matches of the pattern's groups.
    ///
    /// # Errors
    ///
    /// The pattern is invalid.
    pub fn with_groups(pattern: &str) -> Result<Regex, RegexError> {
        Regex::compile(pattern, true, &Work::unbounded())
    }

    /// Checks whether Go accepts the pattern, without compiling it.
    ///
    /// # Errors
    ///
    /// The pattern is invalid.
    pub fn validate(pattern: &str) -> Result<(), RegexError> {
        parse::parse::<()>(pattern, false, &Work::unbounded()).map(|_| ())
    }

    /// Like [`new`](Self::new), but the first search compiles the pattern, unless the pattern is large.
    ///
    /// # Errors
    ///
    /// The pattern is invalid.
    pub fn deferred(pattern: &str) -> Result<Regex, RegexError> {
        let work = Work::unbounded();
        let parsed = parse::parse::<()>(pattern, false, &work)?;
        if parsed.size > MAX_DEFERRED {
            return Regex::compile(pattern, false, &work);
        }
        Ok(Regex {
            search: Arc::new(Search {
                pattern: pattern.into(),
                matcher: OnceLock::new(),
            }),
            groups: parsed.groups,
        })
    }

    fn compile(pattern: &str, keep_groups: bool, work: &Work<'_>) -> Result<Regex, RegexError> {
        let parsed = parse::parse(pattern, keep_groups, work)?;
        let matcher = Matcher::new(&parsed, pattern, keep_groups, work)?;
        Ok(Regex {
            search: Arc::new(Search::from(matcher)),
            groups: parsed.groups,
        })
    }

    fn matcher(&self) -> &Matcher {
        let Search { pattern, matcher } = &*self.search;
        matcher.get_or_init(|| {
            let work = Work::unbounded();
            parse::parse(pattern, false, &work)
                .and_then(|parsed| {
                    let matcher = Matcher::new(&parsed, pattern, false, &work)?;
                    Ok(matcher.with_table(&parsed))
                })
                .unwrap_or_else(|_| Matcher::Machine(Program::fail()))
        })
    }

    /// Whether the pattern matches anywhere in the text.
    pub fn is_match(&self, text: &str) -> bool {
        self.matches_within(text, &Work::unbounded())
            .is_ok_and(|matches| matches)
    }

    /// Whether the pattern matches anywhere in the text.
    ///
    /// # Errors
    ///
    /// The work is interrupted.
    pub fn matches_within(&self, text: &str, work: &Work<'_>) -> Result<bool, Interrupted> {
        match self.matcher() {
            Matcher::Automaton(automaton) => automaton.is_match(text, work),
            Matcher::Machine(program) => Ok(program.search(text, 0, 0, work)?.is_some()),
        }
    }

    /// The first match, as a range of bytes.
    ///
    /// # Errors
    ///
    /// The work is interrupted.
    pub fn find(&self, text: &str, work: &Work<'_>) -> Result<Option<Range<usize>>, Interrupted> {
        self.find_at(text, 0, &mut None, work)
    }

    fn find_at(
        &self,
        text: &str,
        start: usize,
        reached: &mut Option<Reached>,
        work: &Work<'_>,
    ) -> Result<Option<Range<usize>>, Interrupted> {
        match self.matcher() {
            Matcher::Automaton(automaton) => automaton.find(text, start, reached, work),
            Matcher::Machine(program) => {
                let slots = program.search(text, start, 2, work)?;
                Ok(slots.and_then(|slots| range(&slots)))
            }
        }
    }

    /// The matches that Go's `FindAll` returns, from left to right. An empty match that directly follows another match is skipped. If the
    /// work is interrupted, the last item is an error.
    pub fn find_iter<'t>(
        &'t self,
        text: &'t str,
        work: &'t Work<'t>,
    ) -> impl Iterator<Item = Result<Range<usize>, Interrupted>> + 't {
        let mut reached = None;
        let search = move |start| self.find_at(text, start, &mut reached, work);
        matches(text, search, Range::clone)
    }

    /// The matches of [`find_iter`](Self::find_iter), each as the ranges that its groups matched; the first range is the whole match. The
    /// pattern must be compiled by [`with_groups`](Self::with_groups).
    pub fn captures_iter<'t>(
        &'t self,
        text: &'t str,
        work: &'t Work<'t>,
    ) -> impl Iterator<Item = Result<Groups, Interrupted>> + 't {
        let whole = |groups: &Groups| groups.first().cloned().flatten().unwrap_or_default();
        let slots = self.groups.saturating_add(1).saturating_mul(2);
        let search = move |start| match self.matcher() {
            Matcher::Automaton(automaton) => automaton.captures(text, start, self.groups, work),
            Matcher::Machine(program) => {
                let slots = program.search(text, start, slots, work)?;
                Ok(slots.map(|slots| slots.chunks(2).map(range).collect()))
            }
        };
        matches(text, search, whole)
    }
}

impl Matcher {
    fn new(
        parsed: &Parsed,
        pattern: &str,
        keep_groups: bool,
        work: &Work<'_>,
    ) -> Result<Self, RegexError> {
        Ok(match Automaton::new(pattern, parsed, keep_groups) {
            Some(automaton) => Matcher::Automaton(Box::new(automaton)),
            None => Matcher::Machine(Program::compile(&parsed.tree, work)?),
        })
    }

    /// Adds a table of all states, which makes tests of short texts faster.
    fn with_table(self, parsed: &Parsed) -> Self {
        match self {
            Matcher::Automaton(automaton) => {
                Matcher::Automaton(Box::new(automaton.with_table(parsed)))
            }
            machine => machine,
        }
    }
}

impl From<Matcher> for Search {
    fn from(matcher: Matcher) -> Self {
        Search {
            pattern: Box::default(),
            matcher: matcher.into(),
        }
    }
}

/// The ranges that a pattern's groups matched; `None` for a group that did not match.
pub type Groups = Vec<Option<Range<usize>>>;

/// The range between the two positions of a group; `None` if the group did not match.
fn range(slots: &[usize]) -> Option<Range<usize>> {
    match slots {
        [start, end] if *start != NOWHERE && *end != NOWHERE => Some(*start..*end),
        _ => None,
    }
}

/// Repeats a search as Go does. After an empty match at the start of a search, the next search begins one character later. The empty match
/// is skipped if the previous match ended at its position.
fn matches<'t, M>(
    text: &'t str,
    mut search: impl FnMut(usize) -> Result<Option<M>, Interrupted> + 't,
    range: impl Fn(&M) -> Range<usize> + 't,
) -> impl Iterator<Item = Result<M, Interrupted>> + 't {
    let mut position = Some(0);
    let mut previous_end = None;
    std::iter::from_fn(move || {
        loop {
            let start = position?;
            let found = match search(start) {
                Ok(found) => found?,
                Err(interrupted) => {
                    position = None;
                    return Some(Err(interrupted));
                }
            };
            let Range {
                start: found_start,
                end,
            } = range(&found);
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
                return Some(Ok(found));
            }
        }
    })
}

/// The part of `whole` that was read: everything before `rest`, the unread end of `whole`.
fn consumed<'t>(whole: &'t str, rest: &str) -> &'t str {
    whole
        .get(..whole.len().saturating_sub(rest.len()))
        .unwrap_or(whole)
}

#[cfg(test)]
mod tests;
