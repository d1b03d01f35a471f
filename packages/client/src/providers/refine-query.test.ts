/** The query parameters of refine's filters that concern related records. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filtered, sorted } from './refine-query.ts'

test('WHR-2: filters and sorters of related records', () => {
  const query = filtered([
    { field: 'author.born', operator: 'gte', value: 1920 },
    { field: 'books.status', operator: 'in', value: ['open', 'lent'] },
    {
      operator: 'or',
      value: [
        { field: 'author.name', operator: 'startswith', value: 'A' },
        { field: 'editor_id', operator: 'null', value: true },
        { operator: 'and', value: [] },
      ],
    },
  ])
  assert.deepEqual(query, {
    'author.born[gte]': 1920,
    'books.status': ['open', 'lent'],
    where: { and: [{ or: [{ author: { name: { startsWith: 'A' } } }, { editor_id: { null: true } }] }] },
  })
  assert.deepEqual(sorted([{ field: 'author.name', order: 'desc' }]), { sort: ['-author.name'] })
})

test('WHR-1: two filters of one name must both match', () => {
  const contains = (value: string) => ({ field: 'title', operator: 'contains', value }) as const
  assert.deepEqual(filtered([contains('a'), contains('b'), { field: 'title', operator: 'ne', value: 'x' }]), {
    'title[contains]': 'a',
    where: { and: [{ title: { contains: 'b' } }] },
    'title[not]': 'x',
  })
})
