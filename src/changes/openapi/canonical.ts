/** One text for one JSON value, whatever the order of its keys. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return each
    return Object.fromEntries(Object.entries(each).sort(([left], [right]) => (left < right ? -1 : 1)))
  })
}
