/** Faults of what pages tell of themselves: numbers, totals, links. */
import { answering, withProblem } from '../plant/answers.ts'
import { asks, isList, listIn, onEmpty, showing, withList } from '../plant/lists.ts'
import { remembering } from '../plant/memory.ts'
import { withField } from '../plant/messages.ts'
import type { Fault } from '../planted.ts'

/** A fault by which pages of one style leave something out. */
function silent(breaks: Fault['breaks'], says: string, style: string, name: string): Fault {
  return {
    breaks,
    says,
    plant: showing(({ pagination }) => {
      if (style in pagination) delete pagination[name]
    }),
  }
}

/** A fault by which totals are kept for too long. */
function stale(breaks: Fault['breaks'], says: string, isStale: (kept: number, now: number) => boolean): Fault {
  return {
    breaks,
    says,
    plant: remembering(() => {
      const kept = new Map<string, number>()
      return answering(isList, (answer, { path }) =>
        withList(({ pagination }) => {
          const total = Number(pagination['total_count'])
          const before = kept.get(path)
          if (before !== undefined && isStale(before, total)) pagination['total_count'] = before
          else kept.set(path, total)
        })(answer),
      )
    }),
  }
}

/** A fault in the links of pages: those of one style. */
function linked(breaks: Fault['breaks'], says: string, style: string, change: (link: string) => string): Fault {
  return {
    breaks,
    says,
    plant: answering(isList, (answer) =>
      style in (listIn(answer)?.pagination ?? {}) ? withField('link', change)(answer) : answer,
    ),
  }
}

export const tellingFaults: readonly Fault[] = [
  silent('PAG-3/page', 'It does not tell how many pages there are.', 'page', 'total_pages'),
  silent('PAG-3/offset', 'It does not tell the offset.', 'offset', 'offset'),
  silent('PAG-3/cursor', 'It does not tell the size of pages by cursor.', 'next_cursor', 'limit'),
  {
    breaks: 'PAG-3/ends',
    says: 'The first page has a cursor to a page before it.',
    plant: showing(({ pagination }, parameters) => {
      if (pagination['previous_cursor'] === null && !parameters.has('cursor')) pagination['previous_cursor'] = 'start'
    }),
  },
  {
    breaks: 'PAG-4/filtered',
    says: 'The total is that of the page.',
    plant: showing((list) => {
      if (list.pagination['next_cursor']) list.pagination['total_count'] = list.data.length
    }),
  },
  {
    breaks: 'PAG-4/sizes',
    says: 'The total of the smallest page is its own size.',
    plant: showing((list, parameters) => {
      if (parameters.get('limit') === '1' && !parameters.has('name')) list.pagination['total_count'] = 1
    }),
  },
  {
    breaks: 'PAG-4/none',
    says: 'It tells no total where a filter finds nothing.',
    plant: showing(({ pagination }, parameters) => {
      if (pagination['total_count'] === 0 && parameters.has('name')) pagination['total_count'] = null
    }),
  },
  {
    ...stale('PAG-4/creation', 'Creations do not renew the totals that it keeps.', (kept, now) => kept < now),
    also: ['DEL-6/listed'],
  },
  stale('PAG-4/deletion', 'Deletions do not renew the totals that it keeps.', (kept, now) => kept > now),
  {
    breaks: 'PAG-4/at-once',
    says: 'It keeps a count beside the records, and loses creations that come at once.',
    plant(server) {
      const underWay = new Map<string, number>()
      const lost = new Set<string>()
      return async (request) => {
        const name = /"name":"([^"]*)"/.exec(request.body)?.[1]
        if (request.method !== 'POST' || name === undefined) {
          const answer = await server(request)
          const asked = new URLSearchParams(request.path.split('?')[1]).get('name') ?? ''
          if (!lost.has(asked) || request.method !== 'GET') return answer
          return withList(({ pagination }) => {
            pagination['total_count'] = Number(pagination['total_count']) - 1
          })(answer)
        }
        const count = (underWay.get(name) ?? 0) + 1
        underWay.set(name, count)
        if (count >= 4) lost.add(name)
        try {
          return await server(request)
        } finally {
          underWay.set(name, (underWay.get(name) ?? 1) - 1)
        }
      }
    },
  },
  {
    breaks: 'PAG-4/styles',
    says: 'The total is of the records behind the offset.',
    plant: showing(({ pagination }) => {
      const offset = Number(pagination['offset'] ?? 0)
      pagination['total_count'] = Math.max(0, Number(pagination['total_count']) - offset)
    }),
  },
  {
    breaks: 'PAG-4/deleted',
    says: 'The total leaves out deleted records, whatever the list holds.',
    plant: showing((list, parameters) => {
      if (parameters.get('include_deleted') !== 'true') return
      list.pagination['total_count'] = list.data.filter((item) => !item['deleted_at']).length
    }),
  },
  linked('PAG-7/link-page', 'Link does not tell the last page.', 'page', (link) =>
    link.replace(/, <[^>]*>; rel="last"/, ''),
  ),
  // Without the filter the pages would be the same while the collection has no other records.
  linked('PAG-7/link-followed', 'Link has another filter.', 'page', (link) =>
    link.replaceAll(/name=[^&>]*/g, 'name=x'),
  ),
  linked('PAG-7/link-cursor', 'Link leaves out the cursors.', 'next_cursor', (link) =>
    link.replaceAll(/, <[^>]*>; rel="(next|prev)"/g, ''),
  ),
  linked('PAG-7/link-cursor-followed', 'Link leads to the page that it is on.', 'next_cursor', (link) =>
    link.replaceAll(/cursor=[^&>]*&/g, ''),
  ),
  {
    breaks: 'PAG-7/total-header',
    says: 'X-Total-Count tells how many records came.',
    plant: answering(isList, (answer) => {
      const list = listIn(answer)
      return list === undefined ? answer : withField('x-total-count', String(list.data.length))(answer)
    }),
  },
  {
    breaks: 'PAG-7/past-end',
    says: 'It answers 404 for a page past the end.',
    plant: answering(asks('page', /^(?:[2-9]|[1-9]\d{1,2})$/), onEmpty(withProblem(404))),
  },
  {
    breaks: 'PAG-7/offset-past-end',
    says: 'It answers 404 for an offset past the end.',
    plant: answering(asks('offset', /^[1-9]/), onEmpty(withProblem(404))),
  },
  {
    breaks: 'PAG-7/far',
    says: 'The database gets offsets that it cannot hold.',
    plant: answering(asks('page', '9223372036854775807'), withProblem(500)),
  },
]
