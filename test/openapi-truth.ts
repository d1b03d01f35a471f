/**
 * Judges answers by the OpenAPI document of the interface that gave them (DOC-1). Harness and tests ask it of every
 * answer.
 */
import assert from 'node:assert/strict'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { addDecimalMultiples } from '../src/checker/values/generate.ts'
import type { HttpResponse } from '../src/http/message.ts'

/** Fails where an answer is not as the document says. */
export type Judge = (method: string, target: string, response: HttpResponse) => void

// biome-ignore lint/suspicious/noExplicitAny: a document is looked into at every depth
type Json = any

/** Header fields that belong to the connection or the media type, not to an operation. */
const everywhere = new Set(['Content-Type', 'Server-Timing', 'Strict-Transport-Security', 'X-Content-Type-Options'])

/**
 * Makes the judge of a document. Schemas are compiled when first needed, once.
 *
 * @param document an OpenAPI 3.1 document
 */
export function judgeBy(document: Json): Judge {
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false })
  addDecimalMultiples(ajv)
  formats.default(ajv)
  ajv.addSchema(document, 'document')
  const find = (node: Json): Json =>
    typeof node?.$ref === 'string'
      ? find(
          node.$ref
            .slice(2)
            .split('/')
            .reduce((at: Json, step: string) => at[stepOf(step)], document),
        )
      : node
  const validators = new Map<string, ValidateFunction>()
  const check = (pointer: string, value: unknown, what: string) => {
    let validate = validators.get(pointer)
    if (validate === undefined) {
      validate = ajv.compile({ $ref: `document#${pointer}` })
      validators.set(pointer, validate)
    }
    assert.ok(
      validate(value),
      `${what} does not fit ${pointer}: ${JSON.stringify(validate.errors)} ${JSON.stringify(value)}`,
    )
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
    const pointer = pointerOf(document, find, method, target, response)
    assert.ok(pointer !== undefined, `${what} is not in the document: ${String(response.body)}`)
    const declared = find({ $ref: `#${pointer}` })
    for (const [name, value] of Object.entries(response.headers)) {
      // Where pages of other origins are served, everything varies by them.
      if (everywhere.has(name) || name.startsWith('Access-Control-') || (name === 'Vary' && value === 'Origin'))
        continue
      const header = find(declared.headers?.[name])
      assert.ok(header !== undefined, `${what} has the header field ${name}, which the document does not tell`)
      const whole = header.schema.type === 'integer' ? Number(value) : value
      assert.ok(ajv.validate(header.schema, whole), `${what}: ${name}: ${value} does not fit the document`)
    }
    const type = response.headers['Content-Type']
    if (response.body === undefined) {
      if (response.status === 201 && response.headers['Preference-Applied']?.includes('return=minimal')) return
      assert.equal(declared.content, undefined, `${what} has no body, though the document says so`)
      assert.equal(type, undefined, `${what} has a media type and no body`)
      return
    }
    const described = declared.content?.[type ?? ''] ?? declared.content?.['*/*']
    assert.ok(type !== undefined && described !== undefined, `${what}: ${type} is not in the document`)
    if (described.schema === undefined) return
    const schema = `${resolved(document, pointer)}/content/${pointerStep(type)}/schema`
    const text = Buffer.from(response.body as string).toString()
    check(schema, type.startsWith('text/') ? text : JSON.parse(text), what)
  }
}

/** Where the document describes an answer: what no path has is a problem all the same. */
function pointerOf(
  document: Json,
  find: (node: Json) => Json,
  method: string,
  target: string,
  response: HttpResponse,
): string | undefined {
  const { status } = response
  const path = templateOf(document, target)
  // Methods are case-sensitive: what is called `get` has no operation.
  const operation = operationOf(method, status)
  if (path === undefined || document.paths[path][operation] === undefined) return anyProblem(document, response)
  const pointer = `/paths/${pointerStep(path)}/${operation}/responses/${status}`
  return find(document.paths[path][operation].responses[status]) === undefined ? undefined : pointer
}

/**
 * OpenAPI 3.1 has no QUERY: what it finds is described where GET finds it, and its refusals are those of any method.
 */
function operationOf(method: string, status: number): string {
  if (!/^[A-Z]+$/.test(method)) return ''
  if (method === 'HEAD' || (method === 'QUERY' && status < 400)) return 'get'
  return method === 'QUERY' ? '' : method.toLowerCase()
}

/**
 * A response component of a status: it stands for what addresses in no path answer, and for methods of no operation.
 */
function anyProblem(document: Json, { status, body }: HttpResponse): string | undefined {
  const known = Object.keys(document.components.responses).filter(
    (name) => problemOf(document.components.responses[name])?.status?.const === status,
  )
  const code = body === undefined ? undefined : JSON.parse(Buffer.from(body as string).toString()).code
  const name = known.find((each) => codesOf(document.components.responses[each]).includes(code)) ?? known[0]
  return name === undefined ? undefined : `/components/responses/${name}`
}

function codesOf(response: Json): readonly unknown[] {
  const { code } = problemOf(response)
  return code?.enum ?? [code?.const]
}

function problemOf(response: Json): Json {
  return response.content?.['application/problem+json']?.schema?.allOf?.[1]?.properties
}

/** The path of the document that a request target is an instance of. */
function templateOf(document: Json, target: string): string | undefined {
  const asked = target.split('?')[0] as string
  for (const [template, item] of Object.entries<Json>(document.paths)) {
    const base = (item.servers ?? document.servers)[0].url.replace(/\/$/, '')
    const expected = `${base}${template}`.split('/')
    const given = asked.split('/').map(unescaped)
    if (expected.length !== given.length) continue
    const fits = (step: string, index: number) => step === given[index] || (step.startsWith('{') && given[index] !== '')
    if (expected.every(fits)) return template
  }
  return undefined
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
  const node = pointer
    .slice(1)
    .split('/')
    .reduce((at: Json, step: string) => at[stepOf(step)], document)
  return typeof node.$ref === 'string' ? node.$ref.slice(1) : pointer
}

function pointerStep(step: string): string {
  return encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))
}

function stepOf(step: string): string {
  return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
}
