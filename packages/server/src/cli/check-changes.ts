/**
 * Commands on the documents of interfaces. `resourced openapi` prints one, and `resourced schema` the JSON Schema of
 * declarations. `resourced check-changes` compares two: whether a newer interface
 * breaks the clients of an older one (VER-5).
 */
import { readFile, stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { print } from 'resourced-check/terminal'
import {
  compareInterfaces,
  DocumentError,
  documentOf,
  type Finding,
  markdownReport,
  type ServedVersion,
  textReport,
} from 'resourced-compare'
import { declarationSchemaText } from 'resourced-contract/model/structure/declaration-schema'
import { ConfigurationError, UsageError } from 'resourced-contract/spec/configuration-error'
import { openApiDocument, openApiText } from '../documents/openapi.ts'
import { completeVersions } from '../versions/versions.ts'
import { printError } from './explain.ts'
import { loadDeclaration, loadVersions } from './load-declaration.ts'
import { readJson } from './read-json.ts'

/** Prints the OpenAPI document of the current version, or of the one that `--version` names. */
export async function openApiCommand(file: string | undefined, options: { readonly version?: string }): Promise<void> {
  print(openApiText(await documentOfVersion(file, options.version)))
}

/**
 * The OpenAPI document of a declaration.
 *
 * @param name of the version; `undefined`: the current one
 * @throws UsageError if the version does not exist
 */
export async function documentOfVersion(file: string | undefined, name: string | undefined): Promise<object> {
  const versions = await loadVersions(file)
  const version = name === undefined ? versions.current : versions.all.get(name)
  if (version === undefined) {
    throw new UsageError(`There is no such version: --version takes ${[...versions.all.keys()].join(' or ')}.`)
  }
  return openApiDocument(version.catalog, { versions, now: Date.now() })
}

/** Prints the JSON Schema of declarations. */
export async function schemaCommand(): Promise<void> {
  print(declarationSchemaText())
}

interface Options {
  readonly format: keyof typeof formats
  readonly strict?: true
}

const formats = {
  text: textReport,
  json: (findings: readonly Finding[]) => JSON.stringify(asData(findings), null, 2),
  markdown: markdownReport,
}

/**
 * Prints the differences. The exit code is 1 if one breaks clients (with `strict` also if one needs a review),
 * otherwise 0. It is 2 if the interfaces could not be compared.
 */
export async function checkChanges(old: string, now: string, { format, strict }: Options): Promise<void> {
  try {
    const findings = await compareFiles(old, now)
    const breaks = findings.some(
      ({ severity }) => severity === 'breaking' || (strict === true && severity === 'review'),
    )
    print(`${formats[format](findings)}\n`)
    process.exitCode = breaks ? 1 : 0
  } catch (error) {
    printError(error)
    process.exitCode = 2
  }
}

async function compareFiles(old: string, now: string): Promise<Finding[]> {
  const [was, is] = [await loadInterface(old), await loadInterface(now)]
  try {
    return compareInterfaces(was, is, Date.now())
  } catch (error) {
    const file = cannotBeRead(was) ? old : cannotBeRead(is) ? now : `${old} and ${now}`
    throw inFile(file, error)
  }
}

/** Whether an interface cannot be compared with itself either: then the mistake is in this one. */
function cannotBeRead(served: readonly ServedVersion[]): boolean {
  try {
    compareInterfaces(served, served, 0)
    return false
  } catch {
    return true
  }
}

function asData(findings: readonly Finding[]): object {
  const count = (severity: Finding['severity']) => findings.filter((each) => each.severity === severity).length
  return { breaking: count('breaking'), review: count('review'), compatible: count('compatible'), findings }
}

// The OpenAPI documents of the largest public interfaces have about twelve megabytes.
const mostBytes = 20_000_000

/**
 * The versions that a file describes: a declaration, or an OpenAPI document in JSON or YAML.
 *
 * @throws DeclarationError, ConfigurationError if the file cannot be read, with what is wrong in it
 */
async function loadInterface(file: string): Promise<ServedVersion[]> {
  const read = await readOpenApi(file)
  if (read === undefined) {
    const declaration = await loadDeclaration(file)
    const versions = completeVersions(declaration)
    const pathless = !versions.carriers.includes('path')
    return [...versions.all.values()].map(({ name: version, catalog, sunsetAt: sunset }) => {
      // Through JSON, so that every schema is an object of its own, as in a document that was read.
      const document = documentOf(JSON.parse(JSON.stringify(openApiDocument(catalog, { versions }))))
      return { document, version, pathless, catalog, ...(sunset === undefined ? {} : { sunset }) }
    })
  }
  try {
    return [{ document: documentOf(read) }]
  } catch (error) {
    throw inFile(file, error)
  }
}

/** Adds the file to an error about a document. */
function inFile(file: string, error: unknown): unknown {
  return error instanceof DocumentError ? new ConfigurationError(`${file}: ${error.message}`) : error
}

/** The content of an OpenAPI document; `undefined` if the file is none, and is read as a declaration. */
export async function readOpenApi(file: string): Promise<unknown> {
  const kind = extname(file).toLowerCase()
  const found = await stat(file).catch(() => undefined)
  if (found === undefined || !found.isFile() || !['.json', '.yaml', '.yml'].includes(kind)) return undefined
  if (found.size > mostBytes) throw new ConfigurationError(`${file} is larger than twenty megabytes.`)
  const text = (await readFile(file, 'utf8')).replace(/^\uFEFF/, '')
  if (kind !== '.json' && !looksLikeOpenApi(text)) return undefined
  const { value, problems } =
    kind === '.json' ? readJson(text) : (await import('./read-yaml.ts')).readYaml(text, Number.POSITIVE_INFINITY)
  const isDocument = typeof value === 'object' && value !== null && ('openapi' in value || 'swagger' in value)
  if (kind === '.json' && !isDocument) return undefined
  const [problem] = problems
  if (problem === undefined) return value
  const { path, message, remedy } = problem
  throw new ConfigurationError(`${file}, ${path}: ${message.charAt(0).toLowerCase()}${message.slice(1)} ${remedy}`)
}

function looksLikeOpenApi(text: string): boolean {
  return /^\s*\{/.test(text)
    ? /["']?(?:openapi|swagger)["']?\s*:/.test(text)
    : /^["']?(?:openapi|swagger)["']?\s*:/m.test(text)
}
