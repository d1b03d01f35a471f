/** Faults of the sizes and styles of pages. */
import { answering, withProblem } from '../plant/answers.ts'
import {
  asks,
  type List,
  listIn,
  listing,
  parametersOf,
  showing,
  taking,
  withList,
  withParameters,
} from '../plant/lists.ts'
import { withField } from '../plant/messages.ts'
import type { Fault, PlantedAnswer, PlantedRequest, Server } from '../planted.ts'

/** A fault by which a size that is none is read as another. */
function sized(breaks: Fault['breaks'], says: string, wrong: RegExp, right?: string): Fault {
  return { breaks, says, plant: taking('limit', wrong, right) }
}

/** A fault by which of two parameters of different styles one wins. */
function winning(breaks: Fault['breaks'], winner: string, loser: string): Fault {
  return {
    breaks,
    says: `With ${winner}, it takes no notice of ${loser}.`,
    plant: listing((parameters) => {
      if (parameters.has(winner)) parameters.delete(loser)
    }),
  }
}

/** The first page of a list, with all that follow in it. */
async function wholeList(server: Server, request: PlantedRequest): Promise<PlantedAnswer> {
  const first = await server(request)
  const more: List['data'] = []
  for (let cursor = listIn(first)?.pagination['next_cursor']; typeof cursor === 'string'; ) {
    const after = cursor
    const page = listIn(await server(withParameters((asked) => asked.set('cursor', after))(request)))
    more.push(...(page?.data ?? []))
    cursor = page?.pagination['next_cursor']
  }
  const linked = withField('link', (link) => link.replace(/, <[^>]*>; rel="next"/, ''))(first)
  return withList((list) => {
    list.data.push(...more)
    list.pagination = { total_count: list.data.length, next_cursor: null, previous_cursor: null }
  })(linked)
}

const pageParameters = ['page', 'per_page', 'offset', 'limit', 'cursor']

export const sizeFaults: readonly Fault[] = [
  {
    breaks: 'PAG-1/default',
    says: 'It shows all records where it is not asked for a page.',
    plant: (server) => async (request) => {
      // HEAD tells what GET tells.
      const asked = request.method === 'HEAD' ? { ...request, method: 'GET' } : request
      const parameters = parametersOf(asked)
      if (parameters === undefined || pageParameters.some((name) => parameters.has(name))) return server(request)
      const whole = await wholeList(server, asked)
      return asked === request ? whole : { ...whole, body: '' }
    },
  },
  sized('PAG-1/zero', 'It takes a size of 0 for none.', /^0$/),
  sized('PAG-1/negative', 'It takes a size of -1 for none.', /^-1$/),
  sized('PAG-1/fraction', 'It reads sizes with parseInt.', /^(1\.5|1e1| 1)$/, '1'),
  sized('PAG-1/huge', 'It shows 100 records where more are asked for.', /^1000000000$/, '100'),
  {
    breaks: 'PAG-1/no-number',
    says: 'The database gets sizes that it cannot hold.',
    plant: answering(asks('limit', /.{16}/), withProblem(500)),
  },
  {
    breaks: 'PAG-2/page',
    says: 'A page of a filtered list leaves out its last record where there is a next.',
    plant: showing((list, parameters) => {
      const { page, total_pages } = list.pagination
      const isFiltered = parameters.has('name') && !parameters.has('sort')
      if (isFiltered && page !== undefined && Number(page) < Number(total_pages)) list.data.pop()
    }),
  },
  {
    breaks: 'PAG-2/page-joined',
    says: 'A page begins one record too late.',
    plant: showing((list, parameters) => {
      if (Number(parameters.get('page')) === 2 && !parameters.has('name')) list.data.shift()
    }),
  },
  {
    breaks: 'PAG-2/offset-joined',
    says: 'A page by offset begins one record too late.',
    plant: showing((list, parameters) => {
      if (Number(parameters.get('offset')) === 2 && !parameters.has('name')) list.data.shift()
    }),
  },
  {
    breaks: 'PAG-2/offset',
    says: 'An offset in a filtered list counts from one.',
    plant: showing((list, parameters) => {
      if (Number(list.pagination['offset']) > 0 && parameters.has('name')) list.data.shift()
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
