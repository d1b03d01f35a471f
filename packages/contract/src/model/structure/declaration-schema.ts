/** The JSON Schema of declarations, in parts by name, as the checks read it and as it is published. */

import { mostErrors } from '../../spec/faults.ts'
import {
  carriers,
  countedActions,
  type InterfaceDeclaration,
  type TenantsDeclaration,
  type VersionDeclaration,
} from '../declaration.ts'
import { type LimitsDeclaration, limitDefaults } from '../limits.ts'
import { hyphenedForm, longestName, reservedCollections } from '../names.ts'
import { arrayOf, choice, functionOnly, mapOf, type Node, objectOf, prose, ref, whole } from '../structure-node.ts'
import { change } from './change.ts'
import { condition, conditionValue } from './condition.ts'
import { field, innerSchema } from './field.ts'
import { accessRule, deletion, durationOf, resource, rule, title } from './resource.ts'

const rateForm = '^[1-9]\\d{0,8}/(?:second|minute|hour)$'

function rate(description: string, standard?: string): Node {
  return {
    ...{ description, type: 'string', pattern: rateForm, examples: ['600/minute'] },
    ...(standard === undefined ? {} : { default: standard }),
    wording: { what: 'a rate', write: 'Write N/second, N/minute or N/hour: "600/minute".' },
  }
}

const pageSize = objectOf<NonNullable<LimitsDeclaration['pageSize']>>(
  'The number of records of a page.',
  {},
  {
    default: whole(
      1,
      10_000,
      'The number of records of a page, if the request does not say.',
      limitDefaults.pageSize.default,
    ),
    max: whole(1, 10_000, 'The most records of a page that a request may ask for.', limitDefaults.pageSize.max),
  },
  { write: 'Write pageSize: { default: 20, max: 100 }.' },
)

const rates = objectOf<NonNullable<LimitsDeclaration['rate']>>(
  'How many requests are allowed in a time. The rest get 429.',
  {},
  {
    caller: rate('The requests of one caller.', limitDefaults.rate.caller),
    address: rate('The failed authentications from one address.', limitDefaults.rate.address),
    changes: rate('The records that one caller changes, with one request or many. Undeclared: any number.'),
    tenant: rate('The requests of all callers of one tenant. Undeclared: any number.'),
    actions: mapOf(
      rate('The requests of one caller for these actions.'),
      'Rates of single actions, by `collection.action`. `*` stands for all collections or all actions: `*.create`.',
      "Write actions: { 'tasks.create': '10/minute' }.",
      {
        examples: [{ 'tasks.create': '10/minute' }],
        propertyNames: {
          pattern: `^(?:\\*|[a-z][a-z0-9-]*)\\.(?:\\*|${countedActions.join('|')})$`,
          not: { const: '*.*' },
        },
      },
    ),
  },
  { write: "Write rate: { caller: '600/minute' }." },
)

const keys = objectOf<NonNullable<LimitsDeclaration['keys']>>(
  'Limits of the API keys that callers create over HTTP.',
  {},
  {
    perSubject: whole(
      ...([1, 1_000_000] as const),
      'The most keys of one subject that are neither revoked nor expired.',
      limitDefaults.keys.perSubject,
    ),
    lastingRoles: arrayOf(
      {
        type: 'string',
        pattern: '^(?!role:)[^]',
        wording: { what: 'the name of a role', write: 'List the names of roles, such as ["operator"].' },
      },
      'The roles whose callers may create keys and webhooks that outlive their own credential.',
      { what: 'an array of names of roles', write: 'List the names of roles, such as ["operator"].' },
      { default: [] },
    ),
  },
  { write: 'Write keys: { perSubject: 100 }.' },
)

const most = Number.MAX_SAFE_INTEGER
const exportLimits = objectOf<NonNullable<LimitsDeclaration['exports']>>(
  'Limits of the files that exports create.',
  {},
  {
    count: whole(1, 10_000, 'The most exports of one caller.', limitDefaults.exports.count),
    bytes: whole(1_024, most, 'The most bytes of all files of one caller.', limitDefaults.exports.bytes),
    total: whole(1_024, most, 'The most bytes of the files of all callers.', limitDefaults.exports.total),
  },
  { write: 'Write exports: { count: 20, bytes: 1073741824 }.' },
)

const includeLimits = objectOf<NonNullable<LimitsDeclaration['include']>>(
  'Limits of related records in one response.',
  {},
  {
    paths: whole(1, 100, 'The most paths that an `include` names.', limitDefaults.include.paths),
    records: whole(1, 100_000, 'The most records that a response includes.', limitDefaults.include.records),
  },
  { write: 'Write include: { paths: 8, records: 1000 }.' },
)

const eventLimits = objectOf<NonNullable<LimitsDeclaration['events']>>(
  'Limits of events. Only if a resource has `events: true`.',
  {},
  {
    retention: durationOf(
      'How long events are kept: an ISO 8601 duration of weeks, days, hours, minutes and seconds. Who continues ' +
        'after an older event gets 410.',
      limitDefaults.events.retention,
      'PT12H',
    ),
    streams: whole(1, 10_000, 'The most open streams of one caller.', limitDefaults.events.streams),
  },
  { write: 'Write events: { retention: "P7D" }.' },
)

const limits = objectOf<LimitsDeclaration>(
  'Limits of requests and responses.',
  {},
  {
    pageSize,
    rate: rates,
    keys,
    bodyBytes: whole(1_024, 1_073_741_824, 'The most bytes of a request body.', limitDefaults.bodyBytes),
    bodyMembers: whole(
      ...([100, 10_000_000] as const),
      'The most members of objects and items of arrays of a record in a body, however deep they are. ' +
        'The ids of a bulk deletion are not counted.',
      limitDefaults.bodyMembers,
    ),
    patchOperations: whole(1, 100_000, 'The most operations of a JSON Patch.', limitDefaults.patchOperations),
    bulk: whole(1, 100_000, 'The most records that one request creates or changes by an array.', limitDefaults.bulk),
    tenants: whole(1, 1_000_000, 'The most tenants that first uses create.', limitDefaults.tenants),
    errors: whole(
      ...([1, mostErrors] as const),
      'The most entries of `errors` in a response. Its `error_count` is the number of all errors.',
      limitDefaults.errors,
    ),
    pageBytes: whole(
      ...([65_536, 268_435_456] as const),
      'The most bytes of the records of one page, as JSON.',
      limitDefaults.pageBytes,
    ),
    include: includeLimits,
    readTime: whole(
      ...([10, 3_600_000] as const),
      'How long the database may work on one read, in milliseconds. Slower reads are ended with 503. ' +
        'A SQLite database in memory has no limit.',
      limitDefaults.readTime,
    ),
    authorizeTime: whole(
      ...([10, 60_000] as const),
      'How long the function `authorize` may take, in milliseconds. If it takes longer, the request gets 502.',
      limitDefaults.authorizeTime,
    ),
    functionTime: whole(
      ...([10, 30_000] as const),
      'How long one run of a function in `on` may take, in milliseconds. It is then run again later.',
      limitDefaults.functionTime,
    ),
    exports: exportLimits,
    events: eventLimits,
  },
  { write: 'Write limits: { pageSize: { max: 100 } }.' },
)

const moment = (description: string): Node => ({
  ...{
    description,
    type: 'string',
    pattern: '^\\d{4}-\\d\\d-\\d\\d(?:[Tt].+)?$',
    examples: ['2027-06-01', '2027-06-01T08:00:00Z'],
  },
  wording: 'elsewhere',
})

const version = objectOf<VersionDeclaration>(
  'A version of the interface. The current version, which is the last one, has no keys.',
  {},
  {
    deprecated: moment('When the version becomes deprecated. It still works, and its responses say so.'),
    sunset: moment('When the version is retired.'),
    afterSunset: choice(
      ['gone', 'redirect'],
      'The response of a retired version: 410 (`gone`), or 308 to its successor (`redirect`).',
      { default: 'gone' },
    ),
    guide: {
      ...{ description: 'The URL of a migration guide.', type: 'string', pattern: '^https?://' },
      ...{ examples: ['https://example.org/v2'], wording: 'elsewhere' },
    },
  },
  { write: 'Write v1: {}.' },
)

const tenants = objectOf<TenantsDeclaration>(
  'Each tenant has a database of its own: a file on SQLite, a schema on PostgreSQL. Each request belongs to the ' +
    'tenant that the key or a claim of its caller names.',
  {
    caller: {
      description: 'The claim of the caller that names the tenant, a text of 1 to 128 characters.',
      ...{ type: 'string', pattern: '^claims(?:\\.[^.\\s]+)+$', examples: ['claims.team'] },
      wording: { what: 'a claim of the caller', write: 'Write caller: "claims.team".' },
    },
  },
  {
    create: choice(
      ['operator', 'first-use'],
      '`operator`: a tenant that operators have not created is unknown. `first-use`: the first request that changes ' +
        'something creates it.',
      { default: 'operator' },
    ),
    gracePeriod: durationOf(
      'How long a deleted tenant is kept, and can be restored: an ISO 8601 duration of weeks, days, hours, minutes ' +
        'and seconds.',
      'P30D',
      'PT12H',
    ),
  },
  { write: 'Write tenants: { caller: "claims.team" }.' },
)

const collectionName: Node = {
  pattern: hyphenedForm.source,
  maxLength: longestName,
  not: { enum: reservedCollections },
}

const declaration = objectOf<InterfaceDeclaration>(
  'An interface: collections of records that are served over HTTP from a database.',
  {
    name: {
      description: 'The name of the interface, which is part of its media types: `application/vnd.studio.v1+json`.',
      ...{ type: 'string', pattern: hyphenedForm.source, maxLength: longestName, examples: ['studio'] },
      wording: 'elsewhere',
    },
    resources: mapOf(
      ref('resource'),
      'The collections by name: plural nouns in lower case, with hyphens between words.',
      'Write resources: { notes: { fields: { text: { type: "string" } } } }.',
      {
        ...{ minProperties: 1, propertyNames: collectionName },
        examples: [{ notes: { fields: { text: { type: 'string' } } } }],
      },
    ),
  },
  {
    $schema: {
      description: 'The JSON Schema of declarations, for editors. Resourced ignores it.',
      ...{ type: 'string', examples: ['./node_modules/resourced/declaration.schema.json'] },
      wording: { what: 'the address of a JSON Schema', write: 'Write it as a text, or leave it out.' },
    },
    title: { ...title, examples: ['Studio'] },
    description: prose('What the interface is for. The OpenAPI document has it.'),
    versions: mapOf(
      ref('version'),
      'The versions by name (`v1`, `v2`, …), the oldest first. The last one is the current version.',
      'Write versions: { v1: {} }.',
      { propertyNames: { pattern: '^v[1-9]\\d{0,5}$' }, minProperties: 1, default: { v1: {} } },
    ),
    versionCarriers: arrayOf(
      choice(carriers, 'A place where requests name their version.'),
      'Where requests name their version: in the path (`/v1/tasks`), the header field `API-Version`, the media type ' +
        'or the parameter `version`.',
      { what: 'an array of carriers', write: 'Write ["path"], or leave it out.' },
      { minItems: 1, uniqueItems: true, default: ['path'] },
    ),
    changes: arrayOf(ref('change'), 'What each version changed, so that older versions are still served.', {
      what: 'an array',
      write: 'Write [{ version: "v2", resource: "tasks", rename: { name: "title" } }].',
    }),
    authorize: functionOnly(
      '`(request) => true | false | { code, message }`: decides about each request of an authenticated caller. It ' +
        'may await.',
      'Write (request) => request.caller.roles.length > 0 in TypeScript or JavaScript, or remove it.',
    ),
    tenants: ref('tenants'),
    limits: ref('limits'),
  },
  { write: 'Write export default defineInterface({ name, resources }).' },
)

/** The parts that are described on their own, in the order of the reference page. */
export const parts: Readonly<Record<string, Node>> = {
  resource,
  field,
  schema: innerSchema,
  accessRule,
  condition,
  conditionValue,
  deletion,
  rule,
  version,
  change,
  tenants,
  limits,
}

/** The whole declaration. */
export const root = declaration

/** The node that a reference means, with what the reference says itself. */
export function resolve(node: Node): Node {
  if (node.$ref === undefined) return node
  const { $ref, ...own } = node
  return { ...(parts[$ref.slice('#/$defs/'.length)] as Node), ...own }
}

/** The JSON Schema of declarations (draft 2020-12). Editors complete and check YAML and JSON declarations by it. */
export function declarationSchema(): Readonly<Record<string, unknown>> {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Resourced declaration',
    ...(published(root) as object),
    $defs: published(parts),
  }
}

/** The JSON Schema of declarations as the text of a file. */
export function declarationSchemaText(): string {
  return `${JSON.stringify(declarationSchema(), undefined, 2)}\n`
}

function published(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(published)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => (key === 'wording' ? [] : [[key, published(each)]])),
  )
}
