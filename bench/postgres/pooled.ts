/** How the bare servers ask PostgreSQL: each connection is given the next statement without waiting. */
import pg from 'pg'

/** Runs a prepared statement on the connection that has least to do. */
export type Ask = (name: string, text: string, values: readonly unknown[]) => Promise<Record<string, unknown>[]>

/** Connects. */
export async function pooled(url: string, connections: number): Promise<Ask> {
  const settings = { connectionString: url, pipeline: true, options: '-c jit=off' }
  const clients = Array.from({ length: connections }, () => ({
    client: new pg.Client(settings as pg.ClientConfig),
    pending: 0,
  }))
  for (const { client } of clients) await client.connect()
  return async (name, text, values) => {
    let least = clients[0]!
    for (const each of clients) if (each.pending < least.pending) least = each
    least.pending++
    try {
      return (await least.client.query({ name, text, values: values as unknown[] })).rows
    } finally {
      least.pending--
    }
  }
}
