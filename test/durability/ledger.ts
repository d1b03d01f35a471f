/** What a client knows: which changes it asked for, and which of them were acknowledged. */

/** What a record may be: not there, or in an edition. */
export type State = 'absent' | number

/** A record as its only writer knows it. */
export interface Entry {
  readonly collection: 'folders' | 'notes'
  /** Finds it again where its id was never told. */
  readonly name: string
  readonly writer: number
  readonly folder: Entry | undefined
  id: string | undefined
  /** The entity tag of the newest answer. */
  tag: string | undefined
  /** What it was and was asked to be, in order. */
  readonly states: State[]
  /** The index of the newest state that was acknowledged. */
  durable: number
}

/** One request that changes records, all of them or none. */
export interface Change {
  readonly steps: readonly { readonly entry: Entry; readonly index: number }[]
  /** The `X-Request-Id` of the answer; `undefined` until there is one. */
  acknowledged: string | undefined
}

/** All entries and changes of a run. */
export class Ledger {
  readonly entries: Entry[] = []
  changes: Change[] = []

  /** Notes down a record that is going to be made. */
  enter(collection: Entry['collection'], name: string, writer: number, folder?: Entry): Entry {
    const entry: Entry = {
      ...{ collection, name, writer, folder },
      ...{ id: undefined, tag: undefined, states: ['absent'], durable: 0 },
    }
    this.entries.push(entry)
    return entry
  }

  /** Notes down a change before it is asked for. */
  ask(entries: readonly Entry[], state: State): Change {
    const steps = entries.map((entry) => ({ entry, index: entry.states.push(state) - 1 }))
    const change: Change = { steps, acknowledged: undefined }
    this.changes.push(change)
    return change
  }

  /** Notes down that a change was acknowledged. */
  acknowledge(change: Change, requestId: string): void {
    change.acknowledged = requestId
    for (const { entry, index } of change.steps) entry.durable = index
  }

  /** Takes what was found after a restart as the truth: what was asked and never answered is decided now. */
  settle(found: ReadonlyMap<string, State>): void {
    this.changes = this.changes.filter((change) => change.acknowledged !== undefined)
    for (const entry of this.entries) {
      const state = found.get(entry.name) ?? 'absent'
      const settled = entry.states.indexOf(state, entry.durable)
      if (settled !== entry.durable) entry.tag = undefined
      entry.durable = settled
      entry.states.length = settled + 1
    }
  }

  /** How many changes were acknowledged. */
  get acknowledged(): number {
    return this.changes.filter((change) => change.acknowledged !== undefined).length
  }
}

/** What a record holds in an edition: every field follows from the name and the number, so a mixture would show. */
export function valuesOf(
  entry: Entry,
  edition: number,
): { name: string; title: string; edition: number; text: string } {
  const { name, writer } = entry
  const text = `${name} ${edition} `.repeat(1 + ((edition * 37 + name.length * 11) % 500))
  return { name, title: `${name} ${writerWord(writer)} ${editionWord(edition)}`, edition, text }
}

/** The word by which search finds the records of a writer. */
export function writerWord(writer: number): string {
  return `writer${String(writer).padStart(4, '0')}`
}

/** The word by which search finds the records in an edition. */
export function editionWord(edition: number): string {
  return `edition${String(edition).padStart(4, '0')}`
}
