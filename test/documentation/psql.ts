/** Stands in for psql in the examples of pages: `psql -q -f FILE ADDRESS` runs the statements of a file. */
import { readFileSync } from 'node:fs'
import pg from 'pg'

const [quiet, option, file, address, ...more] = process.argv.slice(2)
if (quiet !== '-q' || option !== '-f' || file === undefined || address === undefined || more.length > 0) {
  throw new Error('The examples of pages run psql -q -f FILE ADDRESS only.')
}
const client = new pg.Client({ connectionString: address })
await client.connect()
await client.query(readFileSync(file, 'utf8'))
await client.end()
