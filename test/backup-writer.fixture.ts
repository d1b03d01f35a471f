/**
 * Changes the two records of each pair to the same number, in one transaction, at full speed. The arguments are the
 * address of the database and the number of pairs. Prints how many transactions were committed, again and again.
 */
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'

const [address = '', pairs = '1'] = process.argv.slice(2)
const count = Number(pairs)
const text = (table: string) => `update ${table} set value = $1 where id = $2`

async function* transactions(): AsyncGenerator<void> {
  const id = (number: number) => `pair-${number % count}`
  if (address.startsWith('sqlite:')) {
    const database = new DatabaseSync(address.slice('sqlite:'.length), { timeout: 60_000 })
    database.exec('pragma synchronous = normal')
    const [left, right] = ['lefts', 'rights'].map((table) => database.prepare(text(table).replace(/\$\d/g, '?')))
    for (let number = 1; ; number++) {
      database.exec('begin immediate')
      left?.run(number, id(number))
      right?.run(number, id(number))
      database.exec('commit')
      yield
    }
  }
  const client = new pg.Client(address)
  await client.connect()
  for (let number = 1; ; number++) {
    await client.query('begin')
    for (const table of ['lefts', 'rights']) await client.query(text(table), [number, id(number)])
    await client.query('commit')
    yield
  }
}

let done = 0
for await (const _ of transactions()) {
  done++
  if (done % 20 !== 0) continue
  process.stdout.write(`${done}\n`)
  await new Promise(setImmediate)
}
