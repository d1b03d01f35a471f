/**
 * Text as the interface compares it: by code point, by folded case, and by its words. Record ids. The secrets in texts
 * that logs and error messages do not repeat: API keys, JWTs (RFC 7519), and passwords in URLs (SEC-3).
 */

/** Compares two texts by code point, as both engines do (`<` compares UTF-16 units). Negative, zero or positive. */
export function compareText(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index++) {
    const a = left.charCodeAt(index)
    const b = right.charCodeAt(index)
    if (a === b) continue
    // A surrogate belongs to a code point above every other unit.
    const aHigh = a >= 0xd800 && a <= 0xdfff
    const bHigh = b >= 0xd800 && b <= 0xdfff
    if (aHigh !== bHigh) return aHigh ? 1 : -1
    return a - b
  }
  return left.length - right.length
}

const ascii = /^[\0-\x7f]*$/

/** Unicode simple case folding: texts that differ only in case become equal. The length in code points stays. */
export function fold(text: string): string {
  if (ascii.test(text)) return text.toLowerCase()
  const units = new Uint16Array(text.length)
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0xd800 || unit > 0xdbff) {
      units[index] = foldedUnits[unit] || foldUnit(unit)
      continue
    }
    const pair = foldCharacter(text.slice(index, index + 2))
    units[index] = pair.charCodeAt(0)
    if (pair.length === 2) units[++index] = pair.charCodeAt(1)
  }
  return Buffer.from(units.buffer).toString('utf16le')
}

// The folded UTF-16 units that were needed so far; 0: not yet. Asking the engine for each character takes a second per
// megabyte.
const foldedUnits = new Uint16Array(0x1_00_00)

function foldUnit(unit: number): number {
  const folded = foldCharacter(String.fromCharCode(unit)).charCodeAt(0)
  foldedUnits[unit] = folded
  return folded
}

// Characters whose folding is not the lower case of their upper case: the dotless i stays different from i,
// and some characters with a longer upper case fold to a similar character (CaseFolding.txt, status S).
const exceptions: ReadonlyMap<string, string> = new Map([
  ['ı', 'ı'],
  ['\u1fd3', '\u0390'],
  ['\u1fe3', '\u03b0'],
  ['\ufb05', '\ufb06'],
])

function foldCharacter(character: string): string {
  const exception = exceptions.get(character)
  if (exception !== undefined) return exception
  const upper = character.toUpperCase()
  const single = isCharacter(upper) ? upper : character
  const lower = single.toLowerCase()
  return isCharacter(lower) ? lower : character
}

function isCharacter(text: string): boolean {
  return text.length === 1 || (text.length === 2 && (text.codePointAt(0) as number) > 0xffff)
}

// The blocks of Latin, Hebrew and Arabic marks: in other scripts a mark may be a part of a letter.
const markBlocks = [
  '0300-\\u036f',
  '0591-\\u05c7',
  '064b-\\u065f',
  '1ab0-\\u1aff',
  '1dc0-\\u1dff',
  '20d0-\\u20ff',
  'fe20-\\ufe2f',
]
/** The marks that search ignores, as the inside of a bracket expression. */
export const markRanges = markBlocks.map((block) => `\\u${block}`).join('')
const marks = new RegExp(`[${markRanges}]`, 'g')
const word = /[\p{L}\p{N}\p{M}\p{Co}]+/gu
/** Letters with a stroke or a ligature, which Unicode does not decompose. */
export const plainLetters: Readonly<Record<string, string>> = {
  ø: 'o', ł: 'l', đ: 'd', ð: 'd', ħ: 'h', ı: 'i', ŧ: 't', þ: 'th', æ: 'ae', œ: 'oe', ß: 'ss', ŋ: 'n', ĸ: 'k',
} // biome-ignore format: one row reads best
const special = new RegExp(`[${Object.keys(plainLetters).join('')}]`, 'g')

/**
 * The words of a text for search (QRY-5): without case and diacritics, in order. Stored texts and search terms both go
 * through this function, so that every engine finds the same records.
 */
export function words(text: string): string[] {
  if (ascii.test(text)) return text.toLowerCase().match(/[a-z0-9]+/g) ?? []
  const bare = text.normalize('NFKD').replace(marks, '').normalize('NFKC')
  return (
    fold(bare)
      .replace(special, (letter) => plainLetters[letter] ?? letter)
      .match(word) ?? []
  )
}

/** Whether every engine can store the text unchanged: it has no U+0000 and no lone surrogate. */
export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

const recordId = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/

/** Whether a text can be the id of a record: a UUID in lower case (RES-4). */
export function isRecordId(text: string): boolean {
  return recordId.test(text)
}

const key = /rsk_[0-9A-Za-z]{49}/g
const token = /eyJ[\w-]{5,}\.eyJ[\w-]{5,}\.[\w-]*/g
// A password may have an unescaped @ or slash, so it ends at the last @ of the word. USER@HOST is in our own messages.
const password = /([a-z][a-z\d+.-]*:\/\/)(?!USER@HOST:(?:5432|PORT)\/)[^\s"']*@/gi

/** The text with `***` for each secret, for logs and error messages. */
export function withoutCredentials(text: string): string {
  let rest = text
  if (rest.includes('rsk_')) rest = rest.replaceAll(key, 'rsk_***')
  if (rest.includes('eyJ')) rest = rest.replaceAll(token, 'eyJ***')
  return rest.includes('@') && rest.includes('://') ? rest.replaceAll(password, '$1***@') : rest
}

/** Whether a text contains an API key or a JWT. */
export function holdsCredential(text: string): boolean {
  return (text.includes('rsk_') && text.search(key) !== -1) || (text.includes('eyJ') && text.search(token) !== -1)
}

/** Whether a text is an API key or a JWT, and nothing else. */
export function isCredential(text: string): boolean {
  return holdsCredential(text) && /^(?:rsk_\*\*\*|eyJ\*\*\*)$/.test(withoutCredentials(text))
}

/** Like `withoutCredentials`, for the path of a URL, which may have a percent-encoded key. */
export function pathWithoutCredentials(path: string): string {
  if (path.includes('%')) {
    try {
      const decoded = decodeURIComponent(path)
      if (holdsCredential(decoded)) return encodeURI(withoutCredentials(decoded))
    } catch {
      // The request is refused for its malformed path, which is searched as it is.
    }
  }
  return withoutCredentials(path)
}
