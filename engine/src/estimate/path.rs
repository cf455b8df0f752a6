//! Paths: a path says where a value comes from. It is a variable followed by steps such as fields.
//!
//! Upstream's paths are Go slices, which share memory: appending writes in place if the memory has room. If two paths extend the
//! same path, the later path may overwrite the last step of the earlier path. After `a.b` and then `a.c`, both may read `a.c`.
//! To reproduce this, a path is a window on shared memory, with a capacity that doubles when it is used up. Paths of upper bounds
//! share no memory.

/// A path: a window on [`Paths`]. Its steps may change when a path that shares its memory grows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Path {
    start: usize,
    len: usize,
    capacity: usize,
}

/// The storage of all paths.
#[derive(Debug, Default)]
pub(super) struct Paths<'a> {
    steps: Vec<&'a str>,
    /// Whether each path has its own memory.
    apart: bool,
}

impl Path {
    /// The path of a value that does not come from a variable.
    pub(super) const NONE: Path = Path {
        start: 0,
        len: 0,
        capacity: 0,
    };
}

impl<'a> Paths<'a> {
    /// Paths that share no memory. A path that does not begin at a variable stays empty.
    pub(super) fn apart() -> Self {
        Paths {
            steps: Vec::new(),
            apart: true,
        }
    }

    /// The path of a variable.
    pub(super) fn variable(&mut self, name: &'a str) -> Path {
        self.grow(Path::NONE, name)
    }

    /// The path of the list whose elements have this path; [`Path::NONE`] if the path does not end in `@items`.
    pub(super) fn list_of(&self, elements: Path) -> Path {
        match self.steps(elements) {
            [_, .., "@items"] => Path {
                len: elements.len.saturating_sub(1),
                ..elements
            },
            _ => Path::NONE,
        }
    }

    /// The current steps of a path.
    pub(super) fn steps(&self, path: Path) -> &[&'a str] {
        self.steps
            .get(path.start..)
            .map_or(&[], |from| from.get(..path.len).unwrap_or(from))
    }

    /// Extends a path by one step. The step is written in place if the path has capacity, otherwise to new memory.
    pub(super) fn append(&mut self, path: Path, step: &'a str) -> Path {
        match self.apart && path.len == 0 {
            true => path,
            false => self.grow(path, step),
        }
    }

    fn grow(&mut self, path: Path, step: &'a str) -> Path {
        let mut longer = Path {
            len: path.len.saturating_add(1),
            ..path
        };
        if self.apart || path.len == path.capacity {
            longer.start = self.steps.len();
            longer.capacity = match self.apart {
                true => longer.len,
                false => path.capacity.saturating_mul(2).max(1),
            };
            let copied = path.start..path.start.saturating_add(path.len);
            self.steps.extend_from_within(copied);
            self.steps
                .resize(longer.start.saturating_add(longer.capacity), "");
        }
        if let Some(slot) = self.steps.get_mut(longer.start.saturating_add(path.len)) {
            *slot = step;
        }
        longer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path<'a>(paths: &mut Paths<'a>, steps: &[&'a str]) -> Path {
        steps
            .iter()
            .fold(Path::NONE, |path, step| paths.append(path, step))
    }

    #[test]
    fn paths_of_one_and_two_steps_grow_apart() {
        for start in [&["self"][..], &["self", "items"]] {
            let mut paths = Paths::default();
            let range = path(&mut paths, start);
            let first = paths.append(range, "@keys");
            let second = paths.append(range, "@values");
            assert_eq!(paths.steps(first).last(), Some(&"@keys"));
            assert_eq!(paths.steps(second).last(), Some(&"@values"));
        }
    }

    #[test]
    fn paths_of_three_steps_share_the_fourth() {
        let mut paths = Paths::default();
        let item = path(&mut paths, &["self", "items", "@items"]);
        let list = paths.append(item, "list");
        let deeper = paths.append(list, "@items");
        paths.append(item, "mx");
        assert_eq!(paths.steps(list), ["self", "items", "@items", "mx"]);
        assert_eq!(
            paths.steps(deeper),
            ["self", "items", "@items", "list", "@items"],
            "four steps fill the memory, so the fifth went elsewhere"
        );
    }
}
