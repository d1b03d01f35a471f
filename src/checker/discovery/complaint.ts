/** What a server says is wrong with a body: which members, and how. */

import { type Answer, jsonOf } from '../client/exchange.ts'
import type { Schema } from '../values/generate.ts'
import { isObject } from '../values/json.ts'

/** One thing that is wrong. */
export interface Complaint {
  /** The member of the body; `undefined` where none is named. */
  readonly member: string | undefined
  readonly kind: 'lacking' | 'unknown' | 'taken' | 'bad'
  readonly text: string
}

const lacking =
  /required|missing|must (?:not|n't) be (?:null|blank|empty)|can't be (?:null|blank|empty)|cannot be (?:null|blank|empty)|is blank|should not be (?:null|empty)|must be present/i
const unknown =
  /unknown|unrecogni[sz]ed|additional propert|not allowed|is not a field|should not exist|unexpected|read-?only|not permitted|extra (?:inputs?|fields?)/i
const taken = /unique|already|duplicate|taken|exists|in use|conflict/i
const holders =
  /^(?:errors?|details?|violations|issues|fields|validation|messages?|invalid_?params|data|non_field_errors|_?body|body)$/i

const ofProblems = /^(?:status|statusCode|type|title|instance|timestamp|path|request_?id|trace_?id)$/i

/** Reads what an answer complains of, in the ways that are common; empty where nothing can be read. */
export function complaintsIn(answer: Answer, members: readonly string[]): Complaint[] {
  const body = jsonOf(answer)
  const found = [...complaints(body ?? answer.body, undefined, new Set(members), answer.status === 409, 0)]
  const named = found.filter(({ member }) => member !== undefined)
  const all = named.length > 0 ? named : found
  return all.filter((each, index) => all.findIndex((other) => other.member === each.member) === index)
}

function* complaints(
  value: unknown,
  member: string | undefined,
  members: ReadonlySet<string>,
  isConflict: boolean,
  depth: number,
): Generator<Complaint> {
  if (depth > 6) return
  if (typeof value === 'string') {
    const about = member ?? memberIn(value, members)
    const kind = kindOf(value, isConflict)
    if (about !== undefined || kind !== 'bad') yield { member: about, kind, text: value }
    return
  }
  if (Array.isArray(value)) {
    for (const each of value.slice(0, 50)) yield* complaints(each, member, members, isConflict, depth + 1)
    return
  }
  if (!isObject(value)) return
  const named = namedIn(value) ?? member
  const text = [
    value['message'],
    value['msg'],
    value['detail'],
    value['code'],
    value['keyword'],
    value['type'],
    value['title'],
    value['description'],
  ]
    .filter((each) => typeof each === 'string')
    .join(' ')
  if (named !== undefined) {
    yield { member: named, kind: kindOf(text, isConflict), text }
    return
  }
  for (const [name, each] of Object.entries(value)) {
    if (depth === 0 && !Array.isArray(each) && ofProblems.test(name)) continue
    // `{"name": ["is required"]}`: members as names, below a holder or alone.
    const isMember =
      !holders.test(name) &&
      (members.has(name) || Array.isArray(each)) &&
      (typeof each === 'string' || Array.isArray(each))
    yield* complaints(each, isMember ? name : undefined, members, isConflict, depth + 1)
  }
}

/** The member that an error names, in one of the ways that are common. */
function namedIn(error: Readonly<Record<string, unknown>>): string | undefined {
  const params = isObject(error['params']) ? error['params'] : {}
  const missing = params['missingProperty'] ?? params['additionalProperty']
  if (typeof missing === 'string') return missing
  const { pointer, source, instancePath, loc, path, field, property, param, name, attribute, propertyName } = error
  const at = pointer ?? (isObject(source) ? source['pointer'] : undefined) ?? instancePath
  if (typeof at === 'string' && at !== '')
    return at
      .replace(/^#?\/(?:data\/attributes\/)?/, '')
      .split('/')[0]
      ?.replaceAll('~1', '/')
      .replaceAll('~0', '~')
  const list = Array.isArray(loc) ? loc : Array.isArray(path) ? path : undefined
  const parts = list?.filter((each) => typeof each === 'string' && !/^(?:body|query|path)$/.test(each))
  if (parts !== undefined && parts.length > 0) return String(parts[0])
  const named = [field, property, param, attribute, propertyName, name, path].find((each) => typeof each === 'string')
  // What stands before a dot holds what stands after it.
  return typeof named === 'string' && /^[\w.$[\]-]+$/.test(named)
    ? named.replace(/^(?:body|\$)\./, '').split(/[.[]/)[0]
    : undefined
}

function memberIn(text: string, members: ReadonlySet<string>): string | undefined {
  const quoted = [...text.matchAll(/["'`]([\w-]+)["'`]/g)].map(([, word]) => word as string)
  const required = /(?:property|field|column|attribute|parameter)\s+["'`]?([\w-]+)/i.exec(text)?.[1]
  const words = text.match(/[\w-]+/g) ?? []
  return (
    quoted.find((each) => members.has(each)) ??
    (quoted[0] && lacking.test(text) ? quoted[0] : undefined) ??
    words.find((each) => members.has(each)) ??
    (required && lacking.test(text) ? required : undefined)
  )
}

function kindOf(text: string, isConflict: boolean): Complaint['kind'] {
  if (lacking.test(text)) return 'lacking'
  if (isConflict || taken.test(text)) return 'taken'
  return unknown.test(text) ? 'unknown' : 'bad'
}

/** What a complaint says a value has to be, where nothing else does. */
export function schemaIn(text: string): Schema {
  const number = /(-?\d+(?:\.\d+)?)/.exec(text)?.[1]
  if (/\be-?mail\b/i.test(text)) return { type: 'string', format: 'email' }
  if (/\buuid\b/i.test(text)) return { type: 'string', format: 'uuid' }
  if (/date-?time|iso ?8601|timestamp/i.test(text)) return { type: 'string', format: 'date-time' }
  if (/\bdate\b/i.test(text)) return { type: 'string', format: 'date' }
  if (/\bur[il]\b/i.test(text)) return { type: 'string', format: 'uri' }
  if (/\b(?:bool|boolean)\b/i.test(text)) return { type: 'boolean' }
  if (/\b(?:array|list)\b/i.test(text)) return { type: 'array' }
  if (/\b(?:object|map|dict)/i.test(text)) return { type: 'object' }
  if (/\b(?:int|integer)\b/i.test(text)) return { type: 'integer' }
  if (/\b(?:number|numeric|float|decimal)\b/i.test(text)) return { type: 'number' }
  if (
    number !== undefined &&
    /at least|greater|minimum|>=|no less/i.test(text) &&
    !/character|length|long/i.test(text)
  ) {
    return { type: 'number', minimum: Math.ceil(Number(number)) + (/greater|>(?!=)/.test(text) ? 1 : 0) }
  }
  if (number !== undefined && /at most|less|maximum|<=|no more/i.test(text) && !/character|length|long/i.test(text)) {
    return { type: 'number', maximum: Math.floor(Number(number)) - 1 }
  }
  const length =
    number === undefined
      ? {}
      : /at most|max|no more|fewer|exceed/i.test(text)
        ? { maxLength: Number(number) }
        : { minLength: Number(number) }
  const choices =
    /(?:one of|valid values?|in|enum)\s*:?\s*[[({]?\s*((?:["'`]?[\w-]+["'`]?(?:\s*(?:,|\||\bor\b)\s*)?){2,})/i.exec(
      text,
    )?.[1]
  const words = choices
    ?.split(/\s*(?:,|\||\bor\b)\s*/)
    .map((each) => each.trim().replace(/^["'`]|["'`]$/g, ''))
    .filter((each) => each !== '')
  if (words !== undefined && words.length > 1) return { type: 'string', enum: words }
  return { type: 'string', ...length }
}
