/**
 * A disk as it could be after a power cut. Sure is only what was synced: a file's bytes and length by syncing the file,
 * its name by syncing its folder. Everything else may be there or not, each write and each name for itself, and of a
 * write any of its sectors. A sector that no write touched stays as it was.
 */
import { dirname } from 'node:path'
import type { TraceEvent } from './trace.ts'

/** What happens to something that was not synced. `torn`: some sectors of a write reach the disk. */
export type Fate = 'lost' | 'kept' | 'torn'

/** Decides what survives. */
export interface Luck {
  fate(): Fate
  /** Whether one sector of a torn write survives. */
  sector(): boolean
}

/** The worst: nothing survives that was not synced. */
export const noLuck: Luck = { fate: () => 'lost', sector: () => false }

const sectorSize = 512

interface Content {
  bytes: Buffer
  size: number
}

type FileChange = Extract<TraceEvent, { kind: 'write' | 'truncate' }>

interface File {
  readonly kind: 'file'
  readonly synced: Content
  pending: FileChange[]
}

type Node = File | { readonly kind: 'folder' }

interface NameChange {
  readonly path: string
  /** `undefined`: the name goes. */
  readonly node: Node | undefined
}

/** A disk while a trace is played on it. */
export interface Disk {
  /** Names as the processes see them. */
  readonly names: Map<string, Node>
  readonly syncedNames: Map<string, Node>
  pendingNames: NameChange[]
}

/** A disk with one folder, which is sure to be there. */
export function emptyDisk(folder: string): Disk {
  const node: Node = { kind: 'folder' }
  return { names: new Map([[folder, node]]), syncedNames: new Map([[folder, node]]), pendingNames: [] }
}

/**
 * Plays an event on a disk.
 *
 * @throws Error where the event does not fit what is there
 */
export function play(disk: Disk, event: TraceEvent): void {
  switch (event.kind) {
    case 'open':
      if (event.create && !disk.names.has(event.path)) {
        rename(disk, event.path, { kind: 'file', synced: { bytes: Buffer.alloc(0), size: 0 }, pending: [] })
      } else if (event.truncate) {
        fileAt(disk, event.path).pending.push({ kind: 'truncate', path: event.path, size: 0, ended: 0 })
      }
      return
    case 'write':
    case 'truncate':
      fileAt(disk, event.path).pending.push(event)
      return
    case 'sync':
      sync(disk, event)
      return
    case 'make-folder':
      rename(disk, event.path, { kind: 'folder' })
      return
    case 'rename':
      rename(disk, event.to, fileAt(disk, event.from))
      rename(disk, event.from, undefined)
      return
    case 'unlink':
      rename(disk, event.path, undefined)
  }
}

/** The files that are on a disk after a power cut at this moment, by path. */
export function filesAfterCut(disk: Disk, luck: Luck): Map<string, Buffer> {
  const names = new Map(disk.syncedNames)
  for (const change of disk.pendingNames) if (luck.fate() === 'kept') setName(names, change)
  const files = new Map<string, Buffer>()
  for (const [path, node] of names) {
    if (node.kind === 'folder' || !isReachable(names, path)) continue
    const content = { bytes: Buffer.from(node.synced.bytes), size: node.synced.size }
    for (const change of node.pending) survive(content, change, luck)
    files.set(path, content.bytes.subarray(0, content.size))
  }
  return files
}

function sync(disk: Disk, { path, began, failed }: Extract<TraceEvent, { kind: 'sync' }>): void {
  const node = disk.names.get(path)
  if (node === undefined) return
  if (node.kind === 'folder') {
    if (failed) return
    for (const change of disk.pendingNames) if (dirname(change.path) === path) setName(disk.syncedNames, change)
    disk.pendingNames = disk.pendingNames.filter((change) => dirname(change.path) !== path)
    return
  }
  const covered = node.pending.filter((change) => change.ended < began)
  node.pending = node.pending.filter((change) => change.ended >= began)
  // Linux forgets what it could not write: the next sync succeeds without it.
  if (!failed) for (const change of covered) apply(node.synced, change)
}

function rename(disk: Disk, path: string, node: Node | undefined): void {
  const change = { path, node }
  setName(disk.names, change)
  disk.pendingNames.push(change)
}

function setName(names: Map<string, Node>, { path, node }: NameChange): void {
  if (node === undefined) names.delete(path)
  else names.set(path, node)
}

function fileAt(disk: Disk, path: string): File {
  const node = disk.names.get(path)
  if (node?.kind !== 'file') throw new Error(`${path} is no file.`)
  return node
}

function isReachable(names: ReadonlyMap<string, Node>, path: string): boolean {
  // The first name of all is the folder that is sure to be there.
  const [root] = names.keys()
  for (let folder = dirname(path); folder !== root; folder = dirname(folder)) {
    if (names.get(folder)?.kind !== 'folder') return false
  }
  return true
}

function survive(content: Content, change: FileChange, luck: Luck): void {
  const fate = luck.fate()
  if (fate === 'lost') return
  if (fate === 'kept' || change.kind === 'truncate') {
    apply(content, change)
    return
  }
  const { offset, bytes } = change
  for (let start = 0; start < bytes.length; ) {
    const end = Math.min(bytes.length, start + sectorSize - ((offset + start) % sectorSize))
    if (luck.sector()) apply(content, { ...change, offset: offset + start, bytes: bytes.subarray(start, end) })
    start = end
  }
}

function apply(content: Content, change: FileChange): void {
  const end = change.kind === 'write' ? change.offset + change.bytes.length : change.size
  if (end > content.bytes.length) {
    const larger = Buffer.alloc(Math.max(end, content.bytes.length * 2))
    content.bytes.copy(larger, 0, 0, content.size)
    content.bytes = larger
  }
  if (change.kind === 'write') {
    change.bytes.copy(content.bytes, change.offset)
    content.size = Math.max(content.size, end)
    return
  }
  // What lies beyond the end reads as zeros, should the file grow again.
  content.bytes.fill(0, Math.min(end, content.size), content.size)
  content.size = end
}
