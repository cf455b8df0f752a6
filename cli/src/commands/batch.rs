//! `gavel batch`: reads requests from standard input, and writes answers to standard output.

use std::io::{self, BufRead, Write};

use gavel_protocol::Session;

/// The capacity, in bytes, to which the buffers shrink after each answer.
const KEPT_CAPACITY: usize = 1 << 20;

/// Answers each line of `input` with a line of `output`, and flushes `output` after each answer. Ignores blank lines.
pub(crate) fn run(mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut session = Session::new();
    let (mut line, mut answer) = (Vec::new(), Vec::new());
    while input.read_until(b'\n', &mut line)? > 0 {
        let request = line.trim_ascii();
        if !request.is_empty() {
            session.answer(request, &mut answer);
            output.write_all(&answer)?;
            output.flush()?;
        }
        for buffer in [&mut line, &mut answer] {
            buffer.clear();
            buffer.shrink_to(KEPT_CAPACITY);
        }
    }
    Ok(())
}
