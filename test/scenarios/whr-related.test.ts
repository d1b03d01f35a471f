/** WHR-2, WHR-3: conditions, filters and sort orders across relations. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { places, type Received, type Trial, trialFor } from '../harness.ts'

const anyone = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' } as const

/** Countries, authors of some, books of authors, and chapters of books. */
const library: InterfaceDeclaration = {
  name: 'library',
  resources: {
    countries: { fields: { name: { type: 'string', filter: true, sort: true } }, access: anyone },
    authors: {
      fields: {
        name: { type: 'string', filter: true, sort: true },
        born: { type: 'integer', optional: true, filter: true, sort: true },
        died: { type: 'string', format: 'date-time', optional: true, filter: true },
        motto: { type: 'string', optional: true },
        country_id: { reference: 'countries', optional: true, onDelete: 'clear' },
      },
      access: anyone,
    },
    books: {
      fields: {
        title: { type: 'string', filter: true, sort: true },
        status: { enum: ['open', 'lent'], default: 'open' },
        price: { type: 'decimal', precision: 8, scale: 2, optional: true, filter: true },
        author_id: { reference: 'authors', optional: true, onDelete: 'clear' },
        editor: { reference: 'authors', optional: true, onDelete: 'clear', inverse: 'edited' },
      },
      within: 'author_id',
      deletion: { byFilter: true },
      access: { ...anyone, readDeleted: 'anyone' },
    },
    chapters: {
      fields: {
        title: { type: 'string', filter: true },
        pages: { type: 'integer', optional: true, filter: true },
        book_id: { reference: 'books', onDelete: 'cascade' },
      },
      access: anyone,
    },
  },
}

const where = (condition: unknown): string => `where=${encodeURIComponent(JSON.stringify(condition))}`
const named = ({ json }: Received, field = 'title'): string => json.data.map((each: never) => each[field]).join('')

/** Books a to e: two of Ann (1920, of Italy), one of Ben (1950), one of Eve (no year), and one of nobody. */
async function shelve({ make }: Trial) {
  const italy = await make('countries', { name: 'Italy' })
  const ann = await make('authors', { name: 'Ann', born: 1920, country_id: italy.id, died: '2026-02-03T10:00:00Z' })
  const ben = await make('authors', { name: 'Ben', born: 1950 })
  const eve = await make('authors', { name: 'Eve' })
  const table: [string, string | null, string, string, number[]][] = [
    ['a', ann.id, 'open', '1.50', [1, 20]],
    ['b', ann.id, 'lent', '2.50', [30]],
    ['c', ben.id, 'open', '1.5', []],
    ['d', eve.id, 'lent', '9', [5]],
    ['e', null, 'open', '1', []],
  ]
  const books: Record<string, string> = {}
  for (const [title, author_id, status, price, chapters] of table) {
    const { id } = await make('books', { title, author_id, status, price, editor: ben.id })
    books[title] = id
    for (const pages of chapters) await make('chapters', { title: `${title}${pages}`, pages, book_id: id })
  }
  return { italy: italy.id, ann: ann.id, ben: ben.id, eve: eve.id, books }
}

it('WHR-2: conditions reach related records, at most two steps', async (context) => {
  const current = await trialFor(context, library)
  const { send } = current
  const { ann, ben } = await shelve(current)
  const books: [condition: object, titles: string][] = [
    [{ author: { born: { gte: 1930 } } }, 'c'],
    [{ author: { born: 1920, name: 'Ann' } }, 'ab'],
    [{ author: {} }, 'abcd'],
    [{ not: { author: {} } }, 'e'],
    [{ author: { not: { born: 1920 } } }, 'c'],
    [{ not: { author: { born: 1920 } } }, 'cde'],
    [{ author: { born: { null: true } } }, 'd'],
    [{ author: { or: [{ name: 'Eve' }, { born: { lt: 1930 } }] }, status: 'lent' }, 'bd'],
    [{ author: { country: { name: 'Italy' } } }, 'ab'],
    [{ or: [{ author: { country: {} } }, { title: 'e' }] }, 'abe'],
    [{ chapters: { some: { pages: { gt: 4 } } } }, 'abd'],
    [{ chapters: { none: { pages: { gt: 4 } } } }, 'ce'],
    [{ chapters: { every: { pages: { gt: 4 } } } }, 'bcde'],
    [{ chapters: { some: {} } }, 'abd'],
    [{ chapters: { none: {} } }, 'ce'],
    [{ chapters: { every: {} } }, 'abcde'],
    [{ chapters: { some: { pages: 1 }, none: { pages: 30 } } }, 'a'],
    [{ chapters: { every: { not: { pages: 1 } } } }, 'bcde'],
    [{ not: { chapters: { every: { pages: { lt: 25 } } } } }, 'b'],
    [{ author: { books: { some: { status: 'lent' } } } }, 'abd'],
    [{ author: { died: '2026-02-03' } }, 'ab'],
    // A reference without _id: a relation of this name, and a field that is compared.
    [{ editor: ben, author: { name: 'Ann' } }, 'ab'],
    [{ editor: { name: 'Ben' } }, 'abcde'],
    [{ editor: { in: [ann] } }, ''],
    [{ editor: { not: ann } }, 'abcde'],
    [{ editor: { not: { name: 'Ben' } } }, ''],
  ]
  for (const [condition, titles] of books) {
    for (const more of ['', '&sort=-title', '&page=1']) {
      const answer = await send({ path: `/v1/books?${where(condition)}${more}` })
      assert.equal(answer.status, 200, answer.text)
      const found = [named(answer), answer.json.pagination.total_count]
      const sorted = more.includes('-') ? [...titles].reverse().join('') : titles
      assert.deepEqual(found, [sorted, titles.length], JSON.stringify(condition))
    }
    const asked = await send({ method: 'QUERY', path: '/v1/books', body: { where: condition } })
    assert.equal(named(asked), titles)
  }
  const authors: [condition: object, names: string][] = [
    [{ books: { some: { status: 'lent' } } }, 'AnnEve'],
    [{ books: { none: { status: 'lent' } } }, 'Ben'],
    [{ books: { every: { status: 'lent' } } }, 'Eve'],
    [{ books: { some: { chapters: { some: { pages: { gte: 30 } } } } } }, 'Ann'],
    [{ books: { every: { chapters: { some: {} } } } }, 'AnnEve'],
    [{ books: { some: { price: 1.5 } } }, 'AnnBen'],
    [{ edited: { some: {} } }, 'Ben'],
  ]
  for (const [condition, names] of authors) {
    assert.equal(
      named(await send({ path: `/v1/authors?${where(condition)}` }), 'name'),
      names,
      JSON.stringify(condition),
    )
  }
})

it('WHR-2: short filters and sort orders follow relations', async (context) => {
  const current = await trialFor(context, library)
  const { send } = current
  const { ann, ben } = await shelve(current)
  const table: [path: string, found: string][] = [
    ['books?author.born[gte]=1930', 'c'],
    ['books?author.born[gte]=1900&author.name[not]=Ann', 'c'],
    ['books?author.born[null]=true', 'd'],
    ['books?author.country.name=Italy&status=lent', 'b'],
    ['books?author.id=ID', 'ab'],
    ['books?author.died=2026-02-03&timezone=Europe/Rome', 'ab'],
    ['books?author.name[in]=Ben,Eve', 'cd'],
    ['books?author.name[starts_with]=e', 'd'],
    ['books?chapters.pages[gt]=4&chapters.title[starts_with]=d', 'd'],
    // All short filters of a relation to many are about the same record.
    ['books?chapters.pages=1&chapters.title=a20', ''],
    ['books?chapters.pages=1&chapters.title=a1', 'a'],
    [`books?chapters.pages=1&${where({ chapters: { some: { title: 'a20' } } })}`, 'a'],
    ['authors?books.status=lent&books.chapters.pages=30', 'Ann'],
    ['authors?books.status=open&books.chapters.pages=30', ''],
    ['books?sort=author.name', 'abcde'],
    ['books?sort=-author.name', 'edcba'],
    ['books?sort=author.born,-title', 'baced'],
    ['books?sort=-author.born,title', 'decab'],
    ['books?sort=author.country.name,-title', 'baedc'],
    ['books?sort=editor.name,title', 'abcde'],
    ['books?sort=author.name&author.born[gte]=1900', 'abc'],
    ['books?sort=author.created_at&status=open', 'ace'],
    ['authors/ID/books?sort=-author.name,-title&chapters.pages[gt]=0', 'ba'],
  ]
  for (const [path, found] of table) {
    const answer = await send({ path: `/v1/${path.replace('ID', ann)}` })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(named(answer, path.startsWith('authors?') ? 'name' : 'title'), found, path)
    if (!path.includes('sort=') || path.includes('authors')) continue
    // By cursor, forward and back again.
    const titles: string[] = []
    let cursor = ''
    for (let page = 0; page < found.length; page++) {
      const each = await send({ path: `/v1/${path}&limit=1${cursor}` })
      assert.equal(each.json.data.length, 1, `${path} ${page}`)
      titles.push(named(each))
      const { next_cursor, previous_cursor } = each.json.pagination
      if (page > 0) {
        const before = await send({ path: `/v1/${path}&limit=1&cursor=${previous_cursor}` })
        assert.equal(named(before), titles[page - 1])
      }
      cursor = `&cursor=${next_cursor}`
    }
    assert.equal(titles.join(''), found, path)
  }
  const body = { 'author.born': [1920, 1950], sort: ['-author.name', 'title'], 'chapters.pages[gt]': 0 }
  assert.equal(named(await send({ method: 'QUERY', path: '/v1/books', body })), 'ab')
  const asked = { author: { name: 'Ben' } }
  assert.equal(named(await send({ path: `/v1/books?editor.id=${ben}&${where(asked)}` })), 'c')
})

it('WHR-2: mistakes across relations are named', async (context) => {
  const { send } = await trialFor(context, library)
  const conditions: [condition: unknown, wrong: string][] = [
    [{ author: { born: { gte: 'x' } } }, 'INVALID_TYPE /author/born/gte'],
    [{ author: { motto: 'x' } }, 'UNKNOWN_FIELD /author/motto'],
    [{ author: 'x' }, 'INVALID_TYPE /author'],
    [{ author: null }, 'INVALID_TYPE /author'],
    [{ author: { country: { authors: { some: {} } } } }, 'TOO_DEEP /author/country/authors'],
    [{ chapters: { pages: 1 } }, 'INVALID_OPERATOR /chapters/pages'],
    [{ chapters: {} }, 'REQUIRED /chapters'],
    [{ chapters: [] }, 'INVALID_TYPE /chapters'],
    [{ chapters: { some: { or: [{ pages: 'x' }] } } }, 'INVALID_TYPE /chapters/some/or/0/pages'],
    [{ books: { some: {} } }, 'UNKNOWN_FIELD /books'],
    [{ or: [{ author: { or: Array(60).fill({ born: 1 }) } }] }, 'TOO_MANY_ITEMS '],
    [{ author: JSON.parse(`${'{"not":'.repeat(20)}{}${'}'.repeat(20)}`) }, `TOO_DEEP /author${'/not'.repeat(19)}`],
  ]
  for (const [condition, wrong] of conditions) {
    const answer = await send({ path: `/v1/books?${where(condition)}` })
    const { code, pointer } = answer.json.errors?.[0] ?? {}
    assert.deepEqual([answer.status, `${code} ${pointer}`], [400, wrong], answer.text)
  }
  for (const [query, wrong] of [
    ['author.motto=x', 'UNKNOWN_PARAMETER author.motto'],
    ['author.country.authors.name=x', 'UNKNOWN_PARAMETER author.country.authors.name'],
    ['writer.name=x', 'UNKNOWN_PARAMETER writer.name'],
    ['author.born[like]=1', 'INVALID_OPERATOR author.born[like]'],
    ['author.born=x', 'INVALID_VALUE author.born'],
    ['author=x', 'UNKNOWN_PARAMETER author'],
    ['constructor.name=x', 'UNKNOWN_PARAMETER constructor.name'],
    ['sort=chapters.title', 'UNKNOWN_FIELD sort'],
    ['sort=author.motto', 'UNKNOWN_FIELD sort'],
    ['sort=author.name,-author.name', 'INVALID_VALUE sort'],
    ['sort=author.country.name.x', 'UNKNOWN_FIELD sort'],
  ] as const) {
    const answer = await send({ path: `/v1/books?${query}` })
    assert.deepEqual([answer.status, places(answer)], [400, [wrong]], answer.text)
  }
})
