/** WHR-3: in a relation only what the caller may read counts, and only what is not deleted. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { places, type Received, type Trial, trialFor } from '../harness.ts'

const everyone = {
  create: 'anyone',
  update: 'anyone',
  delete: 'anyone',
  restore: 'anyone',
  readDeleted: 'anyone',
} as const

/** Users with secrets, posts of users, notes that only their owners read, and comments that follow their posts. */
const blog: InterfaceDeclaration = {
  name: 'blog',
  versions: { v1: {}, v2: {} },
  changes: [
    { version: 'v2', resource: 'users', was: 'people', rename: { label: 'name', code: 'reset_token' } },
    { version: 'v2', resource: 'posts', rename: { headline: 'title', writer_id: 'author_id' } },
    {
      version: 'v2',
      resource: 'posts',
      convert: {
        state: {
          schema: { enum: ['new', 'done'], default: 'new' },
          older: (state: string) => (state === 'open' ? 'new' : 'done'),
          newer: (state: string) => (state === 'new' ? 'open' : 'shut'),
        },
      },
    },
  ],
  resources: {
    users: {
      fields: {
        name: { type: 'string', filter: true, sort: true },
        reset_token: { type: 'string', optional: true, filter: true, sort: true },
        salary: { type: 'integer', optional: true, filter: true, sort: true },
        password: { type: 'string', optional: true, writeOnly: true },
        is_public: { type: 'boolean', default: true },
        person_id: { type: 'string', readOnly: true },
      },
      owner: 'person_id',
      access: {
        ...everyone,
        read: ['owner', 'role:editor', { where: { is_public: true } }],
        fields: { reset_token: { read: 'role:admin' }, salary: { read: ['owner', 'role:editor'] } },
      },
    },
    posts: {
      fields: {
        title: { type: 'string', filter: true, sort: true },
        state: { enum: ['open', 'shut'], default: 'open' },
        author_id: { reference: 'users', optional: true, onDelete: 'clear', requires: 'none' },
        reviewer_id: { reference: 'users', optional: true, onDelete: 'clear', requires: 'none', inverse: 'reviews' },
      },
      deletion: { byFilter: true },
      access: { ...everyone, read: 'anyone', fields: { reviewer_id: { read: 'role:editor' } } },
    },
    comments: {
      fields: {
        text: { type: 'string', filter: true },
        post_id: { reference: 'posts', onDelete: 'cascade' },
        note_id: { reference: 'notes', optional: true, onDelete: 'clear', requires: 'none' },
      },
      access: { ...everyone, read: { through: 'post_id', action: 'read' } },
    },
    notes: {
      fields: {
        text: { type: 'string', filter: true, sort: true },
        post_id: { reference: 'posts', onDelete: 'clear', optional: true },
      },
      access: { create: 'anyone', update: 'anyone', delete: 'anyone', read: 'nobody' },
    },
  },
}

const where = (condition: unknown): string => `where=${encodeURIComponent(JSON.stringify(condition))}`
const named = ({ json, text }: Received): string => {
  assert.ok(Array.isArray(json.data), text)
  return json.data.map(({ title, name }: { title: string; name: string }) => title ?? name).join('')
}

/** Posts a to c: of Ann, who is public, of Eve's hidden user, and of nobody. Both have a token and a salary. */
async function write({ make, send }: Trial) {
  const ann = await make('users', { name: 'Ann', salary: 100, reset_token: 'token-a' }, 'ann')
  const hid = await make('users', { name: 'Hid', salary: 200, reset_token: 'token-b', is_public: false }, 'eve')
  const posts: Record<string, string> = {}
  for (const [title, author_id, state] of [['a', ann.id, 'open'], ['b', hid.id, 'shut'], ['c', null, 'open']]) {
    posts[String(title)] = (await make('posts', { title, author_id, state, reviewer_id: hid.id })).id
  } // biome-ignore format: one row reads best
  await make('comments', { text: 'x', post_id: posts['b'] })
  const note = await send({ path: '/v2/notes', body: { text: 'secret', post_id: posts['a'] } })
  assert.equal(note.status, 201)
  return { ann: ann.id, hid: hid.id, posts }
}

it('WHR-3: a record that the caller may not read is the same as a missing one', async (context) => {
  const current = await trialFor(context, blog)
  const { send } = current
  await write(current)
  // Each query, with what Bob finds, who may not read the user of b, and what Eve finds.
  const table: [query: string, bob: string, eve: string][] = [
    ['author.name=Hid', '', 'b'],
    ['author.name[starts_with]=h', '', 'b'],
    ['author.name[not]=Ann', '', 'b'],
    ['author.is_public=false', '', 'b'],
    [where({ author: {} }), 'a', 'ab'],
    [where({ not: { author: {} } }), 'bc', 'c'],
    [where({ not: { author: { name: 'Hid' } } }), 'abc', 'ac'],
    [where({ author: { posts: { some: { title: 'b' } } } }), '', 'b'],
    ['sort=author.name', 'abc', 'abc'],
    ['sort=-author.name', 'cba', 'cba'],
    ['sort=author.name,-title', 'acb', 'abc'],
    ['sort=-author.name,title', 'bca', 'cba'],
  ]
  for (const [query, bob, eve] of table) {
    for (const [as, found] of [['bob', bob], ['eve', eve], ['bob', bob]] as const) {
      const answer = await send({ path: `/v2/posts?${query}`, as })
      assert.deepEqual([named(answer), answer.json.pagination.total_count], [found, found.length], `${as} ${query}`)
    } // biome-ignore format: one row reads best
  }
  // From the other side: of a post, its author; of a user, the posts that refer to it where the reference may be read.
  const users: [condition: object, as: string, found: string][] = [
    [{ posts: { some: { state: 'open' } } }, 'bob', 'Ann'],
    [{ reviews: { some: {} } }, 'eve', 'Hid'],
    [{ reviews: { none: {} } }, 'eve', 'Ann'],
    [{ posts: { every: { comments: { none: {} } } } }, 'eve', 'Ann'],
  ]
  for (const [condition, as, found] of users) {
    assert.equal(named(await send({ path: `/v2/users?${where(condition)}`, as })), found, JSON.stringify(condition))
  }
})

it('WHR-3: a field that the caller may not read counts as null in a relation, or is refused', async (context) => {
  const current = await trialFor(context, blog)
  const { send } = current
  const { hid } = await write(current)
  const table: [query: string, as: string, found: string][] = [
    ['author.salary=100', 'ann', 'a'],
    ['author.salary[gt]=0', 'ann', 'a'],
    ['author.salary[gt]=0', 'bob', ''],
    ['author.salary[null]=true', 'bob', 'a'],
    ['author.salary[not]=100', 'bob', 'a'],
    [where({ author: { not: { salary: 5 } } }), 'bob', ''],
    [where({ not: { author: { salary: 100 } } }), 'bob', 'abc'],
    ['author.salary[gt]=0', 'eve', 'ab'],
    // Bob sees no salary: his order is that of the ids.
    ['sort=author.salary', 'bob', 'abc'],
    ['sort=-author.salary', 'bob', 'cba'],
    ['sort=author.salary,-title', 'bob', 'cba'],
    ['sort=-author.salary,title', 'eve', 'cba'],
    ['author.reset_token=token-a', 'root', 'a'],
  ]
  for (const [query, as, found] of table) {
    const answer = await send({ path: `/v2/posts?${query}`, as })
    assert.deepEqual([named(answer), answer.json.pagination.total_count], [found, found.length], `${as} ${query}`)
  }
  // Guesses at a token, character by character, as in Strapi's CVE-2026-27886; and the places of the mistakes.
  const refused: [query: string, as: string, wrong: string][] = [
    ['author.reset_token[starts_with]=b', 'eve', 'FORBIDDEN author.reset_token'],
    ['author.reset_token[null]=false', 'bob', 'FORBIDDEN author.reset_token'],
    [where({ or: [{ author: { reset_token: { gt: 'b' } } }] }), 'eve', 'FORBIDDEN where'],
    [where({ author: { posts: { none: { author: {} } } } }), 'bob', ''],
    ['author.posts.comments.text=x', 'bob', ''],
    ['sort=author.reset_token', 'eve', 'FORBIDDEN sort'],
    ['sort=-title,author.reset_token', 'ann', 'FORBIDDEN sort'],
    // No reader of the collection, or of the reference: nothing is compared through it.
    [where({ notes: { some: { text: { startsWith: 's' } } } }), 'bob', 'FORBIDDEN where'],
    [where({ notes: { none: {} } }), 'root', 'FORBIDDEN where'],
    ['notes.text=secret', 'eve', 'FORBIDDEN notes'],
    ['reviewer.name=Hid', 'bob', 'FORBIDDEN reviewer_id'],
    ['sort=reviewer.name', 'bob', 'FORBIDDEN sort'],
    // A field that nobody reads is no filter at all.
    ['author.password[starts_with]=a', 'root', 'UNKNOWN_PARAMETER author.password[starts_with]'],
  ]
  for (const [query, as, wrong] of refused) {
    for (const method of ['GET', 'DELETE']) {
      if (method === 'DELETE' && query.startsWith('sort')) continue
      const answer = await send({ method, path: `/v2/posts?${query}`, as })
      const status = wrong.startsWith('FORBIDDEN') ? 403 : 400
      assert.equal(answer.status, status, `${method} ${query} ${answer.text}`)
      if (wrong !== '') assert.deepEqual(places(answer), [wrong], query)
      assert.ok(!/token-[ab]|secret"/.test(answer.text))
    }
  }
  for (const condition of [{ reviews: { some: {} } }, { reviews: { none: {} } }]) {
    const answer = await send({ path: `/v2/users?${where(condition)}`, as: 'bob' })
    assert.deepEqual([answer.status, places(answer)], [403, ['FORBIDDEN where']], answer.text)
  }
  const filter = { author: { reset_token: { startsWith: 'b' } } }
  const exported = await send({ path: '/v2/exports', body: { collection: 'posts', format: 'json', filter }, as: 'eve' })
  assert.deepEqual([exported.status, places(exported)], [403, ['FORBIDDEN /filter']])
  assert.equal(named(await send({ path: `/v2/posts?author.id=${hid}`, as: 'bob' })), '')
})

it('WHR-3: tags, totals and remembered answers change with what the caller may read, and with nothing else', async (context) => {
  const current = await trialFor(context, blog)
  const { send } = current
  const { ann, hid } = await write(current)
  const paths = [
    '/v2/posts?author.name[starts_with]=h&sort=-title',
    `/v2/posts?${where({ author: { posts: { some: { state: 'shut' } } } })}`,
    '/v2/posts?sort=author.name,-title&limit=2',
    `/v2/users?${where({ posts: { some: { state: 'shut' } } })}&page=1`,
  ]
  const read = async (as: string) => {
    const answers: string[] = []
    // Three times: answers are remembered after the second read.
    for (const path of [...paths, ...paths, ...paths]) {
      const { text, headers } = await send({ path, as })
      const tag = String(headers['etag'])
      const again = await send({ path, as, headers: { 'if-none-match': tag } })
      assert.equal(again.status, 304)
      answers.push(`${tag} ${text}`)
    }
    assert.deepEqual(answers.slice(4, 8), answers.slice(0, 4))
    assert.deepEqual(answers.slice(8), answers.slice(0, 4))
    return answers.slice(0, 4)
  }
  const patch = async (path: string, body: object, as = 'eve') => {
    const answer = await send({ method: 'PATCH', path: `/v2/${path}`, body, as })
    assert.equal(answer.status, 200, answer.text)
  }
  const [bob, eve] = [await read('bob'), await read('eve')]
  assert.notDeepEqual(bob, eve)
  await patch(`users/${hid}`, { name: 'Aaa' })
  assert.deepEqual(await read('bob'), bob)
  assert.notDeepEqual(await read('eve'), eve)
  await patch(`users/${hid}`, { name: 'Hid' })
  // The record becomes readable, and hidden again.
  await patch(`users/${hid}`, { is_public: true })
  const shown = await read('bob')
  assert.notDeepEqual(shown, bob)
  assert.ok(shown[0]?.includes('"b"'))
  await patch(`users/${hid}`, { is_public: false })
  assert.deepEqual(await read('bob'), bob)
  // What is deleted does not count, and counts again when it is restored.
  await patch(`users/${ann}`, { name: 'Hal' }, 'ann')
  const renamed = await read('bob')
  assert.equal((await send({ method: 'DELETE', path: `/v2/users/${ann}`, as: 'ann' })).status, 204)
  assert.notDeepEqual(await read('bob'), renamed)
  assert.equal(named(await send({ path: '/v2/posts?author.name=Hal&include_deleted=true', as: 'bob' })), '')
})

it('WHR-3: what is deleted counts in no relation, not even beside deleted records', async (context) => {
  const { send, make } = await trialFor(context, blog)
  const user = await make('users', { name: 'Ann' }, 'ann')
  const post = await make('posts', { title: 'a', author_id: user.id })
  await make('posts', { title: 'b', author_id: user.id })
  await make('comments', { text: 'x', post_id: post.id })
  assert.equal((await send({ method: 'DELETE', path: `/v2/posts/${post.id}` })).status, 204)
  const found = async (path: string) => named(await send({ path: `/v2/${path}`, as: 'ann' }))
  assert.equal(await found('posts?author.name=Ann'), 'b')
  assert.equal(await found('posts?author.name=Ann&include_deleted=only'), 'a')
  assert.equal(await found('posts?comments.text=x&include_deleted=true'), '')
  assert.equal(await found(`users?${where({ posts: { some: { title: 'a' } } })}`), '')
  assert.equal(await found(`users?${where({ posts: { every: { title: 'b' } } })}`), 'Ann')
})

it('WHR-2, VER-2: relations, fields and values are those of the version at every step', async (context) => {
  const current = await trialFor(context, blog)
  const { send } = current
  await write(current)
  const found = async (path: string, as = 'eve') => {
    const answer = await send({ path: `/v1/${path}`, as })
    assert.equal(answer.status, 200, answer.text)
    return answer.json.data
      .map((each: Record<string, string>) => each['headline'] ?? each['label'] ?? each['text'])
      .join('')
  }
  assert.equal(await found('posts?writer.label=Hid'), 'b')
  assert.equal(await found('posts?writer.label=Hid', 'bob'), '')
  assert.equal(await found(`people?${where({ posts: { some: { state: 'done' } } })}`), 'Hid')
  assert.equal(await found('people?posts.state=new&posts.headline=a'), 'Ann')
  assert.equal(await found('comments?post.writer.label=Hid'), 'x')
  assert.equal(await found(`comments?${where({ post: { state: 'done', writer: { label: 'Hid' } } })}`), 'x')
  assert.equal(await found('posts?sort=-writer.label,headline'), 'cba')
  assert.equal(await found('comments?sort=post.writer.label'), 'x')
  const refused: [query: string, wrong: string][] = [
    ['writer.code=x', 'FORBIDDEN writer.code'],
    ['sort=writer.code', 'FORBIDDEN sort'],
    ['author.name=x', 'UNKNOWN_PARAMETER author.name'],
    ['writer.name=x', 'UNKNOWN_PARAMETER writer.name'],
    [where({ writer: { name: 'x' } }), 'UNKNOWN_FIELD /writer/name'],
    [where({ author: {} }), 'UNKNOWN_FIELD /author'],
  ]
  for (const [query, wrong] of refused) {
    assert.deepEqual(places(await send({ path: `/v1/posts?${query}`, as: 'eve' })), [wrong], query)
  }
})

it('WHR-2, WHR-3: deletions by filter and exports follow relations, webhooks do not', async (context) => {
  const declaration: InterfaceDeclaration = {
    ...blog,
    resources: { ...blog.resources, posts: { ...blog.resources['posts'], events: true } as never },
  }
  const current = await trialFor(context, declaration)
  const { send, app } = current
  await write(current)
  const exported = async (as: string, filter: object) => {
    const accepted = await send({ path: '/v2/exports', body: { collection: 'posts', format: 'json', filter }, as })
    assert.equal(accepted.status, 202, accepted.text)
    await app.runner.idle()
    const { json } = await send({ path: accepted.json.status_url, as })
    const { text } = await send({ path: json.result.content_url, as })
    return JSON.parse(text)
      .map(({ title }: { title: string }) => title)
      .join('')
  }
  assert.equal(await exported('eve', { author: { name: 'Hid' } }), 'b')
  assert.equal(await exported('bob', { author: { name: 'Hid' } }), '')
  assert.equal(await exported('bob', { not: { author: {} } }), 'bc')
  assert.equal(await exported('bob', { comments: { some: { text: 'x' } } }), 'b')
  const older = { collection: 'posts', format: 'json', filter: { writer: { label: 7 } } }
  assert.deepEqual(places(await send({ path: '/v1/exports', body: older })), ['INVALID_TYPE /filter/writer/label'])
  const deleted = async (query: string, as: string) => {
    const { status, json, text } = await send({ method: 'DELETE', path: `/v2/posts?${query}`, as })
    assert.equal(status, 200, text)
    return json.deleted_count
  }
  assert.equal(await deleted('author.name=Hid', 'bob'), 0)
  assert.equal(await deleted(where({ author: { name: 'Ann' } }), 'bob'), 1)
  for (const condition of [{ comments: { every: {} } }, { not: { comments: { some: { not: {} } } } }]) {
    const refused = await send({ method: 'DELETE', path: `/v2/posts?${where(condition)}` })
    assert.deepEqual([refused.status, refused.json.code], [400, 'FILTER_REQUIRED'])
  }
  assert.equal(await deleted(where({ comments: { none: {} } }), 'bob'), 1)
  assert.equal(named(await send({ path: '/v2/posts' })), 'b')
  const hook = { url: 'https://example.org/hook', filter: { posts: { author: { name: 'Hid' } } } }
  const refused = await send({ path: '/v2/webhooks', body: hook })
  assert.deepEqual([refused.status, places(refused)], [400, ['UNKNOWN_FIELD /filter/posts/author']])
  assert.match(refused.text, /leads to other records/)
})
