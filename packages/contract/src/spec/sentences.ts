/**
 * What issues say (ERR-3): for each code its texts, by their reasons. A text that begins in lower case follows the name
 * of the field, the parameter or the header that the issue is about; others are whole sentences. `{limit}` stands for
 * data of the issue, `{known:or}` for data in a form of `words.ts`, and `{limit:item}` for a number of items.
 */
export const sentences = {
  // Values and their schemas. Reasons have the names of keywords, where there is one.
  INVALID_TYPE: {
    type: 'must be {types:type}',
    object: 'must be a JSON object',
    operations: 'must be an array of operations: a JSON Patch',
    patchedAway: 'would be something else than a JSON object after the patch',
    names: 'must be an array of names, or a string that lists them; leave it out for the default',
    queryValue: 'takes a text, a number, a boolean or an array of them; an operator is part of the name: "price[gte]"',
    nullParameter: 'cannot be null; leave it out, or ask for unset fields with the name of the field alone',
    keyType: 'must be of the type {type}',
    targetKey: 'must be a value that {key} of the {target} can have',
  },
  INVALID_VALUE: {
    relevanceAlone: 'orders by relevance only beside q, whose words decide',
    pattern: 'must match the pattern {limit}',
    multipleOf: 'must be a multiple of {limit}',
    uniqueItems: 'must not have the same item twice',
    propertyNames: 'is not an allowed key',
    minProperties: 'must have at least {limit:key}',
    maxProperties: 'must have at most {limit:key}',
    anyOf: 'must fit one of the declared alternatives',
    contains: 'must have at least {limit:item} of the kind declared',
    not: 'must not be a value of the kind excluded',
    'false schema': 'must not be given',
    keyword: 'is invalid: it {text}',
    tooAmbiguous: 'fits too many alternatives in part to be checked; send a simpler value',
    more: 'has {more} more errors',
    parent: 'must be {parent}, as in the address, or left out',
    repeats: 'repeats {first}; name each once',
    operationName: 'must begin with a letter, and have at most {most} letters, digits and underscores',
    laterResult: 'refers to the result of operation {name:json}, which is no earlier one',
    noResult: 'refers to {name:json}, which is no value that a result of {resource} shows',
    pathResult: 'refers to {name:json}; a path takes the id of an earlier result alone, such as {wanted}',
    hiddenResult: 'refers to {name:json}, which you may not read',
    tooMuchReferred: 'refers to too much: all values that a transaction refers to may have {most:number} bytes',
    deepResult: 'refers to a value that would be nested too deeply here',
    uncondition: 'goes with PUT, PATCH, DELETE and a restoration alone',
    bodiless: 'goes with POST to a collection, PUT and PATCH alone',
    control: 'must have no control characters',
    space: 'must not begin or end with white space',
    comma: 'must have no comma',
    past: 'must be in the future',
    removesRecord: 'leads to the record itself, which DELETE removes',
    intoItself: 'leads into the value that is moved',
    urlForm: 'must be an absolute address, such as https://example.com/events',
    urlHttps: 'must begin with https://',
    urlHttp: 'must begin with https://, unless it leads to a network that the operator allows',
    urlUser: 'must have no user name and no password: deliveries are signed instead',
    urlFragment: 'must have no fragment: servers never receive it',
    urlAddress: 'must lead to a public address, by https on port 443 or from 1024 on, or to a network that is allowed',
    twoReceivers: 'A delivery is to a webhook or to a function: leave webhook_id or function out.',
    expiredMaker: 'The credential that made the webhook has expired, or was revoked. Only its maker can turn it on.',
    value: 'takes {wanted:value}',
    notDay: 'takes a date-time; for a day use {instead} with the day after it',
    oftener: 'may be given {most} times, not {given}',
    namesTwice: 'names {name} twice; name each field once',
    pathTwice: 'names {name:json} twice; name each path once',
    emptyPath: 'names an empty path; list paths such as author,chapters.translator, or leave it out',
    deepPath: 'may lead {most:step} far, and {name:json} leads farther',
    commaBeside: 'holds a comma, and its field has a filter without an operator, or has; give only one of the two',
    commaInAll: 'holds a comma, which separates items here; ask for it by hasAll in where',
    nullBeside: 'is null beside {name}; give only one of the two',
    condition: '{place} {problem}. {remedy}',
    notJson: 'must be a condition as JSON. {problem}',
    cells: 'The row has {given} cells, and the header {wanted}.',
  },
  NOT_IN_ENUM: {
    enum: 'must be {allowed:among}',
    unknownCollection: 'must be the name of a collection. {names:suggestion}',
  },
  INVALID_FORMAT: {
    format: 'must be {format:format}',
    id: 'must be the id of one of the {target}: a UUID in lower case',
    decimal: 'must be a decimal: a string of digits such as "19.99", or a number',
    pointer: 'must be a JSON Pointer: it begins with / and writes ~ as ~0 (RFC 6901)',
    unlike: 'is {text:short}, and the map wants {form}',
    emptyFile: 'The file is empty: its first row must name the fields.',
    longHeader: 'The first row is longer than {most} bytes: it must name the fields, and nothing else.',
    openQuote: 'A cell of the row that begins here opens a quote that is never closed.',
    closedQuote: 'In the row that begins here something other than a comma follows a closing quote.',
    innerQuote: 'In the row that begins here a quote stands inside a cell: quote the cell, and double the quote.',
  },
  INVALID_TEXT: {
    notUtf8: '{name} is not valid UTF-8. Name the encoding of the file, such as --encoding windows-1252.',
  },
  OPERATION_NOT_ALLOWED: {
    operation:
      '{method} {path:short} cannot be an operation. There are POST and PATCH /COLLECTION, PUT, PATCH and DELETE ' +
      '/COLLECTION/ID, and POST /COLLECTION/ID/COLLECTION or /restore; paths have no version and no query.',
  },
  TRANSACTION_TOO_LARGE: {
    tooManyTouched: 'All operations together may change {limit:number} records, cascades included.',
    jobInTransaction: 'This would be a background job, which a transaction cannot contain.',
  },
  TOO_SHORT: { minLength: 'must have at least {limit:character}' },
  TOO_LONG: {
    maxLength: 'must have at most {limit:character}',
    jsonLength: 'must have at most {limit:character} as JSON',
    searched: 'may look for {limit:character} with {operators} together',
    filterTexts: 'The texts of {operators} may have {limit:character} together.',
    indexed: 'is too long to find records by{fields:with}: {given} bytes in UTF-8{folded:folded}, of at most {most}',
    besideLong: 'cannot have more bytes beside {fields:and}, which is longer than its share',
  },
  TOO_SMALL: { minimum: 'must be at least {limit}', exclusiveMinimum: 'must be greater than {limit}' },
  TOO_LARGE: {
    maximum: 'must be at most {limit}',
    exclusiveMaximum: 'must be less than {limit}',
    wholeDigits: 'must have at most {limit:digit} before the decimal point',
    totalRange: 'makes a sum that the server keeps of it too large',
    largeTotal: 'A sum that the server keeps would become too large.',
    bytes: 'would have {given} bytes as JSON, and may have {most}',
    copies: 'copies too much: all copies together may have {bytes} bytes and {members} members',
  },
  TOO_PRECISE: { scale: 'must have at most {limit:digit} after the decimal point' },
  TOO_FEW_ITEMS: {
    minItems: 'must have at least {limit:item}',
    noValues: 'is an array without values; give one at least, or leave it out',
  },
  TOO_MANY_ITEMS: {
    maxItems: 'must have at most {limit:item}',
    nameCount: 'must name 1 to {most} fields; leave it out for the default',
    fieldCount: 'may name {most} fields, not {given}',
    pathCount: 'may name {most} paths, not {given}',
    comparisons: 'may hold {most} comparisons, not {given}; ask for less at once',
    listedValues: 'may list {most} values, not {given}; ask for less at once',
    groups: 'may name {most} groups, not {given}',
    figures: 'A summary may have {most} figures beside count; this one has {given}.',
    slots: 'The records have dates on more than {most} different {slots}. Choose fewer by a filter of {name}.',
    days: 'may have {most} days that do not follow each other, not {given}',
    words: 'may have {most} different words, not {given}',
    queryValues: 'is beyond the {most} values that a QUERY may hold',
    filters: 'A query may have {most} filters; this one has {given}.',
    filterValues: 'The filters of a query may have {most} values together.',
  },
  TOO_MANY_MEMBERS: { members: 'would have {given} members and items, and may have {most}' },
  TOO_DEEP: {
    patchTooDeep: 'would be nested deeper than {most} objects and arrays after the patch',
    copyTooDeep: 'leads to a value that is nested too deeply',
    conditionTooDeep: 'lies deeper than the {most} conditions that may nest within each other',
  },
  PATH_NOT_FOUND: { nowhere: 'leads nowhere: {at:record} has no {step:json}' },

  // Fields of records.
  REQUIRED: {
    required: 'is required',
    requiredOf: 'is required: {allowed:or}',
    dependentRequired: 'is required where {property} is given',
    ids: 'must be an array of ids',
    noKey: 'is the key of the import, so each record needs it',
  },
  UNKNOWN_FIELD: {
    additionalProperties: 'is not a known key{known:known}',
    unknownField: 'is not a field of {resource}',
    unsettable: 'cannot be set here. {names:suggestion}',
    unchosen: 'is no collection of the webhook; a condition stands below the name of its collection, here {known:or}',
    unsortable: '{resource} cannot be sorted by {name:json}; sort takes {known}.',
    ungroupable: '{resource} cannot be grouped by {name:json}; group takes {known:or}.',
    noFigure: '{resource} has no {kind} of {name:json}; {kind} takes {known:or}.',
    summaryOrder: 'A summary cannot be sorted by {name:json}; here sort takes {known}.',
    unanswered: '{resource} has no field {name:json} to answer with; it has {known:and}.',
    moreColumns: 'There are {left} more columns.',
    noField:
      'No column is a field of {resource}. There are: {names:and}.{delimiter:several} Name their fields with --map.',
    separatorLine: 'The first row is {name:json}, so no column is a field. Remove this line{delimiter:option}.',
    mappedColumn: 'The map names the column {name:json}, which the file does not have. {names:suggestion}',
    namelessColumn: 'A column has no name in the first row.',
    joinedColumns: '{name:json} is one column. If it is several, name what separates them: --delimiter {delimiter}.',
    unknownColumn:
      '{name:json} is not a field of {resource}. {names:suggestion} Or use --map, or leave it out: --ignore-unknown.',
  },
  READ_ONLY: {
    readOnly: 'is set by the server; leave it out',
    readOnlyInPatch: 'is set by the server; leave it as it is',
    serverColumn: 'The server sets {name}. Leave the column out with --ignore-unknown, or give it a field with --map.',
  },
  IMMUTABLE: {
    immutable: 'cannot change once the record exists; leave it out',
    immutableValue: 'cannot change once the record exists; send its present value or leave it out',
    immutableInPatch: 'cannot change once the record exists; leave it as it is',
  },
  INVALID_REFERENCE: {
    noTarget: 'refers to nothing: there is no such record in {target}',
    unreadableTarget: 'refers to nothing: there is no such {what}, or you may not read it',
    noRowWith: 'refers to nothing: no row of {target} has the key {value:short}',
    noneWith: 'refers to nothing: neither a row nor one of the {target} has {key} {value:short}',
    refusedCircle: 'The record belongs to a circle of references, of which another record was refused.',
  },
  DUPLICATE_KEY: {
    memberTwice: 'is there twice',
    columnTwice: 'The column {name} is there twice.',
    columnsOfField: 'The columns {names:and} are the same field {of}.',
    givenElsewhere:
      'The map gives {name} to {column:json}. Give the column {name:json} another field, or say --ignore-unknown.',
  },

  // Query parameters.
  UNKNOWN_RELATION: {
    unknownRelation: '{resource} has no relation {name:json}{known:known}.',
  },
  UNKNOWN_PARAMETER: {
    notIncluded: 'is about {name:json}, which include does not name',
    includeOption: 'is no parameter of a path; include[{name}] takes {known:or}',
    onlyToMany: 'goes with a relation to many records, and {name} leads to one',
    noParameters: 'This address takes no parameters with this method.',
    uniqueParameter:
      'A record takes the value of one unique field here, and nothing else: {known:or}. ' +
      'An array takes the name of the field in key.',
    onlyParameters: 'This address takes only {only} with this method.',
    includedInPast: 'does not go with Accept-Datetime: related records are read as they are now',
    streamParameters: 'A stream takes only filters as parameters. Last-Event-ID says where it begins.',
    unknownFilter: '{name:json} is no parameter here. {resource} takes {others:and}, and the filters {known}.',
    unsearchable: '{resource} has no field to search with q.',
    listOnly: 'goes with lists only, not with a summary',
    zoneAlone: 'goes with a day in a filter, such as created_at=2026-11-28, or with a group of date-times in a summary',
  },
  DUPLICATE_PARAMETER: { repeatedParameter: 'may be given once; commas separate several values where it takes them' },
  INVALID_OPERATOR: {
    operator: 'has an operator that {name} does not have; it takes {known}',
    needsOperator: 'needs an operator, because {name} is an array: {known}',
  },
  INVALID_PAGE: {
    pageStyles: 'does not go with {others:and}: use page and per_page, offset and limit, or cursor and limit',
    pageNumber: 'takes a whole number from {least} to {most}',
    unorderedCursor: 'goes with an order by groups alone; use page and per_page, or offset and limit',
    pageBeyond: 'is too large a number',
  },
  CREDENTIAL_IN_QUERY: {
    credential: 'Send credentials in Authorization, never in an address. Replace this one: it may have been logged.',
  },
  INVALID_CURSOR: {
    foreignCursor: 'must be sent as it was given, with the same sort, filters and search; or start again without one',
    foreignEventId: 'must be an id of this stream as it was given, or the id of an event; or begin without it',
  },
  PAGE_TOO_LARGE: {
    largePage: 'The page has too many bytes. Use {name}={fits}, ask for fewer fields, or ask by cursor.',
  },

  INCLUDE_TOO_LARGE: {
    largeInclude: 'The included records are too many or too large. Use {name}={fits}.',
  },

  // Header fields.
  MALFORMED_CONDITION: {
    emptyCondition: 'is empty: send the quoted tag of an earlier ETag, or leave the header out',
    malformedDatetime: 'is no HTTP date, such as Sun, 29 Nov 2026 08:49:37 GMT',
    listInPast: 'goes with one record, not with a list',
    malformedCondition: 'is neither * nor a list of quoted entity tags such as "7"',
  },
  PRECONDITION_FAILED: {
    failedCondition: 'does not hold: the record was changed meanwhile. Read it again, then decide',
    present: 'does not hold: there is such a record already. To change it, leave the header out',
    absentOrChanged: 'does not hold: there is no such record, or it was changed meanwhile. Read it again, then decide',
  },
  UNKNOWN_PREFERENCE: {
    unknownPreference: 'This address does not understand the preference {name}.',
    preferenceValue: 'The preference {name} takes {takes}.',
  },
  VERSION_MISMATCH: { severalVersions: 'names several versions; name one', saysVersion: 'names {name}' },
  INVALID_IDEMPOTENCY_KEY: {
    keyCharacters: 'may hold visible ASCII characters and spaces only',
    keyEmpty: 'is empty',
    keyUnquoted: 'must be in double quotes to contain spaces, quotes, , or ;',
    keyUnclosed: 'has no closing quote',
    keyEscape: 'has a backslash before something else than a double quote or a backslash',
    keyRest: 'has something after its closing quote',
  },
  IDEMPOTENCY_KEY_IN_USE: {
    firstStillRuns: 'is that of a request that still runs. Repeat this one in a moment to get its answer',
  },
  IDEMPOTENCY_KEY_REUSED: { keyOfOther: 'came with another body in the last 24 hours. A new request needs a new key' },

  // Permissions.
  FORBIDDEN: {
    notYours: 'is not yours to set in this record; leave it out, or send what you read',
    undeletable: 'You may not delete this record.',
    unwritable: 'You may not create or change this record.',
    unfilterable: 'You may not read {name}, so you cannot filter by it. Leave the filter out.',
    unorderable: 'You may not read {name} of every record. Sort by another field.',
    unsummarized: 'You may not read {name} of every record, so a summary cannot use it.',
    ownKeys: 'You may make keys for yourself alone: leave subject out.',
    lackedRole: 'You do not have the role {name:json}, so your keys cannot have it.',
    lackedClaim: 'You do not have the claim {name:json} with this value, so your keys cannot have it.',
    endlessKeys: 'Your credential does not say when it expires, so no keys can be made with it.',
    endlessWebhooks:
      'Your credential does not say when it expires, so no webhooks can be made with it. Use an API key.',
    laterEnd: 'Your credential expires at {ends}, so its keys cannot expire later. Ask for an earlier end.',
    unreadable: 'The webhook reads with the permissions of its maker, who may not read {name}.',
    administrators: 'Only administrators may have functions run again.',
    lacks:
      'The server sets a field from {lacks}, which an import does not have. Give it a default, or make it optional.',
  },

  // Conflicts with the state of records.
  CONFLICT: {
    /** The words of a business rule, of a function, or of a reader of files. */
    given: '{message}',
    test: 'expects another value at {path:json}',
  },
  DUPLICATE_VALUE: {
    taken: 'is taken{fields:with} by another record; choose another value',
    sameKey: '{name} is the same as in {place}, and identifies the record.',
  },
  INVALID_TRANSITION: { transition: 'cannot change from {from} to {to}: {allowed:next}' },
  NOT_FOUND: { noRecord: 'There is no such record.' },
  REFERENCE_DELETED: { targetDeleted: 'refers to one of the {target} that is deleted; restore that one first' },
  BEING_DELETED: { targetBeingDeleted: 'refers to one of the {target} that is being deleted' },
  TEXT_TOO_LONG: {
    longText: 'is too long{fields:with} for a new index ({most} bytes in UTF-8); create a record with a shorter text',
  },
  HAS_DEPENDENTS: {
    dependent: '1 record of {collection} refers to {target} by {by}; delete or change it first.',
    dependents: '{count} records of {collection} refer to {target} by {by}; delete or change them first.',
    unreadDependents:
      'Records of {collection} refer to {target} by {by}; you may not read them all. Ask somebody who may change them.',
  },
  TOO_MANY_AFFECTED: {
    affected: '{count} records match, which is more than max-affected allows ({most}); none was {done}.',
    uniqueOfMany: 'is unique: a change by filter sets it in at most {most} records; narrow the filter',
  },
  JOB_NOT_FINISHED: { unfinished: 'The job is {status}. Delete it once its status is succeeded or failed.' },
  KEY_QUOTA: {
    keyQuota: '{subject:json} has {given} keys, and {most} are allowed. Revoke those that are not used any more.',
  },
  EXPORT_QUOTA: {
    exportCount:
      'You have {given:number} of at most {most:number} exports. DELETE /exports/ID, or wait: they expire in a day.',
    exportBytes:
      'Your exports have {given:number} of {most:number} bytes. DELETE /exports/ID, or wait: they expire in a day.',
  },
  BODY_TOO_LARGE: { largeRecord: 'The record is larger than {most:number} bytes.' },
} as const
