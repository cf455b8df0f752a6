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
#define GAVEL_ABI_MINOR 0

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
  // No value: the expression was only checked.
  GAVEL_VALUE_KIND_NONE = 0,
  // `null`
  GAVEL_VALUE_KIND_NULL = 1,
  // A bool: `number` is 0 or 1.
  GAVEL_VALUE_KIND_BOOL = 2,
  // An int: `number`.
  GAVEL_VALUE_KIND_INT = 3,
  // A uint: the bits of `number`.
  GAVEL_VALUE_KIND_UINT = 4,
  // A double: `number` holds its bits.
  GAVEL_VALUE_KIND_DOUBLE = 5,
  // A string: UTF-8 in `bytes`.
  GAVEL_VALUE_KIND_STRING = 6,
  // Bytes: in `bytes`.
  GAVEL_VALUE_KIND_BYTES = 7,
  // A timestamp: `number` seconds since 1970 and `nanos`.
  GAVEL_VALUE_KIND_TIMESTAMP = 8,
  // A duration: `number` nanoseconds.
  GAVEL_VALUE_KIND_DURATION = 9,
  // Any other value: typed JSON in `bytes`, as in the batch protocol.
  GAVEL_VALUE_KIND_TYPED = 10,
  // A failure, with the message in `bytes`. Only for functions that evaluate several expressions.
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
  // The deadline passed, or the host cancelled.
  GAVEL_ERROR_KIND_INTERRUPTED = 8,
  // An object was rejected when it was decoded, before its validation.
  GAVEL_ERROR_KIND_DECODE = 9,
  // A definition or a policy cannot be compiled.
  GAVEL_ERROR_KIND_COMPILE = 10,
  // The library itself failed: a panic was caught. The message is for a bug report.
  GAVEL_ERROR_KIND_PANIC = 11,
} GavelErrorKind;

// A flag that cancels calls. Soon after it is set, every call that uses it ends with an error.
typedef struct GavelCancel GavelCancel;

// An expression, compiled.
typedef struct GavelCondition GavelCondition;

// A compiler of expressions, with the variables that they can read.
typedef struct GavelConditions GavelConditions;

// A definition, compiled.
typedef struct GavelCrd GavelCrd;

// The functions and variables that expressions can use.
typedef struct GavelEnv GavelEnv;

// An error. `gavel_error_read` reads it, `gavel_error_free` frees it.
typedef struct GavelError GavelError;

// Policies, bindings, params and namespaces. Events change the index; each call uses the contents that the index had when the call began.
typedef struct GavelIndex GavelIndex;

// A policy or a binding, compiled.
typedef struct GavelPolicy GavelPolicy;

// An expression, compiled.
typedef struct GavelProgram GavelProgram;

// Receives the answer of a callback. The callback must not keep it after it has returned.
typedef struct GavelReply GavelReply;

// The rules of a structural schema, compiled.
typedef struct GavelRules GavelRules;

// A JSON value of the host, such as an object for several calls. It does not change.
typedef struct GavelValue GavelValue;

// The variables that an expression can read in addition to `object`, `oldObject`, `request` and `namespaceObject`.
typedef struct GavelDeclarations {
  // `params`
  bool params;
  // `authorizer` and `authorizer.requestResource`
  bool authorizer;
  // The types and functions of mutations (`Object`, `JSONPatch`).
  bool patch_types;
} GavelDeclarations;

// Bytes that belong to the host, which frees them with `gavel_bytes_free`.
typedef struct GavelBytes {
  // The first byte; null if there are none.
  uint8_t *data;
  // The number of bytes.
  size_t len;
} GavelBytes;

// Asks whether a user is allowed to do something. `attributes` is a JSON object: `verb`, `user` (the name), `resourceRequest`, and `path`
// or `apiGroup`, `apiVersion`, `resource`, `subresource`, `namespace`, `name`, `fieldSelector`, `labelSelector`. `authorizer` is the
// number under which the host bound the authorizer; it is 0 for the authorizer of an admission request.
typedef void (*GavelAuthorize)(size_t context,
                               uint64_t authorizer,
                               const uint8_t *attributes,
                               size_t attributes_len,
                               struct GavelReply *reply);

// Looks up a namespace. The host answers with `gavel_reply_value` or `gavel_reply_failure`; if the namespace does not exist, it calls
// neither.
typedef void (*GavelFindNamespace)(size_t context, const uint8_t *name, size_t name_len, struct GavelReply *reply);

// Looks up a param by kind and name for a policy of the index. It is not called for policies that the host passes to a call. The host
// answers with `gavel_reply_value` or `gavel_reply_failure`; if the object does not exist, it calls neither. `namespace` is empty for
// cluster-scoped kinds, and if the request has none.
typedef void (*GavelFindParam)(size_t context,
                               const uint8_t *api_version,
                               size_t api_version_len,
                               const uint8_t *kind,
                               size_t kind_len,
                               const uint8_t *namespace,
                               size_t namespace_len,
                               const uint8_t *name,
                               size_t name_len,
                               struct GavelReply *reply);

// Functions of the host. The library calls them on the thread that called the library, possibly on many threads at once. They must not
// unwind.
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

// The limits of a call, and its callbacks. If all fields are zero, the defaults of Kubernetes apply.
typedef struct GavelOptions {
  // Whether `cost_limit` is set.
  bool has_cost_limit;
  // The limit in cost units: of one evaluation, of all rules of an object, or of the expressions of a policy.
  int64_t cost_limit;
  // The memory limit of the values that an evaluation computes, in bytes; 0 means 64 MiB.
  size_t memory_limit;
  // The time limit of the call, in nanoseconds; 0 means no limit.
  uint64_t timeout_nanos;
  // A flag that ends the call; may be null. It must live as long as the call.
  const struct GavelCancel *cancel;
  // The callbacks.
  struct GavelCallbacks callbacks;
} GavelOptions;

// The outcome of an evaluation.
typedef struct GavelOutcome {
  // The cost in cost units, also if the evaluation failed.
  uint64_t cost;
  // Whether the expression was evaluated, so that there is a cost.
  bool evaluated;
  // The kind of the value.
  enum GavelValueKind kind;
  // The nanoseconds within the second of a timestamp.
  uint32_t nanos;
  // The value, if it is a number.
  int64_t number;
  // The value, if it is given as bytes. The host frees them.
  struct GavelBytes bytes;
} GavelOutcome;

// The details of a decision that are returned.
typedef struct GavelExplain {
  // Whether to return which policies and bindings matched, and their results.
  bool explain;
  // Whether to return each program that ran, with value and cost.
  bool trace;
} GavelExplain;

// A decision.
typedef struct GavelDecision {
  // Whether the request is allowed.
  bool allowed;
  // Whether a mutation changed the object.
  bool mutated;
  // Empty if there are no details; otherwise a JSON object: `status`, `denials`, `warnings`, `annotations`,
  // `annotationErrors`, `policies` (the explanation) and `object` (after mutations). The host frees it.
  struct GavelBytes details;
} GavelDecision;

// Bytes that belong to a handle, and live as long as the handle.
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

// How an object is decoded. If all fields are false, it is decoded as an API server decodes the body of a request.
typedef struct GavelDecode {
  // Whether the object comes from storage, not from a request.
  bool from_storage;
  // Whether unknown fields are kept.
  bool keep_unknown;
  // Whether no defaults are set.
  bool no_defaults;
} GavelDecode;

// How an object is validated. If all fields are false, it is validated as an API server validates it.
typedef struct GavelValidate {
  // Whether metadata is not validated.
  bool skip_metadata;
  // Whether only the status is updated, through its own endpoint.
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
  // The remaining budget in cost units; negative if a rule exceeded a limit and thereby ended the validation.
  int64_t remaining_budget;
  // Empty if the object is valid without warnings; otherwise a JSON object: `schemaErrors`, `ruleErrors` (each with `type`, `field`,
  // `badValue`, `detail`, `string`), `warnings` and `notes`. The host frees it.
  struct GavelBytes findings;
} GavelValidation;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the version of the ABI: the major version in the upper 16 bits, the minor one in the lower. A host that was compiled
// with one major version must not use a library of another.
uint32_t gavel_abi_version(void);

// The answer of an authorizer. `reason` and `error` are texts that may be empty; bytes that are not UTF-8 become U+FFFD.
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

// Answers with an object, in the flat encoding. If the object cannot be decoded, the call fails.
//
// # Safety
//
// `reply` must belong to the running callback, and `data` must point to `len` bytes.
void gavel_reply_value(struct GavelReply *reply, const uint8_t *data, size_t len);

// Answers that an object cannot be fetched. The call fails with this message.
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

// Compiles a variable and declares it for later expressions. A variable that does not compile is declared too, and expressions that read
// it fail. `type_name` receives the type of the variable.
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

// Compiles an expression of any type. `type_name` receives its type.
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

// Evaluates expressions of this compiler in order; a null expression has an empty outcome. `variables` is an object in the flat encoding:
// `object`, `oldObject`, `request`, `params`, `namespaceObject`, `authorizer`, `authorizer.requestResource`. Any of them may be absent.
// The cost limit in the options is the budget of all expressions together. `remaining` receives the rest of the budget, or -1 if it was
// exceeded; no outcome is valid then. An outcome of kind `Error` holds the message.
//
// # Safety
//
// `conditions` must be a compiler that was not freed. `expressions` must point to `count` handles, each null or not freed; `variables` to
// `variables_len` bytes; `outcomes` to memory for `count` outcomes; and `remaining` to memory for a number. `options` must be null or
// point to options.
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

// Decides a request by policies: all policies of an index or, if `policies` is not null, these policies, each followed by its bindings.
// `request` is the `request` of an AdmissionReview in the flat encoding, which may contain JSON texts as values.
//
// # Safety
//
// `index` must be an index that was not freed. `policies` must be null or point to `policies_len` handles that were not freed, `request`
// to `request_len` bytes, and `out` to memory for the decision. `options` must be null or point to options.
struct GavelError *gavel_index_decide(const struct GavelIndex *index,
                                      const struct GavelPolicy *const *policies,
                                      size_t policies_len,
                                      const uint8_t *request,
                                      size_t request_len,
                                      struct GavelExplain how,
                                      const struct GavelOptions *options,
                                      struct GavelDecision *out);

// Mutates the object of a request by policies: all policies of an index or, if `policies` is not null, these policies, each followed by
// its bindings. The decision's `object` is the object after all mutations.
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

// Validates a definition that is created or, if `old` is not null, updated. The answer is a JSON object: `errors` (each with `type`,
// `field`, `badValue`, `detail` and `string`, in the API server's order), `warnings`, `rules`, `totals` and `compatibilityVersion`, as in
// the batch protocol. `config` is JSON with the keys `server`, `k8sVersion` and `mode` ("new" or "stored").
//
// # Safety
//
// `definition` must be a value that was not freed, and `old` such a value or null. `config` must point to `config_len` bytes, and `out` to
// memory for bytes.
struct GavelError *gavel_definition_validate(const struct GavelValue *definition,
                                             const struct GavelValue *old,
                                             const uint8_t *config,
                                             size_t config_len,
                                             struct GavelBytes *out);

// Compiles a definition, to validate its objects. The definition is assumed to be valid, like one that an API server has stored. `config`
// is JSON with the key `server`.
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

// Creates an empty index. `config` is JSON with the key `server`.
//
// # Safety
//
// `config` must point to `config_len` bytes, and `out` to memory for a handle.
struct GavelError *gavel_index_new(const uint8_t *config, size_t config_len, struct GavelIndex **out);

// Applies an object, replacing an earlier version. Its kind decides whether it is a policy, a binding or a namespace; any other object may
// be a param of policies.
//
// # Safety
//
// `index` and `object` must be handles that were not freed.
struct GavelError *gavel_index_apply(const struct GavelIndex *index,
                                     const struct GavelValue *object);

// Removes an object; only its kind, name and namespace are read.
//
// # Safety
//
// `index` and `object` must be handles that were not freed.
struct GavelError *gavel_index_delete(const struct GavelIndex *index, const struct GavelValue *object);

// Sets properties of kinds that cannot be read from objects. `config` is a JSON object whose keys are all optional: `namespaced`
// [{`apiVersion`, `kind`, `namespaced`}] says whether kinds of params have a namespace; `equivalents` [[{`resource` {group, version,
// resource}, `subResource`, `kind` {group, version, kind}}]] lists resources that lead to the same objects; `schemas`
// {"group/version/Kind": schema} gives the schemas that mutations of custom resources use.
//
// # Safety
//
// `index` must be an index that was not freed, and `config` must point to `config_len` bytes.
struct GavelError *gavel_index_configure(const struct GavelIndex *index,
                                         const uint8_t *config,
                                         size_t config_len);

// Frees an index; null is ignored.
//
// # Safety
//
// The index must come from this library, and no call may use it afterwards.
void gavel_index_free(struct GavelIndex *index);

// Compiles a policy or a binding, by its kind. Expressions that do not compile are not an error of the call:
// `gavel_policy_errors` lists them. `config` is JSON with the keys `server`, `k8sVersion`, `noDefaults`.
//
// # Safety
//
// `object` must be a value that was not freed. `config` must point to `config_len` bytes, and `out` to memory for a handle.
struct GavelError *gavel_policy_compile(const struct GavelValue *object,
                                        const uint8_t *config,
                                        size_t config_len,
                                        struct GavelPolicy **out);

// Lists the expressions that do not compile, as JSON: `stored` (those that do not compile in the environment in which the policy runs) and
// `new` (those for which an API server rejects a new policy). Each is a list of objects with `path`, `type` and `message`.
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

// Compiles an expression. If it does not compile, the function returns an error; if the type is known, `out` also receives a program with
// the type and the estimate.
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
// `program` must be a program that was not freed, and `out` must point to memory for the answer. Its texts live as long as the program.
struct GavelError *gavel_program_statics(const struct GavelProgram *program,
                                         struct GavelStatics *out);

// Evaluates a program. `variables` is an object in the flat encoding: the variables by name. If the evaluation fails, `out`
// still has the cost.
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

// Decodes an object into the form in which an API server holds it: unknown fields are dropped and defaults are set. `unknown` is a JSON
// list of the paths of unknown fields, or nothing.
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

// Prepares an object for validation, as an API server does after admission: resets its status and generation.
//
// # Safety
//
// `crd` and `object` must be handles that were not freed, and `old` such a handle or null. `version` must point to `version_len` bytes,
// and `out` to memory for a handle.
struct GavelError *gavel_crd_prepare(const struct GavelCrd *crd,
                                     const uint8_t *version,
                                     size_t version_len,
                                     const struct GavelValue *object,
                                     const struct GavelValue *old,
                                     bool status,
                                     struct GavelValue **out);

// Validates an object that is created or, if `old` is not null, updated. Both must have been decoded.
//
// # Safety
//
// `crd` and `object` must be handles that were not freed, and `old` such a handle or null. `version` must point to `version_len` bytes,
// and `out` to memory for the answer. `options` must be null or point to options.
struct GavelError *gavel_crd_validate(const struct GavelCrd *crd,
                                      const uint8_t *version,
                                      size_t version_len,
                                      const struct GavelValue *object,
                                      const struct GavelValue *old,
                                      struct GavelValidate how,
                                      const struct GavelOptions *options,
                                      struct GavelValidation *out);

// Compiles the rules of a structural OpenAPI v3 schema and of all schemas in it, as stored rules. `config` is JSON with the keys `server`,
// `k8sVersion`, `resource` (whether the schema describes a whole object, with `apiVersion`, `kind` and `metadata`) and `perCallLimit`
// (cost units).
//
// # Safety
//
// `schema` must be a value that was not freed. `config` must point to `config_len` bytes, and `out` to memory for a handle.
struct GavelError *gavel_rules_compile(const struct GavelValue *schema,
                                       const uint8_t *config,
                                       size_t config_len,
                                       struct GavelRules **out);

// Evaluates rules on the value at a path, with the value before an update or null. With `ratcheting`, failures that also exist for the old
// value become warnings. The cost limit of the options is the budget of all rules.
//
// # Safety
//
// `rules` and `value` must be handles that were not freed, and `old` such a handle or null. `path` must point to `path_len` bytes, and
// `out` to memory for the answer. `options` must be null or point to options.
struct GavelError *gavel_rules_validate(const struct GavelRules *rules,
                                        const uint8_t *path,
                                        size_t path_len,
                                        const struct GavelValue *value,
                                        const struct GavelValue *old,
                                        bool ratcheting,
                                        const struct GavelOptions *options,
                                        struct GavelValidation *out);

// Compiles the rules of one schema, without those of schemas in it, and returns the results: a JSON list with an entry per rule, null for
// a blank rule, otherwise `error`, `usesOldSelf`, `maxCost`, `maxCardinality`, `messageError`, `messageMaxCost`, `fieldPath`. `config` is
// JSON with the keys `server`, `k8sVersion`, `resource` and `stored`: for each rule, a pair of booleans that say whether the rule and its
// messageExpression were stored already.
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

// Reads a value in the flat encoding, which may contain JSON texts as values.
//
// # Safety
//
// `data` must point to `len` bytes, and `out` to memory for a handle.
struct GavelError *gavel_value_new(const uint8_t *data, size_t len, struct GavelValue **out);

// Writes a value as JSON, as Kubernetes writes it.
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
