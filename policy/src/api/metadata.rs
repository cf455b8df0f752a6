//! The metadata of all objects (apimachinery `pkg/apis/meta/v1`).

use std::collections::BTreeMap;

use gavel_apimachinery::api_types;
use gavel_apimachinery::serializer::{RawJson, Time};

api_types! {
    /// The kind and API version of an object.
    pub struct TypeMeta("v1.TypeMeta") {
        /// `kind`
        "kind" omit "" kind: String;
        /// `apiVersion`
        "apiVersion" omit "" api_version: String;
    }

    /// `metadata` of an object.
    pub struct ObjectMeta("v1.ObjectMeta") {
        /// `name`
        "name" omit "" name: String;
        /// `generateName`: the prefix of a generated name.
        "generateName" omit "" generate_name: String;
        /// `namespace`
        "namespace" omit "" namespace: String;
        /// `selfLink`: unused.
        "selfLink" omit "" self_link: String;
        /// `uid`
        "uid" omit "types.UID" uid: String;
        /// `resourceVersion`
        "resourceVersion" omit "" resource_version: String;
        /// `generation`
        "generation" omit "" generation: i64;
        /// `creationTimestamp`
        "creationTimestamp" omit "" creation_timestamp: Time;
        /// `deletionTimestamp`
        "deletionTimestamp" omit "" deletion_timestamp: Option<Time>;
        /// `deletionGracePeriodSeconds`
        "deletionGracePeriodSeconds" omit "" deletion_grace_period_seconds: Option<i64>;
        /// `labels`
        "labels" omit "" labels: BTreeMap<String, String>;
        /// `annotations`
        "annotations" omit "" annotations: BTreeMap<String, String>;
        /// `ownerReferences`
        "ownerReferences" omit "" owner_references: Vec<OwnerReference>;
        /// `finalizers`
        "finalizers" omit "" finalizers: Vec<String>;
        /// `managedFields`
        "managedFields" omit "" managed_fields: Vec<ManagedFieldsEntry>;
    }

    /// An owner of an object.
    pub struct OwnerReference("v1.OwnerReference") {
        /// `apiVersion`
        "apiVersion" keep "" api_version: String;
        /// `kind`
        "kind" keep "" kind: String;
        /// `name`
        "name" keep "" name: String;
        /// `uid`
        "uid" keep "types.UID" uid: String;
        /// `controller`: whether the owner is the object's controller.
        "controller" omit "" controller: Option<bool>;
        /// `blockOwnerDeletion`
        "blockOwnerDeletion" omit "" block_owner_deletion: Option<bool>;
    }

    /// The fields that a manager has set.
    pub struct ManagedFieldsEntry("v1.ManagedFieldsEntry") {
        /// `manager`
        "manager" omit "" manager: String;
        /// `operation`: `Apply` or `Update`.
        "operation" omit "v1.ManagedFieldsOperationType" operation: String;
        /// `apiVersion`
        "apiVersion" omit "" api_version: String;
        /// `time`
        "time" omit "" time: Option<Time>;
        /// `fieldsType`: `FieldsV1`.
        "fieldsType" omit "" fields_type: String;
        /// `fieldsV1`: the paths of the fields, as JSON.
        "fieldsV1" omit "" fields_v1: Option<RawJson>;
        /// `subresource`
        "subresource" omit "" subresource: String;
    }

    /// A condition of an object: one aspect of its state.
    pub struct Condition("v1.Condition") {
        /// `type`
        "type" keep "" kind: String;
        /// `status`: `True`, `False` or `Unknown`.
        "status" keep "v1.ConditionStatus" status: String;
        /// `observedGeneration`
        "observedGeneration" omit "" observed_generation: i64;
        /// `lastTransitionTime`
        "lastTransitionTime" keep "" last_transition_time: Time;
        /// `reason`
        "reason" keep "" reason: String;
        /// `message`
        "message" keep "" message: String;
    }
}
