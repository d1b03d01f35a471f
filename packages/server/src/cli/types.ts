/** `resourced types`: the types of an interface for the client, from a server, an OpenAPI document or a declaration. */

import { print } from 'resourced-check/terminal'
import { ConfigurationError, UsageError } from 'resourced-contract/spec/configuration-error'
import { interfaceTypes } from '../documents/types/interface-types.ts'
import { documentOfVersion, readOpenApi } from './check-changes.ts'

interface Options {
  readonly key?: string
  readonly version?: string
}

/**
 * Prints the types of an interface.
 *
 * @param source the address of the interface or of its OpenAPI document, or a file; by default the declaration here
 * @throws ConfigurationError if the source cannot be read
 */
export async function typesCommand(source: string | undefined, options: Options): Promise<void> {
  print(interfaceTypes(await documentOf(source, options)))
}

async function documentOf(source: string | undefined, { key, version: name }: Options): Promise<unknown> {
  if (source !== undefined && /^https?:\/\//i.test(source)) {
    if (name !== undefined) throw new UsageError('The address names the version: leave out --version.')
    return fetchDocument(source, key)
  }
  const read = source === undefined ? undefined : await readOpenApi(source)
  return read ?? documentOfVersion(source, name)
}

/** The document at an address, or at `openapi.json` below it. */
async function fetchDocument(source: string, key: string | undefined): Promise<unknown> {
  const url = URL.parse(source)
  if (url === null) throw new UsageError(`${source} is no address: write one such as https://api.example.com/v1.`)
  if (!url.pathname.endsWith('.json')) url.pathname = `${url.pathname.replace(/\/+$/, '')}/openapi.json`
  const headers = { accept: 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) }
  const response = await fetch(url, { headers }).catch((error: unknown) => {
    const { code, message } = Object(Object(error).cause ?? error)
    const remedy = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)
      ? 'Name the file of its certificate in NODE_EXTRA_CA_CERTS.'
      : 'Check the address, and that the server runs.'
    throw new ConfigurationError(`${url} cannot be read: ${code ?? message}. ${remedy}`)
  })
  if (response.status === 401) {
    throw new ConfigurationError(`${url} needs a credential: give one with --key, or as RESOURCED_KEY.`)
  }
  if (!response.ok) {
    const place = 'name the address of a version, such as https://api.example.com/v1, or of the document.'
    throw new ConfigurationError(`${url} answered with status ${response.status}: ${place}`)
  }
  return response.json().catch(() => {
    throw new ConfigurationError(`${url} is no JSON: name the address of an OpenAPI document.`)
  })
}
