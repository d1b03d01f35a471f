/** Servers and databases that end at any moment of random histories: some order must still explain each. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isConnectionLost } from '../durability/client.ts'
import { until } from '../until.ts'
import { depotOf } from './depot.ts'
import { Histories } from './histories.ts'
import { type Played, playedUntil } from './play.ts'
import { usualWeights } from './random-acts.ts'
import { type Image, type Servers, siteOf } from './sites.ts'

const unanswered = ({ clients }: Played) => clients.flat().filter(({ reply }) => reply === undefined).length

/**
 * Kills a server so often while clients change many records at once: what was acknowledged is there, and what was not
 * is there as a whole or not at all.
 */
export async function killServers(context: TestContext, kills: number): Promise<void> {
  const site = await siteOf(context, depotOf())
  const histories = new Histories(context, site)
  await site.start()
  let lost = 0
  for (let kill = 0; kill < kills; kill++) {
    const playing = histories.play(await histories.begin(), {
      ...{ clients: 4, acts: Number.POSITIVE_INFINITY, lost: isConnectionLost },
      async meanwhile() {
        await sleep(20 + histories.random() * 200)
        await site.kill()
      },
    })
    const played = await playing
    await site.start()
    await histories.explain(played)
    await histories.checkKept()
    lost += unanswered(played)
  }
  context.diagnostic(`${kills} kills, ${lost} requests without a response`)
  assert.ok(lost > kills)
}

/** The same for SQLite without starting servers: looks at what a kill would have left. */
export async function explainImages(context: TestContext, images: number): Promise<void> {
  const site = await siteOf(context, depotOf())
  const histories = new Histories(context, site)
  await site.start()
  let [taken, lost] = [0, 0]
  while (taken < images) {
    const found: [Image, Played][] = []
    const played = await histories.play(await histories.begin(), {
      ...{ clients: 4, acts: 8 },
      async meanwhile(playing) {
        for (let count = 0; count < 3; count++) {
          await sleep(histories.random() * 20)
          const image = await site.image()
          found.push([image, playedUntil(playing, image.taken)])
        }
      },
    })
    for (const [image, before] of found) {
      await histories.explainImage(image, before)
      await image.remove()
      lost += unanswered(before)
    }
    taken += found.length
    await histories.explain(played)
  }
  context.diagnostic(`${taken} images, ${lost} requests without a response`)
  assert.ok(lost > images)
}

/**
 * Interrupts PostgreSQL in histories: a request that got a 5xx was made, or not.
 *
 * @param interrupt ends once the database can be reached again
 */
export async function interruptDatabase(
  context: TestContext,
  site: Servers,
  count: number,
  interrupt: () => Promise<void>,
): Promise<void> {
  const histories = new Histories(context, site)
  await site.start()
  await site.start()
  let lost = 0
  for (let history = 0; history < count; history++) {
    const played = await histories.play(await histories.begin(), {
      ...{ clients: 4, acts: 8, weights: { ...usualWeights, 'purge-begins': 0 } },
      async meanwhile() {
        await sleep(histories.random() * 60)
        await interrupt()
      },
    })
    // Each server has found the database again.
    for (const server of [0, 1]) {
      await until(async () => (await site.send(server, { method: 'GET', path: '/boxes' })).status === 200)
    }
    await histories.explain(played)
    await histories.checkKept()
    lost += unanswered(played)
  }
  context.diagnostic(`${lost} requests with a 5xx`)
  assert.ok(lost > 0)
}
