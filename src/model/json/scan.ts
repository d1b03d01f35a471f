/** Finding one's way in a JSON text without a stack, a copy or a backtracking pattern. */

const backslash = 0x5c

/** Where the string ends whose opening quote is at `start`: the index of its closing quote, -1 where there is none. */
export function closingQuote(text: string, start: number): number {
  let found = text.indexOf('"', start + 1)
  while (found !== -1 && text.charCodeAt(found - 1) === backslash) {
    let first = found - 1
    while (first - 1 > start && text.charCodeAt(first - 1) === backslash) first--
    // An even number of backslashes escape each other; an odd one escapes the quote.
    if ((found - first) % 2 === 0) return found
    found = text.indexOf('"', found + 1)
  }
  return found
}

/** Whether a number goes on with this UTF-16 unit: a digit, a point, a sign or an exponent's letter. */
export function isNumberPart(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2e || code === 0x2b || code === 0x2d || (code | 0x20) === 0x65
}
