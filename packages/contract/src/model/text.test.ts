import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compareText, fold, isStorableText, words } from './text.ts'

/** Every code point but the surrogates, as a text of its own. */
function* characters(): Generator<string> {
  for (let code = 0; code <= 0x10ffff; code++) if (code < 0xd800 || code > 0xdfff) yield String.fromCodePoint(code)
}

const anyText = fc.string({ unit: 'binary', maxLength: 12 })

test('fold agrees with regular expressions with the flags i and u, for every code point', () => {
  const cased: string[] = []
  const unmoved: string[] = []
  for (const character of characters()) {
    const isCased = /[\p{Cased}\p{Changes_When_Casemapped}\p{Changes_When_Casefolded}]/u.test(character)
    if (isCased) cased.push(character)
    else if (fold(character) !== character) unmoved.push(character)
  }
  assert.deepEqual(unmoved, [], 'only letters with case are folded')
  assert.ok(cased.length > 2_800)
  const all = cased.join('')
  const classes = Map.groupBy(cased, (character) => fold(character))
  for (const [folded, members] of classes) {
    // Cased characters are letters and marks: none of them has a meaning in a pattern.
    assert.deepEqual(all.match(new RegExp(folded, 'giu')), members, `the class of ${folded}`)
  }
})

test('fold keeps the number of characters, and folding twice changes nothing', () => {
  for (const character of characters()) {
    const folded = fold(character)
    if ([...folded].length !== 1 || fold(folded) !== folded) assert.fail(`U+${character.codePointAt(0)?.toString(16)}`)
  }
  fc.assert(fc.property(anyText, anyText, (left, right) => fold(left + right) === fold(left) + fold(right)))
})

test('fold: ß and ẞ are equal, ss is different, and so is the dotless i', () => {
  assert.equal(fold('STRAẞE'), fold('straße'))
  assert.notEqual(fold('straße'), fold('strasse'))
  assert.equal(fold('ΌΔΟΣ'), fold('όδος'))
  assert.notEqual(fold('ı'), fold('I'))
  assert.equal(fold('\u{10400}'), '\u{10428}')
})

test('compareText orders as the bytes of UTF-8 do', () => {
  const order = (left: string, right: string) => Math.sign(Buffer.compare(Buffer.from(left), Buffer.from(right)))
  fc.assert(
    fc.property(anyText, anyText, (left, right) => {
      assert.equal(Math.sign(compareText(left, right)), order(left, right))
      assert.equal(Math.sign(compareText(left + right, left)), order(left + right, left))
    }),
    { numRuns: 2_000 },
  )
  // By UTF-16 unit the first would come after the second.
  assert.ok(compareText('\uffff', '\u{10000}') < 0)
})

const examples: readonly (readonly [text: string, found: readonly string[]])[] = [
  ['Łódź', ['lodz']],
  ['Ærø', ['aero']],
  ['Cafe\u0301 CAFÉ', ['cafe', 'cafe']],
  ['Großstraße', ['grossstrasse']],
  ['Đà Nẵng', ['da', 'nang']],
  ["O'Brien-Smith, 3.5", ['o', 'brien', 'smith', '3', '5']],
  ['snake_case', ['snake', 'case']],
  ['ﬁancé', ['fiance']],
  ['東京都 渋谷区', ['東京都', '渋谷区']],
  ['नई दिल्ली', ['नई', 'दिल्ली']],
  ['서울특별시', ['서울특별시']],
  ['서울'.normalize('NFD'), ['서울']],
  ['Ἀθῆναι', ['αθηναι']],
  ['Йошкар-Ола', ['иошкар', 'ола']],
  ['👩‍🚀 🚀 !!! — …', []],
  ['', []],
]

for (const [text, found] of examples) {
  test(`QRY-5: the words of ${JSON.stringify(text)} are ${JSON.stringify(found)}`, () => {
    assert.deepEqual(words(text), found)
  })
}

test('words are the same in upper and lower case, and in every normal form of the text', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      assert.deepEqual(words(text.normalize('NFD')), words(text))
      assert.deepEqual(words(text.normalize('NFC')), words(text))
      for (const word of words(text)) assert.match(word, /^[\p{L}\p{N}\p{M}\p{Co}]+$/u)
    }),
    { numRuns: 2_000 },
  )
  for (const [text] of examples) {
    assert.deepEqual(words(text.toLowerCase()), words(text))
  }
})

test('text with U+0000 or half a surrogate pair cannot be stored', () => {
  assert.equal(isStorableText('é 🚀'), true)
  assert.equal(isStorableText('a\0b'), false)
  assert.equal(isStorableText('\ud800'), false)
})
