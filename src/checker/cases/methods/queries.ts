/** MET-10: QUERY. */
import type { Case, Need } from '../../case/case.ts'
import { answerOf, finding, itemsOf, status } from '../../case/expect.ts'
import { listed } from '../../case/records.ts'
import { record, when } from '../../case/steps.ts'

const needs: readonly Need[] = ['create', 'list', 'marker']

/** The list of a step holds a record, and of two of them only that. */
function finds(step: string, name: string, other?: string) {
  return answerOf(step, `finds ${name}`, (answer, seen, exchange) => {
    if (itemsOf(answer, seen) === undefined) return finding(exchange, 'body', 'there is no list in it')
    if (listed(answer, seen, seen.fill(`{${name}.id}`)) === undefined)
      return finding(exchange, 'body', `${name} is not in it`)
    return other !== undefined && listed(answer, seen, seen.fill(`{${other}.id}`)) !== undefined
      ? finding(exchange, 'body', `${other} is in it, which does not match`)
      : undefined
  })
}

export const searches: readonly Case[] = [
  {
    id: 'MET-10/query',
    title: 'A collection takes QUERY with its parameters in a JSON body',
    kind: 'changing',
    needs,
    steps: [record(), when('query', 'QUERY', '{collection}', { body: { json: { '{member:marker}': '{mark}' } } })],
    expect: [status('query', 200), finds('query', 'one')],
    mend: 'Take QUERY (RFC 10008) on collections, with the parameters of GET as members of a JSON object.',
  },
  {
    id: 'MET-10/filters',
    title: 'QUERY finds what its body asks for, and nothing else',
    kind: 'changing',
    needs,
    after: ['MET-10/query'],
    steps: [
      record(),
      record('other', { '{member:marker}': '{mark}-other' }),
      when('query', 'QUERY', '{collection}', { body: { json: { '{member:marker}': '{mark}' } } }),
    ],
    expect: [finds('query', 'one', 'other')],
    mend: 'Read the body of QUERY with the code that reads the parameters of GET.',
  },
  {
    id: 'MET-10/long',
    title: 'QUERY takes more than fits into an address',
    kind: 'changing',
    needs,
    after: ['MET-10/query'],
    steps: [
      record(),
      when('query', 'QUERY', '{collection}', {
        body: {
          json: {
            '{member:marker}': [...Array.from({ length: 300 }, (_, at) => `{mark}-${at}-${'x'.repeat(40)}`), '{mark}'],
          },
        },
      }),
    ],
    expect: [status('query', 200), finds('query', 'one')],
    mend: 'Let the body of QUERY be as long as that of other requests: long filters are what it is for.',
  },
]
