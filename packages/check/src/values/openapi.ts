/** Reads what discovery and the cases about documents both need from OpenAPI documents. */
import { parse } from 'yaml'
import { type JsonObject, objectOf } from './json.ts'

/** The value of a text in JSON or YAML; `undefined` if it is neither. */
export function parseText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    try {
      return parse(text, { maxAliasCount: 100, logLevel: 'silent' })
    } catch {
      return undefined
    }
  }
}

/**
 * The paths of the servers that a document or a path item names, with the defaults of their variables.
 *
 * @param base the address to which relative addresses refer
 */
export function serverPaths({ servers }: JsonObject, base: string): string[] {
  return (Array.isArray(servers) ? servers : []).flatMap((each) => {
    const { url, variables } = objectOf(each)
    if (typeof url !== 'string') return []
    const defaults = objectOf(variables)
    const text = url.replace(/\{([^{}]*)\}/g, (_, name) => String(objectOf(defaults[name])['default'] ?? ''))
    return URL.parse(text, base)?.pathname.replace(/\/+$/, '') ?? []
  })
}
