//! Parts of a definition as the API server's messages show them: as JSON of its internal Go types, whose fields are in the
//! order of the types and have Go's names; what is absent is there too (apiextensions `types.go`, `types_jsonschema.go`).

use gavel_apimachinery::json;
use gavel_engine::value::Json;
use gavel_schema::{Dependency, Items, JsonSchema, SchemaOrBool, ValidationRule};

use super::api::{PrinterColumn, SelectableField, Subresources, Validation, Version};
use super::shared::Shared;

/// The versions of a definition, without what all have in common.
pub(super) fn versions(versions: &[Version], shared: &Shared<'_>) -> String {
    let versions = versions.iter().map(|version| {
        let validation = shared.validation.own(version.schema.as_ref());
        let subresources = shared.subresources.own(version.subresources.as_ref());
        let columns = shared.columns.own(&version.additional_printer_columns);
        let fields = shared.selectable_fields.own(&version.selectable_fields);
        object(&[
            ("Name", json::quoted(&version.name)),
            ("Served", version.served.to_string()),
            ("Storage", version.storage.to_string()),
            ("Deprecated", version.deprecated.to_string()),
            (
                "DeprecationWarning",
                text_or_null(version.deprecation_warning.as_deref()),
            ),
            ("Schema", or_null(validation, self::validation)),
            ("Subresources", or_null(subresources, self::subresources)),
            ("AdditionalPrinterColumns", list_or_null(columns, column)),
            ("SelectableFields", list_or_null(fields, selectable_field)),
        ])
    });
    format!("[{}]", versions.collect::<Vec<_>>().join(","))
}

fn validation(validation: &Validation) -> String {
    let schema = or_null(validation.schema.as_deref(), schema);
    object(&[("OpenAPIV3Schema", schema)])
}

fn subresources(subresources: &Subresources) -> String {
    let status = match subresources.status {
        true => "{}",
        false => "null",
    };
    let scale = or_null(subresources.scale.as_ref(), |scale| {
        object(&[
            ("SpecReplicasPath", json::quoted(&scale.spec_replicas_path)),
            (
                "StatusReplicasPath",
                json::quoted(&scale.status_replicas_path),
            ),
            (
                "LabelSelectorPath",
                text_or_null(scale.label_selector_path.as_deref()),
            ),
        ])
    });
    object(&[("Status", status.to_owned()), ("Scale", scale)])
}

fn column(column: &PrinterColumn) -> String {
    object(&[
        ("Name", json::quoted(&column.name)),
        ("Type", json::quoted(&column.kind)),
        ("Format", json::quoted(&column.format)),
        ("Description", json::quoted(&column.description)),
        ("Priority", column.priority.to_string()),
        ("JSONPath", json::quoted(&column.json_path)),
    ])
}

fn selectable_field(field: &SelectableField) -> String {
    object(&[("JSONPath", json::quoted(&field.json_path))])
}

/// A schema.
pub(super) fn schema(schema: &JsonSchema) -> String {
    object(&[
        ("ID", json::quoted(&schema.id)),
        ("Schema", json::quoted(&schema.schema)),
        ("Ref", text_or_null(schema.reference.as_deref())),
        ("Description", json::quoted(&schema.description)),
        ("Type", json::quoted(&schema.kind)),
        ("Nullable", schema.nullable.to_string()),
        ("Format", json::quoted(&schema.format)),
        ("Title", json::quoted(&schema.title)),
        ("Default", or_null(schema.default.as_ref(), json::to_string)),
        ("Maximum", or_null(schema.maximum, number)),
        ("ExclusiveMaximum", schema.exclusive_maximum.to_string()),
        ("Minimum", or_null(schema.minimum, number)),
        ("ExclusiveMinimum", schema.exclusive_minimum.to_string()),
        ("MaxLength", or_null(schema.max_length, integer)),
        ("MinLength", or_null(schema.min_length, integer)),
        ("Pattern", json::quoted(&schema.pattern)),
        ("MaxItems", or_null(schema.max_items, integer)),
        ("MinItems", or_null(schema.min_items, integer)),
        ("UniqueItems", schema.unique_items.to_string()),
        ("MultipleOf", or_null(schema.multiple_of, number)),
        ("Enum", list_or_null(&schema.enumeration, json::to_string)),
        ("MaxProperties", or_null(schema.max_properties, integer)),
        ("MinProperties", or_null(schema.min_properties, integer)),
        ("Required", texts(&schema.required)),
        ("Items", or_null(schema.items.as_ref(), items)),
        ("AllOf", list_or_null(&schema.all_of, self::schema)),
        ("OneOf", list_or_null(&schema.one_of, self::schema)),
        ("AnyOf", list_or_null(&schema.any_of, self::schema)),
        ("Not", or_null(schema.not.as_deref(), self::schema)),
        ("Properties", named(&schema.properties, self::schema)),
        (
            "AdditionalProperties",
            or_null(schema.additional_properties.as_ref(), schema_or_bool),
        ),
        (
            "PatternProperties",
            named(&schema.pattern_properties, self::schema),
        ),
        ("Dependencies", named(&schema.dependencies, dependency)),
        (
            "AdditionalItems",
            or_null(schema.additional_items.as_ref(), schema_or_bool),
        ),
        ("Definitions", named(&schema.definitions, self::schema)),
        (
            "ExternalDocs",
            or_null(schema.external_docs.as_ref(), |docs| {
                object(&[
                    ("Description", json::quoted(&docs.description)),
                    ("URL", json::quoted(&docs.url)),
                ])
            }),
        ),
        ("Example", or_null(schema.example.as_ref(), json::to_string)),
        (
            "XPreserveUnknownFields",
            or_null(schema.preserve_unknown_fields, |flag| flag.to_string()),
        ),
        ("XEmbeddedResource", schema.embedded_resource.to_string()),
        ("XIntOrString", schema.int_or_string.to_string()),
        ("XListMapKeys", texts(&schema.list_map_keys)),
        ("XListType", text_or_null(schema.list_type.as_deref())),
        ("XMapType", text_or_null(schema.map_type.as_deref())),
        ("XValidations", list_or_null(&schema.validations, rule)),
    ])
}

/// A rule.
pub(super) fn rule(rule: &ValidationRule) -> String {
    object(&[
        ("Rule", json::quoted(&rule.rule)),
        ("Message", json::quoted(&rule.message)),
        ("MessageExpression", json::quoted(&rule.message_expression)),
        ("Reason", text_or_null(rule.reason.as_deref())),
        ("FieldPath", json::quoted(&rule.field_path)),
        (
            "OptionalOldSelf",
            or_null(rule.optional_old_self, |flag| flag.to_string()),
        ),
    ])
}

/// The schemas of a list's elements.
pub(super) fn items(items: &Items) -> String {
    let (one, many) = match items {
        Items::Schema(one) => (Some(&**one), &[][..]),
        Items::Positions(many) => (None, many.as_slice()),
    };
    object(&[
        ("Schema", or_null(one, schema)),
        ("JSONSchemas", list_or_null(many, schema)),
    ])
}

fn schema_or_bool(value: &SchemaOrBool) -> String {
    let (allows, schema) = match value {
        SchemaOrBool::Allows(allows) => (*allows, None),
        SchemaOrBool::Schema(schema) => (true, Some(&**schema)),
    };
    object(&[
        ("Allows", allows.to_string()),
        ("Schema", or_null(schema, self::schema)),
    ])
}

fn dependency(dependency: &Dependency) -> String {
    let (schema, properties) = match dependency {
        Dependency::Properties(names) => (None, names.as_slice()),
        Dependency::Schema(schema) => (Some(&**schema), &[][..]),
    };
    object(&[
        ("Schema", or_null(schema, self::schema)),
        ("Property", texts(properties)),
    ])
}

fn object(fields: &[(&str, String)]) -> String {
    let fields = fields
        .iter()
        .map(|(name, value)| format!("\"{name}\":{value}"));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

fn list_or_null<T>(items: &[T], write: impl Fn(&T) -> String) -> String {
    match items {
        [] => "null".to_owned(),
        items => format!(
            "[{}]",
            items.iter().map(write).collect::<Vec<_>>().join(",")
        ),
    }
}

fn named<'t, T: 't>(
    entries: impl IntoIterator<Item = (&'t String, &'t T)>,
    write: impl Fn(&T) -> String,
) -> String {
    let entry = |(name, value): (&String, &T)| format!("{}:{}", json::quoted(name), write(value));
    let entries: Vec<_> = entries.into_iter().map(entry).collect();
    match entries.is_empty() {
        true => "null".to_owned(),
        false => format!("{{{}}}", entries.join(",")),
    }
}

fn texts(texts: &[String]) -> String {
    list_or_null(texts, |text| json::quoted(text))
}

fn text_or_null(text: Option<&str>) -> String {
    or_null(text, json::quoted)
}

fn or_null<T>(value: Option<T>, write: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "null".to_owned(), write)
}

fn integer(value: i64) -> String {
    value.to_string()
}

fn number(value: f64) -> String {
    json::to_string(&Json::from(value))
}
