/** The reference of the JavaScript API names everything that the package exports. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

test('docs/reference/javascript-api.md names every export and every option of an application', () => {
  const page = read('docs/reference/javascript-api.md')
  const entries = read('packages/server/src/index.ts') + read('packages/client/src/index.ts')
  const exported = [...entries.matchAll(/export (?:type )?(?:\{([^}]*)\}|\* as (\w+))/g)]
  const names = exported.flatMap(([, list, whole]) => whole ?? list?.match(/\b(?!type\b)\w+/g) ?? [])
  assert.ok(names.length > 40, String(names))
  const options =
    /export interface AppOptions[^{]*\{([\s\S]*?)\n\}/.exec(read('packages/server/src/server/create-app.ts'))?.[1] ?? ''
  const keys = [...options.matchAll(/^ {2}readonly (\w+)/gm)].map(([, key]) => key as string)
  assert.ok(keys.includes('basePath'), String(keys))
  assert.deepEqual(
    [...names, ...keys].filter((name) => !new RegExp(`\`[^\`]*\\b${name}\\b[^\`]*\``).test(page)),
    [],
  )
})
