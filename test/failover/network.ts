/**
 * Machines of a test on a network of their own: a namespace of Linux for each, so that each can be cut off from the
 * others. Without root the machines share the loopback interface, and nothing can be cut.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** Whether machines have namespaces of their own. */
export const hasNamespaces = process.getuid?.() === 0

/** A machine. */
export interface Host {
  readonly address: string
  /** The words that a command begins with to run there. */
  readonly inside: readonly string[]
  /** Drops everything that it sends and gets. */
  unplug(): void
  plug(): void
  /** Drops everything that it sends to other machines. */
  block(others: readonly Host[]): void
  unblock(others: readonly Host[]): void
}

/**
 * Makes machines, which are connected by a bridge with each other and with this process.
 *
 * @param folder a guarded folder: the namespaces end with the processes that work there
 */
export async function networkOf(folder: string, count: number): Promise<Host[]> {
  if (!hasNamespaces) return Array.from({ length: count }, () => loopback)
  const bridge = await namespace(folder)
  // From the addresses for benchmarks of networks (RFC 2544).
  const subnet = `198.18.${process.pid % 256}`
  ip(bridge, 'link add bridge type bridge')
  ip(bridge, 'link set bridge up')
  const here = `rs${process.pid}`
  connect(bridge, 'here', here, process.pid)
  ip([], `addr add ${subnet}.254/24 dev ${here}`)
  ip([], `link set ${here} up`)
  const hosts: Host[] = []
  for (let number = 1; number <= count; number++) {
    const inside = await namespace(folder)
    const port = `port${number}`
    connect(bridge, port, 'eth0', Number(inside.at(-1)))
    ip(inside, `addr add ${subnet}.${number}/24 dev eth0`)
    ip(inside, 'link set eth0 up')
    ip(inside, 'link set lo up')
    hosts.push({
      address: `${subnet}.${number}`,
      inside,
      unplug: () => ip(bridge, `link set ${port} nomaster`),
      plug: () => ip(bridge, `link set ${port} master bridge`),
      block: (others) => others.forEach(({ address }) => void ip(inside, `route add blackhole ${address}/32`)),
      unblock: (others) => others.forEach(({ address }) => void ip(inside, `route del blackhole ${address}/32`)),
    })
  }
  return hosts
}

const impossible = () => {
  throw new Error('Machines can be cut off by root only.')
}

/** This machine, where nothing can be cut. */
export const loopback: Host = {
  ...{ address: '127.0.0.1', inside: [] },
  ...{ unplug: impossible, plug: impossible, block: impossible, unblock: impossible },
}

/** Makes a namespace, which a process holds. */
async function namespace(folder: string): Promise<readonly string[]> {
  const holder: ChildProcess = spawn('unshare', ['--net', 'sleep', 'infinity'], { cwd: folder, stdio: 'ignore' })
  holder.unref()
  const own = readlinkSync('/proc/self/ns/net')
  while (readlinkSync(`/proc/${holder.pid}/ns/net`) === own) await sleep(5)
  return ['nsenter', '--net', '--target', String(holder.pid)]
}

/** Connects a bridge with another namespace by a pair of interfaces. */
function connect(bridge: readonly string[], port: string, name: string, target: number): void {
  ip(bridge, `link add ${port} type veth peer name ${name} netns ${target}`)
  ip(bridge, `link set ${port} master bridge up`)
}

function ip(inside: readonly string[], words: string): void {
  const [program, ...given] = [...inside, 'ip', ...words.split(' ')] as [string, ...string[]]
  execFileSync(program, given, { stdio: ['ignore', 'ignore', 'pipe'] })
}
