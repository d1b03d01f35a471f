/** Reads from an error response what is wrong with a body, and repairs the body. */
import { type Answer, jsonOf } from '../client/exchange.ts'
import { generate, isUnmade, type Schema, typeOf, uniqueValue } from '../values/generate.ts'
import { isObject, type JsonObject, mapMembers, pick } from '../values/json.ts'

export interface Complaint {
  /** The member of the body; `undefined` if the response names none. */
  readonly member: string | undefined
  readonly kind: 'missing' | 'unknown' | 'taken' | 'invalid'
  readonly text: string
}

const missing = new RegExp(
  [
    ...['required', 'missing', 'mandatory', 'is blank', 'must be (?:provided|set|given|specified|present)'],
    "(?:must not|mustn't|can't|cannot|should not) be (?:null|blank|empty)",
  ].join('|'),
  'i',
)
const taken = /unique|already|duplicate|taken|exists|in use|conflict/i
const unknown = new RegExp(
  [
    ...['unknown', 'unrecogni[sz]ed', 'additional propert', 'not allowed', 'is not a field', 'should not exist'],
    ...['unexpected', 'read-?only', 'not permitted', 'extra (?:inputs?|fields?)'],
  ].join('|'),
  'i',
)

/** Members of error bodies that hold complaints. */
const holders =
  /^(?:errors?|details?|violations|issues|fields|validation|messages?|invalid_?params|data|non_field_errors|_?body)$/i
/** Members of error bodies that say nothing about the body of the request. */
const problemMembers = /^(?:status|statusCode|type|title|instance|timestamp|path|request_?id|trace_?id)$/i
/** Words that errors say of themselves: "see the `details`". */
const ofErrors = /^(?:details?|errors?|messages?|code|status|body|null|undefined|true|false|string|number|object)$/i
const textMembers = ['message', 'msg', 'detail', 'code', 'keyword', 'type', 'title', 'description']

/** The complaints in a response, one for each member. Reads the error formats of common frameworks. */
export function complaintsIn(answer: Answer, members: readonly string[]): Complaint[] {
  const reader = { members: new Set(members), isConflict: answer.status === 409 }
  const found = [...readComplaints(jsonOf(answer) ?? answer.body, undefined, reader, 0)]
  const named = found.filter(({ member }) => member !== undefined)
  const all = named.length > 0 ? named : found
  return all.filter((each, index) => all.findIndex((other) => other.member === each.member) === index)
}

interface Reader {
  /** Members of the refused body. */
  readonly members: ReadonlySet<string>
  readonly isConflict: boolean
}

function* readComplaints(
  value: unknown,
  member: string | undefined,
  reader: Reader,
  depth: number,
): Generator<Complaint> {
  if (depth > 6) return
  if (typeof value === 'string') {
    const about = member ?? memberInText(value, reader.members)
    const kind = kindOf(value, reader)
    if (about !== undefined || kind !== 'invalid') yield { member: about, kind, text: value }
  } else if (Array.isArray(value)) {
    for (const each of value.slice(0, 50)) yield* readComplaints(each, member, reader, depth + 1)
  } else if (isObject(value)) {
    const named = memberNamed(value) ?? member
    const text = textMembers.flatMap((name) => (typeof value[name] === 'string' ? [value[name]] : [])).join(' ')
    if (named !== undefined) return yield { member: named, kind: kindOf(text, reader), text }
    for (const [name, each] of Object.entries(value)) {
      if (depth === 0 && !Array.isArray(each) && problemMembers.test(name)) continue
      // Members as names: `{"name": ["is required"]}`, `{"name": {"code": "not_unique"}}`.
      // A record may have a `description`, too: the text decides what it is about.
      const isText = typeof each === 'string' && textMembers.includes(name)
      const isOfError = isText && memberInText(each, reader.members) !== undefined
      const isKnown = reader.members.has(name) && !isOfError && (typeof each === 'string' || isObject(each))
      const isMember = !holders.test(name) && (Array.isArray(each) || isKnown)
      yield* readComplaints(each, isMember ? name : undefined, reader, depth + 1)
    }
  }
}

function memberNamed(error: Readonly<Record<string, unknown>>): string | undefined {
  const params = isObject(error['params']) ? error['params'] : {}
  const inParams = params['missingProperty'] ?? params['additionalProperty']
  if (typeof inParams === 'string') return inParams
  const { pointer, source, instancePath, loc, path, field, property, param, name, attribute, propertyName } = error
  const at = pointer ?? (isObject(source) ? source['pointer'] : undefined) ?? instancePath
  if (typeof at === 'string' && at !== '') {
    const [token] = at.replace(/^#?\/(?:data\/(?:attributes|relationships)\/)?/, '').split('/')
    return token?.replaceAll('~1', '/').replaceAll('~0', '~')
  }
  const list = [loc, path].find(Array.isArray)
  const segment = list?.find((each) => typeof each === 'string' && !/^(?:body|query|path)$/.test(each))
  if (segment !== undefined) return segment
  const named = [field, property, param, attribute, propertyName, name, path].find((each) => typeof each === 'string')
  // A name such as ValidationError is that of the error itself.
  if (typeof named !== 'string' || !/^[\w.$[\]-]+$/.test(named) || /(?:Error|Exception)$/.test(named)) return undefined
  return named.replace(/^(?:body|\$)\./, '').split(/[.[]/)[0]
}

function memberInText(text: string, members: ReadonlySet<string>): string | undefined {
  const quoted = [...text.matchAll(/["'`]([\w-]+)["'`]/g)].map(([, word]) => word as string)
  const words = text.match(/[\w-]+/g) ?? []
  const required = /(?:property|field|column|attribute|parameter)\s+["'`]?([\w-]+)/i.exec(text)?.[1]
  const unsent = missing.test(text) ? { quoted: quoted.find((each) => !ofErrors.test(each)), required } : {}
  const [named, ...others] = new Set(words.filter((each) => members.has(each)))
  return (
    quoted.find((each) => members.has(each)) ??
    unsent.quoted ??
    // A statement of a database names all members, and so none.
    (others.length < 2 ? named : undefined) ??
    unsent.required
  )
}

function kindOf(text: string, { isConflict }: Reader): Complaint['kind'] {
  if (missing.test(text)) return 'missing'
  if (isConflict || taken.test(text)) return 'taken'
  return unknown.test(text) ? 'unknown' : 'invalid'
}

const typeWords: readonly (readonly [word: RegExp, schema: Schema])[] = [
  [/\be-?mail\b/i, { type: 'string', format: 'email' }],
  [/\buuid\b/i, { type: 'string', format: 'uuid' }],
  [/date-?time|iso ?8601|timestamp/i, { type: 'string', format: 'date-time' }],
  [/\bdate\b/i, { type: 'string', format: 'date' }],
  [/\bur[il]\b/i, { type: 'string', format: 'uri' }],
  [/\b(?:bool|boolean)\b/i, { type: 'boolean' }],
  [/\b(?:array|list)\b/i, { type: 'array' }],
  [/\b(?:object|map|dict)/i, { type: 'object' }],
  [/\b(?:int|integer)\b/i, { type: 'integer' }],
  [/\b(?:number|numeric|float|decimal)\b/i, { type: 'number' }],
]

const choices =
  /(?:one of|valid values?|in|enum)\s*:?\s*[[({]?\s*((?:["'`]?[\w-]+["'`]?(?:\s*(?:,|\||\bor\b)\s*)?){2,})/i

/** The words in `should be 'alpine', 'valley' or 'bivouac'`. */
const quotedChoices = /(["'`])[\w -]+\1(?:\s*(?:,|\||\bor\b|\band\b)+\s*(["'`])[\w -]+\2)+/

/** The pattern in `must match pattern "^[A-Z]{2}$"`. */
const patternInText = /\bmatch(?:es)?\b[^^]*(\^.+\$)(?=["'`/\s]|$)/i

/** The schema of valid values, as far as a complaint says it in words. */
export function schemaFromText(text: string): Schema {
  const pattern = patternInText.exec(text)?.[1]
  if (pattern !== undefined) return { type: 'string', pattern }
  const typed = typeWords.find(([word]) => word.test(text))
  if (typed !== undefined) return typed[1]
  const [, , longest] = /(\d+) (?:to|and|-) (\d+) char/i.exec(text) ?? []
  if (longest !== undefined) return { type: 'string', maxLength: Number(longest) }
  const bound = /(-?\d+(?:\.\d+)?)/.exec(text)?.[1]
  const number = Number(bound)
  const isLength = /character|length|long/i.test(text)
  if (bound !== undefined && !isLength && /at least|greater|minimum|>=|no less/i.test(text)) {
    return { type: 'number', minimum: Math.ceil(number) + (/greater|>(?!=)/.test(text) ? 1 : 0) }
  }
  if (bound !== undefined && !isLength && /at most|less|maximum|<=|no more/i.test(text)) {
    return { type: 'number', maximum: Math.floor(number) - 1 }
  }
  const quoted = quotedChoices.exec(text)?.[0].matchAll(/(["'`])([\w -]+)\1/g)
  if (quoted !== undefined) return { type: 'string', enum: [...quoted].map(([, , word]) => word) }
  const words = choices
    .exec(text)?.[1]
    ?.split(/\s*(?:,|\||\bor\b)\s*/)
    .map((each) => each.trim().replace(/^["'`]|["'`]$/g, ''))
    .filter((each) => each !== '')
  if (words !== undefined && words.length > 1) return { type: 'string', enum: words }
  if (bound === undefined) return { type: 'string' }
  return { type: 'string', [/at most|max|no more|fewer|exceed/i.test(text) ? 'maxLength' : 'minLength']: number }
}

export interface RefusedBody {
  readonly body: JsonObject
  readonly complaints: readonly Complaint[]
  readonly schemas: Readonly<Record<string, Schema>>
  readonly required: readonly string[]
  /** How many bodies the server refused before. */
  readonly turn: number
  /** Members that hold identifiers of other collections. They cannot be generated. */
  readonly references: Readonly<Record<string, string>>
}

/**
 * A body that meets the complaints, and what these say about its members: which are required, which have a value that
 * another record already has, and their schemas. `undefined` if nothing is left to try.
 */
export function repairBody(refused: RefusedBody) {
  const { body, complaints, schemas, required, turn, references } = refused
  const next: Record<string, unknown> = { ...body }
  const found = { required: [] as string[], unique: [] as string[], schemas: {} as Record<string, Schema> }
  for (const { member, kind, text } of complaints) {
    if (member === undefined) continue
    const isSent = Object.hasOwn(body, member)
    const schema = schemas[member] ?? found.schemas[member]
    if (kind === 'unknown' && isSent) delete next[member]
    else if (kind === 'taken' && isSent) {
      found.unique.push(member)
      next[member] = uniqueValue(body[member], turn, schema)
    } else if (!isSent && kind !== 'unknown' && kind !== 'taken') {
      const value = generate(schema ?? schemaFromName(member), member)
      if (isUnmade(value)) continue
      found.required.push(member)
      next[member] = value
    } else if (isSent && !Object.hasOwn(references, member)) {
      if (turn > 1 && !required.includes(member)) delete next[member]
      else {
        // A schema that was derived from records may be narrower than the complaint says.
        const isFixed = schema !== undefined && ('enum' in schema || 'pattern' in schema)
        // A text about a part of an object or an array says nothing about the whole.
        const isWhole = ['array', 'object'].includes(typeOf(schema ?? {}) ?? '')
        const said = isWhole ? {} : schemaFromText(text)
        const isTold = schema === undefined || turn > 0 || 'pattern' in said || 'enum' in said
        const better = isTold ? { ...schema, ...said, ...(isFixed && schema) } : schema
        const value = generate(better, member, turn + 1)
        if (isUnmade(value)) continue
        next[member] = value
        found.schemas[member] = better
      }
    }
  }
  if (JSON.stringify(next) !== JSON.stringify(body)) return { ...found, body: next }
  if (turn >= 3) return undefined
  const other = withOtherTexts(refused) ?? withRequiredOnly(refused)
  return other && { body: other, required: [], unique: [], schemas: {} }
}

/** Other texts everywhere, if a value is taken and the server does not say which. */
function withOtherTexts({ body, complaints, schemas, turn, references }: RefusedBody): JsonObject | undefined {
  if (!complaints.some(({ kind }) => kind === 'taken')) return undefined
  const free = pick(body, (name) => {
    const schema = schemas[name] ?? {}
    const isFree = !('enum' in schema) && !('format' in schema) && !Object.hasOwn(references, name)
    return typeof body[name] === 'string' && isFree
  })
  if (Object.keys(free).length === 0) return undefined
  return { ...body, ...mapMembers(free, (value, name) => uniqueValue(value, turn, schemas[name])) }
}

function withRequiredOnly({ body, required, references }: RefusedBody): JsonObject | undefined {
  const kept = pick(body, (name) => required.includes(name) || Object.hasOwn(references, name))
  return Object.keys(kept).length < Object.keys(body).length ? kept : undefined
}

const measures = 'count amount quantity price total number size age year rank position population area weight height'
const numbers = new RegExp(`(?:${[...measures.split(' '), 'width', 'length'].join('|')})$`, 'i')

/** A schema for a member of which only the name is known. */
function schemaFromName(member: string): Schema {
  if (numbers.test(member)) return { type: 'integer' }
  if (/^(?:is|has)(?:_|[A-Z])|^(?:active|enabled|done|completed|published)$/.test(member)) return { type: 'boolean' }
  return { type: 'string' }
}
