/** Values to fill fields with, and to ask for: ordinary ones, odd ones, and such as no field takes. */
import { pick, type Random } from '../durability/random.ts'

const parts = [
  ...[
    'a',
    'A',
    'b',
    'ab',
    'Ab',
    'taboo',
    'zebra',
    'ß',
    'ẞ',
    'ss',
    'SS',
    'i',
    'I',
    'ı',
    'İ',
    'é',
    'É',
    'e\u0301',
    'K',
    'k',
    'ſ',
  ],
  ...[
    'Σ',
    'σ',
    'ς',
    'ﬅ',
    'ﬆ',
    'ﬁ',
    'ø',
    'Ø',
    'œ',
    'Ǆ',
    'ǅ',
    '\u0345',
    'ᾳ',
    'Ω',
    'Ω',
    'µ',
    'μ',
    'Å',
    'Å',
    'Ꭰ',
    'ꭰ',
    'Ა',
    'ა',
  ],
  ...[
    '%',
    '_',
    '\\',
    "'",
    '"',
    '*',
    ' ',
    '  ',
    '\t',
    '\n',
    '\r\n',
    '\u0001',
    '\u007f',
    '\u0085',
    '\u2028',
    '\ufeff',
    '-',
    '=',
    '+',
    '@',
  ],
  ...['🚀', '\u{10400}', '\u{10428}', '\ud7ff', '\ue000', '\uffff', '\ufffd', '\u{10ffff}', '𝔘', '①', '½', '٣', 'Ⅷ'],
  ...[
    '日本',
    '語',
    'ひら',
    'カタ',
    '한국',
    'नमस्ते',
    'क्षि',
    'ไทย',
    'עִברִית',
    'عَرَبِيّ',
    'Привет',
    'ПРИВЕТ',
    'ёж',
    'ЕЖ',
    'Ελλάς',
  ],
  ...[
    '\u0301',
    '\u0300\u0301',
    '\u093f',
    '\u200d',
    '\u00ad',
    '\u200b',
    '👩‍👩‍👧',
    '&',
    '|',
    '!',
    ':',
    '<',
    '(',
    ')',
    ':*',
    '$1',
    '?',
    '||',
    '--',
    '/*',
  ],
]

/** A text that any field of free text takes. */
export function text(random: Random): string {
  const chance = random()
  if (chance < 0.35) return pick(random, ['a', 'A', 'b', 'ab', 'É', 'é', 'taboo', 'Straße', 'STRASSE', 'öl'])
  if (chance < 0.37)
    return pick(random, ['ä', 'x', '日', '🚀']).repeat(pick(random, [682, 683, 1023, 1024, 2046, 2047, 2500]))
  if (chance < 0.38) return Array.from({ length: 400 }, (_, index) => `w${index}ä`).join(' ')
  const many = 1 + Math.floor(random() * 5)
  return Array.from({ length: many }, () => pick(random, parts)).join('')
}

/** A number that a number field takes. */
export function real(random: Random): number {
  if (random() < 0.15) return (random() - 0.5) * 10 ** Math.floor(random() * 40 - 20)
  if (random() < 0.15) return Math.round(random() * 1e6) / 10 ** Math.floor(random() * 12)
  return pick(random, [
    ...[
      0,
      -0,
      1,
      -1,
      0.1,
      0.1 + 0.2,
      0.5,
      -0.25,
      1.1,
      10,
      100,
      1e-4,
      9.5e-5,
      1e-5,
      1.5e-5,
      1e-6,
      9.99e-7,
      1e-7,
      1.5e-10,
    ],
    ...[
      5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -1.7976931348623157e308, 1e300, 1e100, 1e22,
      1e21,
    ],
    ...[
      1e20, 123456789012345680000, 1e16, 1e15, 999999999999999.9, 123456789.12345679, 9007199254740992,
      9007199254740991,
    ],
    ...[-9007199254740992, 4503599627370495.5, 1 / 3, 2 / 3, 100.1, 1234567.891, 0.000123456789],
  ])
}

/** An integer that an integer field takes. */
export function integer(random: Random): number {
  if (random() < 0.3) return Math.floor(random() * 200) - 100
  return pick(random, [0, 1, -1, 7, 10, 11, 42, 2 ** 31, -(2 ** 31) - 1, 2 ** 53 - 1, -(2 ** 53) + 1, 2 ** 52, 100])
}

const dates = ['2026-11-21', '2026-11-20', '2024-02-29', '0001-01-01', '9999-12-31', '1969-12-31', '2000-01-01']
const hours = ['00:00:00Z', '23:59:59Z', '12:30:00.5Z', '12:30:00.50Z', '08:00:00+01:00', '23:59:60Z']

/** A text of a format. */
export function formatted(random: Random, format: string): string {
  if (format === 'date') return pick(random, dates)
  if (format === 'time') return pick(random, hours)
  if (format === 'date-time') return instant(random)
  if (format === 'email')
    return pick(random, ['a@b.example', 'A@b.example', 'z_%@b.example', "o'x@b.example", 'a+b@c.example'])
  if (format === 'uri')
    return pick(random, ['https://a.example/%20?q=1', 'https://a.example/_', 'urn:x:y', 'HTTPS://A.example/'])
  return text(random)
}

function instant(random: Random): string {
  const zone = pick(random, ['Z', 'Z', 'z', '+01:00', '-11:30', '+00:00', '-00:00', '+14:00'])
  const fraction = pick(random, ['', '', '.5', '.50', '.500', '.123456789', '.000', '.9999999999'])
  return `${pick(random, dates)}${pick(random, ['T', 'T', 't'])}${pick(random, ['08:00:00', '00:00:00', '23:59:59'])}${fraction}${zone}`
}

/** JSON text of a value of any shape, oddly written. */
export function jsonText(random: Random, depth = 3): string {
  const blank = () => pick(random, ['', '', '', ' ', '\n', '\t ', '\r\n'])
  const kind = Math.floor(random() * (depth > 0 ? 7 : 5))
  if (kind === 0) return pick(random, ['null', 'true', 'false'])
  if (kind === 1) return pick(random, [...numbers, String(real(random)), String(integer(random))])
  if (kind < 5) return JSON.stringify(text(random))
  const length = Math.floor(random() * 4)
  const members = Array.from({ length }, (_, index) => {
    const value = `${blank()}${jsonText(random, depth - 1)}${blank()}`
    return kind === 5 ? value : `${blank()}${keyText(random, index)}${blank()}:${value}`
  })
  return kind === 5 ? `[${members.join()}]` : `{${members.join()}}`
}

const numbers = [
  '1.0',
  '1E2',
  '-0',
  '-0.0',
  '1e-7',
  '0.10',
  '1e+2',
  '100000000000000000000',
  '1e22',
  '12.50e1',
  '5e-324',
  '1.5E-10',
]

// Keys that would come twice are refused: the place keeps them apart.
function keyText(random: Random, index: number): string {
  return pick(random, [
    `"k${9 - index}"`,
    `"\\u006b${index}x"`,
    JSON.stringify(`${[...text(random)].slice(0, 20).join('')}${index}`),
    `"${index}"`,
    `""`,
  ])
}

/** JSON text of something that few fields take. */
export function wrongText(random: Random): string {
  return pick(random, [
    ...[
      'null',
      '{}',
      '[]',
      '""',
      '1e400',
      '9007199254740993',
      '9007199254740993.0',
      '1e-400',
      '"\\u0000"',
      '"\\ud800"',
      '1e16',
      '0.5',
    ],
    ...[
      'true',
      '"x"',
      '-1',
      '123456789012345678901234567890',
      '3.14159265358979323846',
      '"2026-13-01"',
      '[[[[[]]]]]',
      '1.0',
      '7',
    ],
  ])
}
