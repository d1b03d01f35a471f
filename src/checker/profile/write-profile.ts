/** A profile as a file that people complete: every entry with what it means. */
import { stringify } from 'yaml'
import type { Profile } from './profile.ts'

type Entry = readonly [key: string, means: string, placeholder?: string]

const ofServer: readonly Entry[] = [
  ['base', 'Where the interface is, without a slash at the end.'],
  ['document', 'Its OpenAPI document.', 'https://api.example.com/openapi.json'],
  ['open', 'Paths from the root that answer without a credential, such as health checks.'],
  ['versionField', 'A field of requests that may name the version beside the path.', 'API-Version'],
  ['exports', 'Formats in which POST /exports writes collections.', '[ json, csv ]'],
  ['origin', 'An origin whose pages may read answers (CORS).', 'https://app.example.com'],
  ['deprecated', 'The base of an older version that is deprecated.', 'https://api.example.com/v1'],
  [
    'disposable',
    'Whether all that is there may be lost: then requests are sent that a careless server takes as "delete everything".',
    'true',
  ],
  [
    'allowChosenIds',
    'Whether requests may choose integer identifiers. A server that accepts one may continue its sequence from there for ever.',
    'true',
  ],
  [
    'attempts',
    'After how many failed authentications an address has to wait, where the server is set up to be tried out.',
    '60',
  ],
  ['retired', 'The base of a version that is past its sunset.', 'https://api.example.com/v0'],
]

const ofNames: readonly Entry[] = [
  ['items', "The records of a list; '' where the list is the array itself."],
  ['total', 'The exact number of records; header:X-Total-Count where a field of the header says it.'],
  ['next', 'The cursor of the next page, and of the one before.'],
  ['previous', ''],
  ['code', 'Of an error: its stable code, its message for people, and all errors where there are several.'],
  ['message', ''],
  ['errors', ''],
  ['finished', 'Statuses with which a job has ended.'],
]

const ofCollection: readonly Entry[] = [
  ['path', 'From the base.'],
  [
    'operations',
    'Of: list, create, read, replace (PUT), update (PATCH), delete, restore, bulk-delete, delete-by-filter.',
  ],
  ['id', "The member that holds a record's identifier."],
  ['example', 'A body that creates a record.', '{ name: Some name }'],
  ['references', 'Members of it that hold an identifier of another collection: made first.'],
  ['unique', 'Members of it that must differ from record to record.'],
  ['required', 'Members that a body must have.'],
  ['change', 'Members that may be changed, each with another value that is good.'],
  ['optional', 'Members that may be left out and are then empty, each with a good value.'],
  ['invalid', 'Members with values that must be refused.'],
  ['filters', 'Members by which lists may be filtered (?name=value), and sorted (?sort=-name).'],
  ['sorts', ''],
  ['search', 'A member whose words search finds (?q=words).', 'name'],
  [
    'marker',
    'A text member that may hold anything and filters lists: what the checker has made is found by it.',
    'name',
  ],
  ['children', 'Collections below its records (/cities/1/streets), and the collection that they show.'],
  ['deletion', 'soft: what is deleted is kept for those who may see it; hard: it is gone.'],
  ['deletionAnswers', 'Statuses with which deletions are answered: 204, 200, 202.', '[204]'],
  ['pages', 'Of: page (with per_page), offset and cursor (with limit).'],
  ['conditional', 'Whether a change without If-Match is refused (428).'],
  [
    'owner',
    'The member that holds who made a record, where others (--other-key) may make records too, and see no others than theirs.',
    'owner_id',
  ],
  [
    'otherMay',
    'What whoever --other-key belongs to may do with records of others: create, read, update, delete.',
    '[read]',
  ],
  ['grace', 'Seconds after which deleted records are gone for good, where the server is set up to be tried out.', '2'],
]

/** The text of a profile file. */
export function writeProfile(profile: Profile, notices: readonly string[], date: Date): string {
  return [
    `# What resourced check knows of ${profile.base}: found by looking, on ${date.toISOString().slice(0, 10)}.`,
    '# Correct what is wrong, complete what is empty. What is left out here is found out anew each time.',
    ...notices.map((notice) => `#\n# ${notice.replaceAll(/\s+/g, ' ')}`),
    '',
    ...entries(profile, ofServer, 0),
    '',
    '# Names that the interface leaves open, as JSON Pointers into answers.',
    'names:',
    ...entries(profile.names, ofNames, 1),
    '',
    '# By name. One that is false is left alone: "orders: false". What entries mean is said at the first.',
    'collections:',
    ...profile.collections.flatMap((each, index) => [
      `  ${keyOf(each.name)}:`,
      ...entries(each, index === 0 ? ofCollection : ofCollection.map(([key]) => [key, ''] as const), 2),
    ]),
    '',
  ].join('\n')
}

function keyOf(name: string): string {
  return stringify({ [name]: 0 }).split(': 0')[0] as string
}

function entries(holder: object, all: readonly Entry[], depth: number): string[] {
  const indent = '  '.repeat(depth)
  return all.flatMap(([key, means, placeholder]) => {
    const value = (holder as Readonly<Record<string, unknown>>)[key]
    const said = means === '' ? [] : [`${indent}# ${means}`]
    if (value === undefined)
      return said.length === 0 ? [] : [...said, `${indent}# ${key}: ${placeholder ?? ''}`.trimEnd()]
    return [...said, ...textOf(key, value).map((line) => indent + line)]
  })
}

/** On one line what fits there. */
function textOf(key: string, value: unknown): string[] {
  const isList =
    Array.isArray(value) || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
  const flow = isList
    ? stringify({ [key]: value }, { collectionStyle: 'flow', lineWidth: 0 })
        .trim()
        .slice(2, -2)
    : ''
  const text = isList && flow.length < 100 ? flow : stringify({ [key]: value }, { lineWidth: 110 }).trimEnd()
  return text.split('\n')
}
