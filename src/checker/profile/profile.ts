/** The profile of a server: everything that the checker must know before it can run cases. */
import type { JsonObject } from '../values/json.ts'

/** A server that cannot be checked, or a file that cannot be used. The message says what to do about it. */
export class CannotCheck extends Error {}

/** What clients can do with a collection and its records. */
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

/** What an access rule may allow (AUT-3). */
export type Permission = 'create' | 'read' | 'update' | 'delete'

/** A style of pagination (PAG-2). */
export type PageStyle = 'page' | 'offset' | 'cursor'

/** A collection of a server. */
export interface CollectionProfile {
  /** Its name in reports: the last segment of its path. */
  readonly name: string
  /** Path from the base: `/cities`. */
  readonly path: string
  readonly operations: readonly Operation[]
  /** Member that holds a record's identifier. */
  readonly id: string
  /** Whether the server numbers records, also as a part of texts (`ORD-000123`); `undefined` if nothing shows it. */
  readonly sequential?: boolean | undefined
  /** Body that creates a record; `undefined` if none is known. */
  readonly example?: JsonObject | undefined
  /** Members that hold an identifier of another collection, with the name of that collection. */
  readonly references: Readonly<Record<string, string>>
  /** Members whose values must be unique. */
  readonly unique: readonly string[]
  /** JSON Schemas of members, without references. The checker makes values by them. */
  readonly schemas?: Readonly<Record<string, JsonObject>> | undefined
  /** Members that a body must have. */
  readonly required: readonly string[]
  /** Members that clients may change, each with another valid value. */
  readonly change: JsonObject
  /** Members that may be left out and are then empty, each with a valid value. */
  readonly optional: JsonObject
  /** Members with values that the server must refuse. */
  readonly invalid: JsonObject
  /** Members by which lists can be filtered. */
  readonly filters: readonly string[]
  /** Members by which lists can be sorted. */
  readonly sorts: readonly string[]
  /** Member whose words the search (`q`) finds. */
  readonly search?: string | undefined
  /** Text member that takes any text and filters lists: a case finds its own records by it. */
  readonly marker?: string | undefined
  /** If there is no marker: text member that takes any text, into which the checker writes its mark. */
  readonly label?: string | undefined
  /** Collections below its records: the last segment of their paths, with the name of the collection shown there. */
  readonly children: Readonly<Record<string, string>>
  /** `soft`: the server keeps deleted records for authorized callers. */
  readonly deletion: 'soft' | 'hard'
  /** Statuses of successful deletions, as the OpenAPI document says. */
  readonly deletionAnswers?: readonly number[] | undefined
  readonly pages: readonly PageStyle[]
  /** Whether the server refuses changes without a condition (428). */
  readonly conditional: boolean
  /** Member that holds the creator of a record, if the second caller may create records and sees only its own. */
  readonly owner?: string | undefined
  /** What the second caller may do with records of others; nothing if undefined. */
  readonly otherMay?: readonly Permission[] | undefined
  /** Seconds after which the server purges deleted records, on servers where this may be tried. */
  readonly grace?: number | undefined
}

/** Names that the interface leaves open, as JSON Pointers into responses. */
export interface Names {
  /** The records of a list; empty if the list is the whole body. */
  readonly items: string
  /** The exact number of records; `header:X-Total-Count` if a header field holds it. */
  readonly total: string
  /** The cursor of the next page. */
  readonly next: string
  /** The cursor of the previous page. */
  readonly previous: string
  /** The stable code of an error. */
  readonly code: string
  /** The message of an error. */
  readonly message: string
  /** The list of all errors in a request. */
  readonly errors: string
  /** Statuses of jobs that have ended. */
  readonly finished: readonly string[]
}

/** A server to check. */
export interface Profile {
  /** Address of the interface, without a slash at the end: `https://api.example.com/v1`. */
  readonly base: string
  readonly collections: readonly CollectionProfile[]
  readonly names: Names
  /** Origin whose pages may read responses (CORS). */
  readonly origin?: string | undefined
  /** Address of the OpenAPI document. */
  readonly document?: string | undefined
  /** Base of an older version that is deprecated. */
  readonly deprecated?: string | undefined
  /** Base of a version that is past its sunset. */
  readonly retired?: string | undefined
  /** Formats in which `POST /exports` writes collections: `json`, `ndjson`, `csv`. */
  readonly exports?: readonly string[] | undefined
  /** Request header field that may name the version instead of the path, such as `API-Version`. */
  readonly versionField?: string | undefined
  /** Paths from the root that answer without a credential, such as health checks. */
  readonly open: readonly string[]
  /** Whether all data may be lost. Cases then send requests that a careless server takes as "delete everything". */
  readonly disposable?: boolean | undefined
  /** Whether requests may choose integer identifiers. A server that accepts one may number on from it for ever. */
  readonly allowChosenIds?: boolean | undefined
  /** Number of failed authentications after which an address must wait, on servers where this may be tried. */
  readonly attempts?: number | undefined
}

/** The names that this project's own interfaces use. */
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

/** The members that a server must report for a body that holds all known invalid values and nothing else. */
export function mistakesOf({ invalid, required }: Pick<CollectionProfile, 'invalid' | 'required'>): string[] {
  return [...new Set([...Object.keys(invalid), ...required])]
}

/** Whether the checker can create records and delete them again. */
export function canCreate({ operations, example }: CollectionProfile): boolean {
  return operations.includes('create') && operations.includes('delete') && example !== undefined
}

/** The path of the interface's base: empty for the root. */
export function basePath({ base }: Pick<Profile, 'base'>): string {
  return new URL(base).pathname.replace(/\/$/, '')
}

/** An address on the server, from a path that begins at the root or from a whole address. */
export function urlOf({ base }: Pick<Profile, 'base'>, path: string): string {
  return /^https?:/.test(path) ? path : new URL(base).origin + path
}

/** The segments of a path that are versions, such as `v1` and `v2.1`. */
export function versionsIn(path: string): string[] {
  return path.split('/').filter((segment) => /^v\d+(?:\.\d+)*$/i.test(segment))
}
