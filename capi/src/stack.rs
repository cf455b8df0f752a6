//! The stacks on which calls and callbacks run.

use std::cell::Cell;
use std::hint::black_box;
use std::io;
use std::thread;

/// The stack that a call which compiles may need, in bytes, at the nesting limits of expressions and values. Optimized code needs up to
/// 1.2 MiB.
pub(crate) const COMPILING: usize = if cfg!(debug_assertions) {
    2 << 20
} else {
    3 << 19
};

/// The stack that any other call may need, in bytes. Optimized code needs up to 240 KiB.
pub(crate) const OTHER: usize = if cfg!(debug_assertions) {
    2 << 20
} else {
    1 << 19
};

/// The size of the stack that a call gets if its thread has less than the call may need, in bytes.
const OWN: usize = 4 << 20;

thread_local! {
    /// The lowest and the highest address of the stack on which the host called the library.
    static OF_HOST: Cell<(usize, usize)> = const { Cell::new((0, usize::MAX)) };
}

/// Runs a call of the host that may need this stack, in bytes. The call gets a stack of its own if its thread has less.
pub(crate) fn run<T>(needed: usize, call: impl FnOnce() -> T) -> T {
    let highest = address();
    let free = stacker::remaining_stack().unwrap_or(highest);
    let outer = OF_HOST.replace((highest.saturating_sub(free), highest));
    let result = stacker::maybe_grow(needed, OWN, call);
    OF_HOST.set(outer);
    result
}

/// Calls a callback of the host. If the call runs on a stack of its own, the callback runs on another thread, while this thread waits: Go ends
/// the process if its code runs on a stack that does not belong to the thread.
///
/// # Errors
///
/// The thread cannot be started.
pub(crate) fn call_back<T: Send>(callback: impl FnOnce() -> T + Send) -> io::Result<T> {
    let (lowest, highest) = OF_HOST.get();
    if (lowest..=highest).contains(&address()) {
        return Ok(callback());
    }
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, callback)?;
        let panicked = |_| io::Error::other("it panicked");
        thread.join().map_err(panicked)
    })
}

/// An address in the current stack.
#[inline(never)]
fn address() -> usize {
    let here = 0_u8;
    black_box(&raw const here).addr()
}

#[cfg(test)]
pub(crate) mod tests {
    use gavel_engine::estimate::{NoSizes, estimate};
    use gavel_libraries::{EnvSet, Server};

    use super::*;

    /// Runs a function on a thread with this stack, in bytes.
    pub(crate) fn on_stack<T: Send + 'static>(
        bytes: usize,
        run: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let thread = thread::Builder::new().stack_size(bytes);
        thread.spawn(run).unwrap().join().unwrap()
    }

    pub(crate) fn fill_stack(kilobytes: usize) -> usize {
        let used = black_box([1_u8; 1024]);
        match kilobytes {
            0 => usize::from(used[0]),
            more => fill_stack(more.saturating_sub(1)).saturating_add(used[1].into()),
        }
    }

    #[test]
    fn calls_on_small_stacks_have_enough_stack() {
        assert_eq!(on_stack(128 << 10, || run(OTHER, || fill_stack(512))), 513);
    }

    #[test]
    fn the_deepest_expressions_have_enough_stack() {
        let compile = || {
            let kubernetes = EnvSet::new(Server::default()).unwrap();
            let env = kubernetes.new_expressions();
            let text = ["[1].map(x, x > 2, ", ")"]
                .map(|part| part.repeat(248))
                .join("x");
            let checked = env.compile(&text).unwrap();
            estimate(&checked, &NoSizes);
            env.plan(&checked).is_ok()
        };
        assert!(on_stack((1 << 20) + (128 << 10), move || run(
            COMPILING, compile
        )));
    }

    #[test]
    fn callbacks_run_on_the_stack_of_a_thread() {
        let called = || {
            let callback = || (thread::current().id(), stacker::remaining_stack());
            run(OTHER, || {
                (thread::current().id(), call_back(callback).unwrap())
            })
        };
        let (caller, (thread, _)) = on_stack(8 << 20, called);
        assert_eq!(caller, thread);
        let (caller, (thread, free)) = on_stack(128 << 10, called);
        assert_ne!(caller, thread);
        assert!(free.unwrap() > 128 << 10, "{free:?}");
        // Within the callback, the host may call the library again.
        let inner = || run(OTHER, || call_back(|| 7).unwrap());
        let again = move || run(OTHER, || call_back(inner).unwrap());
        assert_eq!(on_stack(128 << 10, again), 7);
    }
}
