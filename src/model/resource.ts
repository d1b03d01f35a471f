/** The declaration made complete: every default filled in, every name resolved, frozen. The rest of the program reads only this. */

import type { DecimalForm } from './decimal.ts'
import type { AccessRule, Action, BusinessRule, ExportLimits, OnDelete } from './declaration.ts'
import type { Rate } from './rate.ts'
import type { ValidateValue } from './schema.ts'

/** How a field's values are stored and compared. `json` is any value that is none of the others. */
export type FieldType = 'string' | 'integer' | 'number' | 'decimal' | 'boolean' | 'array' | 'object' | 'json'

/** A declared field. */
export interface Field {
  readonly name: string
  readonly type: FieldType
  /** JSON Schema without our own words: what validates a value, and what the OpenAPI document shows. */
  readonly schema: Readonly<Record<string, unknown>>
  readonly format: string | undefined
  /** How many digits the values of a decimal field have. */
  readonly decimal: DecimalForm | undefined
  /** The texts allowed, where the field is an enum of texts. */
  readonly enum: readonly string[] | undefined
  /** A record must have a value: `null` is refused. Where there is a default it stands in. */
  readonly required: boolean
  /** `undefined`: none. */
  readonly default: unknown
  readonly filter: boolean
  readonly sort: boolean
  readonly search: boolean
  readonly unique: boolean
  readonly immutable: boolean
  /** Set by the server. The owner field is always read-only. */
  readonly readOnly: boolean
  readonly writeOnly: boolean
  readonly transitions: Readonly<Record<string, readonly string[]>> | undefined
  readonly reference: { readonly collection: string; readonly onDelete: OnDelete } | undefined
  /** Every issue of a value, pointers beginning with the field's own. Never called with `null`. */
  readonly validate: ValidateValue
}

/** Deletion with every default filled in. */
export interface Deletion {
  readonly variant: 'soft' | 'hard'
  /** Milliseconds. */
  readonly gracePeriod: number
  readonly restorable: boolean
  /** More records than these go as a job (DEL-8): 0 is always, infinity never. */
  readonly asynchronous: { readonly above: number }
  readonly answer: 'empty' | 'summary'
  readonly repeated: 'not-found' | 'no-content'
  /** The most ids of one bulk deletion; `undefined`: no bulk deletion. */
  readonly bulk: { readonly max: number } | undefined
  readonly byFilter: boolean
}

/** A reference seen from its target: whose field refers to it. */
export interface Dependent {
  readonly collection: string
  readonly field: string
  readonly onDelete: OnDelete
}

/** How values of a field go from one version to another. */
export interface Conversion {
  readonly older: (value: unknown) => unknown
  readonly newer: (value: unknown) => unknown
}

/** How an older version shows a resource: what its fields are of those that are stored (VER-2). */
export interface Lens {
  readonly version: string
  /** The collection as it is stored: as the current version calls it. */
  readonly collection: string
  /** The stored field behind each one that is shown. */
  readonly stored: ReadonlyMap<string, string>
  /** The other way about. */
  readonly shown: ReadonlyMap<string, string>
  /** The values of what only older versions have. */
  readonly constants: ReadonlyMap<string, unknown>
  /** By the name that is shown. */
  readonly conversions: ReadonlyMap<string, Conversion>
}

/** One resource, complete. */
export interface Resource {
  /** Whose work its records are: what the server makes, clients only read; what it makes for them, they ask for and give back. */
  readonly made: 'by-clients' | 'by-server' | 'for-clients'
  /** The collection's name, as in the path. */
  readonly name: string
  readonly title: string
  readonly description: string | undefined
  readonly fields: readonly Field[]
  readonly field: ReadonlyMap<string, Field>
  readonly owner: string | undefined
  /** Where records are nested too: the reference field and its target. */
  readonly within: { readonly field: string; readonly collection: string } | undefined
  /** Sets of fields that are unique among live records: those of single fields first. */
  readonly unique: readonly (readonly string[])[]
  readonly deletion: Deletion
  /** Any of the rules allows; an empty list allows nobody. */
  readonly access: Readonly<Record<Action, readonly AccessRule[]>>
  readonly rules: readonly BusinessRule[]
  readonly preconditions: 'optional' | 'required'
  /** Seconds. */
  readonly maxAge: number
  /** The references to this resource, of all collections. */
  readonly dependents: readonly Dependent[]
  /** The collections nested under a record of this one. */
  readonly children: readonly string[]
  /** Where an older version shows it: how. `undefined`: as it is stored. */
  readonly lens?: Lens
  /** Short hash of what a representation looks like: entity tags change with it. */
  readonly shape: string
}

/** How often anyone may ask (LIM-1). */
export interface Rates {
  /** Requests of a caller. */
  readonly caller: Rate
  /** Failed authentications from an address. */
  readonly address: Rate
  /** Requests of a caller for an action, by `collection.action`; either may be `*`. */
  readonly actions: ReadonlyMap<string, Rate>
}

/** All resources together. */
export interface Catalog {
  readonly name: string
  readonly title: string
  readonly description: string | undefined
  /** The current version: the first path segment. */
  readonly version: string
  /** The declared ones. */
  readonly resources: ReadonlyMap<string, Resource>
  /** Those whose records the server makes: jobs, API keys. */
  readonly system: ReadonlyMap<string, Resource>
  /** Every version by its name, the oldest first, as its clients see it: with its resources, and no versions. */
  readonly versions: ReadonlyMap<string, Catalog>
  readonly limits: {
    readonly pageSize: { readonly default: number; readonly max: number }
    readonly bodyBytes: number
    /** The most bytes that the records of one page have together, as JSON (LIM-6). */
    readonly pageBytes: number
    readonly rate: Rates
    /** What API keys may be made over HTTP (AUT-10). */
    readonly keys: { readonly perSubject: number; readonly lastingRoles: readonly string[] }
    readonly exports: Required<ExportLimits>
  }
}

/** The fields that every record has beside the declared ones (RES-4 to RES-6). */
export const systemFields = ['id', 'created_at', 'updated_at', 'deleted_at'] as const

/** A record as the program handles it: declared and system fields by name, unset ones `null`. */
export type RecordValues = Readonly<Record<string, unknown>>

/** Whether deleted records of a resource can be brought back (DEL-6). */
export function isRestorable({ deletion }: Resource): boolean {
  return deletion.variant === 'soft' && deletion.restorable
}
