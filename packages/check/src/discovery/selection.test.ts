import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Operation } from '../profile/profile.ts'
import { exclusionNotices, hasItemsPath, reasonToExclude } from './selection.ts'

const exchange = { step: '', asked: { method: 'GET', url: 'http://x/users', fields: [] }, milliseconds: 0 }
const operations: readonly Operation[] = ['list', 'create', 'read', 'delete']

function reason(path: string, ...members: readonly string[]): string | undefined {
  const properties = Object.fromEntries(members.map((each) => [each, { type: 'string' }]))
  return reasonToExclude({ name: path.split('/').at(-1) ?? '', path, operations, record: { properties } })
}

test('A collection with a reserved name is excluded', () => {
  const reserved = ['/_superusers', '/directus_users', '/directus-files', '/pg_stat', '/auth_group', '/admin/orders']
  assert.deepEqual(
    reserved.filter((path) => !reason(path)?.includes('reserve')),
    [],
  )
})

test('A collection whose records act, or say who may do what, is excluded', () => {
  const acting = ['/api-keys', '/access_tokens', '/sessions', '/webhooks', '/payments', '/exports', '/jobs']
  const configuring = ['/roles', '/permissions', '/settings', '/superusers', '/buckets', '/audit-logs', '/collections']
  assert.deepEqual(
    acting.filter((path) => !reason(path)?.includes('may act')),
    [],
  )
  assert.deepEqual(
    configuring.filter((path) => !reason(path)?.includes('may configure')),
    [],
  )
  assert.equal(reasonToExclude({ name: 'jobs', path: '/jobs', operations: ['list', 'read'] }), undefined)
})

test('Accounts and stored files are recognised by their members', () => {
  assert.match(reason('/users', 'email', 'role') ?? '', /accounts \(email and role\)/)
  assert.match(reason('/customers', 'name', 'password_hash') ?? '', /accounts \(password_hash\)/)
  assert.match(reason('/people', 'email', 'is_superuser') ?? '', /accounts/)
  assert.match(reason('/files', 'filename', 'mimetype') ?? '', /stored files/)
  const users = { name: 'users', path: '/users', operations }
  assert.match(
    reasonToExclude({ ...users, listed: { exchange, first: { email: 'a@b.example', emailVisibility: false } } }) ?? '',
    /accounts/,
  )
})

test('Collections of an application are included', () => {
  const own: readonly (readonly string[])[] = [
    ['/orders', 'title', 'note'],
    ['/users', 'name', 'email'],
    ['/employees', 'email', 'role'],
    ['/customers', 'email', 'verified'],
    ['/files', 'title'],
    ['/items/keywords', 'word'],
    ['/tasks', 'title', 'url', 'hash'],
  ]
  assert.deepEqual(
    own.filter(([path = '', ...members]) => reason(path, ...members) !== undefined),
    [],
  )
})

test('A document with /items, /collections and /fields keeps the items of the application below /items', () => {
  assert.equal(hasItemsPath(['/items/a', '/collections', '/fields', '/panels']), true)
  assert.equal(hasItemsPath(['/items', '/collections', '/fields']), false)
})

test('A notice names all collections with the same reason, and how to include one', () => {
  const why = 'its records may act'
  const [one, ...others] = exclusionNotices([
    { name: 'keys', why },
    { name: 'hooks', why },
  ])
  assert.match(one ?? '', /^keys, hooks are excluded: .*--collection NAME or an entry in a profile/)
  assert.deepEqual(others, [])
})
