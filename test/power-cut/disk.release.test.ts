import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Disk, emptyDisk, filesAfterCut, type Luck, noLuck, play } from './disk.ts'
import type { TraceEvent } from './trace.ts'

const kept: Luck = { fate: () => 'kept', sector: () => true }
let line = 0

const open = (path: string): TraceEvent => ({ kind: 'open', path, create: true, truncate: false })
const write = (path: string, offset: number, text: string): TraceEvent => {
  return { kind: 'write', path, offset, bytes: Buffer.from(text), ended: ++line }
}
const truncate = (path: string, size: number): TraceEvent => ({ kind: 'truncate', path, size, ended: ++line })
const sync = (path: string, failed = false): TraceEvent => ({ kind: 'sync', path, began: ++line, failed })
const makeFolder = (path: string): TraceEvent => ({ kind: 'make-folder', path })

function played(...events: TraceEvent[]): Disk {
  const disk = emptyDisk('/disk')
  for (const event of events) play(disk, event)
  return disk
}

/** The files and their texts after a cut. */
function after(disk: Disk, luck: Luck = noLuck): Record<string, string> {
  return Object.fromEntries([...filesAfterCut(disk, luck)].map(([path, bytes]) => [path, bytes.toString()]))
}

/** A file with a text, safely there. */
const file = (path: string, text: string) => [open(path), write(path, 0, text), sync(path), sync('/disk')]

test('a write is durable once its file is synced, if the write ended before the sync', () => {
  const disk = played(...file('/disk/a', 'one'), write('/disk/a', 3, ' two'))
  assert.deepEqual(after(disk), { '/disk/a': 'one' })
  assert.deepEqual(after(disk, kept), { '/disk/a': 'one two' })
  play(disk, sync('/disk/b'))
  assert.deepEqual(after(disk), { '/disk/a': 'one' })
  const early = sync('/disk/a')
  play(disk, write('/disk/a', 7, ' three'))
  play(disk, early)
  assert.deepEqual(after(disk), { '/disk/a': 'one two' })
})

test('a name is durable once its folder is synced, even if its file is not', () => {
  const disk = played(open('/disk/a'), write('/disk/a', 0, 'one'), sync('/disk/a'))
  assert.deepEqual(after(disk), {})
  play(disk, sync('/disk'))
  assert.deepEqual(after(disk), { '/disk/a': 'one' })
})

test('a file in a folder whose own name was not synced is lost', () => {
  const inside = [open('/disk/f/a'), write('/disk/f/a', 0, 'one'), sync('/disk/f/a'), sync('/disk/f')]
  const disk = played(makeFolder('/disk/f'), ...inside)
  assert.deepEqual(after(disk), {})
  assert.deepEqual(after(disk, kept), { '/disk/f/a': 'one' })
  play(disk, sync('/disk'))
  assert.deepEqual(after(disk), { '/disk/f/a': 'one' })
})

test('a removed file remains until its folder is synced, and a new file of its name is another file', () => {
  const disk = played(...file('/disk/a', 'old'), { kind: 'unlink', path: '/disk/a' })
  assert.deepEqual(after(disk), { '/disk/a': 'old' })
  for (const event of [open('/disk/a'), write('/disk/a', 0, 'new'), sync('/disk/a')]) play(disk, event)
  assert.deepEqual(after(disk), { '/disk/a': 'old' })
  play(disk, sync('/disk'))
  assert.deepEqual(after(disk), { '/disk/a': 'new' })
})

test('a rename is a removal and a new name', () => {
  const disk = played(...file('/disk/a', 'one'), { kind: 'rename', from: '/disk/a', to: '/disk/b' })
  assert.deepEqual(after(disk), { '/disk/a': 'one' })
  play(disk, sync('/disk'))
  assert.deepEqual(after(disk), { '/disk/b': 'one' })
})

test('truncation is durable once synced; a write beyond the end fills the gap with zeros', () => {
  const disk = played(...file('/disk/a', 'long text'), truncate('/disk/a', 4))
  assert.deepEqual(after(disk), { '/disk/a': 'long text' })
  for (const event of [write('/disk/a', 6, 'x'), sync('/disk/a')]) play(disk, event)
  assert.deepEqual(after(disk), { '/disk/a': 'long\0\0x' })
})

test('a torn write keeps whole sectors of 512 bytes, counted from the beginning of the file', () => {
  const disk = played(...file('/disk/a', '-'.repeat(1600)), write('/disk/a', 500, 'x'.repeat(1000)))
  let sector = 0
  const torn: Luck = { fate: () => 'torn', sector: () => sector++ % 2 === 0 }
  const text = after(disk, torn)['/disk/a'] as string
  assert.equal(text, '-'.repeat(500) + 'x'.repeat(12) + '-'.repeat(512) + 'x'.repeat(476) + '-'.repeat(100))
})

test('a failed sync makes nothing durable, and a later sync does not repair it', () => {
  const disk = played(...file('/disk/a', 'one'), write('/disk/a', 0, 'two'), sync('/disk/a', true), sync('/disk/a'))
  assert.deepEqual(after(disk), { '/disk/a': 'one' })
  for (const event of [write('/disk/a', 0, 'six'), sync('/disk/a')]) play(disk, event)
  assert.deepEqual(after(disk), { '/disk/a': 'six' })
})

test('reading the remaining files changes nothing', () => {
  const disk = played(...file('/disk/a', 'one'), write('/disk/a', 0, 'two'))
  assert.deepEqual(after(disk, kept), { '/disk/a': 'two' })
  assert.deepEqual(after(disk), { '/disk/a': 'one' })
})
