/** Takes away what the checker has made. */
import type { Made } from './known.ts'
import { urlOf, type World } from './world.ts'

// It is gone, or was already.
const gone: ReadonlySet<number> = new Set([200, 202, 204, 404, 410])

/** Deletes records, in their order: those that refer to others come first. What stays is kept in `World.remains`. */
export async function removeAll(world: World, records: readonly Pick<Made, 'path' | 'by'>[]): Promise<void> {
  const { client, profile, credentials, remains } = world
  for (const { path, by = 'caller' } of records) {
    if (!remains.has(path)) continue
    const asked = { method: 'DELETE', url: urlOf(profile, path), fields: credentials[by] }
    let { answer } = await client.send('removal', asked)
    if (answer?.status === 428) {
      const conditional = { ...asked, fields: [...asked.fields, ['If-Match', '*'] as const] }
      answer = (await client.send('removal', conditional)).answer
    }
    if (answer !== undefined && gone.has(answer.status)) remains.delete(path)
  }
}
