//! The macro that declares the structs of the API. One declaration contains everything that is needed to read and write a struct as Go
//! does.

/// Declares structs of the API. The name of each struct is followed by its name in Go. A field consists of its name in JSON, a mode, the
/// name of its innermost type in Go (empty for unnamed types), and the Rust field. `of` names the embedded Go struct to which the field
/// belongs.
///
/// The modes are `omit` (omitted if empty), `omit_list` (a list that may be null, omitted if it has no elements), `keep` (always written)
/// and `embed`. The mode `embed` is an embedded Go struct, whose fields are fields of the declared struct. Its name in Go replaces the name
/// in JSON.
#[macro_export]
macro_rules! api_types {
    ($(
        $(#[$doc:meta])*
        $vis:vis struct $name:ident($go:literal) {
            $($(#[$field_doc:meta])* $json:literal $mode:ident $named:literal $field:ident: $ty:ty $(, of $holder:literal)?;)*
        }
    )*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq)]
        $vis struct $name {
            $($(#[$field_doc])* $vis $field: $ty,)*
        }

        impl $crate::serializer::ApiStruct for $name {
            fn go_name(&self) -> &'static str {
                $go
            }

            fn member(&mut self, name: &str) -> Option<$crate::serializer::Member<'_>> {
                $($crate::api_types!(@member $mode, self.$field, name, $json, $named $(, $holder)?);)*
                None
            }

            fn member_names(&self) -> Vec<&'static str> {
                [$($crate::api_types!(@name $mode, self.$field, $json)),*].concat()
            }

            fn encode_members(&self, writer: &mut $crate::serializer::ObjectWriter<'_>) {
                $($crate::api_types!(@encode $mode, self.$field, writer, $json);)*
            }
        }

        impl $crate::serializer::ApiValue for $name {
            fn decode(&mut self, decoder: &mut $crate::serializer::Decoder<'_>, named: &'static str) -> Result<(), $crate::serializer::Aborted> {
                match decoder.peek() {
                    $crate::serializer::Token::Object => decoder.object(self)?,
                    _ => decoder.pass_over(<Self as $crate::serializer::ApiValue>::go_type(decoder, named)),
                }
                Ok(())
            }

            fn is_empty(&self) -> bool {
                false
            }

            fn encode(&self, out: &mut String) {
                $crate::serializer::ObjectWriter::write(out, self);
            }

            fn go_type(decoder: &$crate::serializer::Decoder<'_>, _: &'static str) -> String {
                decoder.qualified($go)
            }
        }
    )*};
    (@member embed, $self:ident.$field:ident, $name:ident, $json:literal, $named:literal) => {
        if let Some(mut member) = $crate::serializer::ApiStruct::member(&mut $self.$field, $name) {
            member.embedded.push($json);
            return Some(member);
        }
    };
    (@member $mode:ident, $self:ident.$field:ident, $name:ident, $json:literal, $named:literal $(, $holder:literal)?) => {
        if $name == $json {
            return Some($crate::serializer::Member { name: $json, named: $named, embedded: vec![$($holder)?], value: &mut $self.$field });
        }
    };
    (@name embed, $self:ident.$field:ident, $json:literal) => {
        $crate::serializer::ApiStruct::member_names(&$self.$field)
    };
    (@name $mode:ident, $self:ident.$field:ident, $json:literal) => {
        vec![$json]
    };
    (@encode embed, $self:ident.$field:ident, $writer:ident, $json:literal) => {
        $crate::serializer::ApiStruct::encode_members(&$self.$field, $writer)
    };
    (@encode omit, $self:ident.$field:ident, $writer:ident, $json:literal) => {
        if !$crate::serializer::ApiValue::is_empty(&$self.$field) {
            $writer.member($json, &$self.$field);
        }
    };
    (@encode omit_list, $self:ident.$field:ident, $writer:ident, $json:literal) => {
        if $self.$field.as_ref().is_some_and(|list| !list.is_empty()) {
            $writer.member($json, &$self.$field);
        }
    };
    (@encode keep, $self:ident.$field:ident, $writer:ident, $json:literal) => {
        $writer.member($json, &$self.$field)
    };
}
