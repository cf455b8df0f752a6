//! Views of metadata, whose methods return single fields.

use gavel_golang::time::{Layout, OffsetTime};
use serde_json::{Map, Value as Json};

/// A borrowed view of the metadata of any object. It copies nothing and never fails: a field that is absent or has the wrong type is empty.
/// To read metadata strictly and write it again, use `ObjectMeta` of the crate `gavel-policy`.
///
/// ```
/// use gavel_apimachinery::meta::MetadataView;
///
/// let metadata = serde_json::json!({"name": "a", "finalizers": ["b"]});
/// let metadata = MetadataView::new(&metadata);
/// assert_eq!((metadata.name(), metadata.namespace()), ("a", ""));
/// assert_eq!(metadata.finalizers(), ["b"]);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct MetadataView<'a> {
    fields: Option<&'a Map<String, Json>>,
}

/// A view of an element of `ownerReferences`.
#[derive(Debug, Clone, Copy)]
pub struct OwnerView<'a> {
    fields: &'a Map<String, Json>,
}

/// A view of an element of `managedFields`.
#[derive(Debug, Clone, Copy)]
pub struct ManagedFieldsView<'a> {
    fields: &'a Map<String, Json>,
}

impl<'a> MetadataView<'a> {
    /// Views metadata. `metadata` is the value of the field `metadata` of an object.
    pub fn new(metadata: &'a Json) -> Self {
        MetadataView {
            fields: metadata.as_object(),
        }
    }

    /// Views the metadata of an object. `object` is the whole object.
    pub fn of(object: &'a Json) -> Self {
        object
            .get("metadata")
            .map(MetadataView::new)
            .unwrap_or_default()
    }

    /// The field `name`.
    pub fn name(self) -> &'a str {
        self.text("name")
    }

    /// The field `generateName`.
    pub fn generate_name(self) -> &'a str {
        self.text("generateName")
    }

    /// The field `namespace`.
    pub fn namespace(self) -> &'a str {
        self.text("namespace")
    }

    /// The field `uid`.
    pub fn uid(self) -> &'a str {
        self.text("uid")
    }

    /// The field `resourceVersion`.
    pub fn resource_version(self) -> &'a str {
        self.text("resourceVersion")
    }

    /// The field `generation`.
    pub fn generation(self) -> i64 {
        self.integer("generation").unwrap_or_default()
    }

    /// The field `creationTimestamp`.
    pub fn creation_timestamp(self) -> Option<OffsetTime> {
        self.time("creationTimestamp")
    }

    /// `deletionTimestamp`: the time at which the object is to be deleted. `None` if no deletion was requested.
    pub fn deletion_timestamp(self) -> Option<OffsetTime> {
        self.time("deletionTimestamp")
    }

    /// The field `deletionGracePeriodSeconds`.
    pub fn deletion_grace_period_seconds(self) -> Option<i64> {
        self.integer("deletionGracePeriodSeconds")
    }

    /// `labels`: keys and values, in the order of keys.
    pub fn labels(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.texts("labels")
    }

    /// `annotations`: keys and values, in the order of keys.
    pub fn annotations(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.texts("annotations")
    }

    /// The field `ownerReferences`.
    pub fn owner_references(self) -> Vec<OwnerView<'a>> {
        let items = self.list("ownerReferences").iter();
        let references = items.map(|item| item.as_object().map(|fields| OwnerView { fields }));
        references.collect::<Option<_>>().unwrap_or_default()
    }

    /// The field `finalizers`.
    pub fn finalizers(self) -> Vec<&'a str> {
        let items = self.list("finalizers").iter();
        items
            .map(Json::as_str)
            .collect::<Option<_>>()
            .unwrap_or_default()
    }

    /// The field `managedFields`.
    pub fn managed_fields(self) -> Vec<ManagedFieldsView<'a>> {
        let items = self.list("managedFields").iter();
        let entries = items.map(|item| {
            let fields = item.as_object()?;
            // Upstream reads no entries if the time of one entry is malformed, such as a year of five digits.
            let is_time = match fields.get("time") {
                Some(Json::String(time)) => Layout::Rfc3339.parse(time).is_ok(),
                _ => true,
            };
            is_time.then_some(ManagedFieldsView { fields })
        });
        entries.collect::<Option<_>>().unwrap_or_default()
    }

    fn field(self, name: &str) -> Option<&'a Json> {
        self.fields?.get(name)
    }

    fn text(self, name: &str) -> &'a str {
        text(self.fields, name)
    }

    fn integer(self, name: &str) -> Option<i64> {
        self.field(name)?.as_i64()
    }

    fn time(self, name: &str) -> Option<OffsetTime> {
        let time = Layout::Rfc3339.parse(self.text(name)).ok()?;
        Some(time).filter(|time| !time.is_zero())
    }

    fn texts(self, name: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let texts = self.field(name).and_then(Json::as_object);
        let texts = texts.filter(|texts| {
            texts
                .values()
                .all(|value| value.is_string() || value.is_null())
        });
        let entries = texts.into_iter().flatten();
        entries.map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default()))
    }

    fn list(self, name: &str) -> &'a [Json] {
        let items = self.field(name).and_then(Json::as_array);
        items.map(Vec::as_slice).unwrap_or_default()
    }
}

impl<'a> OwnerView<'a> {
    /// The field `apiVersion`.
    pub fn api_version(self) -> &'a str {
        text(Some(self.fields), "apiVersion")
    }

    /// The field `kind`.
    pub fn kind(self) -> &'a str {
        text(Some(self.fields), "kind")
    }

    /// The field `name`.
    pub fn name(self) -> &'a str {
        text(Some(self.fields), "name")
    }

    /// The field `uid`.
    pub fn uid(self) -> &'a str {
        text(Some(self.fields), "uid")
    }

    /// `controller`: whether the owner is the object's controller.
    pub fn controller(self) -> Option<bool> {
        self.fields.get("controller")?.as_bool()
    }

    /// The field `blockOwnerDeletion`.
    pub fn block_owner_deletion(self) -> Option<bool> {
        self.fields.get("blockOwnerDeletion")?.as_bool()
    }
}

impl<'a> ManagedFieldsView<'a> {
    /// The field `manager`.
    pub fn manager(self) -> &'a str {
        text(Some(self.fields), "manager")
    }

    /// `operation`: `Apply`, `Update`, or any other text in the object.
    pub fn operation(self) -> &'a str {
        text(Some(self.fields), "operation")
    }

    /// The field `fieldsType`.
    pub fn fields_type(self) -> &'a str {
        text(Some(self.fields), "fieldsType")
    }

    /// The field `subresource`.
    pub fn subresource(self) -> &'a str {
        text(Some(self.fields), "subresource")
    }
}

fn text<'a>(fields: Option<&'a Map<String, Json>>, name: &str) -> &'a str {
    let value = fields.and_then(|fields| fields.get(name));
    value.and_then(Json::as_str).unwrap_or_default()
}
