"""Findings of Schemathesis that are no faults of the server, each with its reason."""
import json

import schemathesis

# What the state of the server decides, and no schema can say before.
DECIDED_BY_STATE = {
    409,  # A conflict with other records.
    412,  # The record is not in the state that the condition names.
    416,  # The representation ends before the range.
    428,  # The declaration demands a condition.
}

# What OpenAPI 3.1 cannot say of parameters and bodies.
BEYOND_SCHEMAS = {
    "INVALID_PAGE",  # The styles of pages exclude each other.
    "INVALID_CURSOR",  # Cursors are opaque: only the server makes them.
    "INVALID_REFERENCE",  # The record that a reference names must exist.
    "FILTER_REQUIRED",  # A deletion by filter needs one of its filters.
}

# Every list answers QUERY (RFC 10008), which OpenAPI 3.1 cannot describe.
BEYOND_METHODS = {"QUERY"}


def codes_of(response):
    try:
        problem = json.loads(response.content)
    except ValueError:
        return set()
    return {error["code"] for error in problem.get("errors", [])} or {problem.get("code")}


def methods_of(text):
    return {method.strip().upper() for method in text.split(",") if method.strip()}


@schemathesis.hook
def filter_failure(context, failure, case, response):
    kind = type(failure).__name__
    if kind in ("RejectedPositiveData", "AcceptedNegativeData") and response.status_code in DECIDED_BY_STATE:
        return False
    if kind == "RejectedPositiveData" and response.status_code == 400 and codes_of(response) <= BEYOND_SCHEMAS:
        return False
    if kind == "UnsupportedMethodResponse" and response.request.method in BEYOND_METHODS:
        return False
    if kind == "AllowHeaderMismatch":
        path = case.operation.schema[case.operation.path]
        declared = {method.upper() for method in path} | {"HEAD", "OPTIONS"}
        allowed = methods_of(",".join(response.headers.get("allow", [])))
        return allowed - BEYOND_METHODS != declared
    return True
