/** What an address is, without the ids in it: few however many records there are, so that requests can be counted by it. */
import type { Target } from './target.ts'

/**
 * The template that an address fits.
 *
 * @param version the catalog's, with which its addresses begin
 * @example
 * routeOf('v1', target) // '/v1/projects/{id}/tasks'
 */
export function routeOf(version: string, target: Target): string {
  switch (target.kind) {
    case 'collection': {
      const { parent, resource } = target
      return parent === undefined
        ? `/${version}/${resource.name}`
        : `/${version}/${parent.resource.name}/{id}/${resource.name}`
    }
    case 'record':
      return `/${version}/${target.resource.name}/{id}`
    case 'restore':
      return `/${version}/${target.resource.name}/{id}/restore`
    case 'bulk-delete':
      return `/${version}/${target.resource.name}/bulk-delete`
    case 'exports':
      return `/${version}/exports`
    case 'export-content':
      return `/${version}/exports/{id}/content`
    case 'openapi':
      return `/${version}/openapi.json`
    case 'health':
      return `/health/${target.probe}`
  }
}
