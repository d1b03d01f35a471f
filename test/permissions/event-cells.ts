/** Events of records with every kind of history, and who may read which of them (EVT-4), by a model written by hand. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { always } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import { planEvents } from '../../packages/server/src/plan/plan-events.ts'
import { purgeAt, type Trial, trial } from '../harness.ts'
import {
  authenticate,
  type Caller,
  type Credentials,
  callers,
  credentialsOf,
  strangers,
  tokenSettings,
} from './callers.ts'
import type { Cells } from './cells.ts'
import { anyone, type Form, type Subject } from './forms.ts'
import { badges, vaultOf } from './vault.ts'

/** The fields that rules look at, as they are stored. */
type Fields = Omit<Subject, 'parentOwner'> & { readonly parent: string | null }
type State = 'live' | 'deleted' | 'gone'

/** A record of the model. */
interface Thing {
  readonly collection: string
  readonly id: string
  fields: Fields
  state: State
}

/** An event of the model, with the record as it was. */
interface Happened {
  readonly thing: Thing
  readonly kind: string
  readonly fields: Fields
}

/** The collections, and which action their form guards. */
const collections = [
  { name: 'read-things', guarded: 'read' },
  { name: 'deleted-things', guarded: 'readDeleted' },
  { name: 'hard-things', guarded: 'read' },
] as const

function office(form: Form) {
  const declared = vaultOf(form)
  const things = declared.resources['read-things'] as object
  const resources = {
    parents: declared.resources['parents'],
    badges: declared.resources['badges'],
    'read-things': { ...things, events: true },
    'deleted-things': { ...declared.resources['deleted-things'], events: true },
    'hard-things': { ...things, deletion: { variant: 'hard' }, events: true },
  }
  const changes = [{ version: 'v2', resource: 'read-things', rename: { grade: 'level' } }]
  return { ...declared, resources, changes } as unknown as ReturnType<typeof vaultOf>
}

/** What happens to records, one after the other. */
class History {
  readonly happened: Happened[] = []
  readonly parents = new Map<string, { readonly owner: string; state: State }>()
  readonly #trial: Trial

  constructor(started: Trial) {
    this.#trial = started
  }

  async parent(owner: string): Promise<string> {
    const { id } = await this.#trial.make('parents', { owner_id: owner })
    this.parents.set(id, { owner, state: 'live' })
    return id
  }

  async badge({ isDeleted, ...badge }: (typeof badges)[number]): Promise<void> {
    const { headers } = await this.#trial.send({ path: '/v2/badges', body: badge, as: 'root' })
    if (isDeleted) await this.#send('DELETE', String(headers['location']))
  }

  async make(collection: string, fields: Fields): Promise<Thing> {
    const { owner_id, level, holder, parent: parent_id } = fields
    const body = { title: 'thing', owner_id, level, holder, parent_id }
    const sent = { method: 'POST', path: `/v2/${collection}`, body, as: 'root', headers: { prefer: 'return=minimal' } }
    const { status, text, headers } = await this.#trial.send(sent)
    assert.equal(status, 201, text)
    const id = headers['location']?.split('/').at(-1) as string
    const thing: Thing = { collection, id, fields, state: 'live' }
    this.#note(thing, 'created')
    return thing
  }

  async change(thing: Thing, changed: Partial<Fields>): Promise<void> {
    const { parent, ...rest } = changed
    const body = { ...rest, ...('parent' in changed && { parent_id: parent }), count: this.happened.length }
    await this.#send('PATCH', `/v2/${thing.collection}/${thing.id}`, body)
    thing.fields = { ...thing.fields, ...changed }
    this.#note(thing, 'updated')
  }

  async remove(thing: Thing): Promise<void> {
    await this.#send('DELETE', `/v2/${thing.collection}/${thing.id}`)
    thing.state = thing.collection === 'hard-things' ? 'gone' : 'deleted'
    this.#note(thing, 'deleted')
  }

  async restore(thing: Thing): Promise<void> {
    await this.#send('POST', `/v2/${thing.collection}/${thing.id}/restore`)
    thing.state = 'live'
    this.#note(thing, 'restored')
  }

  async removeParent(id: string): Promise<void> {
    await this.#send('DELETE', `/v2/parents/${id}`)
    Object.assign(this.parents.get(id) as object, { state: 'deleted' })
  }

  /** Purges everything that is deleted. */
  async purge(): Promise<void> {
    const { app } = this.#trial
    const later = Date.now() + 40 * 86_400_000
    await app.storage.purgeClock.confirm(later)
    assert.ok(((await purgeAt(app, later)) ?? 0) > 0)
    for (const parent of this.parents.values()) if (parent.state === 'deleted') parent.state = 'gone'
    for (const thing of new Set(this.happened.map((each) => each.thing))) {
      if (thing.state !== 'deleted') continue
      thing.state = 'gone'
      this.#note(thing, 'purged')
    }
  }

  #note(thing: Thing, kind: string): void {
    this.happened.push({ thing, kind, fields: thing.fields })
  }

  async #send(method: string, path: string, body?: object): Promise<void> {
    const { status, text } = await this.#trial.send({ method, path, as: 'root', ...(body && { body }) })
    assert.ok(status < 300, `${method} ${path}: ${status} ${text}`)
  }
}

/** Whether the model lets a caller read an event. */
function isVisible(history: History, form: Form, caller: Caller, event: Happened): boolean {
  const { thing, kind, fields: shown } = event
  const guarded = collections.find(({ name }) => name === thing.collection)?.guarded
  const allows = (action: 'read' | 'readDeleted', { parent, ...fields }: Fields, states: readonly State[]) => {
    const known = history.parents.get(parent ?? '')
    const parentOwner = known !== undefined && states.includes(known.state) ? known.owner : undefined
    return (action === guarded ? form : anyone).allows(caller, { ...fields, parentOwner })
  }
  const withRow = ['live', 'deleted'] as const
  const once = (fields: Fields) => allows('read', fields, withRow) && allows('readDeleted', fields, withRow)
  if (!allows('read', shown, withRow)) return false
  if (thing.state === 'live') return allows('read', thing.fields, ['live'])
  if (thing.state === 'gone') {
    const last = history.happened.findLast((each) => each.thing === thing && each.kind === 'deleted')
    return event === last || (kind === 'purged' && once(shown))
  }
  return allows('read', thing.fields, withRow) && (kind === 'deleted' || once(thing.fields))
}

const own: Fields = { owner_id: 'ann', level: 'closed', holder: 'ann', parent: null }

async function happen(history: History): Promise<void> {
  for (const badge of badges) await history.badge(badge)
  const [parent, other, lost] = [await history.parent('ann'), await history.parent('bob'), await history.parent('ann')]
  for (const { name } of collections) {
    const isSoft = name !== 'hard-things'
    const starts: Fields[] = [
      own,
      { ...own, level: 'open', holder: 'blue' },
      { ...own, owner_id: 'kim', holder: null, parent },
      { ...own, owner_id: 'kim', holder: 'eve', parent: lost },
    ]
    for (const start of starts) {
      const [kept, changed, removed] = [
        await history.make(name, start),
        await history.make(name, start),
        await history.make(name, start),
      ]
      await history.change(kept, {})
      await history.change(changed, { level: start.level === 'open' ? 'closed' : 'open' })
      await history.change(changed, { holder: 'bob', owner_id: 'bob' })
      await history.change(changed, { parent: other })
      if (start.owner_id === 'ann') await history.change(changed, { ...start, parent: null })
      await history.remove(removed)
      if (isSoft && start.parent !== lost) {
        await history.restore(removed)
        await history.change(removed, { level: start.level })
        await history.remove(removed)
      }
      if (start.parent === lost) await history.remove(kept)
    }
  }
  await history.removeParent(lost)
}

/** Lets things happen to records under a form of rule, and asks every caller for every event. */
export async function checkEvents(context: TestContext, form: Form, cells: Cells): Promise<void> {
  const { jwt, remove } = tokenSettings()
  const started = await trial(office(form), { memory: true, jwt, authenticate })
  context.after(async () => {
    await started.close()
    remove()
  })
  const credentials = await credentialsOf(started)
  const history = new History(started)
  await happen(history)
  await checkAll(started, credentials, history, form, cells, 'before the purge')
  await history.purge()
  await checkAll(started, credentials, history, form, cells, 'after the purge')
}

async function checkAll(
  started: Trial,
  credentials: Credentials,
  history: History,
  form: Form,
  cells: Cells,
  moment: string,
): Promise<void> {
  const events = await inOrder(started, history)
  for (const caller of [...callers, ...strangers]) {
    const as = credentials.get(caller.name) ?? null
    const name = `${form.name}, ${caller.name}, ${moment}`
    if (!caller.isAuthenticated) {
      const { status } = await started.send({ path: '/v2/events', as })
      cells.check(`${name}, list`, '401', String(status))
      continue
    }
    const visible = events.map(({ event }) => isVisible(history, form, caller, event))
    const expected = events.flatMap(({ id }, index) => (visible[index] ? [id] : []))
    cells.check(`${name}, list`, textOf(expected, expected.length), await listed(started, as, ''))
    const deletions = events.flatMap(({ id, event }, index) => (visible[index] && event.kind === 'deleted' ? [id] : []))
    cells.check(`${name}, filter`, textOf(deletions, deletions.length), await listed(started, as, '&kind=deleted'))
    cells.check(`${name}, read`, expected.join(), await readBy(started, caller))
    for (const [index, { id, event }] of events.entries()) {
      const which = `${event.thing.collection} ${event.kind} ${JSON.stringify(event.fields)} now ${event.thing.state}`
      const cell = `${name}, ${which} ${JSON.stringify(event.thing.fields)}`
      if (!cells.includes(cell)) continue
      const { status } = await started.send({ path: `/v2/events/${id}`, as })
      cells.check(cell, visible[index] ? '200' : '404', String(status))
    }
  }
}

/** The ids of all events, with those of the model: both are in the order of the changes of a record. */
async function inOrder(
  { app }: Trial,
  { happened }: History,
): Promise<{ readonly id: string; readonly event: Happened }[]> {
  const resource = app.catalog.system.get('events') as Resource
  const plan = {
    kind: 'read-events',
    resource,
    version: 'v2',
    after: 0,
    limit: 1_000,
    filter: always,
    permitted: always,
  } as const
  const outcome = await app.storage.events?.read(plan)
  const byRecord = Map.groupBy(happened, ({ thing }) => thing.id)
  const found = (outcome?.events ?? []).map(({ id, record, kind }) => {
    const event = byRecord.get(record)?.shift()
    assert.equal(event?.kind, kind)
    return { id, event: event as Happened }
  })
  assert.equal(found.length, happened.length)
  return found
}

async function listed({ send }: Trial, as: string | null, query: string): Promise<string> {
  const ids: string[] = []
  let total = 0
  for (let cursor = ''; ; ) {
    const { status, json } = await send({ path: `/v2/events?limit=100${query}${cursor}`, as })
    if (status !== 200) return String(status)
    ids.push(...json.data.map(({ id }: { readonly id: string }) => id))
    total = json.pagination.total_count
    if (json.pagination.next_cursor === null) return textOf(ids, total)
    cursor = `&cursor=${json.pagination.next_cursor}`
  }
}

function textOf(ids: readonly string[], total: number): string {
  return `${total}: ${ids.join()}`
}

/** The events as a stream reads them. */
async function readBy({ app: { catalog, storage } }: Trial, caller: Caller): Promise<string> {
  const roles = [...(caller.isAdministrator ? ['admin'] : []), ...(caller.isEditor ? ['editor'] : [])]
  const view = { id: caller.id, roles, claims: caller.team === undefined ? {} : { team: caller.team } }
  const ids: string[] = []
  for (let after = 0; ; ) {
    const plan = planEvents({ catalog, versionCatalog: catalog, caller: view }, after, 20)
    const outcome = plan && (await storage.events?.read(plan))
    ids.push(...(outcome?.events.map(({ id }) => id) ?? []))
    if (outcome?.more !== true) return ids.join()
    after = outcome.position
  }
}
