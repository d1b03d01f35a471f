/** DOC: documents. */

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { type Case, type Expectation, NotSetUp, type Observations, type Part } from '../case/case.ts'
import { common, define } from '../case/define.ts'
import { answerOf, everyAnswerOf, finding, short } from '../case/expect.ts'
import { changed, list, made, one, read, removed } from '../case/names.ts'
import { collection, configured, mark, Reference } from '../case/references.ts'
import { asNobody, body, create, forEachCollection, setUp } from '../case/steps.ts'
import { type Answer, type Asked, type Exchange, fieldOf, jsonOf } from '../client/exchange.ts'
import { basePath } from '../profile/profile.ts'
import { addDecimalMultiples } from '../values/generate.ts'
import { isObject, type JsonObject, memberPointer, objectOf, valueAt } from '../values/json.ts'
import { parseText, serverPaths } from '../values/openapi.ts'

const [documentStep, absent, malformed, unknown] = Reference.named('document', 'absent', 'malformed', 'unknown')

const document = setUp(documentStep.get(configured.documentAddress))

function documentIn(seen: Observations): ServerDocument {
  const described = parseDocument(seen.of(documentStep))
  if (described === undefined) throw new NotSetUp('the document cannot be read')
  return described
}

/** Every response of the step matches the document. */
function fits(step: Reference): Expectation {
  return everyAnswerOf(step, (answer, seen, exchange) => {
    const [described, base] = [documentIn(seen), basePath(seen.profile)]
    const isOther = step === list && documentedPath(described, new URL(exchange.asked.url).pathname, base) === undefined
    // DOC-1/collections judges which ones the document leaves out.
    const mismatch = isOther ? undefined : mismatchWith(described, exchange.asked, answer, base)
    return mismatch && finding(exchange, mismatch.part, mismatch.message)
  })
}

const keepTrue = 'Change the document or the answer: make one from the other, and compare them in your tests.'

export const documents: readonly Case[] = [
  ...define({
    'DOC-1/there': {
      title: 'There is an OpenAPI document of version 3',
      steps: [documentStep.get(configured.documentAddress)],
      expect: [
        answerOf(documentStep, (_, __, exchange) => {
          const described = parseDocument(exchange)
          if (described === undefined) return 'no JSON or YAML object'
          const version = valueAt(described.root, '/openapi')
          if (/^3\.\d/.test(String(version)) && valueAt(described.root, '/paths') !== undefined) return undefined
          return finding(exchange, { pointer: '/openapi' }, `${short(version)} in place of 3.x, with paths`)
        }),
      ],
      remedy: 'Describe the interface in OpenAPI 3.1, and serve the document beside it.',
    },
    'DOC-1/collections': {
      title: 'The document describes every collection',
      after: ['DOC-1/there'],
      steps: [document],
      expect: [
        (seen) => {
          const described = documentIn(seen)
          const base = basePath(seen.profile)
          const missing = seen.profile.collections
            .map(({ path }) => base + path)
            .filter((path) => [path, `${path}/`].every((each) => documentedPath(described, each, base) === undefined))
          if (missing.length === 0) return undefined
          return finding(seen.of(documentStep), { pointer: '/paths' }, `no path for ${missing.join(', ')}`)
        },
      ],
      remedy: 'Make the document from what is served, and serve nothing that it leaves out.',
    },
    'DOC-1/references': {
      title: 'All references in the document resolve',
      after: ['DOC-1/there'],
      steps: [document],
      expect: [
        (seen) => {
          const [first, ...others] = unresolvedReferences(documentIn(seen))
          if (first === undefined) return undefined
          return finding(seen.of(documentStep), 'body', `${first} leads nowhere, as do ${others.length} more`)
        },
      ],
      remedy: 'Check the document with a linter, such as Redocly or Spectral, before it is published.',
    },
  }),
  ...common({ after: ['DOC-1/there'], prepare: [document], remedy: keepTrue }).define({
    'DOC-1/reads': {
      title: 'The lists of all collections, and a record, match the document',
      needsOnly: ['document', 'create', 'list', 'read'],
      steps: [create(one), forEachCollection(list.get(collection)), read.get(one)],
      expect: [list, read].map(fits),
    },
    'DOC-1/least': {
      title: 'A record with the required members alone matches the document',
      needsOnly: ['document', 'create', 'read', 'optional'],
      after: ['DOC-1/reads'],
      steps: [create(one), setUp(made.post(collection, body.least)), read.get(made)],
      expect: [fits(read)],
    },
    'DOC-1/writes': {
      title: 'The responses to a creation, a change and a deletion match the document',
      needsOnly: ['document', 'create', 'changing', 'change', 'delete'],
      steps: [create(one), changed.change(one), removed.delete(one)],
      expect: [one, changed, removed].map(fits),
    },
    'DOC-1/errors': {
      title: 'Errors and their statuses match the document',
      needsOnly: ['document', 'create', 'list', 'read'],
      steps: [
        absent.get(`${collection}/no-such-${mark}`),
        malformed.post(collection, body.text('{"no-such')),
        unknown.get(collection, asNobody),
      ],
      expect: [absent, malformed, unknown].map(fits),
    },
  }),
]

export interface ServerDocument {
  readonly root: JsonObject
  /** Its address, to which relative addresses in it refer. */
  readonly url: string
}

export interface Mismatch {
  readonly part: Part
  readonly message: string
}

/** The document in a response, JSON or YAML; `undefined` if the response holds none. */
export function parseDocument({ asked, answer }: Exchange): ServerDocument | undefined {
  if (answer === undefined || answer.status !== 200) return undefined
  // Every case fetches the document again. The text is parsed once.
  if (last?.text !== answer.body) last = { text: answer.body, root: parseText(answer.body) }
  const { root } = last
  return isObject(root) ? { root, url: asked.url } : undefined
}

let last: { readonly text: string; readonly root: unknown } | undefined

/** All references of a document without a target in it, except references to other files. */
export function unresolvedReferences({ root }: ServerDocument): string[] {
  const dead = new Set<string>()
  const look = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { $ref } = node as { $ref?: unknown }
    if (typeof $ref === 'string' && $ref.startsWith('#') && at(root, $ref) === undefined) dead.add($ref)
    for (const each of Object.values(node)) look(each)
  }
  look(root)
  return [...dead]
}

/** The pointer of the path item for a path from the root of the server; `undefined` if there is none. */
export function documentedPath({ root, url }: ServerDocument, path: string, base: string): string | undefined {
  const paths = valueAt(root, '/paths')
  if (typeof paths !== 'object' || paths === null) return undefined
  const candidates = Object.entries(paths).flatMap(([template, item]) =>
    [...serverPaths('servers' in objectOf(item) ? objectOf(item) : root, url), base, '']
      .filter((prefix) => hasForm(prefix + template, path))
      .map(() => ({ template, open: template.split('{').length })),
  )
  // The template with the fewest parameters wins.
  const [best] = candidates.sort((one, other) => one.open - other.open)
  return best && `/paths${memberPointer(best.template)}`
}

function hasForm(template: string, path: string): boolean {
  const [wanted, given] = [template, path].map((text) => text.split('/'))
  if (wanted?.length !== given?.length) return false
  return (
    wanted?.every((step, index) => step === given?.[index] || (step.includes('{') && given?.[index] !== '')) === true
  )
}

/** How a response differs from the document; `undefined` if it does not. */
export function mismatchWith(
  described: ServerDocument,
  asked: Asked,
  answer: Answer,
  base: string,
): Mismatch | undefined {
  const { root } = described
  const path = new URL(asked.url).pathname
  const item = documentedPath(described, path, base)
  if (item === undefined) return { part: 'status', message: `the document has no path for ${path}` }
  const operation = `${item}/${asked.method.toLowerCase()}`
  if (valueAt(root, operation) === undefined) {
    return { part: 'status', message: `the document has no ${asked.method} of ${path}` }
  }
  const { status, body } = answer
  const names = [String(status), `${Math.floor(status / 100)}XX`, 'default']
  const found = names.map((name) => resolved(root, `${operation}/responses/${name}`)).find((each) => each !== undefined)
  if (found === undefined) {
    return { part: 'status', message: `the document has no response ${status} to ${asked.method} of ${path}` }
  }
  if (body === '') return undefined
  const type = fieldOf(answer, 'Content-Type') ?? ''
  const kinds = valueAt(root, `${found}/content`)
  if (typeof kinds !== 'object' || kinds === null || Object.keys(kinds).length === 0) {
    return { part: 'body', message: `the document has no body for ${status}` }
  }
  const kind = Object.keys(kinds).find((each) => isOfKind(type, each))
  if (kind === undefined) {
    return { part: { field: 'Content-Type' }, message: `${type} is not among ${Object.keys(kinds).join(', ')}` }
  }
  const schema = `${found}/content${memberPointer(kind)}/schema`
  const value = jsonOf(answer)
  if (value === undefined || valueAt(root, schema) === undefined) return undefined
  const validate = validatorOf(root, schema)
  if (validate === undefined || validate(value)) return undefined
  const [first] = validate.errors ?? []
  const place = first?.instancePath ?? ''
  return { part: place === '' ? 'body' : { pointer: place }, message: `${place || 'the body'} ${first?.message}` }
}

function isOfKind(type: string, described: string): boolean {
  const [left, right] = [type, described].map((each) => each.split(';')[0]?.trim().toLowerCase() ?? '')
  return (
    left === right ||
    right === '*/*' ||
    (right?.endsWith('/*') === true && left?.startsWith(right.slice(0, -1)) === true)
  )
}

function at(root: unknown, reference: string): unknown {
  return valueAt(root, decodeURIComponent(reference.slice(1)))
}

/** The pointer of the target of a reference at a pointer; of other values the pointer itself. */
function resolved(root: unknown, pointer: string, steps = 0): string | undefined {
  const node = valueAt(root, pointer)
  const reference = valueAt(node, '/$ref')
  if (typeof reference !== 'string' || !reference.startsWith('#') || steps > 10)
    return node === undefined ? undefined : pointer
  return resolved(root, decodeURIComponent(reference.slice(1)), steps + 1)
}

interface Reader {
  readonly ajv: Ajv2020
  readonly validators: Map<string, ValidateFunction | undefined>
}

const readers = new WeakMap<object, Reader>()

/** A validator for the schema at a pointer; `undefined` if the schema is invalid. */
function validatorOf(root: object, pointer: string): ValidateFunction | undefined {
  const { ajv, validators } = readers.get(root) ?? { ajv: readerOf(root), validators: new Map() }
  readers.set(root, { ajv, validators })
  if (!validators.has(pointer)) {
    let validate: ValidateFunction | undefined
    try {
      validate = ajv.compile({ $ref: `document#${encodeURI(pointer)}` })
    } catch {
      // Linters report invalid schemas. The checker reports responses.
    }
    validators.set(pointer, validate)
  }
  return validators.get(pointer)
}

function readerOf(root: object): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, unicodeRegExp: false, logger: false })
  formats.default(ajv)
  addDecimalMultiples(ajv)
  const isOlder = String(valueAt(root, '/openapi')).startsWith('3.0')
  ajv.addSchema(isOlder ? (modern(root) as object) : root, 'document')
  return ajv
}

/** A schema of OpenAPI 3.0 as JSON Schema 2020-12. */
function modern(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(modern)
  if (typeof node !== 'object' || node === null) return node
  const { nullable, ...rest } = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, modern(value)]))
  for (const [bound, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (typeof rest[exclusive] !== 'boolean') continue
    if (rest[exclusive]) {
      rest[exclusive] = rest[bound]
      delete rest[bound]
    } else delete rest[exclusive]
  }
  if (nullable === true) return { anyOf: [{ type: 'null' }, rest] }
  return nullable === undefined || typeof nullable === 'boolean' ? rest : { ...rest, nullable }
}
