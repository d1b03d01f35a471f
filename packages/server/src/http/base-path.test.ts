import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import { isWithin, readBasePath } from './base-path.ts'
import { pathWithin } from './message.ts'

test('a base path has plain segments and no slash at its end', () => {
  for (const [given, path] of [
    [undefined, ''],
    ['', ''],
    ['/', ''],
    ['/api', '/api'],
    ['/a/b-c/d_e/~f/1.2', '/a/b-c/d_e/~f/1.2'],
    ['/...', '/...'],
  ] as const) {
    assert.equal(readBasePath(given), path)
  }
  const long = `/${'a'.repeat(200)}`
  const wrong = [
    'api',
    '/api/',
    '//',
    '/a//b',
    '/.',
    '/..',
    '/a/../b',
    '/a/.',
    '/a b',
    '/%61',
    '/a?b',
    '/a#b',
    '/ä',
    long,
  ]
  for (const given of [...wrong, '/a\n', '/a"', '/a>', 'https://example.com/api', null, 3, {}]) {
    assert.throws(() => readBasePath(given as string), ConfigurationError, String(given))
  }
})

test('a path is within a base path if its first segments are exactly the same', () => {
  for (const [path, rest] of [
    ['/api', ''],
    ['/api/', '/'],
    ['/api/v1/tasks', '/v1/tasks'],
    ['/api//v1', '//v1'],
    ['/api/api/v1', '/api/v1'],
    ['/apiary/v1', undefined],
    ['/API/v1', undefined],
    ['/%61pi/v1', undefined],
    ['//api/v1', undefined],
    ['/./api/v1', undefined],
    ['/x/../api/v1', undefined],
    ['/', undefined],
    ['*', undefined],
    ['', undefined],
  ] as const) {
    assert.equal(pathWithin('/api', path), rest, path)
    assert.equal(pathWithin('', path), path)
    assert.equal(isWithin('/api', path), rest !== undefined, path)
  }
  for (const target of ['/api?a=1', '/api/v1?b=/', 'http://example.com/api/v1', 'HTTPS://example.com:80/api?x']) {
    assert.ok(isWithin('/api', target), target)
  }
  for (const target of [
    '/other?/api',
    'http://example.com',
    'http://example.com?/api',
    'http://api/v1',
    'ftp://a/api',
  ]) {
    assert.ok(!isWithin('/api', target), target)
  }
})
