/** Reads the map of an import: a file in YAML or JSON, and the options of the command line, which go before it. */
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { Finding } from 'resourced-contract/model/check/parts'
import { DeclarationError } from 'resourced-contract/model/check/problem'
import { below } from 'resourced-contract/model/place'
import type { Resource } from 'resourced-contract/model/resource'
import { ConfigurationError, UsageError } from 'resourced-contract/spec/configuration-error'
import { delimiterOf, emptyMap, type ImportMap, readImportMap } from '../jobs/column-map.ts'
import { isEncoding } from '../jobs/decode.ts'
import { type Parsed, readJson } from './read-json.ts'

/** What the command line says about the file. */
export interface MapOptions {
  readonly map?: string
  readonly null: readonly string[]
  readonly delimiter?: string
  readonly encoding?: string
  readonly ignoreUnknown?: boolean
  readonly key?: string
}

/**
 * Reads the map and the options of an import.
 *
 * @throws DeclarationError with every mistake in the file, UsageError for an option
 */
export async function loadMap(options: MapOptions, resource: Resource): Promise<ImportMap> {
  const { delimiter, encoding, ignoreUnknown, key } = options
  const separator = delimiter === undefined ? undefined : delimiterOf(delimiter)
  if (delimiter !== undefined && separator === undefined) {
    throw new UsageError(`--delimiter takes one character, or tab, not ${JSON.stringify(delimiter)}.`)
  }
  if (encoding !== undefined && !isEncoding(encoding)) {
    const names = 'utf-8, utf-16le, utf-16be, windows-1252 or another name of the Encoding standard'
    throw new UsageError(`--encoding ${encoding} is not known. Use ${names}.`)
  }
  const map =
    options.map === undefined
      ? emptyMap
      : await readMap(options.map, (value, findings) => readImportMap(value, resource, findings, options.null))
  return {
    ...map,
    nulls: [...map.nulls, ...options.null],
    ignoresUnknown: map.ignoresUnknown || ignoreUnknown === true,
    delimiter: separator ?? map.delimiter,
    encoding: encoding ?? map.encoding,
    key: key ?? map.key,
  }
}

/**
 * Reads a file of data and checks it.
 *
 * @throws DeclarationError with every mistake
 */
export async function readMap<T>(file: string, check: (value: unknown, findings: Finding[]) => T): Promise<T> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new ConfigurationError(`There is no file ${file}.`)
    throw error
  })
  const { value, problems, locate }: Parsed =
    extname(file).toLowerCase() === '.json' ? readJson(text) : (await import('./read-yaml.ts')).readYaml(text)
  if (problems.length > 0) throw new DeclarationError(problems, file)
  const findings: Finding[] = []
  const read = check(value, findings)
  if (findings.length === 0) return read
  const found = findings.map(({ steps, message, remedy, isKey = false }) => {
    const source = locate?.(steps, isKey)
    return { path: steps.length === 0 ? 'the map' : below('', steps), message, remedy, ...(source && { source }) }
  })
  throw new DeclarationError(found, file)
}
