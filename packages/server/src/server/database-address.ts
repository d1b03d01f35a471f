/** What an address of a database says by itself. Nothing of an engine is loaded to read one. */

import { readAddress } from '../storage/postgres/address.ts'

/** The engines: what the addresses of each look like, and whether its databases are other processes. */
const engines = {
  // An address with a user and a password would become the name of a folder.
  sqlite: { scheme: /^sqlite:/, pattern: /^sqlite:(?!\/\/[^/\\]+:[^/\\]+@)(?:\/\/)?.+$/, isElsewhere: false },
  postgres: { scheme: /^postgres(?:ql)?:/, pattern: /^postgres(?:ql)?:\/\//, isElsewhere: true },
} as const

/** The database of a server to which none is named. */
export const defaultDatabase = 'sqlite:.resourced/data.db'

export type EngineName = keyof typeof engines

/** The engine of an address; `undefined`: it is not understood. */
export function engineOf(address: string): EngineName | undefined {
  const names = Object.keys(engines) as EngineName[]
  return names.find((name) => {
    const { pattern, isElsewhere } = engines[name]
    return pattern.test(address) && (!isElsewhere || readAddress(address) !== undefined)
  })
}

/** Whether a text begins as the addresses of an engine do. */
export function isLikeAddress(text: string): boolean {
  return Object.values(engines).some(({ scheme }) => scheme.test(text))
}

/** Whether a database is lost when its process ends. */
export function isInMemory(address: string): boolean {
  return address.includes(':memory:')
}

/** Whether a database is another process, so that requests wait for it without using this one. */
export function isElsewhere(address: string): boolean {
  const name = engineOf(address)
  return name !== undefined && engines[name].isElsewhere
}
