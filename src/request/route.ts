/** What an address is, without the ids in it: few however many records there are, so that requests can be counted by it. */
import type { Target } from './target.ts'

/**
 * The template that an address fits.
 *
 * @param basePath what addresses begin with: `/v1`, or nothing
 * @example
 * routeOf('/v1', target) // '/v1/projects/{id}/tasks'
 */
export function routeOf(basePath: string, target: Target): string {
  switch (target.kind) {
    case 'collection': {
      const { parent, resource } = target
      return parent === undefined
        ? `${basePath}/${resource.name}`
        : `${basePath}/${parent.resource.name}/{id}/${resource.name}`
    }
    case 'record':
      return `${basePath}/${target.resource.name}/{id}`
    case 'restore':
      return `${basePath}/${target.resource.name}/{id}/restore`
    case 'bulk-delete':
      return `${basePath}/${target.resource.name}/bulk-delete`
    case 'exports':
      return `${basePath}/exports`
    case 'export':
      return `${basePath}/exports/{id}`
    case 'export-content':
      return `${basePath}/exports/{id}/content`
    case 'openapi':
      return `${basePath}/openapi.json`
    case 'health':
      return `/health/${target.probe}`
  }
}
