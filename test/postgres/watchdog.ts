/** Sees to it that no server of a test outlives the test, even where that is killed. */
import { spawn } from 'node:child_process'
import {
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { account } from './account.ts'

// It reads until its input ends, which is when the test is gone, however it went. Whatever works in the folder is its
// own: what a starting server has just begun is seen in the next round.
const script = `
trap '' INT TERM HUP
signal() {
  found=1
  for each in /proc/[0-9]*; do
    case "$(readlink "$each/cwd" 2>/dev/null)" in
      "$0"|"$0"/*) kill "-$1" "\${each#/proc/}" 2>/dev/null && found=0 ;;
    esac
  done
  return $found
}
cat >/dev/null
cd /
round=0; quiet=0
while [ $round -lt 60 ] && [ $quiet -lt 2 ]; do
  if [ $round -lt 30 ]; then by=QUIT; else by=KILL; fi
  if signal $by; then quiet=0; else quiet=$((quiet + 1)); fi
  round=$((round + 1))
  sleep 0.1
done
rm -rf "$0"
`

const prefix = 'resourced-postgres-'

/** A folder for servers, which have to be started in it or below: they end with it. */
export interface Guarded {
  readonly folder: string
  /** Ends what runs there and removes it, at once. It would also happen when this process ends. */
  remove(): Promise<void>
}

/**
 * Makes a folder that belongs to the account of the servers.
 *
 * @param parent a folder that everybody can enter
 */
export function guardedFolder(parent: string): Guarded {
  const place = realpathSync(parent)
  removeStale(place)
  const folder = mkdtempSync(join(place, prefix))
  writeFileSync(join(folder, 'owner'), `${process.pid} ${bornAt(process.pid)}`)
  if (account !== undefined) chownSync(folder, account.uid, account.gid)
  const dog = spawn('/bin/sh', ['-c', script, folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  dog.unref()
  // Where somebody has ended it, there is nobody to tell.
  dog.stdin.on('error', () => {})
  ;(dog.stdin as unknown as Socket).unref()
  return {
    folder,
    async remove() {
      await endAll(folder)
      dog.stdin.end()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
    },
  }
}

/** The processes that work in a folder, or below. */
export function processesIn(folder: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const at = readlinkSync(`/proc/${name}/cwd`)
      return at === folder || at.startsWith(`${folder}/`) ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

async function endAll(folder: string): Promise<void> {
  for (let round = 0; round < 200; round++) {
    const found = processesIn(folder)
    if (found.length === 0) return
    for (const each of found) signal(each, round < 100 ? 'SIGQUIT' : 'SIGKILL')
    await sleep(20)
  }
  throw new Error(`These processes do not end: ${processesIn(folder).join(', ')} in ${folder}.`)
}

function signal(id: number, name: NodeJS.Signals): void {
  try {
    process.kill(id, name)
  } catch {
    // It has ended by itself.
  }
}

/** When a process began, as the system counts: numbers of processes come again. */
function bornAt(id: number): string | undefined {
  try {
    return readFileSync(`/proc/${id}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19]
  } catch {
    return undefined
  }
}

/**
 * Removes what was left where the watchdog was killed as well. Of another container the processes are not seen: age
 * decides.
 */
function removeStale(place: string): void {
  for (const name of readdirSync(place)) {
    if (!name.startsWith(prefix)) continue
    const folder = join(place, name)
    try {
      const [id = '', born] = readFileSync(join(folder, 'owner'), 'utf8').split(' ')
      if (bornAt(Number(id)) === born || Date.now() - statSync(folder).mtimeMs < 3_600_000) continue
      for (const each of processesIn(folder)) signal(each, 'SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    } catch {
      // It belongs to another user, or is just going.
    }
  }
}
