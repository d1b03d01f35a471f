/** What an operation needs from whoever calls it. */
import { canonical } from './canonical.ts'
import { child, type Document, DocumentError, follow, isObject, items, members, type Part } from './document.ts'

const mostAlternatives = 100

/**
 * The alternatives, each a set of needs. A scheme is known by what it is, and not by the name that it has in the document.
 * Nothing declared, and an empty requirement, need nothing.
 */
export function securityOf(document: Document, part: Part | undefined): ReadonlySet<string>[] {
  const root: Part = { value: document.root, pointer: '' }
  const components = child(root, 'components')
  const schemes = components && child(components, 'securitySchemes')
  const alternatives = items(part).map((requirement) => {
    const needs = members(requirement).flatMap(([name, scopes]) => {
      const scheme = schemes && child(schemes, name)
      const known = scheme === undefined ? name : schemeOf(follow(document, scheme), name)
      return [known, ...items(scopes).map(({ value }) => `${known} with scope ${String(value)}`)]
    })
    return new Set(needs)
  })
  const different = [...new Map(alternatives.map((needs) => [[...needs].sort().join('\n'), needs])).values()]
  if (different.length > mostAlternatives) {
    throw new DocumentError(part?.pointer ?? '', `names more than ${mostAlternatives} ways to authenticate.`)
  }
  return different.length === 0 ? [new Set()] : different
}

function schemeOf({ value }: Part, name: string): string {
  if (!isObject(value)) return name
  const { type, scheme, name: field, in: place, flows, openIdConnectUrl } = value
  if (type === 'http') return `HTTP ${String(scheme).toLowerCase()}`
  if (type === 'apiKey') return `key in ${String(place)} ${String(field)}`
  if (type === 'oauth2') return `OAuth 2 (${isObject(flows) ? Object.keys(flows).sort().join(', ') : ''})`
  if (type === 'openIdConnect') return `OpenID Connect of ${String(openIdConnectUrl)}`
  return canonical(value)
}
