//! What all versions of a definition have in common: the API server keeps it in one place, and says so in the paths of
//! its errors (apiextensions `v1/conversion.go`).

use gavel_schema::OptionalList;

use super::api::{PrinterColumn, SelectableField, Subresources, Validation, Version};

/// What is the same in all versions, as a version without it has it no longer; nothing where there are no versions.
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

/// Something that versions may have in common.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Part<T> {
    /// What all have; nothing if they differ.
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

    /// Whether all have the same.
    pub(super) fn is_common(self) -> bool {
        self.is_common
    }

    /// What a version has of its own.
    pub(super) fn own(self, of_version: T) -> T {
        match self.is_common {
            true => T::default(),
            false => of_version,
        }
    }
}
