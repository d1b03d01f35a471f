/** The examples of tutorials, how-to guides and some other pages run as they are printed. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { emptyDatabase, whyNoDatabase } from '../postgres/database.ts'
import { blocksOf, runPage, runs } from './page.ts'

const root = join(import.meta.dirname, '../..')

// The examples use `--json` and `%header{…}`.
const [, major = 0, minor = 0] = /^curl (\d+)\.(\d+)/.exec(String(spawnSync('curl', ['--version']).stdout)) ?? []
const whyNoCurl = Number(major) * 100 + Number(minor) >= 784 ? undefined : 'curl 7.84 or newer is not installed'

const pages = [
  ...['README.md', 'docs/getting-started.md', 'docs/how-to/*.md'],
  'docs/reference/{http-interface,conditions-and-access,checking-changes}.md',
  'docs/explanation/{versions,deletion}.md',
]

/** Pages whose examples do not run here, and why. */
const others: Readonly<Record<string, string>> = {
  'CONTRIBUTING.md': 'names the commands that run the tests',
  'docs/contributing/adding-a-case.md': 'shows a part of a source file',
  'docs/contributing/adding-a-query-operator.md': 'runs test files, which npm test runs too',
  'docs/reference/checker.md': 'checks a server elsewhere; test/checker runs the command',
  'docs/reference/declaration.md': 'is generated, and its example is checked with it',
}

test('the examples of every page run, or there is a reason', () => {
  const all = globSync(['*.md', 'docs/**/*.md'], { cwd: root, exclude: ['node_modules', 'docs/decisions/**'] })
  const running = new Set(globSync(pages, { cwd: root }))
  const withExamples = all.filter((page) => blocksOf(readFileSync(join(root, page), 'utf8')).some(isExample))
  assert.deepEqual(withExamples.filter((page) => !running.has(page)).sort(), Object.keys(others))
})

function isExample({ language }: { readonly language: string }): boolean {
  return language !== 'text' && language !== ''
}

for (const page of globSync(pages, { cwd: root }).sort()) {
  const blocks = blocksOf(readFileSync(join(root, page), 'utf8'))
  const needsPostgres = blocks.some(({ text, reason }) => reason === undefined && /postgres:\/\//.test(text))
  test(`the examples of ${page} run`, {
    skip: whyNoCurl ?? (needsPostgres && whyNoDatabase) ?? false,
  }, async (context) => {
    const idle = blocks
      .filter((block) => !runs(block) && block.reason === undefined)
      .map(({ line }) => `${page}:${line}`)
    assert.deepEqual(idle, [], 'code blocks that do not run and say no reason')
    const database = needsPostgres ? await emptyDatabase() : undefined
    if (database !== undefined) context.after(database.remove)
    await runPage(context, page, database?.url)
  })
}
