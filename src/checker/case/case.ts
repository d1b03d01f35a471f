/** What a case is: one thing that can be seen of a rule, as data. */
import type { RuleLevel } from '../../spec/rules/rule.ts'
import type { Exchange } from '../client/exchange.ts'
import type { CollectionProfile, Operation, PageStyle, Permission, Profile } from '../profile/profile.ts'
import type { JsonObject } from '../values/json.ts'

/** Who asks: who was given with `--key`, somebody without a credential, with a wrong one, or with one that may not do it. */
export type Caller = 'caller' | 'nobody' | 'wrong' | 'other'

/**
 * A body: text as it is; or a valid one of the case's collection, the least of one, a valid change, a bad one, a part of a member that is an
 * object, the member alone by which the checker recognises its records (nothing where there is none), or what an earlier step sent or was answered; with the changes, or the members that may be left out, that the profile knows; with and
 * without members. `like`: with the unique members that the request of another step had.
 */
export type Body =
  | { readonly text: string }
  | { readonly json: unknown }
  | {
      readonly from:
        | 'example'
        | 'least'
        | 'change'
        | 'invalid'
        | 'part'
        | 'mark'
        | { readonly sent: string }
        | { readonly answered: string }
      readonly plus?: 'change' | 'optional'
      readonly with?: JsonObject
      readonly without?: readonly string[]
      readonly like?: string
    }

/** A request. Its texts may contain references (`references.ts`), which are replaced with values when it is sent. */
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
  /** Among those that are sent at once: it is sent so often, with one body. */
  readonly times?: number
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
      readonly without?: readonly string[]
      readonly caller?: Caller
    }
  /** Lists the collection and makes records until the list does not hold them all, or there are so many. The lists are known by its name. */
  | { readonly kind: 'outgrow'; readonly as: string; readonly most: number }
  /** Asks the same of every collection that can be listed: `{collection}` is each of them. */
  | { readonly kind: 'each'; readonly ask: Ask }
  /** Asks all at once. */
  | { readonly kind: 'together'; readonly asks: readonly Ask[] }
  /** Reads page after page by cursor, from an address on; after the first page other steps are done. Refused cursors end it, and are judged. */
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
  /** Waits as long as `Retry-After` of an answer says; where that is long, the case cannot be set up. */
  | { readonly kind: 'pause'; readonly after: string }
  /** Asks again and again, as often as the profile says is too often, until an answer has this status. */
  | { readonly kind: 'exhaust'; readonly as: string; readonly request: Request; readonly until: number }
  /** Sends bytes as they are, on a connection of its own, one for each character; without TLS where it is `plain`. `{credential}` is a line. */
  | {
      readonly kind: 'bytes'
      readonly as: string
      readonly bytes: string
      readonly seconds?: number
      readonly plain?: boolean
    }

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
  | 'ranked'
  | 'measured'
  | 'emptied'
  | 'undeclared'
  | 'marker-sort'
  | 'paged'
  | 'unique'
  | 'required'
  | 'invalid'
  | 'mistakes'
  | 'change'
  | 'optional'
  | 'reference'
  | 'parent'
  | 'nested'
  | 'children'
  | 'object'
  | 'soft'
  | 'hard'
  | 'conditional'
  | 'unconditional'
  | 'grace'
  | 'summary'
  | 'deferred'
  | 'owner'
  | `no ${Permission}`
  | 'origin'
  | 'document'
  | 'deprecated'
  | 'retired'
  | 'open'
  | 'exports'
  | 'disposable'
  | 'tls'
  | 'version'
  | 'version-field'
  | 'attempts'

/** Where in an exchange something is wrong. */
export type Part = 'status' | 'body' | 'connection' | { readonly field: string } | { readonly pointer: string }

/** What is wrong. */
export interface Finding {
  readonly exchange: Exchange | undefined
  readonly part: Part
  /** What was found instead of what was expected. */
  readonly message: string
}

/** Something that has the name of a step: a reference. */
export interface Named {
  readonly name: string
}

/** What a case has seen. */
export interface Seen {
  readonly profile: Profile
  readonly collection: CollectionProfile
  /** Replaces references in a text, as in requests. */
  readonly fill: (text: string) => string
  /** The exchange of a step; the last, where there are several. */
  readonly of: (step: Named) => Exchange
  readonly all: (step: Named) => readonly Exchange[]
  /** Identifiers of the records that a step has made. */
  readonly ids: (step: Named) => readonly string[]
}

/** One thing that must be so: gives what is wrong, `undefined` if nothing is. Pure. */
export type Expectation = (seen: Seen) => Finding | undefined

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
  /** How to correct a server on which the case fails, in one sentence. */
  readonly remedy: string
}

/** The rule that a case is about. */
export function ruleOf({ id }: Pick<Case, 'id'>): string {
  return id.slice(0, id.indexOf('/'))
}
