/** Servers as processes of their own, on their core. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from './ask.ts'
import { serverCore } from './machine.ts'

/** A server that runs. */
export interface Server {
  readonly origin: string
  /** Resident memory in bytes. */
  memory(): number
  /** Seconds of processor time that it has used. */
  work(): number
  /** Lets it run, or holds it: a server that is not measured takes no time from the one that is. */
  hold(held: boolean): void
  stop(): Promise<void>
}

/** How a server is started. */
export interface Start {
  /** What runs; Node, where left out. */
  readonly program?: string
  readonly args: readonly string[]
  readonly origin: string
  /** A path that answers, with any status, once the server is there. */
  readonly probe: string
  /** Where it works. */
  readonly folder: string
  readonly env?: NodeJS.ProcessEnv
  /** Where what it prints on standard output goes: a file; standard error goes beside it. */
  readonly output: string
  /** Its cores, as taskset lists them; that of the servers, where left out. */
  readonly cores?: string | undefined
  /** Milliseconds that it may take to answer. */
  readonly patience?: number
}

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Holds every server: after a measurement that failed. */
export function holdAll(): void {
  for (const child of running) for (const pid of treeOf(child)) process.kill(pid, 'SIGSTOP')
}

/** Starts a process of the pinned Node on the servers' core. It may not be listening yet. */
export function launch({
  program = process.execPath,
  args,
  folder,
  env,
  output,
  cores = String(serverCore),
}: Omit<Start, 'origin' | 'probe'>): ChildProcess {
  const out = openSync(output, 'w')
  const errors = openSync(`${output}.errors`, 'w')
  const child = spawn('taskset', ['--cpu-list', cores, program, ...args], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', out, errors],
  })
  closeSync(out)
  closeSync(errors)
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

/**
 * Starts a server and waits until it answers.
 *
 * @throws Error with what it printed, where it ends, or does not answer in time
 */
export async function startServer(start: Start): Promise<Server> {
  const child = launch(start)
  const deadline = performance.now() + (start.patience ?? 20_000)
  while (!(await answers(start.origin + start.probe))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      await stop(child)
      throw new Error(`The server did not start:\n${readFileSync(`${start.output}.errors`, 'utf8').slice(-2000)}`)
    }
    await sleep(20)
  }
  return {
    origin: start.origin,
    memory: () => memoryOf(child),
    work: () => workOf(child),
    hold(held) {
      for (const pid of treeOf(child)) process.kill(pid, held ? 'SIGSTOP' : 'SIGCONT')
    },
    stop: () => stop(child),
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    await ask(url)
    return true
  } catch {
    return false
  }
}

/** Ends a process: in good order where it can, at once where it does not. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  for (const pid of treeOf(child)) process.kill(pid, 'SIGCONT')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 5000)
  await gone
  clearTimeout(timer)
}

/** A process and those that it has started, by their ids. */
function treeOf({ pid }: Pick<ChildProcess, 'pid'>): number[] {
  if (pid === undefined || !existsSync(`/proc/${pid}`)) return []
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  return [pid, ...children.flatMap((child) => (child === '' ? [] : treeOf({ pid: Number(child) })))]
}

// taskset becomes the command that it starts: the process is the server's own.
function memoryOf(child: ChildProcess): number {
  return sumOf(treeOf(child), (pid) => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
  })
}

/**
 * Seconds of processor time that a process and those that it has started have used. The 14th and 15th field, in
 * hundredths: its own time and the system's for it (proc_pid_stat(5)). The 2nd may hold blanks.
 */
export function workOf(child: ChildProcess): number {
  return sumOf(treeOf(child), (pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) / 100
  })
}

function sumOf(pids: readonly number[], figure: (pid: number) => number): number {
  return pids.reduce((sum, pid) => sum + figure(pid), 0)
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
