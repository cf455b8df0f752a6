//! List, map and struct literals (cel-go `checker/checker.go`).

use smol_str::SmolStr;

use super::Referent;
use super::checker::{Checker, Rewrite};
use crate::ast::{ExprId, ListExpr, MapExpr, Struct};
use crate::types::Type;

impl<'c> Checker<'c> {
    pub(super) fn check_list(&mut self, id: ExprId, list: &ListExpr<'c>) {
        let mut optional = list.optional_indices.iter().copied().peekable();
        let mut joined = None;
        for (index, element) in (0u32..).zip(list.elements.iter()) {
            self.check(element);
            let is_optional = optional.next_if_eq(&index).is_some();
            let ty = self.value_type(element.id, is_optional);
            joined = Some(self.join(joined, ty));
        }
        let element = joined.unwrap_or_else(|| self.bindings.fresh());
        self.set_type(id, Type::list(element));
    }

    pub(super) fn check_map(&mut self, id: ExprId, map: MapExpr<'c>) {
        let mut joined: Option<(Type, Type)> = None;
        for entry in map.iter() {
            self.check(entry.key);
            let (keys, values) = joined.unzip();
            let key = self.type_of(entry.key.id).clone();
            let key = self.join(keys, key);
            self.check(entry.value);
            let value = self.value_type(entry.value.id, entry.optional);
            joined = Some((key, self.join(values, value)));
        }
        let (key, value) = joined.unwrap_or_else(|| (self.bindings.fresh(), self.bindings.fresh()));
        self.set_type(id, Type::map(key, value));
    }

    pub(super) fn check_struct(&mut self, id: ExprId, message: Struct<'c>) {
        let found = match self.env.corrections().struct_names {
            true => self.scopes.find_type(self.env, message.type_name),
            false => self.scopes.find(self.env, message.type_name),
        };
        let Some(declared) = found else {
            self.report_undeclared(id, message.type_name);
            return self.set_type(id, Type::Error);
        };
        if declared.name != message.type_name {
            self.rewrite(id, Rewrite::Renamed(declared.name.clone()));
        }
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
        for field in message.fields() {
            self.check(field.value);
            let expected = self.field_type(field.id, &type_name, field.name);
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
        self.found.has_mixed_literal |= so_far.as_ref().is_some_and(|so_far| *so_far != next);
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
