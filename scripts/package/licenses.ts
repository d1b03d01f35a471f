/** The licenses of the packages whose code is in ours. */
import { readdir, readFile } from 'node:fs/promises'
import { root } from './contents.ts'

/** Our license, and those of the packages whose code is in ours. */
export async function licenses(packages: readonly string[]): Promise<string> {
  const own = await readFile(new URL('LICENSE', root), 'utf8')
  const names = [...new Set(packages)].sort()
  const others = await Promise.all(
    names.map(async (name) => `\n---\n\nThis package includes ${name}, under this license:\n\n${await textsOf(name)}`),
  )
  return own + others.join('')
}

async function textsOf(name: string): Promise<string> {
  const folder = new URL(`node_modules/${name}/`, root)
  const all = await readdir(folder)
  // A bundle of others names their authors in a file of its own.
  const files = all.filter((file) => /^(?:licen[cs]e|notice)(?:\.|$)/i.test(file) || file === bundleNotice).sort()
  if (files.length > 0) {
    return (await Promise.all(files.map((file) => readFile(new URL(file, folder), 'utf8')))).join('\n')
  }
  const { license } = JSON.parse(await readFile(new URL('package.json', folder), 'utf8')) as { license?: string }
  if (license === undefined) throw new Error(`${name} has no license: it may not be in our package.`)
  return `${license}\n`
}

const bundleNotice = 'swagger-ui-es-bundle.js.LICENSE.txt'
