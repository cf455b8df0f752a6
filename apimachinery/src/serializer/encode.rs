//! Writing objects as Go does.

use super::{ApiStruct, ApiValue};
use crate::json;

/// Writes the fields of an object.
#[derive(Debug)]
pub struct ObjectWriter<'o> {
    out: &'o mut String,
    is_first: bool,
}

impl ObjectWriter<'_> {
    /// Writes a struct.
    pub fn write(out: &mut String, object: &dyn ApiStruct) {
        out.push('{');
        object.encode_members(&mut ObjectWriter {
            out,
            is_first: true,
        });
        out.push('}');
    }

    /// Writes a field.
    pub fn member(&mut self, name: &str, value: &dyn ApiValue) {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(',');
        }
        self.out.push_str(&json::quoted(name));
        self.out.push(':');
        value.encode(self.out);
    }
}
