import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Finding } from 'resourced-compare'
import { declarationSchema } from 'resourced-contract/model/structure/declaration-schema'
import { stringify } from 'yaml'
import { commandFile } from '../../../../test/command-file.ts'
import { openApiDocument } from '../documents/openapi.ts'
import { loadCatalog } from './load-declaration.ts'

const example = (name: string) => fileURLToPath(new URL(`../../../../examples/${name}/resources.yaml`, import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'resourced-changes-'))
after(() => rmSync(folder, { recursive: true }))

interface Ended {
  readonly code: number
  readonly out: string
  readonly said: string
}

/** Runs `resourced check-changes`. */
function checked(...given: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [commandFile, 'check-changes', ...given], { maxBuffer: 1e8 }, (error, out, said) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, said })
    })
  })
}

function written(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

/** An example with some of its text replaced. */
function copy(name: string, as: string, ...changes: readonly [from: string, to: string][]): string {
  const text = changes.reduce(
    (text, [from, to]) => {
      assert.ok(text.includes(from), `${name} has ${from}`)
      return text.replace(from, to)
    },
    readFileSync(example(name), 'utf8'),
  )
  return written(as, text)
}

describe('check-changes on the examples (VER-5)', () => {
  test('the same interface in TypeScript and as data has no differences', async () => {
    const module = fileURLToPath(new URL('../../../../examples/studio/resources.ts', import.meta.url))
    assert.deepEqual(await checked(module, example('studio')), {
      code: 0,
      out: 'No difference that clients could notice.\n',
      said: '',
    })
  })

  test('additions exit with 0 and are listed', async () => {
    const newer = copy('atlas', 'more.yaml', [
      '    access:',
      '      motto: { type: string, optional: true }\n    access:',
    ])
    const { code, out } = await checked(example('atlas'), newer)
    assert.equal(code, 0)
    assert.match(
      out,
      /^countries\n\n {2}compatible {2}the field motto is new in requests and responses \(spec 9\.4\)$/m,
    )
    assert.match(out, /^0 breaking, 0 to review, 1 compatible\.$/m)
  })

  test('breaking changes exit with 1, and say what breaks, where, and what to do', async () => {
    const newer = copy(
      'studio',
      'less.yaml',
      ['      estimate: { type: integer, minimum: 0, filter: true, optional: true }\n', ''],
      ['[open, doing, done]\n', '[open, doing, done, lost]\n'],
      ['      read: ["role:admin", owner, { where: { visibility: public } }]', '      read: ["role:admin", owner]'],
    )
    const { code, out } = await checked(example('studio'), newer)
    assert.equal(code, 1)
    assert.match(out, / {2}breaking {4}the field estimate is gone from requests and responses \(spec 9\.3, VER-5\)\n/)
    assert.match(out, /in GET \/v1\/projects\/\{id\}\/tasks, POST \/v1\/projects\/\{id\}\/tasks, GET .* more\n/)
    assert.match(out, /at \/components\/schemas\/Task\/properties\/estimate of the old document\n/)
    assert.match(out, /→ Bring it back \(a field renamed is one gone/)
    assert.match(out, /the parameters estimate, estimate\[gt\], .* gone/s)
    assert.match(out, /the field status has the value lost too in responses/)
    assert.match(out, /at \/resources\/projects\/access\/read of the new declaration\n/)
    assert.deepEqual(
      out.split('\n').filter((line) => line.length > 100),
      [],
    )
  })

  test('changes that need a review fail with --strict only', async () => {
    const newer = copy('studio', 'default.yaml', ['default: private', 'default: public'])
    assert.equal((await checked(example('studio'), newer)).code, 0)
    const { code, out } = await checked(example('studio'), newer, '--strict')
    assert.equal(code, 1)
    assert.match(out, /review {6}the default of the field visibility changed from private to public/)
  })

  test('--format json prints data', async () => {
    const newer = copy('studio', 'short.yaml', ['maxLength: 200, search', 'maxLength: 100, search'])
    const { code, out } = await checked(example('studio'), newer, '--format', 'json')
    assert.equal(code, 1)
    const { findings, ...counts } = JSON.parse(out) as { findings: Finding[] }
    assert.deepEqual(counts, { breaking: 1, review: 0, compatible: 0 })
    assert.deepEqual(findings[0], {
      severity: 'breaking',
      rule: 'spec 9.3, VER-5',
      kind: 'limit-narrowed',
      version: 'v1',
      field: 'title',
      keyword: 'maxLength',
      before: 200,
      after: 100,
      direction: 'request',
      resources: ['tasks'],
      operations: ['POST /v1/projects/{id}/tasks', 'POST /v1/tasks', 'PUT /v1/tasks/{id}', 'PATCH /v1/tasks/{id}'],
      places: [
        { in: 'old', of: 'openapi', pointer: '/components/schemas/TaskCreateNested/properties/title' },
        { in: 'new', of: 'openapi', pointer: '/components/schemas/TaskCreateNested/properties/title' },
      ],
      message: 'the field title is narrower in requests: maxLength 200 → 100',
      remedy: 'Keep accepting what was accepted before, or make a new version.',
    })
  })
})

test('a document in JSON or YAML can be compared with the declaration that it was generated from (VER-5)', async () => {
  const document = openApiDocument(await loadCatalog(example('atlas')))
  const json = written('atlas.json', JSON.stringify(document))
  const yaml = written(
    'atlas-document.yaml',
    stringify(JSON.parse(JSON.stringify(document)), { aliasDuplicateObjects: false }),
  )
  for (const [old, now] of [
    [json, example('atlas')],
    [example('atlas'), json],
    [yaml, json],
  ] as const) {
    assert.deepEqual(await checked(old, now), { code: 0, out: 'No difference that clients could notice.\n', said: '' })
  }
  const older = copy('atlas', 'older.yaml', ['pattern: "^[A-Z]{2}$", filter: true', 'filter: true'])
  const { code, out } = await checked(older, yaml)
  assert.equal(code, 1)
  assert.match(out, /the field code is narrower in requests: pattern \^\[A-Z\]\{2\}\$, none before/)
})

describe('input that cannot be compared exits with 2 and a sentence, without a stack (VER-5)', () => {
  const post = (schema: string) =>
    `{"openapi":"3.1.0","paths":{"/a":{"post":{"requestBody":{"content":{"application/json":{"schema":${schema}}}}}}}}`
  const cases: [name: string, text: string, said: RegExp][] = [
    ['nothing.yaml', 'name: x', /resources/],
    ['syntax.yaml', 'openapi: 3.1.0\npaths: [', /line 2, column \d+: this is not YAML/],
    ['twice.yaml', 'openapi: 3.1.0\npaths: {}\npaths: {}\n', /line 3, column 1: this key is there twice/],
    ['twice.json', '{"openapi":"3.1.0",\n"paths":{},"paths":{}}', /line 2, column 12: the key "paths" is there twice/],
    ['swagger.json', '{"swagger":"2.0"}', /Swagger 2\. Convert it/],
    ['four.json', '{"openapi":"4.0.0"}', /must name a version 3\.0 or 3\.1/],
    ['file.json', post('{"$ref":"other.json#/a"}'), /\/schema refers to another document, other\.json#\/a, which is not read/],
    ['address.json', post('{"$ref":"http://169.254.169.254/x"}'), /refers to another document/],
    ['nowhere.json', post('{"$ref":"#/components/schemas/A"}'), /refers to #\/components\/schemas\/A, which is not in the document/],
    ['prototype.json', post('{"$ref":"#/__proto__"}'), /which is not in the document/],
    ['itself.json', post('{"$ref":"#/paths/~1a/post/requestBody/content/application~1json/schema"}'), /refers to itself/],
    ['number.json', '{"openapi":"3.1.0","paths":{"/a":{"get":7}}}', /\/paths\/~1a\/get must be an object/],
    ['deep.json', `{"openapi":"3.1.0","x":${'['.repeat(500_000)}${']'.repeat(500_000)}}`, /nested deeper than 200 levels/],
    ['circle.yaml', 'openapi: 3.1.0\npaths: &a\n  b: *a\n  c: *a\n', /more than 5000000 objects/],
  ] // biome-ignore format: one row reads best
  for (const [name, text, expected] of cases) {
    test(name, async () => {
      const file = written(name, text)
      const { code, out, said } = await checked(file, file)
      assert.equal(code, 2)
      assert.equal(out, '')
      assert.match(said, expected)
      assert.match(said, new RegExp(name.replace('.', '\\.')))
      assert.doesNotMatch(said, /\n\s+at /)
    })
  }

  test('a missing file, and one argument only', async () => {
    assert.equal((await checked(join(folder, 'none.yaml'), example('atlas'))).code, 2)
    assert.equal((await checked(example('atlas'))).code, 2)
    assert.equal((await checked('--help')).code, 0)
  })
})

test('resourced schema prints the JSON Schema of declarations', async () => {
  const printed = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, [commandFile, 'schema'], (error, out) => (error ? reject(error) : resolve(out)))
  })
  assert.deepEqual(JSON.parse(printed), declarationSchema())
})
