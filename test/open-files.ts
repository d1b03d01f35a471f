/** Which files a process has open (Linux): nothing may stay open behind a client that went away. */
import { readdirSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** How many files whose path begins so a process has open. */
export function openFiles(path: string, process: number | 'self' = 'self'): number {
  const targets = readdirSync(`/proc/${process}/fd`).map((each) => {
    try {
      return readlinkSync(`/proc/${process}/fd/${each}`)
    } catch {
      return ''
    }
  })
  return targets.filter((target) => target.startsWith(path)).length
}

/** Waits until a condition holds; `false`: it did not within half a minute. */
export async function becomes(condition: () => boolean): Promise<boolean> {
  for (const started = performance.now(); performance.now() - started < 30_000; await sleep(10)) {
    if (condition()) return true
  }
  return condition()
}
