/** A statement of a test, past the storage. */
import pg from 'pg'

const int8 = 20

/** Runs a statement on a connection of its own; numbers are numbers. */
export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 30_000 })
  client.setTypeParser(int8, Number)
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}
