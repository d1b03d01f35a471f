/** Every link between pages of the repository leads to a file, and to a heading of it, that exists. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '../..')
const pages = globSync(['*.md', '{bench,docs,examples}/**/*.md'], { cwd: root }).toSorted()
const anchors = new Map<string, ReadonlySet<string>>()

test('every link leads to a file and a heading that exist', () => {
  const broken = pages.flatMap((page) =>
    linksOf(readFileSync(join(root, page), 'utf8'))
      .filter((link) => !leadsSomewhere(page, link))
      .map((link) => `${page}: ${link}`),
  )
  assert.deepEqual(broken, [])
})

test('docs/README.md lists every page', () => {
  const index = linksOf(readFileSync(join(root, 'docs/README.md'), 'utf8'))
  const listed = new Set(index.map((link) => join('docs', link)))
  const missing = pages.filter((page) => /^docs\/(?!README\.md|decisions\/)/.test(page) && !listed.has(page))
  assert.deepEqual(missing, [])
})

test('a heading has the anchor that GitHub gives it', () => {
  const text = '# One `two`: *three*, (four)\n\n## Again\n\n```sh\n# a comment\n```\n\n## Again\n\n<a id="own"></a>'
  assert.deepEqual([...anchorsOf(text)], ['one-two-three-four', 'again', 'again-1', 'own'])
})

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const file = path === '' ? page : relative(root, join(root, dirname(page), decodeURIComponent(path)))
  if (file.startsWith('..') || !existsSync(join(root, file))) return false
  if (anchor === undefined || !file.endsWith('.md')) return true
  const known = anchors.get(file) ?? anchorsOf(readFileSync(join(root, file), 'utf8'))
  anchors.set(file, known)
  return known.has(anchor)
}

/** The targets of the links that stay in the repository. */
function linksOf(markdown: string): string[] {
  const targets = [...withoutCode(markdown).matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$/gm)]
  return targets.map(([, inline, reference]) => inline ?? reference ?? '').filter((link) => !/^[a-z]+:/.test(link))
}

function anchorsOf(markdown: string): ReadonlySet<string> {
  const found = new Set<string>()
  for (const [, , heading, id] of withoutBlocks(markdown).matchAll(/^(#{1,6}) (.+)$|<a id="([^"]+)">/gm)) {
    const name = id ?? slugOf(heading ?? '')
    let unique = name
    for (let count = 1; found.has(unique); count++) unique = `${name}-${count}`
    found.add(unique)
  }
  return found
}

function slugOf(heading: string): string {
  const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
  return text.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(/\s/g, '-')
}

function withoutBlocks(markdown: string): string {
  return markdown.replaceAll(/^(`{3,})[^\n]*\n[\s\S]*?^\1$/gm, '')
}

function withoutCode(markdown: string): string {
  return withoutBlocks(markdown).replaceAll(/(`+)[^\n]*?\1/g, '')
}
