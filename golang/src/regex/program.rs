//! A pattern compiled to a list of instructions that read characters. The list is small and quick to build (`regexp/syntax/compile.go`).

use std::collections::HashMap;

use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

use super::error::RegexError;
use crate::work::Work;

/// The maximum number of instructions in a program. It is close to Go's limit. A program of this size takes 48 MiB.
const MAX_INSTRUCTIONS: usize = 4 << 20;
/// The units of work for an instruction, or for a task that emits instructions.
const WORK_PER_TASK: usize = 32;
/// The target of a jump before it is known.
const UNKNOWN: u32 = u32::MAX;

/// A program for the virtual machine in [`machine`](super::machine).
#[derive(Debug)]
pub(super) struct Program {
    pub(super) instructions: Vec<Instruction>,
    /// The ranges of characters of each class, in ascending order.
    pub(super) classes: Vec<Vec<(char, char)>>,
}

/// An instruction. Unless its description says otherwise, the program continues with the instruction after it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Instruction {
    Char(char),
    /// Reads a character of the class with this index in `classes`.
    Class(u32),
    /// Continues at both targets; matches of the first target take priority.
    Split(u32, u32),
    Jump(u32),
    Look(Look),
    /// Records the position: in slot `2 * n` for the start of group `n`, in slot `2 * n + 1` for its end.
    Save(u32),
    Match,
    Fail,
}

impl Program {
    /// The program of a pattern that never matches.
    pub(super) fn fail() -> Program {
        Program {
            instructions: vec![Instruction::Fail],
            classes: Vec::new(),
        }
    }

    /// Compiles a parsed pattern.
    pub(super) fn compile(hir: &Hir, work: &Work<'_>) -> Result<Program, RegexError> {
        let mut compiler = Compiler {
            program: Program {
                instructions: Vec::new(),
                classes: Vec::new(),
            },
            known_classes: HashMap::new(),
            exits: Vec::new(),
            tasks: vec![
                Task::Emit(Instruction::Match),
                Task::Emit(Instruction::Save(1)),
                Task::Node(hir),
            ],
        };
        compiler.emit(Instruction::Save(0));
        while let Some(task) = compiler.tasks.pop() {
            work.spend(WORK_PER_TASK)?;
            if compiler.program.instructions.len() > MAX_INSTRUCTIONS {
                return Err(RegexError::too_much_memory());
            }
            compiler.run(task);
        }
        Ok(compiler.program)
    }
}

/// A pending task. A list of tasks replaces recursion, so that deep patterns need no deep stack. The last task runs next.
enum Task<'h> {
    Node(&'h Hir),
    Emit(Instruction),
    /// Compiles exactly this many copies of a node.
    Copies(&'h Hir, u32),
    /// Compiles up to `times` copies of a node. A match can skip each copy.
    Optional {
        sub: &'h Hir,
        times: u32,
        greedy: bool,
    },
    /// Compiles an alternation of these nodes.
    Alternatives(&'h [Hir]),
    /// Ends a loop: adds a split that jumps back to the instruction `start` or continues.
    Loop {
        start: u32,
        greedy: bool,
    },
    /// Compiles a loop of one or more passes.
    Plus {
        sub: &'h Hir,
        greedy: bool,
    },
    /// Adds a jump out of the second innermost open construct, such as the whole alternation. The innermost construct stays open.
    LeaveOuter,
    /// Closes the innermost open construct: its exits lead to the next instruction.
    Land,
}

struct Compiler<'h> {
    program: Program,
    /// The index of each class in `classes`, by the address of the class in the syntax tree, so that a repeated class is stored once.
    known_classes: HashMap<usize, u32>,
    /// For each open construct, the instructions that leave it and whose target is not known yet.
    exits: Vec<Vec<usize>>,
    tasks: Vec<Task<'h>>,
}

impl<'h> Compiler<'h> {
    fn here(&self) -> u32 {
        u32::try_from(self.program.instructions.len()).unwrap_or(UNKNOWN)
    }

    fn emit(&mut self, instruction: Instruction) {
        self.program.instructions.push(instruction);
    }

    /// Adds an instruction that leaves the innermost open construct.
    fn emit_exit(&mut self, instruction: Instruction) {
        let at = self.program.instructions.len();
        self.emit(instruction);
        if let Some(exits) = self.exits.last_mut() {
            exits.push(at);
        }
    }

    fn run(&mut self, task: Task<'h>) {
        match task {
            Task::Node(hir) => self.node(hir),
            Task::Emit(instruction) => self.emit(instruction),
            Task::Copies(_, 0) => {}
            Task::Copies(sub, times) => {
                self.tasks.push(Task::Copies(sub, times.saturating_sub(1)));
                self.tasks.push(Task::Node(sub));
            }
            Task::Optional { times: 0, .. } => {}
            Task::Optional { sub, times, greedy } => {
                self.emit_way_out(greedy);
                self.tasks.push(Task::Optional {
                    sub,
                    times: times.saturating_sub(1),
                    greedy,
                });
                self.tasks.push(Task::Node(sub));
            }
            Task::Alternatives(subs) => match subs {
                [] => self.emit(Instruction::Fail),
                [last] => self.tasks.push(Task::Node(last)),
                [first, others @ ..] => {
                    // The split's second target is the start of the other alternatives, not the end of the alternation.
                    self.exits.push(Vec::new());
                    self.emit_way_out(true);
                    self.tasks.push(Task::Alternatives(others));
                    self.tasks.push(Task::Land);
                    self.tasks.push(Task::LeaveOuter);
                    self.tasks.push(Task::Node(first));
                }
            },
            Task::LeaveOuter => {
                let inner = self.exits.pop().unwrap_or_default();
                self.emit_exit(Instruction::Jump(UNKNOWN));
                self.exits.push(inner);
            }
            Task::Plus { sub, greedy } => {
                self.tasks.push(Task::Loop {
                    start: self.here(),
                    greedy,
                });
                self.tasks.push(Task::Node(sub));
            }
            Task::Loop { start, greedy } => {
                let next = self.here().saturating_add(1);
                self.emit(if greedy {
                    Instruction::Split(start, next)
                } else {
                    Instruction::Split(next, start)
                });
            }
            Task::Land => {
                let here = self.here();
                for exit in self.exits.pop().unwrap_or_default() {
                    if let Some(
                        Instruction::Jump(target @ UNKNOWN)
                        | Instruction::Split(target @ UNKNOWN, _)
                        | Instruction::Split(_, target @ UNKNOWN),
                    ) = self.program.instructions.get_mut(exit)
                    {
                        *target = here;
                    }
                }
            }
        }
    }

    /// Adds a split between the next instruction and the exit of the innermost open construct. With `greedy` it prefers the next
    /// instruction, otherwise the exit.
    fn emit_way_out(&mut self, greedy: bool) {
        let next = self.here().saturating_add(1);
        self.emit_exit(if greedy {
            Instruction::Split(next, UNKNOWN)
        } else {
            Instruction::Split(UNKNOWN, next)
        });
    }

    fn node(&mut self, hir: &'h Hir) {
        match hir.kind() {
            HirKind::Empty => {}
            HirKind::Literal(literal) => {
                for c in String::from_utf8_lossy(&literal.0).chars() {
                    self.emit(Instruction::Char(c));
                }
            }
            HirKind::Class(class) => {
                let class = self.class(std::ptr::from_ref(hir).addr(), class);
                self.emit(Instruction::Class(class));
            }
            HirKind::Look(look) => self.emit(Instruction::Look(*look)),
            HirKind::Repetition(repetition) => self.repetition(repetition),
            HirKind::Capture(capture) => {
                let slot = capture.index.saturating_mul(2);
                self.emit(Instruction::Save(slot));
                self.tasks
                    .push(Task::Emit(Instruction::Save(slot.saturating_add(1))));
                self.tasks.push(Task::Node(&capture.sub));
            }
            HirKind::Concat(subs) => self.tasks.extend(subs.iter().rev().map(Task::Node)),
            HirKind::Alternation(subs) => {
                self.exits.push(Vec::new());
                self.tasks.push(Task::Land);
                self.tasks.push(Task::Alternatives(subs));
            }
        }
    }

    fn repetition(&mut self, repetition: &'h Repetition) {
        let Repetition {
            min,
            max,
            greedy,
            sub,
        } = repetition;
        let greedy = *greedy;
        match (*min, *max) {
            // If a pass may be empty, Go compiles `x*` as `(x+)?`; otherwise as a loop with a jump back to its start. The choice
            // determines which match is preferred.
            (0, None) if sub.properties().minimum_len() == Some(0) => {
                self.exits.push(Vec::new());
                self.emit_way_out(greedy);
                self.tasks.push(Task::Land);
                self.tasks.push(Task::Plus { sub, greedy });
            }
            (0, None) => {
                let start = self.here();
                self.exits.push(Vec::new());
                self.emit_way_out(greedy);
                self.tasks.push(Task::Land);
                self.tasks.push(Task::Emit(Instruction::Jump(start)));
                self.tasks.push(Task::Node(sub));
            }
            (min, None) => {
                self.tasks.push(Task::Plus { sub, greedy });
                self.tasks.push(Task::Copies(sub, min.saturating_sub(1)));
            }
            (min, Some(max)) => {
                self.exits.push(Vec::new());
                self.tasks.push(Task::Land);
                self.tasks.push(Task::Optional {
                    sub,
                    times: max.saturating_sub(min),
                    greedy,
                });
                self.tasks.push(Task::Copies(sub, min));
            }
        }
    }

    /// Returns the index of a class in `classes`, and adds the class if it is new. `place` is the address of the class in the syntax tree.
    fn class(&mut self, place: usize, class: &Class) -> u32 {
        let classes = &mut self.program.classes;
        *self.known_classes.entry(place).or_insert_with(|| {
            let number = u32::try_from(classes.len()).unwrap_or(UNKNOWN);
            classes.push(match class {
                Class::Unicode(class) => class
                    .ranges()
                    .iter()
                    .map(|range| (range.start(), range.end()))
                    .collect(),
                // Byte classes only contain ASCII.
                Class::Bytes(class) => class
                    .ranges()
                    .iter()
                    .map(|range| (range.start().into(), range.end().into()))
                    .collect(),
            });
            number
        })
    }
}
