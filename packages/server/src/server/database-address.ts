/** What an address of a database says by itself. */

/** Whether a database is lost when its process ends. */
export function isInMemory(address: string): boolean {
  return address.includes(':memory:')
}

/** Whether a database is another process, so that requests wait for it without using this one. */
export function isElsewhere(address: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(address) && URL.canParse(address)
}
