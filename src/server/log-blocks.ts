/** Lines of the log, put together to blocks before they are written: each write of its own would cost more than the line. */
import { fstatSync } from 'node:fs'
import { type DestinationStream, destination } from 'pino'

/** So many characters are a block. */
const blockSize = 16_000

/** The longest that a line is kept back, in milliseconds. */
const longest = 1_000

/** Where lines go. */
export interface LogBlocks extends DestinationStream {
  /** Writes what is kept back. */
  flushSync(): void
}

/** Standard output, in blocks. */
export function standardOutput(): LogBlocks {
  const output = destination({ fd: 1, sync: isFile(1) })
  const write = (block: string) => void output.write(block)
  const blocks = inBlocks(write)
  process.once('exit', () => blocks.flushSync())
  return {
    write: blocks.write,
    flushSync() {
      blocks.flushSync()
      output.flushSync()
    },
  }
}

/** Gathers lines, and writes them a block at a time. */
export function inBlocks(write: (block: string) => void): LogBlocks {
  let lines: string[] = []
  let length = 0
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (length === 0) return
    const block = lines.join('')
    lines = []
    length = 0
    write(block)
  }
  return {
    write(line) {
      lines.push(line)
      length += line.length
      if (length >= blockSize) flush()
      else timer ??= setTimeout(flush, longest).unref()
    },
    flushSync: flush,
  }
}

/** A file takes a block at once; a pipe may keep the server waiting for whoever reads it, and is written beside the work. */
function isFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile()
  } catch {
    return false
  }
}
