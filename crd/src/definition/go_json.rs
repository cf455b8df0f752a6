//! Prints parts of a definition as the API server's messages do: as JSON of the API server's internal Go types. Fields have Go's names and
//! order, and absent fields are printed too (apiextensions `types.go`, `types_jsonschema.go`).

use gavel_apimachinery::json;
use gavel_engine::value::Json;
use gavel_schema::{
    Dependency, Items, JsonSchema, OptionalList, SchemaMap, SchemaOrBool, ValidationRule,
};
use smol_str::SmolStr;

use super::api::{PrinterColumn, SelectableField, Subresources, Validation, Version};
use super::shared::Shared;

/// The JSON of the versions of a definition, without the parts that all versions share.
pub(super) fn versions(versions: &OptionalList<Version>, shared: &Shared<'_>) -> String {
    list_or_null(versions, |version| {
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
    })
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

/// The JSON of a schema.
pub(super) fn schema(node: &JsonSchema) -> String {
    object(&[
        ("ID", json::quoted(&node.unsupported.id)),
        ("Schema", json::quoted(&node.unsupported.schema)),
        ("Ref", text_or_null(node.unsupported.reference.as_deref())),
        ("Description", json::quoted(&node.docs.description)),
        ("Type", json::quoted(&node.kind)),
        ("Nullable", node.nullable.to_string()),
        ("Format", json::quoted(&node.format)),
        ("Title", json::quoted(&node.docs.title)),
        ("Default", or_null(node.default.as_deref(), json::to_string)),
        ("Maximum", or_null(node.bounds.maximum, number)),
        (
            "ExclusiveMaximum",
            node.bounds.exclusive_maximum.to_string(),
        ),
        ("Minimum", or_null(node.bounds.minimum, number)),
        (
            "ExclusiveMinimum",
            node.bounds.exclusive_minimum.to_string(),
        ),
        ("MaxLength", or_null(node.bounds.max_length, integer)),
        ("MinLength", or_null(node.bounds.min_length, integer)),
        ("Pattern", json::quoted(&node.bounds.pattern)),
        ("MaxItems", or_null(node.bounds.max_items, integer)),
        ("MinItems", or_null(node.bounds.min_items, integer)),
        ("UniqueItems", node.bounds.unique_items.to_string()),
        ("MultipleOf", or_null(node.bounds.multiple_of, number)),
        (
            "Enum",
            list_or_null(&node.bounds.enumeration, json::to_string),
        ),
        (
            "MaxProperties",
            or_null(node.bounds.max_properties, integer),
        ),
        (
            "MinProperties",
            or_null(node.bounds.min_properties, integer),
        ),
        ("Required", texts(&node.required)),
        ("Items", or_null(node.items.as_ref(), items)),
        (
            "AllOf",
            list_or_null(&node.combinations.all_of, self::schema),
        ),
        (
            "OneOf",
            list_or_null(&node.combinations.one_of, self::schema),
        ),
        (
            "AnyOf",
            list_or_null(&node.combinations.any_of, self::schema),
        ),
        (
            "Not",
            or_null(node.combinations.not.as_deref(), self::schema),
        ),
        ("Properties", named(&node.properties)),
        (
            "AdditionalProperties",
            or_null(node.additional_properties.as_ref(), schema_or_bool),
        ),
        (
            "PatternProperties",
            named(&node.unsupported.pattern_properties),
        ),
        ("Dependencies", dependencies(&node.unsupported.dependencies)),
        (
            "AdditionalItems",
            or_null(node.unsupported.additional_items.as_ref(), schema_or_bool),
        ),
        ("Definitions", named(&node.unsupported.definitions)),
        (
            "ExternalDocs",
            or_null(node.docs.external.as_ref(), |docs| {
                object(&[
                    ("Description", json::quoted(&docs.description)),
                    ("URL", json::quoted(&docs.url)),
                ])
            }),
        ),
        (
            "Example",
            or_null(node.docs.example.as_ref(), json::to_string),
        ),
        (
            "XPreserveUnknownFields",
            or_null(node.preserve_unknown_fields, |flag| flag.to_string()),
        ),
        ("XEmbeddedResource", node.embedded_resource.to_string()),
        ("XIntOrString", node.int_or_string.to_string()),
        ("XListMapKeys", texts(&node.topology.list_map_keys)),
        (
            "XListType",
            text_or_null(node.topology.list_type.as_deref()),
        ),
        ("XMapType", text_or_null(node.topology.map_type.as_deref())),
        ("XValidations", list_or_null(&node.validations, rule)),
    ])
}

/// The JSON of a rule.
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

/// The JSON of `items`.
pub(super) fn items(items: &Items) -> String {
    let (one, many) = match items {
        Items::Schema(one) => (Some(&**one), &OptionalList::default()),
        Items::Positions(many) => (None, many),
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

fn dependencies(dependencies: &OptionalList<(SmolStr, Dependency)>) -> String {
    or_null(
        dependencies.is_present().then_some(dependencies),
        |dependencies| {
            let entries = dependencies.iter().map(|(name, value)| (name, value));
            self::entries(entries, dependency)
        },
    )
}

fn dependency(dependency: &Dependency) -> String {
    let (schema, properties) = match dependency {
        Dependency::Properties(names) => (None, names),
        Dependency::Schema(schema) => (Some(&**schema), &OptionalList::default()),
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

fn list_or_null<T>(items: &OptionalList<T>, write: impl Fn(&T) -> String) -> String {
    or_null(items.is_present().then_some(items), |items| {
        format!(
            "[{}]",
            items.iter().map(write).collect::<Vec<_>>().join(",")
        )
    })
}

fn named(schemas: &SchemaMap) -> String {
    or_null(schemas.is_present().then_some(schemas), |schemas| {
        entries(schemas, |named| schema(named))
    })
}

fn entries<'t, T: 't, N: AsRef<str> + 't>(
    entries: impl IntoIterator<Item = (&'t N, &'t T)>,
    write: impl Fn(&T) -> String,
) -> String {
    let entry =
        |(name, value): (&N, &T)| format!("{}:{}", json::quoted(name.as_ref()), write(value));
    let entries: Vec<_> = entries.into_iter().map(entry).collect();
    format!("{{{}}}", entries.join(","))
}

fn texts(texts: &OptionalList<SmolStr>) -> String {
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
