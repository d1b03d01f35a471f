/** The servers that others made. */
import type { Peer } from './peer.ts'
import { startPlatformatic } from './peer-platformatic.ts'
import { startPocketBase } from './peer-pocketbase.ts'
import type { Data } from './setup.ts'

/** Installs and starts them. What cannot be had is said in the tables, and stops nothing. */
export async function startPeers(folder: string, data: Data, note: (sentence: string) => void): Promise<Peer[]> {
  const peers: Peer[] = []
  for (const [name, start] of Object.entries({ PocketBase: startPocketBase, 'Platformatic DB': startPlatformatic })) {
    try {
      const peer = await start(folder, data)
      peer.server.hold(true)
      peers.push(peer)
    } catch (error) {
      note(`${name} did not run here: ${(error as Error).message.split('\n', 1)[0]}`)
    }
  }
  return peers
}
