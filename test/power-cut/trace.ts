/** Reads what strace wrote: which changes a process made to the files of a folder, and what it said on its sockets. */
import { resolve } from 'node:path'

/**
 * What strace has to be told, so that everything that could change a file is seen; `?`: not every machine has the call.
 */
export const straceOptions = [
  ...['-f', '-y', '-xx', '-s', '4000000', '--seccomp-bpf'],
  ...['-e', 'signal=none', '-e'],
  `trace=${[
    ...['openat', '?openat2', '?open', '?creat', 'write', 'writev', 'pwrite64', 'pwritev', '?pwritev2'],
    ...[
      'sendto',
      'sendmsg',
      '?sendmmsg',
      '?sendfile',
      '?splice',
      'ftruncate',
      'truncate',
      'fallocate',
      '?copy_file_range',
    ],
    ...['fsync', 'fdatasync', '?sync', '?syncfs', '?sync_file_range', '?rename', 'renameat', '?renameat2'],
    ...['?link', 'linkat', '?symlink', 'symlinkat', '?unlink', 'unlinkat', '?mkdir', 'mkdirat', '?rmdir', 'mmap'],
    ...['?io_uring_setup'],
  ].join(',')}`,
]

/** One thing that happened, in order. Paths are absolute. */
export type TraceEvent =
  | { readonly kind: 'open'; readonly path: string; readonly create: boolean; readonly truncate: boolean }
  | {
      readonly kind: 'write'
      readonly path: string
      readonly offset: number
      readonly bytes: Buffer
      readonly ended: number
    }
  | { readonly kind: 'truncate'; readonly path: string; readonly size: number; readonly ended: number }
  /** What had ended before this moment is on the disk; or, where it failed, may never be. */
  | { readonly kind: 'sync'; readonly path: string; readonly began: number; readonly failed: boolean }
  | { readonly kind: 'make-folder'; readonly path: string }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'unlink'; readonly path: string }
  /** Bytes handed to a socket: from here on somebody may have read them. */
  | { readonly kind: 'sent'; readonly bytes: Buffer }

interface Call {
  readonly name: string
  readonly parameters: string
  /** What it returned; `undefined` where the process was ended first. */
  readonly result: number | undefined
  /** Lines of the trace. */
  readonly began: number
  readonly ended: number
}

/**
 * Reads a trace made with `straceOptions`.
 *
 * @param folder only its files matter
 * @throws Error where a file in the folder is changed in a way that is not understood: the rebuilt disk would be wrong
 */
export function readTrace(text: string, folder: string): TraceEvent[] {
  const calls = [...callsOf(text)]
  // A write may reach the disk as soon as it begins, a sync is one when it has ended.
  const moment = ({ name, began, ended }: Call) => (name === 'fsync' || name === 'fdatasync' ? ended : began)
  calls.sort((left, right) => moment(left) - moment(right))
  return calls.flatMap((call) => eventsOf(call, folder))
}

function* callsOf(text: string): Generator<Call> {
  const unfinished = new Map<string, { readonly text: string; readonly began: number }>()
  // What a process was doing when it was ended may have happened.
  function* interrupted(process: string, ended: number): Generator<Call> {
    const { text: call, began } = unfinished.get(process) ?? { text: '', began: 0 }
    const [, name, parameters = ''] = /^(\w+)\((.*)$/.exec(call) ?? []
    unfinished.delete(process)
    if (name !== undefined) yield { name, parameters, result: undefined, began, ended }
  }
  let number = 0
  for (const line of text.split('\n')) {
    number++
    const [, process = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    if (rest.startsWith('+++')) yield* interrupted(process, number)
    if (rest === '' || rest.startsWith('+++')) continue
    if (rest.endsWith(' <unfinished ...>')) {
      unfinished.set(process, { text: rest.slice(0, -' <unfinished ...>'.length), began: number })
      continue
    }
    const resumed = /^<\.\.\. \w+ resumed>/.exec(rest)?.[0]
    const start = resumed === undefined ? undefined : unfinished.get(process)
    if (start !== undefined) unfinished.delete(process)
    const call = `${start?.text ?? ''}${rest.slice(resumed?.length ?? 0)}`
    const [, name, parameters, result] = /^(\w+)\((.*)\) += (-?\d+|0x[0-9a-f]+|\?)/.exec(call) ?? []
    if (name === undefined || parameters === undefined)
      throw new Error(`Line ${number} is no call: ${call.slice(0, 200)}`)
    yield {
      name,
      parameters,
      result: result === '?' ? undefined : Number(result),
      began: start?.began ?? number,
      ended: number,
    }
  }
}

function eventsOf(call: Call, folder: string): TraceEvent[] {
  const { name, parameters, result, began, ended } = call
  const failed = result !== undefined && result < 0
  const isSync = name === 'fsync' || name === 'fdatasync'
  if ((failed && !isSync) || (result === undefined && name !== 'pwrite64')) return []
  const descriptor = descriptorOf(parameters)
  if (descriptor?.startsWith('socket:') || descriptor?.startsWith('TCP')) {
    return name.startsWith('write') || name.startsWith('send') ? [{ kind: 'sent', bytes: stringsOf(parameters) }] : []
  }
  const paths = pathsOf(call)
  if (!paths.some((path) => isWithin(path, folder))) return []
  const path = paths[0] as string
  switch (name) {
    case 'openat':
    case 'open':
      return [{ kind: 'open', path, create: parameters.includes('O_CREAT'), truncate: parameters.includes('O_TRUNC') }]
    case 'pwrite64': {
      const bytes = stringsOf(parameters).subarray(0, result)
      if (result !== undefined && bytes.length !== result) throw new Error('The trace holds less than was written.')
      return [{ kind: 'write', path, offset: lastNumber(parameters), bytes, ended }]
    }
    case 'ftruncate':
    case 'truncate':
      return [{ kind: 'truncate', path, size: lastNumber(parameters), ended }]
    case 'fsync':
    case 'fdatasync':
      return [{ kind: 'sync', path, began, failed }]
    case 'mkdir':
    case 'mkdirat':
      return [{ kind: 'make-folder', path }]
    case 'rename':
    case 'renameat':
    case 'renameat2':
      return [{ kind: 'rename', from: path, to: paths[1] as string }]
    case 'unlink':
    case 'unlinkat':
      return [{ kind: 'unlink', path }]
    case 'mmap':
      // What is written to memory that is shared with a file is not seen here. The wal-index (-shm) need not survive.
      if (!parameters.includes('MAP_SHARED') || !parameters.includes('PROT_WRITE') || path.endsWith('-shm')) return []
  }
  throw new Error(`${path} is changed by ${name}, which is not understood.`)
}

function pathsOf({ name, parameters }: Call): string[] {
  const descriptor = descriptorOf(parameters)
  // Its first parameter is the address.
  if (name === 'mmap') return descriptorsOf(parameters)
  if (/^(open|creat|truncate|rename|link|symlink|unlink|mkdir|rmdir)/.test(name)) {
    const start = descriptor ?? '/'
    return [...parameters.matchAll(strings)].map(([, hex]) => resolve(start, decode(hex as string).toString()))
  }
  return descriptor === undefined ? [] : [descriptor]
}

const strings = /"((?:\\x[0-9a-f]{2})*)"/g

function stringsOf(parameters: string): Buffer {
  return Buffer.concat([...parameters.matchAll(strings)].map(([, hex]) => decode(hex as string)))
}

function decode(hex: string): Buffer {
  return Buffer.from(hex.replaceAll('\\x', ''), 'hex')
}

/** What the first parameter, a file descriptor, stands for; a file that has no name any more is no path. */
function descriptorOf(parameters: string): string | undefined {
  return /^(?:\d+|AT_FDCWD)</.test(parameters) ? descriptorsOf(parameters)[0] : undefined
}

function descriptorsOf(parameters: string): string[] {
  return [...parameters.matchAll(/(?:^|, )(?:\d+|AT_FDCWD)<([^>]*)>(\(deleted\))?/g)].map(([, path = '', gone]) => {
    const decoded = path.startsWith('\\x') ? decode(path).toString() : path
    return gone === undefined && !decoded.endsWith(' (deleted)') ? decoded : 'deleted:'
  })
}

function lastNumber(parameters: string): number {
  return Number(/(\d+)\)?$/.exec(parameters)?.[1])
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}
