#define _GNU_SOURCE /* memmem */
/* A host in C: an expression, a custom resource, a policy with the host's authorizer, cancellation, errors.
 *
 * tests/embed.rs compiles and runs it; .ci/capi-memory runs it under AddressSanitizer and valgrind. */
#include "../include/gavel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(text) (const uint8_t *)(text), strlen(text)

static void fail(const char *what) {
  fprintf(stderr, "embed.c: %s\n", what);
  exit(1);
}

/* Ends the program where a call failed. */
static void check(GavelError *error) {
  if (error == NULL) return;
  GavelErrorView view;
  gavel_error_read(error, &view);
  fprintf(stderr, "%.*s\n", (int)view.message.len, (const char *)view.message.data);
  gavel_error_free(error);
  exit(1);
}

/* Checks that a call failed in this way and says so. */
static void expect(GavelError *error, enum GavelErrorKind kind, const char *part) {
  if (error == NULL) fail("an error was expected");
  GavelErrorView view;
  gavel_error_read(error, &view);
  char *message = calloc(view.message.len + 1, 1);
  memcpy(message, view.message.data, view.message.len);
  if (view.kind != kind || strstr(message, part) == NULL) {
    fprintf(stderr, "kind %d: %s\n", view.kind, message);
    fail("another error was expected");
  }
  free(message);
  gavel_error_free(error);
}

/* A value that is written as JSON, which is a value of the flat encoding: the tag 32, the length, the text. */
static GavelValue *value(const char *json) {
  uint32_t length = (uint32_t)strlen(json);
  uint8_t *flat = malloc(5 + length);
  flat[0] = 32;
  for (int i = 0; i < 4; i++) flat[1 + i] = (uint8_t)(length >> (8 * i));
  memcpy(flat + 5, json, length);
  GavelValue *out = NULL;
  check(gavel_value_new(flat, 5 + length, &out));
  free(flat);
  return out;
}

static void expressions(void) {
  GavelEnv *env = NULL;
  check(gavel_env_new(TEXT("{\"server\": \"1.36\", \"vars\": {\"x\": \"int\", \"object\": \"dyn\"}}"), &env));
  GavelProgram *program = NULL;
  expect(gavel_env_compile(env, TEXT("x +"), &program), GAVEL_ERROR_KIND_PARSE, "Syntax error");
  expect(gavel_env_compile(env, TEXT("y"), &program), GAVEL_ERROR_KIND_CHECK, "undeclared reference to 'y'");
  check(gavel_env_compile(env, TEXT("x + 1 == object.a"), &program));
  gavel_env_free(env);

  GavelStatics statics;
  check(gavel_program_statics(program, &statics));
  if (statics.type_name.len != 4 || memcmp(statics.type_name.data, "bool", 4) != 0) fail("the type is bool");

  /* {"x": 2, "object": {"a": 3}} in the flat encoding. */
  static const uint8_t variables[] = "\x09\x02\0\0\0" "\x01\0\0\0x" "\x03\x02\0\0\0\0\0\0\0"
      "\x06\0\0\0object" "\x09\x01\0\0\0" "\x01\0\0\0" "a" "\x03\x03\0\0\0\0\0\0\0";
  GavelOutcome outcome;
  check(gavel_program_eval(program, variables, sizeof variables - 1, NULL, &outcome));
  if (outcome.kind != GAVEL_VALUE_KIND_BOOL || outcome.number != 1 || outcome.cost != 5) fail("2 + 1 == 3, for 5 units");

  GavelOptions options = {.has_cost_limit = true, .cost_limit = 1};
  expect(gavel_program_eval(program, variables, sizeof variables - 1, &options, &outcome), GAVEL_ERROR_KIND_COST_LIMIT, "cost limit");
  expect(gavel_program_eval(program, variables, 7, NULL, &outcome), GAVEL_ERROR_KIND_ARGUMENT, "flat value");
  gavel_program_free(program);
}

static void cancellation(void) {
  GavelEnv *env = NULL;
  check(gavel_env_new(TEXT("{\"vars\": {\"xs\": \"list(int)\"}}"), &env));
  GavelProgram *program = NULL;
  check(gavel_env_compile(env, TEXT("xs.all(x, xs.all(y, xs.all(z, x + y + z >= 0)))"), &program));
  uint8_t list[14 + 1000 * 9] = "\x09\x01\0\0\0\x02\0\0\0xs\x08\xe8\x03";
  size_t at = 16;
  uint8_t *variables = malloc(16 + 1000 * 9);
  memcpy(variables, list, 14);
  memset(variables + 14, 0, 2 + 1000 * 9);
  for (int i = 0; i < 1000; i++, at += 9) variables[at] = 3;
  GavelCancel *cancel = gavel_cancel_new();
  gavel_cancel_set(cancel, true);
  GavelOptions options = {.cancel = cancel, .has_cost_limit = true, .cost_limit = INT64_MAX};
  GavelOutcome outcome;
  expect(gavel_program_eval(program, variables, at, &options, &outcome), GAVEL_ERROR_KIND_INTERRUPTED, "interrupted");
  options = (GavelOptions){.timeout_nanos = 1000000, .has_cost_limit = true, .cost_limit = INT64_MAX};
  expect(gavel_program_eval(program, variables, at, &options, &outcome), GAVEL_ERROR_KIND_INTERRUPTED, "interrupted");
  gavel_cancel_free(cancel);
  free(variables);
  gavel_program_free(program);
  gavel_env_free(env);
}

static void custom_resource(void) {
  GavelValue *definition = value(
      "{\"apiVersion\": \"apiextensions.k8s.io/v1\", \"kind\": \"CustomResourceDefinition\", \"metadata\": {\"name\": \"things.example.com\"},"
      " \"spec\": {\"group\": \"example.com\", \"names\": {\"plural\": \"things\", \"singular\": \"thing\", \"kind\": \"Thing\", \"listKind\": \"ThingList\"},"
      " \"scope\": \"Namespaced\", \"versions\": [{\"name\": \"v1\", \"served\": true, \"storage\": true, \"schema\": {\"openAPIV3Schema\": {\"type\": \"object\","
      " \"properties\": {\"spec\": {\"type\": \"object\", \"properties\": {\"replicas\": {\"type\": \"integer\"}},"
      " \"x-kubernetes-validations\": [{\"rule\": \"self.replicas <= 5\", \"message\": \"too many\"}]}}}}}]}}");
  GavelBytes report;
  check(gavel_definition_validate(definition, NULL, NULL, 0, &report));
  if (report.len == 0) fail("there is a report");
  gavel_bytes_free(report);
  GavelCrd *crd = NULL;
  check(gavel_crd_compile(definition, NULL, 0, &crd));
  gavel_value_free(definition);

  GavelValue *object = value(
      "{\"apiVersion\": \"example.com/v1\", \"kind\": \"Thing\", \"metadata\": {\"name\": \"a\", \"namespace\": \"b\"}, \"spec\": {\"replicas\": 7, \"size\": 1}}");
  GavelValue *decoded = NULL;
  GavelBytes unknown;
  check(gavel_crd_decode(crd, object, (GavelDecode){0}, &decoded, &unknown));
  if (unknown.len != 13 || memcmp(unknown.data, "[\"spec.size\"]", 13) != 0) fail("spec.size is unknown");
  gavel_bytes_free(unknown);
  gavel_value_free(decoded);
  check(gavel_crd_decode(crd, object, (GavelDecode){0}, &decoded, NULL));
  GavelValidation validation;
  check(gavel_crd_validate(crd, TEXT("v1"), decoded, NULL, (GavelValidate){0}, NULL, &validation));
  if (validation.valid || validation.findings.len == 0) fail("7 replicas are too many");
  gavel_bytes_free(validation.findings);
  gavel_value_free(decoded);
  gavel_value_free(object);
  gavel_crd_free(crd);
}

/* Allows what is asked about the name "web". */
static void authorize(size_t context, uint64_t authorizer, const uint8_t *attributes, size_t len, GavelReply *reply) {
  ++*(int *)context;
  (void)authorizer;
  bool allowed = memmem(attributes, len, "\"name\":\"web\"", 12) != NULL;
  gavel_reply_decision(reply, allowed ? GAVEL_VERDICT_ALLOW : GAVEL_VERDICT_DENY, NULL, 0, NULL, 0);
}

/* Knows every namespace. The name comes from the request, so it can have any length. */
static void find_namespace(size_t context, const uint8_t *name, size_t len, GavelReply *reply) {
  (void)context;
  if (len > 63) {
    gavel_reply_failure(reply, TEXT("the name of a namespace has at most 63 characters"));
    return;
  }
  uint8_t flat[256] = {9, 1, 0, 0, 0, 8, 0, 0, 0, 'm', 'e', 't', 'a', 'd', 'a', 't', 'a', 9, 1, 0, 0, 0, 4, 0, 0, 0, 'n', 'a', 'm', 'e', 6, (uint8_t)len};
  memcpy(flat + 35, name, len);
  gavel_reply_value(reply, flat, 35 + len);
}

static void policies(void) {
  GavelIndex *index = NULL;
  check(gavel_index_new(TEXT("{\"server\": \"1.36\"}"), &index));
  GavelValue *policy = value(
      "{\"apiVersion\": \"admissionregistration.k8s.io/v1\", \"kind\": \"ValidatingAdmissionPolicy\", \"metadata\": {\"name\": \"web-only\"}, \"spec\": {"
      "\"matchConstraints\": {\"resourceRules\": [{\"apiGroups\": [\"\"], \"apiVersions\": [\"v1\"], \"operations\": [\"*\"], \"resources\": [\"pods\"]}]},"
      " \"validations\": [{\"expression\": \"authorizer.requestResource.check('own').allowed()\", \"message\": \"not yours\"}]}}");
  GavelValue *binding = value(
      "{\"apiVersion\": \"admissionregistration.k8s.io/v1\", \"kind\": \"ValidatingAdmissionPolicyBinding\", \"metadata\": {\"name\": \"web-only\"},"
      " \"spec\": {\"policyName\": \"web-only\", \"validationActions\": [\"Deny\"]}}");
  check(gavel_index_apply(index, policy));
  check(gavel_index_apply(index, binding));
  int asked = 0;
  GavelOptions options = {.callbacks = {.context = (size_t)&asked, .authorize = authorize, .find_namespace = find_namespace}};
  static const char *names[] = {"web", "db"};
  for (int i = 0; i < 2; i++) {
    char json[1024];
    int length = snprintf(json + 5, sizeof json - 5,
        "{\"uid\": \"1\", \"operation\": \"CREATE\", \"kind\": {\"group\": \"\", \"version\": \"v1\", \"kind\": \"Pod\"},"
        " \"resource\": {\"group\": \"\", \"version\": \"v1\", \"resource\": \"pods\"}, \"name\": \"%s\", \"namespace\": \"shop\","
        " \"userInfo\": {\"username\": \"alice\"}, \"object\": {\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"%s\"}}}",
        names[i], names[i]);
    json[0] = 32;
    for (int byte = 0; byte < 4; byte++) json[1 + byte] = (char)(length >> (8 * byte));
    GavelDecision decision;
    check(gavel_index_decide(index, NULL, 0, (const uint8_t *)json, 5 + (size_t)length, (GavelExplain){0}, &options, &decision));
    if (decision.allowed != (i == 0)) fail("web is allowed, db is not");
    gavel_bytes_free(decision.details);
  }
  if (asked != 2) fail("the authorizer was asked twice");
  char json[1024];
  int length = snprintf(json + 5, sizeof json - 5,
      "{\"uid\": \"1\", \"operation\": \"CREATE\", \"kind\": {\"version\": \"v1\", \"kind\": \"Pod\"},"
      " \"resource\": {\"version\": \"v1\", \"resource\": \"pods\"}, \"namespace\": \"%0300d\", \"object\": {}}", 0);
  json[0] = 32;
  for (int byte = 0; byte < 4; byte++) json[1 + byte] = (char)(length >> (8 * byte));
  GavelDecision decision;
  expect(gavel_index_decide(index, NULL, 0, (const uint8_t *)json, 5 + (size_t)length, (GavelExplain){0}, &options, &decision),
      GAVEL_ERROR_KIND_ARGUMENT, "at most 63 characters");
  check(gavel_index_delete(index, binding));
  gavel_value_free(policy);
  gavel_value_free(binding);
  gavel_index_free(index);
}

int main(void) {
  if (gavel_abi_version() >> 16 != GAVEL_ABI_MAJOR) fail("the library has another ABI");
  expressions();
  cancellation();
  custom_resource();
  policies();
  puts("ok");
  return 0;
}
