//! Searches long texts in pieces, so that a search can be interrupted. The automata build each state when a search first reaches it. The
//! results are the same as those of a search in one step.

use std::ops::Range;

use regex_automata::hybrid::dfa::{self, Cache, DFA};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::Hir;

use crate::work::{Interrupted, Work};

/// The units of work that are counted for one piece of a text. A piece is so short that its search takes no more units, even if each
/// byte leads to a new state.
const WORK_PER_STEP: usize = 1 << 16;

/// The automata for both directions: forward to the end of a match, and backward to its beginning.
#[derive(Debug)]
pub(super) struct Stepping {
    forward: DFA,
    backward: DFA,
    bytes_per_step: usize,
}

/// The states that searches have reached so far.
#[derive(Debug)]
pub(super) struct Reached {
    forward: Cache,
    backward: Cache,
}

/// Why a search has no result.
pub(super) enum Failure {
    Interrupted,
    /// The automata cannot search for this pattern.
    Unsupported,
}

impl From<Interrupted> for Failure {
    fn from(_: Interrupted) -> Self {
        Failure::Interrupted
    }
}

impl Stepping {
    /// Builds the automata for a parsed pattern; `None` if they would be too large.
    pub(super) fn new(hir: &Hir, most_bytes: usize) -> Option<Stepping> {
        let forward = automaton(hir, most_bytes, MatchKind::LeftmostFirst, false)?;
        let backward = automaton(hir, most_bytes, MatchKind::All, true)?;
        let states = forward.get_nfa().states().len().max(1);
        Some(Stepping {
            forward,
            backward,
            bytes_per_step: WORK_PER_STEP.checked_div(states).unwrap_or(1).max(1),
        })
    }

    /// Creates empty caches of states.
    pub(super) fn start(&self) -> Reached {
        Reached {
            forward: self.forward.create_cache(),
            backward: self.backward.create_cache(),
        }
    }

    /// The first match that begins at byte `start` or later.
    pub(super) fn find(
        &self,
        reached: &mut Reached,
        text: &str,
        start: usize,
        work: &Work<'_>,
    ) -> Result<Option<Range<usize>>, Failure> {
        let Some(end) = self.find_end(&mut reached.forward, text, start, false, work)? else {
            return Ok(None);
        };
        let begin = self.find_begin(&mut reached.backward, text, start..end, work)?;
        Ok(Some(begin..end))
    }

    /// Whether the pattern matches anywhere in the text.
    pub(super) fn is_match(
        &self,
        reached: &mut Reached,
        text: &str,
        work: &Work<'_>,
    ) -> Result<bool, Failure> {
        let end = self.find_end(&mut reached.forward, text, 0, true, work)?;
        Ok(end.is_some())
    }

    /// The end of the first match or, with `any_is_enough`, of any match.
    fn find_end(
        &self,
        cache: &mut Cache,
        text: &str,
        start: usize,
        any_is_enough: bool,
        work: &Work<'_>,
    ) -> Result<Option<usize>, Failure> {
        let dfa = &self.forward;
        let input = Input::new(text).range(start..);
        let mut state = dfa
            .start_state_forward(cache, &input)
            .map_err(|_| Failure::Unsupported)?;
        let mut end = None;
        let mut at = start;
        let rest = text.as_bytes().get(start..).unwrap_or_default();
        for step in rest.chunks(self.bytes_per_step) {
            work.spend(WORK_PER_STEP)?;
            for byte in step {
                state = dfa
                    .next_state(cache, state, *byte)
                    .map_err(|_| Failure::Unsupported)?;
                // The automaton reports a match one byte after its end.
                if state.is_tagged() {
                    if state.is_match() {
                        end = Some(at);
                        if any_is_enough {
                            return Ok(end);
                        }
                    } else if state.is_dead() {
                        return Ok(end);
                    } else if state.is_quit() {
                        return Err(Failure::Unsupported);
                    }
                }
                at = at.saturating_add(1);
            }
        }
        let last = dfa
            .next_eoi_state(cache, state)
            .map_err(|_| Failure::Unsupported)?;
        Ok(if last.is_match() { Some(at) } else { end })
    }

    /// The start of the longest match that lies in the range and ends where the range ends.
    fn find_begin(
        &self,
        cache: &mut Cache,
        text: &str,
        range: Range<usize>,
        work: &Work<'_>,
    ) -> Result<usize, Failure> {
        let dfa = &self.backward;
        let input = Input::new(text)
            .range(range.clone())
            .anchored(Anchored::Yes);
        let mut state = dfa
            .start_state_reverse(cache, &input)
            .map_err(|_| Failure::Unsupported)?;
        let mut begin = range.end;
        let mut at = range.end;
        let (before, matched) = text
            .as_bytes()
            .get(..range.end)
            .and_then(|text| text.split_at_checked(range.start))
            .unwrap_or_default();
        for step in matched.rchunks(self.bytes_per_step) {
            work.spend(WORK_PER_STEP)?;
            for byte in step.iter().rev() {
                state = dfa
                    .next_state(cache, state, *byte)
                    .map_err(|_| Failure::Unsupported)?;
                if state.is_tagged() {
                    if state.is_match() {
                        begin = at;
                    } else if state.is_dead() {
                        return Ok(begin);
                    } else if state.is_quit() {
                        return Err(Failure::Unsupported);
                    }
                }
                at = at.saturating_sub(1);
            }
        }
        let last = match before.last() {
            Some(byte) => dfa.next_state(cache, state, *byte),
            None => dfa.next_eoi_state(cache, state),
        };
        let last = last.map_err(|_| Failure::Unsupported)?;
        Ok(if last.is_match() { range.start } else { begin })
    }
}

fn automaton(hir: &Hir, most_bytes: usize, kind: MatchKind, reverse: bool) -> Option<DFA> {
    let config = thompson::Config::new()
        .reverse(reverse)
        .which_captures(WhichCaptures::None)
        .nfa_size_limit(Some(most_bytes));
    let nfa = thompson::Compiler::new()
        .configure(config)
        .build_from_hir(hir)
        .ok()?;
    let config = dfa::Config::new()
        .match_kind(kind)
        .skip_cache_capacity_check(true);
    dfa::Builder::new()
        .configure(config)
        .build_from_nfa(nfa)
        .ok()
}
