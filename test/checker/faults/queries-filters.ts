/** Faults of filters. */
import { answering, asking, failing, listIn } from '../lists.ts'
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
    plant: asking((parameters) => {
      if (parameters.getAll('name').length === 1) renamed(parameters, 'name', 'name[starts_with]')
    }),
  },
  {
    breaks: 'QRY-1/capitals',
    says: 'Filters take capitals for small letters.',
    plant: asking((parameters) => {
      const name = parameters.get('name') ?? ''
      if (name !== name.toLowerCase()) parameters.append('name', name.toLowerCase())
    }),
  },
  {
    breaks: 'QRY-1/number',
    says: 'It filters by texts alone.',
    plant: asking((parameters) => {
      if (/^\d+$/.test(parameters.get('price') ?? '')) parameters.delete('price')
    }),
  },
  {
    breaks: 'QRY-1/any-of',
    says: 'Of a filter that is given twice the last counts.',
    plant: asking((parameters) => {
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
        return isUnknown && listIn(answer)?.data.length === 0 ? failing(404, 'NOT_FOUND') : answer
      }
    },
  },
  {
    breaks: 'QRY-1/literal',
    says: 'Filters are compared with "like".',
    plant: asking((parameters) => {
      const name = parameters.get('name')
      if (!name?.endsWith('%')) return
      parameters.delete('name')
      parameters.set('name[starts_with]', name.slice(0, -1))
    }),
  },
  {
    breaks: 'QRY-1/every-character',
    says: 'It decodes the query string twice.',
    plant: (server) => (request) => server({ ...request, path: request.path.replaceAll('%2B', '+') }),
  },
  {
    breaks: 'QRY-1/nul',
    says: 'The database chokes on U+0000.',
    plant: answering((answer, _, { path }) =>
      /[?&]name=[^&]*%00/.test(path) ? failing(500, 'INTERNAL_ERROR') : answer,
    ),
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
      plant: asking((parameters) => renamed(parameters, `price[${operator}]`, `price[${other}]`)),
    }),
  ),
  {
    breaks: 'QRY-2/not',
    says: 'It takes no notice of [not].',
    plant: asking((parameters) => parameters.delete('price[not]')),
  },
  {
    breaks: 'QRY-2/in',
    says: 'It takes the list of [in] for one value.',
    plant: asking((parameters) => renamed(parameters, 'name[in]', 'name')),
  },
  {
    breaks: 'QRY-2/contains',
    says: 'It takes [contains] for [starts_with].',
    plant: asking((parameters) => renamed(parameters, 'name[contains]', 'name[starts_with]')),
  },
  {
    breaks: 'QRY-2/starts-with',
    says: 'It takes [starts_with] for [contains].',
    plant: asking((parameters) => renamed(parameters, 'name[starts_with]', 'name[contains]')),
  },
  {
    breaks: 'QRY-2/null',
    says: 'It takes [null]=false for true.',
    plant: asking((parameters) => {
      if (parameters.get('price[null]') === 'false') parameters.set('price[null]', 'true')
    }),
  },
]
