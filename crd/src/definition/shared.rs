//! The parts that all versions of a definition share. The API server stores each shared part once, outside of the versions, and its errors
//! name the path outside of the versions (apiextensions `v1/conversion.go`).

use gavel_schema::OptionalList;

use super::api::{PrinterColumn, SelectableField, Subresources, Validation, Version};

/// The parts that are equal in all versions, and that the API server therefore stores once. A definition without versions shares nothing.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shared<'d> {
    /// The schema.
    pub(super) validation: Part<Option<&'d Validation>>,
    /// The subresources.
    pub(super) subresources: Part<Option<&'d Subresources>>,
    /// The columns.
    pub(super) columns: Part<&'d OptionalList<PrinterColumn>>,
    /// The selectable fields.
    pub(super) selectable_fields: Part<&'d OptionalList<SelectableField>>,
}

/// A part that versions can share.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Part<T> {
    /// The value that all versions have; empty if the versions differ.
    pub(super) common: T,
    is_common: bool,
}

impl<'d> Shared<'d> {
    pub(super) fn of(versions: &'d [Version]) -> Self {
        Shared {
            validation: Part::of(versions, |version| version.schema.as_ref()),
            subresources: Part::of(versions, |version| version.subresources.as_ref()),
            columns: Part::of(versions, |version| &version.additional_printer_columns),
            selectable_fields: Part::of(versions, |version| &version.selectable_fields),
        }
    }
}

impl<T: Copy + Default + PartialEq> Part<T> {
    fn of<'d>(versions: &'d [Version], part: impl Fn(&'d Version) -> T) -> Self {
        let mut parts = versions.iter().map(part);
        match parts.next() {
            Some(first) if parts.all(|other| other == first) => Part {
                common: first,
                is_common: true,
            },
            _ => Part::default(),
        }
    }

    /// Whether all versions have the same value.
    pub(super) fn is_common(self) -> bool {
        self.is_common
    }

    /// Returns an empty value if all versions have the same value, otherwise `of_version`, the value of one version.
    pub(super) fn own(self, of_version: T) -> T {
        match self.is_common {
            true => T::default(),
            false => of_version,
        }
    }
}
