/** CON-1: every answer says whether it may be cached. */

import type { Case, Need, Step } from '../../case/case.ts'
import { applicableWhere, field, unless } from '../../case/expect.ts'
import { one } from '../../case/names.ts'
import { base, collection, references } from '../../case/references.ts'
import { asNobody, body, create } from '../../case/steps.ts'

const [asked] = references('asked')

interface Kind {
  readonly name: string
  /** As the subject of a sentence. */
  readonly what: string
  readonly kind: Case['kind']
  readonly needs: readonly Need[]
  /** The one called `asked` is judged. */
  readonly steps: readonly Step[]
  /** It is about this status alone. */
  readonly only?: number
}

const reads: readonly Kind[] = [
  {
    ...{ name: 'read', what: 'The answer to GET of a record', kind: 'changing', needs: ['create', 'read'] },
    steps: [create(one), asked.get(one)],
  },
  {
    ...{ name: 'list', what: 'The answer to GET of a collection', kind: 'reading', needs: ['list'] },
    steps: [asked.get(collection)],
  },
]

const others: readonly Kind[] = [
  {
    ...{ name: 'creation', what: 'The answer to a POST that creates', kind: 'changing', needs: ['create'] },
    steps: [create(asked)],
  },
  {
    ...{ name: 'change', what: 'The answer to PATCH', kind: 'changing' },
    needs: ['create', 'update', 'change', 'unconditional'],
    steps: [create(one), asked.patch(one, body.change)],
  },
  {
    ...{ name: 'deletion', what: 'The answer to DELETE', kind: 'changing' },
    needs: ['create', 'delete', 'unconditional'],
    steps: [create(one), asked.delete(one)],
  },
  {
    ...{ name: 'missing', what: 'The answer where nothing is at the address', kind: 'reading', needs: [] },
    steps: [asked.get(`${base}/no-such-thing`)],
  },
  {
    ...{
      name: 'refused',
      what: 'The answer to somebody without a credential',
      kind: 'reading',
      needs: ['key', 'list'],
    },
    steps: [asked.get(collection, asNobody)],
    only: 401,
  },
  {
    ...{ name: 'invalid', what: 'The answer to a body that cannot be read', kind: 'changing', needs: ['create'] },
    steps: [asked.post(collection, body.text('{'))],
  },
]

const says = ({ name, what, kind, needs, steps }: Kind): Case => ({
  ...{ id: `CON-1/says-${name}`, title: `${what} says whether it may be cached`, kind, needs, steps },
  expect: [
    field(asked, 'Cache-Control', 'says what caches may do', (value) =>
      directives(value).length > 0 ? undefined : 'Cache-Control is empty',
    ),
  ],
  remedy:
    'Send Cache-Control with every answer, errors too: private, no-cache for what was read, no-store for all else.',
})

const isPrivate = ({ name, what, kind, needs, steps }: Kind): Case => ({
  ...{ id: `CON-1/private-${name}`, title: `${what} with a credential is for no shared cache`, kind, steps },
  needs: [...needs, 'key'],
  after: [`CON-1/says-${name}`],
  level: 'should',
  expect: [
    field(asked, 'Cache-Control', 'is private, or no-store', (value) =>
      directives(value).some((each) => each === 'private' || each === 'no-store')
        ? undefined
        : `${value} has neither private nor no-store`,
    ),
  ],
  remedy: 'Send private in Cache-Control: what one caller may read a shared cache must not keep for others.',
})

const isAskedAgain = ({ name, what, kind, needs, steps }: Kind): Case => ({
  ...{ id: `CON-1/again-${name}`, title: `${what} says how long it keeps`, kind, needs, steps },
  after: [`CON-1/says-${name}`],
  level: 'should',
  expect: [
    field(asked, 'Cache-Control', 'is no-cache, max-age or no-store', (value) =>
      directives(value).some((each) => /^(?:no-cache|no-store|max-age=\d+)$/.test(each))
        ? undefined
        : `${value} leaves it to caches how long they keep it`,
    ),
  ],
  remedy: 'Send no-cache in Cache-Control, or a max-age: otherwise caches guess how long the answer keeps.',
})

const isNotStored = ({ name, what, kind, needs, steps, only }: Kind): Case => ({
  ...{ id: `CON-1/no-store-${name}`, title: `${what} is not to be stored`, kind, needs, steps },
  after: [`CON-1/says-${name}`],
  level: 'should',
  expect: [
    applicableWhere(`it is answered ${only ?? 'at all'}`, (seen) => {
      const status = seen.of(asked).answer?.status
      return only === undefined || status === only ? undefined : `it is answered ${status}`
    }),
    field(asked, 'Cache-Control', 'is no-store', (value) =>
      unless(directives(value).includes('no-store'), `${value} in place of no-store`),
    ),
  ],
  remedy: 'Send Cache-Control: no-store with answers to changes and with errors: nothing of them is worth keeping.',
})

function directives(value: string): string[] {
  return value
    .toLowerCase()
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
}

export const caching: readonly Case[] = [
  ...reads.flatMap((kind) => [says(kind), isPrivate(kind), isAskedAgain(kind)]),
  ...others.flatMap((kind) => [says(kind), isNotStored(kind)]),
]
