import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginningIn } from './responses-in.ts'
import { messagesIn } from './stream-messages.ts'

test('messages are read as the HTML Standard defines, whole ones only', () => {
  const text =
    'retry: 10\n\n: beat\n\nid: 1\nevent: created\ndata: {"a":\ndata: 1}\n\nid: 2\r\ndata:x\r\n\r\nid: 3\ndata: cut'
  assert.deepEqual(messagesIn(text), [
    { id: '1', event: 'created', data: '{"a":\n1}' },
    { id: '2', event: 'message', data: 'x' },
  ])
})

test('a message without an id keeps the last one, and an id alone is no message', () => {
  assert.deepEqual(messagesIn('id: 7\n\ndata: a\n\n'), [{ id: '7', event: 'message', data: 'a' }])
})

test('a response that goes on is read as far as its chunks are whole', () => {
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
  const answer = beginningIn(`${head}5\r\nid: 1\r\n2\r\n\n\n\r\n9\r\ndata`)
  assert.deepEqual([answer?.status, answer?.body], [200, 'id: 1\n\n'])
  assert.equal(beginningIn('HTTP/1.1 200 OK\r\nContent-'), undefined)
})
