/** A process that only closes an application whose export runs: argument 2 is its database. */
import { createApp } from './create-app.ts'

const access = { read: 'anyone', create: 'anyone' } as const
const declaration = { name: 'x', resources: { notes: { fields: { text: { type: 'string' } }, access } } } as const
const database = String(process.argv[2])
const app = await createApp(declaration, { database, databaseUnsafe: true, rateLimit: 'off' })
const client = app.as({ id: 'ann', roles: ['admin'] })
for (let done = 0; done < 3_000; done += 100) {
  await Promise.all(Array.from({ length: 100 }, () => client.notes?.create({ text: 'a' })))
}
const { job_id } = await client.exports.create({ collection: 'notes', format: 'csv' })
// A batch has 1,000 records.
for (let done = 0; done < 1_000; await new Promise((resolve) => setTimeout(resolve, 1))) {
  done = (await client.jobs.get(job_id)).progress?.done ?? 0
}
await app.close()
process.stdout.write('closed')
