/** What a case is: one observable consequence of a rule, as data; and the state of a case while it runs. */
import type { RuleLevel } from 'resourced-contract/spec/rules/rule'
import type { Exchange } from '../client/exchange.ts'
import type { CollectionProfile, Profile } from '../profile/profile.ts'
import type { JsonObject } from '../values/json.ts'
import type { Need } from './needs.ts'

/**
 * Who sends a request: the caller of `--key`, no credential, an invalid one, one that differs in one character, or a
 * caller without the permission.
 */
export type Caller = 'caller' | 'nobody' | 'wrong' | 'altered' | 'other'

/**
 * The body of a request: a text, a JSON value, or a body that is made from the profile or from an earlier step (`body`
 * in `steps.ts`). `plus` adds the changes, or the optional members, that the profile knows. `like` repeats the unique
 * values that an earlier step sent. `raw` is the text of one more member, for values that no JSON writer would write.
 */
export type Body =
  | { readonly text: string }
  | { readonly json: unknown }
  | {
      readonly from:
        | 'example'
        | 'least'
        | 'change'
        | 'some-change'
        | 'invalid'
        | 'broken'
        | 'part'
        | 'mark'
        | { readonly sent: string }
        | { readonly answered: string }
      readonly plus?: 'change' | 'optional'
      readonly with?: JsonObject
      readonly without?: readonly string[]
      readonly like?: string
      readonly raw?: string
    }

/** A request. Its texts may contain references (`references.ts`), which are replaced with values when it is sent. */
export interface Request {
  readonly method: string
  readonly to: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Body
  readonly caller?: Caller
  /** Returns a 429 instead of waiting and sending the request again. */
  readonly noRetry?: boolean
  /** Sends no condition, although the server requires one for changes. */
  readonly isUnconditional?: boolean
}

export interface Ask {
  readonly kind: 'ask'
  /** The name by which later steps and expectations refer to it. */
  readonly as: string
  readonly request: Request
  /** Whether the request prepares the case: if it fails, the case could not be set up. */
  readonly isPreparation: boolean
  /** How many times it is sent at once, with the same body. */
  readonly times?: number
}

export type Step =
  | Ask
  /** Creates records in the case's collection. If there are several, they are called `name.0`, `name.1`, … */
  | {
      readonly kind: 'create'
      readonly as: string
      readonly count?: number
      readonly with?: JsonObject
      readonly without?: readonly string[]
      readonly caller?: Caller
    }
  /** Creates records until the list does not contain all of them, or there are `most`. The lists have its name. */
  | { readonly kind: 'outgrow'; readonly as: string; readonly most: number }
  /** Sends the same request to every collection that can be listed: `collection` is each of them. */
  | { readonly kind: 'each'; readonly ask: Ask }
  /** Sends all requests at once. */
  | { readonly kind: 'together'; readonly asks: readonly Ask[] }
  /**
   * Reads page after page by cursor. `between` comes after the first page. A refused cursor ends the walk, and is
   * judged.
   */
  | {
      readonly kind: 'walk'
      readonly as: string
      readonly from: string
      readonly most: number
      readonly between?: readonly Step[]
    }
  /** Repeats a request until the test holds, or for some seconds: what is judged may come a little later. */
  | {
      readonly kind: 'eventually'
      readonly ask: Ask
      readonly until: (seen: Observations) => boolean
      readonly seconds: number
    }
  /**
   * Opens streams of server-sent events, takes other steps once they are open, and closes the streams when the test of
   * their text holds, or after some seconds.
   */
  | {
      readonly kind: 'stream'
      readonly as: string
      readonly to: string
      readonly headers?: Readonly<Record<string, string>>
      readonly caller?: Caller
      readonly times?: number
      readonly between: readonly Step[]
      readonly until?: (text: string, seen: Observations) => boolean
      readonly seconds: number
    }
  /** Reads the status of a job until the job has ended. */
  | { readonly kind: 'poll'; readonly as: string; readonly at: string; readonly seconds: number }
  /** Waits for the job of a step that was answered 202. */
  | { readonly kind: 'settle'; readonly as: string; readonly of: string; readonly seconds: number }
  /** `grace`: until records that were deleted before are purged. */
  | { readonly kind: 'wait'; readonly milliseconds: number | 'grace' }
  /** Continues only if the test holds; otherwise the case is not applicable here, or could not be set up. */
  | {
      readonly kind: 'require'
      readonly test: (seen: Observations) => boolean
      readonly otherwise: 'not applicable' | 'not set up'
      readonly why: string
    }
  /** Waits as long as `Retry-After` of a response says. If that is too long, the case could not be set up. */
  | { readonly kind: 'pause'; readonly after: string }
  /** Repeats a request, as often as the profile says is too often, until a response has this status. */
  | { readonly kind: 'exhaust'; readonly as: string; readonly request: Request; readonly until: number }
  /** Sends bytes, one for each character, on a connection of its own; without TLS if `plain`. */
  | {
      readonly kind: 'bytes'
      readonly as: string
      readonly bytes: string
      readonly seconds?: number
      readonly plain?: boolean
    }

/** Where in an exchange something is wrong. */
export type Part = 'status' | 'body' | 'connection' | { readonly field: string } | { readonly pointer: string }

export interface Finding {
  readonly exchange: Exchange | undefined
  readonly part: Part
  /** The actual result, in place of the expected one. */
  readonly message: string
}

interface Named {
  readonly name: string
}

/** What a case has observed. */
export interface Observations {
  readonly profile: Profile
  readonly collection: CollectionProfile
  /** Replaces references in a text, as in requests. */
  readonly fill: (text: string) => string
  /** The exchange of a step; the last, where there are several. */
  readonly of: (step: Named) => Exchange
  readonly all: (step: Named) => readonly Exchange[]
  /** The identifiers of the records that a step created. */
  readonly ids: (step: Named) => readonly string[]
  /** Responses of the run so far that are errors or set a cookie. */
  readonly earlier: readonly Exchange[]
}

/** One expectation: returns the problem, or `undefined` if it holds. Pure. */
export type Expectation = (seen: Observations) => Finding | undefined

/** One observable consequence of a rule. */
export interface Case {
  /** Its rule and a name, `CON-3/stale-delete`. Permanent. */
  readonly id: `${string}-${number}/${string}`
  /** The expectation, as a sentence. */
  readonly title: string
  /** `reading`: it sends only safe requests. */
  readonly kind: 'reading' | 'changing'
  readonly needs: readonly Need[]
  /** Cases on which this one depends: it is blocked if one of them fails. */
  readonly after?: readonly Case['id'][]
  /** Its level, if other than that of its rule. */
  readonly level?: RuleLevel
  /** Runs while no other case does; `last`: after all others. */
  readonly alone?: boolean | 'last'
  readonly steps: readonly Step[]
  readonly expect: readonly Expectation[]
  /** How to correct a server on which the case fails, in one sentence. */
  readonly remedy: string
}

export function ruleOf({ id }: Pick<Case, 'id'>): string {
  return id.slice(0, id.indexOf('/'))
}

/** A case cannot go on: something that it only prepares did not come about. */
export class NotSetUp extends Error {}

/** Responses have shown that the server lacks the subject of the case. */
export class NotApplicable extends Error {}

/** A record that the checker created, or one to which it refers. */
export interface CreatedRecord {
  /** From the root: `/v1/cities/1`. */
  readonly path: string
  readonly id: string
  /** An existing record that the checker only references and never changes. */
  readonly isExisting?: boolean | undefined
  /** Text in the record by which the checker recognizes it. */
  readonly mark?: string | undefined
  /** Who created it; the caller of `--key` if undefined. */
  readonly by?: Caller | undefined
}

export interface CaseState {
  readonly profile: Profile
  readonly collection: CollectionProfile
  /** Text by which the checker recognizes the records of the case. */
  readonly mark: string
  /** The caller's credential, without its scheme. */
  readonly key?: string | undefined
  /** Records by name; those to which others refer are `parent NAME`. */
  readonly made: ReadonlyMap<string, CreatedRecord>
  /** Exchanges by the name of their step. */
  readonly exchanges: ReadonlyMap<string, readonly Exchange[]>
}
