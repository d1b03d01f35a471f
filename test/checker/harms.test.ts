/** What a check does to servers of another make that misbehave: judged by what such a server holds afterwards. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Difference } from '../../src/checker/reconcile.ts'
import { type Members, orders, type Store, type StoreMake, startStore } from './plant/store.ts'

const program = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

interface Ended {
  readonly code: number | null
  readonly err: string
  readonly report: {
    readonly rules: readonly {
      readonly cases: readonly { readonly id: string; readonly verdict: string; readonly why: string }[]
    }[]
    readonly created: number
    readonly remains: readonly string[]
    readonly differences: readonly Difference[]
  }
}

async function storeFor(context: TestContext, make: StoreMake): Promise<Store> {
  const store = await startStore(make)
  context.after(() => store.close())
  return store
}

function start(
  store: Store,
  ...more: readonly string[]
): { readonly child: ChildProcess; readonly end: Promise<Ended> } {
  const given = [program, 'check', store.origin, '--yes', '--format', 'json', ...more]
  const child = spawn(process.execPath, given, { stdio: ['ignore', 'pipe', 'pipe'] })
  const end = async () => {
    let [out, err] = ['', '']
    child.stdout?.on('data', (chunk) => (out += chunk))
    child.stderr?.on('data', (chunk) => (err += chunk))
    const [code] = await once(child, 'close')
    return { code, err, report: out === '' ? undefined : JSON.parse(out) } as Ended
  }
  return { child, end: end() }
}

const check = (store: Store, ...more: readonly string[]) => start(store, ...more).end

function verdictOf({ report }: Ended, id: string): string {
  const found = report.rules.flatMap(({ cases }) => cases).find((each) => each.id === id)
  return `${found?.verdict}: ${found?.why}`
}

/** What a store holds that is not of the beginning, and that what was there is as it was. */
function strangersIn(store: Store, name = 'orders', before: readonly Members[] = orders): readonly string[] {
  const { records } = store.tables[name] as Store['tables'][string]
  for (const each of before) assert.deepEqual(records.get(String(each['id'])), each, 'nobody else loses anything')
  return [...records.keys()]
    .filter((id) => !before.some((each) => String(each['id']) === id))
    .map((id) => `/${name}/${id}`)
}

/** Every record that is there and was not is named in the report. */
function assertTold(store: Store, { report }: Ended): void {
  const told = [...report.remains, ...report.differences.flatMap(({ unexplained }) => unexplained)]
  assert.deepEqual(strangersIn(store).toSorted(), [...new Set(told)].toSorted())
}

describe('A server with sequential keys', () => {
  it('is sent no identifier of the checker, and its sequence moves on by what was created alone', async (context) => {
    const store = await storeFor(context, { takesIds: true })
    const ended = await check(store)
    assert.ok(ended.report.created > 100, ended.err)
    const { last } = store.tables['orders'] as Store['tables'][string]
    assert.ok(last <= orders.length + 2 * ended.report.created, `the sequence is at ${last}`)
    assert.deepEqual(strangersIn(store), [])
    assert.deepEqual([ended.report.remains, ended.report.differences], [[], []])
    for (const id of ['RES-4/not-chosen', 'RES-4/kept', 'MET-7/put', 'MET-7/patch']) {
      assert.match(verdictOf(ended, id), /^not applicable: not tried: .*--allow-chosen-ids/)
    }
    assert.match(ended.err, /Identifiers that the server numbers move on: orders by up to about \d+\./)
  })

  it('is sent one near those in use where that is allowed, and what is created by it is deleted', async (context) => {
    const store = await storeFor(context, { takesIds: true })
    const ended = await check(store, '--allow-chosen-ids', '--only', 'RES-4,MET-7')
    for (const id of ['RES-4/not-chosen', 'RES-4/kept', 'MET-7/put']) assert.match(verdictOf(ended, id), /^fails/)
    assert.ok((store.tables['orders']?.last ?? 0) < 100_000)
    assert.deepEqual(strangersIn(store), [])
    assert.match(ended.err, /Identifiers of the checker's choice are sent: .* orders from there/)
  })

  it('that demands an identifier gets no record', async (context) => {
    const store = await storeFor(context, {
      takesIds: true,
      schemas: { id: { type: 'integer' } },
      instead: ({ method, body }) =>
        method === 'POST' && body['id'] === undefined
          ? { status: 422, body: { errors: { id: ['is required'] } } }
          : undefined,
    })
    const { err } = await check(store, '--only', 'MET-2')
    assert.deepEqual([strangersIn(store), store.tables['orders']?.last], [[], 3])
    assert.match(err, /No record of orders can be made .*--allow-chosen-ids/)
  })
})

describe('A server that creates unasked', () => {
  const isRecord = (below: string | undefined) => /^\d+/.test(below ?? '')
  const makes: Readonly<Record<string, StoreMake>> = {
    'by POST to the address of a record': {
      instead({ method, below, body, collection }, store) {
        if (method !== 'POST' || !isRecord(below)) return undefined
        store.insert(collection, body)
        return { status: 200, body: { ok: true } }
      },
    },
    'and tells neither Location nor identifier': {
      instead({ method, below, body, collection, isValid }, store) {
        if (method !== 'POST' || below !== undefined || !isValid) return undefined
        store.insert(collection, body)
        return { status: 201 }
      },
    },
    'and answers 400 to a body that it has stored': {
      instead({ method, below, body, collection, isValid }, store) {
        if (method !== 'POST' || below !== undefined || isValid) return undefined
        store.insert(collection, body)
        return { status: 400, body: { error: 'bad' } }
      },
    },
    'and answers 500 to every third creation': {
      instead({ method, below, body, collection, isValid }, store) {
        if (method !== 'POST' || below !== undefined || !isValid) return undefined
        const { id } = store.insert(collection, body)
        return Number(id) % 3 === 0 ? { status: 500 } : { status: 201, body: { ...body, id } }
      },
    },
    'by PATCH where no record is': {
      instead({ method, below, body, collection }, store) {
        if (method !== 'PATCH' || !isRecord(below) || store.tables[collection]?.records.has(below ?? ''))
          return undefined
        return { status: 200, body: store.insert(collection, body) }
      },
    },
    'whose lists take no filter': {
      ignoresFilters: true,
      instead({ method, below, body, collection, isValid }, store) {
        if (method !== 'POST' || below !== undefined || !isValid) return undefined
        const { id } = store.insert(collection, body)
        return Number(id) % 5 === 0 ? { status: 503 } : { status: 201, body: { ...body, id } }
      },
    },
  }
  for (const [title, make] of Object.entries(makes)) {
    it(title, async (context) => {
      const store = await storeFor(context, make)
      const ended = await check(store, '--only', 'RES,MET,ERR')
      assert.ok(
        store.asked.some((each) => each.startsWith('POST')),
        ended.err,
      )
      assertTold(store, ended)
      // What bears the text of the checker is deleted, whatever the server said of it.
      const marked = [...(store.tables['orders']?.records.values() ?? [])].filter((each) =>
        /checked-/.test(JSON.stringify(each)),
      )
      assert.deepEqual(marked, [])
    })
  }

  it('tells what is left over in words, and ends as its rules say', async (context) => {
    const store = await storeFor(context, makes['and answers 400 to a body that it has stored'] as StoreMake)
    const { err, code, report } = await check(store, '--only', 'MET-2,MET-3')
    const [difference] = report.differences
    const fails = report.rules.flatMap(({ cases }) => cases).some(({ verdict }) => verdict === 'fails')
    if (difference !== undefined) assert.match(err, /orders: \d+ records? more than before \(3, now \d+\)/)
    assert.equal(code, fails ? 1 : 0)
  })
})

describe('A server with collections of its own', () => {
  const account = { id: 1, title: 'Root', email: 'root@example.org', role: 'admin' }
  const collections = {
    orders,
    users: [account],
    ...Object.fromEntries(
      ['_superusers', 'directus_users', 'roles', 'permissions', 'api-keys', 'webhooks', 'settings'].map((name) => [
        name,
        [{ id: 1, title: 'Old' }],
      ]),
    ),
  }

  it('keeps them unread and unchanged, and the plan says why', async (context) => {
    const store = await storeFor(context, { collections })
    const { err } = await check(store, '--only', 'RES,MET,DEL')
    for (const [name, records] of Object.entries(collections)) assert.deepEqual(strangersIn(store, name, records), [])
    const others = store.asked.filter(
      (each) => !/^[A-Z]+ \/(?:orders|openapi\.json|no-such|users)?(?:[/?]|$)/.test(each),
    )
    assert.deepEqual(
      others.filter((each) => /superusers|directus|roles|permissions|api-keys|webhooks|settings/.test(each)),
      [],
    )
    assert.deepEqual([...new Set(store.asked.filter((each) => / \/users/.test(each)))], ['GET /users'])
    assert.match(err, /_superusers, directus_users are left alone: its name|_superusers, directus_users are left alone/)
    assert.match(err, /users is left alone: its records look like accounts \(email and role\)/)
    assert.match(err, /roles, permissions, settings are left alone: .*--collection NAME/)
  })

  it('has one checked where it is named', async (context) => {
    const store = await storeFor(context, { collections })
    await check(store, '--collection', 'roles', '--only', 'MET-2')
    assert.ok(store.asked.includes('POST /roles'))
    assert.ok(!store.asked.includes('POST /orders'))
    assert.deepEqual(strangersIn(store, 'roles', collections['roles' as keyof typeof collections]), [])
  })
})

describe('A server whose deletions fail', () => {
  const failing: Readonly<Record<string, StoreMake['instead']>> = {
    'with 500': ({ method }) => (method === 'DELETE' ? { status: 500 } : undefined),
    'with 403': ({ method }) => (method === 'DELETE' ? { status: 403 } : undefined),
    'although it answers 204': ({ method }) => (method === 'DELETE' ? { status: 204 } : undefined),
  }
  for (const [title, instead] of Object.entries(failing)) {
    it(`${title} keeps one record, and the report names it`, async (context) => {
      const store = await storeFor(context, { instead })
      const ended = await check(store)
      assert.deepEqual(strangersIn(store), ['/orders/4'])
      assert.deepEqual(ended.report.remains, ['/orders/4'])
      assert.match(ended.err, /orders: \/orders\/4 was created and cannot be deleted again/)
    })
  }

  it('now and then keeps nothing', async (context) => {
    let deletions = 0
    const store = await storeFor(context, {
      instead: ({ method }) =>
        method === 'DELETE' && ++deletions > 5 && deletions % 4 === 0 ? { status: 500 } : undefined,
    })
    const ended = await check(store, '--only', 'RES,MET')
    assertTold(store, ended)
    assert.deepEqual(strangersIn(store), [])
  })
})

describe('A check that is stopped', () => {
  it('deletes what exists by then', async (context) => {
    const store = await storeFor(context, {})
    const { child, end } = start(store)
    while (store.asked.filter((each) => each.startsWith('POST')).length < 40)
      await new Promise((resolve) => setTimeout(resolve, 5))
    child.kill('SIGINT')
    const ended = await end
    assert.equal(ended.code, 130, ended.err)
    assert.deepEqual(strangersIn(store), [])
  })

  it('lists what exists where it is stopped twice', async (context) => {
    let deletions = 0
    const store = await storeFor(context, {
      instead: ({ method }) => (method === 'DELETE' && ++deletions > 20 ? 'silence' : undefined),
    })
    const { child, end } = start(store)
    while (deletions <= 20) await new Promise((resolve) => setTimeout(resolve, 5))
    child.kill('SIGINT')
    await new Promise((resolve) => setTimeout(resolve, 500))
    child.kill('SIGINT')
    const { code, err } = await end
    assert.equal(code, 130, err)
    const left = strangersIn(store)
    assert.ok(left.length > 0)
    for (const path of left) assert.ok(err.split('Created by the check, and left behind:')[1]?.includes(path), err)
  })
})
