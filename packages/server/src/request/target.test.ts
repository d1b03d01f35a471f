import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { findTarget, routeOf } from './target.ts'

const catalog = completeCatalog({
  name: 'studio',
  resources: {
    projects: { fields: { name: { type: 'string' } } },
    tasks: { fields: { project_id: { reference: 'projects', onDelete: 'cascade' } }, within: 'project_id' },
  },
})

/** Paths, and the templates that they fit; `undefined`: they lead nowhere. */
const table: readonly (readonly [path: string, route: string | undefined])[] = [
  ['/v1/tasks', '/v1/tasks'],
  ['/v1/t%61sks', '/v1/tasks'],
  ['/v1/tasks/17', '/v1/tasks/{id}'],
  ['/v1/projects/17/tasks', '/v1/projects/{id}/tasks'],
  ['/v1/tasks/bulk-delete', '/v1/tasks/bulk-delete'],
  ['/v1/tasks/17/restore', '/v1/tasks/{id}/restore'],
  ['/v1/jobs/17', '/v1/jobs/{id}'],
  ['/v1/exports', '/v1/exports'],
  ['/v1/exports/17/content', '/v1/exports/{id}/content'],
  ['/v1/openapi.json', '/v1/openapi.json'],
  ['/health/ready', '/health/ready'],
  ['/v1/nothing', undefined],
  ['*', undefined],
]

for (const [path, route] of table) {
  test(`OPS-1: ${path} is ${route ?? 'no address'}`, () => {
    const found = findTarget(catalog, path)
    assert.equal(found.kind === 'found' ? routeOf(found.target, `/${catalog.version}`) : undefined, route)
  })
}
