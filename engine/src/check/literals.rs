//! List, map and struct literals (cel-go `checker/checker.go`).

use smol_str::SmolStr;

use super::Referent;
use super::checker::Checker;
use crate::ast::{ExprId, ListExpr, MapEntry, Struct};
use crate::types::Type;

impl Checker<'_> {
    pub(super) fn check_list(&mut self, id: ExprId, list: &mut ListExpr) {
        self.found.has_series |= list.elements.len() > 1;
        let optional_indices = std::mem::take(&mut list.optional_indices);
        let mut optional = optional_indices.iter().copied().peekable();
        let mut joined = None;
        for (index, element) in (0u32..).zip(&mut list.elements) {
            self.check(element);
            let is_optional = optional.next_if_eq(&index).is_some();
            let ty = self.value_type(element.id, is_optional);
            joined = Some(self.join(joined, ty));
        }
        list.optional_indices = optional_indices;
        let element = joined.unwrap_or_else(|| self.bindings.fresh());
        self.set_type(id, Type::list(element));
    }

    pub(super) fn check_map(&mut self, id: ExprId, entries: &mut [MapEntry]) {
        self.found.has_series |= entries.len() > 1;
        let mut joined: Option<(Type, Type)> = None;
        for entry in entries {
            self.check(&mut entry.key);
            let (keys, values) = joined.unzip();
            let key = self.type_of(entry.key.id).clone();
            let key = self.join(keys, key);
            self.check(&mut entry.value);
            let value = self.value_type(entry.value.id, entry.optional);
            joined = Some((key, self.join(values, value)));
        }
        let (key, value) = joined.unwrap_or_else(|| (self.bindings.fresh(), self.bindings.fresh()));
        self.set_type(id, Type::map(key, value));
    }

    pub(super) fn check_struct(&mut self, id: ExprId, message: &mut Struct) {
        let found = match self.env.corrections().struct_names {
            true => self.scopes.find_type(self.env, &message.type_name),
            false => self.scopes.find(self.env, &message.type_name),
        };
        let Some(declared) = found else {
            self.report_undeclared(id, &message.type_name);
            return self.set_type(id, Type::Error);
        };
        message.type_name = declared.name.clone();
        // The name of the type whose fields are looked up, and the type of the literal.
        let (type_name, ty) = match declared.ty {
            Type::Type(Some(ty)) => match (ty.message_name(), &*ty) {
                (Some(name), _) => (SmolStr::new_static(name), Type::clone(&ty)),
                (None, Type::Struct(name)) => (name.as_str().into(), Type::clone(&ty)),
                (None, other) => {
                    let name = other.declared_name();
                    self.report(id, format_args!("'{name}' is not a message type"));
                    (declared.name, Type::Error)
                }
            },
            Type::Error => (declared.name, Type::Error),
            other => {
                let name = other.declared_name();
                self.report(id, format_args!("'{name}' is not a type"));
                (declared.name, Type::Error)
            }
        };
        self.set(id, ty, Referent::Type);
        for field in &mut message.fields {
            self.check(&mut field.value);
            let expected = self.field_type(field.id, &type_name, &field.name);
            let expected = expected.unwrap_or(Type::Error);
            let actual = self.value_type(field.value.id, field.optional);
            if !self.bindings.assignable(&expected, &actual) {
                let message = format_args!(
                    "expected type of field '{}' is '{}' but provided type is '{}'",
                    field.name,
                    expected.in_message(),
                    actual.in_message()
                );
                self.report(field.id, message);
            }
        }
    }

    /// The type of an element, entry or field. With `optional`, the type that the optional holds.
    fn value_type(&mut self, id: ExprId, optional: bool) -> Type {
        let ty = self.type_of(id).clone();
        if !optional {
            return ty;
        }
        if let Some(value) = ty.as_optional() {
            return value.clone();
        }
        if !matches!(ty, Type::Dyn | Type::Any) {
            self.report_mismatch(id, &Type::optional(ty.clone()), &ty);
        }
        ty
    }

    /// The common type of a literal's elements, given the common type so far and the type of the next element.
    fn join(&mut self, so_far: Option<Type>, next: Type) -> Type {
        match so_far {
            None => next,
            Some(so_far)
                if self.env.follows_specification() && self.bindings.assignable(&so_far, &next) =>
            {
                match (&so_far, &next) {
                    (_, Type::Null) => so_far,
                    (Type::Null, _) => next,
                    _ => self.bindings.most_general(so_far, next),
                }
            }
            Some(so_far) if self.bindings.assignable(&so_far, &next) => {
                self.bindings.most_general(so_far, next)
            }
            Some(_) => Type::Dyn,
        }
    }
}
