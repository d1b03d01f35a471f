import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { studio, studioModule, studioYaml } from 'resourced-contract/model/studio.fixture'
import { DeclarationError, findDeclaration, loadDeclaration } from './load-declaration.ts'

let folder = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'declaration-'))
})
after(() => rm(folder, { recursive: true }))

async function load(name: string, text: string) {
  const file = join(folder, name)
  await writeFile(file, text)
  return await loadDeclaration(file)
}

/** The catalog without its functions: those differ from load to load. */
function data(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, each: unknown) => (each instanceof Map ? [...each] : each)))
}

test('TypeScript, JavaScript, JSON and YAML complete to the same catalog', async () => {
  const expected = data(completeCatalog(studio() as never))
  for (const [name, text] of [
    ['same.ts', studioModule],
    ['same.mjs', studioModule],
    ['same.json', JSON.stringify(studio(), undefined, '\t')],
    ['same.yaml', studioYaml],
  ] as const) {
    assert.deepEqual(data(completeCatalog(await load(name, text))), expected, name)
  }
})

test('a byte order mark is ignored', async () => {
  assert.equal((await load('mark.json', `\uFEFF${JSON.stringify(studio())}`)).name, 'studio')
})

describe('a declaration that cannot be read is reported with the place, without a stack', () => {
  const bomb = ['a: &a [x, x]', ...'bcdefgh'.split('').map((name, index) => {
    const last = 'abcdefg'[index]
    return `${name}: &${name} [${`*${last}, `.repeat(9)}*${last}]`
  })].join('\n') // biome-ignore format: one row reads best
  const cases: [file: string, text: string, ...problems: [path: string, message: RegExp][]][] = [
    ['syntax.ts', 'export default {\n  name: 1\n  title: 2 }', ['line 3, column 3', /syntax/]],
    ['syntax.js', 'export default {\n  name: 1\n  title: 2 }', ['line 3, column 3', /syntax/]],
    ['enum.ts', 'enum Colour { Red }\nexport default Colour', ['line 1, column 1', /enum/]],
    ['throws.ts', 'const a: number = 1\n  throw new Error(String(a))', ['line 2, column 9', /Error: 1/]],
    ['imports.ts', "import x from 'no-such-package'\nexport default x", ['the file', /no-such-package, which is not there/]],
    ['nothing.ts', 'export const a = 1', ['the file', /default/]],
    ['comma.json', '{"name": 1,\n "title" 2}', ['line 2, column 10', /not JSON/]],
    ['end.json', '{"name": 1', ['line 1, column 11', /not JSON/]],
    ['empty.json', '', ['line 1, column 1', /not JSON/]],
    ['twice.json', '{"a": [{"k": "k"}],\n "b": {"k": 1, "\\u006b": 2},\n "a": 1}',
      ['line 2, column 16', /"k" is there twice/], ['line 3, column 2', /"a" is there twice/]],
    ['twice.yaml', 'name: a\ntitle: b\nname: c', ['line 3, column 1', /twice/]],
    ['flow.yml', 'name: [a\ntitle: b', ['line 2, column 1', /not YAML/]],
    ['tag.yaml', 'name: !!js/function "x"', ['line 1, column 7', /tag/]],
    ['two.yaml', 'name: a\n---\nname: b', ['line 2, column 1', /second document/]],
    ['bomb.yaml', bomb, ['the file', /aliases/]],
    ['circle.yaml', 'name: &a [*a]', ['name[0]', /itself/], ['name', /must be lower-case/], ['resources', /missing/]],
    ['checked.json', '{"name": "a"}', ['resources', /missing/]],
  ] // biome-ignore format: one row a case
  for (const [name, text, ...expected] of cases) {
    test(name, async () => {
      const error = await load(name, text).catch((thrown: unknown) => thrown)
      assert.ok(error instanceof DeclarationError, String(error))
      assert.deepEqual(
        error.problems.map((problem) => problem.path),
        expected.map(([path]) => path),
        error.message,
      )
      for (const [index, [, message]] of expected.entries()) assert.match(error.problems[index]!.message, message)
      assert.doesNotMatch(error.message, /\n\s+at /)
      for (const problem of error.problems) assert.notEqual(problem.remedy, '')
    })
  }

  test('a missing file, and a file of another kind', async () => {
    await assert.rejects(loadDeclaration(join(folder, 'none.ts')), /no such file/)
    await assert.rejects(load('a.toml', ''), /no known kind/)
    await assert.rejects(loadDeclaration(folder), /not a file/)
  })
})

test('the declaration of a folder is found', async () => {
  const empty = await mkdtemp(join(folder, 'folder-'))
  assert.equal(await findDeclaration(empty), undefined)
  await writeFile(join(empty, 'resources.yaml'), '')
  assert.equal(await findDeclaration(empty), join(empty, 'resources.yaml'))
  await writeFile(join(empty, 'resources.ts'), '')
  assert.equal(await findDeclaration(empty), join(empty, 'resources.ts'))
})

describe('YAML is read as people mean it', () => {
  const head = 'name: notes\nresources:\n  notes:\n    fields:\n'
  const text = '      text: { type: string, optional: true, filter: true }\n'

  test('a key is the text that the file has: null, on, 1.0', async () => {
    const access = '    access: { read: { where: { text: { null: true } } } }\n'
    const { resources } = await load('null.yaml', head + text + access)
    assert.deepEqual(resources['notes']?.access?.read, { where: { text: { null: true } } })
    const rule = `    rules:\n      - on: delete\n        code: KEPT\n        message: Kept.\n        unless: { where: { text: { null: true } } }\n`
    assert.equal((await load('on.yaml', head + text + rule)).resources['notes']?.rules?.length, 1)
    for (const key of ['null', '1.0', 'true', '~']) {
      const error = await load('key.yaml', `${head}      ${key}: { type: string }\n`).catch((thrown: unknown) => thrown)
      const paths = error instanceof DeclarationError ? error.problems.map(({ path }) => path) : []
      const [path = ''] = paths
      // Names of one word are fine.
      if (key === '1.0' || key === '~') assert.ok(path.includes(key), `${key}: ${path}`)
      else assert.deepEqual(paths, [], key)
    }
  })

  test('dates need no quotes, in YAML 1.1 either', async () => {
    const versions = 'versions:\n  v1: { deprecated: 2026-09-01, sunset: 2027-06-01T08:00:00Z }\n  v2: {}\n'
    for (const directive of ['', '%YAML 1.1\n---\n']) {
      const { versions: read } = await load('dates.yaml', directive + head + text + versions)
      assert.deepEqual(read?.['v1'], { deprecated: '2026-09-01', sunset: '2027-06-01T08:00:00Z' })
    }
  })

  test('yes and no are texts, and the remedy says so', async () => {
    const yes = await load('yes.yaml', `${head}      text: { type: string, filter: yes }\n`).catch(
      (thrown: Error) => thrown,
    )
    assert.ok(yes instanceof DeclarationError)
    assert.equal(yes.problems[0]?.remedy, 'Write true: only true or false are booleans, in YAML too.')
    const { resources } = await load('enum.yaml', `${head}      answer: { enum: [yes, no] }\n`)
    assert.deepEqual(resources['notes']?.fields['answer'], { enum: ['yes', 'no'] })
  })

  test('merge keys, keys that are no texts, and tabs are refused where they are', async () => {
    const cases: readonly [text: string, path: string, message: RegExp][] = [
      [`${head}      a: &a { type: string }\n      b: { <<: *a }\n`, 'line 6, column 12', /merge key/],
      [`${head}      ? [a]\n      : { type: string }\n`, 'line 5, column 9', /not a text/],
      [`${head}\ttext: {}\n`, 'line 5, column 1', /Tabs/],
    ]
    for (const [yaml, path, message] of cases) {
      const error = await load('refused.yaml', yaml).catch((thrown: unknown) => thrown)
      assert.ok(error instanceof DeclarationError, String(error))
      assert.equal(error.problems[0]?.path, path)
      assert.match(error.problems[0]?.message ?? '', message)
    }
  })

  test('$schema is ignored, in JSON and as a comment of YAML', async () => {
    const schema = './node_modules/resourced/declaration.schema.json'
    assert.equal((await load('a.yaml', `# yaml-language-server: $schema=${schema}\n${head}${text}`)).name, 'notes')
    const fields = { text: { type: 'string' } }
    const json = JSON.stringify({ $schema: schema, name: 'notes', resources: { notes: { fields } } })
    assert.equal((await load('a.json', json)).name, 'notes')
  })
})
