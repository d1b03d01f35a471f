/**
 * A process of its own that migrates a file, for the tests that kill it or start two:
 * `node migrate-process.fixture.ts FILE FIELDS [MOMENT]`, FIELDS as JSON, MOMENT in milliseconds since 1970.
 */
import { DatabaseSync } from 'node:sqlite'
import { migrateTo } from './migrate.fixture.ts'

const [, , file = '', fields = '{}', moment = '0'] = process.argv
// Two processes given the same moment begin together, whichever was started first.
while (Date.now() < Number(moment));
process.stdout.write('begins\n')
const { applied } = migrateTo(new DatabaseSync(file), JSON.parse(fields), 'all')
process.stdout.write(`applied ${applied}\n`)
