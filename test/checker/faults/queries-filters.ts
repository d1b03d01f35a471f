/** Faults of filters. */
import { answering, withProblem } from '../plant/answers.ts'
import { asks, listing, onEmpty, taking } from '../plant/lists.ts'
import { addressing } from '../plant/requests.ts'
import { always } from '../plant/which.ts'
import type { Fault } from '../planted.ts'

/** A parameter under another name. */
function renamed(parameters: URLSearchParams, from: string, to: string): void {
  const value = parameters.get(from)
  if (value === null) return
  parameters.delete(from)
  parameters.set(to, value)
}

export const filterFaults: readonly Fault[] = [
  {
    breaks: 'QRY-1/equal',
    says: 'Filters find what begins with their value.',
    plant: listing((parameters) => {
      if (parameters.getAll('name').length === 1) renamed(parameters, 'name', 'name[starts_with]')
    }),
  },
  {
    breaks: 'QRY-1/capitals',
    says: 'Filters take capitals for small letters.',
    plant: listing((parameters) => {
      const name = parameters.get('name') ?? ''
      if (name !== name.toLowerCase()) parameters.append('name', name.toLowerCase())
    }),
  },
  {
    breaks: 'QRY-1/number',
    says: 'It filters by texts alone.',
    plant: taking('price', /^\d+$/),
  },
  {
    breaks: 'QRY-1/word',
    says: 'It forgets the filter by color.',
    plant: taking('color', /^(?:red|green)$/),
  },
  {
    breaks: 'QRY-1/any-of',
    says: 'Of a filter that is given twice the last counts.',
    plant: listing((parameters) => {
      const last = parameters.getAll('name').at(-1)
      if (last !== undefined) parameters.set('name', last)
    }),
  },
  {
    breaks: 'QRY-1/none',
    says: 'It answers 404 for values that it has never seen.',
    plant(server) {
      const seen = new Set<string>()
      return async (request) => {
        if (request.method === 'POST')
          for (const [, text] of request.body.matchAll(/"name":"([^"]*)"/g)) seen.add(text as string)
        const names = new URLSearchParams(request.path.split('?')[1]).getAll('name')
        const answer = await server(request)
        const isUnknown = request.method === 'GET' && names.length > 0 && !names.some((name) => seen.has(name))
        return isUnknown ? onEmpty(withProblem(404))(answer, request) : answer
      }
    },
  },
  {
    breaks: 'QRY-1/literal',
    says: 'Filters are compared with "like".',
    plant: listing((parameters) => {
      const name = parameters.get('name')
      if (!name?.endsWith('%')) return
      parameters.delete('name')
      parameters.set('name[starts_with]', name.slice(0, -1))
    }),
  },
  {
    breaks: 'QRY-1/every-character',
    says: 'It decodes the query string twice.',
    plant: addressing(always, /%2B/g, '+'),
  },
  {
    breaks: 'QRY-1/nul',
    says: 'The database chokes on U+0000.',
    plant: answering(asks('name', /\0/), withProblem(500)),
  },
  ...(
    [
      ['gt', 'gte'],
      ['gte', 'gt'],
      ['lt', 'lte'],
      ['lte', 'lt'],
    ] as const
  ).map(
    ([operator, other]): Fault => ({
      breaks: `QRY-2/${operator}`,
      says: `It takes ${operator} for ${other}.`,
      plant: listing((parameters) => renamed(parameters, `price[${operator}]`, `price[${other}]`)),
    }),
  ),
  {
    breaks: 'QRY-2/not',
    says: 'It takes no notice of [not].',
    plant: taking('price[not]'),
  },
  {
    breaks: 'QRY-2/in',
    says: 'It takes the list of [in] for one value.',
    plant: listing((parameters) => renamed(parameters, 'name[in]', 'name')),
  },
  {
    breaks: 'QRY-2/contains',
    says: 'It takes [contains] for [starts_with].',
    plant: listing((parameters) => renamed(parameters, 'name[contains]', 'name[starts_with]')),
  },
  {
    breaks: 'QRY-2/starts-with',
    says: 'It takes [starts_with] for [contains].',
    plant: listing((parameters) => renamed(parameters, 'name[starts_with]', 'name[contains]')),
  },
  {
    breaks: 'QRY-2/null',
    says: 'It takes [null]=false for true.',
    plant: taking('color[null]', 'false', 'true'),
  },
]
