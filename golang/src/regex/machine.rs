//! Runs a [`Program`] over a text as Go does (`regexp/exec.go`): it follows all possible matches at the same time, character by character.

use regex_syntax::hir::Look;

use super::program::{Instruction, Program};
use crate::work::{Interrupted, Work};

/// The units of work for following an instruction and for comparing it with a character.
const WORK_PER_INSTRUCTION: usize = 32;

/// The position of a group that has not matched.
pub(super) const NOWHERE: usize = usize::MAX;

impl Program {
    /// Finds the first match that begins at byte `start` or later. Returns the starts and ends of `slots / 2` groups; `None` if there is no
    /// match. If `slots` is 0, any match is enough. Assertions also see the text before `start`.
    pub(super) fn search(
        &self,
        text: &str,
        start: usize,
        slots: usize,
        work: &Work<'_>,
    ) -> Result<Option<Vec<usize>>, Interrupted> {
        work.spend(self.instructions.len())?;
        let mut current = Threads::new(self.instructions.len(), slots);
        let mut next = Threads::new(self.instructions.len(), slots);
        let mut scratch = Scratch {
            slots: vec![NOWHERE; slots],
            steps: Vec::new(),
        };
        let mut found: Option<Vec<usize>> = None;
        let mut position = start;
        let mut rest = text.get(start..).unwrap_or_default().chars();
        loop {
            if found.is_none() {
                scratch.slots.fill(NOWHERE);
                self.follow(0, text, position, &mut current, &mut scratch, work)?;
            } else if current.instructions.is_empty() {
                return Ok(found);
            }
            let c = rest.next();
            let after = c.map_or(position, |c| position.saturating_add(c.len_utf8()));
            for (thread, at) in current.instructions.iter().enumerate() {
                let steps = match self.instruction(*at) {
                    // Later threads in the list have lower priority than this match.
                    Instruction::Match => {
                        if slots == 0 {
                            return Ok(Some(Vec::new()));
                        }
                        found = Some(current.slots(thread).to_vec());
                        break;
                    }
                    Instruction::Char(expected) => c == Some(expected),
                    Instruction::Class(class) => c.is_some_and(|c| self.holds(class, c)),
                    _ => false,
                };
                if steps {
                    scratch.slots.clear();
                    scratch.slots.extend_from_slice(current.slots(thread));
                    let at = at.saturating_add(1);
                    self.follow(at, text, after, &mut next, &mut scratch, work)?;
                }
            }
            if c.is_none() {
                return Ok(found);
            }
            position = after;
            std::mem::swap(&mut current, &mut next);
            next.clear();
        }
    }

    fn instruction(&self, at: u32) -> Instruction {
        usize::try_from(at)
            .ok()
            .and_then(|at| self.instructions.get(at))
            .copied()
            .unwrap_or(Instruction::Fail)
    }

    fn holds(&self, class: u32, c: char) -> bool {
        let ranges = usize::try_from(class)
            .ok()
            .and_then(|class| self.classes.get(class));
        ranges.is_some_and(|ranges| {
            let index = ranges.partition_point(|(_, high)| *high < c);
            ranges.get(index).is_some_and(|(low, _)| *low <= c)
        })
    }

    /// Adds the threads that an instruction reaches without reading a character, in order of priority.
    fn follow(
        &self,
        at: u32,
        text: &str,
        position: usize,
        threads: &mut Threads,
        scratch: &mut Scratch,
        work: &Work<'_>,
    ) -> Result<(), Interrupted> {
        scratch.steps.push(Step::Visit(at));
        while let Some(step) = scratch.steps.pop() {
            let mut at = match step {
                Step::Visit(at) => at,
                Step::Restore { slot, position } => {
                    if let Some(slot) = scratch.slots.get_mut(slot) {
                        *slot = position;
                    }
                    continue;
                }
            };
            while threads.enter(at) {
                work.spend(WORK_PER_INSTRUCTION)?;
                match self.instruction(at) {
                    Instruction::Jump(target) => at = target,
                    Instruction::Split(first, second) => {
                        scratch.steps.push(Step::Visit(second));
                        at = first;
                    }
                    Instruction::Look(look) if !looks(look, text, position) => break,
                    Instruction::Look(_) => at = at.saturating_add(1),
                    Instruction::Save(slot) => {
                        let slot = usize::try_from(slot).unwrap_or(usize::MAX);
                        if let Some(old) = scratch.slots.get_mut(slot) {
                            scratch.steps.push(Step::Restore {
                                slot,
                                position: *old,
                            });
                            *old = position;
                        }
                        at = at.saturating_add(1);
                    }
                    _ => {
                        threads.keep(at, &scratch.slots);
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

/// A pending step of `follow`.
enum Step {
    Visit(u32),
    /// Restores the position of a group before the next alternative is followed.
    Restore {
        slot: usize,
        position: usize,
    },
}

/// The buffers of `follow`, reused between calls.
struct Scratch {
    slots: Vec<usize>,
    steps: Vec<Step>,
}

/// The threads at one position of the text, in order of priority, and the instructions that were visited to find these threads.
struct Threads {
    instructions: Vec<u32>,
    /// The positions of the groups of all threads; each thread has `slots_each` of them.
    slots: Vec<usize>,
    slots_each: usize,
    visited: Vec<u32>,
    /// For each instruction that was visited, its index in `visited`.
    places: Vec<u32>,
}

impl Threads {
    fn new(instructions: usize, slots_each: usize) -> Self {
        Threads {
            instructions: Vec::new(),
            slots: Vec::new(),
            slots_each,
            visited: Vec::new(),
            places: vec![0; instructions],
        }
    }

    fn clear(&mut self) {
        self.instructions.clear();
        self.slots.clear();
        self.visited.clear();
    }

    fn slots(&self, thread: usize) -> &[usize] {
        let start = thread.saturating_mul(self.slots_each);
        self.slots
            .get(start..start.saturating_add(self.slots_each))
            .unwrap_or_default()
    }

    /// Records a visit to an instruction; returns whether this visit is the first.
    fn enter(&mut self, at: u32) -> bool {
        let Some(place) = usize::try_from(at)
            .ok()
            .and_then(|at| self.places.get_mut(at))
        else {
            return false;
        };
        if usize::try_from(*place)
            .ok()
            .and_then(|place| self.visited.get(place))
            == Some(&at)
        {
            return false;
        }
        *place = u32::try_from(self.visited.len()).unwrap_or(u32::MAX);
        self.visited.push(at);
        true
    }

    fn keep(&mut self, at: u32, slots: &[usize]) {
        self.instructions.push(at);
        self.slots.extend_from_slice(slots);
    }
}

/// Whether an assertion holds at a position. Only ASCII characters are word characters.
fn looks(look: Look, text: &str, position: usize) -> bool {
    let (before, after) = text
        .as_bytes()
        .split_at_checked(position)
        .unwrap_or_default();
    let (before, after) = (before.last().copied(), after.first().copied());
    let is_word = |byte: Option<u8>| byte.is_some_and(|b| b == b'_' || b.is_ascii_alphanumeric());
    match look {
        Look::Start => before.is_none(),
        Look::End => after.is_none(),
        Look::StartLF => before.is_none_or(|b| b == b'\n'),
        Look::EndLF => after.is_none_or(|b| b == b'\n'),
        Look::WordAscii => is_word(before) != is_word(after),
        Look::WordAsciiNegate => is_word(before) == is_word(after),
        // Go has no other assertions.
        _ => false,
    }
}
