/** Writes lines of the log in blocks: a write for each line would cost more than the line. */
import { fstatSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type DestinationStream, destination } from 'pino'

/** The size of a block in characters. */
const blockSize = 16_000

/** The longest delay of a line, in milliseconds. */
const longestDelay = 1_000

/** Where lines go. */
export interface LogBlocks extends DestinationStream {
  /** Writes the delayed lines. */
  flush(): void
}

/** Resolves when standard output has written everything. */
let written: Promise<void> = Promise.resolve()

/** Standard output, in blocks. */
export function standardOutput(): LogBlocks {
  const sync = isFile(1)
  const output = destination({ fd: 1, sync })
  let underWay = false
  const blocks = inBlocks((block) => {
    if (!sync && !underWay) {
      underWay = true
      written = new Promise((resolve) => {
        output.once('drain', () => {
          underWay = false
          resolve()
        })
      })
    }
    // An asynchronous write starts at once; a synchronous one after it would overtake it.
    output.write(block)
  })
  process.once('exit', () => blocks.flush())
  return blocks
}

/**
 * Waits until standard output has written the log, so that the process may end.
 *
 * @param timeout in milliseconds: the reader of a pipe may have stopped
 */
export async function outputWritten(timeout: number): Promise<void> {
  await Promise.race([written, sleep(timeout, undefined, { ref: false })])
}

/** Collects lines, and writes them in blocks. */
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
      else timer ??= setTimeout(flush, longestDelay).unref()
    },
    flush,
  }
}

/** Files are written synchronously. A pipe may block until its reader reads, so it is written asynchronously. */
function isFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile()
  } catch {
    return false
  }
}
