//! Types that a host provides.

use std::fmt;
use std::sync::Arc;

use crate::types::Type;
use crate::value::{FieldPlace, ObjectKind};

/// Named types with fields, in addition to those of the language.
pub trait TypeProvider: fmt::Debug + Send + Sync {
    /// The type with this name; `None` if the host has no such type.
    fn find_type(&self, name: &str) -> Option<Type>;

    /// The type of a field of a named type; `None` if the host does not know the type, or the type has no such field.
    fn field_type(&self, type_name: &str, field: &str) -> Option<Type>;

    /// Whether the name of a type may begin with `root` and a dot. If this returns false, the checker does not look up `root.field` as the
    /// name of a type.
    fn has_names_below(&self, _root: &str) -> bool {
        true
    }

    /// The position of a field in a type. Values of the type receive this position as a hint when they look up the field.
    fn field_place(&self, _type_name: &str, _field: &str) -> FieldPlace {
        FieldPlace::UNKNOWN
    }

    /// A hash of the definition of a type. Types of two hosts that have the same name are the same type only if their fingerprints are
    /// equal. `None` if the host does not know the type, or has no fingerprints.
    fn fingerprint(&self, _type_name: &str) -> Option<u64> {
        None
    }

    /// The behavior of the objects that struct literals of a type create. With `None`, the evaluation of struct literals of the type fails.
    fn object_kind(&self, _type_name: &str) -> Option<ObjectKind> {
        None
    }
}

/// The types of all hosts of an environment. The first host that knows a name decides.
#[derive(Debug, Clone, Default)]
pub(crate) struct TypeProviders(Vec<Arc<dyn TypeProvider>>);

impl TypeProviders {
    pub(crate) fn add(&mut self, provider: Arc<dyn TypeProvider>) {
        self.0.push(provider);
    }

    /// The first host that knows a type; `None` if no host knows it. If there is only one host, it is returned even if it does not know the
    /// type.
    fn host_of(&self, type_name: &str) -> Option<&Arc<dyn TypeProvider>> {
        match self.0.as_slice() {
            [only] => Some(only),
            hosts => hosts
                .iter()
                .find(|host| host.find_type(type_name).is_some()),
        }
    }
}

impl TypeProvider for TypeProviders {
    fn find_type(&self, name: &str) -> Option<Type> {
        self.0.iter().find_map(|host| host.find_type(name))
    }

    fn field_type(&self, type_name: &str, field: &str) -> Option<Type> {
        self.host_of(type_name)?.field_type(type_name, field)
    }

    fn has_names_below(&self, root: &str) -> bool {
        self.0.iter().any(|host| host.has_names_below(root))
    }

    fn field_place(&self, type_name: &str, field: &str) -> FieldPlace {
        let host = self.host_of(type_name);
        host.map_or(FieldPlace::UNKNOWN, |host| {
            host.field_place(type_name, field)
        })
    }

    fn fingerprint(&self, type_name: &str) -> Option<u64> {
        self.0.iter().find_map(|host| host.fingerprint(type_name))
    }

    fn object_kind(&self, type_name: &str) -> Option<ObjectKind> {
        self.host_of(type_name)?.object_kind(type_name)
    }
}
