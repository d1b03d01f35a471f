/** The patterns of decimals (`model/decimal.ts`): which of two admits more digits. */

interface Digits {
  readonly before: number
  readonly after: number
  /** Whether all digits after the point have to be there. */
  readonly isExact: boolean
}

const form = /^\^-\?(?:0|\\d|\(\?:0\|\[1-9\]\\d\{0,(\d+)\}\))(?:\(\?:\\\.\\d\{1,(\d+)\}\)\?|\\\.\\d\{(\d+)\})?\$$/

function digitsOf(pattern: string): Digits | undefined {
  const [found, more, most, all] = form.exec(pattern) ?? []
  if (found === undefined) return undefined
  const before = more === undefined ? Number(found.startsWith('^-?\\d')) : Number(more) + 1
  return { before, after: Number(most ?? all ?? 0), isExact: most === undefined }
}

/** How the pattern of a decimal changed; `undefined` where it is another kind of change. */
export function decimalChange(was: string, is: string): 'limit-narrowed' | 'limit-widened' | undefined {
  const [before, after] = [digitsOf(was), digitsOf(is)]
  if (before === undefined || after === undefined) return undefined
  // With another number of digits behind the point no text of before is one of now.
  if ((before.isExact || after.isExact) && before.after !== after.after) {
    const isFromWhole = !after.isExact && before.after === 0
    const isToWhole = !before.isExact && after.after === 0
    if (!isFromWhole && !isToWhole) return undefined
  }
  if (after.before >= before.before && after.after >= before.after) return 'limit-widened'
  return after.before <= before.before && after.after <= before.after ? 'limit-narrowed' : undefined
}
