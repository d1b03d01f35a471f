/**
 * Rows between their source and the database: a temporary file with an index, so that memory does not grow with their
 * number. It finds the records that rows refer to by keys of the old system, and orders the rows so that a record comes
 * after those that it refers to. The operating system removes the file when the process ends, however it ends.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'

/** A set of keys: those of one collection, or of one unique column of a table. The caller numbers them. */
export type Space = number

/** A row to stage. */
export interface StagedRow {
  /** Names its collection. The caller numbers them. */
  readonly collection: number
  /** Its place in the source, for messages. */
  readonly place: string
  /** The id that its record will have. */
  readonly id: string
  /** The record, without its references by key. */
  readonly value: Readonly<Record<string, unknown>>
  readonly keys: readonly (readonly [Space, key: string])[]
  readonly references: readonly StagedReference[]
}

/** A reference of a row by a key. */
export interface StagedReference {
  readonly field: string
  readonly space: Space
  readonly key: string
}

/** A row in the order of its creation. */
export interface OrderedRow {
  readonly collection: number
  readonly place: string
  readonly id: string
  /** The record, with the ids of those that it refers to. */
  readonly value: Readonly<Record<string, unknown>>
  /** Rows with the same number refer to each other in a circle, and follow each other; `undefined`: no circle. */
  readonly circle: number | undefined
  /** The characters of its JSON. */
  readonly size: number
  /** Whether the record refers to itself. */
  readonly isOwnTarget: boolean
}

/** A reference whose record is nowhere. */
export interface Dangling extends StagedReference {
  readonly place: string
}

const tables = `
  create table rows (number integer primary key, collection integer, place text, id text, value text,
    waits integer not null default 0, is_out integer not null default 0, position integer);
  create table keys (space integer, key text, number integer, primary key (space, key)) without rowid;
  create table links (number integer, field text, space integer, key text, target integer, id text);
  create table ordered (position integer primary key, number integer, circle integer);
  create index ordered_by_circle on ordered (circle) where circle is not null;
`

const indexes = `
  create index links_by_number on links (number);
  create index links_by_key on links (space, key);
  create index links_by_target on links (target);
  create index rows_by_position on rows (position) where position is null;
`

const ofCircles = `select distinct l.target from links l join rows t on t.number = l.target
  where l.number = ? and l.target <> l.number and t.position is null and t.is_out = 0 order by l.target`

export class Stage {
  readonly #database = new DatabaseSync('')
  readonly #prepared = new Map<string, StatementSync>()
  #last = 0
  #hasLinks = false

  constructor() {
    this.#database.exec('pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -32000')
    this.#database.exec(`begin; ${tables}`)
  }

  close(): void {
    this.#database.close()
  }

  /** How many rows are staged. */
  get size(): number {
    return this.#last
  }

  /** Stages a row. Returns the place of the row that has the same key, which then stays the only one. */
  add({ collection, place, id, value, keys, references }: StagedRow): string | undefined {
    for (const [space, key] of keys) {
      const other = this.#get('select place from keys join rows using (number) where space = ? and key = ?', space, key)
      if (other !== undefined) return String(other['place'])
    }
    const number = ++this.#last
    this.#run(
      'insert into rows (number, collection, place, id, value) values (?, ?, ?, ?, ?)',
      ...[number, collection, place, id, JSON.stringify(value)],
    )
    for (const [space, key] of keys) this.#run('insert into keys values (?, ?, ?)', space, key, number)
    for (const { field, space, key } of references) {
      this.#hasLinks = true
      this.#run('insert into links values (?, ?, ?, ?, null, null)', number, field, space, key)
    }
    return undefined
  }

  /**
   * Finds the records of all references: among the rows, otherwise by `find`.
   *
   * @param find the ids of the records of the database that have these keys, by key
   * @param onDangling called for each reference whose record is nowhere; its row is taken out
   */
  async resolve(
    find: (space: Space, keys: readonly string[]) => Promise<ReadonlyMap<string, string>>,
    onDangling: (dangling: Dangling) => void,
  ): Promise<void> {
    this.#database.exec(indexes)
    this.#run('update links set target = (select number from keys k where k.space = links.space and k.key = links.key)')
    let [space, key] = [-1, '']
    for (;;) {
      const missing = this.#all(
        `select distinct space, key from links where target is null and (space, key) > (?, ?)
           order by space, key limit 1000`,
        ...[space, key],
      ).map((row) => [Number(row['space']), String(row['key'])] as const)
      const last = missing.at(-1)
      if (last === undefined) break
      ;[space, key] = last
      for (const [asked, pairs] of Map.groupBy(missing, ([each]) => each)) {
        const found = await find(
          asked,
          pairs.map(([, each]) => each),
        )
        for (const [each, id] of found)
          this.#run('update links set id = ? where space = ? and key = ?', id, asked, each)
      }
    }
    const lost = `select place, field, space, key, number from links join rows using (number)
      where target is null and links.id is null order by number, field`
    for (const row of this.#iterate(lost)) {
      const { place, field, key: old } = row
      onDangling({ place: String(place), field: String(field), space: Number(row['space']), key: String(old) })
    }
    this.#run(
      'update rows set is_out = 1 where number in (select number from links where target is null and id is null)',
    )
  }

  /**
   * Orders the rows: each comes after those that it refers to. Rows that refer to each other in a circle follow each
   * other. `rows` has the result.
   */
  order(): void {
    if (!this.#hasLinks) {
      this.#run('insert into ordered (number) select number from rows order by number')
      return
    }
    this.#run(
      `update rows set waits = (select count(*) from links l join rows t on t.number = l.target
         where l.number = rows.number and l.target <> l.number and t.is_out = 0) where is_out = 0
         and exists (select 1 from links l where l.number = rows.number and l.target is not null)`,
    )
    this.#run('insert into ordered (number) select number from rows where waits = 0 and is_out = 0 order by number')
    this.#run('update rows set position = 0 where waits = 0 and is_out = 0')
    for (let position = 1; ; ) {
      position = this.#release(position)
      const next = this.#get('select min(number) as number from rows where position is null and is_out = 0')
      if (next?.['number'] == null) return
      const circle = firstComponent(Number(next['number']), (number) =>
        this.#all(ofCircles, number).map((row) => Number(row['target'])),
      )
      for (const number of circle) this.#place(number, circle[0] as number)
    }
  }

  /** Places the rows that wait for nothing any more, from a position on. Returns the first free position. */
  #release(from: number): number {
    const waiting = `select l.number, count(*) as links from links l join rows r using (number)
      where l.target = ? and l.number <> l.target and r.is_out = 0 group by l.number order by l.number`
    for (let position = from; ; position++) {
      const placed = this.#get('select number from ordered where position = ?', position)
      if (placed === undefined) return position
      for (const { number, links } of this.#all(waiting, Number(placed['number']))) {
        this.#run('update rows set waits = waits - ? where number = ?', Number(links), Number(number))
        const isFree = this.#get(
          'select 1 from rows where number = ? and waits = 0 and position is null',
          Number(number),
        )
        if (isFree !== undefined) this.#place(Number(number), null)
      }
    }
  }

  #place(number: number, circle: number | null): void {
    this.#run('insert into ordered (number, circle) values (?, ?)', number, circle)
    this.#run('update rows set position = 0 where number = ?', number)
  }

  /**
   * The rows that are not taken out, in order.
   *
   * @param circle only the rows of this circle
   */
  *rows(circle?: number): Generator<OrderedRow> {
    const links = `select field, coalesce(l.id, t.id) as id, l.target = l.number as own
      from links l left join rows t on t.number = l.target where l.number = ?`
    const all = `select number, collection, place, id, value, circle from ordered join rows using (number)
      ${circle === undefined ? '' : 'where circle = ?'} order by ordered.position`
    for (const row of this.#iterate(all, ...(circle === undefined ? [] : [circle]))) {
      const value = JSON.parse(String(row['value'])) as Record<string, unknown>
      let isOwnTarget = false
      for (const { field, id, own } of this.#hasLinks ? this.#all(links, Number(row['number'])) : []) {
        value[String(field)] = id
        if (own === 1) isOwnTarget = true
      }
      yield {
        ...{ collection: Number(row['collection']), place: String(row['place']), id: String(row['id']), value },
        size: String(row['value']).length,
        circle: row['circle'] === null ? undefined : Number(row['circle']),
        isOwnTarget,
      }
    }
  }

  /** The number of rows that `rows` gives. */
  get count(): number {
    return Number(this.#get('select count(*) as count from ordered')?.['count'])
  }

  /** The ids of the rows of a circle. */
  circle(number: number): ReadonlySet<string> {
    const rows = this.#all('select id from ordered join rows using (number) where circle = ?', number)
    return new Set(rows.map(({ id }) => String(id)))
  }

  #statement(text: string): StatementSync {
    return this.#prepared.getOrInsertComputed(text, () => this.#database.prepare(text))
  }

  #run(text: string, ...values: SQLInputValue[]): void {
    this.#statement(text).run(...values)
  }

  #get(text: string, ...values: SQLInputValue[]) {
    return this.#statement(text).get(...values)
  }

  #all(text: string, ...values: SQLInputValue[]) {
    return this.#statement(text).all(...values)
  }

  /** Rows one by one: each call has a statement of its own, because several may be read at the same time. */
  #iterate(text: string, ...values: SQLInputValue[]) {
    return this.#database.prepare(text).iterate(...values)
  }
}

/**
 * The strongly connected component that a depth-first search from `start` completes first (Tarjan's algorithm). No edge
 * leads out of it, so its nodes can be placed together. Memory grows with the longest path of the search.
 *
 * @param targets the nodes that edges of a node lead to
 * @returns its nodes in ascending order
 */
function firstComponent(start: number, targets: (node: number) => readonly number[]): number[] {
  const index = new Map<number, number>()
  // Nodes before the first component is complete are all on the stack.
  const stack: number[] = []
  const path: { readonly node: number; readonly waiting: number[]; low: number }[] = []
  const enter = (node: number) => {
    index.set(node, stack.length)
    path.push({ node, waiting: [...targets(node)].reverse(), low: stack.length })
    stack.push(node)
  }
  enter(start)
  for (;;) {
    const top = path.at(-1)!
    const next = top.waiting.pop()
    if (next === undefined) {
      const own = index.get(top.node) as number
      if (top.low === own) return stack.slice(own).sort((left, right) => left - right)
      path.pop()
      const below = path.at(-1)!
      below.low = Math.min(below.low, top.low)
    } else {
      const seen = index.get(next)
      if (seen === undefined) enter(next)
      else top.low = Math.min(top.low, seen)
    }
  }
}
