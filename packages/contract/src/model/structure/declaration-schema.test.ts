/** What the JSON language service of editors makes of the JSON Schema: completions and mistakes. */
import assert from 'node:assert/strict'
import { glob, readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import languageService, { type JSONSchema } from 'vscode-json-languageservice'
import { parse } from 'yaml'
import { allMistakes, spoil } from '../../../../../test/mistakes/all.ts'
import { completeCatalog } from '../catalog.ts'
import { checkDeclaration } from '../check/check-declaration.ts'
import { Part } from '../check/parts.ts'
import { checkStructure } from '../check/structure.ts'
import type { ChangeDeclaration, DeletionDeclaration, InterfaceDeclaration } from '../declaration.ts'
import { isFieldWord } from '../field.ts'
import { keywords } from '../keywords.ts'
import { ajv } from '../schema.ts'
import { formats } from '../schema-keywords.ts'
import { type Node, objectOf } from '../structure-node.ts'
import { studio } from '../studio.fixture.ts'
import { declarationSchema, parts, resolve, root } from './declaration-schema.ts'

// The service changes the schema: it replaces references by what they mean.
const schema = declarationSchema() as JSONSchema
const { getLanguageService, TextDocument } = languageService
const service = getLanguageService({})
service.configure({ schemas: [{ uri: 'declaration.schema.json', fileMatch: ['*.json'], schema }] })

function open(text: string) {
  const document = TextDocument.create('file:///resources.json', 'json', 1, text)
  return { document, json: service.parseJSONDocument(document) }
}

/** The completions at the place of `|`. */
async function completions(text: string): Promise<ReadonlyMap<string, unknown>> {
  const { document, json } = open(text.replace('|', ''))
  const list = await service.doComplete(document, document.positionAt(text.indexOf('|')), json)
  return new Map(list?.items.map((each) => [each.label, each.documentation]))
}

async function mistakesOf(declaration: unknown): Promise<string[]> {
  const { document, json } = open(JSON.stringify(declaration))
  return (await service.doValidation(document, json)).map(({ message }) => String(message))
}

const resource = (text: string) => `{ "name": "a", "resources": { "tasks": { ${text} } } }`
const inField = (text: string) => resource(`"fields": { "a": { ${text} } }`)

describe('an editor completes, with a description', () => {
  const cases: readonly [name: string, text: string, ...labels: string[]][] = [
    ['the declaration', '{ | }', 'name', 'resources', 'versions', 'versionCarriers', 'changes', 'limits', '$schema'],
    ['a resource', resource('|'), 'fields', 'owner', 'within', 'unique', 'deletion', 'access', 'rules', 'maxAge'],
    ['a field', inField('|'), 'type', 'enum', 'reference', 'onDelete', 'optional', 'minLength', 'precision', '$defs'],
    ['a reference', inField('"reference": "tasks", |'), 'onDelete', 'optional', 'immutable'],
    ['a decimal', inField('"type": "decimal", |'), 'precision', 'scale', 'minimum', 'multipleOf'],
    ['an enum', inField('"enum": ["open"], |'), 'default', 'transitions', 'filter'],
    ['a type', inField('"type": |'), '"string"', '"decimal"', '"array"'],
    ['a format', inField('"type": "string", "format": |'), '"date"', '"date-time"', '"email"'],
    ['an inner schema', inField('"type": "array", "items": { | }'), 'type', 'properties', 'enum', 'maxLength'],
    ['access', resource('"access": { | }'), 'read', 'create', 'update', 'delete', 'restore', 'readDeleted'],
    ['an access rule', resource('"access": { "read": | }'), '"anyone"', '"nobody"', '"owner"'],
    ['rules of an array', resource('"access": { "read": ["owner", | ] }'), '"anyone"', '"nobody"', '"role:admin"'],
    ['a rule that is an object', resource('"access": { "read": { | } }'), 'where', 'through', 'action'],
    ['a condition', resource('"access": { "read": { "where": { | } } }'), 'and', 'or', 'not'],
    ['a comparison', resource('"access": { "read": { "where": { "a": { | } } } }'), 'gt', 'in', 'null', 'caller'],
    ['deletion', resource('"deletion": { | }'), 'variant', 'gracePeriod', 'asynchronous', 'bulk', 'byFilter'],
    ['variants', resource('"deletion": { "variant": | }'), '"soft"', '"hard"'],
    ['bulk', resource('"deletion": { "bulk": { | } }'), 'max'],
    ['a business rule', resource('"rules": [{ | }]'), 'on', 'code', 'message', 'unless'],
    ['its condition', resource('"rules": [{ "on": "delete", "unless": { | } }]'), 'none', 'some', 'where'],
    ['a version', '{ "versions": { "v1": { | } } }', 'deprecated', 'sunset', 'afterSunset', 'guide'],
    ['carriers', '{ "versionCarriers": [ | ] }', '"path"', '"header"', '"media-type"', '"query"'],
    ['a change', '{ "changes": [{ | }] }', 'version', 'resource', 'was', 'rename', 'add', 'remove', 'convert'],
    ['limits', '{ "limits": { | } }', 'pageSize', 'rate', 'keys', 'bodyBytes', 'pageBytes', 'readTime', 'exports'],
  ]
  for (const [name, text, ...labels] of cases) {
    test(name, async () => {
      const found = await completions(text)
      const missing = labels.filter((label) => !found.has(label))
      assert.deepEqual(missing, [], `found ${[...found.keys()].join(' ')}`)
      for (const label of labels.filter((each) => !each.startsWith('"'))) assert.ok(found.get(label), label)
    })
  }
})

test('every example declaration is without mistakes', async () => {
  const files = await Array.fromAsync(glob('examples/*/resources.yaml'))
  assert.ok(files.length >= 2)
  for (const file of files) assert.deepEqual(await mistakesOf(parse(await readFile(file, 'utf8'))), [], file)
  assert.deepEqual(await mistakesOf(studio()), [])
})

/** All schemas within a schema, with their names. */
function* within(node: Node, path: string): Generator<[path: string, node: Node]> {
  yield [path, node]
  for (const [key, each] of Object.entries(node.properties ?? {})) yield* within(each, `${path}.${key}`)
  for (const each of [node.items, node.additionalProperties || undefined, ...(node.anyOf ?? [])]) {
    if (each !== undefined) yield* within(each, `${path}[]`)
  }
}

const all = [...within(root, ''), ...Object.entries(parts).flatMap(([name, node]) => [...within(node, name)])]

test('examples and defaults fit the schemas that they belong to', async () => {
  for (const [path, { examples = [], default: standard, ...node }] of all) {
    for (const value of [...examples, ...(standard === undefined ? [] : [standard])]) {
      const { document, json } = open(JSON.stringify(value))
      const found = await service.doValidation(
        document,
        json,
        {},
        structuredClone({ ...node, $defs: declarationSchema()['$defs'] }) as never,
      )
      assert.deepEqual(found, [], `${path}: ${JSON.stringify(value)}`)
    }
  }
})

/** Whether the checks find a mistake by the structure alone. */
function isBroken(declaration: unknown): boolean {
  const part = new Part(declaration)
  checkStructure(part, root)
  for (const [, resource] of part.key('resources').entries()) {
    for (const [, each] of resource.key('fields').entries()) checkStructure(each, parts['field'] as Node)
  }
  return part.findings.length > 0
}

test('an editor finds each mistake of people that the checks find by the structure, and more', async () => {
  const found = { byChecks: 0, byEditor: 0 }
  for (const { name, at, write } of allMistakes) {
    const declaration = studio()
    for (const [place, value] of Object.entries(typeof at === 'string' ? { [at]: write } : at)) {
      spoil(declaration, place, value)
    }
    const mistakes = await mistakesOf(declaration)
    if (mistakes.length > 0) found.byEditor++
    if (!isBroken(declaration)) continue
    found.byChecks++
    assert.notDeepEqual(mistakes, [], name)
  }
  assert.ok(found.byChecks >= 60 && found.byEditor >= 120, JSON.stringify(found))
})

test('the schema is a JSON Schema of draft 2020-12, and every key has a description', () => {
  assert.equal(ajv.validateSchema({ ...declarationSchema() }), true)
  // The keys in a branch repeat those beside it, with other types.
  for (const [path, node] of all.filter(([path]) => !path.includes('field[]'))) {
    for (const [key, each] of Object.entries(node.properties ?? {})) {
      assert.match(resolve(each).description ?? '', /\.$/, `${path}.${key}`)
    }
  }
})

test('the formats are those that are checked', () => {
  assert.deepEqual([...formats].sort(), Object.keys(ajv.formats).sort())
})

test('the words of fields are the keys that are no keywords of JSON Schema', () => {
  const words = Object.keys(parts['field']?.properties ?? {}).filter((key) => !parts['schema']?.properties?.[key])
  assert.deepEqual(words, Object.keys(keywords))
  // A decimal's precision and scale are in its schema, as if JSON Schema had decimals.
  assert.deepEqual(
    words.filter((word) => !isFieldWord(word)),
    ['precision', 'scale'],
  )
})

test('the defaults are those that the server has', () => {
  const deletion = Object.fromEntries(
    Object.entries(parts['deletion']?.properties ?? {}).flatMap(([key, { default: value }]) =>
      value === undefined ? [] : [[key, value]],
    ),
  ) as DeletionDeclaration
  const catalogOf = (more: object) =>
    completeCatalog({ name: 'a', resources: { notes: { fields: { text: { type: 'string' } }, ...more } } })
  const complete = (more: object) => catalogOf(more).resources.get('notes')
  assert.deepEqual(complete({ deletion })?.deletion, complete({})?.deletion)
  assert.deepEqual(complete({ preconditions: 'optional', maxAge: 0 })?.preconditions, complete({})?.preconditions)
  const { onDelete, requires } = parts['field']?.properties ?? {}
  const referenceOf = (more: object) =>
    complete({ fields: { note_id: { reference: 'notes', optional: true, ...more } } })?.field.get('note_id')?.reference
  const declared = { onDelete: onDelete?.default, requires: requires?.default }
  assert.deepEqual(referenceOf(declared), { collection: 'notes', ...declared })
  assert.deepEqual(referenceOf({}), referenceOf(declared))
})

test('a schema has exactly the keys of its type', () => {
  const node = { description: 'A name.' }
  const all = { was: node, collection: node, rename: node, add: node, remove: node, convert: node }
  objectOf<ChangeDeclaration>('A change.', { version: node, resource: node }, all, {})
  // @ts-expect-error a key that the type requires is missing
  objectOf<ChangeDeclaration>('A change.', { version: node }, all, {})
  const { was: _, ...fewer } = all
  // @ts-expect-error a key that the type allows is missing
  objectOf<ChangeDeclaration>('A change.', { version: node, resource: node }, fewer, {})
  // @ts-expect-error the type has no such key
  objectOf<ChangeDeclaration>('A change.', { version: node, resource: node, other: node }, all, {})
})

test('$schema is allowed and changes nothing', () => {
  const plain: InterfaceDeclaration = { name: 'a', resources: { notes: { fields: { text: { type: 'string' } } } } }
  const data = (value: unknown) => JSON.stringify(value)
  assert.deepEqual(checkDeclaration({ $schema: './schema.json', ...plain }), [])
  assert.equal(data(completeCatalog({ $schema: './schema.json', ...plain })), data(completeCatalog(plain)))
})
