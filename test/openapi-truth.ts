/**
 * Judges answers by the OpenAPI document of the interface that gave them (DOC-1). Harness and tests ask it of every
 * answer.
 */
import assert from 'node:assert/strict'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { addDecimalMultiples } from '../packages/check/src/values/generate.ts'
import type { HttpResponse } from '../packages/server/src/http/message.ts'

/** Fails where an answer is not as the document says. */
export type Judge = (method: string, target: string, response: HttpResponse) => void

// biome-ignore lint/suspicious/noExplicitAny: a document is looked into at every depth
type Json = any

/** Header fields that belong to the connection or the media type, not to an operation. */
const everywhere = new Set([
  ...['Content-Encoding', 'Content-Type', 'Server-Timing', 'Strict-Transport-Security', 'X-Content-Type-Options'],
])

const options = { strict: false, allErrors: true, logger: false } as const
const schemas = new Ajv2020(options)
const sound = new WeakSet<object>()

/** Fails where a value is not a JSON Schema. */
function requireSchema(schema: Json): void {
  if (sound.has(schema)) return
  if (!schemas.validateSchema(schema)) assert.fail(`${schemas.errorsText()}: ${JSON.stringify(schema)}`)
  sound.add(schema)
}

/**
 * Makes the judge of a document. Schemas are compiled when first needed, once.
 *
 * @param document an OpenAPI 3.1 document
 */
export function judgeBy(document: Json): Judge {
  // The schema of schemas is compiled once for all documents.
  const ajv = new Ajv2020({ ...options, validateSchema: false })
  addDecimalMultiples(ajv)
  formats.default(ajv)
  requireSchema(document)
  ajv.addSchema(document, 'document')
  ajv.addSchema(selected(document), 'selected')
  const found = new Map<string, Json>()
  const find = (node: Json): Json => {
    const reference = node?.$ref
    if (typeof reference !== 'string') return node
    if (!found.has(reference)) found.set(reference, find(at(document, reference.slice(1))))
    return found.get(reference)
  }
  const templateOf = templatesOf(document)
  const validators = new Map<string, ValidateFunction>()
  const check = (pointer: string, value: unknown, what: string) => {
    let validate = validators.get(pointer)
    if (validate === undefined) {
      validate = ajv.compile({ $ref: pointer })
      validators.set(pointer, validate)
    }
    // The message is long, and nearly all answers fit.
    if (validate(value)) return
    assert.fail(`${what} does not fit ${pointer}: ${JSON.stringify(validate.errors)} ${JSON.stringify(value)}`)
  }

  return (method, target, response) => {
    const what = `${method} ${target} -> ${response.status}`
    if (method === 'OPTIONS' && response.status < 300) {
      // Described in words: it is the same for every address.
      const { Allow, Vary = '' } = response.headers
      const isPreflight = Vary.includes('Access-Control-Request-Method')
      assert.ok((Allow !== undefined || isPreflight) && response.body === undefined, what)
      return
    }
    const place = placeOf(document, templateOf(target), method, target, response)
    if (place === undefined) assert.fail(`${what} is not in the document: ${String(response.body)}`)
    const { pointer } = place
    const declared = find({ $ref: `#${pointer}` })
    const { everywhere: ofAll, authenticated } = document['x-headers']
    const common = { ...ofAll, ...(place.isOpen ? {} : authenticated) }
    for (const [name, value] of Object.entries(response.headers)) {
      // Where pages of other origins are served, everything varies by them.
      if (everywhere.has(name) || name.startsWith('Access-Control-') || (name === 'Vary' && value === 'Origin'))
        continue
      const header = find(common[name] ?? declared.headers?.[name])
      assert.ok(header !== undefined, `${what} has the header field ${name}, which the document does not tell`)
      requireSchema(header.schema)
      const whole = header.schema.type === 'integer' ? Number(value) : value
      assert.ok(ajv.validate(header.schema, whole), `${what}: ${name}: ${value} does not fit the document`)
    }
    const type = response.headers['Content-Type']
    if (response.body === undefined) {
      if (place.codes !== undefined) return checkProblem(document, place.codes, response.status, undefined, what)
      if (response.status === 201 && response.headers['Preference-Applied']?.includes('return=minimal')) return
      assert.equal(declared.content, undefined, `${what} has no body, though the document says so`)
      assert.equal(type, undefined, `${what} has a media type and no body`)
      return
    }
    const described = declared.content?.[type ?? '']
    assert.ok(type !== undefined && described !== undefined, `${what}: ${type} is not in the document`)
    // Bytes are no JSON value by themselves.
    if (described.schema.format === 'binary') return
    const text = Buffer.from(response.body as string).toString()
    const value = type.startsWith('text/') ? text : JSON.parse(text)
    // A QUERY has its parameters in its body, so the response says whether it includes related records.
    const isIncluding = place.included !== undefined && Object.hasOwn(value, 'included')
    const usual = `#${resolved(document, pointer)}/content/${pointerStep(type)}/schema`
    const schema = place.many ?? (isIncluding ? place.included : usual)
    check(`${place.isSelective === true ? 'selected' : 'document'}${schema}`, value, what)
    if (place.codes !== undefined) checkProblem(document, place.codes, response.status, value, what)
  }
}

/** A response in the document. */
interface Place {
  readonly pointer: string
  /** Whether the operation needs no credential. */
  readonly isOpen: boolean
  /** The codes that the operation lists; `undefined`: the response is no error. */
  readonly codes?: readonly string[]
  /** The schema of the response to an array. */
  readonly many?: string
  /** The schema with related records. */
  readonly included?: string
  /** Whether `fields` may have selected what is returned. */
  readonly isSelective?: boolean
}

/** Where the document describes an answer: what no path has is a problem all the same. */
function placeOf(
  document: Json,
  path: string | undefined,
  method: string,
  target: string,
  { status, body }: HttpResponse,
): Place | undefined {
  const problems = document['x-problems']
  // Methods are case-sensitive: what is called `get` has no operation.
  const operation = path && document.paths[path][operationOf(method, status)]
  const isOpen = operation?.security?.length === 0
  if (status >= 400) {
    const ofMethod = problems.methods[operationOf(method, status)] ?? []
    const known: string[] = [
      ...(isOpen ? [] : [...problems.everywhere, ...ofMethod]),
      ...(operation?.['x-problems'] ?? []),
    ]
    // Addresses in no path, and methods of no operation, have the codes of the document.
    const codes = operation === undefined ? Object.keys(problems.codes) : known
    return { pointer: pointerOfErrors(status), isOpen, codes }
  }
  if (path === undefined || operation === undefined) return undefined
  const at = `/paths/${pointerStep(path)}/${operationOf(method, status)}`
  // QUERY has its parameters in its body.
  const isSelective = /[?&]fields(?:=|\[|%5B)/i.test(target) || method === 'QUERY'
  if (operation.responses[status] !== undefined) {
    if (operation['x-many'] !== undefined && /^\{"data":\[/.test(String(body)))
      return { pointer: `${at}/responses/${status}`, isOpen, many: operation['x-many'].$ref }
    const included = status === 200 ? operation['x-included']?.$ref : undefined
    return { pointer: `${at}/responses/${status}`, isOpen, isSelective: isSelective && hasFields(operation), included }
  }
  if (operation['x-responses']?.[status] !== undefined) return { pointer: `${at}/x-responses/${status}`, isOpen }
  const isRange = operationOf(method, status) === 'get' && document['x-ranges'].responses[status] !== undefined
  return isRange ? { pointer: `/x-ranges/responses/${status}`, isOpen } : undefined
}

function pointerOfErrors(status: number): string {
  const name = status === 405 ? 'ApiMethodNotAllowed' : status < 500 ? 'Api4XX' : 'Api5XX'
  return `/components/responses/${name}`
}

function hasFields(operation: Json): boolean {
  return operation['x-parameters']?.some(({ $ref }: Json) => $ref === '#/components/parameters/ApiFields') === true
}

/**
 * OpenAPI 3.1 has no QUERY: what it finds is described where GET finds it, and its refusals are those of any method.
 */
function operationOf(method: string, status: number): string {
  if (!/^[A-Z]+$/.test(method)) return ''
  if (method === 'HEAD' || (method === 'QUERY' && status < 400)) return 'get'
  return method === 'QUERY' ? '' : method.toLowerCase()
}

/** The document with records of which `fields` has selected properties: all but `id` may be missing. */
function selected(document: Json): Json {
  const schemas = { ...document.components.schemas }
  for (const { 'x-collection': collection } of document.tags) {
    const name = collection?.schemas.record
    if (name !== undefined) schemas[name] = { ...schemas[name], required: ['id'] }
  }
  return { ...document, components: { ...document.components, schemas } }
}

/** These statuses are also returned for requests that could not be read, whose path is unknown. */
const unread = new Set([400, 408, 414, 431, 500])

/** Checks the code of a problem, or only the status if a HEAD request got no body. */
function checkProblem(document: Json, codes: readonly string[], status: number, body: Json, what: string): void {
  const known = document['x-problems'].codes
  assert.ok(
    codes.some((code) => known[code].status === status),
    `${what} is not among the statuses of ${codes}`,
  )
  if (body === undefined) return
  assert.equal(body.status, status, what)
  assert.ok(body.instance !== undefined || unread.has(status), `${what} has no instance`)
  // A business rule that is a function can answer with any code, also with that of another status.
  const code = codes.includes(body.code) && known[body.code].status === status ? body.code : '*'
  assert.ok(codes.includes(code), `${what}: ${body.code} is not among ${codes}`)
  assert.equal(known[code].status, status, `${what}: ${body.code}`)
}

/** Finds the path of the document that a request target is an instance of. The paths are split into steps once. */
function templatesOf(document: Json): (target: string) => string | undefined {
  const paths = Object.entries<Json>(document.paths).map(([template, item]) => {
    const base = (item.servers ?? document.servers)[0].url.replace(/\/$/, '')
    return { template, steps: `${base}${template}`.split('/') }
  })
  const byLength = Map.groupBy(paths, ({ steps }) => steps.length)
  return (target) => {
    const given = (target.split('?')[0] as string).split('/').map(unescaped)
    const fits = (step: string, index: number) => step === given[index] || (step.startsWith('{') && given[index] !== '')
    return byLength.get(given.length)?.find(({ steps }) => steps.every(fits))?.template
  }
}

/** A step without escapes: those that nobody needs lead to the same place. */
function unescaped(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

/** The pointer of what a pointer's reference leads to. */
function resolved(document: Json, pointer: string): string {
  const node = at(document, pointer)
  return typeof node.$ref === 'string' ? node.$ref.slice(1) : pointer
}

/** What a pointer leads to. */
function at(document: Json, pointer: string): Json {
  return pointer
    .slice(1)
    .split('/')
    .reduce((node: Json, step: string) => node[stepOf(step)], document)
}

function pointerStep(step: string): string {
  return encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))
}

function stepOf(step: string): string {
  return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
}
