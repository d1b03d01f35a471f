import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatLinks } from './header-fields.ts'

test('links are a list of targets with their relations', () => {
  const links = [
    { target: '/v1/tasks?page=1&sort=-name', rel: 'first' },
    { target: '/v1/tasks?page=3', rel: 'next last' },
  ]
  assert.equal(formatLinks(links), '</v1/tasks?page=1&sort=-name>; rel="first", </v1/tasks?page=3>; rel="next last"')
  assert.equal(formatLinks([]), '')
})

test('a target cannot end its brackets or the field', () => {
  assert.equal(
    formatLinks([{ target: '/a>; rel="x"\r\nB: é', rel: 'next' }]),
    '</a%3E;%20rel=%22x%22%0D%0AB:%20%C3%A9>; rel="next"',
  )
})

test('percent-encoded characters stay encoded', () => {
  assert.equal(
    formatLinks([{ target: '/v1/tasks?name=a%20b%2C', rel: 'self' }]),
    '</v1/tasks?name=a%20b%2C>; rel="self"',
  )
})
