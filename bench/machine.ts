/** What the measurements run on, and whether they can. */
import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs'
import { cpus } from 'node:os'

/** The cores: servers on one, the load on the other, so that neither takes time from the other. */
export const serverCore = 0
export const loadCore = 1

/** What is missing here, one sentence each; nothing: the measurements can run. */
export function missingHere(): string[] {
  const missing: string[] = []
  if (!isThere('wrk', '--version'))
    missing.push('wrk makes the load, and is not installed. On Debian: apt-get install wrk')
  if (!isThere('taskset', '--version')) {
    missing.push(
      'taskset keeps server and load on separate cores, and is not installed. On Debian: apt-get install util-linux',
    )
  }
  if (cpus().length < 2) missing.push('Two cores are needed: one for the servers, one for the load.')
  return missing
}

function isThere(command: string, argument: string): boolean {
  return spawnSync(command, [argument], { stdio: 'ignore' }).error === undefined
}

/** The machine in a few words. */
export function describeMachine(folder: string): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor'
  const { stdout } = spawnSync('stat', ['--file-system', '--format=%T', folder], { encoding: 'utf8' })
  return `${cpus().length} cores (${model}), data on ${stdout?.trim() || 'an unknown file system'}`
}

/**
 * The average number of processes that wanted to run during the last minute: above 1, something else is running here.
 */
export function loadAverage(): number {
  return existsSync('/proc/loadavg') ? Number(readFileSync('/proc/loadavg', 'utf8').split(' ')[0]) : Number.NaN
}

/**
 * Keeps idle cores awake until the process ends, where it may (`/dev/cpu_dma_latency`, as root). A core that sleeps
 * whenever it waits for an answer must be woken for each one, at the cost of the server that answers; under
 * virtualisation that takes longer than the answer.
 *
 * @returns whether it could
 */
export function keepAwake(): boolean {
  try {
    const file = openSync('/dev/cpu_dma_latency', 'w')
    writeSync(file, new Int32Array([0]))
    process.once('exit', () => closeSync(file))
    return true
  } catch {
    return false
  }
}
