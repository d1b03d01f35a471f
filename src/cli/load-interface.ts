/** Reads an interface to compare: a declaration, or an OpenAPI document in JSON or YAML. */
import { readFile, stat } from 'node:fs/promises'
import { extname } from 'node:path'
import type { ServedVersion } from '../changes/compare.ts'
import { DocumentError, documentOf } from '../changes/openapi/document.ts'
import { openApiDocument } from '../documents/openapi.ts'
import { ConfigurationError } from '../spec/configuration-error.ts'
import { completeVersions } from '../versions/versions.ts'
import { duplicateKeys } from './json-duplicates.ts'
import { loadDeclaration } from './load-declaration.ts'
import { place } from './text-place.ts'

// The documents of the largest public interfaces have some twelve.
const mostBytes = 20_000_000

/**
 * The versions that a file says are served.
 *
 * @throws DeclarationError, ConfigurationError where it cannot be read, and says what is wrong in it
 */
export async function loadInterface(file: string): Promise<ServedVersion[]> {
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

/** An error about a document, with its file; others as they are. */
export function inFile(file: string, error: unknown): unknown {
  return error instanceof DocumentError ? new ConfigurationError(`${file}: ${error.message}`) : error
}

/** What an OpenAPI document says; `undefined` where the file is none. */
async function readOpenApi(file: string): Promise<unknown> {
  const kind = extname(file).toLowerCase()
  const found = await stat(file).catch(() => undefined)
  // Whatever is wrong with the file itself is said where declarations are read.
  if (found === undefined || !found.isFile() || !['.json', '.yaml', '.yml'].includes(kind)) return undefined
  if (found.size > mostBytes) throw new ConfigurationError(`${file} is larger than twenty megabytes.`)
  const text = (await readFile(file, 'utf8')).replace(/^\uFEFF/, '')
  if (kind !== '.json') return looksLikeOpenApi(text) ? await readYaml(file, text) : undefined
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || !('openapi' in value || 'swagger' in value)) return undefined
    const [twice] = duplicateKeys(text)
    if (twice === undefined) return value
    const key = JSON.stringify(twice.key.slice(0, 80))
    throw new ConfigurationError(
      `${file}, ${place(text, twice.offset)}: the key ${key} is there twice. Remove one of the two.`,
    )
  } catch (error) {
    if (error instanceof ConfigurationError) throw error
    return undefined
  }
}

function looksLikeOpenApi(text: string): boolean {
  return /^\s*\{/.test(text)
    ? /["']?(?:openapi|swagger)["']?\s*:/.test(text)
    : /^["']?(?:openapi|swagger)["']?\s*:/m.test(text)
}

async function readYaml(file: string, text: string): Promise<unknown> {
  const { readLargeYaml } = await import('./read-large-yaml.ts')
  const { value, problem } = readLargeYaml(text)
  if (problem !== undefined) throw new ConfigurationError(`${file}, ${problem}`)
  return value
}
