import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTrace, type TraceEvent } from './trace.ts'

/** A text as strace writes it with -xx. */
function hex(text: string): string {
  return [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')
}

const open = (path: string, flags: string, descriptor: number) =>
  `7 openat(AT_FDCWD<${hex('/home')}>, "${hex(path)}", ${flags}, 0644) = ${descriptor}<${hex(path)}>`
const write = (path: string, text: string, offset: number, end = `) = ${text.length}`) =>
  `7 pwrite64(5<${hex(path)}>, "${hex(text)}", ${text.length}, ${offset}${end}`

function read(...lines: string[]): TraceEvent[] {
  return readTrace(lines.join('\n'), '/disk')
}

test('calls that change files of the folder are read, all others are left out', () => {
  const events = read(
    open('/etc/hosts', 'O_RDONLY|O_CLOEXEC', 4),
    `7 mkdir("${hex('/disk/data')}", 0700) = 0`,
    `7 mkdir("${hex('/disk/data')}", 0700) = -1 EEXIST (File exists)`,
    open('/disk/data/a', 'O_RDWR|O_CREAT|O_CLOEXEC', 5),
    write('/disk/data/a', 'text', 16),
    write('/tmp/other', 'text', 0),
    `7 ftruncate(5<${hex('/disk/data/a')}>, 18) = 0`,
    `7 fdatasync(5<${hex('/disk/data/a')}>) = 0`,
    `7 rename("${hex('/disk/data/a')}", "${hex('/disk/data/b')}") = 0`,
    `7 unlink("${hex('/disk/data/b')}") = 0`,
    '7 +++ exited with 0 +++',
  )
  assert.deepEqual(events, [
    { kind: 'make-folder', path: '/disk/data' },
    { kind: 'open', path: '/disk/data/a', create: true, truncate: false },
    { kind: 'write', path: '/disk/data/a', offset: 16, bytes: Buffer.from('text'), ended: 5 },
    { kind: 'truncate', path: '/disk/data/a', size: 18, ended: 7 },
    { kind: 'sync', path: '/disk/data/a', began: 8, failed: false },
    { kind: 'rename', from: '/disk/data/a', to: '/disk/data/b' },
    { kind: 'unlink', path: '/disk/data/b' },
  ])
})

test('data written to a socket counts as known to clients from then on', () => {
  const events = read(
    `7 write(9<${hex('socket:[17]')}>, "${hex('HTTP/1.1 204')}", 12) = 12`,
    `7 writev(9<${hex('socket:[17]')}>, [{iov_base="${hex('one ')}", iov_len=4}, {iov_base="${hex('two')}", iov_len=3}], 2) = 7`,
    `7 write(1<${hex('pipe:[18]')}>, "${hex('log')}", 3) = 3`,
  )
  const sent = events.map((event) => (event.kind === 'sent' ? event.bytes.toString() : event.kind))
  assert.deepEqual(sent, ['HTTP/1.1 204', 'one two'])
})

test('a call in two lines begins and ends at those lines', () => {
  const events = read(
    write('/disk/a', 'early', 0, ' <unfinished ...>'),
    `8 fsync(5<${hex('/disk/a')}> <unfinished ...>`,
    '7 <... pwrite64 resumed>) = 5',
    write('/disk/a', 'late', 5),
    '8 <... fsync resumed>) = 0',
  )
  assert.deepEqual(
    events.map((event) => [event.kind, 'ended' in event ? event.ended : 'began' in event ? event.began : undefined]),
    [['write', 3], ['write', 4], ['sync', 2]], // biome-ignore format: one row reads best
  )
})

test('a write that was running when the process was killed may have happened', () => {
  const events = read(write('/disk/a', 'last', 0, ' <unfinished ...>'), '7 +++ killed by SIGKILL +++')
  assert.deepEqual(events, [{ kind: 'write', path: '/disk/a', offset: 0, bytes: Buffer.from('last'), ended: 2 }])
})

test('a failed sync is distinguished from a successful one', () => {
  const events = read(`7 fsync(5<${hex('/disk/a')}>) = -1 EIO (Input/output error) (INJECTED)`)
  assert.deepEqual(events, [{ kind: 'sync', path: '/disk/a', began: 1, failed: true }])
})

test('a file that no longer has a name, and the shared memory of the wal-index, are ignored', () => {
  const map = (path: string) => `7 mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, 5<${hex(path)}>, 0) = 0x7f00`
  const gone = `7 pwrite64(5<${hex('/disk/a')}>(deleted), "${hex('x')}", 1, 0) = 1`
  assert.deepEqual(read(gone, map('/disk/a-shm')), [])
  assert.throws(() => read(map('/disk/a')), /mmap, which is not understood/)
})

test('an unknown change is an error, and is never left out', () => {
  const plain = `7 write(5<${hex('/disk/a')}>, "${hex('x')}", 1) = 1`
  const relative = `7 linkat(AT_FDCWD<${hex('/disk')}>, "${hex('a')}", AT_FDCWD<${hex('/disk')}>, "${hex('b')}", 0) = 0`
  for (const line of [plain, relative]) assert.throws(() => read(line), /not understood/)
  assert.throws(() => read('7 something odd'), /is no call/)
})
