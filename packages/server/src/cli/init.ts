/** `resourced init [FOLDER]`: writes the files of a new interface. It asks nothing and overwrites nothing. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { say } from 'resourced-check/terminal'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import { packageVersion } from '../server/observe/package-version.ts'
import { findDeclaration } from './load-declaration.ts'

interface InitOptions {
  /** Whether to declare in TypeScript; the default is YAML. */
  readonly typescript?: boolean
}

/** The files that are copied as they are: the name of each, and its template. npm publishes no `.gitignore`. */
const templates: readonly (readonly [string, string])[] = [
  ['.gitignore', 'gitignore'],
  ['Dockerfile', 'Dockerfile'],
  ['.dockerignore', 'dockerignore'],
  ['compose.yaml', 'compose.yaml'],
]

const scripts = { dev: 'resourced dev', start: 'resourced serve' }

/** Writes the files that a folder lacks, and says what to do next. */
export async function initCommand(given: string | undefined, options: InitOptions): Promise<void> {
  const folder = resolve(await madeFolder(given ?? '.'))
  const declaration = await findDeclaration(folder)
  const language = options.typescript === true ? 'resources.ts' : 'resources.yaml'
  const files = new Map<string, string>()
  if (declaration === undefined) files.set(language, await template(language))
  files.set('package.json', manifestFor(folder))
  for (const [name, source] of templates) files.set(name, await template(source))
  files.set('.env', `# compose.yaml reads this file.\nPOSTGRES_PASSWORD=${randomBytes(24).toString('base64url')}\n`)

  const [written, kept]: [string[], string[]] = [[], declaration === undefined ? [] : [basename(declaration)]]
  for (const [name, text] of files) {
    const isNew = await writeNew(join(folder, name), text)
    const list = isNew ? written : kept
    list.push(name)
  }
  const shown = (names: readonly string[]) => names.map((name) => join(given ?? '', name)).join(', ')
  say(written.length === 0 ? 'Nothing was written: every file exists.' : `Written: ${shown(written)}`)
  if (kept.length > 0) say(`Kept as they are: ${shown(kept)}`)
  for (const line of await advice(folder, kept, declaration ?? language)) say(line)
  say(`\nNext:\n${nextCommands(folder).join('\n')}`)
}

/** Makes the folder where it is missing. */
async function madeFolder(folder: string): Promise<string> {
  if (folder.trim() === '' || folder.includes('\0')) {
    throw new ConfigurationError(`The name of the folder is ${JSON.stringify(folder)}. Name one such as my-api.`)
  }
  try {
    await makeWithParents(resolve(folder))
    return folder
  } catch (error) {
    throw cannotWrite(folder, error)
  }
}

/** Node's own `recursive` never returns where a file system, such as /proc, reports a new folder as missing. */
async function makeWithParents(folder: string): Promise<void> {
  try {
    await mkdir(folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if ((await stat(folder).catch(() => undefined))?.isDirectory() === true) return
    if (code !== 'ENOENT' || folder === dirname(folder)) throw error
    await makeWithParents(dirname(folder))
    await mkdir(folder)
  }
}

/** Writes a file. `false`: something with this name exists, which is kept, even if it is a link to nowhere. */
async function writeNew(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: 'wx', mode: basename(path) === '.env' ? 0o600 : 0o666 })
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    // A full disk leaves a part of the file, which the next run would keep.
    if (code !== 'EACCES' && code !== 'EROFS' && code !== 'EPERM') await rm(path, { force: true })
    throw cannotWrite(path, error)
  }
}

const reasons: Readonly<Record<string, string>> = {
  EEXIST: 'a file has this name. Name a folder',
  ENOENT: 'no folder can be made there. Name another one',
  ENOTDIR: 'a part of this path is a file. Name a folder',
  EACCES: 'you lack the permission. Name a folder of yours',
  EPERM: 'you lack the permission. Name a folder of yours',
  EROFS: 'the file system is read-only. Name another folder',
  ENOSPC: 'the disk is full. Free some space, and repeat the command',
  ENAMETOOLONG: 'the name is too long. Name a shorter one',
}

function cannotWrite(path: string, error: unknown): ConfigurationError {
  const { code = '', message } = error as NodeJS.ErrnoException
  return new ConfigurationError(`${path} cannot be written: ${reasons[code] ?? message}.`)
}

function template(name: string): Promise<string> {
  return readFile(new URL(import.meta.resolve(`#templates/${name}`)), 'utf8')
}

function manifestFor(folder: string): string {
  const manifest = {
    name: packageNameOf(folder),
    private: true,
    type: 'module',
    scripts,
    dependencies: { resourced: packageVersion() },
  }
  return `${JSON.stringify(manifest, undefined, 2)}\n`
}

/** A name that npm accepts. A package cannot depend on a package of its own name. */
export function packageNameOf(folder: string): string {
  const name = basename(folder)
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .slice(0, 200)
    .replaceAll(/^[._-]+|[._-]+$/g, '')
  if (name === '') return 'my-api'
  return ['resourced', 'node_modules', 'favicon.ico'].includes(name) ? `${name.replaceAll(/\W|_/g, '-')}-api` : name
}

/**
 * What files that were kept lack.
 *
 * @throws ConfigurationError if npm could not read package.json
 */
async function advice(folder: string, kept: readonly string[], declaration: string): Promise<string[]> {
  const lines: string[] = []
  if (kept.includes('package.json')) {
    const settings = await missingSettings(join(folder, 'package.json'), declaration)
    if (settings === undefined) {
      throw new ConfigurationError('package.json is not a JSON object: correct it, and repeat the command.')
    }
    if (settings.length > 0) lines.push(`Add to package.json: npm pkg set ${settings.join(' ')}`)
  }
  for (const [name, needed] of [
    ['.gitignore', ['node_modules/', '.resourced/', '.env']],
    ['.env', ['POSTGRES_PASSWORD=']],
  ] as const) {
    if (!kept.includes(name)) continue
    const text = await readFile(join(folder, name), 'utf8').catch(() => '')
    const has = new Set(text.split(/\r?\n/).map((line) => line.replaceAll(/^\/|\/$|(?<==).*/g, '').trim()))
    const missing = needed.filter((line) => !has.has(line.replace(/\/$/, '')))
    if (missing.length > 0) lines.push(`Add to ${name}: ${missing.join(' ')}`)
  }
  return lines
}

/** The arguments of `npm pkg set` for what a manifest lacks. `undefined`: it cannot be read. */
async function missingSettings(path: string, declaration: string): Promise<string[] | undefined> {
  const manifest = await readFile(path, 'utf8')
    .then(JSON.parse)
    .catch(() => undefined)
  if (typeof manifest !== 'object' || manifest === null || Array.isArray(manifest)) return undefined
  const missing = Object.entries(scripts).flatMap(([name, command]) =>
    typeof manifest.scripts?.[name] === 'string' ? [] : [`scripts.${name}="${command}"`],
  )
  const dependencies = { ...manifest.devDependencies, ...manifest.dependencies }
  if (dependencies.resourced === undefined) missing.push(`dependencies.resourced=${packageVersion()}`)
  // Node.js reads a .ts or .js file of any other package as CommonJS, at least at first.
  if (/\.[tj]s$/.test(declaration) && manifest.type !== 'module') missing.push('type=module')
  return missing
}

function nextCommands(folder: string): string[] {
  const place = relative('.', folder)
  const isInstalled = existsSync(join(folder, 'node_modules/resourced/package.json'))
  return [
    ...(place === '' ? [] : [`  cd ${/^[\w./][\w./-]*$/.test(place) ? place : JSON.stringify(`./${place}`)}`]),
    ...(isInstalled ? [] : ['  npm install']),
    '  npx resourced dev',
  ]
}
