import assert from 'node:assert/strict'
import { chmodSync, mkdirSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, before, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { hasSqliteTables, openSqliteKeys } from '../storage/sqlite/administration.ts'
import { explain, printError } from './explain.ts'
import { loadDeclaration } from './load-declaration.ts'

let folder = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'explain-'))
})
after(() => rm(folder, { recursive: true }))

/** What is printed about the mistakes of a declaration, without the folder. */
async function printed(name: string, text: string, terminal = false): Promise<string> {
  const file = join(folder, name)
  await writeFile(file, text)
  const screen = Object.assign(new PassThrough({ encoding: 'utf8' }), terminal ? { isTTY: true } : {})
  const error = await loadDeclaration(file).catch((thrown: unknown) => thrown)
  const before = process.env['FORCE_COLOR']
  delete process.env['FORCE_COLOR']
  printError(error, screen)
  if (before !== undefined) process.env['FORCE_COLOR'] = before
  return String(screen.read()).replaceAll(`${folder}/`, '')
}

const notes = 'name: notes\nresources:\n  notes:\n    fields:\n'

test('a mistake of YAML has its file, line, column and line of text', async () => {
  assert.equal(
    await printed('a.yaml', `${notes}      title: { type: string, minLenght: 1 }\n`),
    `One thing is wrong in a.yaml:

  1. resources.notes.fields.title.minLenght
     is not a word of a field, nor of JSON Schema 2020-12
     → Did you mean "minLength"?

     a.yaml:5:30
     5 │       title: { type: string, minLenght: 1 }
       │                              ^^^^^^^^^
`,
  )
})

test('a mistake of JSON too, where it is indented with tabs', async () => {
  const text = await printed(
    'a.json',
    '{\n\t"name": "notes",\n\t"resources": {\n\t\t"note": { "fields": { "text": {} } }\n\t}\n}',
  )
  assert.match(text, /a\.json:4:3\n {5}4 │ {3}"note": .*\n {7}│ {3}\^{6}\n/)
})

test('a syntax error has the line, in every format', async () => {
  assert.match(await printed('b.yaml', 'name: [a\nb: c'), /b\.yaml:2:1\n {5}2 │ b: c\n {7}│ \^/)
  assert.match(
    await printed('b.json', '{\n  "name" 1 }'),
    /A colon is missing(?:.|\n)*b\.json:2:10\n {5}2 │ {3}"name" 1 }/,
  )
  assert.match(await printed('b.ts', 'export default {\n  name: 1 name }'), /b\.ts:2:11\n {5}2 │ {3}name: 1 name }/)
  assert.match(await printed('tab.yaml', 'name: a\nresources:\n\tnotes: {}'), /tab\.yaml:3:1(?:.|\n)*│ +\^/)
})

test('of syntax errors in YAML the first one is reported, because others follow from it', async () => {
  const indent = 'name: notes\nresources:\n  notes:\n    fields:\n   title: { type: string }\n    access: {}\n'
  assert.match(await printed('indent.yaml', indent), /^One thing is wrong (?:.|\n)*indent\.yaml:4:/)
  const tab = 'name: notes\nresources:\n\tnotes:\n\t  fields: {}\n  a: 1\n'
  assert.match(await printed('tabs.yaml', tab), /^One thing is wrong (?:.|\n)*tabs\.yaml:3:1/)
})

test('a missing key has the place of what it is missing in, and the empty declaration has none', async () => {
  assert.match(await printed('c.yaml', 'name: notes\nresources: { notes: {} }'), /c\.yaml:2:14\n.*\n {7}│ {14}\^{5}\n/)
  assert.match(await printed('empty.yaml', ''), /must be an object, and is null\n.*Write name and resources\./)
})

test('the second use of an alias has the place of the alias', async () => {
  const text = await printed('d.yaml', `${notes}      a: &a { type: strin }\n      b: *a\n`)
  assert.match(text, /d\.yaml:5:21/)
  assert.match(text, /2\. resources\.notes\.fields\.b\.type/)
})

test('colours are for terminals, and change nothing else', async () => {
  const plain = await printed('e.yaml', notes)
  const coloured = await printed('e.yaml', notes, true)
  assert.notEqual(coloured, plain)
  assert.equal(stripVTControlCharacters(coloured), plain)
})

test('a file cannot steer the terminal, and a long line is cut', async () => {
  const text = await printed('f.yaml', `${notes}      title: { type: strin, description: "\u202e${'x'.repeat(500)}" }`)
  assert.doesNotMatch(text, /\u202e/)
  assert.ok(text.split('\n').every((line) => line.length < 120))
  const late = await printed('g.yaml', `name: notes\nresources: { notes: { title: ${'x'.repeat(500)}, fields: 7 } }`)
  const [line = '', marks = ''] = late.split('\n').slice(-3)
  assert.equal(line.slice(marks.indexOf('^'), marks.lastIndexOf('^') + 1), '7')
})

test('a host that a server cannot listen on is one sentence', async () => {
  const failure = (host: string) =>
    new Promise<unknown>((resolve) => createServer().on('error', resolve).listen({ host, port: 0 }))
  assert.match(explain(await failure('nowhere.invalid')), /^The host nowhere\.invalid is not found\. .*--host[^\n]*$/)
  // TEST-NET-1: no machine has this address.
  assert.match(explain(await failure('192.0.2.1')), /^This machine cannot listen on 192\.0\.2\.1: .*--host[^\n]*$/)
})

/** What is said about the error of a call by a user without rights. */
function unprivileged(call: () => unknown): string {
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.(65_534)
  try {
    call()
  } catch (error) {
    return explain(error)
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
  return 'no error'
}
const skip = process.platform === 'win32' ? 'Windows has no such permissions' : false

test('a folder that refuses a new file or folder is named', { skip }, async () => {
  const locked = join(folder, 'locked')
  mkdirSync(locked)
  await chmod(folder, 0o755)
  chmodSync(locked, 0o555)
  const said = unprivileged(() => openSqliteKeys(join(locked, '.resourced', 'data.db')))
  assert.ok(
    said.startsWith(`${locked}/.resourced cannot be created: this user may not write to the folder ${locked}. `),
  )
})

test('a database that this user may only read is named, with what to do', { skip }, async () => {
  const open = join(folder, 'open')
  const file = join(open, 'w.db')
  mkdirSync(open)
  await openSqliteKeys(file).close()
  await chmod(folder, 0o755)
  chmodSync(file, 0o444)
  chmodSync(open, 0o555)
  for (const call of [() => openSqliteKeys(file), () => hasSqliteTables(file)]) {
    const said = unprivileged(call)
    assert.match(said, /^The database \S+w\.db cannot be used: .*Let this user write the file and its folder/s)
  }
  chmodSync(open, 0o755)
})
