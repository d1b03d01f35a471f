/** Lines of the log, put together to blocks before they are written: each write of its own would cost more than the line. */
import { fstatSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type DestinationStream, destination } from 'pino'

/** So many characters are a block. */
const blockSize = 16_000

/** The longest that a line is kept back, in milliseconds. */
const longest = 1_000

/** Where lines go. */
export interface LogBlocks extends DestinationStream {
  /** Gives on what is kept back. */
  flush(): void
}

/** Resolves once all that standard output was given is written. */
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
    // Begun at once. Writing the next one synchronously would overtake it.
    output.write(block)
  })
  process.once('exit', () => blocks.flush())
  return blocks
}

/**
 * Waits until standard output has taken all that was logged, so that the process may end.
 *
 * @param longest how long at most, in milliseconds: whoever reads a pipe may have stopped
 */
export async function outputWritten(longest: number): Promise<void> {
  await Promise.race([written, sleep(longest, undefined, { ref: false })])
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
    flush: flush,
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
