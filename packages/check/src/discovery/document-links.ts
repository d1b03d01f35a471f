/** Finds OpenAPI documents in pages: links and settings of documentation pages, and documents inside their scripts. */
import { type Answer, fieldOf } from '../client/exchange.ts'
import type { JsonObject } from '../values/json.ts'
import { readDocument } from './openapi.ts'

const inPages = [
  /<link\b(?=[^>]*\brel=["']?(?:service-desc|describedby|alternate)\b)[^>]*\bhref=["']([^"']+)["']/gi,
  // Settings of Swagger UI, ReDoc, Scalar and RapiDoc, and the scripts that hold those of Swagger UI.
  /(?:\b(?:spec-?url|data-url|apiDescriptionUrl|url)["']?\s*[:=]\s*)["']([^"'<>\s]+)["']/gi,
  // Any text that is the path of a file: the address may be put together (contextPath + '/swagger/shop-1.0.yml').
  /["']([^"'<>\s]*\/[^"'<>\s]+\.(?:ya?ml|json))["']/gi,
  /<script\b[^>]*\bsrc=["']([^"']*swagger[\w-]*(?:init|initializer)[^"']*)["']/gi,
  /\bhref=["']([^"']*(?:openapi|swagger|api-?docs|schema)[^"']*)["']/gi,
]

const mostLinks = 12

/** Addresses on the same server that may lead to a document, from `Link` (RFC 8631) and from a page or its script. */
export function documentLinks(answer: Answer, url: string): string[] {
  const fields = (fieldOf(answer, 'Link') ?? '').matchAll(/<([^<>]*)>[^<]*?\brel="?[^";,]*service-desc/gi)
  const isPage = /^\s*<|\bSwaggerUI/i.test(answer.body)
  const links = isPage ? inPages.flatMap((each) => [...answer.body.matchAll(each)]) : []
  const found = [...fields, ...links].flatMap(([, target = '']) => {
    const link = URL.parse(target, url)
    const isDocument = link?.origin === new URL(url).origin && !/\.(?:css|png|svg|ico)$/.test(link.pathname)
    return isDocument && link !== null ? [link.href] : []
  })
  return [...new Set(found)].slice(0, mostLinks)
}

/** The document inside a script of Swagger UI (`"swaggerDoc": {…}`); `undefined` if there is none. */
export function documentIn(script: string): JsonObject | undefined {
  for (const { 0: start, index } of script.matchAll(/["']?\b(?:swaggerDoc|spec)["']?\s*[:=]\s*(?=\{\s*")/g)) {
    const from = index + start.length
    const end = endOfObject(script, from)
    const found = end === undefined ? undefined : readDocument(script.slice(from, end))
    if (found !== undefined) return found
  }
  return undefined
}

/** Where the object that begins at an index ends. */
function endOfObject(text: string, from: number): number | undefined {
  let depth = 0
  // Texts are skipped whole: they may contain braces.
  for (const { 0: token, index } of text.slice(from).matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token === '{') depth++
    else if (token === '}' && --depth === 0) return from + index + 1
  }
  return undefined
}
