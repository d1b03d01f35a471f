/** Reads the body of a response from a file. */
import { open } from 'node:fs/promises'
import { fault } from 'resourced-contract/spec/faults'
import type { FileBody, StoredFile } from '../../http/message.ts'

const pieceSize = 65_536

/** The open file of a body. */
interface OpenFile extends StoredFile {
  close(): Promise<void>
}

/**
 * Opens the file of a body.
 *
 * @param room provides the memory for each piece; the same memory only if the piece before is not needed any more
 * @throws Fault NOT_FOUND if the file was removed; otherwise the system's error
 */
export async function openFile(body: FileBody, room = () => roomFor(body)): Promise<OpenFile> {
  if ('read' in body) return { read: body.read, async close() {} }
  const file = await open(body.path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    throw fault('NOT_FOUND', { detail: 'The file at this address was just removed.' }, error)
  })
  const read = async (position: number) => {
    const { buffer, bytesRead } = await file.read(room(), 0, undefined, position)
    return buffer.subarray(0, bytesRead)
  }
  return { read, close: () => file.close() }
}

/** Memory for one piece of a body. */
export function roomFor({ length }: FileBody): Uint8Array {
  return Buffer.allocUnsafeSlow(Math.min(pieceSize, length))
}

/**
 * Reads a body from its open file, piece by piece.
 *
 * @throws Error if the file is shorter than the body, or cannot be read
 */
export async function* piecesOf(file: StoredFile, body: FileBody): AsyncGenerator<Uint8Array, void, undefined> {
  const end = body.start + body.length
  for (let position = body.start; position < end; ) {
    const piece = (await file.read(position))?.subarray(0, end - position) ?? new Uint8Array()
    if (piece.length === 0) throw new Error(`A file ended ${end - position} bytes before the body that was announced.`)
    yield piece
    position += piece.length
  }
}
