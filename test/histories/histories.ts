/** Runs random histories at a site one after the other, and explains each. */
import type { TestContext } from 'node:test'
import { type Random, randomFrom, seedOfRun } from '../durability/random.ts'
import { begun, type Chain, check, checkKept, knownOf, type Played, play, sizeOf } from './play.ts'
import type { Known } from './random-acts.ts'
import type { Place } from './sites.ts'

type How = Partial<Parameters<typeof play>[3]>

/** What the histories of a site have left, and how often each act was answered in each way. */
export class Histories {
  readonly random: Random
  readonly #site: Place
  readonly #met = new Map<string, number>()
  #chain: Chain = begun
  #made = 0
  #count = 0

  constructor(context: TestContext, site: Place) {
    const seed = seedOfRun()
    context.diagnostic(`SEED=${seed}`)
    context.after(() =>
      context.diagnostic(
        `${this.#count} histories, ${this.#chain.relaxed} of them relaxed: ${JSON.stringify(this.met)}`,
      ),
    )
    this.random = randomFrom(seed)
    this.#site = site
  }

  /** How often: `create 409`. A request without a response has none of its statuses. */
  get met(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#met].sort())
  }

  /** Sees to it that there is a box, and returns what clients know at the beginning of a history. */
  async begin(): Promise<Known> {
    const known = knownOf(this.#chain.state, this.random, this.#made)
    if (known.boxes.length > 0) return known
    const body = { name: `title ${++known.made}` }
    const reply = await this.#site.send(0, { method: 'POST', path: '/boxes', body })
    const act = { kind: 'create', collection: 'boxes', body } as const
    known.boxes.push(reply.json.id)
    await this.explain({ known, clients: [[{ act, called: 0, returned: 1, reply }]] })
    return known
  }

  /** Plays a history. It is explained by `explain`. */
  async play(known: Known, how: How = {}): Promise<Played> {
    const played = await play(this.#site, known, this.random, { ...sizeOf(this.random), ...how })
    this.#made = played.known.made
    return played
  }

  /** Looks for the order that explains a history. The servers must run, so that its jobs end. */
  async explain(played: Played): Promise<void> {
    this.#chain = await check(this.#site, this.#chain, played)
    this.#count++
    for (const { act, reply } of played.clients.flat()) {
      const what = `${act.kind} ${reply?.status}`
      this.#met.set(what, (this.#met.get(what) ?? 0) + 1)
    }
  }

  /** Explains what a copy of the database has of a history, which goes on elsewhere. */
  async explainImage(image: Place, played: Played): Promise<void> {
    await check(image, this.#chain, played)
    await checkKept(image, image.catalog, image.address)
  }

  /** Plays and explains many. */
  async run(count: number, how: How = {}): Promise<void> {
    for (let history = 0; history < count; history++) {
      await this.explain(await this.play(await this.begin(), how))
      if (history % 50 === 0 || history === count - 1) await this.checkKept()
    }
  }

  checkKept(): Promise<void> {
    return checkKept(this.#site, this.#site.catalog, this.#site.address)
  }
}
