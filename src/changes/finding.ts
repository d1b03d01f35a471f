/** What a comparison finds: data, for programs, from which the sentences for people are made. */
import type { Direction, Kind, Severity } from './kinds.ts'

/** Where in one of the two interfaces something is. */
export interface Place {
  readonly in: 'old' | 'new'
  /** The OpenAPI document, for a declaration the one that is made of it; or the declaration itself. */
  readonly of: 'openapi' | 'declaration'
  /** JSON Pointer (RFC 6901). */
  readonly pointer: string
}

/** One thing that differs, as the comparison meets it: on one operation or on many. */
export interface Difference {
  readonly kind: Kind
  /** The version that it is in, such as `v1`; empty where the interface has none. */
  readonly version?: string
  readonly direction?: Direction
  /** The resources that it concerns: tags of the document. */
  readonly resources: readonly string[]
  /** `GET /v1/tasks/{id}`; those of the old interface, or of the new one where they are new. */
  readonly operations: readonly string[]
  /** The field, by the way to it: `currencies[].code`. Empty: the whole body or value. */
  readonly field?: string
  /** The parameters, header fields, media types, statuses, codes or values that it is about. */
  readonly names?: readonly string[]
  /** What the field is a part of, where that is not the body: a parameter, a header. Of a parameter: where it stands. */
  readonly within?: string
  /** The keyword, of a limit. */
  readonly keyword?: string
  readonly before?: unknown
  readonly after?: unknown
  readonly places: readonly Place[]
}

/** A difference, judged and in words. */
export interface Finding extends Difference {
  readonly severity: Severity
  /** The rule that judges: an item of the specification (`spec 9.3`: what breaks; `spec 9.4`: what does not), and VER-5. */
  readonly rule: string
  /** What differs, a clause: "the field priority is gone from answers". */
  readonly message: string
  /** What to do about it; empty where nothing has to be done. */
  readonly remedy: string
}
