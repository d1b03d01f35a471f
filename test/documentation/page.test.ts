import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { type TestContext, test } from 'node:test'
import { blocksOf, runPage } from './page.ts'

const fence = '```'

async function run(context: TestContext, page: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-page-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'page.md')
  writeFileSync(file, page)
  await runPage(context, relative(join(import.meta.dirname, '../..'), file))
}

test('a page gives its blocks with their words and lines', () => {
  const page = `# Title\n\n${fence}yaml library.yaml\nname: library\n${fence}\n\n<!-- not run: needs a tunnel -->\n${fence}sh\nssh\n${fence}\n`
  assert.deepEqual(blocksOf(page), [
    { language: 'yaml', words: ['library.yaml'], text: 'name: library', line: 4 },
    { language: 'sh', words: [], text: 'ssh', line: 9, reason: 'needs a tunnel' },
  ])
})

test('commands run in one shell, and files are written', async (context) => {
  await run(
    context,
    `${fence}json a.json\n{"b":1}\n${fence}\n${fence}sh\nNAME=a\n${fence}\n${fence}sh\ncat $NAME.json\n${fence}\n${fence}json\n{ "b": 1 }\n${fence}\n`,
  )
})

test('a command in the middle that fails fails the page', async (context) => {
  await assert.rejects(run(context, `${fence}sh\nfalse\necho on\n${fence}\n`), /a command failed/)
})

test('an output that differs from the page fails it, unless ids and times alone differ', async (context) => {
  const page = (shown: string) =>
    `${fence}sh\necho '{"id":"01a1fe02-0d5a-4a53-9b7e-2d1f0c8a4e77","n":1}'\n${fence}\n${fence}json\n${shown}\n${fence}\n`
  await run(context, page('{"id":"01a1fe02-…","n":1}'))
  await run(context, page('{"id":"6f1c2b1e-0d5a-4a53-9b7e-2d1f0c8a4e77","n":1}'))
  await assert.rejects(run(context, page('{"id":"01a1fe02-…","n":2}')), /not what was printed/)
})

test('a text is compared line by line with the output, messages included', async (context) => {
  const page = (shown: string) =>
    `${fence}sh\necho one 1 && echo two >&2\n${fence}\n${fence}text output\n${shown}\n${fence}\n`
  await run(context, page('one …\ntwo'))
  await assert.rejects(run(context, page('two\none …')), /is not in what was printed/)
})

test('a variable takes what a reader copies from the output', async (context) => {
  const id = '01a1fe02-0d5a-4a53-9b7e-2d1f0c8a4e77'
  await run(
    context,
    `${fence}sh\necho '{"id":"${id}"} rsk_abc'\n${fence}\n` +
      `${fence}sh\nKEY=rsk_…\nID=01b2fe02-…\n[ "$KEY $ID" = "rsk_abc ${id}" ]\n${fence}\n`,
  )
})

test('a page waits for what the server prints, and replaces a part of a file by its first line', async (context) => {
  const serve = 'echo http://127.0.0.1:9; until grep -q new a.yaml; do sleep 0.02; done; echo seen 1; sleep 60'
  const server = `${fence}sh server\n${serve}\n${fence}\n`
  const file = `${fence}yaml a.yaml\na:\n  old: 1\nb: 2\n${fence}\n`
  const part = `${fence}yaml a.yaml part\na:\n  new: 1\n${fence}\n`
  const result = `${fence}sh\ncat a.yaml\n${fence}\n${fence}text output\na:\nnew: 1\nb: 2\n${fence}\n`
  const shown = `${fence}text server\nseen …\n${fence}\n${result}`
  await run(context, file + server + part + shown)
})
