/** What a case is: one thing that can be seen of a rule, as data. */
import type { RuleLevel } from '../spec/rule.ts'
import type { Exchange } from './exchange.ts'
import type { CollectionProfile, JsonObject, Operation, PageStyle, Profile } from './profile.ts'

/** Who asks: who was given with `--key`, somebody without a credential, with a wrong one, or with one that may not do it. */
export type Caller = 'caller' | 'nobody' | 'wrong' | 'other'

/**
 * A body: text as it is; or a valid one of the case's collection, a valid change, or a bad one, with and without members.
 * `like`: with the unique members that the request of another step had.
 */
export type Body =
  | { readonly text: string }
  | { readonly json: unknown }
  | {
      readonly from: 'example' | 'change' | 'invalid'
      readonly with?: JsonObject
      readonly without?: readonly string[]
      readonly like?: string
    }

/**
 * A request. Texts may hold places that are filled when it is sent: `{collection}` and `{base}` (paths), `{mark}` and `{mine}` (what the
 * case's records are found by: its value, and as a query), `{name}` (the collection's), `{parent}` (the record made for what the
 * case's records refer to first; `{parent.id}`, and `{parents}`: its collection), `{nested}` (the collection below it), and of
 * earlier steps `{one}` (the path of the record made there), `{one.id}`, `{one.other}` (an identifier like it that never was),
 * `{one.etag}`, `{one.field:Last-Modified}`, `{one.json:/name}`, `{one.location}`.
 */
export interface Request {
  readonly method: string
  readonly to: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Body
  readonly caller?: Caller
  /** A 429 is what is looked for: it is not waited out. */
  readonly impatient?: boolean
}

/** A request of a case. */
export interface Ask {
  readonly kind: 'ask'
  /** By which name later steps and expectations know it. */
  readonly as: string
  readonly request: Request
  /** Whether it prepares only: where it fails the case could not be set up. */
  readonly given: boolean
}

/** What a case does. */
export type Step =
  | Ask
  /** Makes records of the case's collection, or of one that its records refer to; several are `name.0`, `name.1`, … too. */
  | {
      readonly kind: 'create'
      readonly as: string
      readonly count?: number
      readonly with?: JsonObject
      readonly caller?: Caller
    }
  /** Asks all at once. */
  | { readonly kind: 'together'; readonly asks: readonly Ask[] }
  /** Reads page after page by cursor, from an address on; after the first page other steps are done. */
  | {
      readonly kind: 'walk'
      readonly as: string
      readonly from: string
      readonly most: number
      readonly between?: readonly Step[]
    }
  /** Asks again until it is over: the status of a job. */
  | { readonly kind: 'poll'; readonly as: string; readonly at: string; readonly seconds: number }
  /** The same, where a step's answer was 202: its job is over afterwards. */
  | { readonly kind: 'settle'; readonly as: string; readonly of: string; readonly seconds: number }
  /** `grace`: until what was deleted before is gone for good. */
  | { readonly kind: 'wait'; readonly milliseconds: number | 'grace' }
  /** Goes on only where what was seen is so: otherwise the case is about nothing that this collection has, or could not be set up. */
  | {
      readonly kind: 'only'
      readonly test: (seen: Seen) => boolean
      readonly otherwise: 'not applicable' | 'not set up'
      readonly why: string
    }
  /** Sends bytes as they are, on a connection of its own, one for each character. */
  | { readonly kind: 'bytes'; readonly as: string; readonly bytes: string; readonly seconds?: number }

/** What a case needs of a server. */
export type Need =
  | Operation
  | PageStyle
  | 'key'
  | 'other'
  | 'marker'
  | 'search'
  | 'sort'
  | 'filter'
  | 'unique'
  | 'required'
  | 'invalid'
  | 'change'
  | 'optional'
  | 'reference'
  | 'parent'
  | 'nested'
  | 'children'
  | 'soft'
  | 'hard'
  | 'conditional'
  | 'unconditional'
  | 'grace'
  | 'summary'
  | 'deferred'
  | 'origin'
  | 'document'
  | 'deprecated'
  | 'retired'
  | 'open'
  | 'exports'
  | 'disposable'
  | 'tls'

/** Where in an exchange something is wrong. */
export type Part = 'status' | 'body' | 'connection' | { readonly field: string } | { readonly pointer: string }

/** What is wrong. */
export interface Finding {
  readonly exchange: Exchange | undefined
  readonly part: Part
  /** What was found instead of what was expected. */
  readonly message: string
}

/** What a case has seen. */
export interface Seen {
  readonly profile: Profile
  readonly collection: CollectionProfile
  /** Fills the places of a text, as in requests. */
  readonly fill: (text: string) => string
  /** The exchange of a step; the last, where there are several. */
  readonly of: (step: string) => Exchange
  readonly all: (step: string) => readonly Exchange[]
}

/** One thing that must be so. */
export interface Expectation {
  /** As a sentence: `answers 412`. */
  readonly says: string
  /** What is wrong; `undefined`: nothing. Pure. */
  readonly judge: (seen: Seen) => Finding | undefined
}

/** One thing that can be seen of a rule. */
export interface Case {
  /** `CON-3/stale-delete`: its rule, and a name. Permanent. */
  readonly id: `${string}-${number}/${string}`
  /** What must be so, as a sentence. */
  readonly title: string
  /** `reading` makes safe requests alone. */
  readonly kind: 'reading' | 'changing'
  readonly needs: readonly Need[]
  /** Cases without which this one proves nothing. */
  readonly after?: readonly Case['id'][]
  /** How binding it is, where not as its rule. */
  readonly level?: RuleLevel
  /** Nothing else may be asked meanwhile. */
  readonly alone?: boolean
  readonly steps: readonly Step[]
  readonly expect: readonly Expectation[]
  /** How to mend it, in one sentence. */
  readonly mend: string
}

/** The cases of one section of the rules. */
export interface CaseSection {
  /** What a case needs comes before it, here or in an earlier section. */
  readonly cases: readonly Case[]
  /** Rules of which nothing can be seen from outside, and why. */
  readonly unseen: Readonly<Record<string, string>>
}

/** The rule that a case is about. */
export function ruleOf({ id }: Pick<Case, 'id'>): string {
  return id.slice(0, id.indexOf('/'))
}
