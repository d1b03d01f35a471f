/** The structure of a resource: fields, deletion, access rules and business rules. */
import {
  type AccessDeclaration,
  type AccessRule,
  type Action,
  actions,
  type BusinessRule,
  type Condition,
  type DeletionDeclaration,
  type FieldAccessDeclaration,
  type HistoryDeclaration,
  type ResourceDeclaration,
  ruleCodeForm,
} from '../declaration.ts'
import { type EventKind, eventKinds } from '../event.ts'
import type { SummaryDeclaration } from '../kept-summary.ts'
import { mostChangedAtOnce } from '../limits.ts'
import { longestName, reservedFields, snakeCaseForm } from '../names.ts'
import { systemFields } from '../resource.ts'
import {
  arrayOf,
  choice,
  flag,
  flagWithoutDefault,
  functionOnly,
  mapOf,
  type Node,
  objectOf,
  prose,
  ref,
  whole,
} from '../structure-node.ts'

export const name = (description: string, ...examples: string[]): Node => ({
  ...{ description, type: 'string', examples },
  wording: 'elsewhere',
})

export const title: Node = {
  ...{ description: 'The name for people, one line.', type: 'string', pattern: '^[^\\r\\n]*\\S[^\\r\\n]*$' },
  wording: 'elsewhere',
}

const triggers = ['create', 'update', 'delete', 'restore']

const changesMeant = {
  what: '"create", "update", "delete" or "restore", or an array of these',
  write: 'Write when the rule is decided: "create".',
}

const on: Node = {
  description: 'The changes that the rule applies to.',
  anyOf: [
    choice(triggers, 'One kind of change.'),
    arrayOf(choice(triggers, 'A kind of change.'), 'Several kinds of changes.', changesMeant, { minItems: 1 }),
  ],
  wording: changesMeant,
}

type DeclarativeRule = Extract<BusinessRule, { readonly code: string }>
type FunctionRule = Extract<BusinessRule, { readonly check: unknown }>

const ruleExample = "{ on: 'delete', code: 'PROJECT_IS_OPEN', message: '…', unless: { where: { status: 'done' } } }"

const unless = objectOf<DeclarativeRule['unless']>(
  'The change is allowed if this is true. Without `none` and `some`, the record itself must match.',
  { where: ref('condition') },
  {
    none: name('A collection of which no live record may match `where`.', 'tasks'),
    some: name('A collection of which at least one live record must match `where`.', 'tasks'),
  },
  { write: "Write unless: { none: 'tasks', where: { … } }." },
)

const declarativeRule = objectOf<DeclarativeRule>(
  'A rule as data.',
  {
    on,
    code: {
      description: 'The code of the error, in UPPER_CASE_WITH_UNDERSCORES.',
      ...{ type: 'string', pattern: ruleCodeForm.source, examples: ['PROJECT_HAS_OPEN_TASKS'] },
      wording: 'elsewhere',
    },
    message: prose(
      'What blocks the change, and how to resolve it.',
      'Write what blocks the change and how to resolve it.',
    ),
    unless,
  },
  {
    when: ref('condition', {
      description:
        'The rule applies to records that match, as the change leaves them. `{ project_id: { null: false } }` leaves ' +
        'out records without a project. Left out: the rule applies to all.',
      wording: 'elsewhere',
    }),
  },
  { write: `Write ${ruleExample}.` },
)

const functionRule = objectOf<FunctionRule>(
  'A rule as a function. Only in TypeScript and JavaScript.',
  {
    on,
    check: functionOnly(
      '`({ current, next, caller, now }) => undefined | { code, message, pointer }`.',
      'Write `code`, `message` and `unless`, or a function in TypeScript.',
    ),
  },
  {},
  {
    unknownKey: 'does not go together with `check`',
    meantKeys: Object.fromEntries(
      ['code', 'message', 'when', 'unless'].map((key) => [
        key,
        'Remove one of the two: `check` answers with the code.',
      ]),
    ),
  },
)

/** A rule of either form. */
export const rule: Node = {
  description: 'A business rule. The server refuses the changes that break it with 409 and the code of the rule.',
  anyOf: [functionRule, declarativeRule],
  wording: { what: 'an object', write: `Write ${ruleExample}.` },
}

const duration = '^P(?=[\\dT])(?:\\d+W)?(?:\\d+D)?(?:T(?=\\d)(?:\\d+H)?(?:\\d+M)?(?:\\d+S)?)?$'

/** A duration, with its default and another example. */
export const durationOf = (description: string, standard: string, other: string): Node => ({
  ...{ description, type: 'string', pattern: duration, default: standard, examples: [standard, other] },
  wording: 'elsewhere',
})

/** The form of durations that may have years and months. */
const period = duration.replace('(?:\\d+W)?', '(?:\\d{1,3}Y)?(?:\\d{1,4}M)?(?:\\d+W)?')

const bound = (least: number, most: number, key: string, description: string): Node => ({
  ...{ type: 'object', properties: { [key]: whole(least, most, description) }, required: [key] },
  additionalProperties: false,
})

export const deletion = objectOf<DeletionDeclaration>(
  'How records are deleted.',
  {},
  {
    variant: choice(
      ['soft', 'hard'],
      '`soft`: deleted records are kept for the grace period. `hard`: they are removed at once.',
      { default: 'soft' },
    ),
    gracePeriod: durationOf(
      'How long a deleted record is kept: an ISO 8601 duration of weeks, days, hours, minutes and seconds. Only with ' +
        'the variant `soft`.',
      'P30D',
      'PT12H',
    ),
    restorable: flagWithoutDefault(
      'Deleted records can be restored until the grace period ends. Default: `true`; with the variant `hard`: `false`.',
    ),
    asynchronous: {
      description:
        'When a deletion becomes a background job, with 202: `never`, `always`, or from a number of records on that ' +
        'are deleted together.',
      anyOf: [
        choice(['never', 'always'], 'Always the same.'),
        bound(0, 1_000_000_000, 'above', 'Deletions of more records than this become background jobs.'),
      ],
      default: { above: 1_000 },
      wording: { what: '"never", "always" or { above: a number }', write: 'Write { above: 1000 }.' },
    },
    answer: choice(['empty', 'summary'], 'The response: 204, or 200 with the numbers of deleted records.', {
      default: 'empty',
    }),
    repeated: choice(['not-found', 'no-content'], 'The response if the record is already deleted: 404 or 204.', {
      default: 'not-found',
    }),
    bulk: {
      description: 'Whether `POST …/bulk-delete` deletes several records together, and how many at most.',
      anyOf: [
        { const: false, description: 'No bulk deletion.' },
        bound(1, 10_000, 'max', 'The most records of one request.'),
      ],
      default: { max: 1_000 },
      wording: { what: 'false or { max: a number }', write: 'Write { max: 1000 }, or leave it out: it is on.' },
    },
    byFilter: flag('`DELETE` on the collection deletes the records that match a filter.'),
  },
  { write: 'Write deletion: { variant: "soft" }.' },
)

const updates = objectOf<NonNullable<ResourceDeclaration['updates']>>(
  'Which changes of many records there are.',
  {},
  {
    byFilter: flag('`PATCH` on the collection changes the records that match a filter (BLK-3).'),
    above: whole(
      0,
      mostChangedAtOnce,
      'Changes by filter of more records than this become background jobs, with 202.',
      mostChangedAtOnce,
    ),
  },
  { write: 'Write updates: { byFilter: true }.' },
)

const role: Node = {
  ...{ type: 'string', pattern: '^role:[^\\s,]+$', examples: ['role:admin'] },
  description: 'Callers that have the role: `role:editor`.',
}

const through = objectOf<Extract<AccessRule, { readonly through: string }>>(
  'Whether the caller may perform an action on the record that this one refers to.',
  {
    through: name('A field that is a reference.', 'project_id'),
    action: choice(actions, 'The action on the other record.'),
  },
  {},
)

const condition = { where: ref('condition', { minProperties: 1 }) }

const where = objectOf<{ where: Condition }>('Callers for records that match a condition.', condition, {})

const lookup = (word: 'some' | 'none', description: string): Node =>
  objectOf<Record<string, unknown>>(
    `${description} The caller need not be able to read it. \`{ record: FIELD }\` is the record at hand.`,
    { [word]: name('The collection in which to look.', 'memberships'), ...condition },
    {},
  )

const all = objectOf<Extract<AccessRule, { readonly all: unknown }>>(
  'Each of these rules must permit the action.',
  { all: arrayOf(ref('accessRule'), 'The rules.', undefined, { minItems: 1 }) },
  {},
)

/** Who may perform an action. */
export const accessRule: Node = {
  description:
    'Who may perform the action: `anyone` (every authenticated caller), `nobody`, `owner`, `role:NAME`, `{ where }`, ' +
    '`{ through, action }`, `{ some, where }`, `{ none, where }` or `{ all }`; in TypeScript also ' +
    '`(caller) => boolean | condition`.',
  anyOf: [
    { const: 'anyone', description: 'Every authenticated caller.' },
    { const: 'nobody', description: 'No caller, not even an administrator.' },
    { const: 'owner', description: 'The caller who created the record. The resource needs `owner`.' },
    role,
    where,
    through,
    lookup('some', 'A live record of a collection matches the condition.'),
    lookup('none', 'No live record of a collection matches the condition.'),
    all,
  ],
  wording: 'elsewhere',
}

const accessRules = (description: string, more: Node = {}): Node => ({
  description,
  anyOf: [ref('accessRule'), arrayOf(ref('accessRule'), 'One matching rule is enough.', undefined, { minItems: 1 })],
  ...{ ...more, wording: 'elsewhere' },
})

const fieldAccessExample = "Write fields: { salary: { read: 'role:hr', write: 'role:hr' } }."

const fieldAccess = objectOf<FieldAccessDeclaration>(
  'Who may read and write the field. What is left out follows the permission for the record. The role `admin` counts ' +
    'only where a rule names it.',
  {},
  {
    read: accessRules(
      'Who sees the value. For other callers the field is `null`, in filters and searches too (AUT-13).',
    ),
    write: accessRules('Who may set and change the value. The rule must hold before and after the change (AUT-14).'),
  },
  { write: fieldAccessExample, unknownKey: 'is neither read nor write' },
)

const actionDescriptions: Readonly<Record<Action, string>> = {
  read: 'Who may read records.',
  create: 'Who may create records.',
  update: 'Who may change records. The rule must hold before and after the change.',
  delete: 'Who may delete records.',
  restore: 'Who may restore deleted records.',
  readDeleted: 'Who may read deleted records.',
  readHistory: 'Who may read former states of the records that they may read.',
}

const summaryExample = "Write summaries: { by_status: { group: ['status'], sum: ['price'] } }."
const summaryName: Node = { pattern: snakeCaseForm.source, maxLength: longestName }
const summaryFields = (description: string, example: string): Node =>
  arrayOf(
    { type: 'string', wording: 'elsewhere' },
    description,
    { what: 'an array of fields', write: `Write ["${example}"].` },
    { uniqueItems: true, examples: [[example]] },
  )

const summary = objectOf<SummaryDeclaration>(
  'A kept summary.',
  {
    group: summaryFields(
      'The groups, at most three: enums, booleans, references, and dates and date-times as `created_at:month` (in ' +
        'UTC). None: one row for all records.',
      'status',
    ),
  },
  { sum: summaryFields('Fields that are added up: integers and decimals. Averages follow from them.', 'price') },
  { write: "Write { group: ['status'], sum: ['price'] }." },
)

const fieldName: Node = {
  pattern: snakeCaseForm.source,
  maxLength: longestName,
  not: { enum: [...systemFields, ...reservedFields.keys()] },
}

export const resource = objectOf<ResourceDeclaration>(
  'A collection and its records.',
  {
    fields: mapOf(
      ref('field', { wording: 'elsewhere' }),
      'The fields by name: snake_case. The server adds `id`, `created_at`, `updated_at` and `deleted_at`.',
      'Write fields: { title: { type: "string" } }.',
      {
        ...{ minProperties: 1, maxProperties: 500, propertyNames: fieldName },
        examples: [{ title: { type: 'string', maxLength: 200 } }],
      },
    ),
  },
  {
    title,
    description: prose('What the records are. The OpenAPI document has it.'),
    owner: name('The field that the server sets to the id of the caller who creates the record.', 'owner_id'),
    within: name(
      'A reference, under whose target the collection is found too: with `project_id`, also at `/projects/{id}/tasks`.',
      'project_id',
    ),
    unique: {
      ...{ description: 'Sets of fields whose values together are unique among live records.', type: 'array' },
      items: { type: 'array', items: { type: 'string' }, minItems: 1, uniqueItems: true },
      ...{ examples: [[['project_id', 'title']]], wording: 'elsewhere' },
    },
    deletion: ref('deletion'),
    updates,
    access: {
      ...objectOf<Record<Action, unknown> & Pick<AccessDeclaration, 'fields'>>(
        'Who may perform each action, and who may use single fields. Actions that are left out require the role ' +
          '`admin`.',
        Object.fromEntries(
          actions.map((action) => [action, accessRules(actionDescriptions[action], { default: 'role:admin' })]),
        ) as Record<Action, Node>,
        {
          fields: mapOf(
            fieldAccess,
            'Fields that not everybody may read or write who may read or write the record, by name.',
            fieldAccessExample,
            { examples: [{ salary: { read: ['role:hr', 'owner'], write: 'role:hr' } }] },
          ),
        },
        { write: 'Write access: { read: "anyone" }.', unknownKey: 'is not an action' },
      ),
      required: [],
    },
    prepare: functionOnly(
      '`({ current, next, caller, now }) => ({ ...next })`: completes each record that a request creates or changes, ' +
        'before it is validated. Fields that the result leaves out keep their values.',
      'Write ({ next }) => ({ ...next }) in TypeScript or JavaScript, or remove it.',
    ),
    on: objectOf<NonNullable<ResourceDeclaration['on']>>(
      'Functions that run after a change was committed, at least once and in order for each record. They may await. ' +
        'Only in TypeScript and JavaScript, and with `events: true`.',
      {},
      Object.fromEntries(
        eventKinds.map((kind) => [
          kind,
          functionOnly(
            `\`({ event, record, client, signal }) => …\` after \`${kind}\`.`,
            'Write async ({ record, client }) => { … } in TypeScript or JavaScript, or remove it.',
          ),
        ]),
      ) as Record<EventKind, Node>,
      { write: 'Write on: { created: async ({ record }) => { … } }.', unknownKey: 'is no kind of event' },
    ),
    rules: arrayOf(ref('rule'), 'Business rules, which are decided in the transaction of the change.', {
      what: 'an array of rules',
      write: `Write [${ruleExample}].`,
    }),
    preconditions: choice(
      ['optional', 'required'],
      'Whether changes and deletions must carry `If-Match` or `If-Unmodified-Since`; those without get 428.',
      { default: 'optional' },
    ),
    maxAge: whole(
      ...([0, 31_536_000] as const),
      'For how many seconds a private cache may use a response without asking again.',
      0,
    ),
    events: flag(
      'Each change of each record is an event. Callers who may read the record read its events at `/events`, as a ' +
        'stream, or get them by webhooks.',
    ),
    summaries: mapOf(
      summary,
      'Summaries whose figures are kept with every change of a record, by name. They answer requests for the same ' +
        'groups or fewer at the cost of the groups, however many records there are.',
      summaryExample,
      { propertyNames: summaryName, examples: [{ by_status: { group: ['status'], sum: ['price'] } }] },
    ),
    history: {
      description:
        'Each state of each record is kept, with the caller and the time of the change, and is read at ' +
        '`/{collection}/{id}/revisions` and by `Accept-Datetime`.',
      anyOf: [
        { type: 'boolean' },
        objectOf<HistoryDeclaration>(
          'How long former states are kept.',
          {
            keep: {
              description: 'An ISO 8601 duration. A state is removed when its successor is older than this.',
              ...{ type: 'string', pattern: period, examples: ['P1Y', 'P90D'], wording: 'elsewhere' },
            },
          },
          {},
          { write: 'Write history: { keep: "P90D" }.' },
        ),
      ],
      ...{ default: false, wording: 'elsewhere' },
    },
  },
  { write: 'Write { fields: { title: { type: "string" } } }.' },
)
