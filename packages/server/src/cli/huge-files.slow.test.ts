/** Declarations and files of absurd size end within seconds, with one sentence. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { Resource } from 'resourced-contract/model/resource'
import { sentenceOf } from 'resourced-contract/spec/faults'
import { Columns } from '../jobs/column-map.ts'
import { readRecords } from '../jobs/read-records.ts'
import { DeclarationError, loadDeclaration } from './load-declaration.ts'
import { readYaml } from './read-yaml.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-huge-'))
after(() => rmSync(folder, { recursive: true }))

const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, n) => line(n)).join('')

const files: [string, () => string, RegExp][] = [
  ['many.yaml', () => `name: a\nresources:\n${lines(80_000, (n) => `  r${n}s: { fields: { a: { type: string } } }\n`)}`, /YAML of more than a megabyte/],
  ['empty.yaml', () => `name: a\nresources:\n${lines(60_000, (n) => `  r${n}s: {}\n`)}`, /more than 500 collections/],
  ['flow.yaml', () => `name: a\nresources: {${lines(60_000, (n) => `r${n}s: 1, `)}}\n`, /more than 500 collections/],
  ['many.json', () => `{"name":"a","resources":{${lines(80_000, (n) => `"r${n}s":{},`)}"last":{}}}`, /more than 500 collections/],
  ['fields.json', () => `{"name":"a","resources":{"as":{"fields":{${lines(60_000, (n) => `"f${n}":{"type":"string"},`)}"last":{"type":"string"}}}}}`, /more than 500 fields/],
  ['deep.yaml', () => `name: a\nresources: ${'['.repeat(100_000)}\n`, /./],
  ['deep.json', () => `{"name":"a","resources":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`, /./],
] // biome-ignore format: one row a case
for (const [name, text, message] of files) {
  test(`${name} is refused within seconds`, async () => {
    const file = join(folder, name)
    writeFileSync(file, text())
    const started = performance.now()
    await assert.rejects(loadDeclaration(file), (error: Error) => {
      assert.ok(error instanceof DeclarationError)
      assert.match(error.message, message)
      assert.ok(error.message.length < 20_000, String(error.message.length))
      return true
    })
    assert.ok(performance.now() - started < 20_000)
  })
}

test('duplicate keys in YAML are reported with their places', () => {
  const { problems } = readYaml('a: 1\nb: { c: 1, c: 2 }\n"a": 2\n')
  assert.deepEqual(
    problems.map(({ path, message }) => `${path}: ${message}`),
    ['line 3, column 1: This key is there twice.', 'line 2, column 12: This key is there twice.'],
  )
})

const { resources } = completeCatalog({
  name: 'notes',
  resources: { notes: { fields: { text: { type: 'string' }, more: { type: 'string', optional: true } } } },
})

async function readAll(text: string) {
  const bytes = (async function* () {
    yield Buffer.from(text)
  })()
  const found = []
  const options = { mostBytes: 1_048_576 }
  for await (const record of readRecords(bytes, 'csv', new Columns(resources.get('notes') as Resource), options))
    found.push(record)
  return found
}

test('a CSV file with a million columns is refused within seconds', async () => {
  const started = performance.now()
  const [record, ...others] = await readAll(`${lines(1_000_000, (n) => `c${n},`)}\n1,2\n`)
  assert.ok(performance.now() - started < 10_000)
  assert.deepEqual(others, [])
  assert.ok(record !== undefined && 'issues' in record)
  assert.match(record.issues.map(sentenceOf)[0] ?? '', /first row is longer than 100000 bytes/)
})

test('a row with a million cells is refused within seconds, after the rows before it are read', async () => {
  const started = performance.now()
  const records = await readAll(`text,more\na,b\n${'1,'.repeat(2_000_000)}\n`)
  assert.ok(performance.now() - started < 20_000)
  const [first, last, ...others] = records
  assert.deepEqual([first, others], [{ line: 2, value: { text: 'a', more: 'b' }, size: 4 }, []])
  assert.ok(last !== undefined && 'issues' in last && last.final)
})

test('the first of many wrong columns are reported', async () => {
  const [record] = await readAll(`${lines(1_000, (n) => `c${n},`)}text\n`)
  assert.ok(record !== undefined && 'issues' in record)
  assert.equal(record.issues.length, 21)
  assert.equal(record.issues.map(sentenceOf).at(-1), 'There are 981 more columns.')
})
