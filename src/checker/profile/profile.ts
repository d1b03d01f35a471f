/** What is known of a server before it is asked: found in its OpenAPI document, or written in a profile file. */
import type { JsonObject } from '../values/json.ts'

/** What can be done with a collection and its records. */
export type Operation =
  | 'list'
  | 'create'
  | 'read'
  | 'replace'
  | 'update'
  | 'delete'
  | 'restore'
  | 'bulk-delete'
  | 'delete-by-filter'

/** A collection of a server. */
export interface CollectionProfile {
  /** How it is called in reports: the last part of its path. */
  readonly name: string
  /** From the base: `/cities`. */
  readonly path: string
  readonly operations: readonly Operation[]
  /** The member that holds a record's identifier. */
  readonly id: string
  /** Whether identifiers are numbers, or texts with one, that the server counts up; `undefined` where nothing shows it. */
  readonly sequential?: boolean | undefined
  /** A body that creates a record; `undefined` where nobody knows one. */
  readonly example?: JsonObject | undefined
  /** Members of it that hold an identifier of a record of another collection, by its name: made first. */
  readonly references: Readonly<Record<string, string>>
  /** Members of it that must differ from record to record. */
  readonly unique: readonly string[]
  /** What is known of values, as JSON Schema without references: by it values are made that differ from record to record. */
  readonly schemas?: Readonly<Record<string, JsonObject>> | undefined
  /** Members that a body must have. */
  readonly required: readonly string[]
  /** Members that a client may change, each with another value that is good. */
  readonly change: JsonObject
  /** Members that may be left out and are then empty, each with a value that is good. */
  readonly optional: JsonObject
  /** Members with values that must be refused. */
  readonly invalid: JsonObject
  /** Members by which lists may be filtered, and sorted. */
  readonly filters: readonly string[]
  readonly sorts: readonly string[]
  /** A member whose words search (`q`) finds. */
  readonly search?: string | undefined
  /** A text member that may hold anything and filters lists: what a case has made is told from all else by it. */
  readonly marker?: string | undefined
  /** Where there is no marker: a text member that takes any text, and holds what the checker recognises its records by. */
  readonly label?: string | undefined
  /** Collections below its records, as the last part of their paths, and the collection that they show. */
  readonly children: Readonly<Record<string, string>>
  /** What a deletion leaves: `soft` keeps a record for those who may see it. */
  readonly deletion: 'soft' | 'hard'
  /** Statuses with which its document says that deletions are answered, where it does. */
  readonly deletionAnswers?: readonly number[] | undefined
  /** Which styles of pages lists have. */
  readonly pages: readonly PageStyle[]
  /** Whether a change without a condition is refused (428). */
  readonly conditional: boolean
  /** The member that holds who made a record, where the other caller may make records too, and has to do with no others than these. */
  readonly owner?: string | undefined
  /** What the other caller may do with records that are not theirs; nothing where left out. */
  readonly otherMay?: readonly Permission[] | undefined
  /** Seconds after which deleted records are gone for good, where the server is set up to be tried out. */
  readonly grace?: number | undefined
}

/** What may be allowed or not (AUT-3). */
export type Permission = 'create' | 'read' | 'update' | 'delete'

/** A style of pages (PAG-2). */
export type PageStyle = 'page' | 'offset' | 'cursor'

/** Names that the interface leaves open, as JSON Pointers into answers. */
export interface Names {
  /** The records of a list; empty where the list is the array itself. */
  readonly items: string
  /** The exact number of records; `header:X-Total-Count` where a field of the header says it. */
  readonly total: string
  readonly next: string
  readonly previous: string
  /** The stable code of an error, its message for people, and the errors where there are several. */
  readonly code: string
  readonly message: string
  readonly errors: string
  /** Statuses with which a job has ended. */
  readonly finished: readonly string[]
}

/** A server to be checked. */
export interface Profile {
  /** Where its interface is: `https://api.example.com/v1`, without a slash at the end. */
  readonly base: string
  readonly collections: readonly CollectionProfile[]
  readonly names: Names
  /** An origin whose pages may read answers. */
  readonly origin?: string | undefined
  /** The OpenAPI document that it came from. */
  readonly document?: string | undefined
  /** Bases of older versions: one that is deprecated, one past its sunset. */
  readonly deprecated?: string | undefined
  readonly retired?: string | undefined
  /** Formats in which `POST /exports` writes collections: `json`, `ndjson`, `csv`. */
  readonly exports?: readonly string[] | undefined
  /** A field of requests that may name the version beside the path, such as `API-Version`. */
  readonly versionField?: string | undefined
  /** Paths from the root that answer without a credential: of its health. */
  readonly open: readonly string[]
  /** Whether all that is there may be lost: requests are sent that a careless server could take as "delete everything". */
  readonly disposable?: boolean | undefined
  /** Whether requests may choose integer identifiers: a server that takes one may go on counting from it for ever. */
  readonly allowChosenIds?: boolean | undefined
  /** After how many failed authentications an address has to wait, for seconds, where the server is set up to be tried out. */
  readonly attempts?: number | undefined
}

/** The names that this project uses. */
export const usualNames: Names = {
  items: '/data',
  total: '/pagination/total_count',
  next: '/pagination/next_cursor',
  previous: '/pagination/previous_cursor',
  code: '/code',
  message: '/detail',
  errors: '/errors',
  finished: ['succeeded', 'failed'],
}

/** The members that are wrong in a body that has all bad values that are known, and nothing else. */
export function mistakesOf({ invalid, required }: Pick<CollectionProfile, 'invalid' | 'required'>): string[] {
  return [...new Set([...Object.keys(invalid), ...required])]
}

/** The path of an interface's base: empty where it is the root. */
export function basePath({ base }: Pick<Profile, 'base'>): string {
  return new URL(base).pathname.replace(/\/$/, '')
}

/** The segments of a path that are versions, such as `v1` and `v2.1`. */
export function versionsIn(path: string): string[] {
  return path.split('/').filter((segment) => /^v\d+(?:\.\d+)*$/i.test(segment))
}
