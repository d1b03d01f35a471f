/** The examples of tutorials, how-to guides and some other pages run as they are printed. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { emptyDatabase, whyNoDatabase } from '../postgres/database.ts'
import { blocksOf, runPage, runs } from './page.ts'

const root = join(import.meta.dirname, '../..')

const pages = [
  ...['README.md', 'docs/getting-started.md', 'docs/how-to/*.md'],
  'docs/reference/{http-interface,conditions-and-access,checking-changes}.md',
  'docs/explanation/{versions,deletion}.md',
]

for (const page of globSync(pages, { cwd: root }).sort()) {
  const blocks = blocksOf(readFileSync(join(root, page), 'utf8'))
  const needsPostgres = blocks.some(({ text, reason }) => reason === undefined && /postgres:\/\//.test(text))
  test(`the examples of ${page} run`, { skip: needsPostgres && (whyNoDatabase ?? false) }, async (context) => {
    const idle = blocks
      .filter((block) => !runs(block) && block.reason === undefined)
      .map(({ line }) => `${page}:${line}`)
    assert.deepEqual(idle, [], 'code blocks that do not run and say no reason')
    const database = needsPostgres ? await emptyDatabase() : undefined
    if (database !== undefined) context.after(database.remove)
    await runPage(context, page, database?.url)
  })
}
