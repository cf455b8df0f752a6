//! The paths of fields in messages: `spec.items[0].name`.

use std::fmt;

/// The path from the root of an object to a field. Each step borrows the one before it, so that a walk over an object
/// builds its paths without allocating.
///
/// ```
/// use gavel_apimachinery::field::Path;
///
/// let root = Path::root();
/// let spec = root.child("spec");
/// let containers = spec.child("containers");
/// assert_eq!(containers.index(0).to_string(), "spec.containers[0]");
/// assert_eq!(root.to_string(), "<nil>");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Step<'p>,
}

#[derive(Debug, Clone, Copy)]
enum Step<'p> {
    /// No step: the root of the object, which has no name.
    Root,
    /// A field.
    Child(&'p str),
    /// An element of a list.
    Index(usize),
    /// An entry of a map.
    Key(&'p str),
}

impl<'p> Path<'p> {
    /// The path of the object itself. It is printed as `<nil>`, as in Kubernetes.
    pub const fn root() -> Self {
        Path {
            parent: None,
            step: Step::Root,
        }
    }

    /// The path of a field of the root.
    pub const fn new(name: &'p str) -> Self {
        Path {
            parent: None,
            step: Step::Child(name),
        }
    }

    /// The path of a field of the value at this path.
    pub const fn child(&'p self, name: &'p str) -> Path<'p> {
        self.step(Step::Child(name))
    }

    /// The path of an element of the list at this path.
    pub const fn index(&'p self, index: usize) -> Path<'p> {
        self.step(Step::Index(index))
    }

    /// The path of an entry of the map at this path.
    pub const fn key(&'p self, key: &'p str) -> Path<'p> {
        self.step(Step::Key(key))
    }

    /// Whether the path is the root.
    pub const fn is_root(&self) -> bool {
        matches!(self.step, Step::Root)
    }

    /// The path as strict decoding writes it: `spec.labels.a[0]`, empty for the object itself.
    pub const fn strict(&'p self) -> impl fmt::Display + 'p {
        Strict(self)
    }

    /// The path of the value's schema within the schema of the object: `.properties[spec].items`, empty for the object itself.
    pub const fn in_schema(&'p self) -> impl fmt::Display + 'p {
        InSchema(self)
    }

    const fn step(&'p self, step: Step<'p>) -> Path<'p> {
        let parent = if self.is_root() { None } else { Some(self) };
        Path { parent, step }
    }

    fn steps(&self) -> Vec<Step<'p>> {
        let mut steps = Vec::new();
        let mut path = Some(*self);
        while let Some(Path { parent, step }) = path {
            steps.push(step);
            path = parent.copied();
        }
        steps.reverse();
        steps
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, step) in self.steps().into_iter().enumerate() {
            match step {
                Step::Root => f.write_str("<nil>")?,
                // Upstream prints a field without a name as an index.
                Step::Child("") => f.write_str("[]")?,
                Step::Child(name) if n == 0 => f.write_str(name)?,
                Step::Child(name) => write!(f, ".{name}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) => write!(f, "[{key}]")?,
            }
        }
        Ok(())
    }
}

struct Strict<'p>(&'p Path<'p>);

impl fmt::Display for Strict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, step) in self.0.steps().into_iter().enumerate() {
            match step {
                Step::Root => {}
                Step::Child(name) | Step::Key(name) if n == 0 => f.write_str(name)?,
                Step::Child(name) | Step::Key(name) => write!(f, ".{name}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

struct InSchema<'p>(&'p Path<'p>);

impl fmt::Display for InSchema<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in self.0.steps() {
            match step {
                Step::Root => {}
                Step::Child(name) => write!(f, ".properties[{name}]")?,
                Step::Index(_) => f.write_str(".items")?,
                Step::Key(_) => f.write_str(".additionalProperties")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_schemas_name_no_items_and_keys() {
        let root = Path::root();
        let spec = root.child("spec");
        assert_eq!(root.in_schema().to_string(), "");
        let (item, key) = (spec.index(1), spec.key("a.b"));
        let below = [
            item.child("a.b").in_schema().to_string(),
            key.in_schema().to_string(),
        ];
        let expected = [
            ".properties[spec].items.properties[a.b]",
            ".properties[spec].additionalProperties",
        ];
        assert_eq!(below, expected);
    }

    #[test]
    fn strict_paths_have_no_keys_in_brackets() {
        let root = Path::root();
        assert_eq!(
            (root.to_string(), root.strict().to_string()),
            ("<nil>".to_owned(), String::new())
        );
        let spec = root.child("spec");
        let (item, key) = (spec.index(1), spec.key("a.b"));
        let (below_item, below_key) = (item.child("x"), key.child(""));
        assert_eq!(below_item.to_string(), "spec[1].x");
        assert_eq!(below_item.strict().to_string(), "spec[1].x");
        assert_eq!(below_key.to_string(), "spec[a.b][]");
        assert_eq!(below_key.strict().to_string(), "spec.a.b.");
    }
}
