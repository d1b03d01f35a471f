/** Downloads the file of an export with the caller's credential, and goes on where the connection broke (HED-3). */

import { Problem, unreachable } from '../interface/problem.ts'
import type { Send } from '../interface/send.ts'
import type { FileSink } from '../ui/save-file.ts'

/** How often a download goes on without a byte in between. */
const mostFailures = 5

export interface Download {
  /** The path of the file, such as `/exports/{id}/content`. */
  readonly path: string
  /** Its size. */
  readonly bytes: number
  readonly signal: AbortSignal
  /** Is told how many bytes have arrived. */
  readonly onProgress: (bytes: number) => void
}

/** @throws Problem if the file is gone, has changed meanwhile, or the server stays away */
export async function download(
  send: Send,
  { path, bytes, signal, onProgress }: Download,
  file: FileSink,
): Promise<void> {
  let arrived = 0
  let etag: string | undefined
  for (let failures = 0; ; ) {
    try {
      const rest = { Range: `bytes=${arrived}-`, ...(etag !== undefined && { 'If-Range': etag }) }
      const request = { path, signal, stream: true, ...(arrived > 0 && { headers: rest }) }
      const response = await send<Response>(request)
      if (arrived > 0 && response.status !== 206) {
        throw new Problem(response.status, { code: 'FILE_CHANGED', detail: 'The file has changed. Download it again.' })
      }
      etag = response.etag
      const reader = (response.body.body as ReadableStream<Uint8Array<ArrayBuffer>>).getReader()
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        await file.write(part.value)
        arrived += part.value.length
        failures = 0
        onProgress(arrived)
      }
      // A proxy that gives up may end a response as if it were whole.
      if (arrived >= bytes) return
      throw unreachable()
    } catch (error) {
      failures += 1
      const isRefused = error instanceof Problem && error.status > 0
      if (signal.aborted || isRefused || failures > mostFailures) throw error
      await new Promise((resolve) => setTimeout(resolve, 500 * failures))
    }
  }
}
