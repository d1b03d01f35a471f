/** Faults of order, members, search and deleted records. */
import { answering, withProblem } from '../plant/answers.ts'
import { asks, type List, listing, onEmpty, showing, taking, withList } from '../plant/lists.ts'
import { withField } from '../plant/messages.ts'
import { addressing } from '../plant/requests.ts'
import { always } from '../plant/which.ts'
import type { Fault } from '../planted.ts'

const isWithDeleted = asks('include_deleted', 'true')

const plain = (text: string) => text.normalize('NFD').replaceAll(/\p{M}/gu, '')

/** Leaves records out of a list, and out of its total. */
function leaveOut(list: List, test: (item: List['data'][number]) => boolean): void {
  const kept = list.data.filter((item) => !test(item))
  list.pagination['total_count'] = Number(list.pagination['total_count']) - (list.data.length - kept.length)
  list.data = kept
}

/** A fault of search: records are left out that it does not find in its own way. */
function finding(test: (text: string, words: readonly string[]) => boolean): Fault['plant'] {
  return showing((list, parameters) => {
    const words = parameters.get('q')?.split(' ')
    if (words !== undefined) leaveOut(list, ({ name }) => !test(String(name), words))
  })
}

export const shapeFaults: readonly Fault[] = [
  {
    breaks: 'QRY-3/ascending',
    says: 'It sorts only where it is told the direction.',
    plant: taking('sort', 'price'),
  },
  {
    breaks: 'QRY-3/descending',
    says: 'It takes no notice of the minus.',
    plant: taking('sort', '-price', 'price'),
  },
  {
    breaks: 'QRY-3/several',
    says: 'It sorts by the first field alone.',
    plant: listing((parameters) => {
      const sort = parameters.get('sort')
      if (sort?.includes(',')) parameters.set('sort', sort.split(',')[0] as string)
    }),
  },
  {
    breaks: 'QRY-3/ties',
    says: 'It leaves the order of ties to the database, which changes its mind.',
    plant: listing((parameters) => {
      if (Number(parameters.get('page')) > 1 && parameters.get('sort') === 'price') parameters.set('sort', 'price,-sku')
    }),
  },
  {
    breaks: 'QRY-4/list',
    says: 'It understands fields on records alone.',
    plant: taking('fields', /^(id|name)(,|$)/),
  },
  {
    breaks: 'QRY-4/several',
    says: 'It takes the first name of fields alone.',
    plant: taking('fields', 'id,name', 'id'),
  },
  {
    breaks: 'QRY-4/record',
    says: 'It understands fields on lists alone.',
    plant: addressing(always, /(\/[\da-f-]{36})\?fields=name$/, '$1'),
  },
  {
    breaks: 'QRY-4/id',
    says: 'The identifier has to be asked for.',
    plant: showing(({ data }, parameters) => {
      if (parameters.get('fields') === 'name') for (const item of data) delete item['id']
    }),
  },
  {
    breaks: 'QRY-5/word',
    says: 'It searches the beginnings of texts.',
    plant: finding((text, [word = '']) => text.toLowerCase().startsWith(word.toLowerCase())),
  },
  {
    breaks: 'QRY-5/every-word',
    says: 'One of the words is enough.',
    plant: listing((parameters) => {
      const words = parameters.get('q')?.split(' ') ?? []
      if (words.length > 1) parameters.set('q', words.at(-1) ?? '')
    }),
  },
  {
    breaks: 'QRY-5/capitals',
    says: 'It searches for capitals as they are typed.',
    plant: finding((text, words) => words.every((word) => plain(text).includes(plain(word)))),
  },
  {
    breaks: 'QRY-5/diacritics',
    says: 'It searches for letters as they are typed.',
    plant: finding((text, words) => words.every((word) => text.toLowerCase().includes(word.toLowerCase()))),
  },
  {
    breaks: 'QRY-5/begun',
    says: 'It finds whole words alone.',
    plant: finding((text, words) => {
      const whole = plain(text).toLowerCase().split(/\s/)
      return words.every((word) => whole.includes(plain(word).toLowerCase()))
    }),
  },
  {
    breaks: 'QRY-5/nothing',
    says: 'It answers 404 where a search finds nothing.',
    plant: answering(asks('q', /^[a-z]+$/), onEmpty(withProblem(404))),
  },
  {
    breaks: 'QRY-5/syntax',
    says: 'Its search engine reads parentheses, and fails where one is not closed.',
    plant: answering(asks('q', /\(/), withProblem(500)),
  },
  {
    breaks: 'QRY-6/included',
    says: 'It takes no notice of include_deleted.',
    plant: taking('include_deleted', 'true'),
  },
  {
    breaks: 'QRY-6/false',
    says: 'It takes any value of include_deleted for true.',
    plant: taking('include_deleted', 'false', 'true'),
  },
  {
    breaks: 'QRY-6/restored',
    says: 'Lists with deleted records leave out what was restored.',
    plant(server) {
      const restored = new Set<unknown>()
      return async (request) => {
        const answer = await server(request)
        const id = /\/([^/]+)\/restore$/.exec(request.path)?.[1]
        if (id !== undefined && answer.status === 200) restored.add(id)
        if (!isWithDeleted(request)) return answer
        return withList((list) => leaveOut(list, (item) => restored.has(item['id'])))(answer)
      }
    },
  },
  {
    breaks: 'QRY-6/forbidden',
    says: 'Everybody may read deleted records.',
    plant(server) {
      let key = ''
      return async (request) => {
        const answer = await server(isWithDeleted(request) ? withField('authorization', key)(request) : request)
        if (answer.status === 201) key = request.headers['authorization'] ?? key
        return answer
      }
    },
  },
  {
    breaks: 'QRY-7/created',
    says: 'It does not sort by created_at.',
    plant: taking('sort', /created_at/),
  },
  {
    breaks: 'QRY-7/undeclared-filter',
    says: 'It takes no notice of filters without an index.',
    plant: taking('remark'),
  },
  {
    breaks: 'QRY-7/undeclared-sort',
    says: 'It takes no notice of an order without an index.',
    plant: taking('sort', 'remark'),
  },
]
