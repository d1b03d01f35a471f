import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { commandFile } from '../../../../test/command-file.ts'
import { newDatabase, type TrialDatabase } from '../../../../test/engine.ts'
import { loadCatalog } from './load-declaration.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-import-'))
after(() => rmSync(folder, { recursive: true }))
const at = (name: string) => join(folder, name)

const databases = new Map<string, Promise<TrialDatabase>>()
const named = (name: string) => databases.getOrInsertComputed(name, () => newDatabase())

writeFileSync(
  at('resources.yaml'),
  `name: library
resources:
  books:
    fields:
      title: { type: string, minLength: 1, unique: true }
      pages: { type: integer, optional: true }
      owner_id: { type: string, readOnly: true }
    owner: owner_id
`,
)

interface Ended {
  readonly code: number | null
  readonly said: string
}

/** Runs `resourced import` in the folder, on a database that a server has used before unless it `isNew`. */
async function imported(
  given: readonly string[],
  { database, input, isNew = false }: { database: string; input?: string | Stream; isNew?: boolean },
): Promise<Ended> {
  if (!isNew) await count(database)
  const address = ['--database', (await named(database)).address]
  const child = spawn(process.execPath, [commandFile, 'import', ...given, ...address], { cwd: folder })
  let said = ''
  child.stdout.on('data', (text) => {
    said += text
  })
  child.stderr.on('data', (text) => {
    said += text
  })
  if (typeof input === 'function') input(child)
  else child.stdin.end(input)
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, said })))
}

type Stream = (child: ReturnType<typeof spawn>) => void

async function count(database: string): Promise<number> {
  const storage = await (await named(database)).open(await loadCatalog(at('resources.yaml')))
  const { resources } = await loadCatalog(at('resources.yaml'))
  try {
    const page = await storage.run({
      kind: 'read-page',
      resource: resources.get('books') as never,
      parent: undefined,
      filter: { kind: 'compare', field: 'owner_id', operator: 'eq', value: 'ann' },
      permitted: { kind: 'always' },
      search: undefined,
      deleted: undefined,
      sort: [],
      page: { style: 'page', page: 1, perPage: 1 },
      fields: undefined,
      conditions: {},
    })
    return page.kind === 'page' ? page.total : -1
  } finally {
    await storage.close()
  }
}

test('a file is imported by its extension, for the owner in --subject', async () => {
  writeFileSync(at('good.csv'), 'title,pages\nEmma,474\nPersuasion,\n')
  const { code, said } = await imported(['books', 'good.csv', '--subject', 'ann'], { database: 'good' })
  assert.match(said, /^Imported 2 records into books in \d+\.\d s\.\n$/)
  assert.equal(code, 0)
  assert.equal(await count('good'), 2)
})

test('an import reports that it created a database, because the path may be mistyped', async () => {
  writeFileSync(at('one.csv'), 'title\nEmma\n')
  const { said } = await imported(['books', 'one.csv'], { database: 'fresh', isNew: true })
  assert.match(said, /^Made a new database at .+: there was none\.\nImported 1 record into books in \d+\.\d s\.\n$/)
})

test('standard input is read as --format says', async () => {
  const input = '{"title":"Emma"}\n'
  const unsaid = await imported(['books', '-'], { database: 'stdin', input })
  assert.deepEqual(unsaid, { code: 1, said: 'Say what standard input holds: --format json, ndjson or csv.\n' })
  const { code, said } = await imported(['books', '-', '--format', 'ndjson'], { database: 'stdin', input })
  assert.match(said, /^Imported 1 record into books/)
  assert.equal(code, 0)
})

test('the first invalid record stops the import, with its line, codes and pointers', async () => {
  const input = '[{"title":"Emma"},\n{"title":"","pages":"many"},\n{"title":"Persuasion"}]'
  const given = ['books', '-', '--format', 'json', '--subject', 'ann']
  const { code, said } = await imported(given, { database: 'stop', input })
  assert.deepEqual(said.split('\n'), [
    'line 2: TOO_SHORT /title: title must have at least 1 character.',
    'line 2: INVALID_TYPE /pages: pages must be an integer.',
    'Stopped. 1 record is in, the last one from line 1; nothing after it is.',
    'Correct the line above, and import the file from there on: what is in would be imported a second time.',
    '',
  ])
  assert.equal(code, 1)
  assert.equal(await count('stop'), 1)
})

test('--skip-invalid continues, and the exit code is still 1', async () => {
  const input = '{"title":"Emma"}\n{"title":\n{"title":"Emma"}\n{"title":"Persuasion"}\n'
  const given = ['books', '-', '--format', 'ndjson', '--skip-invalid', '--subject', 'ann']
  const { code, said } = await imported(given, { database: 'skip', input })
  assert.match(
    said,
    /^line 2: MALFORMED_JSON: .*\nline 3: DUPLICATE_VALUE \/title: .*\nImported 2 records .*; left out 2 /,
  )
  assert.equal(code, 1)
  assert.equal(await count('skip'), 2)
})

test('an import that cannot begin says why', async () => {
  const refusals: readonly (readonly [readonly string[], string])[] = [
    [['boks', 'good.csv'], 'There is no collection "boks". Did you mean "books"?\n'],
    [['books', 'none.csv'], 'There is no file none.csv.\n'],
    [['books', '.', '--format', 'csv'], '. is a folder, not a file.\n'],
  ]
  for (const [given, expected] of refusals) {
    assert.deepEqual(await imported(given, { database: 'none' }), { code: 1, said: expected })
  }
})

test('Ctrl-C imports the records that were read, and reports how many', async () => {
  const line = (index: number) => `{"title":"Book ${index}"}\n`
  const input: Stream = (child) => {
    // 3,000 lines and no end; the problem of the first one is told once the first batch is in.
    child.stdin?.write(`{}\n${Array.from({ length: 3_000 }, (_, index) => line(index)).join('')}`)
    child.stderr?.once('data', () => child.kill('SIGINT'))
  }
  const given = ['books', '-', '--format', 'ndjson', '--subject', 'ann', '--skip-invalid']
  const { code, said } = await imported(given, { database: 'interrupted', input })
  const found = /Interrupted\. ([\d,]+) records are in, the last one from line \d+; nothing after it is\.\n$/.exec(said)
  assert.ok(found !== null && Number(found[1]?.replace(',', '')) >= 1_999, said)
  assert.equal(code, 130)
  assert.equal(await count('interrupted'), Number(found[1]?.replace(',', '')))
})
