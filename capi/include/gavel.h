/* Gavel: CEL as Kubernetes evaluates it, in process. Generated from the crate gavel-capi; docs/embed-c.md is the guide. */

#ifndef GAVEL_H
#define GAVEL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// The major version. It increases when a change requires programs to be adapted.
#define GAVEL_ABI_MAJOR 1

// The minor version. It increases when functions or options are added.
#define GAVEL_ABI_MINOR 1

// The verdict of an authorizer.
typedef enum GavelVerdict {
  // No opinion.
  GAVEL_VERDICT_NO_OPINION = 0,
  // The request is allowed.
  GAVEL_VERDICT_ALLOW = 1,
  // The request is denied.
  GAVEL_VERDICT_DENY = 2,
} GavelVerdict;

// The kind of a value.
typedef enum GavelValueKind {
  // No value: the expression was only checked, or it is null in a list of expressions.
  GAVEL_VALUE_KIND_NONE = 0,
  // The value `null`.
  GAVEL_VALUE_KIND_NULL = 1,
  // A bool: `number` is 0 or 1.
  GAVEL_VALUE_KIND_BOOL = 2,
  // An int: `number` is the value.
  GAVEL_VALUE_KIND_INT = 3,
  // A uint: `number` holds its bits.
  GAVEL_VALUE_KIND_UINT = 4,
  // A double: `number` holds its bits.
  GAVEL_VALUE_KIND_DOUBLE = 5,
  // A string: `bytes` is its UTF-8.
  GAVEL_VALUE_KIND_STRING = 6,
  // Bytes: `bytes` is the value.
  GAVEL_VALUE_KIND_BYTES = 7,
  // A timestamp: `number` seconds since 1970 and `nanos` nanoseconds.
  GAVEL_VALUE_KIND_TIMESTAMP = 8,
  // A duration: `number` nanoseconds.
  GAVEL_VALUE_KIND_DURATION = 9,
  // Any other value: `bytes` is typed JSON, as in the batch protocol.
  GAVEL_VALUE_KIND_TYPED = 10,
  // An error: `bytes` is the message. Only functions that evaluate several expressions return this kind.
  GAVEL_VALUE_KIND_ERROR = 11,
} GavelValueKind;

// The kind of an error.
typedef enum GavelErrorKind {
  // An argument is invalid.
  GAVEL_ERROR_KIND_ARGUMENT = 1,
  // An expression has a syntax error.
  GAVEL_ERROR_KIND_PARSE = 2,
  // An expression does not type-check.
  GAVEL_ERROR_KIND_CHECK = 3,
  // A constant part of an expression fails.
  GAVEL_ERROR_KIND_PLAN = 4,
  // An evaluation failed.
  GAVEL_ERROR_KIND_EVALUATION = 5,
  // An evaluation exceeded its cost limit.
  GAVEL_ERROR_KIND_COST_LIMIT = 6,
  // An evaluation exceeded its memory limit.
  GAVEL_ERROR_KIND_MEMORY_LIMIT = 7,
  // The deadline passed, or the host cancelled the call.
  GAVEL_ERROR_KIND_INTERRUPTED = 8,
  // An object cannot be decoded. It was not validated.
  GAVEL_ERROR_KIND_DECODE = 9,
  // A definition or a policy cannot be compiled.
  GAVEL_ERROR_KIND_COMPILE = 10,
  // The library panicked, and caught the panic. The message is for a bug report.
  GAVEL_ERROR_KIND_PANIC = 11,
} GavelErrorKind;

// A flag that cancels calls. Soon after the flag is set, every call that uses it ends with an error.
typedef struct GavelCancel GavelCancel;

// A compiled expression.
typedef struct GavelCondition GavelCondition;

// A compiler of expressions, with the variables that expressions can read.
typedef struct GavelConditions GavelConditions;

// A compiled definition.
typedef struct GavelCrd GavelCrd;

// The functions and variables that expressions can use.
typedef struct GavelEnv GavelEnv;

// An error. `gavel_error_read` reads the error, `gavel_error_free` frees it.
typedef struct GavelError GavelError;

// An index of policies, bindings, params and namespaces. Each call uses the contents that the index had when the call began.
typedef struct GavelIndex GavelIndex;

// A compiled policy or binding.
typedef struct GavelPolicy GavelPolicy;

// A compiled expression.
typedef struct GavelProgram GavelProgram;

// Receives the host's answer in a callback. The reply is valid until the callback returns.
typedef struct GavelReply GavelReply;

// The compiled rules of a structural schema.
typedef struct GavelRules GavelRules;

// An immutable JSON value, such as an object that the host uses in several calls.
typedef struct GavelValue GavelValue;

// The variables that an expression can read in addition to `object`, `oldObject`, `request` and `namespaceObject`.
typedef struct GavelDeclarations {
  // Whether `params` is declared.
  bool params;
  // Whether `authorizer` and `authorizer.requestResource` are declared.
  bool authorizer;
  // Whether the types and functions of mutations (`Object`, `JSONPatch`) are declared.
  bool patch_types;
} GavelDeclarations;

// Bytes that the host owns and frees with `gavel_bytes_free`.
typedef struct GavelBytes {
  // The first byte; null if there are none.
  uint8_t *data;
  // The number of bytes.
  size_t len;
} GavelBytes;

// Authorizes an action of a user. `attributes` is a JSON object: `verb`, `user` (the name), `resourceRequest`, and `path` or `apiGroup`,
// `apiVersion`, `resource`, `subresource`, `namespace`, `name`, `fieldSelector`, `labelSelector`. `authorizer` is the number that the host
// gave to the authorizer in the flat encoding. It is 0 for the authorizer of an admission request.
typedef void (*GavelAuthorize)(size_t context,
                               uint64_t authorizer,
                               const uint8_t *attributes,
                               size_t attributes_len,
                               struct GavelReply *reply);

// Looks up a namespace. The host answers with `gavel_reply_value` or `gavel_reply_failure`. If the namespace does not exist, the host
// calls neither function.
typedef void (*GavelFindNamespace)(size_t context, const uint8_t *name, size_t name_len, struct GavelReply *reply);

// Looks up a param by kind and name for a policy of the index. It is not called for policies that the host passes to a call. The host
// answers with `gavel_reply_value` or `gavel_reply_failure`. If the object does not exist, the host calls neither function. The namespace
// is empty for requests without a namespace, and for kinds that the index knows to be cluster-scoped.
typedef void (*GavelFindParam)(size_t context,
                               const uint8_t *api_version,
                               size_t api_version_len,
                               const uint8_t *kind,
                               size_t kind_len,
                               const uint8_t *param_namespace,
                               size_t param_namespace_len,
                               const uint8_t *name,
                               size_t name_len,
                               struct GavelReply *reply);

// Functions of the host. The library calls them on the thread that called the library, possibly on many threads at once. If this thread has
// too little stack for the call, the library calls them on another thread, while this thread waits. The functions must not unwind.
typedef struct GavelCallbacks {
  // A value that is passed to each function unchanged.
  size_t context;
  // The authorizer. If it is null, the variable `authorizer` answers "no opinion" to every check.
  GavelAuthorize authorize;
  // Looks up namespaces that the index does not contain; may be null.
  GavelFindNamespace find_namespace;
  // Looks up params that the index does not contain; may be null.
  GavelFindParam find_param;
} GavelCallbacks;

// The limits of a call, and its callbacks. If all fields are zero, the cost limits of Kubernetes apply, and the call has no deadline, flag
// or callbacks.
typedef struct GavelOptions {
  // Whether `cost_limit` is set.
  bool has_cost_limit;
  // The cost limit in cost units. Depending on the function, it limits one evaluation, all rules of an object, or all expressions of a
  // policy.
  int64_t cost_limit;
  // The memory limit of the values that `gavel_program_eval` computes, in bytes. 0 means 64 MiB.
  size_t memory_limit;
  // The time limit of the call, in nanoseconds. 0 means no limit.
  uint64_t timeout_nanos;
  // A flag that cancels the call. May be null. The flag must live as long as the call.
  const struct GavelCancel *cancel;
  // The callbacks.
  struct GavelCallbacks callbacks;
} GavelOptions;

// The outcome of an evaluation.
typedef struct GavelOutcome {
  // The cost in cost units, even if the evaluation failed; 0 if the expression was not evaluated. Only `gavel_program_eval` sets it.
  uint64_t cost;
  // Whether the expression was evaluated. Only `gavel_program_eval` sets it.
  bool evaluated;
  // The kind of the value.
  enum GavelValueKind kind;
  // The nanoseconds within the second of a timestamp.
  uint32_t nanos;
  // The value, or its bits, if `kind` is `Bool`, `Int`, `Uint`, `Double`, `Timestamp` or `Duration`.
  int64_t number;
  // The value or the message, if `kind` is `String`, `Bytes`, `Typed` or `Error`. The host frees the bytes.
  struct GavelBytes bytes;
} GavelOutcome;

// Additional details to return with a decision.
typedef struct GavelExplain {
  // Whether to return the policies and bindings that matched, with their results.
  bool explain;
  // Whether to return each evaluated expression, with its value and cost.
  bool trace;
} GavelExplain;

// A decision.
typedef struct GavelDecision {
  // Whether the request is allowed.
  bool allowed;
  // Whether a mutation changed the object.
  bool mutated;
  // A JSON object: `status`, `denials`, `warnings`, `annotations`, `annotationErrors`, `policies` (the explanation) and `object` (after
  // mutations). Empty if there are no details. The host frees the bytes.
  struct GavelBytes details;
} GavelDecision;

// Borrowed bytes of a handle. They live as long as the handle.
typedef struct GavelSlice {
  // The first byte; null if there are none.
  const uint8_t *data;
  // The number of bytes.
  size_t len;
} GavelSlice;

// The contents of an error.
typedef struct GavelErrorView {
  // The kind.
  enum GavelErrorKind kind;
  // The line in the expression, from 1; 0 if the error has no position.
  uint32_t line;
  // The column in the expression in code points, from 1; 0 if the error has no position.
  uint32_t column;
  // The message, in Kubernetes' words. It lives as long as the error.
  struct GavelSlice message;
} GavelErrorView;

// Converts an object of a request, given as JSON text, to a kind. The host answers with `gavel_reply_value`, or with `gavel_reply_failure`,
// whose message becomes the reason why the policy could not be evaluated. If the two kinds differ only in `apiVersion` and `kind`, the
// host calls neither function. `context` is the context of the call's `GavelCallbacks`, or 0 if the call has no options. The rules of
// `GavelCallbacks` apply.
typedef void (*GavelConvert)(size_t context,
                             const uint8_t *object,
                             size_t object_len,
                             const uint8_t *api_version,
                             size_t api_version_len,
                             const uint8_t *kind,
                             size_t kind_len,
                             struct GavelReply *reply);

// The static properties of an expression. The texts live as long as the program.
typedef struct GavelStatics {
  // Whether the estimate is known.
  bool has_estimate;
  // The lower bound of the cost of an evaluation, in cost units.
  uint64_t estimate_min;
  // The upper bound of the cost of an evaluation, in cost units.
  uint64_t estimate_max;
  // The type, such as `list(string)`; empty if unknown.
  struct GavelSlice type_name;
  // The type as Kubernetes' messages print it.
  struct GavelSlice type_in_messages;
} GavelStatics;

// Options for decoding an object. If all fields are false, the object is decoded as an API server decodes the body of a request.
typedef struct GavelDecode {
  // Whether the object comes from storage, not from a request.
  bool from_storage;
  // Whether unknown fields are kept.
  bool keep_unknown;
  // Whether absent fields stay absent instead of receiving their defaults.
  bool no_defaults;
} GavelDecode;

// Options for validating an object. If all fields are false, the object is validated as in an API server.
typedef struct GavelValidate {
  // Whether metadata is not validated.
  bool skip_metadata;
  // Whether the request is an update of the status subresource.
  bool status;
  // Whether rules run even if an API server would skip them because of schema errors.
  bool force_rules;
} GavelValidate;

// The outcome of validating an object.
typedef struct GavelValidation {
  // Whether the object is valid.
  bool valid;
  // Whether the definition has no rules.
  bool no_rules;
  // Whether the rules were skipped because of schema errors.
  bool rules_skipped;
  // The remaining budget in cost units. Negative if a rule exceeded a limit, which ends the validation.
  int64_t remaining_budget;
  // A JSON object: `schemaErrors` and `ruleErrors` (lists of errors with `type`, `field`, `badValue`, `detail` and `string`), `warnings`
  // and `notes`. Empty if the object is valid and has no warnings. The host frees the bytes.
  struct GavelBytes findings;
} GavelValidation;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the version of the ABI: the major version in the upper 16 bits, the minor version in the lower 16 bits. A host must not use a
// library whose major version differs from `GAVEL_ABI_MAJOR` in the header that the host was compiled with.
uint32_t gavel_abi_version(void);

// Answers a call of `GavelAuthorize`. `reason` and `error` are texts that may be empty; each byte that is not part of valid UTF-8 becomes
// U+FFFD.
//
// # Safety
//
// `reply` must belong to the running callback, `verdict` must be one of the three verdicts, and `reason` and `error` must point to as many
// bytes as their lengths say.
void gavel_reply_decision(struct GavelReply *reply,
                          enum GavelVerdict verdict,
                          const uint8_t *reason,
                          size_t reason_len,
                          const uint8_t *error,
                          size_t error_len);

// Answers a look-up with an object in the flat encoding. If the object cannot be decoded, the function that the host called fails.
//
// # Safety
//
// `reply` must belong to the running callback, and `data` must point to `len` bytes, in which all handles are valid.
void gavel_reply_value(struct GavelReply *reply,
                       const uint8_t *data,
                       size_t len);

// Answers that a look-up failed. The function that the host called fails with this message.
//
// # Safety
//
// `reply` must belong to the running callback, and `message` must point to `message_len` bytes.
void gavel_reply_failure(struct GavelReply *reply, const uint8_t *message, size_t message_len);

// Creates a compiler. `config` is JSON with the keys `server`, `k8sVersion`, `mode` ("new" or "stored") and `variables` (whether
// expressions can read `variables`).
//
// # Safety
//
// `config` must point to `config_len` bytes, and `out` to memory for a handle.
struct GavelError *gavel_conditions_new(const uint8_t *config,
                                        size_t config_len,
                                        struct GavelConditions **out);

// Compiles a variable and declares it for later expressions. A variable that does not compile is declared too, but expressions that read
// it fail. `type_name` receives the type of the variable. The call waits until the running evaluations of this compiler have ended, so
// a callback of an evaluation must not use the compiler.
//
// # Safety
//
// `conditions` must be a compiler that was not freed. `name` and `text` must point to as many bytes as their lengths say, and `type_name`
// to memory for bytes.
struct GavelError *gavel_conditions_variable(const struct GavelConditions *conditions,
                                             const uint8_t *name,
                                             size_t name_len,
                                             const uint8_t *text,
                                             size_t text_len,
                                             struct GavelDeclarations declared,
                                             struct GavelBytes *type_name);

// Compiles an expression of any type. `type_name` receives the type of the expression.
//
// # Safety
//
// `conditions` must be a compiler that was not freed. `text` must point to `text_len` bytes, `out` to memory for a handle, and `type_name`
// to memory for bytes.
struct GavelError *gavel_conditions_compile(const struct GavelConditions *conditions,
                                            const uint8_t *text,
                                            size_t text_len,
                                            struct GavelDeclarations declared,
                                            struct GavelCondition **out,
                                            struct GavelBytes *type_name);

// Evaluates expressions of this compiler in order. A null expression has an empty outcome. `variables` is an object in the flat encoding,
// or JSON text with tag 32: `object`, `oldObject`, `request`, `params`, `namespaceObject`, `authorizer`, `authorizer.requestResource`. Each
// variable may be absent, but the last two only together; no bytes are no variables. The cost limit in the options is the budget of all
// expressions together. `remaining` receives the rest of the budget. If the budget was exceeded, `remaining` is -1, and no outcome is
// written. An outcome of kind `Error` contains the message.
//
// # Safety
//
// `conditions` must be a compiler that was not freed. `expressions` must point to `count` handles, each null or not freed; `variables` to
// `variables_len` bytes, in which all handles are valid; `outcomes` to memory for `count` outcomes; and `remaining` to memory for a
// number. `options` must be null or point to options.
struct GavelError *gavel_conditions_eval(const struct GavelConditions *conditions,
                                         const struct GavelCondition *const *expressions,
                                         size_t count,
                                         const uint8_t *variables,
                                         size_t variables_len,
                                         const struct GavelOptions *options,
                                         struct GavelOutcome *outcomes,
                                         int64_t *remaining);

// Frees an expression; null is ignored.
//
// # Safety
//
// The expression must come from this library, and no call may use it afterwards.
void gavel_condition_free(struct GavelCondition *condition);

// Frees a compiler; null is ignored. Its expressions must not be evaluated any more.
//
// # Safety
//
// The compiler must come from this library, and no call may use it afterwards.
void gavel_conditions_free(struct GavelConditions *conditions);

// Decides a request with all policies of an index. If `policies` is not null, decides with these policies instead; each policy is followed
// by its bindings. `request` is the `request` of an AdmissionReview in the flat encoding, which may contain JSON texts as values. The
// request may have an additional key `equivalents`: the resources that serve the same objects as the resource of the request, including
// this resource. It is a list as in the groups of `gavel_index_configure`, and replaces all these groups for this call.
//
// # Safety
//
// `index` must be an index that was not freed. `policies` must be null or point to `policies_len` handles that were not freed, `request`
// to `request_len` bytes, in which all handles are valid, and `out` to memory for the decision. `options` must be null or point to
// options.
struct GavelError *gavel_index_decide(const struct GavelIndex *index,
                                      const struct GavelPolicy *const *policies,
                                      size_t policies_len,
                                      const uint8_t *request,
                                      size_t request_len,
                                      struct GavelExplain how,
                                      const struct GavelOptions *options,
                                      struct GavelDecision *out);

// Mutates the object of a request with all policies of an index. If `policies` is not null, mutates with these policies instead; each
// policy is followed by its bindings. The field `object` of the details is the object after all mutations. Objects of Kubernetes' own kinds are
// decoded as the index's API server decodes them: they get defaults, and a mutation fails if it sets an unknown field.
//
// # Safety
//
// The requirements of `gavel_index_decide`.
struct GavelError *gavel_index_mutate(const struct GavelIndex *index,
                                      const struct GavelPolicy *const *policies,
                                      size_t policies_len,
                                      const uint8_t *request,
                                      size_t request_len,
                                      const struct GavelOptions *options,
                                      struct GavelDecision *out);

// Validates a created definition, or an updated definition if `old` is neither a null pointer nor JSON null. `out` receives a JSON object:
// `errors` (each with `type`, `field`, `badValue`, `detail` and `string`, in the API server's order), `warnings`, `rules`, `totals` and
// `compatibilityVersion`, as in the batch protocol. `config` is JSON with the keys `server`, `k8sVersion` and `mode` ("new" or "stored").
//
// # Safety
//
// `definition` must be a value that was not freed. `old` must be null or a value that was not freed. `config` must point to `config_len`
// bytes, and `out` to memory for bytes.
struct GavelError *gavel_definition_validate(const struct GavelValue *definition,
                                             const struct GavelValue *old,
                                             const uint8_t *config,
                                             size_t config_len,
                                             struct GavelBytes *out);

// Compiles a definition for the validation of its objects. The definition must be valid, as in the storage of an API server. `config` is
// JSON with the keys `server` and `k8sVersion`.
//
// # Safety
//
// `definition` must be a value that was not freed. `config` must point to `config_len` bytes, and `out` to memory for a handle.
struct GavelError *gavel_crd_compile(const struct GavelValue *definition,
                                     const uint8_t *config,
                                     size_t config_len,
                                     struct GavelCrd **out);

// Returns the version in which objects are stored. The text lives as long as the definition.
//
// # Safety
//
// `crd` must be a definition that was not freed, and `out` must point to memory for the answer.
struct GavelError *gavel_crd_storage_version(const struct GavelCrd *crd, struct GavelSlice *out);

// Frees a definition; null is ignored.
//
// # Safety
//
// The definition must come from this library, and no call may use it afterwards.
void gavel_crd_free(struct GavelCrd *crd);

// Creates an environment. `spec` is a JSON object with the keys of the batch protocol's `eval` requests: `server`, `k8sVersion`,
// `mode`, `vars`, `sizes`, `env`, `container`, `functions`, `disableMacros`, `disableCheck`, `checkOnly`.
//
// # Safety
//
// `spec` must point to `len` bytes, and `out` to memory for a handle.
struct GavelError *gavel_env_new(const uint8_t *spec,
                                 size_t len,
                                 struct GavelEnv **out);

// Frees an environment; null is ignored. Its programs stay valid.
//
// # Safety
//
// The environment must come from this library, and no call may use it afterwards.
void gavel_env_free(struct GavelEnv *env);

// Reads an error.
//
// # Safety
//
// `error` must be an error of this library that was not freed, and `out` must point to memory for a view. The message lives as long as the
// error.
void gavel_error_read(const struct GavelError *error,
                      struct GavelErrorView *out);

// Frees an error; null is ignored.
//
// # Safety
//
// The error must come from this library, and must not have been freed.
void gavel_error_free(struct GavelError *error);

// Creates an empty index. `config` is JSON with the keys `server` and `k8sVersion`.
//
// # Safety
//
// `config` must point to `config_len` bytes, and `out` to memory for a handle.
struct GavelError *gavel_index_new(const uint8_t *config, size_t config_len, struct GavelIndex **out);

// Adds an object, or replaces its earlier version. Policies, bindings and namespaces are recognized by their kind; any other object may be
// a param of policies. An error of kind `Decode` reports a value that is not a JSON object with `apiVersion`, `kind` and `metadata.name`.
//
// # Safety
//
// `index` and `object` must be handles that were not freed.
struct GavelError *gavel_index_apply(const struct GavelIndex *index,
                                     const struct GavelValue *object);

// Removes an object. Only the `apiVersion`, kind, name and namespace of the object are read. An error of kind `Decode` reports a value that
// is not a JSON object with `apiVersion`, `kind` and `metadata.name`.
//
// # Safety
//
// `index` and `object` must be handles that were not freed.
struct GavelError *gavel_index_delete(const struct GavelIndex *index,
                                      const struct GavelValue *object);

// Sets what an index must know about kinds besides their objects. `config` is a JSON object with three optional keys. `namespaced`
// [{`apiVersion`, `kind`, `namespaced`}] says whether kinds of params are namespaced. `equivalents` [[{`resource` {group, version,
// resource}, `subResource`, `kind` {group, version, kind}}]] lists groups of resources; all resources of a group serve the same objects.
// `schemas` {"group/version/Kind": schema} contains the schemas that mutations of custom resources use. If any part of `config` is wrong,
// nothing changes.
//
// # Safety
//
// `index` must be an index that was not freed, and `config` must point to `config_len` bytes.
struct GavelError *gavel_index_configure(const struct GavelIndex *index,
                                         const uint8_t *config,
                                         size_t config_len);

// Sets the function that converts the objects of requests to the kinds of equivalent resources that policies match, and mutated objects
// back. Without it, the objects of equivalent resources are assumed to differ only in `apiVersion` and `kind`.
//
// # Safety
//
// `index` must be an index that was not freed. `convert` must be callable by all later calls with the index.
struct GavelError *gavel_index_set_convert(const struct GavelIndex *index,
                                           GavelConvert convert);

// Frees an index; null is ignored.
//
// # Safety
//
// The index must come from this library, and no call may use it afterwards.
void gavel_index_free(struct GavelIndex *index);

// Frees bytes that a function returned. Freeing no bytes does nothing.
//
// # Safety
//
// The bytes must come from this library unchanged, and must not have been freed.
void gavel_bytes_free(struct GavelBytes bytes);

// Creates a flag that is not set.
struct GavelCancel *gavel_cancel_new(void);

// Sets or clears a flag. Any thread can do so at any time.
//
// # Safety
//
// `cancel` must be null or a flag that was not freed.
void gavel_cancel_set(const struct GavelCancel *cancel, bool cancelled);

// Frees a flag; null is ignored.
//
// # Safety
//
// The flag must come from `gavel_cancel_new`, and no call may use it afterwards.
void gavel_cancel_free(struct GavelCancel *cancel);

// Compiles a policy or a binding. The call succeeds even if expressions do not compile: `gavel_policy_errors` lists these expressions.
// `config` is JSON with the keys `server`, `k8sVersion`, `noDefaults`.
//
// # Safety
//
// `object` must be a value that was not freed. `config` must point to `config_len` bytes, and `out` to memory for a handle.
struct GavelError *gavel_policy_compile(const struct GavelValue *object,
                                        const uint8_t *config,
                                        size_t config_len,
                                        struct GavelPolicy **out);

// Lists the expressions that do not compile. `out` receives a JSON object with two lists of errors, or null for a binding. The errors in
// `stored` make a stored policy fail. An API server rejects a new policy that has the errors in `new`. Each error is an object with
// `path`, `type` and `message`.
//
// # Safety
//
// `policy` must be a policy that was not freed, and `out` must point to memory for bytes.
struct GavelError *gavel_policy_errors(const struct GavelPolicy *policy,
                                       struct GavelBytes *out);

// Frees a policy or a binding; null is ignored.
//
// # Safety
//
// The policy must come from this library, and no call may use it afterwards.
void gavel_policy_free(struct GavelPolicy *policy);

// Compiles an expression. If the expression does not compile, the function returns an error. If the type is known nevertheless, for example
// because only a constant part fails, `out` also receives a program, from which the host can read the type and the estimate. The host frees
// this program too: set `*out` to null before the call, and free it after the call.
//
// # Safety
//
// `env` must be an environment that was not freed. `text` must point to `len` bytes, and `out` to memory for a handle.
struct GavelError *gavel_env_compile(const struct GavelEnv *env,
                                     const uint8_t *text,
                                     size_t len,
                                     struct GavelProgram **out);

// Returns the static properties of a program.
//
// # Safety
//
// `program` must be a program that was not freed, and `out` must point to memory for the answer. The texts in the answer live as long as
// the program.
struct GavelError *gavel_program_statics(const struct GavelProgram *program,
                                         struct GavelStatics *out);

// Evaluates a program. `variables` maps names to values: an object in the flat encoding, or JSON text with tag 32. No bytes are no
// variables. If the evaluation fails, `out` still receives the cost.
//
// # Safety
//
// `program` must be a program that was not freed. `variables` must point to `len` bytes, in which all handles are valid, and `out` to
// memory for the outcome. `options` must be null or point to options.
struct GavelError *gavel_program_eval(const struct GavelProgram *program,
                                      const uint8_t *variables,
                                      size_t len,
                                      const struct GavelOptions *options,
                                      struct GavelOutcome *out);

// Frees a program; null is ignored.
//
// # Safety
//
// The program must come from this library, and no call may use it afterwards.
void gavel_program_free(struct GavelProgram *program);

// Decodes an object as an API server decodes it: drops unknown fields and sets defaults. `unknown` receives a JSON list of the paths of
// unknown fields, or no bytes if all fields are known.
//
// # Safety
//
// `crd` and `object` must be handles that were not freed. `out` must point to memory for a handle. `unknown` must be null or point to
// memory for bytes.
struct GavelError *gavel_crd_decode(const struct GavelCrd *crd,
                                    const struct GavelValue *object,
                                    struct GavelDecode how,
                                    struct GavelValue **out,
                                    struct GavelBytes *unknown);

// Prepares an object for validation, as an API server does after admission: resets the fields that the request cannot set. `status` says
// whether the request is an update of the status subresource. For a created object, `old` is a null pointer or JSON null.
//
// # Safety
//
// `crd` and `object` must be handles that were not freed. `old` must be null or a handle that was not freed. `version` must point to
// `version_len` bytes, and `out` to memory for a handle.
struct GavelError *gavel_crd_prepare(const struct GavelCrd *crd,
                                     const uint8_t *version,
                                     size_t version_len,
                                     const struct GavelValue *object,
                                     const struct GavelValue *old,
                                     bool status,
                                     struct GavelValue **out);

// Validates a created object, or an updated object if `old` is neither a null pointer nor JSON null. `object` and `old` must be decoded
// objects.
//
// # Safety
//
// `crd` and `object` must be handles that were not freed. `old` must be null or a handle that was not freed. `version` must point to
// `version_len` bytes, and `out` to memory for the answer. `options` must be null or point to options.
struct GavelError *gavel_crd_validate(const struct GavelCrd *crd,
                                      const uint8_t *version,
                                      size_t version_len,
                                      const struct GavelValue *object,
                                      const struct GavelValue *old,
                                      struct GavelValidate how,
                                      const struct GavelOptions *options,
                                      struct GavelValidation *out);

// Compiles the rules of a structural OpenAPI v3 schema and of all schemas in it. The rules are compiled as stored rules. `config` is JSON
// with the keys `server`, `k8sVersion`, `resource` (whether the schema describes a whole object, with `apiVersion`, `kind` and `metadata`)
// and `perCallLimit` (cost units).
//
// # Safety
//
// `schema` must be a value that was not freed. `config` must point to `config_len` bytes, and `out` to memory for a handle.
struct GavelError *gavel_rules_compile(const struct GavelValue *schema,
                                       const uint8_t *config,
                                       size_t config_len,
                                       struct GavelRules **out);

// Evaluates the rules of a schema on `value`. `path` is the field path of `value` in messages; it may be empty. `old` is the value before
// an update; a null pointer or JSON null means that there was none. With `ratcheting`, violations by an unchanged value become warnings,
// except for rules that use `oldSelf`. The cost limit in the options is the budget of all rules together.
//
// # Safety
//
// `rules` and `value` must be handles that were not freed. `old` must be null or a handle that was not freed. `path` must point to
// `path_len` bytes, and `out` to memory for the answer. `options` must be null or point to options.
struct GavelError *gavel_rules_validate(const struct GavelRules *rules,
                                        const uint8_t *path,
                                        size_t path_len,
                                        const struct GavelValue *value,
                                        const struct GavelValue *old,
                                        bool ratcheting,
                                        const struct GavelOptions *options,
                                        struct GavelValidation *out);

// Compiles the rules of one schema, but not the rules of schemas in it. `out` receives a JSON list with an entry for each rule: null for a
// blank rule, otherwise an object with `error`, `usesOldSelf`, `maxCost`, `maxCardinality`, `messageError`, `messageMaxCost` and
// `fieldPath`. `config` is JSON with the keys `server`, `k8sVersion`, `resource` and `stored`. `stored` contains two booleans for each
// rule: whether the rule is already stored, and whether its messageExpression is.
//
// # Safety
//
// `schema` must be a value that was not freed. `config` must point to `config_len` bytes, and `out` to memory for bytes.
struct GavelError *gavel_rules_check(const struct GavelValue *schema,
                                     const uint8_t *config,
                                     size_t config_len,
                                     struct GavelBytes *out);

// Frees rules; null is ignored.
//
// # Safety
//
// The rules must come from this library, and no call may use them afterwards.
void gavel_rules_free(struct GavelRules *rules);

// Reads a value in the flat encoding, which may contain JSON texts and other values. Other values are copied.
//
// # Safety
//
// `data` must point to `len` bytes, in which all handles are valid, and `out` to memory for a handle.
struct GavelError *gavel_value_new(const uint8_t *data, size_t len, struct GavelValue **out);

// Writes a value as JSON text, as Kubernetes writes it.
//
// # Safety
//
// `value` must be a value that was not freed, and `out` must point to memory for bytes.
struct GavelError *gavel_value_json(const struct GavelValue *value, struct GavelBytes *out);

// Frees a value; null is ignored.
//
// # Safety
//
// The value must come from this library, and no call may use it afterwards.
void gavel_value_free(struct GavelValue *value);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* GAVEL_H */
