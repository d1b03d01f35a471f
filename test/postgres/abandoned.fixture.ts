/** A test that starts a cluster and is killed: says where it is and goes on for ever. */
import { startCluster } from './cluster.ts'

const { folder, url } = await startCluster()
process.stdout.write(`${JSON.stringify({ folder, url })}\n`)
setInterval(() => {}, 1_000)
