/** ERR: the statuses and contents of errors, and the internal details that they must not contain. */

import { type Expectation, NotSetUp, type Observations } from '../../case/case.ts'
import { common, define, defineEach } from '../../case/define.ts'
import {
  answerOf,
  errorsIn,
  everyAnswerOf,
  field,
  finding,
  noField,
  short,
  status,
  unexpected,
  unless,
} from '../../case/expect.ts'
import { brokenValues } from '../../case/members.ts'
import { error, first, list, odd, one, second } from '../../case/names.ts'
import { applicableWhere, succeeded } from '../../case/preconditions.ts'
import { base, collection, mark, paging, Reference } from '../../case/references.ts'
import { body, create, setUp } from '../../case/steps.ts'
import { type Answer, fieldOf, jsonOf } from '../../client/exchange.ts'
import { mistakesOf } from '../../profile/profile.ts'
import { objectOf, parseJson, valueAt } from '../../values/json.ts'
import {
  commonMistakes,
  forbidden,
  invalid,
  making,
  malformed,
  noCredential,
  noPath,
  noRecord,
  oddInputs,
} from './mistakes.ts'

const [absent, unreadable, constraints] = Reference.named('absent', 'malformed', 'constraints')

const outcomes = defineEach('ERR-1/', commonMistakes, (mistake) => ({
  title: `An error has an error status: ${mistake.title}`,
  ...making(mistake),
  expect: [answerOf(error, ({ status }, _, exchange) => (status >= 400 ? undefined : unexpected(exchange, '4xx')))],
  remedy: 'Answer what went wrong with its own status, 4xx or 5xx, whatever the body says.',
}))

const wellNamed = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/

function codeOf(answer: Answer | undefined, { profile }: Observations): unknown {
  const body = jsonOf(answer)
  const codes = [profile.names.code, '/code'].map((at) => valueAt(body, at))
  // The framework's own errors may have it elsewhere.
  return codes.find((each) => wellNamed.test(String(each))) ?? codes[0]
}

const tellsPeople: Expectation = answerOf(error, (answer, seen, exchange) => {
  const { message: at } = seen.profile.names
  const body = jsonOf(answer)
  const message = valueAt(body, at)
  // The framework's own errors may have it elsewhere.
  const messages = [message, ...['/message', '/detail', '/title'].map((each) => valueAt(body, each))]
  if (messages.some((each) => typeof each === 'string' && each.trim() !== '')) return undefined
  return finding(exchange, message === undefined ? 'body' : { pointer: at }, `${short(message)} at ${at}: no message`)
})

const tellsPrograms: Expectation = answerOf(error, (answer, seen, exchange) => {
  const { code: at } = seen.profile.names
  const code = codeOf(answer, seen)
  if (typeof code === 'string' && wellNamed.test(code)) return undefined
  const message = `${short(code)} at ${at} is no code such as NOT_FOUND`
  return finding(exchange, code === undefined ? 'body' : { pointer: at }, message)
})

const twoAbsentRecords = [first, second].map((step) => step.get(`${collection}/no-such-${step.name}-${mark}`))

/** Errors have a message for people and a code for programs. */
const bodies = [
  ...defineEach('ERR-2/', [...commonMistakes, noCredential, forbidden], (mistake) => ({
    title: `An error has a message and a code: ${mistake.title}`,
    level: 'must',
    ...making(mistake),
    expect: [tellsPeople, tellsPrograms],
    remedy: "Create all errors in one place, including the framework's: with a sentence and a code in UPPER_CASE.",
  })),
  ...define({
    'ERR-2/same-code': {
      title: 'The same mistake always has the same code',
      level: 'must',
      after: ['ERR-2/record'],
      steps: twoAbsentRecords,
      expect: [
        (seen) => {
          const [before, now] = [codeOf(seen.of(first).answer, seen), codeOf(seen.of(second).answer, seen)]
          if (before !== undefined && before === now) return undefined
          return finding(seen.of(second), { pointer: seen.profile.names.code }, `${short(now)} after ${short(before)}`)
        },
      ],
      remedy: 'Give a kind of error one code for ever: programs branch on it.',
    },
    'ERR-2/telling-codes': {
      title: 'Different mistakes have different codes',
      after: ['ERR-2/record', 'ERR-2/malformed-json'],
      steps: [absent.get(`${collection}/no-such-${mark}`), unreadable.post(collection, body.text('{"no-such'))],
      expect: [
        (seen) => {
          const code = codeOf(seen.of(absent).answer, seen)
          if (code !== codeOf(seen.of(unreadable).answer, seen)) return undefined
          return finding(seen.of(unreadable), { pointer: seen.profile.names.code }, `${short(code)} in both`)
        },
      ],
      remedy: 'Give each kind of error its own code, so that programs can react to it.',
    },
    'ERR-2/problem-json': {
      title: 'Errors are application/problem+json (RFC 9457)',
      ...making(noRecord),
      expect: [
        field(error, 'Content-Type', (value) => unless(/^application\/problem\+json\s*(;|$)/i.test(value), value)),
      ],
      remedy: 'Send errors as application/problem+json.',
    },
    'ERR-2/members': {
      title: 'Errors have the members of RFC 9457: type, title, status, detail, instance',
      ...making(noRecord),
      after: ['ERR-1/record'],
      expect: [
        answerOf(error, (answer, _, exchange) => {
          const told = jsonOf(answer)
          const missing = ['type', 'title', 'detail', 'instance'].filter(
            (name) => typeof valueAt(told, `/${name}`) !== 'string',
          )
          if (missing.length > 0) return `no text in ${missing.join(', ')}`
          const code = valueAt(told, '/status')
          if (code === answer.status) return undefined
          return finding(exchange, { pointer: '/status' }, `${short(code)} in place of ${answer.status}`)
        }),
      ],
      remedy: 'Add the members of RFC 9457 that are missing.',
    },
    'ERR-2/request-id': {
      title: 'Each error has its own request_id',
      steps: twoAbsentRecords,
      expect: [
        (seen) => {
          const [id, next] = [first, second].map((step) => valueAt(jsonOf(seen.of(step).answer), '/request_id'))
          if ([id, next].some((each) => typeof each !== 'string' && typeof each !== 'number')) {
            return finding(seen.of(first), 'body', 'there is no request_id')
          }
          return id === next ? finding(seen.of(second), { pointer: '/request_id' }, `${short(id)} in both`) : undefined
        },
      ],
      remedy: 'Give each request an identifier, put it into the log and into the error.',
    },
  }),
]

/** Which of these names the errors of a response do not mention. */
function unnamedIn(answer: Answer, names: readonly string[], { profile }: Observations): string[] {
  const told = jsonOf(answer)
  // A body that repeats what was sent would name everything.
  const json = JSON.stringify(valueAt(told, profile.names.errors) ?? told) ?? answer.body
  const text = json.replaceAll(/\\[nrt]/g, ' ')
  return names.filter((name) => !new RegExp(`(?<![\\w])${name.replaceAll(/[^\w]/g, '\\$&')}(?![\\w])`).test(text))
}

/**
 * A response names all that is wrong with a body. Where values of wrong types cannot be read, the reader stops at the
 * first: then a body counts whose values break constraints only.
 */
const namesAll: Expectation = (seen) => {
  const { collection } = seen
  const constrained = [...new Set([...Object.keys(brokenValues(collection)), ...collection.required])]
  const { answer } = seen.of(constraints)
  const isRefused = answer !== undefined && answer.status >= 400 && answer.status < 500
  if (isRefused && constrained.length > 1 && unnamedIn(answer, constrained, seen).length === 0) return undefined
  return namesInvalid(seen)
}

const namesInvalid: Expectation = answerOf(error, (answer, seen) => {
  const unnamed = unnamedIn(answer, mistakesOf(seen.collection), seen)
  if (unnamed.length === 0) return undefined
  return `it says nothing of ${unnamed.join(', ')}, though each is wrong or missing`
})

const collectAll = 'Go on after the first thing that is wrong, collect all, and answer once.'

/** One response lists all validation errors. */
const validation = common({ remedy: collectAll }).define({
  'ERR-3/creation': {
    title: 'One response lists all errors of a body of POST',
    needs: ['mistakes'],
    after: ['ERR-1/validation'],
    steps: [error.post(collection, body.invalid), constraints.post(collection, body.broken)],
    expect: [namesAll],
  },
  'ERR-3/replacement': {
    title: 'One response lists all errors of a body of PUT',
    needs: ['mistakes'],
    steps: [create(one), error.put(one, body.invalid), constraints.put(one, body.broken)],
    expect: [namesAll],
  },
  'ERR-3/parameters': {
    title: 'One response lists all errors of the parameters',
    needsOnly: ['page', 'paged'],
    steps: [error.get(`${collection}?page=no-such&${paging.perPage}=no-such`)],
    expect: [
      answerOf(error, (answer, seen) => {
        if (answer.status < 400) throw new NotSetUp(`page=no-such was answered ${answer.status}`)
        const unnamed = unnamedIn(answer, [paging.page, paging.perPage].map(seen.fill), seen)
        return unnamed.length === 0 ? undefined : `it says nothing of ${unnamed.join(', ')}`
      }),
    ],
  },
  'ERR-3/places': {
    title: 'Each validation error has a code, a message and its place as a JSON Pointer',
    level: 'should',
    needs: ['mistakes'],
    after: ['ERR-3/creation'],
    steps: [error.post(collection, body.invalid)],
    expect: [
      answerOf(error, (answer, seen, exchange) => {
        const found = errorsIn(answer, seen)
        if (found === undefined) return `there is no array of errors at ${seen.profile.names.errors}`
        const isText = (value: unknown) => typeof value === 'string' && value !== ''
        const index = found.errors.map(objectOf).findIndex(({ code, message, detail, pointer, path, source }) => {
          const isPlaced = [pointer, path, objectOf(source)['pointer']].some((each) => /^#?\/./.test(String(each)))
          return !isText(code) || !isText(message ?? detail) || !isPlaced
        })
        if (index < 0) return undefined
        const message = `${short(found.errors[index])} lacks code, message or pointer`
        return finding(exchange, { pointer: `${found.pointer}/${index}` }, message)
      }),
    ],
    remedy: 'Write each error as {"code": …, "message": …, "pointer": "/member"}.',
  },
})

/** Steps of cases that judge themselves whether the server fails. */
const judged = new Set([odd.name, 'answered', 'far'])

/** Usual mistakes, so that there is an error response. */
const twoMistakes = [error.get(`${base}/no-such-${mark}`), error.get(`${collection}?sort=no_such_order`)]

/** No error response of the whole run is wrong, but those to malformed input: other cases judge these. */
function nowhere(test: (answer: Answer) => string | undefined): Expectation {
  return ({ earlier }) => {
    for (const exchange of earlier) {
      const isJudged = judged.has(exchange.step) || (exchange.answer?.status ?? 0) < 400
      const wrong = isJudged ? undefined : test(exchange.answer as Answer)
      if (wrong !== undefined) {
        const { method, url } = exchange.asked
        return finding(exchange, 'body', `${method} ${new URL(url).pathname}: ${wrong}`)
      }
    }
    return undefined
  }
}

/** No error response to the steps called `odd` has internal details. A connection that is closed tells nothing. */
const revealsNothing: Expectation = (seen) => {
  const answered = seen.all(odd).filter(({ answer }) => answer !== undefined)
  if (answered.length === 0) throw new NotSetUp('no request was answered')
  for (const exchange of answered) {
    const { answer } = exchange
    const told = answer && answer.status >= 400 ? internalDetailIn(answer.body) : undefined
    if (told !== undefined) return finding(exchange, 'body', `it tells ${told}`)
  }
  return undefined
}

const hidden = [
  ...defineEach('ERR-4/', oddInputs, ({ name: _, title, ...input }) => ({
    ...input,
    title: `The response to ${title} reveals no internal details`,
    expect: [revealsNothing],
    remedy: 'Answer unexpected failures with one constant sentence, and write the details to the log.',
  })),
  ...define({
    'ERR-4/conflict': {
      title: 'The response to a unique value that is taken reveals no internal details',
      needs: ['unique'],
      steps: [create(one), odd.post(collection, body.withUniqueValuesOf(one))],
      expect: [
        applicableWhere((seen) => !succeeded(odd)(seen), 'the server creates a record with a value that is taken'),
        revealsNothing,
      ],
      remedy: 'Name the member whose value is taken in a sentence of your own, and log the message of the database.',
    },
    'ERR-4/anywhere': {
      title: 'No other error response of the run reveals internal details',
      alone: 'last',
      needsOnly: ['list'],
      steps: twoMistakes,
      expect: [
        nowhere(({ body: text }) => {
          const told = internalDetailIn(text)
          return told && `it tells ${told}`
        }),
      ],
      remedy: 'Answer unexpected failures with one constant sentence, and write the details to the log.',
    },
    'ERR-4/server-names': {
      title: 'No response has X-Powered-By',
      level: 'may',
      steps: [setUp(list.get(collection))],
      expect: [noField(list, 'X-Powered-By')],
      remedy: 'Turn X-Powered-By off: it helps only attackers.',
    },
  }),
]

const statuses = [
  ...defineEach('ERR-5/', oddInputs, ({ name: _, title, ...input }) => ({
    ...input,
    title: `No server error (5xx) for ${title}`,
    expect: [
      everyAnswerOf(odd, (answer, _, exchange) =>
        answer.status >= 500
          ? finding(exchange, 'status', `${answer.status}, though the request is what is wrong`)
          : undefined,
      ),
    ],
    remedy: 'Validate input before you use it, and answer 400 or 404: clients retry a 5xx.',
  })),
  ...define({
    'ERR-5/anywhere': {
      title: 'No other request of the run causes a server error (500)',
      alone: 'last',
      needsOnly: ['list'],
      steps: twoMistakes,
      expect: [nowhere(({ status: told }) => (told === 500 ? 'it is answered 500' : undefined))],
      remedy: 'Find in the log what failed. Refuse wrong input with a 4xx: clients retry a 5xx.',
    },
    'ERR-5/validation': {
      title: 'A body with invalid values returns 400',
      ...making(invalid),
      after: ['ERR-1/validation'],
      expect: [status(error, 400)],
      remedy: 'Answer validation with 400.',
    },
    'ERR-5/malformed-json': {
      title: 'A truncated body returns 400',
      ...making(malformed),
      after: ['ERR-1/malformed-json'],
      expect: [status(error, 400)],
      remedy: 'Answer a body that cannot be read with 400.',
    },
    'ERR-5/record': {
      title: 'The address of a nonexistent record returns 404, whatever the identifier looks like',
      after: ['ERR-1/record'],
      steps: [error.get(`${collection}/no-such-${mark}`)],
      expect: [status(error, 404)],
      remedy: 'Answer 404 where nothing is at the address, whatever the identifier looks like.',
    },
    'ERR-5/path': {
      title: 'An unknown path returns 404',
      ...making(noPath),
      after: ['ERR-1/path'],
      expect: [status(error, 404)],
      remedy: 'Answer 404 where nothing is at the address.',
    },
    'ERR-5/media-type': {
      title: 'A body of an unsupported media type is refused with 415 (or 400, 422)',
      level: 'should',
      // The body is sound: only its type may be what is refused.
      steps: [
        create(one),
        error.post(collection, body.example, { headers: { 'Content-Type': 'application/x-no-such' } }),
      ],
      expect: [
        applicableWhere((seen) => !succeeded(error)(seen), 'the type of a body does not matter'),
        status(error, 415, 400, 422),
      ],
      remedy: 'Check Content-Type before the body, and answer 415 to unsupported media types.',
    },
    'ERR-5/accept': {
      title: 'An Accept that nothing matches returns 406, or JSON',
      level: 'should',
      steps: [list.get(collection, { headers: { Accept: 'application/x-no-such' } })],
      expect: [
        status(list, 406, 200),
        answerOf(list, (answer) => {
          // RFC 9110, section 15.5.7, leaves the body of a 406 to the server.
          if (answer.status === 406 || jsonOf(answer) !== undefined) return undefined
          return `a body of ${fieldOf(answer, 'Content-Type') ?? 'no type'} that is not JSON`
        }),
      ],
      remedy: 'Answer 406 if nothing matches Accept, or ignore Accept.',
    },
  }),
]

export const errors = [...outcomes, ...bodies, ...validation, ...hidden, ...statuses]

const details: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a stack trace', /^\s+at (?:[\w$.<>[\] ]+\(.*\)|.+:\d+:\d+$)/m],
  // Jackson writes the place of an error in a body as "at [Source: …; line: 1, column: 7]".
  ['a stack trace', /\\n(?:\s|\\t)+at (?!\[Source: )\S+/],
  ['the message of a parser', /\bat \[Source: /],
  ['the name of a class', /(?<![\w./@-])(?:java|javax|jakarta|kotlin|scala|com|org|net|io)(?:\.[a-z]\w*)+\.[A-Z]\w*/],
  ['the name of a type', /\bGo (?:struct field|value of type) \*?\w+\.\w[\w.]*/],
  ['the name of a type', /\bexpected struct \w+/],
  ['the name of a type', /\bKey: '[A-Z]\w*\.[\w.]+' Error:/],
  ['a stack trace', /Traceback \(most recent call last\)/],
  ['a stack trace', /File "[^"]+", line \d+/],
  ['a stack trace', /\bgoroutine \d+ \[/],
  ['a stack trace', /\b[\w./-]+\.(?:java|kt|scala|cs|go|rs|py|rb|php|exs?|m?[jt]sx?):\d+/],
  ['a stack trace', /\.php<?\/?b?>? on line /],
  [
    'the message of a failure',
    /\b(?:Cannot read propert|is not a function|NullPointerException|NullReferenceException)/,
  ],
  ['the message of a failure', /\b(?:nil pointer dereference|undefined method `|Object reference not set)/],
  ['the message of a failure', /\bUncaught |\bUnhandled(?:PromiseRejection| exception)/],
  ['SQL', /\bSELECT\s.+\sFROM\s|\bINSERT\s+INTO\s|\bDELETE\s+FROM\s/],
  ['SQL', /\bselect\s.+\sfrom\s+\S+\s+(?:where|limit|order by|group by|(?:left |inner )?join)\b/i],
  ['SQL', /\binsert\s+into\s+\S+\s*(?:\(|values)|\bdelete\s+from\s+\S+\s+where\b|\bupdate\s+\S+\s+set\s+\S+\s*=/i],
  [
    'an error of the database',
    /\bSQLSTATE\b|\b(?:ERR_)?SQLITE_|\bORA-\d{5}\b|\bPG::|\bER_[A-Z]+_[A-Z_]+|\bMongo\w*Error\b|\bPrisma/,
  ],
  ['an error of the database', /syntax error at or near|near "[^"]*": syntax error|unrecognized token: "/],
  ['an error of the database', /invalid byte sequence for encoding|violates [\w-]+ constraint|constraint failed/i],
  ['an error of the database', /\bdatatype mismatch\b|duplicate key (?:value|error|row)|Duplicate entry '/i],
  [
    'an error of the database',
    /\bE11000\b|violation of (?:unique|primary) key|(?:unique index or )?primary key violation/i,
  ],
  ['an error of the database', /invalid input syntax for|out of range for type|no such (?:column|table): /],
  ['the path of a file', /(?<![\w/%.-])\/(?:home|usr|var|opt|srv|app|root|tmp|Users|workspace)\/[\w.-]+\/[\w.-]+/],
  ['the path of a file', /\b[A-Z]:\\\\?[\w.-]+\\/],
  ['the path of a file', /\bnode_modules[/\\]|\bfile:\/\/\/|\bsite-packages\//],
]

/** The internal detail that a body discloses; `undefined` if none is recognized. */
export function internalDetailIn(body: string): string | undefined {
  // In JSON, a line break stands directly before a word.
  const texts = [body, ...textsIn(parseJson(body))]
  for (const [what, pattern] of details) {
    const found = texts.map((text) => pattern.exec(text)).find((each) => each !== null)
    if (found) return `${what}: ${found[0].trim().slice(0, 120)}`
  }
  return undefined
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
