import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { completeVersions } from '../versions/versions.ts'
import { pagesLine, versionLines } from './serve.ts'

const origin = 'https://localhost:8443'

function lines(
  versions: InterfaceDeclaration['versions'],
  day: string,
  versionCarriers: NonNullable<InterfaceDeclaration['versionCarriers']> = ['path'],
): string[] {
  const declaration = { name: 'notes', resources: { notes: { fields: {} } }, versions: versions ?? {}, versionCarriers }
  return versionLines(completeVersions(declaration), origin, Date.parse(day))
}

const ending = { v1: { deprecated: '2026-09-01', sunset: '2027-06-01' }, v2: {} }

test('one version has no lines', () => assert.deepEqual(lines({ v1: {} }, '2026-01-01'), []))

test('each line has the address and the end of a version', () => {
  assert.deepEqual(lines(ending, '2026-08-31'), [
    `  v1: ${origin}/v1 (deprecated from 2026-09-01, retired from 2027-06-01)`,
    `  v2: ${origin}/v2 (current)`,
  ])
  assert.match(lines(ending, '2026-09-01')[0] ?? '', /\(deprecated since 2026-09-01, retired from 2027-06-01\)/)
  assert.match(lines(ending, '2027-06-01')[0] ?? '', /\(retired since 2027-06-01: 410\)/)
  assert.match(lines({ v1: { sunset: '2027-06-01' }, v2: {} }, '2026-01-01')[0] ?? '', /v1 \(retired from 2027-06-01\)/)
  assert.equal(lines({ v1: {}, v2: {} }, '2026-01-01')[0], `  v1: ${origin}/v1`)
})

test('without the path as a carrier, each line has the other carriers', () => {
  assert.deepEqual(lines({ v1: {}, v2: {} }, '2026-01-01', ['header', 'query']), [
    `  v1: ${origin}/, with API-Version: v1 or ?version=v1`,
    `  v2: ${origin}/, with API-Version: v2 or ?version=v2 or without (current)`,
  ])
})

test('a line has the addresses of the pages, under the base path, and without a console that is off', () => {
  const declaration = { name: 'notes', resources: { notes: { fields: {} } } }
  const versions = completeVersions(declaration, '/api')
  assert.equal(pagesLine(versions, origin, 'on'), `In a browser: ${origin}/api/console and ${origin}/api/docs`)
  assert.equal(pagesLine(versions, origin, 'off'), `In a browser: ${origin}/api/docs`)
})
