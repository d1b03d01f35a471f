/** Faults of the sizes and styles of pages. */
import { answering, asking, failing, listIn, listParameters, showing, withList, withParameters } from '../lists.ts'
import type { Fault } from '../planted.ts'

/** A fault by which a size that is none is read as another. */
function sized(breaks: Fault['breaks'], says: string, wrong: RegExp, right?: string): Fault {
  return {
    breaks,
    says,
    plant: asking((parameters) => {
      if (!wrong.test(parameters.get('limit') ?? '')) return
      if (right === undefined) parameters.delete('limit')
      else parameters.set('limit', right)
    }),
  }
}

/** A fault by which of two parameters of different styles one wins. */
function winning(breaks: Fault['breaks'], winner: string, loser: string): Fault {
  return {
    breaks,
    says: `With ${winner}, it takes no notice of ${loser}.`,
    plant: asking((parameters) => {
      if (parameters.has(winner)) parameters.delete(loser)
    }),
  }
}

const pageParameters = ['page', 'per_page', 'offset', 'limit', 'cursor']

export const sizeFaults: readonly Fault[] = [
  {
    breaks: 'PAG-1/default',
    says: 'It shows all records where it is not asked for a page.',
    plant: (server) => async (request) => {
      const parameters = listParameters(request)
      if (parameters === undefined || pageParameters.some((name) => parameters.has(name))) return server(request)
      const first = await server(withParameters(request, (asked) => asked.set('limit', '100')))
      const all = listIn(first)
      if (all === undefined) return first
      for (let cursor = all.pagination['next_cursor']; typeof cursor === 'string'; ) {
        const after = cursor
        const next = await server(
          withParameters(request, (asked) => {
            asked.set('limit', '100')
            asked.set('cursor', after)
          }),
        )
        const page = listIn(next)
        all.data.push(...(page?.data ?? []))
        cursor = page?.pagination['next_cursor']
      }
      const { link: _, ...headers } = first.headers
      return withList({ ...first, headers }, (list) => {
        list.data = all.data
        list.pagination = { total_count: all.data.length, next_cursor: null, previous_cursor: null }
      })
    },
  },
  sized('PAG-1/zero', 'It takes a size of 0 for none.', /^0$/),
  sized('PAG-1/negative', 'It takes a size of -1 for none.', /^-1$/),
  sized('PAG-1/fraction', 'It reads sizes with parseInt.', /^(1\.5|1e1| 1)$/, '1'),
  sized('PAG-1/huge', 'It shows 100 records where more are asked for.', /^1000000000$/, '100'),
  {
    breaks: 'PAG-1/no-number',
    says: 'The database gets sizes that it cannot hold.',
    plant: answering((answer, parameters) =>
      (parameters.get('limit') ?? '').length > 15 ? failing(500, 'INTERNAL_ERROR') : answer,
    ),
  },
  {
    breaks: 'PAG-2/page',
    says: 'A page leaves out its last record where there is a next.',
    plant: showing((list, parameters) => {
      const { page, total_pages } = list.pagination
      if (page !== undefined && Number(page) < Number(total_pages) && !parameters.has('sort')) list.data.pop()
    }),
  },
  {
    breaks: 'PAG-2/offset',
    says: 'An offset counts from one.',
    plant: showing((list) => {
      if (Number(list.pagination['offset']) > 0) list.data.shift()
    }),
  },
  {
    breaks: 'PAG-2/cursor',
    says: 'It gives cursors only where it is asked with one.',
    plant: showing((list, parameters) => {
      if (!parameters.has('cursor') && list.pagination['next_cursor']) list.pagination['next_cursor'] = null
    }),
  },
  winning('PAG-2/page-with-offset', 'page', 'offset'),
  winning('PAG-2/page-with-limit', 'page', 'limit'),
  winning('PAG-2/cursor-with-page', 'cursor', 'page'),
  winning('PAG-2/cursor-with-offset', 'cursor', 'offset'),
]
