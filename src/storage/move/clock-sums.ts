/** The clocks of a database, in however many rows it keeps each of them. */
import sql from 'sql-template-tag'

export const clockSums = sql`select collection, sum(revision) as revision, sum(live) as live, sum(deleted) as deleted from resourced_clocks group by collection order by collection`
