import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { countErrors, Fault, type Issue } from '../../spec/faults.ts'
import { countMembers, findIssues, readJson } from './read-json.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const read = (text: string) => readJson(bytes(text), { maxDepth: 32 })

function refusal(body: string | Uint8Array): Fault {
  try {
    readJson(typeof body === 'string' ? bytes(body) : body, { maxDepth: 32 })
  } catch (error) {
    assert.ok(error instanceof Fault)
    assert.equal(error.code, 'MALFORMED_JSON')
    return error
  }
  assert.fail('The body was read.')
}

const places = (issues: readonly Issue[] = []) => issues.map(({ code, pointer }) => `${code} ${pointer}`)

test('an ordinary body is read as JSON.parse reads it', () => {
  const text =
    ' {"name":"Tea \\u00e9 \\"x\\"","tags":["a",{"b":null}],"price":-12.50,"big":9007199254740991,"é":true}\n'
  assert.deepEqual(read(text), JSON.parse(text))
})

const refused: [string, string, string[]][] = [
  ['a key twice', '{"a":1,"a":2}', ['DUPLICATE_KEY /a']],
  ['a key twice, escaped', '{"a":1,"\\u0061":2}', ['DUPLICATE_KEY /a']],
  ['a key twice, deep', '[{"x":{"b/~":1,"b/~":1}}]', ['DUPLICATE_KEY /0/x/b~1~0']],
  ['__proto__', '{"a":{"__proto__":{}}}', ['UNSAFE_KEY /a/__proto__']],
  ['__proto__, escaped', '{"\\u005f_proto__":1}', ['UNSAFE_KEY /__proto__']],
  ['an integer beyond 2^53', '[9007199254740992]', ['NUMBER_NOT_EXACT /0']],
  ['an integer below -2^53', '{"n":-9007199254740993}', ['NUMBER_NOT_EXACT /n']],
  ['an overflow', '{"n":1e400}', ['NUMBER_NOT_EXACT /n']],
  ['a negative overflow', '-1E+400', ['NUMBER_NOT_EXACT ']],
  ['an underflow', '[1e-400]', ['NUMBER_NOT_EXACT /0']],
  ['too many digits', '[0.1000000000000000055511151231257827]', ['NUMBER_NOT_EXACT /0']],
  ['an integer with a point', '[9007199254740993.0]', ['NUMBER_NOT_EXACT /0']],
  ['U+0000', '{"a":["x\\u0000"]}', ['INVALID_TEXT /a/0']],
  ['half a pair', '["\\ud83d"]', ['INVALID_TEXT /0']],
  ['the other half', '["\\ude00\\ud83d"]', ['INVALID_TEXT /0']],
  ['half a pair in a key', '{"a":{"\\ud83d":1}}', ['INVALID_TEXT /a']],
  ['the key __proto__ twice', '{"__proto__":1,"__proto__":2}', ['UNSAFE_KEY /__proto__', 'UNSAFE_KEY /__proto__']],
  ['several things', '{"a":1,"b":1e999,"a":"\\u0000","c":[[],{"d":1,"d":2}]}', [
    'NUMBER_NOT_EXACT /b', 'DUPLICATE_KEY /a', 'INVALID_TEXT /a', 'DUPLICATE_KEY /c/1/d',
  ]],
  ['one container too many', `${'['.repeat(33)}${']'.repeat(33)}`, [`TOO_DEEP ${'/0'.repeat(32)}`]],
  ['nothing within what is too deep', `{"a":${'['.repeat(32)}{"b":1,"b":2}${']'.repeat(32)},"c":1e999}`, [
    `TOO_DEEP /a${'/0'.repeat(31)}`, 'NUMBER_NOT_EXACT /c',
  ]],
] // biome-ignore format: one row a case
for (const [name, text, expected] of refused) {
  test(`refused: ${name}`, () => assert.deepEqual(places(refusal(text).details.errors), expected))
}

const kept: [string, unknown][] = [
  ['9007199254740991', 9007199254740991],
  ['0.1', 0.1],
  ['1.10', 1.1],
  ['0.30000000000000004', 0.30000000000000004],
  ['1e2', 100],
  ['1E+2', 100],
  ['6.02214076e23', 6.02214076e23],
  ['123456789012345678e-17', undefined],
  ['1.7976931348623157e308', Number.MAX_VALUE],
  ['5e-324', 5e-324],
  ['0e999', 0],
  ['0.00000', 0],
  ['100000000000000000000000e-20', 1000],
]
for (const [text, value] of kept) {
  test(`${text} is ${value === undefined ? 'refused' : 'kept'}`, () => {
    if (value === undefined) refusal(text)
    else assert.equal(read(text), value)
  })
}

test('-0 is 0, in every spelling and at every place', () => {
  assert.deepEqual(read('[-0,-0.0,-0e5,{"a":-0,"b":"-0"},-0.5,-1]'), [0, 0, 0, { a: 0, b: '-0' }, -0.5, -1])
  assert.ok(Object.is(read('-0'), 0))
})

test('32 nested containers are read, and 5,000 or 500,000 are refused without overflowing', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
  assert.deepEqual(read(nested(32)), JSON.parse(nested(32)))
  for (const levels of [33, 5000, 500_000]) {
    assert.deepEqual(places(refusal(nested(levels)).details.errors), [`TOO_DEEP ${'/0'.repeat(32)}`])
    assert.match(refusal('['.repeat(levels)).message, /ends too early/)
    assert.match(refusal('{"a":'.repeat(levels)).message, /ends too early/)
  }
})

const malformed: [string, RegExp][] = [
  ['', /empty/],
  [' \n', /white space/],
  ['\ufeff{}', /byte order mark/],
  ['{', /ends too early: an object is not closed.*line 1, column 2/],
  ['{"a":[1,2', /an array is not closed/],
  ['{"a":', /a value is missing/],
  ['{"name":"Te', /ends within a string/],
  ['"a\\', /ends within a string/],
  ['{"a":1,}', /comma stands before the end of an object.*column 8/],
  ['[1,]', /comma stands before the end of an array/],
  ["{'a':1}", /double quotes/],
  ['{a:1}', /key in double quotes is missing before a/],
  ['{"a" 1}', /colon is missing/],
  ['{"a":1\n"b":2}', /comma or } is missing before ".*line 2, column 1/],
  ['[1 2]', /comma or \] is missing/],
  ['[1}', /comma or \] is missing before }/],
  ['{} {}', /nothing may follow/],
  ['// x\n{}', /comments/],
  ['[NaN]', /NaN/],
  ['[-Infinity]', /Infinity/],
  ['[01]', /needless zero/],
  ['[1.]', /decimal point/],
  ['[1e]', /exponent/],
  ['[.5]', /begin with a digit/],
  ['[-]', /begin with a digit/],
  ['["\\x"]', /escape/],
  ['["\\u12"]', /escape/],
  ['["a\tb"]', /control character/],
  ['[tru]', /value is missing before t/],
  ['["é", x]', /before x.*column 7/],
  ['["😀" ☃]', /U\+2603.*column 6/],
]
for (const [text, message] of malformed) {
  test(`${JSON.stringify(text)} is refused with our message`, () => assert.match(refusal(text).message, message))
}

test('invalid UTF-8 is refused', () => {
  for (const broken of [
    [0x22, 0xff, 0x22],
    [0x22, 0xc3, 0x22],
    [0x22, 0xed, 0xa0, 0x80, 0x22],
    [0x22, 0xc0, 0x80, 0x22],
  ]) {
    assert.match(refusal(new Uint8Array(broken)).message, /UTF-8/)
  }
})

test('no message shows the body or words of the engine', () => {
  const { message, details } = refusal('{"password":"hunter2" "x"}')
  assert.doesNotMatch(`${message}${details.detail}`, /hunter2|JSON\.parse|Unexpected|position/)
})

// JSON, with a character changed, taken away or added here and there.
const text = fc.json().chain((json) =>
  fc.array(fc.tuple(fc.nat(json.length), fc.constantFrom('', '"', '\\', ',', ':', '{', '}', '[', ']', '0', '-', '.', 'e', ' ', 'n')), { maxLength: 2 })
    .map((edits) => edits.reduce((current, [at, put]) => current.slice(0, at) + put + current.slice(at + 1), json)),
) // biome-ignore format: a generator reads best in few lines

test('property: a text is malformed exactly where JSON.parse says so, and otherwise read alike or refused with issues', () => {
  fc.assert(
    fc.property(text, (json) => {
      let value: unknown
      try {
        value = JSON.parse(json, (_, item) => (item === 0 ? 0 : item))
      } catch {
        const { details } = refusal(json)
        assert.equal(details.errors, undefined)
        assert.doesNotMatch(details.detail!, /is not JSON/)
        return
      }
      if (findIssues(json, 32).length > 0) assert.ok(refusal(json).details.errors!.length > 0)
      else assert.deepEqual(read(json), value)
    }),
    { numRuns: 3000 },
  )
})

test('any body of 1 MiB is read in a few milliseconds', () => {
  const row = (id: number) => ({ id, name: `City number ${id}`, population: id * 37, tags: ['a', 'b'], note: null })
  const ordinary = bytes(JSON.stringify(Array.from({ length: 12_000 }, (_, id) => row(id))))
  const hostile = [
    '["\\u00e9"]'.padEnd(1 << 20),
    `"${'\\u00e9'.repeat(170_000)}"`,
    `"${'\\'.repeat(1 << 20)}`,
    `1${'0'.repeat(1 << 20)}.5`,
  ]
  // Milliseconds of processor time: on a busy machine the clock counts others too.
  const timed = (body: Uint8Array) => {
    const started = process.cpuUsage()
    try {
      readJson(body, { maxDepth: 32 })
    } catch (error) {
      assert.ok(error instanceof Fault)
    }
    const { user, system } = process.cpuUsage(started)
    return (user + system) / 1_000
  }
  assert.ok(Math.min(...Array.from({ length: 10 }, () => timed(ordinary))) < 50)
  for (const body of hostile) assert.ok(timed(bytes(body)) < 1000)
})

/** The members of objects and items of arrays, counted in the value. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const values = Object.values(value)
  return values.length + values.reduce((sum: number, each) => sum + membersOf(each), 0)
}

test('LIM-3: members and items are counted in the text, however it is written, before any value is built', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
      const text = JSON.stringify(value, null, space)
      const members = membersOf(JSON.parse(text))
      assert.equal(countMembers(text), members)
      const read = (maxMembers: number) => readJson(new TextEncoder().encode(text), { maxDepth: 99, maxMembers })
      if (!/\\u|[eE\d]{16}|-0|__proto__/.test(text)) assert.deepEqual(read(members), JSON.parse(text))
      if (members > 0) assert.throws(() => read(members - 1), { code: 'TOO_MANY_MEMBERS' })
    }),
  )
  for (const text of [
    '[ ]',
    '{\n}',
    '[[],{}]',
    '"[1,2]"',
    '[" ]"]',
    '{"a,b":"\\",,"}',
    '[\n1 ,\t2]',
    '[-1,{"a":[]}]',
  ]) {
    assert.equal(countMembers(text), membersOf(JSON.parse(text)), text)
  }
})

test('LIM-3: of many mistakes the places of a thousand are told, and all are counted', () => {
  const text = `[${Array(3_000).fill('1e999').join()}]`
  const issues = findIssues(text, 32)
  assert.deepEqual([issues.length, countErrors(issues)], [1_001, 3_000])
})
