/**
 * A process of its own that migrates a database, for the tests that kill it or start several:
 * `node migrate-process.fixture.ts URL FIELDS [MOMENT [STATEMENT]]`, FIELDS as JSON, MOMENT in milliseconds since 1970.
 * With STATEMENT it ends as by `kill -9` when it has sent the first statement that begins so.
 */
import pg from 'pg'
import { migrateTo } from './migrate.fixture.ts'

const [, , url = '', fields = '{}', moment = '0', statement = ''] = process.argv
const client = new pg.Client({ connectionString: url })
await client.connect()
if (statement !== '') {
  const send = client.query.bind(client) as (given: { text: string }) => unknown
  client.query = ((given: { text: string }) => {
    const sent = send(given)
    if (given.text.startsWith(statement)) process.kill(process.pid, 'SIGKILL')
    return sent
  }) as never
}
// Several processes given the same moment begin together, whichever was started first.
while (Date.now() < Number(moment));
process.stdout.write('begins\n')
const { applied } = await migrateTo(client, JSON.parse(fields), 'all')
process.stdout.write(`applied ${applied}\n`)
await client.end()
