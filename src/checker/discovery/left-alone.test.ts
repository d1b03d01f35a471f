import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Operation } from '../profile/profile.ts'
import { keepsItemsApart, noticesOf, reasonToLeave } from './left-alone.ts'

const operations: readonly Operation[] = ['list', 'create', 'read', 'delete']

function reason(path: string, ...members: readonly string[]): string | undefined {
  const properties = Object.fromEntries(members.map((each) => [each, { type: 'string' }]))
  return reasonToLeave({ name: path.split('/').at(-1) ?? '', path, operations, record: { properties } })
}

test('A collection that is reserved by its name is left alone', () => {
  const reserved = ['/_superusers', '/directus_users', '/directus-files', '/pg_stat', '/auth_group', '/admin/orders']
  assert.deepEqual(
    reserved.filter((path) => !reason(path)?.includes('reserve')),
    [],
  )
})

test('A collection whose records act, or say who may do what, is left alone', () => {
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
  assert.equal(reasonToLeave({ name: 'jobs', path: '/jobs', operations: ['list', 'read'] }), undefined)
})

test('Accounts and stored files are recognised by their members', () => {
  assert.match(reason('/users', 'email', 'role') ?? '', /accounts \(email and role\)/)
  assert.match(reason('/customers', 'name', 'password_hash') ?? '', /accounts \(password_hash\)/)
  assert.match(reason('/people', 'email', 'is_superuser') ?? '', /accounts/)
  assert.match(reason('/files', 'filename', 'mimetype') ?? '', /stored files/)
  const draft = { name: 'users', path: '/users', operations }
  assert.match(reasonToLeave(draft, { email: 'a@b.example', emailVisibility: false }) ?? '', /accounts/)
})

test('Collections of an application are not left alone', () => {
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

test('Where the items of an application have a place of their own, all else is the system', () => {
  assert.equal(keepsItemsApart(['/items/a', '/collections', '/fields', '/panels']), true)
  assert.equal(keepsItemsApart(['/items', '/collections', '/fields']), false)
})

test('A notice names all collections of a reason, and how to include one', () => {
  const why = 'its records may act'
  const [one, ...others] = noticesOf([
    { name: 'keys', why },
    { name: 'hooks', why },
  ])
  assert.match(one ?? '', /^keys, hooks are left alone: .*--collection NAME, or an entry in a profile/)
  assert.deepEqual(others, [])
})
