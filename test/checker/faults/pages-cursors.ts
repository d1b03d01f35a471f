/** Faults of cursors. */
import { listIn, parametersOf, showing, withList, withParameters } from '../plant/lists.ts'
import { withField } from '../plant/messages.ts'
import { writing } from '../plant/texts.ts'
import { always, isAnonymous, isCollection, of } from '../plant/which.ts'
import type { Fault, PlantedAnswer, PlantedRequest } from '../planted.ts'

/** What a cursor was given for. */
interface Given {
  readonly parameters: URLSearchParams
  readonly isNext: boolean
  readonly key: string
}

/** A fault in how requests with cursors are understood, by a server that remembers what it gave. */
function knowing(
  breaks: Fault['breaks'],
  says: string,
  change: (request: PlantedRequest, cursor: string, given: ReadonlyMap<string, Given>) => PlantedRequest,
  after: (answer: PlantedAnswer, cursor: string, given: ReadonlyMap<string, Given>) => PlantedAnswer = (same) => same,
): Fault {
  return {
    breaks,
    says,
    plant(server) {
      const given = new Map<string, Given>()
      return async (request) => {
        const parameters = parametersOf(request)
        const cursor = parameters?.get('cursor') ?? undefined
        const answer = await server(cursor === undefined ? request : change(request, cursor, given))
        if (parameters === undefined) return answer
        const { next_cursor, previous_cursor } = listIn(answer)?.pagination ?? {}
        const key = request.headers['authorization'] ?? ''
        if (typeof next_cursor === 'string') given.set(next_cursor, { parameters, key, isNext: true })
        if (typeof previous_cursor === 'string') given.set(previous_cursor, { parameters, key, isNext: false })
        return cursor === undefined ? answer : after(answer, cursor, given)
      }
    },
  }
}

/** Makes one cursor of another. */
function asCursor(request: PlantedRequest, cursor: string): PlantedRequest {
  return withParameters((parameters) => parameters.set('cursor', cursor))(request)
}

/** A fault by which a cursor shows the first page where a parameter is another than it was given for. */
function unbound(breaks: Fault['breaks'], says: string, name: string): Fault {
  return knowing(breaks, says, (request, cursor, given) => {
    const before = given.get(cursor)?.parameters.get(name)
    return withParameters((parameters) => {
      if (before !== undefined && before !== parameters.get(name)) parameters.delete('cursor')
    })(request)
  })
}

/** Whether all but one character of two texts of one length are the same. */
function isNearly(one: string, other: string): boolean {
  return one.length === other.length && [...one].filter((letter, index) => letter !== other[index]).length === 1
}

/** A fault by which a walk loses a record after something has happened to the records with its name. */
function disturbed(
  breaks: Fault['breaks'],
  says: string,
  isDisturbing: (request: PlantedRequest, page: readonly unknown[]) => boolean | undefined,
  isSorted: boolean,
): Fault {
  return {
    breaks,
    says,
    plant(server) {
      const walks = new Map<string, { readonly page: readonly unknown[]; isDisturbed: boolean }>()
      return async (request) => {
        for (const [name, walk] of walks) {
          const isOthers = request.method === 'POST' && !request.body.includes(`"${name}"`)
          if (!isOthers && isDisturbing(request, walk.page)) walk.isDisturbed = true
        }
        const parameters = parametersOf(request)
        const answer = await server(request)
        const name = parameters?.get('name')
        if (parameters === undefined || !name || parameters.has('sort') !== isSorted) return answer
        if (parameters.has('cursor')) {
          return walks.get(name)?.isDisturbed ? withList(({ data }) => data.shift())(answer) : answer
        }
        const page = listIn(answer)?.data.map(({ id }) => id) ?? []
        if (parameters.has('limit')) walks.set(name, { page, isDisturbed: false })
        return answer
      }
    },
  }
}

const isCreation = of('POST', isCollection)

export const cursorFaults: readonly Fault[] = [
  {
    breaks: 'PAG-5/forward',
    says: 'A cursor goes on one record too late.',
    plant: showing(({ data }, parameters) => {
      if (parameters.has('cursor')) data.shift()
    }),
  },
  {
    breaks: 'PAG-5/previous',
    says: 'It gives no cursor back.',
    plant: showing(({ pagination }) => {
      if (pagination['previous_cursor']) pagination['previous_cursor'] = null
    }),
  },
  knowing(
    'PAG-5/backward',
    'On the way back the records of a page come the other way round.',
    (request) => request,
    (answer, cursor, given) =>
      given.get(cursor)?.isNext === false ? withList(({ data }) => data.reverse())(answer) : answer,
  ),
  knowing('PAG-5/other-size', 'A cursor holds the size of its pages.', (request, cursor, given) =>
    withParameters((parameters) => {
      const size = given.get(cursor)?.parameters.get('limit')
      if (size !== undefined && size !== null && parameters.has('limit')) parameters.set('limit', size)
    })(request),
  ),
  knowing('PAG-5/garbage', 'It shows the first page where it cannot read a cursor.', (request, cursor) =>
    withParameters((parameters) => {
      if (cursor.length < 20 && cursor !== 'x') parameters.delete('cursor')
    })(request),
  ),
  {
    breaks: 'PAG-5/code',
    says: 'It takes a cursor that is none for any parameter that is wrong.',
    plant: writing(always, '"INVALID_CURSOR"', '"INVALID_QUERY"'),
  },
  knowing('PAG-5/forged', 'It does not see that a cursor was changed.', (request, cursor, given) => {
    const like = [...given.keys()].find((each) => isNearly(each, cursor))
    return like === undefined ? request : asCursor(request, like)
  }),
  knowing('PAG-5/appended', 'It reads of a cursor as much as it needs.', (request, cursor, given) => {
    const begun = [...given.keys()].find((each) => cursor !== each && cursor.startsWith(each))
    return begun === undefined ? request : asCursor(request, begun)
  }),
  unbound('PAG-5/other-filter', 'It begins anew where a cursor has another filter.', 'name'),
  unbound('PAG-5/other-sort', 'It begins anew where a cursor has another sort.', 'sort'),
  knowing('PAG-5/nobody', 'A cursor does for a credential.', (request, cursor, given) => {
    const key = given.get(cursor)?.key
    return key !== undefined && isAnonymous(request) ? withField('authorization', key)(request) : request
  }),
  knowing('PAG-5/other-caller', 'A cursor does for permission.', (request, cursor, given) => {
    const key = given.get(cursor)?.key
    return key !== undefined && !isAnonymous(request) ? withField('authorization', key)(request) : request
  }),
  disturbed('PAG-6/inserted', 'Its cursors count records, the newest first.', isCreation, false),
  {
    breaks: 'PAG-6/ties',
    says: 'Its cursors remember the value that they stand at, and go on behind all that have it.',
    plant: showing((list, parameters) => {
      if (parameters.has('cursor') && parameters.get('sort') === 'price') {
        list.data = []
        list.pagination['next_cursor'] = null
      }
    }),
  },
  disturbed('PAG-6/inserted-before', 'Its cursors count records where they are sorted.', isCreation, true),
  disturbed(
    'PAG-6/deleted',
    'Its cursors count records.',
    ({ method, path }, [first]) => method === 'DELETE' && path.endsWith(`/${first}`),
    false,
  ),
  disturbed(
    'PAG-6/deleted-beneath',
    'Its cursors look up the record that they stand on, and begin with the next where it is not there.',
    ({ method, path }, page) => method === 'DELETE' && page.length === 2 && path.endsWith(`/${page[1]}`),
    false,
  ),
]
