/** MET-1 and MET-5: what reading leaves as it is, and what a deletion leaves. */
import type { Case, Expectation, Seen } from '../../case/case.ts'
import { altogether, finding, itemsOf, sameBody, status, totalOf } from '../../case/expect.ts'
import { given, record, when } from '../../case/steps.ts'

const tricks = ['_method=DELETE', '_method=PUT', 'method=delete', 'action=delete', 'delete=true', 'id=', 'cmd=remove']
const overrides = ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override']

const isAsBefore: readonly Expectation[] = [status('after', 200), sameBody('after', 'before')]

/** How many records a list tells of, or holds where it tells nothing. */
function countIn(seen: Seen, step: string): number | undefined {
  const { answer } = seen.of(step)
  return totalOf(answer, seen) ?? itemsOf(answer, seen)?.length
}

export const safety: readonly Case[] = [
  {
    id: 'MET-1/get',
    title: 'GET of a record changes nothing, whatever parameters it carries',
    kind: 'changing',
    needs: ['create', 'read'],
    steps: [
      record(),
      given('before', 'GET', '{one}'),
      ...tricks.map((trick) => when('odd', 'GET', `{one}?${trick}`)),
      when('after', 'GET', '{one}'),
    ],
    expect: isAsBefore,
    mend: 'Let the method of the request alone decide what is done, and read no other from parameters.',
  },
  {
    id: 'MET-1/head',
    title: 'HEAD of a record changes nothing, whatever parameters it carries',
    kind: 'changing',
    needs: ['create', 'read'],
    steps: [
      record(),
      given('before', 'GET', '{one}'),
      ...tricks.map((trick) => when('odd', 'HEAD', `{one}?${trick}`)),
      when('after', 'GET', '{one}'),
    ],
    expect: isAsBefore,
    mend: 'Let the method of the request alone decide what is done, and read no other from parameters.',
  },
  {
    id: 'MET-1/override',
    title: 'GET changes nothing, whatever method a header field asks for',
    kind: 'changing',
    needs: ['create', 'read'],
    steps: [
      record(),
      given('before', 'GET', '{one}'),
      ...overrides.map((name) => when('odd', 'GET', '{one}', { headers: { [name]: 'DELETE' } })),
      when('after', 'GET', '{one}'),
    ],
    expect: isAsBefore,
    mend: 'Take no method from header fields, or at most from those of POST.',
  },
  {
    id: 'MET-1/list',
    title: 'GET of a collection makes nothing, whatever parameters it carries',
    kind: 'changing',
    needs: ['create', 'list', 'marker'],
    steps: [
      record(),
      given('before', 'GET', '{collection}?{mine}'),
      when('odd', 'GET', '{collection}?{mine}&_method=POST', { body: { from: 'example' } }),
      when('odd', 'GET', '{collection}?{mine}&action=create'),
      when('after', 'GET', '{collection}?{mine}'),
    ],
    expect: [
      altogether('there are as many as before', (seen) => {
        const [before, after] = ['before', 'after'].map((step) => countIn(seen, step))
        return before === after ? undefined : finding(seen.of('after'), 'body', `${after} in place of ${before}`)
      }),
    ],
    mend: 'Let the method of the request alone decide what is done, and read no body with GET.',
  },
]

export const removal: readonly Case[] = [
  {
    id: 'MET-5/no-other',
    title: 'DELETE removes the record at its address and no other, whatever its body says',
    kind: 'changing',
    needs: ['create', 'read', 'delete', 'unconditional'],
    steps: [
      record(),
      record('other'),
      when('gone', 'DELETE', '{one}', { body: { json: { ids: ['{other.id}'], '{id}': '{other.id}' } } }),
      when('after', 'GET', '{other}'),
    ],
    expect: [status('after', 200)],
    mend: 'Take what is to be deleted from the address alone: a body of DELETE has no meaning.',
  },
]
