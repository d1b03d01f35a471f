/**
 * The keywords of fields that JSON Schema does not have, each in one row. The checks, the catalog, the OpenAPI document
 * and the comparison of interfaces read the rows; what a keyword does to requests is decided by the catalog's value.
 * `FieldWords` has the types of the keywords: the compiler refuses one without a row, and a row without one.
 */
import { mostDigits } from './decimal.ts'
import type {
  FieldWords,
  OnDelete,
  ReferenceNeed,
  SchemaKeywords,
  SequenceDeclaration,
  ServerValue,
  SetDeclaration,
} from './declaration.ts'
import { callerForm, longestName, snakeCaseForm } from './names.ts'
import { arrayOf, choice, flag, flagWithoutDefault, mapOf, type Node, objectOf, whole } from './structure-node.ts'

/** A keyword that JSON Schema does not have. */
export type FieldKeyword = Exclude<keyof FieldWords, keyof SchemaKeywords>

/** The keywords that are, or are parts of, a value of another form in the catalog. */
type Recast = 'optional' | 'reference' | 'onDelete' | 'requires' | 'as' | 'inverse' | 'precision' | 'scale'

/** The keywords in the catalog. Left out, a flag is `false`, and another keyword `undefined`. */
export type CompleteKeywords = {
  readonly [Word in Exclude<FieldKeyword, Recast>]-?: true extends FieldWords[Word]
    ? boolean
    : FieldWords[Word] | undefined
} & {
  readonly reference:
    | {
        readonly collection: string
        readonly onDelete: OnDelete
        readonly requires: ReferenceNeed
        /** Declared names of the relations that it makes; left out: `relations.ts` finds them. */
        readonly as?: string
        readonly inverse?: string
      }
    | undefined
}

/** The type of a field's values, and the listed ones, by its JSON Schema. */
type SchemaShape = { readonly type: string; readonly enum: readonly string[] | undefined }

/** An entry of the kinds of differences between interfaces; its words may have the placeholders of those kinds. */
type Change = Readonly<Record<'words' | 'remedy', string>> & { readonly severity: 'breaking' | 'review' | 'compatible' }

/** A row. `check/fields.ts` finds the mistakes that it does not express. */
interface Keyword<Value> {
  /** Its type, its default and a sentence: the JSON Schema for editors, the reference page and checks read them. */
  readonly structure: Node
  /** The property of the catalog's field that it is a part of; left out: it has one of its own. */
  readonly partOf?: 'required' | 'reference' | 'decimal'
  /** Its value in the catalog; left out: the declared value, or the default. */
  readonly complete?: (declared: FieldWords, schema: SchemaShape) => Value
  /**
   * The only values that it has a meaning for: those that can be compared, these and arrays of them, or texts; left
   * out: all.
   */
  readonly fits?: 'comparable' | 'filterable' | 'texts'
  /** Clients could find out values with it, so that it contradicts `writeOnly`. */
  readonly revealsValues?: true
  /** Only the server writes a field that has it. */
  readonly isServers?: true
  /** A field that only older versions have may have it: it needs no stored field of its own. */
  readonly inOlderVersions?: true
  /** A sentence for the description of the field in the OpenAPI document, which forms of the console show too. */
  readonly note?: (value: NonNullable<Value>) => string
  /** What the extension `x-collection` of the document tells user interfaces, such as the console. */
  readonly traits?: (value: NonNullable<Value>) => Readonly<Record<string, unknown>>
  /** A keyword of the field's schemas in the document, with the value of the catalog. */
  readonly extension?: `x-${string}`
  /**
   * What a change of it means for clients. `document`: what the OpenAPI document shows. Names: the kinds of differences
   * that `compare-declarations.ts` finds. `added` and `removed`: the same for every field that clients write.
   */
  readonly changes: 'document' | readonly string[] | { readonly added: Change; readonly removed: Change }
}

/** The greatest weight of a searched field. */
const mostWeight = 100

const relationName = (description: string, example: string): Node => ({
  ...{ description, type: 'string', pattern: snakeCaseForm.source, maxLength: longestName, examples: [example] },
  wording: {
    what: 'a name in snake_case',
    write: `Write a name such as "${example}", of at most ${longestName} characters.`,
  },
})

const serverValue = (description: string): Node => ({
  ...{ description, type: 'object', additionalProperties: false, minProperties: 1, maxProperties: 1 },
  properties: {
    caller: {
      description: 'An attribute of the caller.',
      type: 'string',
      pattern: callerForm.source,
      examples: ['id'],
    },
    now: { description: 'The time of the change, for dates and date-times.', const: true },
  },
  wording: 'elsewhere',
})

/** In the order of the reference page. */
export const keywords = {
  optional: {
    structure: flag('The value may be missing or `null`.'),
    ...{ partOf: 'required', inOlderVersions: true, changes: 'document' },
  },
  filter: {
    structure: {
      description:
        'Requests may filter by the field, and it gets an index. Default: `true` for references, texts with `enum`, ' +
        'and booleans. `true` works on arrays of texts, numbers or booleans too. For an object: the members that ' +
        'requests may filter by, as JSON Pointers.',
      anyOf: [
        flagWithoutDefault('Whether requests may filter by the field.'),
        arrayOf(
          {
            ...{ type: 'string', pattern: '^(?:/[A-Za-z_][\\w-]*)+$' },
            wording: { what: 'the path of a member', write: 'Write "/size" or "/color/name".' },
          },
          'The members of an object.',
          { what: 'true, false or an array of paths', write: 'Write ["/size", "/color/name"].' },
          { minItems: 1, uniqueItems: true, examples: [['/size', '/color/name']] },
        ),
      ],
      wording: {
        what: 'true, false or an array of paths',
        write: 'Write true or false, or the paths of members: ["/size"].',
      },
    },
    complete: isFilter,
    ...{ fits: 'filterable', revealsValues: true, inOlderVersions: true, changes: 'document' },
  },
  sort: {
    structure: flag('Requests may sort by the field, and it gets an index.'),
    ...{ fits: 'comparable', revealsValues: true, inOlderVersions: true, changes: 'document' },
  },
  search: {
    structure: {
      description: 'The parameter `q` searches the field, which holds texts.',
      anyOf: [
        flag('Whether `q` searches the field.'),
        objectOf<{ weight: number }>(
          'That `q` searches the field, and how much its words count.',
          { weight: whole(1, mostWeight, 'How much each word counts under `sort=-relevance`; `true` is 1.') },
          {},
          { write: 'Write { weight: 2 }.' },
        ),
      ],
      default: false,
      wording: { what: 'true, false or a weight', write: 'Write true or false, or { weight: 2 }.' },
    },
    complete: ({ search = false }) => search !== false,
    traits: (search) => ({ search }),
    ...{ fits: 'texts', revealsValues: true },
    changes: ['search-removed', 'search-added'],
  },
  unique: {
    structure: flag('No two live records have the same value.'),
    note: () => 'Unique among live records.',
    traits: (unique) => ({ unique }),
    ...{ fits: 'comparable', revealsValues: true },
    changes: ['unique-added'],
  },
  immutable: {
    structure: flag('The value is set on creation and never changes.'),
    note: () => 'It is fixed once the record exists.',
    traits: (immutable) => ({ immutable }),
    changes: {
      added: {
        severity: 'breaking',
        words: '{subject} can no longer be changed after creation',
        remedy: 'Keep accepting what was accepted before, or make a new version.',
      },
      removed: { severity: 'compatible', words: '{subject} can be changed after creation', remedy: '' },
    },
  },
  transitions: {
    structure: mapOf(
      arrayOf({}, 'The values that may follow.', 'elsewhere'),
      'The values that may follow each value of `enum`. Other changes get 409 `INVALID_TRANSITION`.',
      'Write { open: ["done"] }.',
      { examples: [{ open: ['done'], done: ['open'] }] },
    ),
    note: (transitions) =>
      `Allowed changes: ${Object.entries(transitions)
        .map(([from, to]) => `${from} to ${to.join(' or ') || 'nothing else'}`)
        .join('; ')}.`,
    traits: (transitions) => ({ transitions }),
    revealsValues: true,
    changes: ['transitions-removed', 'transitions-added'],
  },
  reference: {
    structure: {
      description: 'The collection that the field refers to. Its values are ids of records there.',
      ...{ type: 'string', examples: ['projects'], wording: 'elsewhere' },
    },
    complete: ({ reference: collection, onDelete = 'restrict', requires = 'read', as, inverse }) => {
      if (collection === undefined) return undefined
      return { collection, onDelete, requires, ...(as && { as }), ...(inverse && { inverse }) }
    },
    note: ({ collection }) => `The id of one of the ${collection}.`,
    traits: ({ collection, onDelete, requires }) => ({
      ...{ reference: collection, on_delete: onDelete },
      ...(requires === 'none' && { requires }),
    }),
    changes: ['reference-changed'],
  },
  onDelete: {
    structure: choice(
      ['restrict', 'cascade', 'clear'],
      'What happens when the record that the field refers to is deleted: the deletion is refused with 409 ' +
        '(`restrict`), this record is deleted too (`cascade`), or the field loses its value ' +
        '(`clear`, for optional fields).',
      {
        default: 'restrict',
        wording: { meant: { 'set null': 'clear', setNull: 'clear', delete: 'cascade' } },
      },
    ),
    partOf: 'reference',
    changes: ['on-delete-stricter', 'on-delete-changed'],
  },
  requires: {
    structure: choice(
      ['read', 'none'],
      'What a caller needs to set the field to a record: permission to read it (`read`), or nothing (`none`). ' +
        'Without permission to read, the record counts as not there.',
      { default: 'read' },
    ),
    ...{ partOf: 'reference', inOlderVersions: true },
    changes: ['reference-narrowed', 'reference-widened'],
  },
  as: {
    structure: relationName(
      'The name of the relation to the record that the field refers to, in `include` and in conditions. Left out: ' +
        'the name of the field without `_id`.',
      'writer',
    ),
    ...{ partOf: 'reference', inOlderVersions: true, changes: 'document' },
  },
  inverse: {
    structure: relationName(
      'The name of the relation from the record that the field refers to, to the records of this collection. Left ' +
        'out: the name of this collection, with `_` for `-`, if no other field of it refers to the same collection.',
      'written_books',
    ),
    ...{ partOf: 'reference', inOlderVersions: true, changes: 'document' },
  },
  precision: {
    structure: { ...whole(1, mostDigits, 'The most digits of a decimal.'), wording: 'elsewhere' },
    ...{ partOf: 'decimal', inOlderVersions: true, changes: 'document' },
  },
  scale: {
    structure: { ...whole(0, mostDigits, 'The number of digits of a decimal after its point.'), wording: 'elsewhere' },
    ...{ partOf: 'decimal', inOlderVersions: true, changes: 'document' },
  },
  set: {
    structure: {
      ...objectOf<SetDeclaration>(
        'When the server sets the field, and to what. Clients never set it.',
        {},
        {
          onCreate: serverValue('The value that the server sets on creation.'),
          onUpdate: serverValue('The value that the server sets whenever a PUT or PATCH changes the record.'),
        },
        undefined,
      ),
      ...{ minProperties: 1, examples: [{ onCreate: { caller: 'id' }, onUpdate: { caller: 'id' } }] },
    },
    note: ({ onCreate, onUpdate }) =>
      [
        ...(onCreate ? [`The server sets it on creation: ${serverValueText(onCreate)}.`] : []),
        ...(onUpdate ? [`The server sets it on every change: ${serverValueText(onUpdate)}.`] : []),
      ].join(' '),
    ...{ isServers: true, changes: 'document' },
  },
  sequence: {
    structure: {
      ...objectOf<SequenceDeclaration>(
        'The server numbers the records on creation: 1, 2, 3 and so on, without gaps.',
        {},
        {
          per: {
            description:
              'The field whose values are numbered separately, such as a reference. It must be immutable. Left out: ' +
              'the records of the collection are numbered.',
            ...{ type: 'string', examples: ['project_id'], wording: 'elsewhere' },
          },
        },
        undefined,
      ),
      examples: [{ per: 'project_id' }],
    },
    note: ({ per }) => `The server numbers the records from 1 without gaps${per ? `, for each ${per}` : ''}.`,
    ...{ isServers: true, changes: 'document' },
  },
  sumOf: {
    structure: {
      description:
        'The server keeps the sum of a field of the records that refer to this one, by the name of their relation: ' +
        'all live ones, whoever may read them. Nothing adds up to 0. Without a type, the sum has that of the field.',
      ...{ type: 'string', pattern: '^[a-z][a-z\\d_]*\\.[a-z][a-z\\d_]*$', examples: ['lines.amount'] },
      wording: { what: 'a relation and a field', write: 'Write "lines.amount".' },
    },
    note: (sumOf) => `The server keeps it: the sum of ${sumOf} of all live records.`,
    ...{ isServers: true, changes: 'document' },
  },
} as const satisfies {
  readonly [Word in FieldKeyword]: Keyword<Word extends keyof CompleteKeywords ? CompleteKeywords[Word] : never>
}

/** The rows of all keywords, with their names. */
export const keywordRows = Object.entries(keywords) as readonly [FieldKeyword, Keyword<unknown>][]

/** The values of the keywords in the catalog. */
export function completeKeywords(declared: FieldWords, schema: SchemaShape): CompleteKeywords {
  const values = keywordRows.flatMap(([word, { structure, partOf, complete }]) => {
    const value = complete ? complete(declared, schema) : (declared[word] ?? structure.default)
    return partOf === undefined ? [[word, value] as const] : []
  })
  return Object.fromEntries(values) as never
}

/** The keywords that a field of the catalog has, in the order of documents: the last row first. */
export function keywordsOf(field: CompleteKeywords) {
  return keywordRows.toReversed().flatMap(([word, row]) => {
    const value = field[word as keyof CompleteKeywords] ?? false
    return value === false ? [] : [{ row, value }]
  })
}

/** Whether a declared field may be filtered by: references, enums of texts and booleans are by default (QRY-7). */
export function isFilter({ filter, reference, writeOnly }: FieldWords, schema: SchemaShape): boolean {
  const isByItself = reference !== undefined || schema.enum !== undefined || schema.type === 'boolean'
  return filter === undefined ? writeOnly !== true && isByItself : filter === true
}

/** Whether only the server ever writes a declared field. */
export function isServers(declared: Readonly<Record<string, unknown>>): boolean {
  return (
    declared['readOnly'] === true || keywordRows.some(([word, row]) => row.isServers && declared[word] !== undefined)
  )
}

/** A value that the server finds, in words. */
export function serverValueText(value: ServerValue): string {
  if ('now' in value) return 'the time of the request'
  if (value.caller === 'id') return 'the id of the caller'
  return value.caller === 'roles' ? 'the roles of the caller' : `${value.caller} of the caller`
}
