/** Reads an address of PostgreSQL, which may name several servers (PostgreSQL manual, "Connection Strings"). */

/** The servers of an address, in its order: at least one. */
export interface Address {
  /** The address of each server. */
  readonly servers: readonly string[]
  /** `target_session_attrs` and its like, which are about the choice of a server. */
  readonly choice: ReadonlyMap<string, string>
}

/** The parameters about the choice of a server, and the variables of the environment that stand in for them. */
const choices = {
  target_session_attrs: 'PGTARGETSESSIONATTRS',
  load_balance_hosts: 'PGLOADBALANCEHOSTS',
  connect_timeout: 'PGCONNECT_TIMEOUT',
} as const

/** Scheme and account, hosts with ports, and the rest. */
const form = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/is

/** @returns `undefined` if the address is not understood */
export function readAddress(text: string): Address | undefined {
  const [, account = '', named = '', rest = ''] = form.exec(text) ?? []
  const [first = ''] = named.split(',')
  if (account === '' || !URL.canParse(account + first + rest)) return undefined
  const url = new URL(account + first + rest)
  const choice = new Map<string, string>()
  for (const [name, variable] of Object.entries(choices)) {
    const given = url.searchParams.get(name) ?? process.env[variable] ?? ''
    if (given !== '') choice.set(name, given)
    // Only what is changed is written anew.
    if (url.searchParams.has(name)) url.searchParams.delete(name)
  }
  const hosts = hostsOf(url, named)
  const servers = hosts === undefined ? [url.href] : hosts.map((each) => at(url, each))
  return servers.every((each) => each !== undefined) ? { servers, choice } : undefined
}

/** Hosts with their ports; `undefined`: there is one at most, which the address says in the usual way. */
function hostsOf({ searchParams }: URL, named: string): readonly string[] | undefined {
  const hosts = (searchParams.get('host') ?? (named === '' ? (process.env.PGHOST ?? '') : named)).split(',')
  if (hosts.length === 1) return undefined
  const ports = (searchParams.get('port') ?? process.env.PGPORT ?? '').split(',')
  const portOf = (index: number) => (ports.length === 1 ? ports[0] : ports[index])
  if (ports.length > 1 && ports.length !== hosts.length) return ['']
  return hosts.map((host, index) => (/:\d+$/.test(host) || portOf(index) === '' ? host : `${host}:${portOf(index)}`))
}

/** The address of one host; `undefined`: it is not understood. */
function at(url: URL, host: string): string | undefined {
  const [, name = '', port = ''] = /^(.+?)(?::(\d+))?$/.exec(host) ?? []
  const one = new URL(url)
  for (const each of ['host', 'port']) one.searchParams.delete(each)
  if (name === '') return undefined
  if (name.startsWith('/') || name.startsWith('%2F')) {
    one.searchParams.set('host', decodeURIComponent(name))
    if (port !== '') one.searchParams.set('port', port)
    return one.href
  }
  one.hostname = name
  one.port = port
  // What cannot be a host or a port is not set.
  return [name, name.toLowerCase()].includes(one.hostname) && one.port === port ? one.href : undefined
}
