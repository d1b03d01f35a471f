/** JSON Pointers (RFC 6901). */

/** The value at a pointer; `undefined` where there is none. */
export function valueAt(value: unknown, pointer: string): unknown {
  let found = value
  for (const token of pointer.split('/').slice(1)) {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    found = (found as Record<string, unknown>)[name]
  }
  return found
}

/** Where in a value another stands, the very same; `undefined` where it does not. */
export function pointerTo(whole: unknown, part: object): string | undefined {
  if (whole === part) return ''
  if (typeof whole !== 'object' || whole === null) return undefined
  for (const [name, value] of Object.entries(whole)) {
    const within = pointerTo(value, part)
    if (within !== undefined) return memberPointer(name) + within
  }
  return undefined
}

/** The pointer of a member of an object. */
export function memberPointer(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
