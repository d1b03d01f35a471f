/** A vault with records in it, put there whatever its rules say. */
import assert from 'node:assert/strict'
import type { Action } from 'resourced-contract/model/declaration'
import { always } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import { uuidv7 } from 'uuidv7'
import { type Received, type Sent, type Trial, trial } from '../harness.ts'
import { authenticate, type Caller, type Credentials, credentialsOf, tokenSettings } from './callers.ts'
import { anyone, type Form, type Subject } from './forms.ts'
import { badges, collectionOf, vaultOf } from './vault.ts'

/** A kind of record; the owner of the matrix is ann, the other is bob. */
export interface Kind extends Subject {
  readonly name: string
  readonly isDeleted: boolean
  /** Whose the parent was that is deleted too. */
  readonly lostParentOwner?: string
}

const base = { isDeleted: false, parentOwner: undefined }
const own = { ...base, name: 'own', owner_id: 'ann', level: 'closed', holder: 'ann' } as const
const others = { ...base, name: "other's", owner_id: 'bob', level: 'closed', holder: 'ann' } as const
const childOfOwn = { ...base, owner_id: 'kim', level: 'closed', holder: null, parentOwner: 'ann' } as const

export const kinds: readonly Kind[] = [
  own,
  { ...own, name: 'own open', level: 'open', holder: 'bob' },
  others,
  { ...others, name: "other's open", level: 'open', holder: 'blue' },
  { ...childOfOwn, name: 'child of own' },
  { ...childOfOwn, name: "child of other's", level: 'open', holder: 'eve', parentOwner: 'bob' },
  { ...own, name: 'deleted own', isDeleted: true },
  { ...others, name: "deleted other's", level: 'open', holder: 'blue', isDeleted: true },
  { ...childOfOwn, name: 'deleted child', isDeleted: true },
  { ...childOfOwn, name: 'deleted child of deleted', isDeleted: true, parentOwner: undefined, lostParentOwner: 'ann' },
]

/** What is written in every record, for nobody but its readers. */
export const secret = 'confidential'

/** An id that leads nowhere. */
export const nowhere = '00000000-0000-7000-8000-000000000000'

/** A form of rule being tried out. */
export class Room {
  readonly form: Form
  readonly #trial: Trial
  readonly #credentials: Credentials
  readonly #remove: () => void
  /** The parents, by their owner. */
  readonly parents = new Map<string, string>()
  #number = 0

  private constructor(form: Form, started: Trial, credentials: Credentials, remove: () => void) {
    this.form = form
    this.#trial = started
    this.#credentials = credentials
    this.#remove = remove
  }

  static async open(form: Form): Promise<Room> {
    const { jwt, remove } = tokenSettings()
    const started = await trial(vaultOf(form), { memory: true, jwt, authenticate })
    const room = new Room(form, started, await credentialsOf(started), remove)
    for (const owner_id of ['ann', 'bob']) room.parents.set(owner_id, await room.#create('parents', { owner_id }))
    for (const { isDeleted, ...badge } of badges) {
      const id = await room.#create('badges', badge)
      if (isDeleted) await room.#delete('badges', id)
    }
    return room
  }

  async close(): Promise<void> {
    await this.#trial.close()
    this.#remove()
  }

  /** Whether the model lets a caller try an action in the collection where the form guards `guarded`. */
  lets(caller: Caller, action: Action, guarded: Action): boolean {
    return (action === guarded ? this.form : anyone).lets(caller)
  }

  /** Whether the model allows the caller the action on this one. */
  allows(caller: Caller, action: Action, guarded: Action, subject: Subject): boolean {
    return (action === guarded ? this.form : anyone).allows(caller, subject)
  }

  /** Whether the caller may read the parent, if there is one. */
  readsParent(caller: Caller, { parentOwner }: Pick<Subject, 'parentOwner'>): boolean {
    return parentOwner === undefined || caller.isAdministrator || parentOwner === caller.id
  }

  send(caller: Caller, sent: Sent): Promise<Received> {
    return this.#trial.send({ ...sent, as: this.#credentials.get(caller.name) ?? null })
  }

  /** A number that was not given before. */
  next(): number {
    return ++this.#number
  }

  /** Puts a record of a kind in, whose code is its id, and gives the id. */
  async put(guarded: Action, { name, isDeleted, ...subject }: Kind, title = name): Promise<string> {
    const { parentOwner, lostParentOwner } = subject
    const lost = lostParentOwner && (await this.#create('parents', { owner_id: lostParentOwner }))
    const parent_id = lost ?? this.parents.get(parentOwner ?? '') ?? null
    const { owner_id, level, holder } = subject
    const id = uuidv7()
    const body = { title, note: secret, code: id, owner_id, level, holder, parent_id }
    await this.#create(collectionOf(guarded), body, id)
    if (isDeleted) await this.#delete(collectionOf(guarded), id)
    if (lost !== undefined) await this.#delete('parents', lost)
    return id
  }

  /** Puts a link in that refers to nothing, and gives its id. */
  link(): Promise<string> {
    return this.#create('links', {})
  }

  /** Puts in whatever has the code `taken`. */
  async takeCode(guarded: Action): Promise<void> {
    const body = { title: 'taken', owner_id: 'kim', level: 'closed', code: 'taken' }
    await this.#create(collectionOf(guarded), body)
  }

  /** The record as it is stored, whoever may read it; `undefined` where it is deleted or missing. */
  async look(guarded: Action, id: string): Promise<string | undefined> {
    const resource = this.#resource(collectionOf(guarded))
    const plan = { kind: 'read-record', resource, id, permitted: always, fields: undefined, conditions: {} } as const
    const outcome = await this.#trial.app.storage.run(plan)
    return outcome.kind === 'record' ? outcome.json : undefined
  }

  /** Waits for jobs. */
  async idle(): Promise<void> {
    await this.#trial.app.runner.idle()
  }

  #resource(collection: string): Resource {
    return this.#trial.app.catalog.resources.get(collection) as Resource
  }

  async #create(collection: string, body: object, id = uuidv7()): Promise<string> {
    const [resource, caller] = [this.#resource(collection), { id: 'root', roles: ['admin'], claims: {} }]
    const where = { resource, id, parent: undefined, body, permitted: always, mayAssignOwner: true }
    const outcome = await this.#trial.app.storage.run({ kind: 'create', ...where, caller, now: Date.now() })
    assert.equal(outcome.kind, 'created', JSON.stringify(outcome))
    return id
  }

  async #delete(collection: string, id: string): Promise<void> {
    const [resource, caller] = [this.#resource(collection), { id: 'root', roles: ['admin'], claims: {} }]
    const removal = { resource, deletion: uuidv7(), statusUrl: '', above: Number.POSITIVE_INFINITY, permitted: always }
    const plan = { ...removal, id, readable: new Map(), conditions: {}, caller, now: Date.now() }
    const outcome = await this.#trial.app.storage.run({ kind: 'delete', ...plan })
    assert.equal(outcome.kind, 'deleted', JSON.stringify(outcome))
  }
}
