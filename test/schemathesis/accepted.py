"""Findings of Schemathesis that are no faults of the server, each with its reason."""
import json
import re

import schemathesis

# What the state of the server decides, and no schema can say before.
DECIDED_BY_STATE = {
    409,  # A conflict with other records.
    412,  # The record is not in the state that the condition names.
    416,  # The representation ends before the range.
    422,  # The Idempotency-Key belongs to another request.
    428,  # The declaration demands a condition.
}

# What all that was generated comes to together, whatever is wrong with it: it is refused before it is read.
TOO_LARGE = {
    413,  # The body.
    414,  # The address.
    431,  # The header fields.
}

# What OpenAPI 3.1 cannot say of parameters and bodies.
BEYOND_SCHEMAS = {
    "INVALID_PAGE",  # The styles of pages exclude each other.
    "INVALID_CURSOR",  # Cursors are opaque: only the server makes them.
    "INVALID_REFERENCE",  # The record that a reference names must exist.
    "FILTER_REQUIRED",  # A deletion by filter needs one of its filters.
    "INVALID_TEXT",  # No text holds U+0000 or half a surrogate pair.
    "NUMBER_NOT_EXACT",  # A number with more digits than the server can keep exactly.
    "TOO_PRECISE",  # A number of a decimal with more digits than its scale.
    "TOO_MANY_ITEMS",  # A bound on all filters together, or on the names in one text.
    "IMMUTABLE",  # Another value than the record has.
}

# What the schema of one operation cannot say, by its label, the code and where the error points (`None`: anywhere).
BEYOND_OPERATIONS = {
    ("POST /api-keys", "INVALID_VALUE", None),  # `expires_at` must be in the future, names without control characters.
    ("POST /exports", "UNKNOWN_FIELD", None),  # Which fields there are depends on `collection`.
}

# Every list answers QUERY (RFC 10008), which OpenAPI 3.1 cannot describe.
BEYOND_METHODS = {"QUERY"}


def problem_of(response):
    try:
        return json.loads(response.content)
    except ValueError:
        return {}


def codes_of(response):
    problem = problem_of(response)
    return {error["code"] for error in problem.get("errors", [])} or {problem.get("code")}


def is_beyond_schemas(case, response):
    problem = problem_of(response)
    return all(is_beyond_schema(case, error) for error in problem.get("errors", [problem]))


def is_beyond_schema(case, error):
    label, code, pointer = case.operation.label, error.get("code"), error.get("pointer")
    # A nested creation may name its parent only as the address does.
    is_nested = re.match(r"POST /[^/]+/{id}/[^/]+$", label) and "as in the address" in error.get("message", "")
    # Each field may be sorted by once, and relevance goes with words to search for.
    is_repeated = error.get("parameter") == "sort" and re.search("twice|beside q", error.get("message", ""))
    # A zone is one that the server knows, and goes with a day in a filter.
    is_zone = error.get("parameter") == "timezone" or pointer == "/timezone"
    # A decimal may be sent as a number, whose digits before the point no schema counts.
    is_beyond_precision = code in ("TOO_SMALL", "TOO_LARGE") and "digits before the decimal point" in error.get("message", "")
    # A condition is JSON in a text, and which fields, relations and operators it takes depends on the collection.
    is_condition = error.get("parameter") == "where"
    # So do the groups and figures of a summary; `x-collection` lists them.
    is_figure = label.endswith("/summary") and error.get("parameter") in ("group", "sum", "avg", "min", "max", "sort")
    # One of the unique fields says which record is replaced, or created.
    is_upsert = re.match(r"PUT /[^/]+$", label)
    is_key = is_upsert and (error.get("parameter") is not None or (pointer or "")[1:] in (case.query or {}))
    # What an operation of a transaction is, depends on its method and its path.
    is_operation = label == "POST /transactions" and (code == "OPERATION_NOT_ALLOWED" or (pointer or "").startswith("/operations/"))
    # A JSON Patch is judged by what it makes of the record.
    is_patch = "json-patch" in (case.media_type or "")
    # So is a merge patch of an object in a field.
    is_merge = label.startswith("PATCH ") and (pointer or "").count("/") > 1
    return (
        code in BEYOND_SCHEMAS
        or is_beyond_precision
        or is_patch
        or is_merge
        or is_nested
        or is_repeated
        or is_zone
        or is_condition
        or is_figure
        or is_key
        or is_operation
        or {(label, code, pointer), (label, code, None)} & BEYOND_OPERATIONS != set()
    )


def methods_of(text):
    return {method.strip().upper() for method in text.split(",") if method.strip()}


def sends_undocumented_condition(case, response):
    """Whether If-Match does not fit its own pattern: the generator does not always follow patterns of header fields."""
    pattern = case.operation.schema.raw_schema["components"]["parameters"]["ApiIfMatch"]["schema"]["pattern"]
    sent = response.request.headers.get("If-Match")
    return sent is not None and re.search(pattern, sent) is None


@schemathesis.hook
def filter_failure(context, failure, case, response):
    kind = type(failure).__name__
    if response.status_code in TOO_LARGE:
        return kind not in (
            "RejectedPositiveData",
            "AcceptedNegativeData",
            "MissingHeaderNotRejected",
            "UnsupportedMethodResponse",
        )
    if kind in ("RejectedPositiveData", "AcceptedNegativeData") and response.status_code in DECIDED_BY_STATE:
        return False
    if kind == "RejectedPositiveData" and response.status_code == 400 and is_beyond_schemas(case, response):
        return False
    if codes_of(response) == {"MALFORMED_CONDITION"} and sends_undocumented_condition(case, response):
        return False
    if kind == "UnsupportedMethodResponse" and response.request.method in BEYOND_METHODS:
        return False
    if kind == "AllowHeaderMismatch":
        path = case.operation.schema[case.operation.path]
        declared = {name.upper() for name in path if name not in ("parameters", "servers")} | {"HEAD", "OPTIONS"}
        allowed = methods_of(",".join(response.headers.get("allow", [])))
        return allowed - BEYOND_METHODS != declared
    return True
