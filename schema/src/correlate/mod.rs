//! Matches each value in an object with the old value before an update (apiserver `pkg/cel/common/equality.go`).

use std::cell::RefCell;
use std::ptr;
use std::rc::Rc;

use gavel_engine::value::Json;
use rustc_hash::FxHashMap;

use crate::equal::deep_equal;
use crate::{JsonSchema, MAX_DEPTH};

mod map_list;

pub use map_list::MapList;

use map_list::is_map_list;

/// A value, its old value before an update, and the schema that determines how fields and elements are matched. Each comparison is cached.
///
/// ```
/// use gavel_schema::JsonSchema;
/// use gavel_schema::correlate::Correlation;
/// use serde_json::json;
///
/// # fn main() -> Result<(), gavel_schema::SchemaReadError> {
/// let schema: JsonSchema = JsonSchema::read(&json!({
///     "type": "object",
///     "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
/// }))?;
/// let (new, old) = (json!({"a": "x", "b": "y"}), json!({"a": "x", "b": "z"}));
/// let correlation = Correlation::new(&new, &old, &schema);
/// let root = correlation.root();
/// assert!(root.key("a").is_some_and(|a| a.is_unchanged()));
/// assert!(!root.is_unchanged());
/// assert!(root.key("c").is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Correlation<'a> {
    new: &'a Json,
    old: &'a Json,
    schema: &'a JsonSchema,
    /// Whether a new value is unchanged, keyed by the address of the value.
    unchanged: RefCell<FxHashMap<*const Json, bool>>,
    /// The old elements of lists of type map, keyed by the address of the new list.
    lists: RefCell<FxHashMap<*const Json, Rc<MapList<'a>>>>,
}

/// A value in an updated object, with its old value.
#[derive(Debug, Clone, Copy)]
pub struct Correlated<'c, 'a> {
    correlation: &'c Correlation<'a>,
    new: &'a Json,
    old: &'a Json,
    schema: &'a JsonSchema,
}

impl<'a> Correlation<'a> {
    /// A value, its old value before the update, and the schema of both.
    pub fn new(new: &'a Json, old: &'a Json, schema: &'a JsonSchema) -> Self {
        Correlation {
            new,
            old,
            schema,
            unchanged: RefCell::default(),
            lists: RefCell::default(),
        }
    }

    /// The whole value.
    pub fn root(&self) -> Correlated<'_, 'a> {
        Correlated {
            correlation: self,
            new: self.new,
            old: self.old,
            schema: self.schema,
        }
    }
}

impl<'a> Correlated<'_, 'a> {
    /// The value.
    pub(crate) fn new_value(self) -> &'a Json {
        self.new
    }

    /// The value before the update.
    pub fn old_value(self) -> &'a Json {
        self.old
    }

    /// The value of a property or of a map key; `None` if it has no schema, or is absent from the new or the old value.
    pub fn key(self, name: &str) -> Option<Self> {
        let old = self.old.as_object()?.get(name)?;
        let new = self.new.as_object()?.get(name)?;
        let property = self.schema.properties.get(name);
        let schema = property.or_else(|| self.schema.value())?;
        Some(Correlated {
            new,
            old,
            schema,
            ..self
        })
    }

    /// An element of a list of type map, matched with the old element that has the same keys; `None` if there is no such old element, and
    /// in other lists.
    pub fn index(self, index: usize) -> Option<Self> {
        let new = self.new.as_array()?.get(index)?;
        let old = self.old_elements()?.find(new)?;
        let schema = self.schema.item()?;
        Some(Correlated {
            new,
            old,
            schema,
            ..self
        })
    }

    /// The old elements, indexed by their keys; `None` unless both values are lists of type map.
    fn old_elements(self) -> Option<Rc<MapList<'a>>> {
        let old = self.old.as_array()?;
        if !is_map_list(self.schema) {
            return None;
        }
        let mut lists = self.correlation.lists.borrow_mut();
        let list = lists
            .entry(ptr::from_ref(self.new))
            .or_insert_with(|| Rc::new(MapList::new(self.schema, old)));
        Some(Rc::clone(list))
    }

    /// Whether the value is unchanged. As in upstream, an object with a field that the schema does not know is treated as changed.
    pub fn is_unchanged(self) -> bool {
        self.is_unchanged_within(MAX_DEPTH)
    }

    fn is_unchanged_within(self, depth: usize) -> bool {
        // Values that are nested too deeply are treated as changed.
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        let place = ptr::from_ref(self.new);
        if let Some(known) = self.correlation.unchanged.borrow().get(&place) {
            return *known;
        }
        let unchanged = self.compare(depth);
        let mut known = self.correlation.unchanged.borrow_mut();
        known.insert(place, unchanged);
        unchanged
    }

    fn compare(self, depth: usize) -> bool {
        match (self.new, self.old) {
            (Json::Array(new), Json::Array(old)) if is_map_list(self.schema) => {
                let same = |index| {
                    self.index(index)
                        .is_some_and(|item| item.is_unchanged_within(depth))
                };
                new.len() == old.len() && (0..new.len()).all(same)
            }
            (Json::Object(new), Json::Object(old)) => {
                let same = |name: &String| {
                    self.key(name)
                        .is_some_and(|field| field.is_unchanged_within(depth))
                };
                new.len() == old.len() && new.keys().all(same)
            }
            (new, old) => deep_equal(new, old),
        }
    }
}

#[cfg(test)]
mod tests;
