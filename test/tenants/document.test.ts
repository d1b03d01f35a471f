/** TEN-3: the OpenAPI document of an interface with tenants. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { openApiDocument } from '../../packages/server/src/documents/openapi.ts'

const resources = { notes: { fields: { text: { type: 'string' } } } } as const
const declaration: InterfaceDeclaration = { name: 'notes', tenants: { caller: 'claims.team' }, resources }

// biome-ignore lint/suspicious/noExplicitAny: a document has every shape
const documentOf = (declared: InterfaceDeclaration) => openApiDocument(completeCatalog(declared)) as any

it('TEN-3: the document has the operations of tenants, their codes, and nothing internal', () => {
  const { paths, components, tags, ...rest } = documentOf(declaration)
  const methods = (path: string) => Object.keys(paths[path]).filter((each) => each !== 'parameters')
  assert.deepEqual(methods('/tenants'), ['get', 'post'])
  assert.deepEqual(methods('/tenants/{id}'), ['get', 'delete'])
  assert.deepEqual(methods('/tenants/{id}/restore'), ['post'])
  assert.deepEqual(Object.keys(paths['/tenants'].post.requestBody.content['application/json'].schema.properties), [
    'name',
  ])
  const shown = ['id', 'name', 'state', 'bytes', 'created_at', 'updated_at', 'deleted_at']
  assert.deepEqual(Object.keys(components.schemas.Tenant.properties), shown)
  assert.ok(tags.some(({ name }: { name: string }) => name === 'tenants'))
  for (const code of ['NO_TENANT', 'UNKNOWN_TENANT', 'TENANT_MIGRATING']) assert.ok(code in rest['x-problems'].codes)
  assert.ok(!/schema_hash|wakes_at/.test(JSON.stringify(documentOf(declaration))))
})

it('TEN-3: without tenants the document says nothing of them', () => {
  assert.ok(!/tenant/i.test(JSON.stringify(documentOf({ name: 'notes', resources }))))
})
