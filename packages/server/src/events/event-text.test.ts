import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commentText, eventText, idText, retryText } from './event-text.ts'

test('an event has its id, its kind and its data, and ends with an empty line', () => {
  assert.equal(eventText('t1', 'created', '{"a":1}'), 'id: t1\nevent: created\ndata: {"a":1}\n\n')
})

test('data of several lines stay one event, whatever ends the lines', () => {
  const text = eventText('t', 'updated', 'a\r\nb\rc\n\nd')
  assert.equal(text, 'id: t\nevent: updated\ndata: a\ndata: b\ndata: c\ndata: \ndata: d\n\n')
})

test('a comment stays one line', () => {
  assert.equal(commentText('over\nid: forged\r\n\r\ndata: x'), ': over id: forged data: x\n\n')
})

test('an id and the time before a reconnection are blocks of their own', () => {
  assert.equal(retryText(1_500) + idText('t'), 'retry: 1500\n\nid: t\n\n')
})
