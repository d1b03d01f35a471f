/** Requests to a server and its responses: the evidence of every verdict. */

import { parseJson } from '../values/json.ts'
import { plainDocument } from './json-api.ts'

/** Header fields as they were sent or received: one entry for each line, names in any case. */
export type Fields = readonly (readonly [name: string, value: string])[]

export interface Asked {
  readonly method: string
  /** Absolute: `https://api.example.com/v1/cities`. */
  readonly url: string
  readonly fields: Fields
  readonly body?: string | undefined
  /** The body before it was translated into the server's media type. */
  readonly plain?: string | undefined
  /** All bytes that were sent, one for each character, if no HTTP client would send such a request. */
  readonly bytes?: string | undefined
}

export interface Answer {
  readonly status: number
  /** `1.1`. */
  readonly version: string
  readonly fields: Fields
  /** As text; bytes that are not UTF-8 are replaced. */
  readonly body: string
}

/** A request and its response, if one arrived. */
export interface Exchange {
  /** The step of the case that sent it; empty outside of cases. */
  readonly step: string
  readonly asked: Asked
  readonly answer?: Answer | undefined
  readonly failure?: string | undefined
  /** After a request in bytes: what followed the last complete response. */
  readonly rest?: string | undefined
  readonly milliseconds: number
}

/** The value of a header field, lines of one name combined (RFC 9110, section 5.3); `undefined` if it is absent. */
export function fieldOf(message: Pick<Answer, 'fields'> | undefined, name: string): string | undefined {
  const lower = name.toLowerCase()
  const lines = (message?.fields ?? []).filter(([each]) => each.toLowerCase() === lower)
  return lines.length === 0 ? undefined : lines.map(([, value]) => value).join(', ')
}

const parsedBodies = new WeakMap<Answer, { readonly value: unknown }>()

/** The media type of a body, without parameters. */
export function mediaTypeOf(message: Pick<Answer, 'fields'>): string | undefined {
  return fieldOf(message, 'Content-Type')?.split(';')[0]?.trim().toLowerCase()
}

export const jsonApiType = 'application/vnd.api+json'

/** The JSON value of a response body, with plain records if it is JSON:API; `undefined` if there is no JSON. */
export function jsonOf(answer: Answer | undefined): unknown {
  if (answer === undefined) return undefined
  let known = parsedBodies.get(answer)
  if (known === undefined) {
    const value = parseJson(answer.body)
    known = { value: mediaTypeOf(answer) === jsonApiType ? plainDocument(value) : value }
    parsedBodies.set(answer, known)
  }
  return known.value
}

declare const success: unique symbol

/** Whether a response arrived and its status is 2xx. */
export function isSuccess(answer: Answer | undefined): answer is Answer & { readonly [success]: true } {
  return answer !== undefined && answer.status >= 200 && answer.status < 300
}

/**
 * Targets of `Link` (RFC 8288) by relation type, as paths with queries: credentials never go to another server.
 *
 * @param base the address of the request, to which relative targets refer
 */
export function linksOf(answer: Answer, base: string): ReadonlyMap<string, string> {
  const targets = new Map<string, string>()
  for (const [, target = '', parameters = ''] of (fieldOf(answer, 'Link') ?? '').matchAll(/<([^<>]*)>([^<]*)/g)) {
    const rel = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters)
    if (rel === null || !URL.canParse(target, base)) continue
    const { pathname, search } = new URL(target, base)
    for (const type of (rel[1] ?? rel[2] ?? '').toLowerCase().split(/\s+/)) {
      if (!targets.has(type)) targets.set(type, pathname + search)
    }
  }
  return targets
}
