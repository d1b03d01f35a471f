/** The requests that every client may send: those of the OpenAPI documents, of health, and the pages' own files. */
import { openApiDocument } from '../../packages/server/src/documents/openapi.ts'
import type { Versions } from '../../packages/server/src/versions/versions.ts'

interface Document {
  readonly paths: Readonly<Record<string, { readonly servers?: unknown }>>
}

/** Whether a request is a part of the public interface. */
export type IsPublic = (method: string, path: string) => boolean

/** Makes the comparison for all versions of an interface. */
export function publicRequests(versions: Versions): IsPublic {
  const { all, basePath } = versions
  const known = [...all.values()].flatMap((version) => {
    const { paths } = openApiDocument(version.catalog, { versions }) as Document
    return Object.entries(paths).map(([template, operations]) => ({
      methods: new Set(Object.keys(operations).map((name) => name.toUpperCase())),
      // A path with servers of its own does not belong to a version.
      path: pattern(`${operations.servers === undefined ? version.basePath : basePath}${template}`),
    }))
  })
  const read = new Set(['GET'])
  const bases = ['', ...[...all.keys()].map((name) => `/${name}`)]
  return (method, path) =>
    known.some((each) => each.methods.has(method) && each.path.test(path)) ||
    (read.has(method) &&
      (path === `${basePath}/health/metrics` ||
        bases.some((base) =>
          new RegExp(`^${basePath}${base}/(?:console|docs)(?:/assets/[\\w-]+\\.\\w+)?$`).test(path),
        )))
}

/** The addresses of a path such as `/projects/{id}`. */
function pattern(template: string): RegExp {
  return new RegExp(`^${template.replaceAll(/[.+*?^$()[\]|\\]/g, '\\$&').replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}
